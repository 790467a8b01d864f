//! Announced items: how a consumer takes from a source that only tells the number of arrived items.
//!
//! A middleware calls back with a count of new items, and its `take` may yield nothing: the item
//! was overwritten, was meant for another consumer and dropped by the take, or was taken before it
//! was announced. An empty take therefore says nothing about the items behind it. The rules:
//!
//! 1. Each announced item allows one attempt, whether the attempt yields an item or not.
//! 2. After the last announced item, attempts continue until one yields nothing. An item may come
//!    in before one that was announced earlier: attempts then take the new item, and a source that
//!    counts unread items does not announce it, so the older one would stay behind.
//! 3. A source that keeps the newest `n` items has overwritten every announced item beyond `n`.
//!    Those allow no attempt: a consumer that is behind for ever never sees an empty take.
//!
//! The consumer is told to come by a [`Notice`](crate::Notice), which it takes before it starts a
//! [round](Takes::round), and gives again ("passes on") while anything may be left.

use crate::sync::{AtomicU64, omitted, order};

/// Attempts without an item in one round; then others have their turn. Two in the models, so that
/// they reach the limit.
const ATTEMPTS_MAX: usize = if cfg!(ringbuf_loom) { 2 } else { 32 };

/// The number of items that were announced, by any threads.
#[derive(Debug, Default)]
pub struct Announcements(AtomicU64);

impl Announcements {
    /// Announces `count` items, then calls `notify`, which gives the notice of the consumer and so
    /// orders the count. Wait-free, apart from `notify`.
    #[inline]
    pub fn announce(&self, count: u64, notify: impl FnOnce()) {
        self.0.fetch_add(count, order!(Relaxed, "announcements"));
        notify();
    }

    fn total(&self) -> u64 {
        self.0.load(order!(Relaxed, "announcements"))
    }
}

/// The outcome of an attempt to take an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// An item was taken, and is to be delivered.
    Item,
    /// An item was taken that needs no delivery, such as a response that came too late.
    Dropped,
    /// An item could not be read, and is lost.
    Failed,
    /// Nothing was taken, even if items were announced.
    Empty,
    /// The source is not connected yet. It gives the notice when it is.
    NotConnected,
}

/// The outcome of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Whether there is an item to deliver. It ends the round.
    pub has_item: bool,
    /// Announced items that were not there, and had not been taken earlier.
    pub missing: u64,
    /// Items that could not be read.
    pub failed: u64,
    /// Whether nothing is left: the next item brings a notice.
    pub is_drained: bool,
}

/// The place of the next item of a consumer with a queue besides the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// An item of the queue.
    Queued(T),
    /// The notice was taken; the caller runs a [round](Takes::round).
    Announced,
    /// Neither has an item: an earlier token led to the item of this one.
    Nothing,
}

/// The consumer's side: the attempts that it has made.
#[derive(Debug, Default)]
pub struct Takes {
    /// Whether the source is preferred to the queue.
    has_turn: bool,
    /// Limit of the items that the source holds, if it overwrites older ones beyond that.
    held_max: Option<u64>,
    /// Announced items for which there was an attempt.
    handled: u64,
    /// Items that were taken without an announcement since the source was last drained, and in the
    /// time before that. The announcement may be under way, and must not count as missing then.
    early: u64,
    early_before: u64,
}

impl Takes {
    /// The attempts at a source that holds the newest `held_max` items.
    pub fn of_newest(held_max: usize) -> Self {
        Self { held_max: Some(held_max as u64), ..Self::default() }
    }

    /// Chooses between the queue of the consumer and the source: in turns, if both have items. One
    /// token leads to one item of either.
    ///
    /// The source has an item if `take_notice` takes the notice.
    #[inline]
    pub fn next<T>(
        &mut self,
        take_notice: impl Fn() -> bool,
        take_queued: impl FnOnce() -> Option<T>,
    ) -> Next<T> {
        if self.has_turn && take_notice() {
            return Next::Announced;
        }
        if let Some(item) = take_queued() {
            self.has_turn = true;
            return Next::Queued(item);
        }
        // A notice that is taken uses up the token: no further look at the queue.
        if take_notice() { Next::Announced } else { Next::Nothing }
    }

    /// Takes items until there is one to deliver, or nothing is left. The caller has taken the
    /// notice; `pass_on` gives it again if anything may be left, also when `take` panics.
    ///
    /// `take` runs at most 32 times. A panic and a failure use up an announcement, so that a source
    /// that fails for ever does not keep the consumer busy.
    pub fn round(
        &mut self,
        announced: &Announcements,
        pass_on: impl Fn(),
        mut take: impl FnMut() -> Attempt,
    ) -> Round {
        self.has_turn = false;
        let mut round = Round::default();
        let mut rest = Rest { pass_on, is_left: false };
        for _ in 0..ATTEMPTS_MAX {
            // Read before the attempt: a later announcement brings another notice.
            let total = announced.total();
            round.missing += self.skip_overwritten(total);
            let is_announced = self.handled < total;
            rest.is_left = is_announced;
            self.handled += u64::from(is_announced);
            match take() {
                Attempt::Item => {
                    self.early += u64::from(!is_announced);
                    rest.is_left = self.handled < total || !omitted!("announcements.last_attempt");
                    round.has_item = true;
                    return round;
                }
                Attempt::Dropped => self.early += u64::from(!is_announced),
                Attempt::Failed => {
                    round.failed += 1;
                    return round;
                }
                Attempt::Empty if is_announced => {
                    round.missing += u64::from(!self.was_early());
                    if omitted!("announcements.keep_rest") {
                        self.handled = total;
                    }
                }
                Attempt::Empty => {
                    self.early_before = std::mem::take(&mut self.early);
                    round.is_drained = true;
                    return round;
                }
                Attempt::NotConnected => {
                    self.handled -= u64::from(is_announced);
                    rest.is_left = false;
                    return round;
                }
            }
        }
        rest.is_left = !omitted!("announcements.pass_on_at_limit");
        round
    }

    /// Whether every item that was taken had been announced, up to the last but one time that the
    /// source was drained.
    pub fn are_all_announced(&self) -> bool {
        self.early + self.early_before == 0
    }

    /// Skips the oldest of `total` announced items, for which the source has no room; returns their
    /// number.
    fn skip_overwritten(&mut self, total: u64) -> u64 {
        let Some(held_max) = self.held_max else { return 0 };
        let room = held_max + self.early + self.early_before;
        let overwritten = (total - self.handled).saturating_sub(room);
        self.handled += overwritten;
        overwritten
    }

    /// Whether an announced item that is not there was taken earlier.
    fn was_early(&mut self) -> bool {
        let early = [&mut self.early_before, &mut self.early].into_iter().find(|early| **early > 0);
        early.map(|early| *early -= 1).is_some()
    }
}

/// Passes the notice on when it is dropped, if anything is left.
struct Rest<F: Fn()> {
    pass_on: F,
    is_left: bool,
}

impl<F: Fn()> Drop for Rest<F> {
    fn drop(&mut self) {
        if self.is_left {
            (self.pass_on)();
        }
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
