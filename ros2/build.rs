//! Links the ROS 2 that is sourced, and chooses the declarations of its distribution.

#[path = "build/ros.rs"]
mod ros;

fn main() {
    for path in ["build.rs", "build", "bindings"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for name in ros::VARIABLES {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rustc-check-cfg=cfg(ros_is_sourced)");
    match ros::sourced() {
        Ok(Some(ros)) => ros.link(),
        Ok(None) if cfg!(feature = "required") => println!(
            "cargo::error=failed to build with live ROS 2: no ROS 2 is sourced (AMENT_PREFIX_PATH \
             or ROS_DISTRO is not set); source it first, as in `source /opt/ros/jazzy/setup.bash`, \
             or make one by `eval \"$(scripts/ros2-env)\"`"
        ),
        Ok(None) => {}
        Err(error) => println!(
            "cargo::error=failed to build with live ROS 2: {error}; or build without it, as in \
             `env -u ROS_DISTRO cargo build`"
        ),
    }
}
