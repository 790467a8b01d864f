//! Parsing of TOML files, with errors that name the line and the key that was probably meant.

use crate::names::edit_distance;
use ringspin_executor::{Error, ErrorKind};
use serde::de::DeserializeOwned;

/// Parses `text`. `problem` opens the error, as in "jobs/race.toml is not a job file"; `way_out`
/// closes it, unless a key is close to an allowed one.
///
/// # Errors
/// A [`Parse`](ErrorKind::Parse) error with the line, the parser's words, and the nearest key.
///
/// ```
/// use ringspin_modes::toml_text;
/// #[derive(Debug, serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Settings {
///     #[allow(dead_code)]
///     seed: u64,
/// }
/// let error = toml_text::parse::<Settings>("sede = 1", "a.toml is not a job file", "correct it");
/// let error = error.unwrap_err();
/// assert_eq!(error.line(), Some(1));
/// assert!(error.to_string().ends_with("did you mean `seed`?"), "{error}");
/// ```
pub fn parse<T: DeserializeOwned>(text: &str, problem: &str, way_out: &str) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| {
        let meant = nearest_key(error.message());
        let way_out = meant.map(|key| format!("did you mean `{key}`?")).unwrap_or(way_out.into());
        let words = error.to_string();
        let words = format!("{problem}: {}\n{way_out}", words.trim_end());
        let line = error.span().map(|span| line_of(text, span.start));
        let error = Error::new(ErrorKind::Parse, words);
        line.map_or(error.clone(), |line| error.at_line(line))
    })
}

/// The line of a byte of `text`, from 1.
pub fn line_of(text: &str, byte: usize) -> usize {
    text.get(..byte).unwrap_or_default().matches('\n').count() + 1
}

/// The allowed name that is closest to the unknown one in the words of serde, "unknown field `x`,
/// expected one of `a`, `b`", or of toml, "unexpected keys in table: x, available keys: a, b".
fn nearest_key(message: &str) -> Option<String> {
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let listed = |text: &str| text.split(", ").map(str::to_owned).collect();
    let (unknown, known): (Vec<String>, Vec<String>) = match message.strip_prefix("unknown ") {
        Some(rest) => rest.split_once(", expected ").map(|(x, of)| (quoted(x), quoted(of)))?,
        None => {
            let rest = message.strip_prefix("unexpected keys in table: ")?;
            rest.split_once(", available keys: ").map(|(x, of)| (listed(x), listed(of)))?
        }
    };
    let unknown = unknown.first()?;
    let nearest = known.into_iter().min_by_key(|key| edit_distance(unknown, key))?;
    let edits_max = unknown.chars().count().div_ceil(3);
    (edit_distance(unknown, &nearest) <= edits_max).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_key_is_found_in_the_words_of_serde() {
        let nearest = |message| nearest_key(message);
        assert_eq!(
            nearest("unknown field `sede`, expected one of `a`, `seed`"),
            Some("seed".into())
        );
        assert_eq!(nearest("unknown variant `fifoo`, expected `fifo`"), Some("fifo".into()));
        assert_eq!(nearest("unknown field `factor`, expected one of `later`, `node`"), None);
        assert_eq!(nearest("unknown field `xyz`, expected one of `a`, `seed`"), None);
        assert_eq!(nearest("invalid type: string, expected u64"), None);
        let listed = "unexpected keys in table: sed, available keys: seed, depth";
        assert_eq!(nearest(listed), Some("seed".into()));
        assert_eq!(nearest("unknown field `x`, there are no fields"), None);
    }
}
