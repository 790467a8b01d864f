//! Errors of profiles.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A profile of another graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the profile is of another graph: {}; measure it with this one", differ(missing, unknown))]
pub struct OtherGraphError {
    /// Event loops of the graph that are missing in the profile.
    pub missing: Vec<String>,
    /// Event loops of the profile that are missing in the graph.
    pub unknown: Vec<String>,
}

/// The reason why two profiles were not merged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MergeError {
    /// They are of different graphs.
    #[error(transparent)]
    OtherGraph(#[from] OtherGraphError),
    /// They are of different machines.
    #[error(
        "one profile is of machine `{one}`, the other of `{other}`, or of other cores of it; \
             merge those of one machine only"
    )]
    OtherMachine {
        /// The name of the first machine.
        one: String,
        /// The name of the second machine.
        other: String,
    },
}

/// The reason why a profile was not measured.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The graph failed to run.
    #[error("failed to run the graph to measure it: {reason}")]
    Run {
        /// The message of the failure.
        reason: String,
    },
    /// The graph differs from run to run.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// A profile that was not read or written as a file.
#[derive(Debug, Error)]
#[error("failed to {action} the profile `{}`: {error}; check the path and its permissions",
    path.display())]
pub struct ProfileIoError {
    /// "read" or "write".
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The error of the operating system.
    pub error: io::Error,
}

/// The reason why a profile was not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file was not read.
    #[error(transparent)]
    Io(#[from] ProfileIoError),
    /// The text is not a profile. The message carries line and column.
    #[error("{origin} is not a profile: {}\nmeasure it again", error.to_string().trim_end())]
    Parse {
        /// The file, or "the text".
        origin: String,
        /// Where and why, as the TOML parser reports it.
        error: Box<toml::de::Error>,
    },
    /// It has another version.
    #[error("{origin} is a profile of version {version}, not {expected}; measure it again")]
    Version {
        /// The file, or "the text".
        origin: String,
        /// The version that it has.
        version: u32,
        /// The version that can be read.
        expected: u32,
    },
    /// Its numbers are inconsistent.
    #[error("{origin} contradicts itself about {part}: {problem}; measure it again")]
    Contradiction {
        /// The file, or "the text".
        origin: String,
        /// The part of the profile, in words.
        part: String,
        /// The inconsistency.
        problem: &'static str,
    },
}

/// Lists the differences, at most three names each.
fn differ(missing: &[String], unknown: &[String]) -> String {
    let some = |names: &[String]| match names.len() {
        0..=3 => names.join(", "),
        len => format!("{} and {} more", names[..3].join(", "), len - 3),
    };
    match (missing, unknown) {
        (missing, []) => format!("it does not have {}", some(missing)),
        ([], unknown) => format!("the graph does not have {}", some(unknown)),
        _ => format!("it does not have {}, the graph not {}", some(missing), some(unknown)),
    }
}
