//! Generates the modules of message packages: the common ones of ROS 2, and further ones of the
//! sourced ROS 2 and of folders that the application names.

use ringspin_message_generator::{GenerateError, Generator};

fn main() -> Result<(), GenerateError> {
    Generator::new().rosidl().common_packages().environment_packages().generate_to_out_dir()
}
