//! The inbox of a worker: the events of its event loops, and its sleep until there are some.
//!
//! An event crosses threads in two steps. First it becomes *pending*: a message enters a
//! [keep-last queue](crate::keep_last), or a [notice](Notice) is given. Then it is *announced*: a
//! token enters the [ready ring](crate::ready) of the event loop, and the loop is marked in the
//! worker's [ready set](ReadySet). The order of the tokens is the order of the dispatches.
//!
//! ```text
//! publisher                               worker
//! 1. message into the queue      ┐ push   next: pop a token, take one message
//! 2. token into the ready ring   ┘        look_again: does another message wait?
//! 3. mark in the ready set, wake          rest: clear the mark, look once more
//!                                         sleep: only if nothing is marked
//! ```
//!
//! # A mark that stands
//! A worker that polls leaves the last mark standing, and polls that loop's ring. A
//! publisher that pushes a token and then reads the mark of a worker that is awake leaves step 3
//! out. The worker clears the mark before it sleeps, or when another loop is marked, and then looks
//! once more at the ring. Push, reading, clearing and looking are in one total order, so that
//! either the publisher does not find the mark, or the worker finds the token.
//!
//! # A publisher that is suspended halfway
//! Between steps 1 and 2 its message waits without a token. The tokens have no names, so the token
//! of a later message then leads to this one, and the later message waits without a token; and a
//! message that overwrites one without a token has none either. The worker finds such *stragglers*:
//!
//! * A publisher that overwrites, and a thread that gives a notice that is given already, calls the
//!   worker's *attention* to the token and marks the loop. Both are unconditional: it does not rely
//!   on any other thread.
//! * When the worker has taken a message and another one waits, or when its attention is called, it
//!   notes how many messages wait, and where the ready ring ends. When the ring is popped up to
//!   there, and fewer tokens came than messages waited, the difference are stragglers, and are
//!   dispatched without a token.
//! * The token of a straggler, when it comes, finds no message and is ignored. If the
//!   ring has no place for it, it is left out, and attention is called instead.
//!
//! # Guarantees
//! * An event is dispatched once its thread has returned from [`push`] or [`notify`], whatever
//!   other threads do or do not do in the meantime. It waits for no more than the events that were
//!   announced when the worker noted it.
//! * Events of one token keep their order. Events of different tokens are dispatched in the order
//!   in which they were announced. A thread that is suspended between the steps may change that for
//!   the events of the same token only: one of them may come later than its place, behind all that
//!   is in the ring, and, when the late token comes, one of them earlier.
//! * Nothing is dispatched twice, and nothing is lost.
//!
//! All of this is lock-free, and without allocation.
//!
//! # Rings and tokens that come and go
//! A [`Registrar`] adds and removes them while the worker works. The worker [adopts](Inbox::adopt)
//! the changes now and then, and at the latest when it meets a ring or a token that it does not
//! know. A caller may meet a token that it does not know, too: then at least one event of it is
//! pending.

mod registrar;

pub use registrar::Registrar;

use crate::counter::Notice;
use crate::keep_last::{self, Pushed};
use crate::pool::Shared;
use crate::ready;
use crate::ready_set::ReadySet;
use crate::sync::{Arc, omitted, step, store_load};
use registrar::{Freed, News};
use std::collections::VecDeque;
use std::time::Duration;

/// How a worker is told of an event that is pending.
pub trait Announce {
    /// One more event is pending.
    fn announce(&self);
    /// An event is pending that has taken the place of another one; the announcement of that may
    /// not have been made yet.
    fn remind(&self);
}

/// Announces the events of one token; clones do the same, from any thread.
#[derive(Clone, Debug)]
pub struct Announcer {
    ring: ready::Producer,
    set: Arc<ReadySet>,
    /// The ring's index in the set.
    index: u32,
    token: u32,
    attention: Arc<ReadySet>,
}

impl Announcer {
    pub(crate) fn new(
        ring: ready::Producer,
        set: Arc<ReadySet>,
        index: u32,
        token: u32,
        attention: Arc<ReadySet>,
    ) -> Self {
        Self { ring, set, index, token, attention }
    }

