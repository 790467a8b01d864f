//! Configuration from outside: the mode, and ROS arguments, from environment and command line.

use crate::executor::{Executor, Mode, ModeError};
use crate::job_file::JobFile;
use crate::mapping::Mapping;
use crate::middleware::{Connection, ConnectionError};
use ringspin_executor::{Arguments, ArgumentsError};
use thiserror::Error;

/// Why an executor could not be configured from outside.
#[derive(Debug, Error)]
pub enum ConfigurationError {
    /// The mode or its mapping file.
    #[error(transparent)]
    Mode(#[from] ModeError),
    /// The ROS arguments, or a parameter file among them.
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
    /// The connection with ROS 2.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

impl Mode {
    /// The mode that the environment asks for: `RINGSPIN_MODE` is `single` (the default), `multi`
    /// or `deterministic`; for `multi`, `RINGSPIN_MAPPING` may name a mapping file; for
    /// `deterministic`, `RINGSPIN_SIMULATION` a file with what is simulated, as [`JobFile`] reads
    /// it.
    ///
    /// # Errors
    /// [`ModeError`] for an unknown mode, an unusable file, or a file that the mode cannot use.
    pub fn from_env() -> Result<Self, ModeError> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let name = variable("RINGSPIN_MODE").unwrap_or_else(|| "single".into());
        let mode = name.parse()?;
        match (mode, variable("RINGSPIN_MAPPING"), variable("RINGSPIN_SIMULATION")) {
            (mode, None, None) => Ok(mode),
            (Self::MultiCore(_), Some(path), None) => {
                Ok(Self::MultiCore(Some(Mapping::load(path)?)))
            }
            (Self::Deterministic(_), None, Some(path)) => {
                let simulation = JobFile::load(path).and_then(JobFile::into_simulation);
                Ok(Self::Deterministic(Box::new(simulation.map_err(Box::new)?)))
            }
            (Self::SingleCore | Self::Deterministic(_), Some(_), _) => {
                Err(ModeError::NeedsMultiCore(name))
            }
            (_, _, Some(_)) => Err(ModeError::NeedsDeterministic(name)),
        }
    }
}

impl Executor {
    /// An executor as the environment asks for: in the mode of `RINGSPIN_MODE` (see
    /// [`Mode::from_env`]), with the ROS arguments of `RINGSPIN_ROS_ARGS` (see
    /// [`Arguments::from_env`]), connected as `RINGSPIN_MIDDLEWARE` says (see [`Connection`]).
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn from_env() -> Result<Self, ConfigurationError> {
        Self::configured(Arguments::from_env()?)
    }

    /// As [`from_env`](Self::from_env), with the ROS arguments of the command line on top. Also
    /// returns what the command line holds for the application, with the program's name before it.
    ///
    /// ```no_run
    /// # use ringspin_modes::Executor;
    /// let (executor, args) = Executor::from_args_and_env()?;
    /// if let Some(argument) = args.get(1) {
    ///     eprintln!("this program has no argument `{argument}`");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn from_args_and_env() -> Result<(Self, Vec<String>), ConfigurationError> {
        let (arguments, rest) = Arguments::from_args_and_env()?;
        Ok((Self::configured(arguments)?, rest))
    }

    /// As the environment asks for, with these arguments.
    fn configured(arguments: Arguments) -> Result<Self, ConfigurationError> {
        let executor = Self::new(Mode::from_env()?).with_arguments(arguments);
        Ok(executor.connected(Connection::from_env()?)?)
    }

    /// Has `arguments` decide about names and parameters: call it before the first node is created.
    #[must_use]
    pub fn with_arguments(self, arguments: Arguments) -> Self {
        self.graph().set_arguments(arguments);
        self
    }
}
