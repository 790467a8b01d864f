//! A mapping as a TOML document.

use super::{FIFO_PRIORITIES, Mapping};
use crate::quantity::{Nanos, parse_duration};
use crate::toml_text;
use ringspin_executor::{Budget, Error, ErrorKind, Result, WaitStrategy};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

impl Mapping {
    /// Reads a mapping from a TOML file.
    ///
    /// # Errors
    /// Fails when the file is not readable or not a mapping; then with file, line and column.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let shown = path.display();
            let text = format!(
                "failed to read the mapping file `{shown}`: {error}; check the path and its \
                     permissions"
            );
            Error::new(ErrorKind::Io, text).at_path(path).caused_by(error)
        })?;
        Self::parse(&text, Some(path))
    }

    /// The mapping as a TOML document that [`load`](Self::load) and [`FromStr`] read back, with one
    /// node a line.
    pub fn to_toml_string(&self) -> String {
        toml::to_string_pretty(self).expect("numbers and texts can be written")
    }

    fn parse(text: &str, path: Option<&Path>) -> Result<Self> {
        let origin = path.map_or("the text".into(), |path| format!("`{}`", path.display()));
        let way_out = "correct that line; the keys are `default_core`, `balance`, `pin`, \
                       `use_isolated`, `later`, `lock_memory`, `optimize`, the tables \
                       `[dispatch_priorities]` and `[budgets]`, and, under each `[[core]]`, `id`, \
                       `nodes`, `priority`, `isolated` and `wait`";
        let parsed = toml_text::parse(text, &format!("{origin} is not a mapping"), way_out);
        parsed.map_err(|error| match path {
            Some(path) => error.at_path(path),
            None => error,
        })
    }
}

impl FromStr for Mapping {
    type Err = Error;

    /// Parses a TOML document.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text, None)
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

/// A budget such as `2 ms / 10 ms`.
pub(super) fn budget(text: &str) -> Result<Budget> {
    let (time, period) = text.split_once('/').ok_or_else(|| {
        let text =
            format!("`{text}` is no budget; use a time and a period, as in \"2 ms / 10 ms\"");
        Error::new(ErrorKind::Parse, text)
    })?;
    Budget::new(parse_duration(time.trim())?, parse_duration(period.trim())?)
}

/// Budgets by node or callback group.
pub(super) mod budgets {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        budgets: &BTreeMap<String, Budget>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let text =
            |of: &Budget| format!("{} / {}", Nanos::from(of.time()), Nanos::from(of.period()));
        to.collect_map(budgets.iter().map(|(entry, of)| (entry, text(of))))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<String, Budget>, D::Error> {
        struct Read(Budget);
        impl<'de> Deserialize<'de> for Read {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                budget(&String::deserialize(from)?).map(Self).map_err(D::Error::custom)
            }
        }
        let read = BTreeMap::<String, Read>::deserialize(from)?;
        Ok(read.into_iter().map(|(entry, Read(budget))| (entry, budget)).collect())
    }
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
        let text = strategy.map(|strategy| match strategy {
            WaitStrategy::Spin => "spin".into(),
            WaitStrategy::Yield => "yield".into(),
            WaitStrategy::SpinThenPark(Duration::ZERO) => "park".into(),
            WaitStrategy::SpinThenPark(limit) => Nanos::from(limit).to_string(),
        });
        text.serialize(to)
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
