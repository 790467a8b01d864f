//! Parses the texts of definitions: `.msg` files, and the parts of `.srv` and `.action` files.

use crate::definition::{Array, Constant, Element, Field, FieldType, Message};
use crate::error::DefinitionError;
use crate::name::{TypeName, is_identifier};
use crate::value;
use std::collections::BTreeSet;

/// Parses the definition of one message. `origin` names the text in errors.
///
/// # Errors
/// [`DefinitionError`], with the line.
pub fn parse_message(
    name: &TypeName,
    text: &str,
    origin: &str,
) -> Result<Message, DefinitionError> {
    parse_part(name, text, origin, 0)
}

/// Parses one message, the text of which begins after `lines_before` lines of its file.
pub(crate) fn parse_part(
    name: &TypeName,
    text: &str,
    origin: &str,
    lines_before: usize,
) -> Result<Message, DefinitionError> {
    let mut message = Message {
        name: name.clone(),
        fields: Vec::new(),
        constants: Vec::new(),
        text: text.into(),
        origin: origin.into(),
    };
    let mut names = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        let number = lines_before + index + 1;
        let parsed = parse_line(line, &name.package, number);
        let fail = |problem| DefinitionError::new(origin, number, problem);
        let member = match parsed.map_err(fail)? {
            Some(Line::Field(field)) => {
                message.fields.push(field);
                message.fields.last().map(|field| field.name.clone())
            }
            Some(Line::Constant(constant)) => {
                message.constants.push(constant);
                message.constants.last().map(|constant| constant.name.clone())
            }
            None => None,
        };
        if let Some(member) = member.filter(|member| !names.insert(member.clone())) {
            let rename = "rename one of its fields or constants";
            return Err(fail(format!("duplicate name `{member}`: {rename}")));
        }
    }
    Ok(message)
}

/// The content of a line.
enum Line {
    Field(Field),
    Constant(Constant),
}

fn parse_line(line: &str, package: &str, number: usize) -> Result<Option<Line>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (type_text, rest) = split_at_space(line);
    let name_end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let (name, rest) = rest.split_at(name_end.unwrap_or(rest.len()));
    let rest = rest.trim_start();
    if name.is_empty() && (rest.is_empty() || rest.starts_with('#')) {
        return Err(format!("failed to parse `{line}`: no name after the type; write `type name`"));
    }
    if !is_identifier(name) {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let rest = &rest[..end];
        return Err(format!(
            "invalid name `{name}{rest}`: use letters, digits and underscores, a letter first"
        ));
    }
    let ty = parse_type(type_text, package)?;
    let name = name.to_string();
    if let Some(value) = rest.strip_prefix('=') {
        let primitive = !matches!(ty.element, Element::Message(_)) && ty.array == Array::Single;
        if !primitive {
            return Err(format!(
                "constant `{name}` is no primitive value: use a number, `bool` or `string`"
            ));
        }
        let value = value::parse(without_comment(value.trim_start()), &ty)?;
        return Ok(Some(Line::Constant(Constant { name, ty: ty.element, value, line: number })));
    }
    let default = match without_comment(rest) {
        "" => None,
        text => Some(value::parse(text, &ty)?),
    };
    Ok(Some(Line::Field(Field { name, ty, default, line: number })))
}

/// The text up to the first white space, and the rest from its first other character.
fn split_at_space(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// A value without the comment after it. A `#` within quotes begins none.
fn without_comment(text: &str) -> &str {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let step = match c {
            '#' => return text[..at].trim_end(),
            // Quotes count only where a value begins: a bare string may have an apostrophe.
            '"' | '\''
                if matches!(text[..at].trim_end().chars().last(), None | Some('[' | ',')) =>
            {
                value::quoted_len(&text[at..]).flatten().unwrap_or(c.len_utf8())
            }
            c => c.len_utf8(),
        };
        at += step;
    }
    text.trim_end()
}

/// Parses the type of a field of a message of `package`.
fn parse_type(text: &str, package: &str) -> Result<FieldType, String> {
    let (element, array) = match text.strip_suffix(']').map(|text| text.rsplit_once('[')) {
        None => (text, Array::Single),
        Some(None) => return Err(invalid_type(text)),
        Some(Some((element, ""))) => (element, Array::Unbounded),
        Some(Some((element, size))) => (
            element,
            match size.strip_prefix("<=") {
                Some(size) => Array::Bounded(bound(size, text)?),
                None => Array::Fixed(bound(size, text)?),
            },
        ),
    };
    Ok(FieldType { element: parse_element(element, package)?, array })
}

fn invalid_type(text: &str) -> String {
    format!("invalid type `{text}`: use a primitive type, `Name` or `package/Name`")
}

/// A bound of `ty`, more than zero.
fn bound(text: &str, ty: &str) -> Result<u32, String> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let bound = text.parse().ok().filter(|bound| is_number && *bound > 0);
    bound.ok_or_else(|| format!("invalid bound in `{ty}`: use a number from 1 to 4294967295"))
}

fn parse_element(text: &str, package: &str) -> Result<Element, String> {
    if let Some((kind @ ("string" | "wstring"), size)) = text.split_once("<=") {
        let size = Some(bound(size, text)?);
        let is_wide = kind == "wstring";
        return Ok(if is_wide { Element::WString(size) } else { Element::String(size) });
    }
    if let Some((element, ..)) = Element::PRIMITIVES.iter().find(|(_, name, ..)| *name == text) {
        return Ok(element.clone());
    }
    Ok(match text {
        "string" => Element::String(None),
        "wstring" => Element::WString(None),
        _ => {
            let full = if text.contains('/') { text.into() } else { format!("{package}/{text}") };
            let name = TypeName::parse(&full);
            Element::Message(name.ok_or_else(|| invalid_type(text))?)
        }
    })
}