    /// The token that it announces.
    #[inline]
    pub fn token(&self) -> u32 {
        self.token
    }

    /// Pushes the token without a mark in the ready set, for a worker that polls its one ring and
    /// never sleeps.
    ///
    /// # Panics
    /// If the ready ring is full.
    #[inline]
    pub fn push_unmarked(&self) {
        self.ring.push(self.token).expect("a ready ring holds a token for each pending event");
    }

    /// Announces an event as [`announce`](Announce::announce) does. Returns false if the ring had
    /// no place for the token, and the worker's attention was called instead. Lock-free.
    #[inline]
    pub fn try_announce(&self) -> bool {
        // The ring has a place for each pending event. Only the late tokens of stragglers may be
        // too many.
        if self.ring.push(self.token).is_err() {
            self.remind();
            return false;
        }
        step!("token.queued");
        // A mark that stands saves the exchange of a cache line that the worker polls. Either it is
        // seen to be cleared, or the worker that clears it sees the token.
        store_load!("inbox.announced");
        if !self.set.is_marked_awake(self.index as usize) {
            self.set.mark(self.index as usize);
        }
        true
    }
}

impl Announce for Announcer {
    #[inline]
    fn announce(&self) {
        self.try_announce();
    }

    fn remind(&self) {
        if !omitted!("inbox.attention") {
            self.attention.mark(self.token as usize);
        }
        step!("attention.called");
        self.set.mark(self.index as usize);
    }
}

/// Appends `message` to `queue`, and tells the worker through `ready`. Returns the message that had
/// to give way. Lock-free.
#[inline]
pub fn push<T>(
    queue: &keep_last::Producer<T>,
    message: Shared<T>,
    ready: &impl Announce,
) -> Option<Shared<T>> {
    match queue.push(message) {
        Pushed::Grew => {
            step!("message.queued");
            ready.announce();
            None
        }
        Pushed::Overwrote(oldest) => {
            step!("message.overwrote");
            ready.remind();
            Some(oldest)
        }
    }
}

/// Gives `notice`, and tells the worker through `ready`, if there is one yet. Lock-free.
///
/// `ready` is called after the notice is given: a thread that has seen the notice taken sees that
/// the worker was started, and one that looked before might not.
#[inline]
pub fn notify<'a, A: Announce + 'a>(notice: &Notice, ready: impl FnOnce() -> Option<&'a A>) {
    let is_first = notice.give();
    step!("notice.given");
    if let Some(ready) = ready() {
        if is_first {
            ready.announce();
        } else {
            ready.remind();
        }
    }
}

/// The event in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A token was popped: an event of it is pending, unless a straggler's token comes late.
    Announced(u32),
    /// An event of this token is pending, and is dispatched without a token.
    Straggler(u32),
}

impl Turn {
    /// Its token.
    #[inline]
    pub fn token(self) -> u32 {
        match self {
            Self::Announced(token) | Self::Straggler(token) => token,
        }
    }
}

/// The taking side: the ready rings of one worker, and its ready set.
///
/// The `pending` that its methods are given tells how many events of a token are pending, at least:
/// one, if any is. Of a token that the caller does not know yet, it is one.
#[derive(Debug)]
pub struct Inbox {
    set: Arc<ReadySet>,
    rings: Vec<Ring>,
    /// The tokens to which attention was called.
    attention: Arc<ReadySet>,
    /// Where the next look at them starts.
    cursor: usize,
    /// The index is the token.
    tokens: Vec<Token>,
    registrar: Registrar,
    /// Removed tokens that may be in their ring, before a position.
    leaving: Vec<Note>,
}

/// Each pop writes to it, hence the separate cache lines.
#[derive(Debug)]
#[repr(align(64))]
struct Ring {
    consumer: ready::Consumer,
    /// The position up to which tokens were seen.
    seen: u64,
    /// How many tokens lead here.
    tokens: usize,
    /// In the order of their positions; of each token one at most.
    notes: VecDeque<Note>,
}

