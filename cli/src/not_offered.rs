//! Options and commands of `ros2 bag` that are not offered: what to use instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The names of `ros2 bag` that are not offered, and the way out.
const NOT_OFFERED: &[(&str, &str)] = &[
    ("play", "use `replay BAG`"),
    ("record", "use `record -o OUT` of a program with feature `ros2`"),
    ("reindex", "use `bag recover`; a recording without `metadata.yaml` is read as it is"),
    ("list", "MCAP and SQLite3 are built in"),
    ("burst", "use `replay` in the deterministic mode, which does not wait for times"),
    ("--input", "name the recordings one after the other"),
    ("--playback-until-nsec", "use `--playback-until`, in seconds"),
    ("--disable-keyboard-controls", "leave it out: there are none"),
    ("--disable-loan-message", "leave it out: messages are not copied between nodes"),
    ("--read-ahead-queue-size", "leave it out: 256 messages are read ahead"),
    ("--wait-for-all-acked", "use `--settle 2`"),
    ("--publish-service-requests", "use `--service-requests`"),
    ("--message-order", "use `--order`"),
    ("--progress-bar-update-rate", "leave it out: a terminal shows the progress"),
    ("--storage", "leave it out: MCAP and SQLite3 are read, MCAP is written"),
    ("--all-topics", "leave it out: without topics, all are recorded"),
    ("--all-services", "use `--include-hidden-topics`"),
    ("--all-actions", "use `--include-hidden-topics`"),
    ("--max-cache-size", "leave it out: 1024 messages wait for the disk at most"),
    ("--snapshot-mode", "record everything, and replay a part of it"),
    ("--compression-mode", "use `--compression`"),
    ("--compression-format", "use `--compression`"),
];

/// The message of a command line that cannot be parsed, with the way out for names of `ros2 bag`.
pub(super) fn explained(error: &clap::Error) -> String {
    let kind = match error.kind() {
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => return error.to_string(),
    };
    let Some(ContextValue::String(name)) = error.get(kind) else { return error.to_string() };
    match NOT_OFFERED.iter().find(|(offered, _)| offered == name) {
        Some((name, instead)) => format!("error: `{name}` of `ros2 bag` is not offered; {instead}"),
        None => error.to_string(),
    }
}
