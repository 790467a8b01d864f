//! The flight record of a live run: each event, in which order they were handled, and each reading
//! of the clock; for an exact replay on one core.
//!
//! Each worker writes entries of fixed size to its ring, which a [`FlightWriter`] drains on
//! a thread beside the run: nothing waits, and a full ring is counted. The order among workers is
//! that of the real clock at the start of each callback. A message is published after the start of
//! the callback that publishes it, and taken before the start of the one that handles it, so a
//! replay in the order of starts finds each message that it needs. It hands each message over when
//! the record says so, not when it is published, shows each callback the times that it read, and
//! compares events and digests with the record (`scheduler::replay`).
//!
//! | module | part |
//! |---|---|
//! | `entry` | the entries |
//! | `file` | records as files |
//! | `log` | recording: each worker's log, the clock, the tape |
//! | `record` | a record that was read again |

mod entry;
#[cfg(feature = "flight")]
mod file;
mod log;
mod record;

pub use entry::{Entry, EntryKind};
#[cfg(feature = "flight")]
pub use file::FlightFile;
pub use log::{FlightTape, FlightWriter, LogPart};
pub use record::{FlightBuilder, FlightHeader, FlightRecord};

pub(crate) use record::RecordedEvent;

pub(crate) use log::{FlightRecorder, RecordedClock, Tee};
