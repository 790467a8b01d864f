//! Sets `ros_is_sourced` where `ringspin_ros2` is more than empty.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(ros_is_sourced)");
    if std::env::var_os("DEP_RINGSPIN_ROS2_IS_SOURCED").is_some() {
        println!("cargo::rustc-cfg=ros_is_sourced");
    }
}
