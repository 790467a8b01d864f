//! The levels of loggers without ROS 2, by the rules of rcutils.

use ringspin::arguments::LogLevel;
use std::collections::BTreeMap;

/// The levels that were set. Loggers form a tree by the dots in their names: `a.b` is the parent of
/// `a.b.c`, and the logger with the empty name is the ancestor of all.
#[derive(Debug)]
pub(super) struct Levels {
    default: LogLevel,
    /// The levels of named loggers.
    own: BTreeMap<String, LogLevel>,
}

impl Levels {
    /// Information for all.
    pub(super) const fn new() -> Self {
        Self { default: LogLevel::Info, own: BTreeMap::new() }
    }

    /// Sets the level of `logger`. `None` stands for the level of its parent, and for information
    /// if the name is empty.
    pub(super) fn set(&mut self, logger: &str, level: Option<LogLevel>) {
        match (logger, level) {
            ("", level) => self.default = level.unwrap_or(LogLevel::Info),
            (_, Some(level)) => {
                self.own.insert(logger.into(), level);
            }
            (_, None) => {
                self.own.remove(logger);
            }
        }
    }

    /// The level of `logger`: its own one, else that of the next ancestor that has one.
    pub(super) fn of(&self, logger: &str) -> LogLevel {
        let mut name = logger;
        loop {
            if let Some(level) = self.own.get(name) {
                return *level;
            }
            match name.rsplit_once('.') {
                Some((parent, _)) => name = parent,
                None => return self.default,
            }
        }
    }
}
