//! Words that several threads share: counters for statistics, flags, times, notices, requests,
//! latest numbers and permits.
//!
//! Each type says which threads write it: any, or one owner with plain stores. Numbers with which
//! no other data goes are relaxed. A flag, a notice, a settled request and a released permit stand
//! for earlier work, so their writers release and their readers acquire. The types have few
//! methods, and callers choose no ordering: each ordering is written here once, with its name and
//! its partner, and the models in `loom-tests` show that a weaker one fails. Bare atomics in the
//! other members would put that decision into a hundred places that no model sees.

use crate::sync::{AtomicU32, AtomicU64, order};
#[cfg(feature = "std")]
use crate::sync::{store_load, total_order};

/// A 64-bit counter that any thread may read.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one and returns the value before. Wait-free; safe from any number of threads.
    #[inline]
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, order!(Relaxed, "counter"))
    }

    /// Adds `n`. Wait-free; safe from any number of threads.
    #[inline]
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, order!(Relaxed, "counter"));
    }

    /// Adds one: something has happened, of which the reader of [`happened`](Self::happened) is to
    /// see all that came before. Wait-free; safe from any number of threads.
    #[inline]
    pub fn happen(&self) {
        // "counter.happen": pairs with "counter.happened".
        self.0.fetch_add(1, order!(Release, "counter.happen"));
    }

    /// How often it [happened](Self::happen). Sees the work before each of these times.
    #[inline]
    pub fn happened(&self) -> u64 {
        self.0.load(order!(Acquire, "counter.happened"))
    }

    /// Adds `n`, with a plain load and store: only one thread may write this counter.
    #[inline]
    pub fn add_by_owner(&self, n: u64) {
        self.set(self.get() + n);
    }

    /// Sets the value; only one thread may write this counter.
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, order!(Relaxed, "counter"));
    }

    /// The value; it may be out of date.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(order!(Relaxed, "counter"))
    }
}

/// A flag that is raised once, for instance to ask threads to stop.
#[derive(Debug, Default)]
pub struct Flag(AtomicU32);

impl Flag {
    /// Raises the flag.
    #[inline]
    pub fn raise(&self) {
        self.0.store(1, order!(Release, "flag.raise"));
    }

    /// Raises the flag before this thread looks at another one: of two threads that each announce
    /// theirs and then look whether the other's [is up](Self::is_announced), one at least sees it.
    #[cfg(feature = "std")]
    #[inline]
    pub fn announce(&self) {
        // "flag.announce": pairs with "flag.look" of the other thread.
        self.0.store(1, total_order!(Release, "flag.announce"));
        store_load!("flag.announced");
    }

    /// Whether the flag is up, after this thread has [announced](Self::announce) its own. Sees the
    /// earlier work of the raiser.
    #[cfg(feature = "std")]
    #[inline]
    pub fn is_announced(&self) -> bool {
        self.0.load(total_order!(Acquire, "flag.look")) != 0
    }

    /// Lowers the flag, for the next use.
    #[inline]
    pub fn lower(&self) {
        self.0.store(0, order!(Relaxed, "flag.lower"));
    }

    /// Whether the flag is up. Sees the earlier work of the raiser.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(order!(Acquire, "flag.read")) != 0
    }
}

/// A time that one thread at a time sets, and that does not exist before it is set.
#[derive(Debug, Default)]
pub struct FollowedTime {
    now: Counter,
    begun_at: Counter,
    has_begun: Flag,
}

impl FollowedTime {
    /// Sets the time, in nanoseconds; only one thread at a time may do so.
    pub fn set(&self, time_ns: u64) {
        self.now.set(time_ns);
        if !self.has_begun.is_raised() {
            self.begun_at.set(time_ns);
            self.has_begun.raise();
        }
    }

    /// The time in nanoseconds, may be out of date; `None` before it is set. A thread that sees a
    /// time sees [`begun_at`](Self::begun_at), too.
    #[inline]
    pub fn now(&self) -> Option<u64> {
        self.has_begun.is_raised().then(|| self.now.get())
    }

    /// Moves the beginning to the time that was set last, if there is one; only the thread that
    /// sets the time may do so. Other threads need another sign to see the new beginning.
    pub fn begin_again(&self) {
        self.begun_at.set(self.now.get());
    }

