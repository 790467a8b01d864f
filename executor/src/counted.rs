//! Where the counters of a callback are, once the graph is frozen.

use crate::control::CallbackCounters;
use crate::graph::GraphBuilder;
use crate::worker::Worker;
use ringspin_ringbuf::Counter;
use std::sync::Arc;

/// How often each callback of a worker was called, by token.
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

/// The counters of one callback.
pub(crate) struct Counted {
    /// All but one.
    pub(crate) counters: Arc<CallbackCounters>,
    calls: Calls,
    token: usize,
}

impl Counted {
    /// The counters of all callbacks, in order.
    pub(crate) fn all(builder: &GraphBuilder, workers: &[Worker]) -> Arc<[Self]> {
        let counters = |callback: usize| builder.callback_specs[callback].counters.clone();
        let mut all: Vec<Option<Self>> = builder.callback_specs.iter().map(|_| None).collect();
        for worker in workers {
            for (callback, token) in worker.callbacks() {
                let (n, calls) = (callback.0 as usize, worker.calls().clone());
                all[n] = Some(Self { counters: counters(n), calls, token });
            }
        }
        all.into_iter().map(|of| of.expect("every callback has a worker")).collect()
    }

    /// How often the callback was called.
    pub(crate) fn dispatched(&self) -> u64 {
        self.calls.of(self.token).get()
    }
}
