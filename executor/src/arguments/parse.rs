//! The parser from a command line to [`Arguments`].

use super::{Arguments, ArgumentsError, LogLevel, NodePattern, Origin, Override, RemapRule, file};
use crate::parameter_value::text;
use std::io::Read;
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
) -> Result<(Arguments, Vec<String>), ArgumentsError> {
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
) -> Result<(), ArgumentsError> {
    let mut value = |expected| match args.next() {
        Some(value) if value != "--" => Ok(value),
        _ => Err(ArgumentsError::NoValue { argument: argument.clone(), expected }),
    };
    match &*argument {
        "-r" | "--remap" => arguments.rules.push(RemapRule::parse(value(REMAP)?)?),
        "-p" | "--param" => arguments.overrides.push(parameter(value(PARAM)?, variable)?),
        "--params-file" => arguments.overrides.extend(load(&value("the path of a YAML file")?)?),
        "--log-level" => {
            let text = value(LEVEL)?;
            arguments.log_level = log_level(&text)?.or(arguments.log_level);
            arguments.logging.extend([argument, text]);
        }
        "--log-config-file" | "--log-file-name" => {
            let path = value("its value")?;
            arguments.logging.extend([argument, path]);
        }
        "-e" | "--enclave" => {
            value("its value")?;
        }
        flag if is_log_switch(flag) => arguments.logging.push(argument),
        _ => return Err(ArgumentsError::Unknown { argument }),
    }
    Ok(())
}

fn is_log_switch(flag: &str) -> bool {
    let switch = flag.strip_prefix("--enable-").or_else(|| flag.strip_prefix("--disable-"));
    matches!(switch, Some("rosout-logs" | "stdout-logs" | "external-lib-logs"))
}

/// The level for all loggers; `None` for the level of a named logger.
fn log_level(text: &str) -> Result<Option<LogLevel>, ArgumentsError> {
    let (logger, level) = match text.split_once(":=") {
        Some((logger, level)) => (Some(logger), level),
        None => (None, text),
    };
    let level = match &*level.to_ascii_lowercase() {
        "debug" => LogLevel::Debug,
        "info" => LogLevel::Info,
        "warn" => LogLevel::Warn,
        "error" => LogLevel::Error,
        "fatal" => LogLevel::Fatal,
        _ => return Err(ArgumentsError::LogLevel { level: text.to_owned() }),
    };
    match logger {
        None => Ok(Some(level)),
        Some("") => Err(ArgumentsError::LogLevel { level: text.to_owned() }),
        Some(_) => Ok(None),
    }
}

/// A parameter override, `[node:]name:=yaml`.
fn parameter(argument: String, variable: &str) -> Result<Override, ArgumentsError> {
    let parsed = parameter_parts(&argument);
    let (nodes, name, value) = match parsed {
        Ok(parts) => parts,
        Err(reason) => return Err(ArgumentsError::Parameter { argument, reason }),
    };
    let source = match variable {
        "" => format!("`-p {argument}`"),
        _ => format!("{variable} `-p {argument}`"),
    };
    let origin = Origin { source: source.into(), position: None };
    Ok(Override { nodes: Arc::new(nodes), parameter: name, value, origin })
}

fn parameter_parts(
    argument: &str,
) -> Result<(NodePattern, String, crate::parameter_value::ParameterValue), String> {
    let form = || String::from("it has the form `name:=value` or `node:name:=value`");
    let (left, yaml) = argument.split_once(":=").ok_or_else(form)?;
    let (nodes, name) = match left.split_once(':') {
        None => (NodePattern::all(), left),
        Some((node, name)) => (NodePattern::prefix(node)?, name),
    };
    text::check_name(name)?;
    Ok((nodes, name.into(), file::parse_value(yaml)?))
}

/// The overrides of a parameter file.
fn load(path: &str) -> Result<Vec<Override>, ArgumentsError> {
    let refused = |reason: String| ArgumentsError::File { path: path.into(), reason };
    let file = std::fs::File::open(path).map_err(|error| refused(error.to_string()))?;
    let mut text = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text);
    read.map_err(|error| refused(error.to_string()))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(refused(format!("it has more than {FILE_BYTES_MAX} bytes; split it")));
    }
    let text = String::from_utf8(text).map_err(|_| refused("it is not UTF-8".into()))?;
    file::parse_file(&text, path).map_err(|error| ArgumentsError::Yaml {
        path: path.into(),
        line: error.line,
        column: error.column,
        reason: error.reason,
    })
}