    /// The first time that was set, in nanoseconds, or that of [`begin_again`](Self::begin_again).
    pub fn begun_at(&self) -> Option<u64> {
        self.has_begun.is_raised().then(|| self.begun_at.get())
    }
}

/// A notice that is passed on once, however often it is given before it is taken.
///
/// A thread that gives it while it is not given has to make sure that the taker comes, for which
/// [`inbox::notify`](crate::inbox::notify) cares. The taker sees the earlier work of any giver, and
/// that giver sees the work of the taker before its take.
#[derive(Debug)]
pub struct Notice(AtomicU32);

impl Notice {
    /// A notice that is given already.
    pub fn given() -> Self {
        Self(AtomicU32::new(1))
    }

    /// Gives the notice. True if it was not given yet: then the taker has to be told. Wait-free.
    #[inline]
    pub fn give(&self) -> bool {
        // "notice.give": pairs with "notice.take". An exchange even if it is given already: this
        // giver's work, too, has to reach the taker. And it learns from the last take that the
        // taker was started, and the thread to tell.
        self.0.swap(1, order!(AcqRel, "notice.give")) == 0
    }

    /// Whether the notice is given; the answer may be out of date.
    #[inline]
    pub fn is_given(&self) -> bool {
        // "notice.glance": only a hint; "notice.take" acquires.
        self.0.load(order!(Relaxed, "notice.glance")) == 1
    }

    /// Takes the notice, if it is given. Only afterwards may the taker look for work. Wait-free.
    #[inline]
    pub fn take(&self) -> bool {
        // "notice.take": pairs with every "notice.give" since the last take, and with the next one.
        self.0.swap(0, order!(AcqRel, "notice.take")) == 1
    }
}

/// A request of which only the latest counts: a number that any thread posts, and one serves.
///
/// The server reads the number, handles it, and only then settles it. So a thread that finds
/// nothing posted sees the effects of the last request.
#[derive(Debug)]
pub struct Request(AtomicU64);

/// Nothing is posted.
const NONE: u64 = u64::MAX;

impl Default for Request {
    fn default() -> Self {
        Self(AtomicU64::new(NONE))
    }
}

impl Request {
    /// Posts `value`, below `u64::MAX`, in place of the posted one. Wait-free. Nothing tells the
    /// server: a [`Notice`] does.
    #[inline]
    pub fn post(&self, value: u64) {
        debug_assert_ne!(value, NONE);
        // "request": no other data goes with the number. An exchange, so that it comes before a
        // settlement, which then fails, or after it.
        self.0.swap(value, order!(Relaxed, "request"));
    }

    /// Posts `value` as [`post`](Self::post) does, unless something is posted.
    pub fn post_if_none(&self, value: u64) {
        let relaxed = || order!(Relaxed, "request");
        let _ = self.0.compare_exchange(NONE, value, relaxed(), relaxed());
    }

    /// Posts `value` as [`post`](Self::post) does, unless a lower number is posted. Lock-free.
    pub fn post_min(&self, value: u64) {
        debug_assert_ne!(value, NONE);
        // Nothing posted is the highest number of all. An exchange in any case, as above.
        self.0.fetch_min(value, order!(Relaxed, "request"));
    }

    /// The request that is posted and not settled. Wait-free.
    #[inline]
    pub fn posted(&self) -> Option<u64> {
        // "request.posted": pairs with "request.settle".
        let value = self.0.load(order!(Acquire, "request.posted"));
        (value != NONE).then_some(value)
    }

    /// The server has done what `value` asks; false if another one was posted meanwhile.
    #[inline]
    pub fn settle(&self, value: u64) -> bool {
        // "request.settle": pairs with "request.posted".
        let (success, failure) = (order!(Release, "request.settle"), order!(Relaxed, "request"));
        self.0.compare_exchange(value, NONE, success, failure).is_ok()
    }
}

/// The greatest of several numbers, with a mark that the next one takes away: the time of the last
/// sign of life, say, and whether it has been found too old.
///
/// Number and mark are one word. So a thread that marks a number has seen the greatest one, or the
/// thread with the greater one finds the mark.
#[derive(Debug, Default)]
pub struct Latest(AtomicU64);

