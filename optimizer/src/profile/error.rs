//! Errors of profiles.

use ringspin_simulation::models::ProfileFileError;
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

/// The reason why a profile was not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file or text is not a profile, or was not read.
    #[error(transparent)]
    File(#[from] ProfileFileError),
    /// The durations are inconsistent.
    #[error(transparent)]
    Durations(#[from] ringspin_simulation::models::ProfileError),
    /// The numbers of a hop are inconsistent.
    #[error(
        "{origin} contradicts itself about the way from `{from}` to `{to}` by `{topic}`: \
         {problem}; measure it again"
    )]
    Hop {
        /// The file, or "the text".
        origin: String,
        /// The topic or service.
        topic: String,
        /// The loop that sends.
        from: String,
        /// The loop that receives.
        to: String,
        /// The inconsistency.
        problem: &'static str,
    },
    /// The numbers of a callback's calls are inconsistent.
    #[error(
        "{origin} contradicts itself about the calls of `{node}`, `{callback}`: {problem}; measure \
         it again"
    )]
    Calls {
        /// The file, or "the text".
        origin: String,
        /// The callback's event loop.
        node: String,
        /// The callback.
        callback: String,
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
