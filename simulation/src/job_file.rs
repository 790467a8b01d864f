//! Job files: nodes and the settings of the simulation, in TOML.
//!
//! ```toml
//! seed = 7                        # of everything random; 0 without it
//! start = "0 s"                   # simulated time at the start
//! for = "60 s"                    # or `end`, the simulated time at the end; a job needs one of
//!                                 # these, `end_when`, or `endless = true`
//! ties = "fifo"                   # or "reverse", { shuffle = { seed = 1 } },
//!                                 # { pct = { seed = 1, depth = 3, steps = 1000 } },
//!                                 # { mixed = { seed = 1, steps = 1000 } };
//!                                 # or schedule = "t0.1:0>1", as it was printed
//! jitter = { max = "1 ms", seed = 1 }
//! cores = "unlimited"             # or "single", { mapping = "mapping.toml" }
//! instant_dispatches_max = 1_000_000
//! no_progress_max = "10 s"        # of simulated time without a message
//! delays = "rslcpp.csv"           # weaker than the links below
//! profile = "profile.toml"        # see `models::profile`; weaker than the executions below
//!
//! [[link]]                        # see `models::links`
//! topic = "/points"
//! delay = "3 ms"
//!
//! [[execution]]                   # see `models::durations`
//! node = "/fusion"
//! duration = "20 ms"
//! ```
//!
//! That much is a [`Simulation`], and a file with that much is one: a program that builds its graph
//! itself takes it from `RINGSPIN_SIMULATION`. A job has nodes besides:
//!
//! ```toml
//! watchdog = "30 s"               # of real time for one callback; then exit code 124
//! failures = "stop"               # or "isolate"
//! endless = true                  # ends when nothing is left to do, or a node ends it
//! end_when = { topic = "/goal", messages = 1 }
//! ros_args = ["--params-file", "robot.yaml", "-r", "/tf:=/tf_sim"]
//!
//! [[node]]
//! type = "camera"                 # as it is registered
//! name = "front"                  # the type's name without it
//! namespace = "/sensors"          # "/" without it
//! parameters = { rate = 25.0, "exposure.auto" = true }   # stronger than `ros_args`
//! remap = { image = "/front/image" }
//! ```
//!
//! Paths are relative to the file. Unknown keys are errors, and so are parameters here that no node
//! declares.

mod document;
mod jobs;
mod parameters;
mod simulation;

use document::Document;
use jobs::Jobs;
use ringspin_executor::{Arguments, BoxError, Error, ErrorKind, Result};
use ringspin_modes::deterministic::Simulation;
use ringspin_modes::toml_text;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A job file that was read, with the files that it names.
///
/// ```
/// use ringspin_simulation::JobFile;
/// use std::time::Duration;
/// let file = JobFile::from_toml(r#"
///     seed = 7
///     for = "60 s"
///     [[link]]
///     topic = "/points"
///     delay = { uniform = ["2 ms", "5 ms"] }
/// "#)?;
/// assert_eq!(file.simulation().seed, 7);
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct JobFile {
    source: Source,
    simulation: Simulation,
    jobs: Jobs,
}

/// Where the text comes from.
#[derive(Clone, Debug)]
struct Source {
    /// The file's name for messages.
    origin: String,
    /// Base of relative paths.
    folder: PathBuf,
    text: String,
}

impl Source {
    fn at(&self, span: Range<usize>) -> Place {
        Place { origin: self.origin.clone(), line: toml_text::line_of(&self.text, span.start) }
    }

    /// An error at `span` with the problem and the allowed values.
    fn wrong(&self, span: Range<usize>, problem: impl fmt::Display) -> Error {
        self.at(span).error(ErrorKind::InvalidArgument, problem)
    }

    /// The path that is meant by one in the file.
    fn path(&self, path: &toml::Spanned<PathBuf>) -> PathBuf {
        self.folder.join(path.get_ref())
    }
}

/// A line of a job file, for errors.
#[derive(Clone, Debug)]
struct Place {
    origin: String,
    line: usize,
}

impl Place {
    fn error(&self, kind: ErrorKind, problem: impl fmt::Display) -> Error {
        Error::new(kind, format!("{self}: {problem}")).at_path(&self.origin).at_line(self.line)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.origin, self.line)
    }
}

impl JobFile {
    /// Reads the file, and the files that it names.
    ///
    /// # Errors
    /// An error with file and line.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let name = path.display();
            let text = format!(
                "failed to read the job file `{name}`: {error}; check the path and its permissions"
            );
            Error::new(ErrorKind::Io, text).at_path(path).caused_by(error)
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).into();
        Self::parse(Source { origin: path.display().to_string(), folder, text })
    }

    /// Parses the text of a job file, like [`load`](Self::load); paths are relative to the current
    /// folder.
    ///
    /// # Errors
    /// An error with the line.
    pub fn from_toml(text: &str) -> Result<Self> {
        let (origin, folder) = ("the text".into(), PathBuf::new());
        Self::parse(Source { origin, folder, text: text.into() })
    }

    fn parse(source: Source) -> Result<Self> {
        let problem = format!("{} is not a job file", source.origin);
        let document: Document = toml_text::parse(&source.text, &problem, "correct that line")
            .map_err(|error| error.at_path(&source.origin))?;
        let simulation = simulation::read(&document, &source)?;
        let jobs = Jobs::read(document, &source)?;
        Ok(Self { source, simulation, jobs })
    }

    /// The settings of the simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The settings of the simulation, if the file has no other keys: for a program that builds its
    /// graph itself.
    ///
    /// # Errors
    /// An error for the first key that only a job has.
    pub fn into_simulation(self) -> Result<Simulation> {
        match self.jobs.first_key {
            None => Ok(self.simulation),
            Some((at, key)) => Err(at.error(
                ErrorKind::InvalidArgument,
                format!(
                    "`{key}` belongs to a job, but this file may only describe the simulation: the \
                     program sets the rest; remove it"
                ),
            )),
        }
    }

    /// Has `stronger` arguments, as of the environment or the command line, win over those of the
    /// file.
    #[must_use]
    pub fn with_arguments(mut self, stronger: Arguments) -> Self {
        self.jobs.arguments = self.jobs.arguments.overridden_by(stronger);
        self
    }
}

/// Reads the simulation of a file, for
/// [`Executor::from_env_with`](ringspin_modes::Executor::from_env_with).
///
/// # Errors
/// An error with file and line, also for a key that only a job has.
pub fn load_simulation(path: &Path) -> Result<Simulation, BoxError> {
    Ok(JobFile::load(path).and_then(JobFile::into_simulation)?)
}
