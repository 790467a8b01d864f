//! How long callbacks take: the rules of a system, and its profile, which is how long the callbacks
//! of a run really computed.
//!
//! The time in a profile is that of the processor for the callback's thread, so waits and other
//! programs of the machine are not in it. A run writes it at its end; a system that names the file
//! has its callbacks take these times, on its own or on slower cores.

use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_process_protocol::CallbackDuration;
use ringspin_simulation::models::Distribution;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How long callbacks of a process take. The last rule that is for a callback counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurationRule {
    /// The process.
    pub process: String,
    /// `subscription /topic`, `service /name`, `client /name` or `timer 100ms`; all without it.
    #[serde(default)]
    pub callback: Option<String>,
    /// How long they take, as in jobs.
    pub duration: Distribution,
}

impl DurationRule {
    /// The rule in the process.
    pub(crate) fn in_process(&self) -> CallbackDuration {
        CallbackDuration { callback: self.callback.clone(), duration: self.duration.clone() }
    }
}

/// The values that a distribution has in the file: its quantiles.
const QUANTILES: usize = 100;

/// The times of each callback of each process, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Profile(BTreeMap<(String, String), Vec<u64>>);

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    duration: Vec<DurationRule>,
}

impl Profile {
    pub(crate) fn add(&mut self, process: &str, callback: String, nanos: u64) {
        self.0.entry((process.to_owned(), callback)).or_default().push(nanos);
    }

    fn rules(self) -> Vec<DurationRule> {
        let rules = self.0.into_iter().map(|((process, callback), mut times)| {
            times.sort_unstable();
            let count = QUANTILES.min(times.len());
            let quantiles = (0..count).map(|n| times[(2 * n + 1) * times.len() / (2 * count)]);
            let duration = Distribution::empirical(quantiles.map(Duration::from_nanos));
            let duration = duration.expect("a callback was measured");
            DurationRule { process, callback: Some(callback), duration }
        });
        rules.collect()
    }

    /// Writes it as YAML.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn write(self, path: &Path) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| {
            let text = format!("failed to write the profile `{}`: {error}", path.display());
            Error::new(ErrorKind::Io, text).at_path(path)
        };
        let contents = Contents { duration: self.rules() };
        let text = serde_saphyr::to_string(&contents).map_err(|error| failed(&error))?;
        std::fs::write(path, text).map_err(|error| failed(&error))
    }
}

/// The durations in the file of a profile.
///
/// # Errors
/// A file that cannot be read, or is no profile.
pub(crate) fn read(path: &Path) -> Result<Vec<DurationRule>> {
    let failed = |kind, error: &dyn std::fmt::Display| {
        let text = format!(
            "failed to read the profile `{}`: {error}; `ringspin run --profile` writes one",
            path.display()
        );
        Error::new(kind, text).at_path(path)
    };
    let text = std::fs::read_to_string(path).map_err(|error| failed(ErrorKind::Io, &error))?;
    let contents: Contents = serde_saphyr::from_str(&text).map_err(|error| {
        let error = error.to_string();
        failed(ErrorKind::Parse, &error.lines().next().unwrap_or_default())
    })?;
    Ok(contents.duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_read_as_it_was_written_with_its_quantiles() {
        let mut profile = Profile::default();
        (1..=1000).rev().for_each(|n| profile.add("a", "timer 10ms".into(), n * 1_000));
        profile.add("b", "subscription /x".into(), 7);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profile.yaml");
        profile.write(&path).unwrap();
        let [timer, subscription] = &read(&path).unwrap()[..] else { panic!() };
        let quantiles = (0..100).map(|n| Duration::from_micros(10 * n + 6));
        assert_eq!(timer.duration, Distribution::empirical(quantiles).unwrap());
        assert_eq!(timer.callback.as_deref(), Some("timer 10ms"));
        let expected = Distribution::empirical([Duration::from_nanos(7)]).unwrap();
        assert_eq!((&*subscription.process, &subscription.duration), ("b", &expected));

        std::fs::write(&path, "duration: [{}]").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("profile.yaml") && error.contains("process"), "{error}");
    }
}
