//! Calls of cargo in the application's folder.

use crate::Error;
use crate::manifest::Patch;
use crate::metadata::Metadata;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Cargo, as it is called in a folder.
#[derive(Clone, Debug)]
pub struct Cargo {
    program: OsString,
    folder: PathBuf,
    is_offline: bool,
}

impl Cargo {
    /// The cargo that started this program, or the one of `PATH`.
    pub fn new(folder: &Path, is_offline: bool) -> Self {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Self { program, folder: folder.to_path_buf(), is_offline }
    }

    fn command(&self, patches: &[Patch]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).stdin(Stdio::null());
        command.args(self.is_offline.then_some("--offline"));
        for option in patches.iter().flat_map(Patch::as_config) {
            command.arg("--config").arg(option);
        }
        command
    }

    /// The members of the workspace, without a look at their dependencies.
    pub fn members(&self) -> Result<Metadata, Error> {
        let mut command = self.command(&[]);
        command.args(["metadata", "--format-version", "1", "--no-deps"]);
        let remedy = "run `cargo ringspin adopt` in the folder of a package or workspace";
        Metadata::parse(&output(command, "read the workspace", remedy)?)
    }

    /// The workspace and its dependencies, with further patches. Writes the lock file if it has to
    /// change.
    pub fn metadata(&self, patches: &[Patch]) -> Result<Metadata, Error> {
        let mut command = self.command(patches);
        command.args(["metadata", "--format-version", "1", "--all-features"]);
        let remedy = "repair that first: `cargo metadata` has to succeed";
        Metadata::parse(&output(command, "resolve the dependencies", remedy)?)
    }

    /// Lets the lock file choose these packages anew, with further patches.
    pub fn update(&self, ids: &[String], patches: &[Patch]) -> Result<(), Error> {
        let mut command = self.command(patches);
        command.args(["update", "--quiet"]);
        for id in ids {
            command.args(["--package", id]);
        }
        let remedy = "repair that first: `cargo update` has to succeed with the patches";
        output(command, "update Cargo.lock", remedy).map(drop)
    }

    /// Runs one test of a package; its output goes to that of this process. Returns whether it
    /// passed.
    pub fn test(&self, package_id: &str, test: &str) -> Result<bool, Error> {
        let mut command = self.command(&[]);
        command.args(["test", "--package", package_id, "--test", test, "--", "--nocapture"]);
        let started = command.status().map_err(|error| not_started(&command, error))?;
        Ok(started.success())
    }
}

/// The standard output of a command that has to succeed. Its progress and errors are shown.
fn output(mut command: Command, action: &str, remedy: &str) -> Result<String, Error> {
    let done = command.stderr(Stdio::inherit()).output();
    let done = done.map_err(|error| not_started(&command, error))?;
    if !done.status.success() {
        let cause = format!("cargo ended with {}, see its output above", done.status);
        return Err(Error::new(action, cause, remedy));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn not_started(command: &Command, error: std::io::Error) -> Error {
    let program = command.get_program().to_string_lossy();
    Error::new(format!("start {program}"), error, "install Rust from https://rustup.rs")
}
