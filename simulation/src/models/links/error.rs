//! Errors of link models.

use ringspin_executor::Time;
use thiserror::Error;

/// Why links could not be read, or do not fit the graph.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The text has no rules that can be understood. The message carries line and column.
    #[error("the links cannot be read: {}\ncorrect that line; the keys of a `[[link]]` are \
        `topic`, `from`, `to`, `since`, `until`, `delay`, `loss`, `duplication`, `reordering`, \
        `bandwidth` and `bytes`", error.to_string().trim_end())]
    Toml {
        /// Where and why, as the TOML parser reports it.
        error: Box<toml::de::Error>,
    },
    /// A line of RSLCPP's delay file cannot be understood.
    #[error("{file}, line {line}: {problem}")]
    Csv {
        /// The name of the file, as it was given.
        file: String,
        /// The line, from one.
        line: usize,
        /// Description of the error, and of the allowed values.
        problem: String,
    },
    /// RSLCPP's delay file asks for measured delays.
    #[error(
        "{file}, line {line}: `{topic}` is MEASURED: a delay measured during the run would make \
         the result depend on the machine and its load; record a profile of the callbacks once, \
         and give it as their durations, with the skew as a scale"
    )]
    Measured {
        /// The name of the file, as it was given.
        file: String,
        /// The line, from one.
        line: usize,
        /// The topic.
        topic: String,
    },
    /// Neither a topic nor a service of the graph.
    #[error("{rule}: the graph has no such topic or service; {way_out}")]
    UnknownTopic {
        /// The rule's number, from one, and its topic.
        rule: String,
        /// Which names there are.
        way_out: String,
    },
    /// No edge of the topic has this node at this end.
    #[error("{rule}: nothing flows {end} `{wanted}`; {way_out}")]
    UnknownEnd {
        /// The rule's number, from one, and its topic.
        rule: String,
        /// "from" or "to".
        end: &'static str,
        /// The name that was given.
        wanted: String,
        /// Which names there are.
        way_out: String,
    },
    /// A number that is no probability.
    #[error("{rule}: {key} is {value}; give a probability from 0 to 1")]
    Probability {
        /// The rule's number, from one, and its topic.
        rule: String,
        /// Which of the probabilities.
        key: &'static str,
        /// The given value.
        value: f64,
    },
    /// A window that no time is in.
    #[error("{rule}: it begins at {since} and ends at {until}; let it end after it begins")]
    Window {
        /// The rule's number, from one, and its topic.
        rule: String,
        /// Its beginning.
        since: Time,
        /// Its end.
        until: Time,
    },
    /// Requests and responses that get lost or come twice.
    #[error(
        "{rule}: it is a service, and {key} is not possible there: every call ends, exactly once; \
         give it a delay longer than the timeout of its clients instead"
    )]
    Service {
        /// The rule's number, from one, and its service.
        rule: String,
        /// Which of the probabilities.
        key: &'static str,
    },
}
