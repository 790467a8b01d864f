//! Errors of mappings.

use crate::names::list;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The reason why a mapping file was not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MappingFileError {
    /// The file was not read.
    #[error("failed to read the mapping file `{}`: {error}; check the path and its permissions",
        path.display())]
    Io {
        /// The file that was asked for.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The program was built without a reader of mapping files.
    #[error(
        "failed to read the mapping file `{}`: this program was built without mapping files; \
         build ringspin with its feature `toml`", path.display()
    )]
    NotBuilt {
        /// The file that was asked for.
        path: PathBuf,
    },
    /// The text is not a mapping.
    #[cfg(feature = "toml")]
    #[error(transparent)]
    Parse(#[from] MappingParseError),
}

/// A text that is not a mapping. The message carries line, column and the offending line.
#[cfg(feature = "toml")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{origin} is not a mapping: {}\ncorrect that line; the keys are `default_core`, \
    `use_isolated`, `later`, `lock_memory`, a table `[dispatch_priorities]` and, under each \
    `[[core]]`, `id`, `nodes`, `priority`, `isolated` and `wait`", error.to_string().trim_end())]
pub struct MappingParseError {
    /// The file, or "the text" when it was parsed from a string.
    pub origin: String,
    /// The error of the TOML parser, with its place.
    pub error: Box<toml::de::Error>,
}

/// The reason why a mapping does not fit the isolated cores of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IsolationError {
    /// A core that is to be isolated is not.
    #[error(
        "core {core} is to be isolated, and is not: isolated are {}; name one of them, boot with \
         `isolcpus={core}`, or leave `isolated` out",
        list(isolated)
    )]
    NotIsolated {
        /// The core.
        core: usize,
        /// The cores that are isolated.
        isolated: Vec<usize>,
    },
    /// The mapping counts isolated cores, and there are not so many.
    #[error(
        "the mapping uses isolated core number {wanted}, counted from 0, and there are {}: {}; \
         isolate more cores (boot with `isolcpus=`) or leave `use_isolated` out",
        isolated.len(),
        list(isolated)
    )]
    TooFewIsolated {
        /// The number in the mapping.
        wanted: usize,
        /// The cores that are isolated.
        isolated: Vec<usize>,
    },
}

/// An entry that matches no node or callback group of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place} names `{entry}`, which does not exist; {} (list it in `later` if it is created \
    while the executor runs)", way_out(suggestion.as_deref(), known))]
pub struct UnknownNodeError {
    /// The entry, fully qualified.
    pub entry: String,
    /// The part of the mapping that names it: a core, or the dispatch priorities.
    pub place: String,
    /// The closest name that does exist, if one is close.
    pub suggestion: Option<String>,
    /// All names that exist.
    pub known: Vec<String>,
}

/// The reason why dispatch priorities do not fit a graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DispatchPriorityError {
    /// An entry matches no node or callback group of the graph.
    #[error(transparent)]
    UnknownNode(#[from] UnknownNodeError),
    /// One node or callback group has two dispatch priorities.
    #[error("`{entry}` has two dispatch priorities, with and without its slash; keep only one")]
    Twice {
        /// The entry, fully qualified.
        entry: String,
    },
}

/// The reason why a mapping does not fit a graph and its cores.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MappingError {
    /// A core is not among those that this process may use.
    #[error(
        "core {core} does not exist or is not allowed for this process; use one of {}, or \
        widen the affinity mask (taskset, cpuset) of the process",
        list(allowed)
    )]
    CoreNotAllowed {
        /// The core that was named.
        core: usize,
        /// The cores that may be used.
        allowed: Vec<usize>,
    },
    /// Two `[[core]]` tables have the same id and the same priority.
    #[error(
        "core {core} is declared twice with {}; merge the `nodes` of the two `[[core]]` tables, or \
        give one of them another `priority`, so that the higher one preempts the other",
        priority.map_or("normal priority".to_owned(), |priority| format!("priority {priority}"))
    )]
    CoreTwice {
        /// The core that was declared twice.
        core: usize,
        /// The priority of both; the normal scheduling class if absent.
        priority: Option<u8>,
    },
    /// A thread that preempts others of its core never sleeps.
    #[error(
        "the thread of core {core} with priority {priority} never sleeps and would starve those of \
        lower priority on that core; use `wait = \"park\"`, or leave `wait` out"
    )]
    Starves {
        /// The core.
        core: usize,
        /// The priority of the thread that spins or yields.
        priority: u8,
    },
    /// One node or callback group is named twice.
    #[error("`{entry}` is named on core {first} and again on core {second}; keep only one")]
    NodeTwice {
        /// The entry, fully qualified.
        entry: String,
        /// The core that names it first.
        first: usize,
        /// The core that names it again (it may be the same).
        second: usize,
    },
    /// An entry matches no node or callback group of the graph.
    #[error(transparent)]
    UnknownNode(#[from] UnknownNodeError),
    /// Event loops that no core names, and there is no default core.
    #[error(
        "no core is given for {}; name them under a `[[core]]` or set `default_core`",
        list(loops)
    )]
    Unmapped {
        /// The names of the loops, in the order of creation.
        loops: Vec<String>,
    },
    /// The dispatch priorities do not fit the graph.
    #[error(transparent)]
    DispatchPriority(#[from] DispatchPriorityError),
    /// A priority outside 1..=99.
    #[error(
        "core {core} asks for priority {priority}; SCHED_FIFO priorities are 1 (lowest) to \
        99, leave `priority` out for the normal scheduling class"
    )]
    Priority {
        /// The core that asks for it.
        core: usize,
        /// The requested priority.
        priority: u8,
    },
}

pub(crate) fn way_out(suggestion: Option<&str>, known: &[String]) -> String {
    match suggestion {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "the graph has no nodes; create them first".to_owned(),
        None => format!("use one of {}", list(known)),
    }
}
