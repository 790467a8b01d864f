//! Recordings for the tests.

use std::path::Path;

use ringspin_bag::{Bag, Definition, ReadOptions, Record, Topic, TopicId, WriteOptions, Writer};
use ringspin_executor::{QoS, Time};

/// A message to be recorded is one that was read.
pub(crate) type Message = Record;

/// The topic with this index.
pub(crate) fn topic(index: usize) -> Topic {
    Topic {
        name: format!("/topic{index}"),
        type_name: "std_msgs/msg/String".to_owned(),
        type_hash: Some(format!("RIHS01_{index:064x}")),
        definition: Some(Definition { encoding: "ros2msg".into(), text: "string data\n".into() }),
        serialization_format: "cdr".to_owned(),
        offered_qos: vec![QoS::keep_last(index + 1)],
    }
}

/// Pseudo-random numbers (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// `count` messages of up to `bytes` bytes on three topics. Their log times are nearly sorted, and
/// their publication times are up to 100 us earlier.
pub(crate) fn messages(count: u64, bytes: u64) -> Vec<Message> {
    let mut random = Random(count * 2 + 1);
    let mut message = |n| {
        let log_time = 1_000_000 + n * 1000 - random.below(20_000);
        let mut data = b"\0\x01\0\0".to_vec();
        let length = random.below(bytes);
        data.extend((0..length).map(|at| (n * at) as u8));
        Message {
            topic: TopicId(random.below(3) as usize),
            log_time: Time::from_nanos(log_time),
            publish_time: Time::from_nanos(log_time - random.below(100_000)),
            sequence: n as u32,
            data,
        }
    };
    (0..count).map(&mut message).collect()
}

/// Writes a recording with three topics.
pub(crate) fn write(path: &Path, options: WriteOptions, messages: &[Message]) {
    let mut writer = Writer::create(path, options).unwrap();
    let topics: Vec<_> = (0..3).map(|index| writer.add_topic(&topic(index)).unwrap()).collect();
    for message in messages {
        let Message { topic, log_time, publish_time, sequence, data } = message;
        writer.write(topics[topic.0], *log_time, *publish_time, *sequence, data).unwrap();
    }
    writer.finish().unwrap();
}

pub(crate) fn read_all(bag: &Bag, options: &ReadOptions) -> Vec<Record> {
    bag.read(options).unwrap().map(|record| record.unwrap()).collect()
}
