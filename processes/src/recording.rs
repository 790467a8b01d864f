//! A recording of all topics of a run, as rosbag2 has them.
//!
//! Times are simulated, and messages are in the order in which they were sent, so two equal runs
//! give two equal files.

use ringspin_bag::{Definition, Topic, TopicId, WriteOptions, Writer};
use ringspin_executor::{QoS, Result, Time};
use ringspin_message_generator::installed_definition;
use ringspin_process_protocol::{Entity, NEVER, Qos, Sample};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The limit of a publisher that keeps all messages, which a recording has to name.
const KEEP_ALL: usize = 1000;

pub(crate) struct Recording {
    writer: Writer,
    topics: BTreeMap<String, TopicId>,
}

impl Recording {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let writer = Writer::create(path, WriteOptions::default())?;
        Ok(Self { writer, topics: BTreeMap::new() })
    }

    /// A publisher has sent a message.
    pub(crate) fn add(&mut self, publisher: &Entity, sample: &Sample, bytes: &[u8]) -> Result<()> {
        let topic = match self.topics.get(&publisher.name) {
            Some(topic) => *topic,
            None => {
                let topic = self.writer.add_topic(&topic_of(publisher))?;
                self.topics.insert(publisher.name.clone(), topic);
                topic
            }
        };
        let time = Time::from_nanos(sample.sent);
        self.writer.write(topic, time, time, sample.number as u32, bytes)
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.writer.finish()
    }
}

fn topic_of(publisher: &Entity) -> Topic {
    let definition = installed_definition(&publisher.type_name);
    let hash = publisher.type_hash.split_first();
    let hash = hash.filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0));
    Topic {
        name: publisher.name.clone(),
        type_name: publisher.type_name.clone(),
        type_hash: hash.map(|(version, bytes)| {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("RIHS{version:02}_{digits}")
        }),
        definition: definition.map(|text| Definition { encoding: "ros2msg".into(), text }),
        serialization_format: "cdr".into(),
        offered_qos: vec![qos_of(&publisher.qos)],
    }
}

fn qos_of(of: &Qos) -> QoS {
    let mut qos = match of.depth {
        Some(depth) => QoS::keep_last(depth as usize),
        None => QoS::keep_all(KEEP_ALL),
    };
    if !of.is_reliable {
        qos = qos.best_effort();
    }
    if of.is_transient_local {
        qos = qos.transient_local();
    }
    let time = |nanos: u64| (nanos != NEVER).then(|| Duration::from_nanos(nanos));
    if let Some(deadline) = time(of.deadline) {
        qos = qos.deadline(deadline);
    }
    if let Some(lifespan) = time(of.lifespan) {
        qos = qos.lifespan(lifespan);
    }
    qos
}
