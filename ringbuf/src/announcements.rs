//! Announced items: how a consumer takes from a source that only says how many items have come.
//!
//! A middleware calls back with a count of new items, and its `take` may yield nothing: the item
//! was overwritten, was meant for another consumer and dropped by the take, or was taken before it
//! was announced. An empty take therefore says nothing about the items behind it. The rules:
//!
//! 1. Each announced item allows one attempt, whether the attempt yields an item or not.
//! 2. After the last announced item, attempts go on until one yields nothing. An item may come in
//!    before one that was announced earlier: attempts then take the new item, and a source that
//!    counts unread items does not announce it, so the older one would stay behind.
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
    /// An item could not be read, and is gone.
    Failed,
    /// Nothing was taken, whatever was announced.
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
    /// Announced items for which there was an attempt.
    handled: u64,
    /// Items that were taken without an announcement since the source was last drained, and in the
    /// time before that. The announcement may be under way, and must not count as missing then.
    early: u64,
    early_before: u64,
}

impl Takes {
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
            // Read before the attempt: a later announcement brings a notice of its own.
            let total = announced.total();
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
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::collections::VecDeque;

    /// Runs a round over `source`; returns it, and whether the notice was passed on.
    fn round(
        takes: &mut Takes,
        announced: &Announcements,
        source: &mut VecDeque<Attempt>,
    ) -> (Round, bool) {
        let is_passed_on = Cell::new(false);
        let take = || source.pop_front().unwrap_or(Attempt::Empty);
        let round = takes.round(announced, || is_passed_on.set(true), take);
        (round, is_passed_on.get())
    }

    fn item() -> Round {
        Round { has_item: true, ..Round::default() }
    }

    fn drained() -> Round {
        Round { is_drained: true, ..Round::default() }
    }

    #[test]
    fn empty_takes_use_up_one_announcement_each() {
        let (mut takes, announced) = (Takes::default(), Announcements::default());
        let mut source = VecDeque::from([Attempt::Empty, Attempt::Empty, Attempt::Item]);
        announced.announce(3, || ());
        let (first, is_passed_on) = round(&mut takes, &announced, &mut source);
        assert_eq!(first, Round { missing: 2, ..item() });
        assert!(is_passed_on, "something may be left until a take is empty");
        assert_eq!(round(&mut takes, &announced, &mut source), (drained(), false));
    }

    #[test]
    fn unannounced_item_is_taken_behind_the_last_announced_one() {
        let (mut takes, announced) = (Takes::default(), Announcements::default());
        let mut source = VecDeque::from([Attempt::Item; 2]);
        announced.announce(1, || ());
        assert_eq!(round(&mut takes, &announced, &mut source), (item(), true));
        assert_eq!(round(&mut takes, &announced, &mut source), (item(), true));
        assert_eq!(round(&mut takes, &announced, &mut source), (drained(), false));
    }

    #[test]
    fn item_announced_after_its_take_is_not_missing() {
        let (mut takes, announced) = (Takes::default(), Announcements::default());
        let mut source = VecDeque::from([Attempt::Item; 2]);
        announced.announce(1, || ());
        for expected in [(item(), true), (item(), true), (drained(), false)] {
            assert_eq!(round(&mut takes, &announced, &mut source), expected);
        }
        announced.announce(1, || ()); // of the second one
        assert_eq!(round(&mut takes, &announced, &mut source), (drained(), false));
        announced.announce(1, || ());
        let missing = Round { missing: 1, ..drained() };
        assert_eq!(round(&mut takes, &announced, &mut source), (missing, false));
    }

    /// Else each item that is never announced would hide one that is overwritten later.
    #[test]
    fn later_loss_is_counted_after_an_unannounced_item() {
        let (mut takes, announced) = (Takes::default(), Announcements::default());
        let mut source = VecDeque::from([Attempt::Item; 2]);
        announced.announce(1, || ());
        for expected in [(item(), true), (item(), true), (drained(), false)] {
            assert_eq!(round(&mut takes, &announced, &mut source), expected);
        }
        source.push_back(Attempt::Item);
        announced.announce(1, || ());
        assert_eq!(round(&mut takes, &announced, &mut source), (item(), true));
        assert_eq!(round(&mut takes, &announced, &mut source), (drained(), false));
        announced.announce(1, || ());
        assert_eq!(round(&mut takes, &announced, &mut source).0.missing, 1);
    }

    #[test]
    fn round_is_bounded_and_passes_the_notice_on() {
        let (mut takes, announced) = (Takes::default(), Announcements::default());
        let attempts = ATTEMPTS_MAX as u64;
        announced.announce(attempts + 1, || ());
        let (first, is_passed_on) = round(&mut takes, &announced, &mut VecDeque::new());
        assert_eq!((first, is_passed_on), (Round { missing: attempts, ..Round::default() }, true));
        let second = round(&mut takes, &announced, &mut VecDeque::new());
        assert_eq!(second, (Round { missing: 1, ..drained() }, false));
    }

    #[test]
    fn queue_and_source_take_turns_while_both_have_items() {
        let (mut takes, announced) = (Takes::default(), Announcements::default());
        let (notice, queue) = (Cell::new(true), Cell::new(2_u32));
        let take_queued = || queue.get().checked_sub(1).inspect(|left| queue.set(*left));
        announced.announce(1, || ());
        assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Queued(1));
        assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Announced);
        let source = &mut VecDeque::from([Attempt::Item]);
        assert_eq!(round(&mut takes, &announced, source), (item(), true));
        notice.set(true);
        assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Queued(0));
        assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Announced);
        assert_eq!(takes.next(|| notice.replace(false), take_queued), Next::Nothing);
    }

    #[test]
    fn failures_end_with_the_announcements() {
        let (mut takes, announced) = (Takes::default(), Announcements::default());
        let failed = Round { failed: 1, ..Round::default() };
        announced.announce(1, || ());
        for is_passed_on in [true, false, false] {
            let source = &mut VecDeque::from([Attempt::Failed]);
            assert_eq!(round(&mut takes, &announced, source), (failed, is_passed_on));
        }
    }

    #[test]
    fn unconnected_source_keeps_its_announcements() {
        let (mut takes, announced) = (Takes::default(), Announcements::default());
        announced.announce(1, || ());
        let waiting = &mut VecDeque::from([Attempt::NotConnected]);
        assert_eq!(round(&mut takes, &announced, waiting), (Round::default(), false));
        let missing = Round { missing: 1, ..drained() };
        assert_eq!(round(&mut takes, &announced, &mut VecDeque::new()), (missing, false));
    }
}
