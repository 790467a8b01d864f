//! The destinations of a worker's tokens. The worker writes a route when it adopts a callback, and
//! reads it for each event of that token; nothing else knows it.

use crate::base::event::{CallbackId, LoopId};
use crate::delivery::ready::Notifier;
use crate::running::event_loop::EntityPort;
use std::sync::Arc;

/// The destination of a token that is an event of a callback. Loops and timers are numbered within
/// the worker.
///
/// It holds all data that a dispatch needs, in half a cache line: in a large graph an event touches
/// few other lines.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Route {
    pub(crate) callback: CallbackId,
    pub(crate) event_loop: LoopId,
    pub(crate) node_index: u32,
    pub(crate) loop_index: u32,
    pub(crate) target: EntityPort,
    /// Its timer, if it is a timer's callback.
    pub(crate) timer: Index,
    /// Its deadline, if it has one.
    pub(crate) deadline: Index,
}

impl Route {
    /// The route of a token that is free, or not adopted yet.
    pub(crate) const UNKNOWN: Self = Self::to_worker(u32::MAX);

    /// The route of a token that leads to the worker itself.
    pub(crate) const fn to_worker(loop_index: u32) -> Self {
        Self {
            callback: CallbackId::NONE,
            event_loop: LoopId(0),
            node_index: 0,
            loop_index,
            target: EntityPort { entity: 0, port: 0 },
            timer: Index::NONE,
            deadline: Index::NONE,
        }
    }

    #[inline]
    pub(crate) fn is_callback(&self) -> bool {
        self.callback != CallbackId::NONE
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.loop_index == u32::MAX
    }
}

/// An index, or none, in 32 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Index(u32);

impl Index {
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// # Panics
    /// If `index` is 2^32 - 1 or more.
    pub(crate) fn new(index: usize) -> Self {
        let index = u32::try_from(index).ok().filter(|index| *index != Self::NONE.0);
        Self(index.expect("a worker has fewer than 2^24 of anything"))
    }

    #[inline]
    pub(crate) fn get(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }
}

/// The destination of a token that is a notice to the worker itself.
pub(crate) enum Control {
    /// A timer has a new request.
    TimerChanged { timer: usize },
    /// A loop is out of service if its node is isolated.
    Retirement { loop_index: usize, notifier: Arc<Notifier> },
}