/// A token, and the position where its ring ended.
#[derive(Clone, Copy, Debug)]
struct Note {
    token: u32,
    until: u64,
}

impl Note {
    /// Whether its ring is popped up to its position.
    #[inline]
    fn is_due(&self, ring: &ready::Consumer) -> bool {
        self.until.wrapping_sub(ring.head()) as i64 <= 0
    }
}

#[derive(Clone, Copy, Debug)]
struct Token {
    /// [`NO_RING`] if the token is free, or not adopted.
    ring: u32,
    /// Whether there is a note of it.
    is_noted: bool,
    /// Since then, how many events were not dispatched of those that were pending.
    left: u32,
}

const NO_RING: u32 = u32::MAX;

impl Token {
    const FREE: Self = Self { ring: NO_RING, is_noted: false, left: 0 };
}

impl Inbox {
    /// An inbox without rings and tokens. Looking for events is fastest among up to `rings` rings
    /// if these are no more than 62; more can be added.
    pub fn with_room(rings: usize, tokens: usize) -> Self {
        let set = Arc::new(ReadySet::new(rings));
        let attention = Arc::new(ReadySet::new(tokens));
        let registrar = Registrar::new(set.clone(), attention.clone());
        let (rings, tokens, leaving) = (Vec::new(), Vec::new(), Vec::new());
        Self { set, rings, attention, cursor: 0, tokens, registrar, leaving }
    }

    /// The registrar that adds rings and tokens, and removes them.
    pub fn registrar(&self) -> Registrar {
        self.registrar.clone()
    }

    /// Adds the lines that an event touches.
    #[cfg(not(ringbuf_loom))]
    pub fn add_to(&self, lines: &mut crate::prefetch::CacheLines) {
        self.set.add_to(lines);
        lines.add(&*self.attention);
        lines.add(&self.rings[..]);
        lines.add(&self.tokens[..]);
        self.rings.iter().for_each(|ring| ring.consumer.add_to(lines));
    }

    /// Takes over rings and tokens that were added, and lets those be used again that were removed
    /// and are in no ring any more. Cheap if there is nothing to do.
    #[inline]
    pub fn adopt(&mut self) {
        if self.registrar.has_news() || !self.leaving.is_empty() {
            self.adopt_changes();
        }
    }

    #[cold]
    fn adopt_changes(&mut self) {
        for news in self.registrar.take_news() {
            match news {
                News::RingAdded(consumer) => {
                    let ring = Ring { consumer, seen: 0, tokens: 0, notes: VecDeque::new() };
                    self.rings.push(ring);
                }
                News::TokenAdded { token, ring } => self.token_added(token, ring),
                News::TokenRemoved(token) => self.token_removed(token),
                News::RingRemoved(ring) => self.ring_removed(ring),
            }
        }
        self.free_tokens();
    }

    fn token_added(&mut self, token: u32, ring: u32) {
        if self.tokens.len() <= token as usize {
            self.tokens.resize(token as usize + 1, Token::FREE);
        }
        self.tokens[token as usize] = Token { ring, ..Token::FREE };
        let Ring { tokens, notes, .. } = &mut self.rings[ring as usize];
        *tokens += 1;
        notes.reserve(tokens.saturating_sub(notes.len()));
    }

    /// Forgets the notes of a token, and notes where its ring ends.
    fn token_removed(&mut self, token: u32) {
        let of = &mut self.tokens[token as usize];
        let ring = &mut self.rings[of.ring as usize];
        if of.is_noted {
            ring.notes.retain(|note| note.token != token);
            of.is_noted = false;
        }
        self.attention.clear(token as usize);
        ring.seen = ring.consumer.end_after(ring.seen);
        self.leaving.push(Note { token, until: ring.seen });
    }

    /// Empties a ring that no thread announces to any more.
    fn ring_removed(&mut self, ring: u32) {
        let Ring { consumer, .. } = &mut self.rings[ring as usize];
        while consumer.pop().is_some() {}
        self.set.clear(ring as usize);
        self.free_tokens();
        assert_eq!(self.rings[ring as usize].tokens, 0, "tokens of the ring are in use");
        self.registrar.free(Freed::Ring(ring));
    }

