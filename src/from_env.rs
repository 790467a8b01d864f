//! Executors as environment and command line ask for, with the simulation files of this build.

use ringspin_executor::Result;
use ringspin_modes::{Executor, SimulationReader};

#[cfg(not(feature = "simulation"))]
const READER: SimulationReader = ringspin_modes::no_simulation_files;
#[cfg(feature = "simulation")]
const READER: SimulationReader = ringspin_simulation::load_simulation;

/// Configuration of an [`Executor`] from outside.
///
/// A trait, because simulation files are read by a part of ringspin that is optional.
pub trait FromEnv: Sized {
    /// An executor as the environment asks for.
    ///
    /// | variable | value |
    /// |---|---|
    /// | `RINGSPIN_MODE` | `single` (the default), `multi` or `deterministic` |
    /// | `RINGSPIN_MAPPING` | for `multi`: a [mapping](crate::Mapping) file |
    /// | `RINGSPIN_SIMULATION` | for `deterministic`: a simulation file (feature `simulation`) |
    /// | `RINGSPIN_RECORD` | for `single` and `multi`: the file for a record (feature `flight`) |
    /// | `RINGSPIN_REPLAY` | the record of a run to be replayed, instead of a mode |
    /// | `RINGSPIN_ROS_ARGS` | ROS arguments, see [`Arguments`](crate::Arguments) |
    /// | `RINGSPIN_MIDDLEWARE` | a [`Connection`](crate::middleware::Connection) |
    ///
    /// # Errors
    /// Fails for an unknown mode or ROS argument, and for a file that cannot be used.
    fn from_env() -> Result<Self>;

    /// Like [`from_env`](Self::from_env), with the ROS arguments of the command line on top. Also
    /// returns the arguments for the application, with the program's name first.
    ///
    /// ```no_run
    /// use ringspin::{Executor, FromEnv};
    /// let (executor, args) = Executor::from_args_and_env()?;
    /// if let Some(argument) = args.get(1) {
    ///     eprintln!("this program has no argument `{argument}`");
    /// }
    /// # Ok::<(), ringspin::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for an unknown mode or ROS argument, and for a file that cannot be used.
    fn from_args_and_env() -> Result<(Self, Vec<String>)>;
}

impl FromEnv for Executor {
    fn from_env() -> Result<Self> {
        Self::from_env_with(READER)
    }

    fn from_args_and_env() -> Result<(Self, Vec<String>)> {
        Self::from_args_and_env_with(READER)
    }
}
