//! Configuration from outside: the mode, and ROS arguments, from environment and command line.

use crate::deterministic::Simulation;
use crate::executor::{Executor, Mode};
use crate::mapping::Mapping;
use crate::middleware::Connection;
use ringspin_executor::{Arguments, BoxError, Error, ErrorKind, Result};
use std::path::Path;

/// Reads the simulation of a file. The crate `ringspin-simulation` has one for its job files;
/// [`no_simulation_files`] is for a program without it.
pub type SimulationReader = fn(&Path) -> Result<Simulation, BoxError>;

/// Refuses every file.
///
/// # Errors
/// Always.
pub fn no_simulation_files(path: &Path) -> Result<Simulation, BoxError> {
    let path = path.display();
    Err(format!(
        "failed to read the simulation `{path}`: this program was built without simulation files; \
         build ringspin with its feature `simulation`"
    )
    .into())
}

impl Mode {
    /// The mode that the environment asks for: `RINGSPIN_MODE` is `single` (the default), `multi`
    /// or `deterministic`; for `multi`, `RINGSPIN_MAPPING` may name a mapping file; for
    /// `deterministic`, `RINGSPIN_SIMULATION` a file with a simulation, which `reader` reads.
    ///
    /// # Errors
    /// Fails for an unknown mode, an unusable file, or a file that the mode cannot use.
    pub fn from_env_with(reader: SimulationReader) -> Result<Self> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let name = variable("RINGSPIN_MODE").unwrap_or_else(|| "single".into());
        let mode = name.parse()?;
        match (mode, variable("RINGSPIN_MAPPING"), variable("RINGSPIN_SIMULATION")) {
            (mode, None, None) => Ok(mode),
            (Self::MultiCore(_), Some(path), None) => {
                Ok(Self::MultiCore(Some(Mapping::load(path)?)))
            }
            (Self::Deterministic(_), None, Some(path)) => {
                let simulation = reader(Path::new(&path)).map_err(|error| {
                    Error::new(ErrorKind::InvalidArgument, error.to_string())
                        .at_path(&path)
                        .caused_by(error)
                })?;
                Ok(Self::Deterministic(Box::new(simulation)))
            }
            (Self::SingleCore | Self::Deterministic(_), Some(_), _) => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "RINGSPIN_MAPPING is set, but mode {name:?} has no cores to map to; unset it \
                     or use `multi`"
                ),
            )),
            (_, _, Some(_)) => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "RINGSPIN_SIMULATION is set, but mode {name:?} simulates nothing; unset it or \
                     use `deterministic`"
                ),
            )),
        }
    }
}

impl Executor {
    /// An executor as the environment asks for: in the mode of `RINGSPIN_MODE` (see
    /// [`Mode::from_env_with`]), with the ROS arguments of `RINGSPIN_ROS_ARGS` (see
    /// [`Arguments::from_env`]), connected as `RINGSPIN_MIDDLEWARE` says (see [`Connection`]).
    ///
    /// # Errors
    /// Fails for an unknown mode, a mapping or simulation file that cannot be used, an invalid ROS
    /// argument, or a middleware that cannot be connected; the error names the variable or the
    /// file.
    pub fn from_env_with(reader: SimulationReader) -> Result<Self> {
        Self::configured(Arguments::from_env()?, reader)
    }

    /// Reads the environment like [`from_env_with`](Self::from_env_with), then the ROS arguments of
    /// the command line, which take precedence. Also returns the arguments for the application,
    /// with the program's name first.
    ///
    /// # Errors
    /// Fails for an unknown mode, a mapping or simulation file that cannot be used, an invalid ROS
    /// argument, or a middleware that cannot be connected; the error names the variable, the
    /// argument or the file.
    pub fn from_args_and_env_with(reader: SimulationReader) -> Result<(Self, Vec<String>)> {
        let (arguments, rest) = Arguments::from_args_and_env()?;
        Ok((Self::configured(arguments, reader)?, rest))
    }

    fn configured(arguments: Arguments, reader: SimulationReader) -> Result<Self> {
        let executor = Self::new(Mode::from_env_with(reader)?).with_arguments(arguments);
        executor.connected(Connection::from_env()?)
    }

    /// Takes names and parameters from `arguments`; call this before the first node is created.
    #[must_use]
    pub fn with_arguments(self, arguments: Arguments) -> Self {
        self.graph().set_arguments(arguments);
        self
    }
}
