//! Reading of one MCAP file: its index, and its messages in the order of a time.
//!
//! The crate `mcap` parses the records that describe a file. Chunks and messages are read here:
//! its indexed reader neither checks sums, nor orders by publication, nor reads damaged files.

mod chunk;
mod cursor;
mod index;
mod records;
mod scan;

pub(crate) use chunk::Range;
pub(crate) use cursor::{Cursor, Selection};
pub(crate) use index::{ChannelRecord, McapIndex};
