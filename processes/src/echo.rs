//! Messages of some topics as lines of JSON, as they are sent. They are no part of the digest.

use ringspin_bag::{Definition, MessageDecoder};
use ringspin_message_generator::installed_definition;
use ringspin_process_protocol::Entity;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Echo {
    /// The topics, and how many messages each had.
    topics: BTreeMap<String, u64>,
    /// By the names of types; `None` without a definition.
    decoders: BTreeMap<String, Option<MessageDecoder>>,
}

impl Echo {
    pub(crate) fn new(topics: &[String]) -> Self {
        let topics = topics.iter().map(|topic| (format!("/{}", topic.trim_start_matches('/')), 0));
        Self { topics: topics.collect(), decoders: BTreeMap::new() }
    }

    /// The line for a message, if its topic is one of them.
    pub(crate) fn line(&mut self, publisher: &Entity, bytes: &[u8]) -> Option<String> {
        let Entity { name, type_name, .. } = publisher;
        *self.topics.get_mut(name)? += 1;
        let decoder = self.decoders.entry(type_name.clone()).or_insert_with(|| {
            let text = installed_definition(type_name)?;
            let definition = Definition { encoding: "ros2msg".into(), text };
            MessageDecoder::new(type_name, &definition).ok()
        });
        let Some(decoder) = decoder else {
            let count = bytes.len();
            return Some(format!("{name} {count} bytes: {type_name} is not in AMENT_PREFIX_PATH"));
        };
        let message = decoder.decode(bytes).map_err(|error| error.to_string());
        let text = message
            .and_then(|message| serde_json::to_string(&message).map_err(|error| error.to_string()));
        Some(format!("{name} {}", text.unwrap_or_else(|error| error)))
    }

    /// The topics that had no message, in words.
    pub(crate) fn unused(&self) -> impl Iterator<Item = String> {
        let silent = self.topics.iter().filter(|(_, count)| **count == 0);
        silent.map(|(topic, _)| format!("no message was sent on {topic}, which was to be shown"))
    }
}
