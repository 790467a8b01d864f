//! Generates the modules of message packages: those of `ringspin_messages`, and further ones of the
//! sourced ROS 2 and of folders that the application names. Sets `ros_is_sourced` where
//! `ringspin_ros2` is more than empty.

use ringspin_message_generator::{GenerateError, Generator, common_definitions};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), GenerateError> {
    println!("cargo::rustc-check-cfg=cfg(ros_is_sourced)");
    if env::var_os("DEP_RINGSPIN_ROS2_IS_SOURCED").is_some() {
        println!("cargo::rustc-cfg=ros_is_sourced");
    }
    println!("cargo::rustc-check-cfg=cfg(r2r__rosgraph_msgs__msg__Clock)");
    println!("cargo::rustc-cfg=r2r__rosgraph_msgs__msg__Clock");
    let common: BTreeSet<_> =
        common_definitions().iter().map(|message| &*message.name.package).collect();
    let modules: Vec<_> = common.into_iter().collect();
    let text = format!("pub use ::ringspin_messages::{{{}}};\n", modules.join(", "));
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let path = out.join("common.rs");
    fs::write(&path, text).map_err(|error| GenerateError::Io { path, error })?;
    Generator::new().environment_packages().generate_to_out_dir()
}
