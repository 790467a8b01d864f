//! Errors in ROS arguments.

use thiserror::Error;

/// The reason why ROS arguments were refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// There is no such ROS argument.
    #[error(
        "unknown ROS argument `{argument}`; a rule needs `-r` before it, a parameter `-p`, and \
         arguments of the application belong before `--ros-args` or after a `--` that ends it"
    )]
    Unknown {
        /// The argument.
        argument: String,
    },
    /// An argument lacks its value.
    #[error("`{argument}` has to be followed by {expected}")]
    NoValue {
        /// The argument.
        argument: String,
        /// The expected value, with an example.
        expected: &'static str,
    },
    /// A remapping rule is not usable.
    #[error("remapping rule `{rule}`: {reason}")]
    Rule {
        /// The rule.
        rule: String,
        /// The fault, and the allowed values.
        reason: String,
    },
    /// A parameter override is not usable.
    #[error("parameter override `{argument}`: {reason}")]
    Parameter {
        /// The override.
        argument: String,
        /// The fault, and the allowed values.
        reason: String,
    },
    /// A parameter file could not be read.
    #[error("parameter file {path}: {reason}")]
    File {
        /// The file as given.
        path: String,
        /// The error of the operating system.
        reason: String,
    },
    /// A parameter file has invalid contents.
    #[error("{path}:{line}:{column}: {reason}")]
    Yaml {
        /// The file as given.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// The fault, and the allowed values.
        reason: String,
    },
    /// There is no such log level.
    #[error("log level `{level}`: use debug, info, warn, error or fatal, or `logger:=level`")]
    LogLevel {
        /// The level as given.
        level: String,
    },
    /// An argument or variable is not Unicode.
    #[error("`{argument}` is not valid Unicode")]
    NotUnicode {
        /// The argument, with replacement characters.
        argument: String,
    },
    /// An environment variable cannot be split into arguments.
    #[error("{variable}={text}: a quote is not closed, or a backslash ends it")]
    Unbalanced {
        /// The variable.
        variable: &'static str,
        /// Its text.
        text: String,
    },
}
