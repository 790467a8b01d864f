//! The records of a run: what happened, and when, for the promises about any order of events.

use crate::spec::Subscription;
use std::sync::{Mutex, MutexGuard};

/// From before something until after it, in steps of the history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) begin: u64,
    /// `u64::MAX` while it lives.
    pub(crate) end: u64,
}

impl Span {
    pub(crate) fn is_before(self, other: Self) -> bool {
        self.end < other.begin
    }
}

/// A message; its content is its index.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) publisher: usize,
    pub(crate) topic: usize,
    pub(crate) span: Span,
    /// False if it was handed back.
    pub(crate) is_accepted: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Subscription(Subscription),
    /// Its triggers are counted.
    Guard,
    /// It ends with its handle.
    Client,
    Other,
}

#[derive(Debug)]
pub(crate) struct Callback {
    pub(crate) node: usize,
    pub(crate) kind: Kind,
    pub(crate) created: Span,
    /// The node with the callback that destroyed it first.
    pub(crate) destroyed: Option<(Span, usize)>,
    /// Ordered by their beginnings.
    pub(crate) triggers: Vec<Span>,
    /// Each call, with the message of a subscription.
    pub(crate) calls: Vec<(Span, Option<u64>)>,
}

#[derive(Debug, Default)]
pub(crate) struct Records {
    now: u64,
    /// When the executor started.
    pub(crate) start: u64,
    pub(crate) published: Vec<Published>,
    /// Ordered by creation.
    pub(crate) callbacks: Vec<Callback>,
    /// Messages and requests that were handed back because a queue was full.
    pub(crate) refused: u64,
    /// The calls of the service that were not refused.
    pub(crate) called: u64,
}

impl Records {
    fn step(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    fn begin(&mut self) -> Span {
        Span { begin: self.step(), end: u64::MAX }
    }
}

/// The history of a run on several threads.
#[derive(Default)]
pub(crate) struct History(Mutex<Records>);

impl History {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap()
    }

    /// Makes a step, and returns its number.
    pub(crate) fn step(&self) -> u64 {
        self.lock().step()
    }

    /// The executor starts.
    pub(crate) fn start(&self) {
        let mut records = self.lock();
        records.start = records.step();
    }

    /// A message is published: `publish` gets its content, and returns whether it was accepted.
    pub(crate) fn publish(
        &self,
        publisher: usize,
        topic: usize,
        publish: impl FnOnce(u64) -> bool,
    ) {
        let index = {
            let mut records = self.lock();
            let span = records.begin();
            records.published.push(Published { publisher, topic, span, is_accepted: false });
            records.published.len() - 1
        };
        let is_accepted = publish(index as u64);
        let mut records = self.lock();
        let end = records.step();
        let of = &mut records.published[index];
        (of.span.end, of.is_accepted) = (end, is_accepted);
    }

    /// A guard condition is triggered by `trigger`.
    pub(crate) fn trigger(&self, callback: usize, trigger: impl FnOnce()) {
        let nth = {
            let mut records = self.lock();
            let span = records.begin();
            let triggers = &mut records.callbacks[callback].triggers;
            triggers.push(span);
            triggers.len() - 1
        };
        trigger();
        let mut records = self.lock();
        let end = records.step();
        records.callbacks[callback].triggers[nth].end = end;
    }

    /// A callback of a node is about to be created. Returns its number.
    pub(crate) fn create(&self, node: usize, kind: Kind) -> usize {
        let mut records = self.lock();
        let created = records.begin();
        let (destroyed, triggers, calls) = (None, Vec::new(), Vec::new());
        records.callbacks.push(Callback { node, kind, created, destroyed, triggers, calls });
        records.callbacks.len() - 1
    }

    /// The newest `callbacks` are created, or, if that failed, not there.
    pub(crate) fn created(&self, callbacks: usize, is_created: bool) {
        let mut records = self.lock();
        let end = records.step();
        let first = records.callbacks.len() - callbacks;
        match is_created {
            true => records.callbacks[first..].iter_mut().for_each(|of| of.created.end = end),
            false => records.callbacks.truncate(first),
        }
    }

    /// Some callbacks were destroyed from `begin` until now, by a callback of node `by`.
    pub(crate) fn destroy(
        &self,
        is_meant: impl Fn(usize, &Callback) -> bool,
        begin: u64,
        by: usize,
    ) {
        let mut records = self.lock();
        let end = records.step();
        let all = records.callbacks.iter_mut().enumerate();
        for (_, of) in all.filter(|(n, of)| is_meant(*n, of)) {
            // Two may have done it at once.
            let (span, _) = of.destroyed.get_or_insert((Span { begin, end }, by));
            span.begin = span.begin.min(begin);
        }
    }

    /// A callback begins. Returns which of its calls this is.
    pub(crate) fn enter(&self, callback: usize, message: Option<u64>) -> usize {
        let mut records = self.lock();
        let span = records.begin();
        let calls = &mut records.callbacks[callback].calls;
        calls.push((span, message));
        calls.len() - 1
    }

    pub(crate) fn leave(&self, callback: usize, nth: usize) {
        let mut records = self.lock();
        let end = records.step();
        records.callbacks[callback].calls[nth].0.end = end;
    }
}