/// The lowest bit of a [`Latest`].
const MARK: u64 = 1;

impl Latest {
    /// The greatest number that is kept; greater ones count as this one.
    pub const MAX: u64 = u64::MAX >> 1;

    /// Raises the number to `value`, unless it is greater already, and takes the mark away. True if
    /// it was marked. Lock-free.
    #[inline]
    pub fn raise(&self, value: u64) -> bool {
        let value = value.min(Self::MAX) << 1;
        // "latest": no other data goes with the word.
        let raise = |word: u64| {
            let raised = value.max(word & !MARK);
            (raised != word).then_some(raised)
        };
        let relaxed = || order!(Relaxed, "latest");
        let before = self.0.fetch_update(relaxed(), relaxed(), raise);
        before.is_ok_and(|word| word & MARK != 0)
    }

    /// The greatest number so far; zero if there is none. Wait-free.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(order!(Relaxed, "latest")) >> 1
    }

    /// Marks the number, if it is still `value`; false if it is greater by now. Wait-free.
    pub fn mark(&self, value: u64) -> bool {
        let (found, relaxed) = (value << 1, || order!(Relaxed, "latest"));
        match self.0.compare_exchange(found, found | MARK, relaxed(), relaxed()) {
            Ok(_) => true,
            Err(other) => other == found | MARK,
        }
    }
}

/// A bounded number of permits, such as the free places of a queue.
#[derive(Debug)]
pub struct Permits(AtomicU32);

impl Permits {
    /// Starts with `permits` available.
    pub fn new(permits: u32) -> Self {
        Self(AtomicU32::new(permits))
    }

    /// Takes a permit if one is left. Lock-free.
    #[inline]
    pub fn try_acquire(&self) -> bool {
        let take = |left: u32| left.checked_sub(1);
        // "permits.acquire": pairs with "permits.release"; the place behind the permit is free.
        let (success, failure) = (order!(Acquire, "permits.acquire"), order!(Relaxed, "permits"));
        self.0.fetch_update(success, failure, take).is_ok()
    }

    /// Puts a permit back. Wait-free.
    #[inline]
    pub fn release(&self) {
        self.0.fetch_add(1, order!(Release, "permits.release"));
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;

    #[test]
    fn permits_run_out_and_are_released() {
        let permits = Permits::new(2);
        assert!(permits.try_acquire() && permits.try_acquire() && !permits.try_acquire());
        permits.release();
        assert!(permits.try_acquire());
    }

    #[test]
    fn only_the_latest_request_counts() {
        let request = Request::default();
        assert_eq!(request.posted(), None);
        request.post(1);
        request.post(2);
        request.post_if_none(3);
        assert_eq!(request.posted(), Some(2));
        assert!(!request.settle(1) && request.settle(2));
        request.post_if_none(4);
        assert_eq!(request.posted(), Some(4));
    }

    #[test]
    fn greater_number_takes_the_mark_away() {
        let latest = Latest::default();
        assert!(latest.mark(0) && latest.mark(0));
        assert!(latest.raise(5) && !latest.raise(3) && !latest.raise(5));
        assert_eq!(latest.get(), 5);
        assert!(!latest.mark(3) && latest.mark(5));
        assert_eq!(latest.get(), 5);
        assert!(latest.raise(5), "also a sign of the same moment");
        assert!(!latest.raise(u64::MAX));
        assert_eq!(latest.get(), Latest::MAX);
    }

    #[test]
    fn a_notice_is_passed_on_once_until_it_is_taken() {
        let notice = Notice::given();
        assert!(!notice.give(), "it was given from the start");
        assert!(notice.take() && !notice.take());
        assert!(notice.give() && !notice.give());
        assert!(notice.take());
    }

    #[test]
    fn counters_count_and_flags_keep_their_state() {
        let counter = Counter::default();
        assert_eq!((counter.next(), counter.next()), (0, 1));
        counter.add_by_owner(3);
        assert_eq!(counter.get(), 5);
        let flag = Flag::default();
        assert!(!flag.is_raised());
        flag.raise();
        assert!(flag.is_raised());
        flag.lower();
        assert!(!flag.is_raised());
    }
}
