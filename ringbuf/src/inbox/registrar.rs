//! Changes of a worker's inbox while it works: rings and tokens that any thread adds and removes.
//!
//! The thread that makes a change makes its shared part itself: the index, the token, their places
//! in the worker's sets, room in the ready ring. So an event can be announced as soon as
//! [`add_token`](Registrar::add_token) returns. The worker's own part is news for
//! [`Inbox::adopt`](crate::Inbox::adopt).
//!
//! Threads that change an inbox take turns, by a lock that the worker never waits for: news reach
//! it through a [`List`], and freed tokens and rings come back through another one. A ring that was
//! too full to grow is tried again by the worker, if no other thread has the lock just then.
//!
//! ```text
//! add_token --> announced, popped --> remove_token --> adopt --> popped past the end --> reused
//! ```

use super::Announcer;
use crate::list::List;
use crate::ready;
use crate::ready::EntryLine;
use crate::ready_set::ReadySet;
use crate::sync::{Arc, AtomicU32, Mutex, order, step};
use std::ops::DerefMut;
use std::sync::PoisonError;

/// Adds rings and tokens to the inbox of a worker, and removes them, from any thread. Clones do the
/// same. Threads that add, or ask for room, wait for each other; the worker waits for none.
#[derive(Clone, Debug)]
pub struct Registrar {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    set: Arc<ReadySet>,
    attention: Arc<ReadySet>,
    news: List<News>,
    freed: List<Freed>,
    /// Whether a ring was full when it had to grow; a hint before the lock is tried.
    has_full: AtomicU32,
    registry: Mutex<Registry>,
}

/// The rings and tokens, in use or free.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    rings: Vec<RingEntry>,
    /// By token: its ring, and the most events that may be pending.
    tokens: Vec<(u32, usize)>,
    free_rings: Vec<u32>,
    free_tokens: Vec<u32>,
    /// Rings that were full when they had to grow.
    full: Vec<u32>,
}

#[derive(Debug)]
struct RingEntry {
    producer: ready::Producer,
    /// The most events that may be pending, those of removed tokens included.
    events: usize,
}

/// A change for the worker.
#[derive(Debug)]
pub(crate) enum News {
    /// The next ring.
    RingAdded(ready::Consumer),
    TokenAdded {
        token: u32,
        ring: u32,
    },
    TokenRemoved(u32),
    RingRemoved(u32),
}

/// A token or ring that may be used again.
#[derive(Debug)]
pub(crate) enum Freed {
    /// A removed token is in its ring no more.
    Token(u32),
    /// A removed ring is empty.
    Ring(u32),
}

/// Limit of the events that may be pending in one ring.
const EVENTS_MAX: usize = (1 << 24) - 1;

/// The entries of a ring for so many pending events: one more, so that it can be closed also while
/// it holds all of them.
fn entries(events: usize) -> usize {
    events + 1
}

impl RingEntry {
    /// False if the ring is full.
    fn grow(&self) -> bool {
        self.producer.reserve(entries(self.events))
    }
}

impl Registrar {
    pub(crate) fn new(set: Arc<ReadySet>, attention: Arc<ReadySet>) -> Self {
        let (has_full, registry) = (AtomicU32::new(0), Mutex::new(Registry::default()));
        let (news, freed) = (List::new(), List::new());
        Self { shared: Arc::new(Shared { set, attention, news, freed, has_full, registry }) }
    }

    /// The registry, with all that the worker has freed.
    fn lock(&self) -> impl DerefMut<Target = Registry> {
        let mut registry = self.shared.registry.lock().unwrap_or_else(PoisonError::into_inner);
        step!("locked");
        self.shared.freed.take().into_iter().for_each(|freed| registry.reuse(freed));
        registry
    }

