//! The arguments of a command line that are not for ROS.

use crate::{RclReturnCode, RclrsError};
use ringspin::Arguments;
use std::ffi::CString;

/// The ROS arguments with a value that rcl reads while it looks for the end of the ROS arguments:
/// it fails for a malformed one.
const READ: [&str; 6] = ["-r", "--remap", "-p", "--param", "--params-file", "--log-level"];

/// The other ROS arguments with a value.
const KEPT: [&str; 4] = ["--log-config-file", "--log-file-name", "-e", "--enclave"];

/// Returns the arguments that are not for ROS, in their order: all but those from `--ros-args` to
/// `--` or the end, both included. The name of the program may be the first of them, as in
/// [`std::env::args`].
///
/// ```
/// let line = ["pilot", "--fast", "--ros-args", "-p", "gain:=2.5", "--", "race.toml"];
/// let rest = rclrs::extract_non_ros_args(line.map(String::from))?;
/// assert_eq!(rest, ["pilot", "--fast", "race.toml"]);
/// # Ok::<(), rclrs::RclrsError>(())
/// ```
///
/// # Errors
/// Fails for an argument that contains a NUL character, a malformed remapping, parameter or log
/// level, and an unreadable parameter file. Unknown ROS arguments are left out like known ones.
pub fn extract_non_ros_args(
    args: impl IntoIterator<Item = String>,
) -> Result<Vec<String>, RclrsError> {
    let args: Vec<String> = args.into_iter().collect();
    for argument in &args {
        CString::new(&**argument)
            .map_err(|err| RclrsError::StringContainsNul { s: argument.clone(), err })?;
    }
    let mut rest = Vec::new();
    let mut args = args.into_iter();
    let mut is_ros = false;
    while let Some(argument) = args.next() {
        match (is_ros, &*argument) {
            (_, "--ros-args") => is_ros = true,
            (false, _) => rest.push(argument),
            (true, "--") => is_ros = false,
            (true, flag) if READ.contains(&flag) => check(argument, args.next())?,
            (true, flag) if KEPT.contains(&flag) => {
                let value = args.next();
                value.ok_or_else(|| invalid(format!("`{flag}` has to be followed by a value")))?;
            }
            (true, _) => {}
        }
    }
    Ok(rest)
}

/// Reads a ROS argument and its value.
fn check(flag: String, value: Option<String>) -> Result<(), RclrsError> {
    let line = [Some("--ros-args".into()), Some(flag), value];
    Arguments::parse(line.into_iter().flatten()).map(drop).map_err(invalid)
}

fn invalid(text: impl std::fmt::Display) -> RclrsError {
    RclrsError::of(RclReturnCode::InvalidRosArgs, text)
}
