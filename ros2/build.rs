//! Checks that a ROS 2 that this crate can be built with is sourced, before its dependencies fail
//! on it.
//!
//! It has no dependencies, so cargo runs it first.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    #[cfg(feature = "rcl")]
    ros::run();
}

#[cfg(feature = "rcl")]
#[path = "build/ros.rs"]
mod ros;
