//! ROS 2 parameter files.
//!
//! ```yaml
//! /**:                        # every node
//!   ros__parameters:
//!     gain: 2.5
//!   lidar:                    # /**/lidar: every node of this name
//!     ros__parameters:
//!       filter:
//!         size: 3             # the parameter filter.size
//! /ns/camera:
//!   ros__parameters: {modes: [fast, slow]}
//! ```
//!
//! The parser walks a stream of YAML events. It refuses aliases, as rcl does, and more than 32
//! levels of nesting, so that a file of limited size takes limited time and memory.

use super::{NodePattern, Override};
use crate::base::parameter_value::text::{self, NAME_BYTES_MAX};
use crate::base::parameter_value::{ParameterType, ParameterValue};
use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The key below which a node's parameters are.
const KEY: &str = "ros__parameters";
/// The deepest nesting.
const DEPTH_MAX: usize = 32;
/// The most parameters in one file.
const PARAMETERS_MAX: usize = 1 << 16;

/// The reason why a file was refused, and the position; from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) reason: String,
}

impl YamlError {
    fn at(span: Span, reason: impl Into<String>) -> Self {
        Self { line: span.start.line(), column: span.start.col() + 1, reason: reason.into() }
    }
}

impl From<ScanError> for YamlError {
    fn from(error: ScanError) -> Self {
        let marker = *error.marker();
        Self { line: marker.line(), column: marker.col() + 1, reason: error.info() }
    }
}

/// The overrides in the parameter file with this `text`, in order.
pub(crate) fn parse_file(text: &str, path: &str) -> Result<Vec<Override>, YamlError> {
    let (events, overrides, seen) = (Events::new(text), Vec::new(), BTreeMap::new());
    let mut walk = Walk { events, path, overrides, seen };
    loop {
        match walk.events.next()? {
            (Event::StreamEnd, _) => return Ok(walk.overrides),
            // A further document may override the ones before it.
            (Event::DocumentStart(..), _) => walk.seen.clear(),
            (Event::StreamStart | Event::DocumentEnd, _) => {}
            (Event::MappingStart(..), _) => walk.nodes("")?,
            (Event::Scalar(text, ScalarStyle::Plain, _, None), _) if text.is_empty() => {}
            (_, span) => {
                let reason = format!("expected nodes, each with its parameters below `{KEY}:`");
                return Err(YamlError::at(span, reason));
            }
        }
    }
}

/// A single value: a scalar or a list, as on the command line.
pub(crate) fn parse_value(text: &str) -> Result<ParameterValue, YamlError> {
    let mut events = Events::new(text);
    let mut value = None;
    loop {
        match events.next()? {
            (Event::StreamEnd, span) => {
                let reason = "there is no value; write `''` for an empty string";
                return value.ok_or_else(|| YamlError::at(span, reason));
            }
            (Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd, _) => {}
            (_, span) if value.is_some() => return Err(YamlError::at(span, "it has two values")),
            (event, span) => value = Some(events.value(event, span)?),
        }
    }
}

struct Events<'a>(Parser<'a, StrInput<'a>>);

type Spanned<'a> = (Event<'a>, Span);

impl<'a> Events<'a> {
    fn new(text: &'a str) -> Self {
        let mut options = Options::default();
        options.flow_nesting_limit = DEPTH_MAX;
        options.block_nesting_limit = DEPTH_MAX;
        options.set_emit_comments(false);
        Self(Parser::new_from_str_with_options(text, options))
    }

    fn next(&mut self) -> Result<Spanned<'a>, YamlError> {
        match self.0.next_event() {
            Some(Ok((Event::Alias(_), span))) => {
                let reason = "aliases are not supported, as in rcl; write the value out";
                Err(YamlError::at(span, reason))
            }
            // The parser reports a missing value as `~`.
            Some(Ok((Event::Scalar(_, ScalarStyle::Plain, id, tag), span))) if span.is_empty() => {
                Ok((Event::Scalar("".into(), ScalarStyle::Plain, id, tag), span))
            }
            Some(event) => Ok(event?),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// The value that begins with `event`.
    fn value(&mut self, event: Event<'a>, span: Span) -> Result<ParameterValue, YamlError> {
        match event {
            Event::Scalar(text, style, _, tag) => scalar(&text, style, tag.as_deref(), span),
            Event::SequenceStart(..) => self.list(),
            _ => Err(YamlError::at(span, "expected a scalar or a list of scalars")),
        }
    }

    /// The rest of a list.
    fn list(&mut self) -> Result<ParameterValue, YamlError> {
        let mut list = None;
        loop {
            match self.next()? {
                // A list without elements fits every type of array.
                (Event::SequenceEnd, _) => {
                    return Ok(list.unwrap_or(ParameterValue::StringArray(Vec::new())));
                }
                (Event::Scalar(text, style, _, tag), span) => {
                    let value = scalar(&text, style, tag.as_deref(), span)?;
                    append(&mut list, value).map_err(|reason| YamlError::at(span, reason))?;
                }
                (_, span) => {
                    return Err(YamlError::at(span, "the elements of a list are scalars"));
                }
            }
        }
    }
}

fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    span: Span,
) -> Result<ParameterValue, YamlError> {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema_tag("str") => {
            Err(YamlError::at(span, "of tags, only !!str is supported, as in rcl"))
        }
        None if style == ScalarStyle::Plain => {
            text::plain_scalar(text).map_err(|reason| YamlError::at(span, reason))
        }
        // rcl types block scalars by their text, too; but their purpose is text.
        _ => Ok(ParameterValue::String(text.into())),
    }
}

