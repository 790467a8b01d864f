//! Errors of the API: a code of rcl with the reason as text, and filters for results.
//!
//! The graph has one error type with a kind and a text. Applications of rclrs match on codes of
//! rcl, so the kind selects the code, and the text becomes the message of the error unchanged.

mod dynamic_message;
mod parameter;

pub use dynamic_message::{DynamicMessageError, InvalidDefinition};
pub use parameter::{DeclarationError, ParameterValueError};

use ringspin::ErrorKind;
use std::any::TypeId;
use std::error::Error;
use std::ffi::NulError;
use std::fmt::{self, Display};
use std::sync::PoisonError;

/// The error of most functions.
///
/// `Display` shows the message, if there is one, and the name of the code. As in rclrs,
/// [`source`](Error::source) returns the message, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RclrsError {
    /// An operation failed with a code of rcl.
    RclError {
        /// The code.
        code: RclReturnCode,
        /// The reason and the way out.
        msg: Option<RclErrorMsg>,
    },
    /// An operation failed with a code that rcl does not document. Never returned.
    UnknownRclError {
        /// The code.
        code: i32,
        /// The reason.
        msg: Option<RclErrorMsg>,
    },
    /// A name or an argument contains a nul byte.
    StringContainsNul {
        /// The string.
        s: String,
        /// The position of the nul byte.
        err: NulError,
    },
    /// A primitive was added to a second wait set. Never returned: there are no wait sets.
    AlreadyAddedToWaitSet,
    /// A dynamic message, or an end for such messages, cannot be created.
    DynamicMessageError {
        /// The reason.
        err: DynamicMessageError,
    },
    /// A duration is negative, in nanoseconds.
    NegativeDuration(i64),
    /// A guard condition of another owner was triggered. Never returned.
    UnownedGuardCondition,
    /// A primitive of a worker was called with a payload of another type. Never returned: the type
    /// is checked when the program is compiled.
    InvalidPayload {
        /// The type that the primitive expects.
        expected: TypeId,
        /// The type of the payload.
        received: TypeId,
    },
    /// A parameter was not declared.
    ParameterDeclarationError(DeclarationError),
    /// A thread panicked while it held a lock. Never returned: such locks are used further.
    PoisonedMutex,
    /// An action server failed to accept a goal.
    GoalAcceptanceError,
}

impl RclrsError {
    /// Returns whether an operation reached its time limit.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::RclError { code: RclReturnCode::Timeout, .. })
    }

    /// Returns whether a subscription, service, client, action or event had nothing to take.
    pub fn is_take_failed(&self) -> bool {
        use RclReturnCode as Code;
        let Self::RclError { code, .. } = self else { return false };
        matches!(
            code,
            Code::SubscriptionTakeFailed
                | Code::ServiceTakeFailed
                | Code::ClientTakeFailed
                | Code::ActionServerTakeFailed
                | Code::ActionClientTakeFailed
                | Code::EventTakeFailed
        )
    }

    /// Creates the error of `code` with a text of the form "failed to X: cause; do Y".
    pub(crate) fn of(code: RclReturnCode, text: impl Display) -> Self {
        Self::RclError { code, msg: Some(RclErrorMsg(text.to_string())) }
    }

    /// Creates the error for one of the graph; `code_if_invalid_name` says which name is meant.
    pub(crate) fn from_graph(error: &ringspin::Error, code_if_invalid_name: RclReturnCode) -> Self {
        let code = match error.kind() {
            ErrorKind::InvalidName => code_if_invalid_name,
            ErrorKind::TimedOut => RclReturnCode::Timeout,
            _ => RclReturnCode::Error,
        };
        Self::of(code, error)
    }
}

impl Display for RclrsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RclError { code, msg: Some(msg) } => {
                write!(f, "{msg} ({})", code.constant())
            }
            Self::RclError { code, msg: None } => write!(f, "{code}"),
            Self::UnknownRclError { code, msg: Some(msg) } => write!(f, "{msg} (code {code})"),
            Self::UnknownRclError { code, msg: None } => write!(f, "unknown code {code} of rcl"),
            Self::StringContainsNul { s, err } => {
                write!(f, "failed to use {s:?}: it contains a nul byte at {}", err.nul_position())
            }
            Self::AlreadyAddedToWaitSet => f.write_str("the primitive is in a wait set already"),
            Self::DynamicMessageError { err } => {
                write!(f, "failed to use a dynamic message: {err}")
            }
            Self::NegativeDuration(nanos) => {
                write!(f, "a duration is negative: {nanos} ns; use a positive one")
            }
            Self::UnownedGuardCondition => {
                f.write_str("failed to trigger a guard condition: it has another owner")
            }
            Self::InvalidPayload { expected, received } => {
                write!(f, "the worker's payload has type {received:?} instead of {expected:?}")
            }
            Self::ParameterDeclarationError(error) => {
                write!(f, "failed to declare a parameter: {error}")
            }
            Self::PoisonedMutex => f.write_str("a thread panicked while it held a lock"),
            Self::GoalAcceptanceError => f.write_str("the action server failed to accept a goal"),
        }
    }
}

