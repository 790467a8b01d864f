//! A time that may be missing, as a value in files: the duration since the epoch.

use ringspin_executor::Time;
use ringspin_modes::quantity::Nanos;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(time: &Option<Time>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| Nanos(time.as_nanos())).serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    let nanos = Option::<Nanos>::deserialize(from)?;
    Ok(nanos.map(|nanos| Time::from_nanos(nanos.0)))
}
