//! Log messages, in the form of ROS 2's console.

use ringspin::arguments::LogLevel;
use ringspin_adapter::log::Line;
use std::fmt;

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

/// Logs a message; the macros call it. Over ROS 2 by rcl: on the standard error, in its log files,
/// and on `/rosout` if the logger is a node's. Else on the standard error, in the same form.
#[doc(hidden)]
pub fn log(msg: &str, logger_name: &str, file: &str, line: u32, severity: LogSeverity) {
    let level = severity.level();
    ringspin_adapter::log::log(&Line { level, logger: logger_name, text: msg, file, line });
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
