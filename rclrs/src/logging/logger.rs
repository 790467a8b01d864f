//! Loggers: names with levels.

use super::{LogParams, LogSeverity, LoggerName, ToLogParams};
use crate::{RclReturnCode, RclrsError};
use ringspin_adapter::log::set_level_of;
use std::borrow::Borrow;
use std::ffi::CString;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A logger, for the first argument of [`log!`](crate::log). Cheap to clone.
///
/// It is a name: loggers with equal names are equal, and share their level. The names form a tree
/// by the dots in them: a logger without a level has that of its parent, and the
/// [default](Self::default) logger is the ancestor of all.
///
/// A node has a [logger](crate::NodeState::logger) with its fully qualified name, dots for slashes,
/// such as `robot.pilot`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Logger {
    name: Arc<str>,
    c_name: Arc<CString>,
}

impl Logger {
    /// A logger with this name.
    ///
    /// # Errors
    /// Fails for a name that contains a NUL character.
    pub fn new(name: impl Borrow<str>) -> Result<Self, RclrsError> {
        let name = name.borrow();
        match CString::new(name) {
            Ok(c_name) => Ok(Self { name: name.into(), c_name: c_name.into() }),
            Err(err) => Err(RclrsError::StringContainsNul { s: name.into(), err }),
        }
    }

    /// A logger with the name of this one, a dot, and `child_name`. Below the default logger it is
    /// `child_name` alone.
    ///
    /// # Errors
    /// Fails for a name that contains a NUL character.
    pub fn create_child(&self, child_name: impl Borrow<str>) -> Result<Self, RclrsError> {
        match self.name() {
            "" => Self::new(child_name),
            name => Self::new(format!("{name}.{}", child_name.borrow())),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the least severity that this logger shows. Descendants without a level have that of
    /// their next ancestor. [`LogSeverity::Unset`] stands for the level of the parent.
    ///
    /// # Errors
    /// Over ROS 2, fails if rcutils cannot allocate.
    pub fn set_level(&self, severity: LogSeverity) -> Result<(), RclrsError> {
        set_level_of(&self.name, severity.level())
            .map_err(|error| RclrsError::of(RclReturnCode::Error, error))
    }

    /// Sets the least severity of all loggers without a level.
    /// [`LogSeverity::Unset`] stands for information.
    pub fn set_default_level(severity: LogSeverity) {
        // Fails for a named logger only.
        let _ = set_level_of("", severity.level());
    }
}

/// The logger with the empty name, the ancestor of all others.
impl Default for Logger {
    fn default() -> Self {
        Self { name: "".into(), c_name: Arc::default() }
    }
}

impl Hash for Logger {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl<'a> ToLogParams<'a> for &'a Logger {
    fn to_log_params(self) -> LogParams<'a> {
        LogParams::new(LoggerName::Validated(&self.c_name))
    }
}
