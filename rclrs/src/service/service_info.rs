//! Information about requests: their times and identifiers.

use crate::clock::to_system_time;
use crate::subscription::PublisherGid;
use ringspin::event::EventId;
use ringspin::message::MessageTimes;
use std::time::SystemTime;

/// Information about a received request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceInfo {
    /// The time when the client sent it; `None` if it is unknown.
    pub source_timestamp: Option<SystemTime>,
    /// The time of reception, which may be long before the callback is called; `None` if it is
    /// unknown.
    pub received_timestamp: Option<SystemTime>,
    /// The identifier.
    pub request_id: RequestId,
}

impl ServiceInfo {
    /// Creates the information about the request `id`.
    pub(crate) fn new(id: EventId, times: MessageTimes) -> Self {
        Self {
            source_timestamp: to_system_time(times.source_timestamp),
            received_timestamp: to_system_time(times.received_timestamp),
            request_id: RequestId::new(id),
        }
    }
}

/// The identifier of a request: no other request to the service has both fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    /// The client.
    pub writer_guid: [u8; 16],
    /// The number of the request among those of the client, from zero.
    pub sequence_number: i64,
}

impl RequestId {
    /// Creates the identifier of the request `id`.
    pub(crate) fn new(id: EventId) -> Self {
        Self {
            writer_guid: PublisherGid::of(id.source).data,
            sequence_number: i64::try_from(id.sequence).unwrap_or(i64::MAX),
        }
    }
}

/// The identifier of a request as rmw has it. No function here takes or returns it.
#[allow(non_camel_case_types)]
#[derive(Clone, Debug)]
pub struct rmw_request_id_t {
    /// The client.
    pub writer_guid: [u8; 16],
    /// The number of the request.
    pub sequence_number: i64,
}
