//! Texts of errors in ROS arguments that several places report.

use crate::base::error::{Error, ErrorKind};

pub(super) fn unknown(argument: &str) -> Error {
    parse(format!(
        "unknown ROS argument `{argument}`; a rule needs `-r` before it, a parameter `-p`, and \
         arguments of the application belong before `--ros-args` or after a `--` that ends it"
    ))
}

pub(super) fn not_unicode(argument: &std::ffi::OsStr) -> Error {
    parse(format!("`{}` is not valid Unicode", argument.to_string_lossy()))
}

pub(super) fn parameter(argument: &str, reason: &str) -> Error {
    parse(format!("parameter override `{argument}`: {reason}"))
}

pub(super) fn parse(text: String) -> Error {
    Error::new(ErrorKind::Parse, text)
}
