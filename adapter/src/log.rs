//! Log messages, in the form of ROS 2's console.

mod levels;
#[cfg(ros_is_sourced)]
mod over_ros2;
#[cfg(ros_is_sourced)]
pub use over_ros2::start;

use crate::clock::system_now;
use crate::lock;
use levels::Levels;
use ringspin::arguments::LogLevel;
use ringspin::{Arguments, Result};
use std::sync::Mutex;

/// A log message and its place in the source.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The severity.
    pub level: LogLevel,
    /// The name of the logger.
    pub logger: &'a str,
    /// The text.
    pub text: &'a str,
    /// The file.
    pub file: &'a str,
    /// The line in the file, from 1 on.
    pub line: u32,
}

/// The levels of the loggers without ROS 2.
static LEVELS: Mutex<Levels> = Mutex::new(Levels::new());

/// Sets the least severity that is shown without ROS 2, for loggers without a level.
pub fn set_level(level: LogLevel) {
    lock(&LEVELS).set("", Some(level));
}

/// The least severity that is shown without ROS 2, for loggers without a level.
pub fn level() -> LogLevel {
    lock(&LEVELS).of("")
}

/// Sets the levels of the command line, `--log-level level` and `--log-level logger:=level`, for
/// the log without ROS 2. Over ROS 2 the first context has rcl set them.
pub fn set_levels(arguments: &Arguments) {
    let mut levels = lock(&LEVELS);
    if let Some(level) = arguments.log_level() {
        levels.set("", Some(level));
    }
    for argument in arguments.for_rcl() {
        let Some((logger, level)) = argument.split_once(":=") else { continue };
        levels.set(logger, level_of(level));
    }
}

/// Sets the least severity that `logger` shows, with ROS 2 and without. Its descendants, `logger.x`
/// and `logger.x.y`, show the same, unless they or loggers between have a level. `None` stands for
/// the level of the parent. The logger with the empty name is the ancestor of all; `None` stands
/// for information there.
///
/// # Errors
/// With ROS 2, fails for a name that contains a NUL character, and if rcutils cannot allocate.
pub fn set_level_of(logger: &str, level: Option<LogLevel>) -> Result<()> {
    #[cfg(ros_is_sourced)]
    ringspin_ros2::rcl::set_log_level(logger, level)?;
    lock(&LEVELS).set(logger, level);
    Ok(())
}

/// Logs a message. Over ROS 2 by rcl: on the standard error, in its log files, and on `/rosout` if
/// the logger is a node's. Else on the standard error, in the same form.
pub fn log(line: &Line<'_>) {
    log_in("", line);
}

/// Logs a message like [`log`]; rcl names `function` as its origin.
pub fn log_in(function: &str, line: &Line<'_>) {
    #[cfg(ros_is_sourced)]
    if over_ros2::log(function, line) {
        return;
    }
    #[cfg(not(ros_is_sourced))]
    let _ = function;
    if line.level >= lock(&LEVELS).of(line.logger) {
        print(line);
    }
}

/// Writes a message to the standard error.
pub fn print(line: &Line<'_>) {
    let now = system_now();
    let (seconds, nanos) = (now.as_secs(), now.subsec_nanos());
    let Line { level, logger, text, .. } = line;
    eprintln!("[{}] [{seconds}.{nanos:09}] [{logger}]: {text}", name(*level));
}

/// The name of a severity in the log.
fn name(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "DEBUG",
        LogLevel::Info => "INFO",
        LogLevel::Warn => "WARN",
        LogLevel::Error => "ERROR",
        LogLevel::Fatal => "FATAL",
    }
}

/// The level of that name on the command line.
fn level_of(name: &str) -> Option<LogLevel> {
    use LogLevel::{Debug, Error, Fatal, Info, Warn};
    [Debug, Info, Warn, Error, Fatal]
        .into_iter()
        .find(|level| self::name(*level).eq_ignore_ascii_case(name))
}
