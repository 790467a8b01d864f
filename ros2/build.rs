//! Links the ROS 2 that is sourced, and chooses the declarations of its distribution.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    #[cfg(feature = "rcl")]
    ros::run();
}

#[cfg(feature = "rcl")]
#[path = "build/ros.rs"]
mod ros;
