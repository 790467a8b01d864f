//! The parameters of a log message: its logger, severity and conditions.

use crate::Clock;
use ringspin::arguments::LogLevel;
use std::borrow::Borrow;
use std::ffi::CString;
use std::time::Duration;

/// The logger, the severity and the conditions of a log message, for [`log!`](crate::log). The
/// methods of [`ToLogParams`] set them.
#[derive(Debug, Clone, Copy)]
pub struct LogParams<'a> {
    logger_name: LoggerName<'a>,
    severity: LogSeverity,
    occurs: LogOccurrence,
    throttle: Duration,
    throttle_clock: ThrottleClock<'a>,
    only_if: bool,
}

impl<'a> LogParams<'a> {
    /// Information of this logger, without conditions.
    pub fn new(logger_name: LoggerName<'a>) -> Self {
        Self {
            logger_name,
            severity: LogSeverity::default(),
            occurs: LogOccurrence::default(),
            throttle: Duration::ZERO,
            throttle_clock: ThrottleClock::default(),
            only_if: true,
        }
    }

    /// The name of the logger.
    pub fn get_logger_name(&self) -> &LoggerName<'_> {
        &self.logger_name
    }

    /// The severity.
    pub fn get_severity(&self) -> LogSeverity {
        self.severity
    }

    /// The occurrences that are logged.
    pub fn get_occurence(&self) -> LogOccurrence {
        self.occurs
    }

    /// The shortest time between two messages; zero for no limit.
    pub fn get_throttle(&self) -> Duration {
        self.throttle
    }

    /// The clock of that time.
    pub fn get_throttle_clock(&self) -> ThrottleClock<'a> {
        self.throttle_clock
    }

    /// The condition of [`ToLogParams::only_if`].
    pub fn get_user_filter(&self) -> bool {
        self.only_if
    }
}

/// Logs in the name of `self`: the first argument of [`log!`](crate::log).
///
/// Implemented by references to loggers, nodes and strings (`&str`, `&String`, `&Cow<str>`), which
/// are names of loggers.
pub trait ToLogParams<'a>: Sized {
    /// The parameters; information without conditions, unless `self` has others.
    fn to_log_params(self) -> LogParams<'a>;

    /// Logs the first occurrence only, and does not throttle it.
    fn once(self) -> LogParams<'a> {
        self.occurs(LogOccurrence::Once)
    }

    /// Logs all occurrences but the first one.
    fn skip_first(self) -> LogParams<'a> {
        self.occurs(LogOccurrence::SkipFirst)
    }

    /// Logs these occurrences. One that [`only_if`](Self::only_if) keeps out does not count.
    fn occurs(self, occurs: LogOccurrence) -> LogParams<'a> {
        LogParams { occurs, ..self.to_log_params() }
    }

    /// Logs an occurrence only if the last one that was logged is at least this long ago; zero for
    /// no limit.
    fn throttle(self, throttle: Duration) -> LogParams<'a> {
        LogParams { throttle, ..self.to_log_params() }
    }

    /// Takes the time for [`throttle`](Self::throttle) from `clock`.
    fn throttle_clock(self, clock: ThrottleClock<'a>) -> LogParams<'a> {
        LogParams { throttle_clock: clock, ..self.to_log_params() }
    }

    /// Logs the message only if `only_if` is true, and the other conditions allow it.
    fn only_if(self, only_if: bool) -> LogParams<'a> {
        LogParams { only_if, ..self.to_log_params() }
    }

    /// Logs with severity [`Debug`](LogSeverity::Debug).
    fn debug(self) -> LogParams<'a> {
        self.severity(LogSeverity::Debug)
    }

    /// Logs with severity [`Info`](LogSeverity::Info), the default.
    fn info(self) -> LogParams<'a> {
        self.severity(LogSeverity::Info)
    }

    /// Logs with severity [`Warn`](LogSeverity::Warn).
    fn warn(self) -> LogParams<'a> {
        self.severity(LogSeverity::Warn)
    }

    /// Logs with severity [`Error`](LogSeverity::Error).
    fn error(self) -> LogParams<'a> {
        self.severity(LogSeverity::Error)
    }

    /// Logs with severity [`Fatal`](LogSeverity::Fatal).
    fn fatal(self) -> LogParams<'a> {
        self.severity(LogSeverity::Fatal)
    }

    /// Logs with this severity.
    fn severity(self, severity: LogSeverity) -> LogParams<'a> {
        LogParams { severity, ..self.to_log_params() }
    }
}

impl<'a, T: Borrow<str>> ToLogParams<'a> for &'a T {
    fn to_log_params(self) -> LogParams<'a> {
        <T as Borrow<str>>::borrow(self).to_log_params()
    }
}

impl<'a> ToLogParams<'a> for &'a str {
    fn to_log_params(self) -> LogParams<'a> {
        LogParams::new(LoggerName::Unvalidated(self))
    }
}

impl<'a> ToLogParams<'a> for LogParams<'a> {
    fn to_log_params(self) -> LogParams<'a> {
        self
    }
}

/// The name of the logger of a message. If it contains a NUL character, an error about it is
/// logged, and the default logger logs the message.
#[derive(Debug, Clone, Copy)]
pub enum LoggerName<'a> {
    /// A name without a NUL character, such as that of a [`Logger`](crate::Logger).
    Validated(&'a CString),
    /// Any name.
    Unvalidated(&'a str),
}

/// The severity of a log message, or the least severity that a logger shows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogSeverity {
    /// For a logger, the level of its parent. A message of this severity is not shown.
    Unset,
    /// A detail that helps to find faults.
    Debug,
    /// Information for an operator.
    #[default]
    Info,
    /// An unwanted condition that does not keep the program from working.
    Warn,
    /// An error of an operation.
    Error,
    /// An error that the program cannot recover from. The program ends only if the caller ends it.
    Fatal,
}

impl LogSeverity {
    /// The level of ringspin; `None` for `Unset`.
    pub(super) const fn level(self) -> Option<LogLevel> {
        match self {
            Self::Unset => None,
            Self::Debug => Some(LogLevel::Debug),
            Self::Info => Some(LogLevel::Info),
            Self::Warn => Some(LogLevel::Warn),
            Self::Error => Some(LogLevel::Error),
            Self::Fatal => Some(LogLevel::Fatal),
        }
    }
}

/// The occurrences of a log call that are logged.
#[derive(Debug, Default, Clone, Copy)]
pub enum LogOccurrence {
    /// Each one, if the other conditions allow it.
    #[default]
    All,
    /// The first one, whatever the throttle.
    Once,
    /// Each one but the first, if the other conditions allow it.
    SkipFirst,
}

/// The clock for [`ToLogParams::throttle`].
#[derive(Debug, Default, Clone, Copy)]
pub enum ThrottleClock<'a> {
    /// [`std::time::Instant`].
    #[default]
    SteadyTime,
    /// [`std::time::SystemTime`].
    SystemTime,
    /// A clock of ROS, such as that of a node, which may be simulated.
    Clock(&'a Clock),
}
