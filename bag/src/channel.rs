//! A topic as one file of a recording has it.

use ringspin_executor::QoS;

use crate::qos;
use crate::recording::Topic;

/// A channel of a file: its number, its topic, and the number of its messages.
pub(crate) struct Channel {
    pub(crate) number: usize,
    pub(crate) topic: Topic,
    pub(crate) count: u64,
}

/// The recorded profiles of a topic; a problem is a warning.
pub(crate) fn profiles(topic: &str, text: &str, warnings: &mut Vec<String>) -> Vec<QoS> {
    qos::parse(text).unwrap_or_else(|problem| {
        warnings.push(format!("the QoS of topic {topic} cannot be read: {problem}"));
        Vec::new()
    })
}
