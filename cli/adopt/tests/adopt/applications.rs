//! Temporary applications, with a registry and a clone of ringspin that have small stand-ins.
//!
//! Cargo works as on a user's machine, but without the network: `crates-io` is a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The last line of a program in deterministic mode, with a digest that never changes.
const SAME_DIGEST: &str = r#"pub fn spin() {
    assert_eq!(std::env::var("RINGSPIN_MODE").as_deref(), Ok("deterministic"));
    let digest = option_env!("DIGEST").map_or("1f0c".into(), |_| std::process::id().to_string());
    eprintln!("ringspin: 10.0 s of simulated time in 0.023 s, digest {digest} of the order");
}
"#;

/// A folder with `ringspin`, `registry` and `app`.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    /// The stand-ins, without an application.
    pub(crate) fn new() -> Self {
        let world = Self { folder: TempDir::new().unwrap() };
        let config = "[source.crates-io]\nreplace-with = \"folder\"\n[source.folder]\n\
            directory = \"registry\"\n";
        world.write(".cargo/config.toml", config);
        for (name, version) in [
            ("r2r", "0.6.5"),
            ("r2r", "0.7.5"),
            ("r2r", "0.8.4"),
            ("r2r", "0.9.5"),
            ("r2r", "0.9.7"),
            ("rosidl_runtime_rs", "0.7.0"),
            ("ros-env", "0.3.0"),
        ] {
            world.publish(name, version, "");
        }
        world.publish("rclrs", "0.8.0", "ros-env = \"0.3\"\n");
        world.publish("rclrs", "0.4.1", "");
        world.publish("tf_r2r", "0.2.0", "r2r = \"0.9\"\n");
        world.publish("arci", "0.1.0", "r2r = \"0.7\"\n");
        for (folder, name, version, dependencies, source) in [
            ("r2r", "r2r", "0.9.7", "", SAME_DIGEST),
            ("r2r/.0.8", "r2r", "0.8.4", "", SAME_DIGEST),
            ("r2r/.0.7", "r2r", "0.7.5", "", SAME_DIGEST),
            ("rclrs", "rclrs", "0.8.0", "ros-env = { path = \"ros-env\" }\n", SAME_DIGEST),
            ("rclrs/ros-env", "ros-env", "0.3.0", "", "pub mod std_msgs { pub struct Bool; }\n"),
            ("rclrs/rosidl_runtime_rs", "rosidl_runtime_rs", "0.7.0", "", ""),
        ] {
            let folder = format!("ringspin/{folder}");
            let manifest = format!("{}[workspace]\n", manifest(name, version, dependencies));
            world.write(&format!("{folder}/Cargo.toml"), &manifest);
            world.write(&format!("{folder}/src/lib.rs"), source);
        }
        world.write("ringspin/messages/generator/definitions/std_msgs/Bool.msg", "bool data\n");
        world
    }

    /// A package of the registry, which cannot be built.
    fn publish(&self, name: &str, version: &str, dependencies: &str) {
        let folder = format!("registry/{name}-{version}");
        let text = manifest(name, version, dependencies);
        self.write(&format!("{folder}/Cargo.toml"), &text);
        self.write(&format!("{folder}/src/lib.rs"), "compile_error!(\"Source your ROS!\");\n");
        self.write(&format!("{folder}/.cargo-checksum.json"), "{\"files\": {}}");
    }

    /// Writes an application with one program, in the folder `app`.
    pub(crate) fn application(&self, dependencies: &str) {
        self.write("app/Cargo.toml", &manifest("app", "0.1.0", dependencies));
        self.write("app/src/main.rs", "fn main() {\n    r2r::spin();\n}\n");
    }

    /// The place of a file or folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(path)
    }

    /// Writes a file.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file.
    pub(crate) fn read(&self, path: &str) -> String {
        let path = self.path(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Whether a file is there.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The command in a folder.
    pub(crate) fn command(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut command = command(&self.path(folder), &self.path("ringspin"));
        command.env("CARGO_HOME", self.path("home")).args(arguments);
        command
    }

    /// Runs the command, which has to succeed; returns its output.
    pub(crate) fn adopt(&self, folder: &str, arguments: &[&str]) -> String {
        let (succeeded, said) = said(self.command(folder, arguments).output().unwrap());
        assert!(succeeded, "{said}");
        said
    }

    /// Runs the command, which has to fail; returns its output. All files are as they were.
    pub(crate) fn refuse(&self, folder: &str, arguments: &[&str]) -> String {
        let before = self.files();
        let (succeeded, said) = said(self.command(folder, arguments).output().unwrap());
        assert!(!succeeded, "{said}");
        assert_eq!(self.files(), before, "{said}");
        said
    }

    /// All files outside of `home` and build outputs, with their contents.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut folders, mut files) = (vec![self.path("")], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
                let (path, name) = (entry.path(), entry.file_name());
                match path.is_dir() {
                    true if name == "target" || name == "home" => {}
                    true => folders.push(path),
                    false => files.push((path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        files.sort();
        files
    }
}

/// `cargo ringspin adopt` in a folder, as cargo starts it.
pub(crate) fn command(folder: &Path, ringspin: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ringspin"));
    command.current_dir(folder).args(["ringspin", "adopt", "--ringspin"]).arg(ringspin);
    for variable in ["AMENT_PREFIX_PATH", "ROS_DISTRO", "RINGSPIN_MESSAGES", "RINGSPIN_MODE"] {
        command.env_remove(variable);
    }
    command
}

/// Whether a command succeeded, and both of its outputs.
pub(crate) fn said(done: Output) -> (bool, String) {
    let text = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (done.status.success(), text.concat())
}

/// The manifest of a package.
pub(crate) fn manifest(name: &str, version: &str, dependencies: &str) -> String {
    let package = format!("name = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n");
    format!("[package]\n{package}\n[dependencies]\n{dependencies}")
}
