//! Generates the structs of the common packages.

use ringspin_message_generator::{GenerateError, Generator};

fn main() -> Result<(), GenerateError> {
    Generator::new().common_packages().crate_path("crate").generate_to_out_dir()
}
