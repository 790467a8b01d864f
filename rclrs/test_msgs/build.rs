//! Generates structs from definitions, as an application of `rclrs` does for its packages.

use ringspin_message_generator::{GenerateError, Generator};
use std::path::Path;

fn main() -> Result<(), GenerateError> {
    let folder = Path::new("../../messages/test_msgs");
    let packages = ["test_msgs", "my_msgs", "type"].map(|package| folder.join(package));
    let generator = Generator::new().rosidl();
    packages.into_iter().fold(generator, Generator::package_folder).generate_to_out_dir()
}
