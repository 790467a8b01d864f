//! Generates structs from definitions, as an application does for its packages.

use ringspin_message_generator::{GenerateError, Generator};

fn main() -> Result<(), GenerateError> {
    let packages = Generator::new().package_folder("test_msgs").package_folder("my_msgs");
    // Names that are keywords of Rust.
    let packages = packages.package_folder("type");
    packages.generate_to_out_dir()
}
