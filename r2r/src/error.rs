//! Errors, with the variants of r2r.

use ringspin_messages::cdr::CdrError;
use thiserror::Error as ThisError;

/// The result of most functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Defines the error by the codes of rcl and r2r's own variants.
macro_rules! errors {
    ({$($code:literal => $name:ident,)*} $($own:tt)*) => {
        /// An error. The variants `RCL_RET_*` are named after the codes of rcl; where one of them
        /// says too little, the reason is logged, too.
        #[derive(ThisError, Clone, Debug)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[non_exhaustive]
        pub enum Error {
            $(
                #[doc = concat!("`", stringify!($name), "` of rcl.")]
                #[error("{}", stringify!($name))]
                $name,
            )*
            $($own)*
        }

        impl Error {
            /// The error of a code of rcl (`rcl/types.h` and `rcl_action/types.h`). 2000 is that of
            /// an invalid event; rcl_action has it for invalid names of actions, too.
            pub fn from_rcl_error(e: i32) -> Self {
                match e {
                    $($code => Self::$name,)*
                    code => Self::Other(format!(
                        "rcl returned {code}, a code that it does not document"
                    )),
                }
            }
        }
    };
}

errors! {
    {
        0 => RCL_RET_OK,
        1 => RCL_RET_ERROR,
        2 => RCL_RET_TIMEOUT,
        3 => RCL_RET_UNSUPPORTED,
        10 => RCL_RET_BAD_ALLOC,
        11 => RCL_RET_INVALID_ARGUMENT,
        100 => RCL_RET_ALREADY_INIT,
        101 => RCL_RET_NOT_INIT,
        102 => RCL_RET_MISMATCHED_RMW_ID,
        103 => RCL_RET_TOPIC_NAME_INVALID,
        104 => RCL_RET_SERVICE_NAME_INVALID,
        105 => RCL_RET_UNKNOWN_SUBSTITUTION,
        106 => RCL_RET_ALREADY_SHUTDOWN,
        200 => RCL_RET_NODE_INVALID,
        201 => RCL_RET_NODE_INVALID_NAME,
        202 => RCL_RET_NODE_INVALID_NAMESPACE,
        300 => RCL_RET_PUBLISHER_INVALID,
        400 => RCL_RET_SUBSCRIPTION_INVALID,
        401 => RCL_RET_SUBSCRIPTION_TAKE_FAILED,
        500 => RCL_RET_CLIENT_INVALID,
        501 => RCL_RET_CLIENT_TAKE_FAILED,
        600 => RCL_RET_SERVICE_INVALID,
        601 => RCL_RET_SERVICE_TAKE_FAILED,
        800 => RCL_RET_TIMER_INVALID,
        801 => RCL_RET_TIMER_CANCELED,
        900 => RCL_RET_WAIT_SET_INVALID,
        901 => RCL_RET_WAIT_SET_EMPTY,
        902 => RCL_RET_WAIT_SET_FULL,
        1001 => RCL_RET_INVALID_REMAP_RULE,
        1002 => RCL_RET_WRONG_LEXEME,
        1010 => RCL_RET_INVALID_PARAM_RULE,
        1020 => RCL_RET_INVALID_LOG_LEVEL_RULE,
        2000 => RCL_RET_EVENT_INVALID,
        2001 => RCL_RET_EVENT_TAKE_FAILED,
        2100 => RCL_RET_ACTION_GOAL_ACCEPTED,
        2101 => RCL_RET_ACTION_GOAL_REJECTED,
        2102 => RCL_RET_ACTION_CLIENT_INVALID,
        2103 => RCL_RET_ACTION_CLIENT_TAKE_FAILED,
        2200 => RCL_RET_ACTION_SERVER_INVALID,
        2201 => RCL_RET_ACTION_SERVER_TAKE_FAILED,
        2300 => RCL_RET_ACTION_GOAL_HANDLE_INVALID,
        2301 => RCL_RET_ACTION_GOAL_EVENT_INVALID,
    }

    /// `RCL_RET_ACTION_NAME_INVALID` of rcl_action.
    #[error("RCL_RET_ACTION_NAME_INVALID")]
    RCL_RET_ACTION_NAME_INVALID,
    /// A clock of another type was attached to a [`TimeSource`](crate::TimeSource).
    #[error("Clock type is not RosTime")]
    ClockTypeNotRosTime,
    /// The program has no such type.
    #[error("No typesupport built for the message type: {msgtype}")]
    InvalidMessageType {
        /// The name as given, and the way out.
        msgtype: String,
    },
    /// A message cannot be serialized or deserialized.
    #[error("Serde error: {err}")]
    SerdeError {
        /// The reason.
        err: String,
    },
    /// The server rejected the request to cancel a goal.
    #[error("Goal cancel request rejected by server.")]
    GoalCancelRejected,
    /// The server does not know the goal.
    #[error("Unknown goal id.")]
    GoalCancelUnknownGoalID,
    /// The goal had ended.
    #[error("Goal already in a terminal state.")]
    GoalCancelAlreadyTerminated,
    /// A struct has no such parameter.
    #[error("Invalid parameter name: {name}")]
    InvalidParameterName {
        /// The name.
        name: String,
    },
    /// A parameter of a struct has another type.
    #[error("Invalid type for parameter {name} (should be {ty})")]
    InvalidParameterType {
        /// The parameter.
        name: String,
        /// Its type.
        ty: &'static str,
    },
    /// The value of a parameter does not fit its Rust type.
    #[error("Parameter {name} conversion failed: {msg}")]
    ParameterValueConv {
        /// The parameter.
        name: String,
        /// The reason.
        msg: String,
    },
    /// A parameter has another type.
    #[error(
        "Parameter {name} was expected to be of type {expected_type} but was of type {actual_type}"
    )]
    ParameterWrongType {
        /// The parameter.
        name: String,
        /// The type that was asked for.
        expected_type: &'static str,
        /// The type that it has.
        actual_type: &'static str,
    },
    /// An error for which r2r has no variant.
    #[error("{0}")]
    Other(
        /// The reason and the way out.
        String,
    ),
}

impl Error {
    /// The same error about parameter `param_name`; derived code calls it.
    pub fn update_param_name(self, param_name: &str) -> Self {
        let name = param_name.to_owned();
        match self {
            Self::InvalidParameterName { .. } => Self::InvalidParameterName { name },
            Self::InvalidParameterType { ty, .. } => Self::InvalidParameterType { name, ty },
            Self::ParameterValueConv { msg, .. } => Self::ParameterValueConv { name, msg },
            other => other,
        }
    }

    pub(crate) fn other(error: impl std::fmt::Display) -> Self {
        Self::Other(error.to_string())
    }
}

impl From<CdrError> for Error {
    fn from(error: CdrError) -> Self {
        Self::SerdeError { err: error.to_string() }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::SerdeError { err: error.to_string() }
    }
}
