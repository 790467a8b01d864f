//! `cargo ringspin adopt`: moves an application of r2r or rclrs to ringspin, which has their APIs.
//!
//! The steps: [`detect`] finds the requirements in the output of `cargo metadata`, [`manifest`]
//! adds patches for them, [`messages`] and [`interfaces`] find packages of messages, [`templates`]
//! has the first test and its workflow, and [`adopt`] calls them in order. All checks pass before a
//! file is written, except `Cargo.lock`, which is restored when one fails.

#![forbid(unsafe_code)]

pub mod adopt;
pub mod cargo;
pub mod checkout;
pub mod detect;
mod error;
pub mod files;
pub mod interfaces;
pub mod manifest;
pub mod messages;
pub mod metadata;
pub mod templates;

pub use error::Error;

use adopt::Options;
use clap::Parser;
use std::process::ExitCode;

/// The command line: `cargo ringspin adopt`.
#[derive(Parser)]
#[command(name = "cargo ringspin", bin_name = "cargo ringspin", version, about)]
enum Command {
    /// Moves the application in this folder to ringspin, and runs it ten times: one digest
    Adopt(Options),
}

/// Runs the command of the process's arguments; 0 if all steps succeeded, otherwise 1, and 2 for
/// arguments that are not understood.
pub fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    // Cargo passes the name of the subcommand.
    if arguments.get(1).is_some_and(|first| first == "ringspin") {
        arguments.remove(1);
    }
    let Command::Adopt(options) = Command::parse_from(arguments);
    match adopt::adopt(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
