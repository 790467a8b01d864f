//! Values as text: parsing of unquoted scalars, and formatting of values so that they are read
//! back.
//!
//! The rules are those of rcl's parser, not those of YAML 1.2: `yes`, `no`, `on`, `off`, `y` and
//! `n`, also capitalised, are bools; `0x1f` is hexadecimal and `017` octal; `.inf`, `.nan`, `inf`
//! and `nan` are doubles; everything else without quotes is a string, `null` and `~` among them.
//! They differ in one point: a number that does not fit its type is refused, where rcl makes it a
//! less precise double or a string.

use super::ParameterValue;
use std::fmt;

/// The longest name of a parameter, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 255;

pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("a parameter needs a name".into());
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(format!("a parameter's name has at most {NAME_BYTES_MAX} bytes"));
    }
    if name.split('.').any(str::is_empty) {
        return Err(format!("parameter name `{name}` has an empty part between its dots"));
    }
    if name.chars().any(|c| c.is_control() || c.is_whitespace() || c == ':') {
        return Err(format!(
            "parameter name {name:?} has a colon, a space or a control character; use letters, \
             digits, underscores and dots"
        ));
    }
    Ok(())
}

/// `text` for a message, shortened if it is long.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        None => text.into(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

pub(crate) fn plain_scalar(text: &str) -> Result<ParameterValue, String> {
    match text {
        "" => return Err("there is no value; write `\"\"` for an empty string".into()),
        "Y" | "y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(ParameterValue::Bool(true));
        }
        "N" | "n" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(ParameterValue::Bool(false));
        }
        _ => {}
    }
    if let Some(integer) = integer(text)? {
        return Ok(ParameterValue::Integer(integer));
    }
    if let Some(double) = double(text)? {
        return Ok(ParameterValue::Double(double));
    }
    Ok(ParameterValue::String(text.into()))
}

/// Reads an integer as C's `strtoll` does with base 0.
fn integer(text: &str) -> Result<Option<i64>, String> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Ok(None);
    }
    let magnitude = i128::from_str_radix(digits, radix).ok();
    let value = magnitude.map(|value| if is_negative { -value } else { value });
    match value.and_then(|value| i64::try_from(value).ok()) {
        Some(value) => Ok(Some(value)),
        None => {
            let text = shortened(text);
            Err(format!("integer {text} does not fit 64 bits; quote it if it is a string"))
        }
    }
}

fn double(text: &str) -> Result<Option<f64>, String> {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Ok(Some(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Ok(Some(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => return Ok(Some(f64::NEG_INFINITY)),
        _ => {}
    }
    let Ok(value) = text.parse::<f64>() else { return Ok(None) };
    if value.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) {
        let text = shortened(text);
        return Err(format!("{text} is too large for a double; quote it if it is a string"));
    }
    Ok(Some(value))
}

/// Writes `value` in YAML's flow style, so that it is read back as the same value; a byte array
/// comes back as an integer array, which fits it.
pub(crate) fn write(value: &ParameterValue, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        ParameterValue::Bool(value) => write!(f, "{value}"),
        ParameterValue::Integer(value) => write!(f, "{value}"),
        ParameterValue::Double(value) => write_double(f, value),
        ParameterValue::String(value) => write_string(f, value),
        ParameterValue::ByteArray(values) => write_list(f, values, |f, v| write!(f, "{v}")),
        ParameterValue::BoolArray(values) => write_list(f, values, |f, v| write!(f, "{v}")),
        ParameterValue::IntegerArray(values) => write_list(f, values, |f, v| write!(f, "{v}")),
        ParameterValue::DoubleArray(values) => write_list(f, values, write_double),
        ParameterValue::StringArray(values) => write_list(f, values, |f, v| write_string(f, v)),
        ParameterValue::NotSet => f.write_str("not set"),
    }
}

fn write_double(f: &mut fmt::Formatter<'_>, value: &f64) -> fmt::Result {
    match value {
        value if value.is_nan() => f.write_str(".nan"),
        value if value.is_infinite() => f.write_str(if *value > 0.0 { ".inf" } else { "-.inf" }),
        value => write!(f, "{value:?}"),
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, value: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in value.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            ' ' => f.write_str(" ")?,
            c if c.is_ascii_graphic() || c.is_alphanumeric() => write!(f, "{c}")?,
            c => write!(f, "\\U{:08x}", u32::from(c))?,
        }
    }
    f.write_str("\"")
}

fn write_list<T>(
    f: &mut fmt::Formatter<'_>,
    values: &[T],
    mut write_one: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for (n, value) in values.iter().enumerate() {
        if n > 0 {
            f.write_str(", ")?;
        }
        write_one(f, value)?;
    }
    f.write_str("]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unquoted_scalars_are_typed_as_by_rcl() {
        use ParameterValue::{Bool, Double, Integer};
        let cases = [
            ("yes", Bool(true)),
            ("Y", Bool(true)),
            ("ON", Bool(true)),
            ("off", Bool(false)),
            ("n", Bool(false)),
            ("0", Integer(0)),
            ("-7", Integer(-7)),
            ("+7", Integer(7)),
            ("0x1F", Integer(31)),
            ("-0x10", Integer(-16)),
            ("017", Integer(15)),
            ("080", Double(80.0)),
            ("9223372036854775807", Integer(i64::MAX)),
            ("-9223372036854775808", Integer(i64::MIN)),
            ("1.", Double(1.0)),
            (".5", Double(0.5)),
            ("1e3", Double(1000.0)),
            ("-.inf", Double(f64::NEG_INFINITY)),
            ("infinity", Double(f64::INFINITY)),
        ];
        for (text, expected) in cases {
            assert_eq!(plain_scalar(text).unwrap(), expected, "{text}");
        }
        assert!(matches!(plain_scalar(".NaN").unwrap(), Double(value) if value.is_nan()));
        for text in ["yEs", "null", "~", "1_000", "0x", "0o17", "1.2.3", "-", "map", "1 2", "ä"] {
            assert_eq!(plain_scalar(text).unwrap(), ParameterValue::String(text.into()), "{text}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused_instead_of_rounded() {
        for text in ["9223372036854775808", "-9223372036854775809", "1e999", "-1e999"] {
            assert!(plain_scalar(text).unwrap_err().contains(text), "{text}");
        }
        assert!(plain_scalar(&"9".repeat(1000)).unwrap_err().len() < 120);
        assert!(plain_scalar("").unwrap_err().contains("\"\""));
    }

    #[test]
    fn names_are_dotted_and_without_spaces() {
        for name in ["gain", "a.b.c", "plugin-1", "use_sim_time", "a/b", "größe"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["", ".", "a..b", "a.", ".a", "a b", "a:b", "a\n", &"a".repeat(256)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
