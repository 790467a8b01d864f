//! Checks that the package of the message is sourced, for a build with ROS 2.

use std::env;

fn main() -> Result<(), &'static str> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=AMENT_PREFIX_PATH");
    let prefixes = env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let has_package = env::split_paths(&prefixes)
        .any(|prefix| prefix.join("share/reference_interfaces").is_dir());
    if env::var_os("CARGO_FEATURE_ROS2").is_none() || has_package {
        return Ok(());
    }
    Err(
        "failed to find the ROS package reference_interfaces: AMENT_PREFIX_PATH has no folder with \
         it; build by `scripts/ros2-env --run cargo ..` in a shell without ROS 2, or build \
         reference_system/reference_interfaces with colcon and source it",
    )
}
