//! Changes of a worker's inbox while it works: rings and tokens that any thread adds and removes.
//!
//! The thread that makes a change makes its shared part itself: the index, the token, their places
//! in the worker's sets, room in the ready ring. So an event can be announced as soon as
//! [`add_token`](Registrar::add_token) returns. The worker's own part is news for
//! [`Inbox::adopt`](crate::Inbox::adopt).
//!
//! ```text
//! add_token --> announced, popped --> remove_token --> adopt --> popped past the end --> reused
//! ```

use crate::announcer::Announcer;
use crate::entry_line::EntryLine;
use crate::ready;
use crate::ready_set::ReadySet;
use crate::sync::{Arc, AtomicU32, Mutex, order};
use std::ops::DerefMut;
use std::sync::PoisonError;

/// Adds rings and tokens to the inbox of a worker, and removes them, from any thread. Clones do the
/// same. Each call takes a lock, which the worker takes only to adopt the changes.
#[derive(Clone, Debug)]
pub struct Registrar {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    set: Arc<ReadySet>,
    attention: Arc<ReadySet>,
    /// Whether there is something to adopt; a hint before the lock is taken.
    has_news: AtomicU32,
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
    news: Vec<News>,
    /// Rings that were full when they had to grow.
    full: Vec<u32>,
}

#[derive(Debug)]
struct RingEntry {
    producer: ready::Producer,
    /// The most events that may be pending, those of removed tokens included.
    events: usize,
    /// The number of tokens that were not removed.
    tokens: usize,
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
        let (has_news, registry) = (AtomicU32::new(0), Mutex::new(Registry::default()));
        Self { shared: Arc::new(Shared { set, attention, has_news, registry }) }
    }

    /// The registry, to change it.
    pub(crate) fn lock(&self) -> impl DerefMut<Target = Registry> {
        self.shared.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, registry: &mut Registry, news: News) {
        registry.news.push(news);
        // "inbox.news": a hint. A worker that knows by other means that there are news sees it.
        self.shared.has_news.store(1, order!(Relaxed, "inbox.news"));
    }

    /// Whether there may be something to adopt.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.shared.has_news.load(order!(Relaxed, "inbox.news")) != 0
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
        registry.rings.push(RingEntry { producer, events: 0, tokens: 0 });
        self.tell(&mut registry, News::RingAdded(consumer));
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
        (of.events, of.tokens) = (of.events + events, of.tokens + 1);
        if !of.grow() {
            full.push(ring);
        }
        match tokens.get_mut(token as usize) {
            Some(free) => *free = (ring, events),
            None => tokens.push((ring, events)),
        }
        let Shared { set, attention, .. } = &*self.shared;
        attention.reserve(token as usize + 1);
        let producer = of.producer.newest();
        self.tell(&mut registry, News::TokenAdded { token, ring });
        Announcer::new(producer, set.clone(), ring, token, attention.clone())
    }

    /// Removes a token that no thread announces any more. What is in its ring may still be popped;
    /// when that has happened, the token may be used again.
    pub fn remove_token(&self, token: u32) {
        let mut registry = self.lock();
        let ring = registry.tokens[token as usize].0 as usize;
        registry.rings[ring].tokens -= 1;
        self.tell(&mut registry, News::TokenRemoved(token));
    }

    /// Removes a ring whose tokens were all removed. Its index may be used again when the worker
    /// has adopted that.
    ///
    /// # Panics
    /// If a token of the ring was not removed.
    pub fn remove_ring(&self, ring: u32) {
        let mut registry = self.lock();
        assert_eq!(registry.rings[ring as usize].tokens, 0, "tokens of the ring are in use");
        self.tell(&mut registry, News::RingRemoved(ring));
    }

    /// Takes the news, and lets rings grow that were full.
    pub(crate) fn take_news(&self, registry: &mut Registry) -> Vec<News> {
        let Registry { rings, full, .. } = &mut *registry;
        full.retain(|ring| !rings[*ring as usize].grow());
        self.shared.has_news.store(u32::from(!full.is_empty()), order!(Relaxed, "inbox.news"));
        std::mem::take(&mut registry.news)
    }
}

impl Registry {
    /// A removed token is in its ring no more.
    pub(crate) fn free_token(&mut self, token: u32) {
        let (ring, events) = self.tokens[token as usize];
        self.rings[ring as usize].events -= events;
        self.free_tokens.push(token);
    }