    /// Lets tokens be used again once their ring is popped up to its end.
    fn free_tokens(&mut self) {
        let Self { rings, tokens, leaving, registrar, .. } = self;
        leaving.retain(|note| {
            let of = &mut tokens[note.token as usize];
            let ring = &mut rings[of.ring as usize];
            let is_popped = note.is_due(&ring.consumer) || omitted!("inbox.wait_until_popped");
            if is_popped {
                ring.tokens -= 1;
                *of = Token::FREE;
                registrar.free(Freed::Token(note.token));
            }
            !is_popped
        });
    }

    #[cfg(all(test, not(ringbuf_loom)))]
    pub(crate) fn attention_is_empty(&self) -> bool {
        self.attention.is_empty()
    }

    /// Whether a token is in use, perhaps after adopting changes.
    fn knows(&mut self, token: u32) -> bool {
        let knows = |inbox: &Self| {
            inbox.tokens.get(token as usize).is_some_and(|token| token.ring != NO_RING)
        };
        if !knows(self) {
            self.adopt_changes();
        }
        knows(self)
    }

    /// The set of ready loops, to wait on.
    #[inline]
    pub fn set(&self) -> &Arc<ReadySet> {
        &self.set
    }

    /// Pops the next token of ring `index`, without a look at stragglers: for a worker that gets
    /// all events from its own thread.
    #[inline]
    pub fn pop(&mut self, index: usize) -> Option<u32> {
        self.rings[index].consumer.pop()
    }

    /// How many rings were adopted.
    pub fn rings(&self) -> usize {
        self.rings.len()
    }

    /// Whether ring `index` has no token.
    #[inline]
    pub fn is_empty(&self, index: usize) -> bool {
        self.rings[index].consumer.is_empty()
    }

    /// How many tokens are in the rings, at least.
    pub fn queued(&self) -> usize {
        self.rings.iter().map(|ring| ring.consumer.len()).sum()
    }

    /// The next event of ring `index`, which is adopted if it is new. Afterwards the caller
    /// dispatches it, and calls [`look_again`](Self::look_again) and [`rest`](Self::rest).
    ///
    /// # Panics
    /// If there is no such ring.
    #[inline]
    pub fn next(&mut self, index: usize, pending: impl Fn(u32) -> usize) -> Option<Turn> {
        if !self.attention.is_empty() {
            self.attend(&pending);
        }
        if index >= self.rings.len() {
            self.adopt_changes();
        }
        let Ring { consumer, notes, .. } = &mut self.rings[index];
        let Some(first) = notes.front() else {
            return consumer.pop().map(Turn::Announced);
        };
        if first.is_due(consumer)
            && let Some(token) = self.straggler(index, &pending)
        {
            return Some(Turn::Straggler(token));
        }
        let token = self.rings[index].consumer.pop()?;
        if let Some(of) = self.tokens.get_mut(token as usize) {
            of.left = of.left.saturating_sub(1);
        }
        Some(Turn::Announced(token))
    }

    /// Notes the pending events of one token to which attention was called.
    #[cold]
    fn attend(&mut self, pending: &impl Fn(u32) -> usize) {
        if let Some(token) = self.attention.next(self.cursor) {
            self.cursor = token + 1;
            self.attention.clear(token);
            // It may have been called because the ring was full.
            self.adopt();
            if self.knows(token as u32) {
                self.note(token as u32, pending(token as u32));
                // The thread that called attention may be suspended before this.
                self.set.mark(self.tokens[token].ring as usize);
            }
        }
    }

    /// Whether [`look_again`](Self::look_again) would do nothing.
    #[inline]
    pub fn is_noted(&self, token: u32) -> bool {
        self.tokens.get(token as usize).is_some_and(|token| token.is_noted)
    }

    /// After a dispatch for `token`, if another event of it is pending: sees to it that it is
    /// dispatched, should no token of it come.
    #[cold]
    pub fn look_again(&mut self, token: u32, pending: impl Fn(u32) -> usize) {
        if !omitted!("inbox.look_again") && !self.is_noted(token) && self.knows(token) {
            self.note(token, pending(token));
        }
    }

