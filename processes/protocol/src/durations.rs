//! How long the callbacks of a process take.

use crate::Kind;
use ringspin_modes::quantity::Nanos;
use ringspin_modes::random::{Purpose, Stream};
use ringspin_simulation::models::Distribution;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The environment variable with the [`Computing`] of a process, in JSON.
pub const DURATIONS: &str = "RINGSPIN_DURATIONS";

/// A callback of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callback<'a> {
    /// Of a subscription, service or client, by its kind and its fully qualified name.
    Endpoint(Kind, &'a str),
    /// Of a timer, by its period in nanoseconds.
    Timer(u64),
}

impl fmt::Display for Callback<'_> {
    /// Writes it as a [`CallbackDuration`] has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(kind, name) => {
                write!(f, "{} {name}", format!("{kind:?}").to_lowercase())
            }
            Self::Timer(period) => write!(f, "timer {}", Nanos(*period)),
        }
    }
}

/// How long some callbacks take. The last one that is for a callback counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallbackDuration {
    /// `subscription /topic`, `service /name`, `client /name` or `timer 100ms`; all if it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
    /// How long they take.
    pub duration: Distribution,
}

impl CallbackDuration {
    /// Whether it is for `callback`; `None` if its text names no callback.
    pub fn is_for(&self, callback: Callback<'_>) -> Option<bool> {
        let Some(text) = &self.callback else { return Some(true) };
        let (kind, name) = text.split_once(' ')?;
        let kind = match kind {
            "subscription" => Kind::Subscription,
            "service" => Kind::Service,
            "client" => Kind::Client,
            "timer" => {
                let period = name.parse::<Nanos>().ok()?;
                return Some(callback == Callback::Timer(period.0));
            }
            _ => return None,
        };
        name.starts_with('/').then_some(callback == Callback::Endpoint(kind, name))
    }
}

/// How the callbacks of a process compute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Computing {
    /// How long they take.
    pub rules: Vec<CallbackDuration>,
    /// Whether they share cores with other processes: the coordinator says when one has ended.
    pub shares_cores: bool,
    /// Whether the process tells how long they really compute.
    pub is_profiled: bool,
}

impl Computing {
    /// Reads the value of [`DURATIONS`].
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl fmt::Display for Computing {
    /// Writes the value of [`DURATIONS`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// The durations of a process, which are the same in every run.
#[derive(Debug)]
pub struct Durations {
    rules: Vec<(CallbackDuration, u64)>,
    stream: Stream,
}

impl Durations {
    /// The durations by these rules, under the seed of the process.
    pub fn new(rules: Vec<CallbackDuration>, seed: u64) -> Self {
        let rules = rules.into_iter().map(|rule| (rule, 0)).collect();
        Self { rules, stream: Stream::new(seed, "durations") }
    }

    /// How long the next call takes, in nanoseconds.
    pub fn next(&mut self, callback: Callback<'_>) -> u64 {
        let is_for = |(rule, _): &(CallbackDuration, u64)| rule.is_for(callback) == Some(true);
        let Some(n) = self.rules.iter().rposition(is_for) else { return 0 };
        let (rule, count) = &mut self.rules[n];
        *count += 1;
        // Other numbers for each rule.
        rule.duration.sample(self.stream, ((n as u64) << 48) + *count, Purpose::Duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_rule_for_a_callback_counts() {
        let text = r#"[{"duration": "1 ms"}, {"callback": "timer 100ms", "duration": "2 ms"},
            {"callback": "subscription /a", "duration": {"uniform": ["3 ms", "4 ms"]}}]"#;
        let rules: Vec<CallbackDuration> = serde_json::from_str(text).unwrap();
        let sequence = |seed| {
            let mut durations = Durations::new(rules.clone(), seed);
            let subscription = Callback::Endpoint(Kind::Subscription, "/a");
            assert_eq!(durations.next(Callback::Timer(100_000_000)), 2_000_000);
            assert_eq!(durations.next(Callback::Timer(100_000_001)), 1_000_000);
            assert_eq!(durations.next(Callback::Endpoint(Kind::Service, "/a")), 1_000_000);
            (0..9).map(|_| durations.next(subscription)).collect::<Vec<_>>()
        };
        let first = sequence(1);
        assert!(first.iter().all(|nanos| (3_000_000..=4_000_000).contains(nanos)), "{first:?}");
        assert_eq!(first, sequence(1));
        assert_ne!(first, sequence(2));
        let rule = |callback: &str| CallbackDuration {
            callback: Some(callback.into()),
            duration: Distribution::fixed(std::time::Duration::ZERO),
        };
        for callback in [
            Callback::Endpoint(Kind::Subscription, "/a"),
            Callback::Endpoint(Kind::Client, "/a/b"),
            Callback::Timer(33_333_333),
        ] {
            assert_eq!(rule(&callback.to_string()).is_for(callback), Some(true), "{callback}");
        }
        for wrong in ["timer", "timer x", "subscription a", "publisher /a"] {
            assert_eq!(rule(wrong).is_for(Callback::Timer(1)), None, "{wrong}");
        }
    }
}