    /// A removed ring is empty.
    pub(crate) fn free_ring(&mut self, ring: u32) {
        self.free_rings.push(ring);
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use crate::inbox::{Announce, Inbox, Turn};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, VecDeque};

    fn pop(inbox: &mut Inbox, ring: u32) -> Option<Turn> {
        let turn = inbox.next(ring as usize, |_| 1);
        inbox.rest(ring as usize);
        turn
    }

    #[test]
    fn event_is_taken_of_a_ring_and_a_token_that_are_not_adopted() {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let ring = registrar.add_ring(1, None);
        let announcer = registrar.add_token(ring, 1);
        announcer.announce();
        assert!(!inbox.is_at_rest());
        assert_eq!(inbox.set().next(0), Some(ring as usize));
        assert_eq!(pop(&mut inbox, ring), Some(Turn::Announced(announcer.token())));
    }

    #[test]
    fn attention_reaches_a_token_that_is_not_adopted() {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let ring = registrar.add_ring(1, None);
        let announcer = registrar.add_token(ring, 1);
        announcer.remind();
        assert_eq!(pop(&mut inbox, ring), Some(Turn::Straggler(announcer.token())));
    }

    #[test]
    fn removed_token_is_used_again_once_its_events_are_popped() {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let ring = registrar.add_ring(2, None);
        let first = registrar.add_token(ring, 2);
        first.announce();
        first.announce();
        first.remind();
        registrar.remove_token(first.token());
        inbox.adopt();
        assert!(inbox.attention_is_empty());
        pop(&mut inbox, ring).unwrap();
        inbox.adopt();
        assert_ne!(registrar.add_token(ring, 1).token(), first.token());
        pop(&mut inbox, ring).unwrap();
        inbox.adopt();
        assert_eq!(registrar.add_token(ring, 1).token(), first.token());
    }

    #[test]
    fn removed_ring_is_emptied_and_used_again() {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let ring = registrar.add_ring(1, None);
        let token = registrar.add_token(ring, 3);
        (0..3).for_each(|_| token.announce());
        registrar.remove_token(token.token());
        registrar.remove_ring(ring);
        assert_ne!(registrar.add_ring(1, None), ring, "it is not adopted");
        inbox.adopt();
        assert_eq!((registrar.add_ring(1, None), inbox.queued()), (ring, 0));
        assert!(inbox.set().is_empty());
        let again = registrar.add_token(ring, 3);
        assert_eq!(again.token(), token.token());
        again.announce();
        assert_eq!(pop(&mut inbox, ring), Some(Turn::Announced(again.token())));
    }

    #[test]
    fn room_of_a_ring_is_what_its_tokens_leave() {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let ring = registrar.add_ring(1, None);
        let before = registrar.room(ring);
        let token = registrar.add_token(ring, 1_000);
        assert_eq!(registrar.room(ring), before - 1_000);
        registrar.remove_token(token.token());
        inbox.adopt();
        assert_eq!(registrar.room(ring), before);
    }

    #[test]
    #[should_panic(expected = "tokens of the ring are in use")]
    fn ring_with_a_token_is_not_removed() {
        let inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let ring = registrar.add_ring(1, None);
        registrar.add_token(ring, 1);
        registrar.remove_ring(ring);
    }

    /// Late tokens of stragglers may fill a ring entirely.
    #[test]
    fn overfull_ring_grows_when_the_worker_has_popped() {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let ring = registrar.add_ring(1, None);
        let first = registrar.add_token(ring, 1);
        assert!(first.try_announce() && first.try_announce() && !first.try_announce());
        let second = registrar.add_token(ring, 5);
        assert!(!second.try_announce(), "the ring is full");
        pop(&mut inbox, ring).unwrap();
        inbox.adopt();
        assert!((0..6).all(|_| second.try_announce()));
    }

    #[derive(Clone, Debug)]
    enum Action {
        AddRing(usize),
        AddToken(usize, usize),
        Announce(usize),
        Pop(usize),
        RemoveToken(usize),
        RemoveRing(usize),
        Adopt,
    }

