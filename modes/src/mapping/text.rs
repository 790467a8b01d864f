//! A mapping as text: the TOML file, and one line for a log.

use super::error::list;
use super::{CoreMapping, Mapping, MappingError};
use crate::models::Nanos;
use ringspin_executor::WaitStrategy;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// The SCHED_FIFO priorities that a worker may ask for.
pub(super) const FIFO_PRIORITIES: std::ops::RangeInclusive<u8> = 1..=99;

impl Mapping {
    /// Reads a mapping from a TOML file.
    ///
    /// # Errors
    /// [`MappingError::Io`] when the file cannot be read, [`MappingError::Parse`] with file, line
    /// and column when it is not a mapping.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, MappingError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|error| MappingError::Io { path: path.to_owned(), error })?;
        Self::parse(&text, || format!("`{}`", path.display()))
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

    fn parse(text: &str, origin: impl FnOnce() -> String) -> Result<Self, MappingError> {
        toml::from_str(text).map_err(|error| MappingError::Parse { origin: origin(), error })
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
            let _ = writeln!(text, "wait = \"{}\"", wait::to_text(strategy));
        }
    }
}

impl FromStr for Mapping {
    type Err = MappingError;

    /// Parses a TOML document.
    fn from_str(text: &str) -> Result<Self, MappingError> {
        Self::parse(text, || "the text".to_owned())
    }
}

/// One line for a log; [`Mapping::to_toml_string`] is the form to store.
impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.use_isolated { "isolated core" } else { "core" };
        let mut parts: Vec<String> = Vec::new();
        for core in &self.cores {
            let options = [
                core.priority.map(|priority| format!("priority {priority}")),
                core.isolated.then(|| "isolated".to_owned()),
                core.wait.map(|strategy| format!("wait {}", wait::to_text(strategy))),
            ];
            let options: Vec<_> = options.into_iter().flatten().collect();
            let options = match options.is_empty() {
                true => String::new(),
                false => format!(" ({})", list(&options)),
            };
            parts.push(format!("{kind} {}{options}: {}", core.id, list(&core.nodes)));
        }
        parts.extend(self.default_core.map(|core| format!("all others: {kind} {core}")));
        if parts.is_empty() {
            parts.push("empty".into());
        }
        if !self.dispatch_priorities.is_empty() {
            let priority = |(entry, priority): (&String, &u8)| format!("{entry} = {priority}");
            let priorities: Vec<_> = self.dispatch_priorities.iter().map(priority).collect();
            parts.push(format!("dispatch priorities: {}", list(&priorities)));
        }
        parts.extend(self.lock_memory.then(|| "memory locked".to_owned()));
        f.write_str(&parts.join("; "))
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

/// A wait strategy as one word: `spin`, `yield`, `park`, or how long to spin before parking.
pub(super) mod wait {
    use super::*;

    /// The word for `strategy`.
    pub(in super::super) fn to_text(strategy: WaitStrategy) -> String {
        match strategy {
            WaitStrategy::Spin => "spin".into(),
            WaitStrategy::Yield => "yield".into(),
            WaitStrategy::SpinThenPark(Duration::ZERO) => "park".into(),
            WaitStrategy::SpinThenPark(limit) => Nanos::from(limit).to_string(),
        }
    }

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
            Some(strategy) => to.serialize_str(&to_text(*strategy)),
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
