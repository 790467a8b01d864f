//! The number of calls of each callback of a worker.

use ringspin_ringbuf::Counter;
use std::sync::Arc;

/// The number of calls of each callback of a worker, by token.
///
/// They lie close together, because each event writes one of them, and on cache lines of their own,
/// because no other worker does.
#[derive(Clone)]
pub(crate) struct Calls(Arc<[Line]>);

const PER_LINE: usize = 8;

#[derive(Default)]
#[repr(align(64))]
struct Line([Counter; PER_LINE]);

impl Calls {
    pub(crate) fn new(callbacks: usize) -> Self {
        Self((0..callbacks.div_ceil(PER_LINE)).map(|_| Line::default()).collect())
    }

    #[inline]
    pub(crate) fn of(&self, token: usize) -> &Counter {
        &self.0[token / PER_LINE].0[token % PER_LINE]
    }
}
