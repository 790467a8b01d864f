//! QoS profiles in the YAML of rosbag2: numbers of rmw's enums up to version 8, words since.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use ringspin_executor::{Durability, Error, ErrorKind, History, Liveliness, QoS, Reliability};
use serde::{Deserialize, Serialize};

/// The seconds from which a duration has no limit: several middlewares wrote infinity so.
const INFINITE_SECONDS: u64 = 0x7fff_ffff;

/// rmw's infinite duration.
const INFINITE: Span = Span { sec: 9_223_372_036, nsec: 854_775_807 };

/// A profile as rosbag2 writes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct QosYaml {
    history: Policy,
    depth: u64,
    reliability: Policy,
    durability: Policy,
    deadline: Span,
    lifespan: Span,
    liveliness: Policy,
    liveliness_lease_duration: Span,
    avoid_ros_namespace_conventions: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Policy {
    Number(i64),
    Word(String),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Span {
    sec: u64,
    nsec: u64,
}

/// Parses a list of profiles; an empty text has none.
pub(crate) fn parse(text: &str) -> Result<Vec<QoS>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let profiles: Vec<QosYaml> = serde_saphyr::from_str(text).map_err(|e| first_line(&e))?;
    profiles.iter().map(QosYaml::qos).collect()
}

/// The text of a list of profiles.
pub(crate) fn to_text(profiles: &[QoS]) -> String {
    if profiles.is_empty() {
        return String::new();
    }
    let profiles: Vec<_> = profiles.iter().map(QosYaml::from).collect();
    serde_saphyr::to_string(&profiles).expect("numbers and words are YAML")
}

/// Reads QoS by topic from a file in the YAML of `ros2 bag play --qos-profile-overrides-path`.
/// Policies that are left out are those of ROS 2's default.
///
/// # Errors
/// The file cannot be read, or its content is not the QoS of topics.
pub fn qos_overrides(path: impl AsRef<Path>) -> Result<BTreeMap<String, QoS>, Error> {
    let path = path.as_ref();
    let failed = |kind, problem: String| {
        let text = format!(
            "failed to read QoS overrides: {}: {problem}; write topics with policies, as in \
             `/scan: {{reliability: best_effort, depth: 5}}`",
            path.display()
        );
        Error::new(kind, text).at_path(path)
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| failed(ErrorKind::Io, error.to_string()).caused_by(error))?;
    let failed = |problem| failed(ErrorKind::Parse, problem);
    let profiles: BTreeMap<String, QosYaml> =
        serde_saphyr::from_str(&text).map_err(|error| failed(first_line(&error)))?;
    let profiles = profiles.into_iter().map(|(topic, profile)| Ok((topic, profile.qos()?)));
    profiles.collect::<Result<_, String>>().map_err(failed)
}

