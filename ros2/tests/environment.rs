//! The build script tells apart the ways in which the environment can be wrong.
//!
//! Each case is checked in a separate process, because the checks read the environment.

#[allow(dead_code)] // The rest of it speaks to cargo.
#[path = "../build/ros.rs"]
mod ros;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CHILD: &str = "RINGSPIN_TEST_ENVIRONMENT";

/// A folder with one empty file, which is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn with(file: &str) -> Self {
        let name =
            format!("ringspin-environment-{}-{}", std::process::id(), file.replace('/', "_"));
        let folder = std::env::temp_dir().join(name);
        let file = folder.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
        Self(folder)
    }

    fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The result of the check in an environment with these variables.
fn check(variables: &[(&str, &str)]) -> String {
    let own = std::env::current_exe().unwrap();
    let mut child = Command::new(own);
    for name in ["AMENT_PREFIX_PATH", "ROS_DISTRO"] {
        child.env_remove(name);
    }
    child.args(["--exact", "environment_is_checked", "--nocapture"]).env(CHILD, "1");
    let output = child.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let found = text.lines().find_map(|line| line.split_once("checked: "));
    found.unwrap_or_else(|| panic!("the child checked nothing: {text}")).1.into()
}

#[test]
fn environment_is_checked() {
    if std::env::var_os(CHILD).is_some() {
        let found = ros::sourced().map(|ros| if ros.is_some() { "sourced" } else { "none" }.into());
        println!("checked: {}", found.unwrap_or_else(|error| error));
        return;
    }
    let ros = Folder::with("lib/librcl.so");
    let other = Folder::with("lib/librmw.so");
    assert!(Path::new(ros.text()).is_dir());
    let says = |variables: &[(&str, &str)], parts: &[&str]| {
        let text = check(variables);
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in: {text}");
        }
    };
    let prefix = ("AMENT_PREFIX_PATH", ros.text());
    let jazzy = ("ROS_DISTRO", "jazzy");
    for none in [&[][..], &[prefix], &[jazzy], &[("AMENT_PREFIX_PATH", ""), jazzy]] {
        assert_eq!(check(none), "none");
    }
    says(
        &[prefix, ("ROS_DISTRO", "ardent")],
        &["\"ardent\"", "source jazzy or kilted", "rcl-bindings"],
    );
    says(&[("AMENT_PREFIX_PATH", other.text()), jazzy], &["lib/librcl.so", other.text()]);
    assert_eq!(check(&[prefix, jazzy]), "sourced");
    let both = format!("{}:{}", other.text(), ros.text());
    assert_eq!(check(&[("AMENT_PREFIX_PATH", &both), ("ROS_DISTRO", "kilted")]), "sourced");
}
