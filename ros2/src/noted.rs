//! Requests and responses for a flight record.

use ringspin_executor::observed::{self, RemoteChannel, RemoteItem};
use std::sync::Arc;

/// Notes a request, or the response `number`, if this run is recorded.
pub(crate) fn note(channel: &Arc<RemoteChannel>, number: i64, bytes: &[u8]) {
    observed::note_item(|| RemoteItem {
        channel: channel.clone(),
        number,
        source_ns: 0,
        received_ns: 0,
        bytes: bytes.to_vec(),
    });
}
