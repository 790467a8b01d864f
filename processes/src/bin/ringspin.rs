//! The command `ringspin`: systems of several processes, and recordings.
//!
//! ```text
//! cargo install --path processes
//! ringspin run system.yaml
//! ringspin bag info recordings/drive
//! ```

use ringspin_cli::Program;
use ringspin_simulation::Registry;
use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("bag" | "replay" | "record") => Program::new(Registry::new()).main(),
        _ => ringspin_processes::main(),
    }
}