impl Error for RclrsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::RclError { msg, .. } | Self::UnknownRclError { msg, .. } => {
                msg.as_ref().map(|msg| msg as _)
            }
            Self::StringContainsNul { err, .. } => Some(err),
            Self::DynamicMessageError { err } => Some(err),
            Self::ParameterDeclarationError(error) => Some(error),
            _ => None,
        }
    }
}

impl<T> From<PoisonError<T>> for RclrsError {
    fn from(_: PoisonError<T>) -> Self {
        Self::PoisonedMutex
    }
}

/// The text of an [`RclrsError`]: the reason and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RclErrorMsg(pub(crate) String);

impl Display for RclErrorMsg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for RclErrorMsg {}

/// Defines [`RclReturnCode`], its conversion from `i32` and its text.
macro_rules! codes {
    ($($number:literal => $name:ident, $constant:literal, $text:literal;)*) => {
        /// The return codes of rcl, `rcl_ret_t`.
        ///
        /// All are here, so that an application may name them; few are returned.
        #[repr(i32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum RclReturnCode {
            $(
                #[doc = concat!("`", $constant, "`: ", $text, ".")]
                $name = $number,
            )*
        }

        impl RclReturnCode {
            /// The name of the code in rcl.
            fn constant(self) -> &'static str {
                match self {
                    $(Self::$name => $constant,)*
                }
            }
        }

        impl TryFrom<i32> for RclReturnCode {
            type Error = i32;

            /// Returns the code of a number.
            ///
            /// # Errors
            /// The number itself, if no code has it.
            fn try_from(number: i32) -> Result<Self, i32> {
                match number {
                    $($number => Ok(Self::$name),)*
                    _ => Err(number),
                }
            }
        }

        impl Display for RclReturnCode {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$name => concat!($text, " (", $constant, ")"),)*
                })
            }
        }
    };
}

codes! {
    0 => Ok, "RCL_RET_OK", "success";
    1 => Error, "RCL_RET_ERROR", "unspecified error";
    2 => Timeout, "RCL_RET_TIMEOUT", "time limit reached";
    3 => Unsupported, "RCL_RET_UNSUPPORTED", "unsupported operation";
    10 => BadAlloc, "RCL_RET_BAD_ALLOC", "out of memory";
    11 => InvalidArgument, "RCL_RET_INVALID_ARGUMENT", "invalid argument";
    100 => AlreadyInit, "RCL_RET_ALREADY_INIT", "initialized already";
    101 => NotInit, "RCL_RET_NOT_INIT", "not initialized yet";
    102 => MismatchedRmwId, "RCL_RET_MISMATCHED_RMW_ID", "another middleware";
    103 => TopicNameInvalid, "RCL_RET_TOPIC_NAME_INVALID", "invalid topic name";
    104 => ServiceNameInvalid, "RCL_RET_SERVICE_NAME_INVALID", "invalid service name";
    105 => UnknownSubstitution, "RCL_RET_UNKNOWN_SUBSTITUTION", "unknown substitution in a name";
    106 => AlreadyShutdown, "RCL_RET_ALREADY_SHUTDOWN", "shut down already";
    200 => NodeInvalid, "RCL_RET_NODE_INVALID", "invalid node";
    201 => NodeInvalidName, "RCL_RET_NODE_INVALID_NAME", "invalid node name";
    202 => NodeInvalidNamespace, "RCL_RET_NODE_INVALID_NAMESPACE", "invalid namespace of a node";
    203 => NodeNameNonexistent, "RCL_RET_NODE_NAME_NON_EXISTENT", "no node of that name";
    300 => PublisherInvalid, "RCL_RET_PUBLISHER_INVALID", "invalid publisher";
    400 => SubscriptionInvalid, "RCL_RET_SUBSCRIPTION_INVALID", "invalid subscription";
    401 => SubscriptionTakeFailed, "RCL_RET_SUBSCRIPTION_TAKE_FAILED", "no message to take";
    500 => ClientInvalid, "RCL_RET_CLIENT_INVALID", "invalid client";
    501 => ClientTakeFailed, "RCL_RET_CLIENT_TAKE_FAILED", "no response to take";
    600 => ServiceInvalid, "RCL_RET_SERVICE_INVALID", "invalid service";
    601 => ServiceTakeFailed, "RCL_RET_SERVICE_TAKE_FAILED", "no request to take";
    800 => TimerInvalid, "RCL_RET_TIMER_INVALID", "invalid timer";
    801 => TimerCanceled, "RCL_RET_TIMER_CANCELED", "the timer was canceled";
    900 => WaitSetInvalid, "RCL_RET_WAIT_SET_INVALID", "invalid wait set";
    901 => WaitSetEmpty, "RCL_RET_WAIT_SET_EMPTY", "the wait set is empty";
    902 => WaitSetFull, "RCL_RET_WAIT_SET_FULL", "the wait set is full";
    1001 => InvalidRemapRule, "RCL_RET_INVALID_REMAP_RULE", "invalid remap rule";
    1002 => WrongLexeme, "RCL_RET_WRONG_LEXEME", "unexpected lexeme";
    1003 => InvalidRosArgs, "RCL_RET_INVALID_ROS_ARGS", "invalid ROS argument";
    1010 => InvalidParamRule, "RCL_RET_INVALID_PARAM_RULE", "invalid parameter rule";
    1020 => InvalidLogLevelRule, "RCL_RET_INVALID_LOG_LEVEL_RULE", "invalid log level rule";
    2000 => EventInvalid, "RCL_RET_EVENT_INVALID", "invalid event";
    2001 => EventTakeFailed, "RCL_RET_EVENT_TAKE_FAILED", "no event to take";
    2100 => ActionGoalAccepted, "RCL_RET_ACTION_GOAL_ACCEPTED", "the goal was accepted";
    2101 => ActionGoalRejected, "RCL_RET_ACTION_GOAL_REJECTED", "the goal was rejected";
    2102 => ActionClientInvalid, "RCL_RET_ACTION_CLIENT_INVALID", "invalid action client";
    2103 => ActionClientTakeFailed, "RCL_RET_ACTION_CLIENT_TAKE_FAILED",
        "no response of the action server to take";
    2200 => ActionServerInvalid, "RCL_RET_ACTION_SERVER_INVALID", "invalid action server";
    2201 => ActionServerTakeFailed, "RCL_RET_ACTION_SERVER_TAKE_FAILED",
        "no request of an action client to take";
    2300 => ActionGoalHandleInvalid, "RCL_RET_ACTION_GOAL_HANDLE_INVALID",
        "invalid handle of a goal";
    2301 => ActionGoalEventInvalid, "RCL_RET_ACTION_GOAL_EVENT_INVALID",
        "the goal's state does not allow the event";
    3000 => LifecycleStateRegistered, "RCL_RET_LIFECYCLE_STATE_REGISTERED",
        "the lifecycle state is registered";
    3001 => LifecycleStateNotRegistered, "RCL_RET_LIFECYCLE_STATE_NOT_REGISTERED",
        "the lifecycle state is not registered";
}