/// Adds an element to a list of its type, or begins one.
fn append(list: &mut Option<ParameterValue>, value: ParameterValue) -> Result<(), String> {
    use ParameterValue as V;
    match (list, value) {
        (list @ None, value) => {
            *list = Some(match value {
                V::Bool(value) => V::BoolArray(vec![value]),
                V::Integer(value) => V::IntegerArray(vec![value]),
                V::Double(value) => V::DoubleArray(vec![value]),
                V::String(value) => V::StringArray(vec![value]),
                list => return Err(format!("a list of {} is no value", list.parameter_type())),
            });
        }
        (Some(V::BoolArray(list)), V::Bool(value)) => list.push(value),
        (Some(V::IntegerArray(list)), V::Integer(value)) => list.push(value),
        (Some(V::DoubleArray(list)), V::Double(value)) => list.push(value),
        (Some(V::StringArray(list)), V::String(value)) => list.push(value),
        (Some(list), value) => {
            let (list, element) = (list.parameter_type(), value.parameter_type());
            let hint = match (list, element) {
                (ParameterType::DoubleArray, _) => "; write doubles with a dot, as in `1.0`",
                (ParameterType::StringArray, _) => "; put strings into quotes",
                _ => "",
            };
            let value = text::shortened(&value.to_string());
            return Err(format!("{value} is of type {element} in what began as {list}{hint}"));
        }
    }
    Ok(())
}

/// The nodes that a mapping of parameters is for.
struct Node<'a> {
    path: &'a str,
    pattern: Arc<NodePattern>,
}

struct Walk<'a> {
    events: Events<'a>,
    path: &'a str,
    overrides: Vec<Override>,
    /// The line of each parameter of the document, by node and full name.
    seen: BTreeMap<(String, String), usize>,
}

impl<'a> Walk<'a> {
    /// The rest of a mapping of nodes and namespaces below `parent`.
    fn nodes(&mut self, parent: &str) -> Result<(), YamlError> {
        loop {
            let Some((key, key_span)) = self.key()? else { return Ok(()) };
            let (event, span) = self.events.next()?;
            if key == KEY {
                if parent.is_empty() {
                    let reason = format!("`{KEY}` belongs below a node, for example `/**:`");
                    return Err(YamlError::at(key_span, reason));
                }
                let nodes = NodePattern::path(parent);
                let nodes = nodes.map_err(|reason| YamlError::at(key_span, reason))?;
                match event {
                    Event::MappingStart(..) => {
                        self.parameters(&Node { path: parent, pattern: Arc::new(nodes) }, "")?;
                    }
                    // All parameters are commented out.
                    Event::Scalar(text, ScalarStyle::Plain, _, None) if text.is_empty() => {}
                    _ => return Err(YamlError::at(span, format!("expected names below `{KEY}`"))),
                }
                continue;
            }
            if !matches!(event, Event::MappingStart(..)) {
                let reason = format!("expected `{KEY}:` below node `{key}`, or further namespaces");
                return Err(YamlError::at(span, reason));
            }
            let key = key.strip_prefix('/').unwrap_or(&key);
            let path = format!("{parent}/{key}");
            NodePattern::path(&path).map_err(|reason| YamlError::at(key_span, reason))?;
            self.nodes(&path)?;
        }
    }

    /// The rest of a mapping of parameters; their names begin with `prefix`.
    fn parameters(&mut self, nodes: &Node<'_>, prefix: &str) -> Result<(), YamlError> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        loop {
            let Some((key, key_span)) = self.key()? else { return Ok(()) };
            let name = match prefix {
                "" => key.clone(),
                _ => format!("{prefix}.{key}"),
            };
            text::check_name(&name).map_err(|reason| YamlError::at(key_span, reason))?;
            if let Some(line) = seen.insert(key, key_span.start.line()) {
                let reason = format!("`{name}` is here a second time, after line {line}");
                return Err(YamlError::at(key_span, reason));
            }
            match self.events.next()? {
                (Event::MappingStart(..), _) => self.parameters(nodes, &name)?,
                (event, span) => {
                    let value = self.events.value(event, span)?;
                    self.push(nodes, name, value, key_span)?;
                }
            }
        }
    }

    fn push(
        &mut self,
        nodes: &Node<'_>,
        parameter: String,
        value: ParameterValue,
        span: Span,
    ) -> Result<(), YamlError> {
        let id = (nodes.path.to_owned(), parameter.clone());
        if let Some(line) = self.seen.insert(id, span.start.line()) {
            let node = nodes.path;
            let reason =
                format!("`{parameter}` of {node} is here a second time, after line {line}");
            return Err(YamlError::at(span, reason));
        }
        if self.overrides.len() == PARAMETERS_MAX {
            return Err(YamlError::at(span, format!("more than {PARAMETERS_MAX} parameters")));
        }
        let origin = format!("{}:{}:{}", self.path, span.start.line(), span.start.col() + 1);
        self.overrides.push(Override { nodes: nodes.pattern.clone(), parameter, value, origin });
        Ok(())
    }

    /// The next key of a mapping; `None` at its end.
    fn key(&mut self) -> Result<Option<(String, Span)>, YamlError> {
        match self.events.next()? {
            (Event::MappingEnd, _) => Ok(None),
            (Event::Scalar(text, ..), span) if text.len() > NAME_BYTES_MAX => {
                Err(YamlError::at(span, format!("a key has more than {NAME_BYTES_MAX} bytes")))
            }
            (Event::Scalar(text, ..), span) => Ok(Some((text.into_owned(), span))),
            (_, span) => Err(YamlError::at(span, "a key is a name")),
        }
    }
}

#[cfg(test)]
mod tests;
