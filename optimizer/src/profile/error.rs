//! Why there is no such profile.

use ringspin_modes::models::ProfileFileError;
use thiserror::Error;

/// Why a profile could not be read, written, merged, or used for a graph.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The file is no profile, or could not be read or written.
    #[error(transparent)]
    File(#[from] ProfileFileError),
    /// The durations contradict themselves.
    #[error(transparent)]
    Durations(#[from] ringspin_modes::models::ProfileError),
    /// The numbers of a hop contradict each other.
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
        /// What does not fit.
        problem: &'static str,
    },
    /// The numbers of the calls of a callback contradict each other.
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
        /// What does not fit.
        problem: &'static str,
    },
    /// The event loops are not those of the graph.
    #[error(
        "the profile is of another graph: {}; measure it with this one",
        differ(missing, unknown)
    )]
    OtherGraph {
        /// Event loops of the graph that the profile does not have.
        missing: Vec<String>,
        /// Event loops of the profile that the graph does not have.
        unknown: Vec<String>,
    },
    /// Two profiles are of different machines.
    #[error(
        "one profile is of machine `{one}`, the other of `{other}`, or of other cores of it; \
             merge those of one machine only"
    )]
    OtherMachine {
        /// The name of one.
        one: String,
        /// The name of the other.
        other: String,
    },
    /// The graph could not be run.
    #[error("the graph could not be run to measure it: {reason}")]
    Run {
        /// What was said.
        reason: String,
    },
}

/// Names at most three of each.
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
