//! Information about messages: their times, numbers and publishers.

use crate::clock::to_system_time;
use ringspin::event::{EventId, SourceId};
use ringspin::message::MessageTimes;
use std::time::SystemTime;

/// The name that identifiers of this library carry.
const IMPLEMENTATION: &str = "ringspin";

/// The identifier of a publisher, for comparison with others of the same subscription.
///
/// It is that of the publisher in this process. Messages from other processes have one identifier
/// for all publishers of the topic there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublisherGid {
    /// The number of the publisher.
    pub data: [u8; 16],
    /// The library that gave out the number. In rclrs it is a pointer to a C string.
    pub implementation_identifier: &'static str,
}

impl PublisherGid {
    /// Creates the identifier of a source of messages or requests; it is never zero, which means
    /// "none" in rmw.
    pub(crate) fn of(SourceId(number): SourceId) -> Self {
        let data = (u128::from(number) + 1).to_le_bytes();
        Self { data, implementation_identifier: IMPLEMENTATION }
    }
}

/// Information about a received message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageInfo {
    /// The time of publication; `None` if it is unknown.
    pub source_timestamp: Option<SystemTime>,
    /// The time of reception, which may be long before the callback is called; `None` if it is
    /// unknown.
    pub received_timestamp: Option<SystemTime>,
    /// The number of the message among those of its [publisher](Self::publisher_gid), from zero.
    /// Numbers that are missing are those of messages that this subscription did not get.
    pub publication_sequence_number: u64,
    /// The number of the message among those that the subscription has taken, from zero.
    pub reception_sequence_number: u64,
    /// The publisher.
    pub publisher_gid: PublisherGid,
}

impl MessageInfo {
    /// Creates the information about the message `id`, the `reception_sequence_number`-th that the
    /// subscription has taken.
    pub(crate) fn new(
        id: EventId,
        times: Option<MessageTimes>,
        reception_sequence_number: u64,
    ) -> Self {
        let times = times.unwrap_or(MessageTimes::UNKNOWN);
        Self {
            source_timestamp: to_system_time(times.source_timestamp),
            received_timestamp: to_system_time(times.received_timestamp),
            publication_sequence_number: id.sequence,
            reception_sequence_number,
            publisher_gid: PublisherGid::of(id.source),
        }
    }
}