/// The first line of an error of the parser; the others show the source.
pub(crate) fn first_line(error: &impl std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

impl QosYaml {
    /// The profile; policies that the recorder did not know are those of ROS 2's default.
    pub(crate) fn qos(&self) -> Result<QoS, String> {
        let depth = usize::try_from(self.depth).unwrap_or(usize::MAX);
        let default = QoS::default();
        let qos = match self.history.named(&["", "keep_last", "keep_all"])? {
            "keep_last" if depth > 0 => QoS::keep_last(depth),
            "keep_all" => QoS::keep_all(depth.max(default.depth())),
            _ => default,
        };
        let qos = match self.reliability.named(&["", "reliable", "best_effort"])? {
            "best_effort" => qos.best_effort(),
            _ => qos.reliable(),
        };
        let qos = match self.durability.named(&["", "transient_local"])? {
            "transient_local" => qos.transient_local(),
            _ => qos.volatile(),
        };
        let lease = self.liveliness_lease_duration.duration();
        let qos = match self.liveliness.named(&["", "automatic", "", "manual_by_topic"])? {
            "manual_by_topic" => qos.liveliness_manual_by_topic(lease),
            _ => qos.liveliness_lease_duration(lease),
        };
        Ok(qos.deadline(self.deadline.duration()).lifespan(self.lifespan.duration()))
    }
}

impl Default for QosYaml {
    fn default() -> Self {
        Self::from(&QoS::default())
    }
}

impl From<&QoS> for QosYaml {
    fn from(qos: &QoS) -> Self {
        let word = |word: &str| Policy::Word(word.to_owned());
        Self {
            history: word(match qos.history() {
                History::KeepLast => "keep_last",
                History::KeepAll => "keep_all",
            }),
            depth: qos.depth() as u64,
            reliability: word(match qos.reliability() {
                Reliability::BestEffort => "best_effort",
                Reliability::Reliable => "reliable",
            }),
            durability: word(match qos.durability() {
                Durability::Volatile => "volatile",
                Durability::TransientLocal => "transient_local",
            }),
            deadline: Span::from(qos.deadline_period()),
            lifespan: Span::from(qos.lifespan_age()),
            liveliness: word(match qos.liveliness() {
                Liveliness::Automatic => "automatic",
                Liveliness::ManualByTopic => "manual_by_topic",
            }),
            liveliness_lease_duration: Span::from(qos.lease()),
            avoid_ros_namespace_conventions: false,
        }
    }
}

impl Policy {
    /// The word of this policy; `words` are in the order of rmw's enum.
    fn named<'a>(&'a self, words: &[&'a str]) -> Result<&'a str, String> {
        match self {
            Self::Word(word) => Ok(word),
            Self::Number(number) if (0..=5).contains(number) => {
                Ok(words.get(*number as usize).copied().unwrap_or_default())
            }
            Self::Number(number) => Err(format!("unknown QoS policy {number}")),
        }
    }
}

impl Span {
    /// The duration; zero if it has no limit.
    fn duration(self) -> Duration {
        match self.sec {
            INFINITE_SECONDS.. => Duration::ZERO,
            sec => Duration::from_secs(sec).saturating_add(Duration::from_nanos(self.nsec)),
        }
    }
}

impl From<Option<Duration>> for Span {
    fn from(duration: Option<Duration>) -> Self {
        duration.map_or(INFINITE, |duration| Self {
            sec: duration.as_secs(),
            nsec: duration.subsec_nanos().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
- history: 3
  depth: 0
  reliability: 2
  durability: 1
  deadline:
    sec: 2147483647
    nsec: 4294967295
  lifespan:
    sec: 9223372036
    nsec: 854775807
  liveliness: 3
  liveliness_lease_duration:
    sec: 1
    nsec: 500000000
  avoid_ros_namespace_conventions: false";

    #[test]
    fn profiles_of_old_recorders_are_numbers() {
        let lease = Duration::from_millis(1500);
        let expected = QoS::default().best_effort().transient_local();
        assert_eq!(parse(OLD).unwrap(), [expected.liveliness_manual_by_topic(lease)]);
        assert!(parse(&OLD.replace("history: 3", "history: 77")).unwrap_err().contains("77"));
        assert!(parse("- history: [1").is_err());
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(parse("[]").unwrap(), []);
    }

    #[test]
    fn overrides_have_the_default_where_they_say_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("qos.yaml");
        std::fs::write(&path, "/scan:\n  reliability: best_effort\n  depth: 3\n/map: {}\n")
            .unwrap();
        let overrides = qos_overrides(&path).unwrap();
        let expected = [("/map", QoS::default()), ("/scan", QoS::keep_last(3).best_effort())];
        assert_eq!(overrides, expected.map(|(topic, qos)| (topic.into(), qos)).into());
        for text in ["/scan: {reliability: 77}", "- 7", "/scan: 3"] {
            std::fs::write(&path, text).unwrap();
            let error = qos_overrides(&path).unwrap_err().to_string();
            assert!(error.contains("qos.yaml") && error.contains("depth: 5"), "{text}: {error}");
        }
    }

    #[test]
    fn written_profiles_are_words_and_are_read_again() {
        let period = Duration::from_millis(20);
        let profiles = [
            QoS::default(),
            QoS::sensor_data().deadline(period).lifespan(2 * period),
            QoS::keep_all(100).transient_local().liveliness_manual_by_topic(period),
        ];
        let text = to_text(&profiles);
        assert!(text.starts_with("- history: keep_last\n  depth: 10\n  reliability: reliable\n"));
        assert!(text.contains("deadline:\n    sec: 9223372036\n    nsec: 854775807\n"), "{text}");
        assert_eq!(parse(&text).unwrap(), profiles);
        assert_eq!(to_text(&[]), "");
    }
}
