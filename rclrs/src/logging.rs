//! Log messages: the macros, and the path of a message to the log.
//!
//! A macro has a static [`LogCallSite`], which decides by the [`LogParams`] whether the message is
//! logged this time. The level of the logger is compared later, by rcl or without ROS 2 by the
//! adapter: a message below it counts as an occurrence, too, as in rclrs.

mod call_site;
mod log_params;
mod logger;

pub use call_site::LogCallSite;
pub use log_params::{
    LogOccurrence, LogParams, LogSeverity, LoggerName, ThrottleClock, ToLogParams,
};
pub use logger::Logger;

use ringspin::arguments::LogLevel;
use ringspin_adapter::log::{Line, log_in};
use std::fmt;

/// The logger of errors about log messages.
const LOGGER_OF_ERRORS: &str = "logger";

/// The place of a log message in the source.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct LogLocation {
    /// The path of the function.
    pub function: &'static str,
    /// The file.
    pub file: &'static str,
    /// The line in the file, from 1 on.
    pub line: u32,
}

impl LogLocation {
    fn log(self, level: LogLevel, logger: &str, text: &str) {
        let Self { function, file, line } = self;
        log_in(function, &Line { level, logger, text, file, line });
    }
}

/// Logs a message; the macros call it.
#[doc(hidden)]
pub fn write_log(
    severity: LogSeverity,
    logger: &LoggerName<'_>,
    message: fmt::Arguments<'_>,
    location: LogLocation,
) {
    // Formatted even if it is not shown: `Display` of an argument may have effects.
    let text = fmt::format(message);
    // rcutils compares the number of the severity, and that of `Unset` is below each level.
    let Some(level) = severity.level() else { return };
    match logger {
        LoggerName::Validated(name) => location.log(level, &name.to_string_lossy(), &text),
        LoggerName::Unvalidated(name) if name.contains('\0') => {
            let error = format!(
                "failed to use {name:?} as the name of a logger: it contains a NUL character; \
                 leave it out"
            );
            location.log(LogLevel::Error, LOGGER_OF_ERRORS, &error);
            location.log(level, "", &text);
        }
        LoggerName::Unvalidated(name) => location.log(level, name, &text),
    }
}

/// Logs a message: a logger with conditions, and a format.
///
/// The first argument is a [`Logger`], a node, or a string with the name of a logger. The methods
/// of [`ToLogParams`] add a severity and conditions to it. Occurrences and the time of the last
/// message, for [`throttle`](ToLogParams::throttle), are counted for each call in the source.
///
/// ```no_run
/// use rclrs::*;
/// use std::time::Duration;
///
/// let node = Context::default().create_basic_executor().create_node("pilot")?;
/// let speed = 2.5;
/// log!(node.logger(), "started");
/// log!(node.debug(), "speed: {speed}");
/// log!(node.fatal(), "{} has no map", node.name());
/// log!(node.warn().once(), "the battery is old");
/// log!("radio".error().skip_first().throttle(Duration::from_secs(1)), "no answer");
/// log!(node.info().only_if(speed > 2.0), "fast");
/// # Ok::<(), RclrsError>(())
/// ```
///
/// [`log_debug`], [`log_info`], [`log_warn`], [`log_error`] and [`log_fatal`] are used in the same
/// way, and replace the severity.
///
/// [`log_debug`]: crate::log_debug
/// [`log_info`]: crate::log_info
/// [`log_warn`]: crate::log_warn
/// [`log_error`]: crate::log_error
/// [`log_fatal`]: crate::log_fatal
#[macro_export]
macro_rules! log {
    ($to_log_params:expr, $($args:tt)*) => {{
        // Names of statics are not hygienic: no argument should see this one by chance.
        static __RCLRS_LOG_CALL_SITE: $crate::LogCallSite = $crate::LogCallSite::new();
        let params = $crate::ToLogParams::to_log_params($to_log_params);
        if __RCLRS_LOG_CALL_SITE.passes(&params) {
            $crate::log_unconditional!(params.get_severity(), params.get_logger_name(), $($args)*);
        }
    }};
}

/// Logs a message without conditions; for [`log!`](crate::log).
#[doc(hidden)]
#[macro_export]
macro_rules! log_unconditional {
    ($severity:expr, $logger_name:expr, $($args:tt)*) => {{
        let location = $crate::LogLocation {
            function: $crate::function!(),
            file: ::std::file!(),
            line: ::std::line!(),
        };
        $crate::write_log($severity, $logger_name, ::std::format_args!($($args)*), location);
    }};
}

/// The path of the function around it; for [`log!`](crate::log).
#[doc(hidden)]
#[macro_export]
macro_rules! function {
    () => {{
        fn f() {}
        fn name_of<T>(_: T) -> &'static str {
            ::std::any::type_name::<T>()
        }
        let name = name_of(f);
        name.strip_suffix("::f").unwrap_or(name)
    }};
}

/// Logs a message of severity [`Debug`](crate::LogSeverity::Debug); see [`log!`](crate::log).
#[macro_export]
macro_rules! log_debug {
    ($to_log_params:expr, $($args:tt)*) => {{
        let params = $crate::ToLogParams::to_log_params($to_log_params);
        $crate::log!($crate::ToLogParams::debug(params), $($args)*);
    }};
}

/// Logs a message of severity [`Info`](crate::LogSeverity::Info); see [`log!`](crate::log).
#[macro_export]
macro_rules! log_info {
    ($to_log_params:expr, $($args:tt)*) => {{
        let params = $crate::ToLogParams::to_log_params($to_log_params);
        $crate::log!($crate::ToLogParams::info(params), $($args)*);
    }};
}

/// Logs a message of severity [`Warn`](crate::LogSeverity::Warn); see [`log!`](crate::log).
#[macro_export]
macro_rules! log_warn {
    ($to_log_params:expr, $($args:tt)*) => {{
        let params = $crate::ToLogParams::to_log_params($to_log_params);
        $crate::log!($crate::ToLogParams::warn(params), $($args)*);
    }};
}

/// Logs a message of severity [`Error`](crate::LogSeverity::Error); see [`log!`](crate::log).
#[macro_export]
macro_rules! log_error {
    ($to_log_params:expr, $($args:tt)*) => {{
        let params = $crate::ToLogParams::to_log_params($to_log_params);
        $crate::log!($crate::ToLogParams::error(params), $($args)*);
    }};
}

/// Logs a message of severity [`Fatal`](crate::LogSeverity::Fatal); see [`log!`](crate::log).
#[macro_export]
macro_rules! log_fatal {
    ($to_log_params:expr, $($args:tt)*) => {{
        let params = $crate::ToLogParams::to_log_params($to_log_params);
        $crate::log!($crate::ToLogParams::fatal(params), $($args)*);
    }};
}
