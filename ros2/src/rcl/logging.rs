//! Log messages to `/rosout`, the terminal and ROS's log files.

use super::context::Context;
use super::entity::{Entity, c_name};
use super::error::check;
use super::ffi;
use super::node::Node;
use ringspin_executor::{Error, LogLevel};
use std::cell::Cell;
use std::ffi::{CString, c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};

const fn number(severity: LogLevel) -> c_int {
    use ffi::RCUTILS_LOG_SEVERITY as S;
    (match severity {
        LogLevel::Debug => S::RCUTILS_LOG_SEVERITY_DEBUG,
        LogLevel::Info => S::RCUTILS_LOG_SEVERITY_INFO,
        LogLevel::Warn => S::RCUTILS_LOG_SEVERITY_WARN,
        LogLevel::Error => S::RCUTILS_LOG_SEVERITY_ERROR,
        LogLevel::Fatal => S::RCUTILS_LOG_SEVERITY_FATAL,
    })
    .0 as c_int
}

/// One message for the log, and where in the program it comes from.
#[derive(Clone, Copy, Debug)]
pub struct LogLine<'a> {
    /// How bad it is.
    pub severity: LogLevel,
    /// The text. A NUL character is left out.
    pub message: &'a str,
    /// The source file.
    pub file: &'a str,
    /// The function, or the module.
    pub function: &'a str,
    /// The line in the file.
    pub line: u32,
}

/// Logs `line` in the name of `node`: to `/rosout`, unless its options forbid it, and where
/// [`ContextOptions`](super::ContextOptions) say. A message less severe than the logger's level
/// (`--log-level`) goes nowhere.
///
/// It may be used from any thread. Not for a callback that the middleware calls: it would publish
/// from within.
pub fn log(node: &Node, line: &LogLine<'_>) {
    // SAFETY: the name ends with NUL, and the node keeps its context alive and with it the logging.
    unsafe { log_as(node.handle.logger_name(), line) }
}

/// # Safety
/// `logger` ends with NUL, and a context is alive.
unsafe fn log_as(logger: *const c_char, line: &LogLine<'_>) {
    let [message, file, function] = [line.message, line.file, line.function].map(c_text);
    let location = ffi::rcutils_log_location_t {
        function_name: function.as_ptr(),
        file_name: file.as_ptr(),
        line_number: line.line as usize,
    };
    let severity = number(line.severity);
    let _lock = lock();
    // SAFETY: all strings end with NUL and outlive the call, and the format takes one of them. The
    // caller promises the rest.
    unsafe { ffi::rcutils_log(&location, severity, logger, c"%s".as_ptr(), message.as_ptr()) }
}

/// Sets the least severity that `logger` logs. Its descendants, `logger.x` and `logger.x.y`, log
/// the same, unless they or loggers between have a level. `None` stands for the level of the
/// parent. The logger with the empty name is the ancestor of all; `None` stands for information
/// there.
///
/// It may be called before there is a context; the arguments of the first one then override it.
///
/// # Errors
/// Fails for a name that contains a NUL character, and if rcutils cannot allocate.
pub fn set_log_level(logger: &str, severity: Option<LogLevel>) -> Result<(), Error> {
    let name = c_name("logger", logger)?;
    let unset = ffi::RCUTILS_LOG_SEVERITY::RCUTILS_LOG_SEVERITY_UNSET.0 as c_int;
    let level = severity.map_or(unset, number);
    let _lock = lock();
    if logger.is_empty() {
        // SAFETY: the lock keeps out other users of the levels.
        unsafe { ffi::rcutils_logging_set_default_logger_level(level) };
        return Ok(());
    }
    // SAFETY: the name ends with NUL, and the lock keeps out other users of the levels.
    let code = unsafe { ffi::rcutils_logging_set_logger_level(name.as_ptr(), level) };
    check(code, "set the level of", &Entity::plain(format!("logger {logger}")))
}

fn c_text(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| CString::new(text.replace('\0', "")).unwrap_or_default())
}

/// The number of contexts: the first one configures the logging, the last one frees it.
static USERS: Mutex<usize> = Mutex::new(0);