    /// Whether there may be something to adopt. A worker that knows of news by other means sees
    /// them.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        // "inbox.full": a hint.
        !self.shared.news.is_empty()
            || self.shared.has_full.load(order!(Relaxed, "inbox.full")) != 0
    }

    /// Adds a ready ring with room for `events` events, and for those of its tokens. Returns its
    /// index in the ready set, maybe that of a removed ring. A new ring has its entries on `line`,
    /// if they fit there and no other ring has.
    ///
    /// # Panics
    /// If `events` is 2^24 or more.
    pub fn add_ring(&self, events: usize, line: Option<EntryLine>) -> u32 {
        let mut registry = self.lock();
        if let Some(index) = registry.free_rings.pop() {
            let ring = &mut registry.rings[index as usize];
            ring.producer.reserve(entries(events));
            return index;
        }
        let (producer, consumer) = match &line {
            Some(line) => ready::ring_on(line, entries(events)),
            None => ready::ring(entries(events)),
        };
        let index = registry.rings.len();
        self.shared.set.reserve(index + 1);
        registry.rings.push(RingEntry { producer, events: 0 });
        self.shared.news.push(News::RingAdded(consumer));
        index as u32
    }

    /// The number of further events that may be pending in `ring`.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn room(&self, ring: u32) -> usize {
        EVENTS_MAX - self.lock().rings[ring as usize].events
    }

    /// The number of further tokens.
    pub fn tokens_left(&self) -> usize {
        let registry = self.lock();
        ready::MAX_TOKEN as usize + 1 + registry.free_tokens.len() - registry.tokens.len()
    }

    /// Adds a token, maybe one that was removed, of which up to `events` events may be pending in
    /// `ring`. Returns the announcer of its events.
    ///
    /// # Panics
    /// If there is no such ring, there are 2^24 - 2 tokens, or 2^24 or more events may be pending
    /// in the ring.
    pub fn add_token(&self, ring: u32, events: usize) -> Announcer {
        let mut registry = self.lock();
        let Registry { rings, tokens, free_tokens, full, .. } = &mut *registry;
        let of = &mut rings[ring as usize];
        assert!(of.events + events <= EVENTS_MAX, "a ready ring has up to 2^24 entries");
        let token = free_tokens.pop().unwrap_or(tokens.len() as u32);
        assert!(token <= ready::MAX_TOKEN, "an inbox has up to 2^24 - 2 tokens");
        of.events += events;
        if !of.grow() {
            full.push(ring);
            self.shared.has_full.store(1, order!(Relaxed, "inbox.full"));
        }
        match tokens.get_mut(token as usize) {
            Some(free) => *free = (ring, events),
            None => tokens.push((ring, events)),
        }
        let Shared { set, attention, news, .. } = &*self.shared;
        attention.reserve(token as usize + 1);
        let producer = of.producer.newest();
        news.push(News::TokenAdded { token, ring });
        Announcer::new(producer, set.clone(), ring, token, attention.clone())
    }

    /// Removes a token that no thread announces any more. Its events in the ring may still be
    /// popped; after that the token may be used again. Lock-free.
    pub fn remove_token(&self, token: u32) {
        self.shared.news.push(News::TokenRemoved(token));
    }

    /// Removes a ring after all of its tokens. Its index may be used again when the worker has
    /// adopted that, which panics if a token of the ring was not removed. Lock-free.
    pub fn remove_ring(&self, ring: u32) {
        self.shared.news.push(News::RingRemoved(ring));
    }

    /// Takes the news, and lets rings grow that were full, unless another thread changes them.
    pub(crate) fn take_news(&self) -> Vec<News> {
        let Shared { news, has_full, registry, .. } = &*self.shared;
        if has_full.load(order!(Relaxed, "inbox.full")) != 0
            && let Ok(mut registry) = registry.try_lock()
        {
            let Registry { rings, full, .. } = &mut *registry;
            full.retain(|ring| !rings[*ring as usize].grow());
            has_full.store(u32::from(!full.is_empty()), order!(Relaxed, "inbox.full"));
        }
        news.take()
    }

    /// Lets a token or ring be used again. Lock-free.
    pub(crate) fn free(&self, freed: Freed) {
        self.shared.freed.push(freed);
    }
}

impl Registry {
    fn reuse(&mut self, freed: Freed) {
        match freed {
            Freed::Token(token) => {
                let (ring, events) = self.tokens[token as usize];
                self.rings[ring as usize].events -= events;
                self.free_tokens.push(token);
            }
            Freed::Ring(ring) => self.free_rings.push(ring),
        }
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
