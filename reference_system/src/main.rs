//! The command line of the reference system; see `reference-system --help`.

#![forbid(unsafe_code)]

mod cli;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::filter::LevelFilter;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    let level = match arguments.verbose {
        true => LevelFilter::DEBUG,
        // Shows warnings, for example a refused SCHED_FIFO priority.
        false => LevelFilter::WARN,
    };
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
            // Causes that the text contains already are not repeated.
            let text = error.chain().map(ToString::to_string).reduce(|text, cause| {
                if text.contains(&cause) { text } else { format!("{text}: {cause}") }
            });
            eprintln!("error: {}", text.unwrap_or_default());
            ExitCode::FAILURE
        }
    }
}
