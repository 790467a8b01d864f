//! The command line of the reference system; see `reference-system --help`.

#![forbid(unsafe_code)]

mod cli;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::filter::LevelFilter;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    // Warnings show: a refused SCHED_FIFO priority, for one.
    let level = if arguments.verbose { LevelFilter::DEBUG } else { LevelFilter::WARN };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_max_level(level)
        .with_target(false)
        .without_time()
        .init();
    match cli::execute(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
