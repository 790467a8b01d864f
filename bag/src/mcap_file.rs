//! Reading of one MCAP file: its index, and its messages in the order of a time.
//!
//! The reader of the crate `mcap` neither checks sums, nor orders by publication, nor reads damaged
//! files; and it allocates whatever length a file claims. So the format is read here.

mod chunk;
mod cursor;
mod index;
mod records;
mod scan;

pub(crate) use chunk::Range;
pub(crate) use cursor::{Cursor, Selection};
pub(crate) use index::{ChannelRecord, McapIndex};
