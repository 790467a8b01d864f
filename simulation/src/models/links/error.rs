//! Errors of link models.

use ringspin_executor::Time;
use thiserror::Error;

/// The reason why a delay file of RSLCPP was not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DelayFileError {
    /// A line has a fault.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The name of the file, as it was given.
        file: String,
        /// The line, from one.
        line: usize,
        /// Description of the error, and of the allowed values.
        problem: String,
    },
    /// A line asks for measured delays.
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
}

/// The reason why links do not fit a graph.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// Neither a topic nor a service of the graph.
    #[error(
        "{rule}: the graph has no such topic or service; {way_out} \
         (set `later = true` if it is created while the graph runs)"
    )]
    UnknownTopic {
        /// The rule's number, from one, and its topic.
        rule: String,
        /// Which names there are.
        way_out: String,
    },
    /// No edge of the topic has this node at this end.
    #[error(
        "{rule}: nothing flows {end} `{wanted}`; {way_out} \
         (set `later = true` if it is created while the graph runs)"
    )]
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
