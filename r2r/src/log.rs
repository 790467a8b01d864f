//! Log messages, in the form of ROS 2's console.

#[cfg(ros_is_sourced)]
pub(crate) mod over_ros2;

use crate::lock;
use nix::time::{ClockId, clock_gettime};
use ringspin::arguments::LogLevel;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

/// The severity of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSeverity {
    /// Not set; as information.
    Unset,
    /// Everything.
    Debug,
    /// Information for an operator.
    Info,
    /// An unwanted condition that does not keep the program from working.
    Warn,
    /// An error of an operation.
    Error,
    /// An error that ends the program.
    Fatal,
}

impl LogSeverity {
    const fn name(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Unset | Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
            Self::Fatal => "FATAL",
        }
    }

    const fn level(self) -> LogLevel {
        match self {
            Self::Debug => LogLevel::Debug,
            Self::Unset | Self::Info => LogLevel::Info,
            Self::Warn => LogLevel::Warn,
            Self::Error => LogLevel::Error,
            Self::Fatal => LogLevel::Fatal,
        }
    }
}

/// The least severity that is shown; information, unless the command line says otherwise.
static LEVEL: Mutex<LogLevel> = Mutex::new(LogLevel::Info);

pub(crate) fn set_level(level: LogLevel) {
    *lock(&LEVEL) = level;
}

/// Logs a message; the macros call it. Over ROS 2 by rcl: on the standard error, in its log files,
/// and on `/rosout` if the logger is a node's. Else on the standard error, in the same form.
#[doc(hidden)]
#[cfg_attr(not(ros_is_sourced), allow(unused_variables))]
pub fn log(msg: &str, logger_name: &str, file: &str, line: u32, severity: LogSeverity) {
    #[cfg(ros_is_sourced)]
    if over_ros2::log(msg, logger_name, (file, line), severity) {
        return;
    }
    if severity.level() < *lock(&LEVEL) {
        return;
    }
    let now = clock_gettime(ClockId::CLOCK_REALTIME).map(Duration::from).unwrap_or_default();
    let (severity, seconds, nanos) = (severity.name(), now.as_secs(), now.subsec_nanos());
    eprintln!("[{severity}] [{seconds}.{nanos:09}] [{logger_name}]: {msg}");
}

/// Logs an error that no caller gets.
pub(crate) fn report(error: &dyn fmt::Display) {
    log(&error.to_string(), "r2r", file!(), line!(), LogSeverity::Error);
}

#[doc(hidden)]
#[macro_export]
macro_rules! __impl_log {
    ($logger_name:expr, $msg:expr, $file:expr, $line:expr, $severity:expr) => {{
        $crate::log(&::std::fmt::format($msg), $logger_name, $file, $line, $severity);
    }};
}

macro_rules! log_macro {
    ($dollar:tt $name:ident $severity:ident) => {
        #[doc = concat!("Logs a message of severity `", stringify!($severity), "`: a logger's")]
        /// name, such as that of [`Node::logger`](crate::Node::logger), and a format.
        #[macro_export]
        macro_rules! $name {
            ($dollar logger_name:expr, $dollar($dollar args:tt)*) => {{
                $crate::__impl_log!($dollar logger_name, format_args!($dollar($dollar args)*),
                                    file!(), line!(), $crate::LogSeverity::$severity)
            }};
        }
    };
}

log_macro!($ log_debug Debug);
log_macro!($ log_info Info);
log_macro!($ log_warn Warn);
log_macro!($ log_error Error);
log_macro!($ log_fatal Fatal);

/// Compiles: simulated time is always supported here.
#[macro_export]
macro_rules! assert_compiled_with_use_sim_time_support {
    () => {};
}
