//! Values of constants and defaults.

use crate::definition::{Array, Element, FieldType, Value};

/// Parses the value of a constant or field of type `ty`.
pub(crate) fn parse(text: &str, ty: &FieldType) -> Result<Value, String> {
    let limits = match ty.array {
        Array::Single => return single(text, &ty.element),
        Array::Fixed(n) => n as usize..=n as usize,
        Array::Bounded(n) => 0..=n as usize,
        Array::Unbounded => 0..=usize::MAX,
    };
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let elements = inner.and_then(split).ok_or_else(|| invalid(text, &ty.element))?;
    if !limits.contains(&elements.len()) {
        return Err(invalid(text, &ty.element));
    }
    let values = elements.into_iter().map(|element| single(element, &ty.element));
    values.collect::<Result<_, _>>().map(Value::Array)
}

/// The elements of an array's text; `None` if a quote is not closed.
fn split(mut text: &str) -> Option<Vec<&str>> {
    let mut elements = Vec::new();
    text = text.trim();
    while !text.is_empty() {
        let end = quoted_len(text)?.unwrap_or_else(|| text.find(',').unwrap_or(text.len()));
        elements.push(text[..end].trim());
        let rest = text[end..].trim_start();
        if rest.is_empty() {
            break;
        }
        text = rest.strip_prefix(',')?.trim_start();
    }
    Some(elements)
}

/// The length of the quoted string at the start of `text`, with its quotes. `Some(None)` if there
/// is none, `None` if it is not closed.
pub(crate) fn quoted_len(text: &str) -> Option<Option<usize>> {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else {
        return Some(None);
    };
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return Some(Some(at + 1));
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

fn invalid(text: &str, element: &Element) -> String {
    format!("invalid value `{text}` of type {element:?}")
}

fn single(text: &str, element: &Element) -> Result<Value, String> {
    let value = match element {
        Element::Bool => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        Element::Float32 | Element::Float64 => text.parse().ok().map(Value::Float),
        Element::String(bound) => {
            { string(text).filter(|it| bound.is_none_or(|bound| it.len() <= bound as usize)) }
                .map(Value::String)
        }
        Element::WString(bound) => {
            let fits =
                |it: &String| bound.is_none_or(|bound| it.encode_utf16().count() <= bound as usize);
            string(text).filter(fits).map(Value::String)
        }
        _ => limits(element).and_then(|(min, max)| {
            integer(text).filter(|it| (min..=max).contains(it)).map(Value::Integer)
        }),
    };
    value.ok_or_else(|| invalid(text, element))
}

fn limits(element: &Element) -> Option<(i128, i128)> {
    Some(match element {
        Element::Byte | Element::Char | Element::UInt8 => (0, u8::MAX.into()),
        Element::Int8 => (i8::MIN.into(), i8::MAX.into()),
        Element::Int16 => (i16::MIN.into(), i16::MAX.into()),
        Element::UInt16 => (0, u16::MAX.into()),
        Element::Int32 => (i32::MIN.into(), i32::MAX.into()),
        Element::UInt32 => (0, u32::MAX.into()),
        Element::Int64 => (i64::MIN.into(), i64::MAX.into()),
        Element::UInt64 => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// Decimal, or with the prefix of another base.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let bases = [("0x", 16), ("0o", 8), ("0b", 2)];
    let based = bases.iter().find_map(|(prefix, base)| Some((lower.strip_prefix(prefix)?, *base)));
    let (digits, base) = based.unwrap_or((&lower, 10));
    let starts = digits.starts_with(|c: char| c.is_ascii_hexdigit());
    let value = i128::from_str_radix(digits, base).ok().filter(|_| starts)?;
    Some(if negative { -value } else { value })
}

/// A string with or without quotes.
fn string(text: &str) -> Option<String> {
    match quoted_len(text)? {
        Some(len) if len == text.len() => {
            let quote = &text[..1];
            Some(text[1..len - 1].replace(&format!("\\{quote}"), quote))
        }
        Some(_) => None,
        None => Some(text.into()),
    }
}
