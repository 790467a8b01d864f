//! The keys of a job file, as the parser sees them.

use crate::models::{DurationRule, LinkRule};
use ringspin_modes::deterministic::Schedule;
use ringspin_modes::quantity::Nanos;
use serde::de::{Deserialize, Deserializer, Error};
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use toml::{Spanned, Value};

/// A job file. The keys of a simulation come first, those of a job after them.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    #[serde(default)]
    pub(super) seed: u64,
    pub(super) start: Option<Nanos>,
    pub(super) end: Option<Spanned<Nanos>>,
    #[serde(rename = "for")]
    pub(super) duration: Option<Spanned<Nanos>>,
    pub(super) endless: Option<Spanned<bool>>,
    pub(super) ties: Option<Spanned<Ties>>,
    #[serde(default, deserialize_with = "schedule")]
    pub(super) schedule: Option<Schedule>,
    pub(super) jitter: Option<Spanned<JitterKeys>>,
    pub(super) cores: Option<CoresKeys>,
    pub(super) instant_dispatches_max: Option<NonZeroU64>,
    pub(super) no_progress_max: Option<Nanos>,
    pub(super) delays: Option<Spanned<PathBuf>>,
    #[serde(default)]
    pub(super) link: Vec<LinkRule>,
    pub(super) profile: Option<Spanned<PathBuf>>,
    #[serde(default)]
    pub(super) execution: Vec<DurationRule>,
    pub(super) watchdog: Option<Spanned<Nanos>>,
    pub(super) failures: Option<Spanned<Failures>>,
    pub(super) end_when: Option<Spanned<EndWhen>>,
    pub(super) ros_args: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    pub(super) node: Vec<NodeKeys>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Ties {
    Fifo,
    Reverse,
    Shuffle {
        #[serde(default)]
        seed: u64,
    },
    Mixed {
        #[serde(default)]
        seed: u64,
        steps: NonZeroU64,
    },
    Pct {
        #[serde(default)]
        seed: u64,
        depth: NonZeroU32,
        steps: NonZeroU64,
    },
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { max = \"1 ms\", seed = 1 }")]
pub(super) struct JitterKeys {
    pub(super) max: Nanos,
    #[serde(default)]
    pub(super) seed: u64,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CoresKeys {
    Unlimited,
    Single,
    Mapping(Spanned<PathBuf>),
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Failures {
    Stop,
    Isolate,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "a table such as { topic = \"/goal\", messages = 1 }")]
pub(super) struct EndWhen {
    pub(super) topic: String,
    #[serde(default = "one")]
    pub(super) messages: NonZeroU64,
}

fn one() -> NonZeroU64 {
    NonZeroU64::MIN
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a `[[node]]` table with a `type`")]
pub(super) struct NodeKeys {
    #[serde(rename = "type")]
    pub(super) node_type: Spanned<String>,
    pub(super) name: Option<String>,
    #[serde(default = "root")]
    pub(super) namespace: String,
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    pub(super) remap: BTreeMap<String, Spanned<String>>,
}

fn root() -> String {
    "/".into()
}

/// A schedule is written as it is printed.
fn schedule<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Schedule>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(D::Error::custom)
}