    fn action() -> impl Strategy<Value = Action> {
        let any = || any::<usize>();
        prop_oneof![
            1 => (0usize..9).prop_map(Action::AddRing),
            4 => (any(), 1usize..9).prop_map(|(ring, events)| Action::AddToken(ring, events)),
            20 => any().prop_map(Action::Announce),
            20 => any().prop_map(Action::Pop),
            3 => any().prop_map(Action::RemoveToken),
            1 => any().prop_map(Action::RemoveRing),
            2 => Just(Action::Adopt),
        ]
    }

    /// A token in use: its announcer, its ring, and how many of its events may still come.
    type InUse = (Announcer, u32, usize);

    proptest! {
        /// Each ring brings its tokens in the order of their announcements, whatever comes and
        /// goes; a token or ring is not used again before its events are popped.
        #[test]
        fn rings_are_first_in_first_out_while_rings_and_tokens_come_and_go(
            actions in proptest::collection::vec(action(), 1..400),
        ) {
            let mut inbox = Inbox::with_room(2, 2);
            let registrar = inbox.registrar();
            let mut rings: BTreeMap<u32, VecDeque<u32>> = BTreeMap::new();
            let mut in_use: Vec<InUse> = Vec::new();
            let ring_of = |rings: &BTreeMap<u32, _>, n: usize| {
                rings.keys().nth(n % rings.len().max(1)).copied()
            };
            for action in actions {
                match action {
                    Action::AddRing(events) => {
                        let ring = registrar.add_ring(events, None);
                        prop_assert!(rings.insert(ring, VecDeque::new()).is_none());
                    }
                    Action::AddToken(n, events) => {
                        let Some(ring) = ring_of(&rings, n) else { continue };
                        let announcer = registrar.add_token(ring, events);
                        let token = announcer.token();
                        prop_assert!(rings.values().flatten().all(|queued| *queued != token));
                        prop_assert!(in_use.iter().all(|(other, ..)| other.token() != token));
                        in_use.push((announcer, ring, events));
                    }
                    Action::Announce(n) => {
                        let count = in_use.len().max(1);
                        let Some((announcer, ring, left)) = in_use.get_mut(n % count) else {
                            continue;
                        };
                        if *left > 0 {
                            *left -= 1;
                            prop_assert!(announcer.try_announce());
                            rings.get_mut(ring).unwrap().push_back(announcer.token());
                        }
                    }
                    Action::Pop(n) => {
                        let Some(ring) = ring_of(&rings, n) else { continue };
                        let expected = rings.get_mut(&ring).unwrap().pop_front();
                        let found = pop(&mut inbox, ring);
                        prop_assert_eq!(found, expected.map(Turn::Announced));
                        let of = |(other, ..): &&mut InUse| Some(other.token()) == expected;
                        in_use.iter_mut().find(of).into_iter().for_each(|(.., left)| *left += 1);
                    }
                    Action::RemoveToken(n) if !in_use.is_empty() => {
                        let (announcer, ..) = in_use.swap_remove(n % in_use.len());
                        registrar.remove_token(announcer.token());
                    }
                    Action::RemoveRing(n) => {
                        let Some(ring) = ring_of(&rings, n) else { continue };
                        let (gone, rest): (Vec<_>, _) =
                            in_use.into_iter().partition(|(_, of, _)| *of == ring);
                        in_use = rest;
                        gone.iter().for_each(|(gone, ..)| registrar.remove_token(gone.token()));
                        registrar.remove_ring(ring);
                        rings.remove(&ring);
                    }
                    Action::Adopt | Action::RemoveToken(_) => {
                        inbox.adopt();
                        let waiting: usize = rings.values().map(VecDeque::len).sum();
                        prop_assert_eq!(inbox.queued(), waiting);
                    }
                }
            }
        }
    }

    #[test]
    fn tokens_and_rings_that_come_and_go_take_no_more_room() {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let mut largest = 0;
        for _ in 0..1_000 {
            let ring = registrar.add_ring(2, None);
            let tokens = [1, 2].map(|events| registrar.add_token(ring, events));
            tokens.iter().for_each(|token| token.announce());
            assert!(pop(&mut inbox, ring).is_some());
            for token in tokens {
                largest = largest.max(token.token());
                registrar.remove_token(token.token());
            }
            registrar.remove_ring(ring);
            inbox.adopt();
        }
        assert_eq!((largest, inbox.rings()), (1, 1));
        assert_eq!(registrar.lock().rings[0].producer.capacity(), 4);
    }
}
