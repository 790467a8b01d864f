//! Quantities in files.

use super::{A_BANDWIDTH, A_DURATION, Bandwidth, Nanos};
use ringspin_executor::Result;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

impl Serialize for Bandwidth {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bandwidth {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Text { wanted: A_BANDWIDTH, parse: Self::from_str })
    }
}

impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Nanos {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Text { wanted: A_DURATION, parse: Self::from_str })
    }
}

/// A text that is parsed; anything else is refused with an example of an accepted one.
struct Text<T> {
    wanted: &'static str,
    parse: fn(&str) -> Result<T>,
}

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wanted)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }
}
