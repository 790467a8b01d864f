//! Turns that a process gets at once: where each one begins and ends in the record.
//!
//! The coordinator sends them together, and notes the arrivals of each one when the one before it
//! has ended: so the record is that of turns one by one.

use ringspin_process_protocol::{Down, Gid, Up};

/// How many turns a process gets at once.
pub(crate) const TURNS_MAX: usize = 256;

/// A frame that arrives, as the record has it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrival {
    /// A message of this number, from a process to an endpoint.
    Message(i64, u32, Gid),
    Look,
    End,
    Change,
}

/// The time at the end of a turn, if the frame is one.
pub(crate) fn end_of_turn(frame: &Up) -> Option<u64> {
    match frame {
        Up::Rest { now, .. } | Up::End { now } => Some(*now),
        _ => None,
    }
}

/// The arrival of a frame in a process.
pub(crate) fn arrival(process: u32, frame: &Down) -> Arrival {
    match frame {
        Down::Deliver { to, sample } => {
            Arrival::Message(sample.number, sample.from.process, Gid { process, number: to[0] })
        }
        Down::Look => Arrival::Look,
        Down::Computed(_) => Arrival::End,
        _ => Arrival::Change,
    }
}