thread_local! {
    /// Whether this thread holds `USERS`: logging may log again, such as when a publisher fails.
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// The lock for logging, which one thread may take several times. It guards the table of `/rosout`
/// and that of the levels, to which rcutils adds a logger when it is first used.
pub(super) struct Lock {
    users: Option<MutexGuard<'static, usize>>,
}

/// Takes the lock for logging: nodes come and go under it, since `/rosout` has a table of them.
pub(super) fn lock() -> Lock {
    if HOLDS.get() {
        return Lock { users: None };
    }
    let users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
    HOLDS.set(true);
    Lock { users: Some(users) }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.users.take().is_some() {
            HOLDS.set(false);
        }
    }
}

/// Publishes the log of `node` on `/rosout`. Later ROS 2 does not do so by the node's creation.
///
/// # Safety
/// The node is initialized, and the lock for logging is held. The node stays at its address, which
/// rcl keeps, until [`end_log_of`].
pub(super) unsafe fn publish_log_of(
    node: *mut ffi::rcl_node_t,
    entity: &Entity,
) -> Result<(), Error> {
    // SAFETY: as the caller promises. A second time for one node does nothing.
    let code = unsafe { ffi::rcl_logging_rosout_init_publisher_for_node(node) };
    check(code, "publish the log of", entity)
}

/// Stops publishing the log of `node`; does nothing for a node without a publisher for it.
///
/// # Safety
/// The node is initialized, and the lock for logging is held.
pub(super) unsafe fn end_log_of(node: *mut ffi::rcl_node_t) {
    // SAFETY: as the caller promises.
    unsafe { ffi::rcl_logging_rosout_fini_publisher_for_node(node) };
}

/// Sets logging up for one more context, by the arguments of the first one.
pub(super) fn configure(context: *const ffi::rcl_context_t) -> Result<(), Error> {
    let mut lock = lock();
    let users = lock.users.as_mut().expect("no log message creates a context");
    if **users == 0 {
        // SAFETY: the context is initialized, the lock keeps out other users of logging, and
        // `output` lives as long as the program.
        let code = unsafe {
            let allocator = ffi::rcutils_get_default_allocator();
            let arguments = &raw const (*context).global_arguments;
            ffi::rcl_logging_configure_with_output_handler(arguments, &allocator, Some(output))
        };
        check(code, "configure", &Entity::plain("logging"))?;
    }
    **users += 1;
    Ok(())
}

/// Frees logging after the last context.
pub(super) fn release() {
    let mut lock = lock();
    if let Some(users) = lock.users.as_mut() {
        **users -= 1;
        if **users == 0 {
            // SAFETY: no context is left, so no node that could log.
            unsafe { ffi::rcl_logging_fini() };
        }
    }
}

/// Called by rcutils for every message: calls rcl's own outputs, one message at a time, because
/// they look the node up in a table that has no lock.
///
/// # Safety
/// As rcutils calls it.
unsafe extern "C" fn output(
    location: *const ffi::rcutils_log_location_t,
    severity: c_int,
    name: *const c_char,
    timestamp: ffi::rcutils_time_point_value_t,
    format: *const c_char,
    arguments: *mut ffi::va_list,
) {
    let _lock = lock();
    // SAFETY: all arguments are as rcutils gave them, for this very function.
    unsafe {
        ffi::rcl_logging_multiple_output_handler(
            location, severity, name, timestamp, format, arguments,
        );
    }
}

impl Context {
    /// Logs `line` like [`log`], in the name of `logger`: to `/rosout` if that is the logger of a
    /// node, which is the node's fully qualified name with dots for slashes, such as `robot.pilot`.
    pub fn log(&self, logger: &str, line: &LogLine<'_>) {
        // SAFETY: the name ends with NUL and outlives the call, and this context is alive.
        unsafe { log_as(c_text(logger).as_ptr(), line) }
    }

    /// Whether a message of `severity` from the logger of `node` would go anywhere.
    pub fn logs(&self, node: &Node, severity: LogLevel) -> bool {
        let _lock = lock();
        // SAFETY: the name ends with NUL, and the node keeps logging configured.
        unsafe {
            ffi::rcutils_logging_logger_is_enabled_for(node.handle.logger_name(), number(severity))
        }
    }
}