    fn note(&mut self, token: u32, pending: usize) {
        let of = &mut self.tokens[token as usize];
        if of.is_noted || pending == 0 {
            return;
        }
        (of.is_noted, of.left) = (true, pending as u32);
        let ring = &mut self.rings[of.ring as usize];
        ring.seen = ring.consumer.end_after(ring.seen);
        ring.notes.push_back(Note { token, until: ring.seen });
    }

    /// The token of an overdue event of ring `index` that no token came for.
    #[cold]
    fn straggler(&mut self, index: usize, pending: &impl Fn(u32) -> usize) -> Option<u32> {
        loop {
            let ring = &mut self.rings[index];
            let &Note { token, .. } =
                ring.notes.front().filter(|note| note.is_due(&ring.consumer))?;
            let pending = pending(token);
            let of = &mut self.tokens[token as usize];
            if of.left > 0 && pending > 0 {
                of.left -= 1;
                return Some(token);
            }
            of.is_noted = false;
            ring.notes.pop_front();
            // More may have arrived since: with tokens, or as stragglers.
            self.note(token, pending);
        }
    }

    /// After a dispatch: takes the mark off ring `index` if nothing is left to do there, unless it
    /// is the only mark. That one stands as long as the worker polls: its publishers need not set
    /// it again.
    #[inline]
    pub fn rest(&self, index: usize) {
        if self.is_idle(index) && self.set.only() != Some(index) {
            self.clear_idle(index);
        }
    }

    /// Whether nothing is left to do: no ring is marked, or the mark stands of one without events.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        match self.set.only() {
            Some(index) => self.is_idle(index),
            None => self.set.is_empty(),
        }
    }

    /// Parks as [`ReadySet::sleep`] does, unless something is left to do.
    pub fn sleep(&self, timeout: Duration) {
        self.clear_standing();
        self.set.sleep(timeout);
    }

    /// Takes off the mark that [stands](self#a-mark-that-stands), for a worker that is to rest.
    pub fn clear_standing(&self) {
        if let Some(index) = self.set.only()
            && self.is_idle(index)
        {
            self.clear_idle(index);
        }
    }

    /// Takes the mark off ring `index`, which was seen to be [idle](Self::is_idle).
    fn clear_idle(&self, index: usize) {
        self.set.clear(index);
        store_load!("inbox.cleared");
        // An event that came in between found the mark still set.
        if !omitted!("inbox.second_look") && !self.is_idle(index) {
            self.set.mark(index);
        }
    }

    #[inline]
    fn is_idle(&self, index: usize) -> bool {
        // A ring that is not adopted has work: for `next`, which adopts it.
        self.rings.get(index).is_some_and(|ring| {
            ring.consumer.is_empty() && ring.notes.is_empty() && self.attention.is_empty()
        })
    }

    /// How many events of ring `index` can be dispatched now, one after the other, at least; notes
    /// first what attention was called to.
    pub fn ready_now(&mut self, index: usize, pending: impl Fn(u32) -> usize) -> usize {
        self.adopt();
        for _ in 0..self.tokens.len() {
            if self.attention.is_empty() {
                break;
            }
            self.attend(&pending);
        }
        let Ring { consumer, notes, .. } = &self.rings[index];
        let due = notes.iter().take_while(|note| note.is_due(consumer));
        let due = due.map(|note| self.tokens[note.token as usize].left as usize);
        due.sum::<usize>() + consumer.len()
    }

    /// Takes the mark off ring `index`, empty or not, until [`mark_all`](Self::mark_all).
    pub fn set_aside(&self, index: usize) {
        self.set.clear(index);
    }

    /// Marks every ring in which something is left to do.
    pub fn mark_all(&mut self) {
        self.adopt();
        store_load!("inbox.cleared");
        let waiting = (0..self.rings.len()).filter(|&index| !self.is_idle(index));
        waiting.for_each(|index| self.set.mark(index));
    }
}
