//! The parser from a command line to [`Arguments`]. Every argument is checked here, so that a
//! faulty one is reported at the start of the program and not when a node uses it.

use super::{Arguments, LogLevel, NodePattern, Override, RemapRule, file, texts};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parameter_value::text;
use std::io::{self, Read};
use std::sync::Arc;

/// Larger parameter files are refused.
const FILE_BYTES_MAX: u64 = 4 << 20;

const REMAP: &str = "a rule such as `chatter:=/radio`";
const PARAM: &str = "a parameter such as `gain:=2.5`";
const LEVEL: &str = "a level such as `debug`";

/// Reads `args`; `variable` is the environment variable they come from, or empty.
pub(super) fn parse(
    args: impl Iterator<Item = String>,
    variable: &'static str,
) -> Result<(Arguments, Vec<String>)> {
    let mut arguments = Arguments::default();
    let mut rest = Vec::new();
    let mut args = args;
    let mut is_ros = false;
    while let Some(argument) = args.next() {
        match (is_ros, &*argument) {
            (_, "--ros-args") => is_ros = true,
            (false, _) => rest.push(argument),
            (true, "--") => is_ros = false,
            (true, _) => parse_one(&mut arguments, argument, &mut args, variable)?,
        }
    }
    Ok((arguments, rest))
}

/// Reads one ROS argument and, from `args`, its value.
fn parse_one(
    arguments: &mut Arguments,
    argument: String,
    args: &mut impl Iterator<Item = String>,
    variable: &'static str,
) -> Result<()> {
    let mut value = |expected| match args.next() {
        Some(value) if value != "--" => Ok(value),
        _ => Err(texts::parse(format!("`{argument}` has to be followed by {expected}"))),
    };
    match &*argument {
        "-r" | "--remap" => arguments.rules.push(RemapRule::parse(value(REMAP)?)?),
        "-p" | "--param" => arguments.overrides.push(parameter(value(PARAM)?, variable)?),
        "--params-file" => arguments.overrides.extend(load(&value("the path of a YAML file")?)?),
        "--log-level" => {
            let text = value(LEVEL)?;
            arguments.log_level = log_level(&text)?.or(arguments.log_level);
            arguments.for_rcl.extend([argument, text]);
        }
        "--log-config-file" => {
            let path = value("the path of a file")?;
            std::fs::File::open(&path).map_err(|error| {
                let text = format!("failed to read the log configuration {path}: {error}");
                Error::new(ErrorKind::Io, text).at_path(&path).caused_by(error)
            })?;
            arguments.for_rcl.extend([argument, path]);
        }
        "--log-file-name" | "-e" | "--enclave" => {
            let value = value("its value")?;
            arguments.for_rcl.extend([argument, value]);
        }
        flag if is_log_switch(flag) => arguments.for_rcl.push(argument),
        _ => return Err(texts::unknown(&argument)),
    }
    Ok(())
}

fn is_log_switch(flag: &str) -> bool {
    let switch = flag.strip_prefix("--enable-").or_else(|| flag.strip_prefix("--disable-"));
    matches!(switch, Some("rosout-logs" | "stdout-logs" | "external-lib-logs"))
}

/// The level for all loggers; `None` for the level of a named logger.
fn log_level(text: &str) -> Result<Option<LogLevel>> {
    let (logger, level) = match text.split_once(":=") {
        Some((logger, level)) => (Some(logger), level),
        None => (None, text),
    };
    let level = match &*level.to_ascii_lowercase() {
        "debug" => Some(LogLevel::Debug),
        "info" => Some(LogLevel::Info),
        "warn" => Some(LogLevel::Warn),
        "error" => Some(LogLevel::Error),
        "fatal" => Some(LogLevel::Fatal),
        _ => None,
    };
    match (logger, level) {
        (None, Some(level)) => Ok(Some(level)),
        (Some(logger), Some(_)) if !logger.is_empty() => Ok(None),
        _ => Err(texts::parse(format!(
            "log level `{text}`: use debug, info, warn, error or fatal, or `logger:=level`"
        ))),
    }
}

/// A parameter override, `[node:]name:=yaml`.
fn parameter(argument: String, variable: &str) -> Result<Override> {
    let space = if variable.is_empty() { "" } else { " " };
    let origin = format!("{variable}{space}`-p {argument}`");
    parse_parameter(&argument, origin).map_err(|reason| texts::parameter(&argument, &reason))
}

fn parse_parameter(argument: &str, origin: String) -> Result<Override, String> {
    let form = || String::from("it has the form `name:=value` or `node:name:=value`");
    let (left, yaml) = argument.split_once(":=").ok_or_else(form)?;
    let (nodes, name) = match left.split_once(':') {
        None => (NodePattern::all(), left),
        Some((node, name)) => (NodePattern::prefix(node)?, name),
    };
    text::check_name(name)?;
    let (nodes, value) = (Arc::new(nodes), file::parse_value(yaml).map_err(|error| error.reason)?);
    Ok(Override { nodes, parameter: name.into(), value, origin })
}

/// The overrides of a parameter file.
fn load(path: &str) -> Result<Vec<Override>> {
    let text = |reason: &str| format!("parameter file {path}: {reason}");
    let unread = |error: io::Error| {
        Error::new(ErrorKind::Io, text(&error.to_string())).at_path(path).caused_by(error)
    };
    let invalid = |reason: &str| Error::new(ErrorKind::Parse, text(reason)).at_path(path);
    let file = std::fs::File::open(path).map_err(unread)?;
    let mut text = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text);
    read.map_err(unread)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(invalid(&format!("it has more than {FILE_BYTES_MAX} bytes; split it")));
    }
    let text = String::from_utf8(text).map_err(|_| invalid("it is not UTF-8"))?;
    file::parse_file(&text, path).map_err(|error| {
        let file::YamlError { line, column, reason } = error;
        let text = format!("{path}:{line}:{column}: {reason}");
        Error::new(ErrorKind::Parse, text).at_path(path).at_line(line)
    })
}
