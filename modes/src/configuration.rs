//! Configuration from outside: the mode, and ROS arguments, from environment and command line.

use crate::executor::{Executor, Mode, ModeError};
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
}

impl Executor {
    /// An executor as the environment asks for: in the mode of `RINGSPIN_MODE` (see
    /// [`Mode::from_env`]), with the ROS arguments of `RINGSPIN_ROS_ARGS` (see
    /// [`Arguments::from_env`]).
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn from_env() -> Result<Self, ConfigurationError> {
        Ok(Self::new(Mode::from_env()?).with_arguments(Arguments::from_env()?))
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
        Ok((Self::new(Mode::from_env()?).with_arguments(arguments), rest))
    }

    /// Has `arguments` decide about names and parameters: call it before the first node is created.
    #[must_use]
    pub fn with_arguments(self, arguments: Arguments) -> Self {
        self.graph().set_arguments(arguments);
        self
    }
}
