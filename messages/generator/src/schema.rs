//! The definitions within recordings.

use crate::error::DefinitionError;
use crate::name::TypeName;
use crate::parse::parse_part;
use crate::types::Definitions;

/// Parses the definition of the message `name` in the encoding `ros2msg`: its own text, then the
/// texts of the types that it contains, each after a line of `=` and a line `MSG: package/Name`.
///
/// # Errors
/// [`DefinitionError`], also for types that are not there, or contain themselves. `origin` names
/// the text in it.
pub fn parse_schema(
    name: &TypeName,
    text: &str,
    origin: &str,
) -> Result<Definitions, DefinitionError> {
    parse_schema_with(Definitions::default(), name, text, origin)
}

/// Parses like [`parse_schema`]; types of `definitions` need no section in the text.
///
/// # Errors
/// The same as of [`parse_schema`], and a type that is among `definitions` with other fields.
pub fn parse_schema_with(
    mut definitions: Definitions,
    name: &TypeName,
    text: &str,
    origin: &str,
) -> Result<Definitions, DefinitionError> {
    let mut section = Section { name: name.clone(), start: 0, lines_before: 0 };
    let (mut at, mut after_delimiter) = (0, false);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let is_delimiter =
            line.trim_end().len() >= 80 && line.trim_end().bytes().all(|c| c == b'=');
        if is_delimiter {
            section.add_to(&mut definitions, &text[..at], origin)?;
        } else if after_delimiter {
            let name = line.trim().strip_prefix("MSG:").and_then(|it| TypeName::parse(it.trim()));
            let problem =
                || format!("invalid section `{}`: expected `MSG: package/Name`", line.trim());
            let name = name.ok_or_else(|| DefinitionError::new(origin, index + 1, problem()))?;
            section = Section { name, start: at + line.len(), lines_before: index + 1 };
        }
        after_delimiter = is_delimiter;
        at += line.len();
    }
    if !after_delimiter {
        section.add_to(&mut definitions, text, origin)?;
    }
    definitions.check()?;
    Ok(definitions)
}

/// The text of one type.
struct Section {
    name: TypeName,
    start: usize,
    lines_before: usize,
}

impl Section {
    /// Parses the section, which ends with `text`.
    fn add_to(
        &self,
        definitions: &mut Definitions,
        text: &str,
        origin: &str,
    ) -> Result<(), DefinitionError> {
        let text = text.get(self.start..).unwrap_or_default();
        definitions.insert(parse_part(&self.name, text, origin, self.lines_before)?)
    }
}
