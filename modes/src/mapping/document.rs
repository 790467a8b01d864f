//! A mapping as a TOML document.

use super::text::{FIFO_PRIORITIES, wait_text};
use super::{CoreMapping, Mapping, MappingFileError, MappingParseError};
use crate::quantity::Nanos;
use ringspin_executor::WaitStrategy;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

impl Mapping {
    /// Reads a mapping from a TOML file.
    ///
    /// # Errors
    /// [`MappingFileError::Io`] when the file is not readable, [`MappingFileError::Parse`] with
    /// file, line and column when it is not a mapping.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, MappingFileError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|error| MappingFileError::Io { path: path.to_owned(), error })?;
        Ok(Self::parse(&text, || format!("`{}`", path.display()))?)
    }

    /// The mapping as a TOML document that [`load`](Self::load) and [`FromStr`] read back.
    pub fn to_toml_string(&self) -> String {
        // Written by hand: it cannot fail, and one node per line makes a readable diff.
        let mut text = String::new();
        if let Some(core) = self.default_core {
            let _ = writeln!(text, "default_core = {core}");
        }
        for (set, key) in [(self.use_isolated, "use_isolated"), (self.lock_memory, "lock_memory")] {
            text += &if set { format!("{key} = true\n") } else { String::new() };
        }
        if !self.later.is_empty() {
            let _ = writeln!(text, "later = {}", toml::Value::from(self.later.clone()));
        }
        if !self.dispatch_priorities.is_empty() {
            text += if text.is_empty() { "" } else { "\n" };
            text += "[dispatch_priorities]\n";
            text += &toml::to_string(&self.dispatch_priorities).expect("numbers by name are TOML");
        }
        for core in &self.cores {
            text += if text.is_empty() { "" } else { "\n" };
            core.write_toml(&mut text);
        }
        text
    }

    fn parse(text: &str, origin: impl FnOnce() -> String) -> Result<Self, MappingParseError> {
        toml::from_str(text)
            .map_err(|error| MappingParseError { origin: origin(), error: Box::new(error) })
    }
}

impl CoreMapping {
    fn write_toml(&self, text: &mut String) {
        let _ = writeln!(text, "[[core]]\nid = {}\nnodes = [", self.id);
        for node in &self.nodes {
            let _ = writeln!(text, "    {},", toml::Value::from(node.as_str()));
        }
        text.push_str("]\n");
        if let Some(priority) = self.priority {
            let _ = writeln!(text, "priority = {priority}");
        }
        if self.isolated {
            text.push_str("isolated = true\n");
        }
        if let Some(strategy) = self.wait {
            let _ = writeln!(text, "wait = \"{}\"", wait_text(strategy));
        }
    }
}

impl FromStr for Mapping {
    type Err = MappingParseError;

    /// Parses a TOML document.
    fn from_str(text: &str) -> Result<Self, MappingParseError> {
        Self::parse(text, || "the text".to_owned())
    }
}

/// Refuses a bad SCHED_FIFO priority while the parser still knows its line and column.
pub(super) fn fifo_priority<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    let priority = i64::deserialize(from)?;
    match u8::try_from(priority).ok().filter(|p| FIFO_PRIORITIES.contains(p)) {
        Some(priority) => Ok(Some(priority)),
        None => Err(D::Error::custom(format_args!(
            "priority {priority} is outside 1..=99, the SCHED_FIFO priorities"
        ))),
    }
}

/// Refuses a bad dispatch priority in the same way.
pub(super) fn dispatch_priorities<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, u8>, D::Error> {
    struct Priority(u8);
    impl<'de> Deserialize<'de> for Priority {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            let priority = i64::deserialize(from)?;
            u8::try_from(priority).map(Self).map_err(|_| {
                D::Error::custom(format_args!(
                    "dispatch priority {priority} is outside 0 (normal) to 255 (first)"
                ))
            })
        }
    }
    let read = BTreeMap::<String, Priority>::deserialize(from)?;
    Ok(read.into_iter().map(|(entry, Priority(priority))| (entry, priority)).collect())
}

/// Wait strategies as values of keys.
pub(super) mod wait {
    use super::*;

    fn from_text(text: &str) -> Option<WaitStrategy> {
        Some(match text {
            "spin" => WaitStrategy::Spin,
            "yield" => WaitStrategy::Yield,
            "park" => WaitStrategy::SpinThenPark(Duration::ZERO),
            _ => WaitStrategy::SpinThenPark(Duration::from_nanos(text.parse::<Nanos>().ok()?.0)),
        })
    }

    pub(in super::super) fn serialize<S: Serializer>(
        strategy: &Option<WaitStrategy>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match strategy {
            Some(strategy) => to.serialize_str(&wait_text(*strategy)),
            None => to.serialize_none(),
        }
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<WaitStrategy>, D::Error> {
        let text = String::deserialize(from)?;
        from_text(&text).map(Some).ok_or_else(|| {
            D::Error::custom(format_args!(
                "`{text}` is no wait strategy; use \"spin\", \"yield\", \"park\", or how long to \
                 spin before parking, as \"50us\""
            ))
        })
    }
}
