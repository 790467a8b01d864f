//! Configuration from outside: the mode, and ROS arguments, from environment and command line.

use crate::deterministic::Simulation;
use crate::executor::{Executor, Mode};
use crate::flight::FlightRecord;
use crate::mapping::Mapping;
use crate::middleware::Connection;
use ringspin_executor::{Arguments, BoxError, Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;

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

/// The variables that name the record to replay, and the one to write.
const REPLAY_VARIABLE: &str = "RINGSPIN_REPLAY";
const RECORD_VARIABLE: &str = "RINGSPIN_RECORD";

/// The value of a variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(feature = "flight")]
fn load_flight(path: &str) -> Result<FlightRecord> {
    FlightRecord::load(path)
}

#[cfg(feature = "flight")]
fn record_flight(executor: &mut Executor, path: &str) -> Result<()> {
    executor.record_flight(crate::flight::FlightFile::create(path)?);
    Ok(())
}

#[cfg(not(feature = "flight"))]
fn load_flight(path: &str) -> Result<FlightRecord> {
    Err(no_flight_files(path))
}

#[cfg(not(feature = "flight"))]
fn record_flight(_: &mut Executor, path: &str) -> Result<()> {
    Err(no_flight_files(path))
}

#[cfg(not(feature = "flight"))]
fn no_flight_files(path: &str) -> Error {
    let text = format!(
        "failed to open the flight record {path}: this program was built without them; build \
         ringspin with its feature `flight`"
    );
    Error::new(ErrorKind::Unsupported, text).at_path(path)
}

impl Mode {
    /// The mode that the environment asks for: `RINGSPIN_MODE` is `single` (the default), `multi`
    /// or `deterministic`; for `multi`, `RINGSPIN_MAPPING` may name a mapping file; for
    /// `deterministic`, `RINGSPIN_SIMULATION` a file with a simulation, which `reader` reads.
    /// `RINGSPIN_REPLAY` names the record of a run to be replayed; the others have no effect then.
    ///
    /// # Errors
    /// Fails for an unknown mode, an unusable file, or a file that the mode cannot use.
    pub fn from_env_with(reader: SimulationReader) -> Result<Self> {
        if let Some(replay) = Self::replay_from_env()? {
            return Ok(replay);
        }
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
            (Self::MultiCore(_), _, Some(_)) | (_, None, Some(_)) => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "RINGSPIN_SIMULATION is set, but mode {name:?} simulates nothing; unset it or \
                     use `deterministic`"
                ),
            )),
            (_, Some(_), _) => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "RINGSPIN_MAPPING is set, but mode {name:?} has no cores to map to; unset it \
                     or use `multi`"
                ),
            )),
        }
    }

    /// The replay of the record that `RINGSPIN_REPLAY` names; `None` if the variable is unset. For
    /// programs that choose their mode otherwise.
    ///
    /// # Errors
    /// Fails if the record cannot be read.
    pub fn replay_from_env() -> Result<Option<Self>> {
        let Some(path) = variable(REPLAY_VARIABLE) else { return Ok(None) };
        load_flight(&path).map(|record| Some(Self::Replay(Arc::new(record))))
    }
}

impl Executor {
    /// Has a live run [recorded](Self::record_flight) in the file that `RINGSPIN_RECORD` names, if
    /// it is set. For programs that choose their mode otherwise.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be created, and in deterministic mode.
    pub fn record_from_env(&mut self) -> Result<()> {
        let Some(path) = variable(RECORD_VARIABLE) else { return Ok(()) };
        match self.mode() {
            Mode::Replay(_) => Ok(()),
            Mode::SingleCore | Mode::MultiCore(_) => record_flight(self, &path),
            Mode::Deterministic(_) => {
                let text = "RINGSPIN_RECORD is set, but a deterministic run needs no record: its \
                            job and seed repeat it; unset it";
                Err(Error::new(ErrorKind::InvalidArgument, text))
            }
        }
    }

    /// An executor as the environment asks for: in the mode of `RINGSPIN_MODE` (see
    /// [`Mode::from_env_with`]), with a [record](Self::record_flight) of a live
    /// run in the file of `RINGSPIN_RECORD`, with the ROS arguments of `RINGSPIN_ROS_ARGS` (see
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
        let mut executor = Self::new(Mode::from_env_with(reader)?).with_arguments(arguments);
        executor.record_from_env()?;
        executor.connected(Connection::from_env()?)
    }

    /// Takes names and parameters from `arguments`; call this before the first node is created.
    #[must_use]
    pub fn with_arguments(self, arguments: Arguments) -> Self {
        self.graph().set_arguments(arguments);
        self
    }
}
