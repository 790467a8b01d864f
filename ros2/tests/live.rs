//! Live ROS 2 in `cargo test --workspace`, for which this member needs a feature: with a ROS 2
//! sourced it runs the tests of that feature, and otherwise it says that it does not.

use std::process::{Command, ExitCode};

/// Set where a ROS 2 is sourced.
const SOURCED: &str = "AMENT_PREFIX_PATH";

fn main() -> ExitCode {
    if cfg!(feature = "rcl") {
        return ExitCode::SUCCESS; // the others are here
    }
    if std::env::var_os(SOURCED).is_none_or(|value| value.is_empty()) {
        println!("ros2: left out, because no ROS 2 is sourced; scripts/test-ros2 makes one\n");
        return ExitCode::SUCCESS;
    }
    println!("ros2: a ROS 2 is sourced, so live ROS 2 is tested, too");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["test", "--package", "ringspin-ros2", "--features", "rcl"];
    match Command::new(cargo).args(arguments).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("the tests of live ROS 2 failed: {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cargo cannot be started for the tests of live ROS 2: {error}");
            ExitCode::FAILURE
        }
    }
}
