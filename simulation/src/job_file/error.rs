//! Errors of job files.

use crate::registry::RegistryError;
use ringspin_executor::ArgumentsError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a job file could not be read, or does not fit the program.
///
/// `at` is the file and the line, as in `jobs/race.toml:12`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JobFileError {
    /// The file could not be read.
    #[error("failed to read the job file `{}`: {error}; check the path and its permissions",
        path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The text is not a job file. The message carries line and column.
    #[error("{origin} is not a job file: {}\ncorrect that line", error.to_string().trim_end())]
    Parse {
        /// The file, or "the text".
        origin: String,
        /// Where and why, as the TOML parser reports it.
        error: Box<toml::de::Error>,
    },
    /// Something that can be written, but not meant.
    #[error("{at}: {problem}")]
    Wrong {
        /// Where.
        at: String,
        /// Description of the error, and of the allowed values.
        problem: String,
    },
    /// A file that it names could not be used.
    #[error("{at}: {reason}")]
    File {
        /// Where it is named.
        at: String,
        /// Description of the error, with the path of the file.
        reason: String,
    },
    /// A file that describes a simulation has a key of jobs.
    #[error(
        "{at}: `{key}` belongs to a job, but this file may only describe the simulation: the \
         program sets the rest; remove it"
    )]
    JobKey {
        /// Where.
        at: String,
        /// The key.
        key: &'static str,
    },
    /// The registry is not usable.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Nothing would run.
    #[error("{origin} has no nodes; add a `[[node]]` with a `type`: {known}")]
    NoNodes {
        /// The file, or "the text".
        origin: String,
        /// Which types there are.
        known: String,
    },
    /// A node type that is not registered.
    #[error("{at}: there is no node type `{name}`; {way_out}")]
    UnknownType {
        /// Where.
        at: String,
        /// The type.
        name: String,
        /// Which types there are.
        way_out: String,
    },
    /// A parameter, remapping rule, or ROS argument is not usable.
    #[error("{at}: {error}")]
    Arguments {
        /// Where.
        at: String,
        /// The error in its arguments.
        error: ArgumentsError,
    },
    /// A node could not be built.
    #[error("{at}: failed to build node {node}: {reason}")]
    Build {
        /// Where it is declared.
        at: String,
        /// Its name.
        node: String,
        /// The error of its node type.
        reason: String,
    },
    /// Parameters that no node declares.
    #[error(
        "no node that they apply to declares these parameters: {}; check the names, or remove them",
        parameters.join(", ")
    )]
    Undeclared {
        /// Where they are given, and their names.
        parameters: Vec<String>,
    },
}
