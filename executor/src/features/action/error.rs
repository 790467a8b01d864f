//! Errors of goals, at the server and at the client.

use super::status::{GoalEvent, GoalStatus};
use crate::base::error::{Error, ErrorKind, written_error};
use crate::features::service::CallError;
use std::fmt;

/// The reason why a server's call about a goal had no effect.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GoalError {
    /// The goal is in a state in which this cannot happen.
    Illegal {
        /// The event that was refused.
        event: GoalEvent,
        /// The status of the goal.
        status: GoalStatus,
    },
    /// The goal has ended, so no client waits for feedback on it.
    Ended(
        /// Its final status; unknown if its result was forgotten since.
        GoalStatus,
    ),
    /// A keep-all subscription to the feedback holds as many messages as its limit.
    FeedbackFull,
    /// The result or feedback violates the definition of its type: the log names the field.
    Invalid,
}

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Illegal { event, status } => write!(
                f,
                "failed to {event} a goal that is {status}: a goal is executed once, ends once \
                 after that, and its cancellation can only complete when a request to cancel it \
                 was accepted"
            ),
            Self::Ended(status) => {
                write!(f, "the goal is {status}: publish feedback before it ends")
            }
            Self::FeedbackFull => f.write_str(
                "a keep-all subscription to the feedback is full: raise its limit or publish more \
                 slowly",
            ),
            Self::Invalid => f.write_str(
                "the value violates the definition of its type: the log names the field",
            ),
        }
    }
}

written_error!(GoalError);

impl From<GoalError> for Error {
    fn from(error: GoalError) -> Self {
        let kind = match error {
            GoalError::Illegal { .. } | GoalError::Ended(_) => ErrorKind::InvalidState,
            GoalError::FeedbackFull => ErrorKind::LimitReached,
            GoalError::Invalid => ErrorKind::InvalidArgument,
        };
        Self::new(kind, error.to_string()).caused_by(error)
    }
}

/// A result or feedback that was not taken, and is handed back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct GoalRefused<T> {
    /// The value that was refused.
    pub value: T,
    /// The reason.
    pub reason: GoalError,
}

impl<T> fmt::Display for GoalRefused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

written_error!(GoalRefused<T>);

/// Drops the value.
impl<T> From<GoalRefused<T>> for Error {
    fn from(refused: GoalRefused<T>) -> Self {
        refused.reason.into()
    }
}

/// The reason why a goal that was sent is not pursued.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendGoalError {
    /// The server does not accept the goal, or has reached its limit. ROS 2 does not tell which.
    Rejected,
    /// The server did not answer.
    Call(CallError),
}

impl fmt::Display for SendGoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected => f.write_str(
                "the action's server rejected the goal: it does not accept such goals, or pursues \
                 as many as it can",
            ),
            Self::Call(error) => error.fmt(f),
        }
    }
}

written_error!(SendGoalError);

impl From<SendGoalError> for Error {
    fn from(error: SendGoalError) -> Self {
        match error {
            SendGoalError::Rejected => {
                Self::new(ErrorKind::Rejected, error.to_string()).caused_by(error)
            }
            SendGoalError::Call(error) => error.into(),
        }
    }
}

impl From<CallError> for SendGoalError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_show_their_text_and_convert() {
        let (event, status) = (GoalEvent::Execute, GoalStatus::Aborted);
        check(GoalError::Illegal { event, status }, ErrorKind::InvalidState);
        check(GoalRefused { value: 1, reason: GoalError::FeedbackFull }, ErrorKind::LimitReached);
        check(SendGoalError::Rejected, ErrorKind::Rejected);
        check(SendGoalError::Call(CallError::TimedOut), ErrorKind::TimedOut);
        check(CallError::NoService, ErrorKind::NotFound);
    }

    fn check<E: std::error::Error + Into<Error>>(error: E, kind: ErrorKind) {
        let text = error.to_string();
        assert_eq!(format!("{error:?}"), text);
        let converted: Error = error.into();
        assert_eq!((format!("{converted:?}"), converted.kind()), (text, kind));
    }
}
