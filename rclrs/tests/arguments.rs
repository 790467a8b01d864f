//! The arguments of a command line that are not for ROS.

use rclrs::{RclReturnCode, RclrsError, extract_non_ros_args};

fn extract(line: &str) -> Result<Vec<String>, RclrsError> {
    extract_non_ros_args(line.split_whitespace().map(String::from))
}

#[test]
fn ros_arguments_are_left_out() {
    for (line, rest) in [
        ("", ""),
        ("program", "program"),
        ("a --ros-args b -- c d", "a c d"),
        ("a --ros-args some unknown --things", "a"),
        ("--ros-args -- -- a --ros-args x -- b", "-- a b"),
        ("a -p b -- c", "a -p b -- c"),
        ("a --ros-args -r x:=y -p z:=1 --log-level a.b:=debug --enclave /e -- b", "a b"),
        ("a --ros-args --log-config-file missing --disable-rosout-logs --ros-args -- b", "a b"),
    ] {
        assert_eq!(extract(line).unwrap().join(" "), rest, "{line}");
    }
}

#[test]
fn malformed_ros_argument_is_an_error() {
    for line in [
        "--ros-args -p gain",
        "--ros-args -p",
        "--ros-args -r x",
        "--ros-args --params-file missing.yaml",
        "--ros-args --log-level loud",
        "--ros-args --enclave",
    ] {
        let error = extract(line).unwrap_err();
        let is_invalid =
            matches!(error, RclrsError::RclError { code: RclReturnCode::InvalidRosArgs, .. });
        assert!(is_invalid, "{line}: {error:?}");
    }
    assert_eq!(extract("-p gain").unwrap(), ["-p", "gain"]);
}

#[test]
fn nul_character_is_an_error() {
    let error = extract_non_ros_args(["a".into(), "b\0c".into()]).unwrap_err();
    assert!(matches!(error, RclrsError::StringContainsNul { s, .. } if s == "b\0c"));
}