impl Error for RclReturnCode {}

/// Filters that drop the errors which an application does not treat as such.
pub trait RclrsErrorFilter {
    /// Returns the first error.
    ///
    /// # Errors
    /// That error; `Ok` if there is none.
    fn first_error(self) -> Result<(), RclrsError>;

    /// Drops [timeouts](RclrsError::is_timeout).
    fn timeout_ok(self) -> Self;

    /// Drops errors of [takes](RclrsError::is_take_failed).
    fn take_failed_ok(self) -> Self;

    /// Drops both: timeouts and failed takes are part of regular operation.
    fn ignore_non_errors(self) -> Self
    where
        Self: Sized,
    {
        self.take_failed_ok().timeout_ok()
    }
}

impl RclrsErrorFilter for Result<(), RclrsError> {
    fn first_error(self) -> Result<(), RclrsError> {
        self
    }

    fn timeout_ok(self) -> Self {
        self.or_else(|error| if error.is_timeout() { Ok(()) } else { Err(error) })
    }

    fn take_failed_ok(self) -> Self {
        self.take_failed_as_none().map(|_| ())
    }
}

impl RclrsErrorFilter for Vec<RclrsError> {
    fn first_error(self) -> Result<(), RclrsError> {
        self.into_iter().next().map_or(Ok(()), Err)
    }

    fn timeout_ok(mut self) -> Self {
        self.retain(|error| !error.is_timeout());
        self
    }

    fn take_failed_ok(mut self) -> Self {
        self.retain(|error| !error.is_take_failed());
        self
    }
}

/// Turns a failed take into `None`.
pub trait TakeFailedAsNone {
    /// The value without an error.
    type T;

    /// Returns the value, or `None` if there was nothing to [take](RclrsError::is_take_failed).
    ///
    /// # Errors
    /// Any other error.
    fn take_failed_as_none(self) -> Result<Option<Self::T>, RclrsError>;
}

impl<T> TakeFailedAsNone for Result<T, RclrsError> {
    type T = T;

    fn take_failed_as_none(self) -> Result<Option<T>, RclrsError> {
        match self {
            Err(error) if error.is_take_failed() => Ok(None),
            result => result.map(Some),
        }
    }
}
