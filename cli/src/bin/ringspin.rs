//! The commands for recordings, for any recording: a program without nodes of its own.
//!
//! ```text
//! cargo install --path cli --features bag
//! ringspin bag info recordings/drive
//! ```

use ringspin_cli::Program;
use ringspin_simulation::Registry;
use std::process::ExitCode;

fn main() -> ExitCode {
    Program::new(Registry::new()).main()
}
