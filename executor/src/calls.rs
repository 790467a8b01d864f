//! The number of calls of each callback of a worker.

use ringspin_ringbuf::Counter;
use std::sync::Arc;

/// The number of calls of each callback of a worker, by token.
///
/// They lie close together, because each event writes one of them, and on cache lines of their own,
/// because no other worker does.
#[derive(Default)]
pub(crate) struct Calls(Vec<Arc<CallLine>>);

const PER_LINE: usize = 8;

/// The counters of some tokens in a row.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct CallLine([Counter; PER_LINE]);

impl CallLine {
    /// The counter of a token that belongs to this line.
    #[inline]
    pub(crate) fn of(&self, token: usize) -> &Counter {
        &self.0[token % PER_LINE]
    }
}

impl Calls {
    /// The line of `token`, which is added if there is none.
    pub(crate) fn line(&mut self, token: usize) -> &Arc<CallLine> {
        while self.0.len() <= token / PER_LINE {
            self.0.push(Arc::default());
        }
        &self.0[token / PER_LINE]
    }

    /// Takes over the line of `token`.
    pub(crate) fn set_line(&mut self, token: usize, line: Arc<CallLine>) {
        self.line(token);
        self.0[token / PER_LINE] = line;
    }

    /// The counter of `token`, whose line was added.
    #[inline]
    pub(crate) fn of(&self, token: usize) -> &Counter {
        self.0[token / PER_LINE].of(token)
    }
}
