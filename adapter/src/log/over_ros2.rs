//! The log over ROS 2: by rcl, which has the terminal, log files, and `/rosout`.

use super::Line;
use crate::lock;
use ringspin_ros2::Ros2;
use ringspin_ros2::rcl::LogLine;
use std::sync::Mutex;

/// Finds the connection of the calling thread with ROS 2.
type Find = Box<dyn Fn() -> Option<Ros2> + Send>;

static FIND: Mutex<Option<Find>> = Mutex::new(None);

/// Logs by rcl from now on, where `find` finds a connection.
pub fn start(find: impl Fn() -> Option<Ros2> + Send + 'static) {
    *lock(&FIND) = Some(Box::new(find));
}

/// Logs a message of `function`, if there is a ROS 2 to log to.
pub(super) fn log(function: &str, line: &Line<'_>) -> bool {
    let ros2 = lock(&FIND).as_ref().and_then(|find| find());
    let Some(ros2) = ros2 else { return false };
    let Line { level: severity, logger, text: message, file, line } = *line;
    ros2.context().log(logger, &LogLine { severity, message, file, function, line });
    true
}
