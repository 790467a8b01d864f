//! The domain of the process, and the part of each thread in it.

use super::{Domain, Slot};
use crate::drops::swallow_panic;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;

static DOMAIN: Domain = Domain::new();

/// A [`Pin`], among the reasons why a thread is online.
const PIN: u64 = 1;
/// A [`Reading`]. Pins that are leaked do not count up to it within the life of a process.
const READING: u64 = 1 << 56;
const READINGS_MAX: u64 = u64::MAX >> 56;

thread_local! {
    /// Has no destructor, so that destructors of other thread-local values may pin.
    static LOCAL: Local = const {
        Local { reasons: Cell::new(0), ends: Cell::new(false), slot: Cell::new(None) }
    };
    static AT_EXIT: AtExit = const { AtExit };
}

struct Local {
    /// The pins and readings of this thread, which is online as long as there are any.
    reasons: Cell<u64>,
    /// Whether the thread gives its slot back each time it goes offline, because it ends.
    ends: Cell<bool>,
    /// The place in the domain, from the first pin or reading on; a box.
    slot: Cell<Option<NonNull<Slot<&'static Domain>>>>,
}

/// Gives the thread's slot back when the thread ends.
struct AtExit;

impl Drop for AtExit {
    fn drop(&mut self) {
        LOCAL.with(|local| {
            local.ends.set(true);
            if local.reasons.get() == 0 {
                local.give_back();
            }
        });
    }
}

impl Local {
    #[inline]
    fn add(&self, reason: u64) {
        let before = self.reasons.get();
        self.reasons.set(before + reason);
        if before == 0 {
            self.go_online();
        }
    }

    #[inline]
    fn remove(&self, reason: u64) {
        let left = self.reasons.get() - reason;
        self.reasons.set(left);
        if left == 0 {
            self.go_offline();
        }
    }

    #[inline]
    fn slot(&self) -> Option<&Slot<&'static Domain>> {
        // SAFETY: only `give_back` frees it, which no caller calls while it has the reference.
        self.slot.get().map(|slot| unsafe { slot.as_ref() })
    }

    #[inline]
    fn go_online(&self) {
        match self.slot() {
            Some(slot) => slot.online(),
            None => self.join(),
        }
    }

    /// Goes online for the first time.
    #[cold]
    fn join(&self) {
        // While the thread ends, it may be too late: then `ends` is set.
        let _ = AT_EXIT.try_with(|_| ());
        let slot = Box::leak(Box::new(Slot::new(&DOMAIN)));
        slot.online();
        self.slot.set(Some(NonNull::from(slot)));
    }

    #[inline]
    fn go_offline(&self) {
        if let Some(slot) = self.slot() {
            slot.offline();
        }
        if self.ends.get() || DOMAIN.has_garbage() {
            self.tidy_up();
        }
    }

    /// Runs garbage, which may pin.
    #[cold]
    fn tidy_up(&self) {
        if self.ends.get() {
            self.give_back();
        }
        if std::thread::panicking() {
            swallow_panic(collect);
        } else {
            collect();
        }
    }

    fn give_back(&self) {
        if let Some(slot) = self.slot.take() {
            // SAFETY: it came from a box, and nothing refers to it.
            drop(unsafe { Box::from_raw(slot.as_ptr()) });
        }
    }
}

/// A thread that runs a worker, until this is dropped: its reads cost no announcement, and what it
/// may read is kept until it [passes](Self::pass) a quiescent point.
///
/// It has to pass or [pause](Self::pause) now and then, else memory grows with every change in the
/// process. When it is dropped, garbage that is due runs, as in [`collect`].
#[derive(Debug)]
pub struct Reading {
    /// The version of the last pass.
    seen: u64,
    of_this_thread: PhantomData<*const ()>,
}

/// Makes this thread a reader, as long as it runs a worker. If it is one already, the new one
/// announces nothing: [`pass`](Reading::pass) only reports changes.
///
/// # Panics
/// If 255 others of this thread were not dropped.
#[must_use]
pub fn enter() -> Reading {
    LOCAL.with(|local| {
        let readings = local.reasons.get() / READING;
        assert!(readings < READINGS_MAX, "a thread enters {READINGS_MAX} times at most");
        local.add(READING);
    });
    Reading { seen: 0, of_this_thread: PhantomData }
}

impl Reading {
    /// Marks a quiescent point. True if anything changed in the process since the last call, which
    /// includes the first call of all; then garbage that is due runs, as in [`collect`].
    ///
    /// A thread that holds a [`Pin`] does not announce the point, and the next call reports the
    /// change once more.
    #[inline]
    pub fn pass(&mut self) -> bool {
        let version = DOMAIN.version();
        if version == self.seen {
            return false;
        }
        self.changed(version);
        true
    }

    #[cold]
    fn changed(&mut self, version: u64) {
        LOCAL.with(|local| {
            let reasons = local.reasons.get();
            if reasons % READING == 0 {
                self.seen = version;
            }
            // No pin, and no reading around this one.
            if reasons == READING
                && let Some(slot) = local.slot()
            {
                slot.pass(version);
            }
        });
        collect();
    }

    /// Runs `f`, in which this thread reads nothing, so that nothing waits for it: for parking.
    /// `f` may still [`pin`], as on any other thread. Garbage that is due runs before, as in
    /// [`collect`].
    pub fn pause<R>(&mut self, f: impl FnOnce() -> R) -> R {
        struct Resume;
        impl Drop for Resume {
            fn drop(&mut self) {
                LOCAL.with(|local| local.add(READING));
            }
        }
        let _resume = Resume;
        LOCAL.with(|local| local.remove(READING));
        f()
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        LOCAL.with(|local| local.remove(READING));
    }
}

/// Keeps what this thread reads from being dropped, until this is dropped.
///
/// On a thread outside [`enter`], garbage that is due then runs, as in [`collect`].
#[derive(Debug)]
pub struct Pin {
    of_this_thread: PhantomData<*const ()>,
}

/// Lets this thread read [`Published`](super::Published) values. Costs a count within [`enter`] and
/// within another pin, else two stores in the order that all threads agree on. The first call of a
/// thread outside them allocates. Valid in destructors of thread-local values, too.
#[inline]
#[must_use]
pub fn pin() -> Pin {
    LOCAL.with(|local| local.add(PIN));
    Pin { of_this_thread: PhantomData }
}

impl Drop for Pin {
    #[inline]
    fn drop(&mut self) {
        LOCAL.with(|local| local.remove(PIN));
    }
}

/// Lets the next [`pass`](Reading::pass) of every worker in the process return true. Does not wake
/// a worker that sleeps.
pub fn announce() {
    DOMAIN.announce();
}

/// Runs `garbage` once no thread can hold a reference that it got before this call: after an
/// exchange that made the old value unreachable. [Announces](announce) a change as well.
///
/// It runs on any thread, in a [`collect`], with no lock held. It may publish, retire and pin; a
/// panic of it goes on in the caller of that `collect`.
pub fn retire(garbage: impl FnOnce() + Send + 'static) {
    DOMAIN.retire(Box::new(garbage));
}

/// Runs the garbage that is due; a load if none waits.
///
/// Every worker calls it when it finds a change, pauses or ends, and so does a [`Pin`] of another
/// thread when it ends. A thread that retires calls it when it holds no lock that garbage may need,
/// since it may be that no worker runs.
///
/// # Panics
/// If garbage does; the rest of it waits for the next call. Where a [`Reading`] or [`Pin`] ends
/// while its thread unwinds, the panic is caught.
pub fn collect() {
    DOMAIN.collect();
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::{DOMAIN, announce, collect, enter, pin, retire};
    use crate::counter::{Counter, Flag};
    use crate::reclaim::Published;
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
    use std::thread::{scope, spawn};

    /// The tests share the domain of the process, so they take turns.
    fn turn() -> MutexGuard<'static, ()> {
        static TURN: Mutex<()> = Mutex::new(());
        TURN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Garbage that counts its runs.
    fn garbage(runs: &Arc<Counter>) -> impl FnOnce() + Send + 'static {
        let runs = runs.clone();
        move || {
            runs.next();
        }
    }

    fn retired() -> Arc<Counter> {
        let runs = Arc::default();
        retire(garbage(&runs));
        runs
    }

    fn has_run(runs: &Counter) -> bool {
        collect();
        runs.get() == 1
    }

    /// More threads than end meanwhile, because their tests were before this one.
    const THREADS: usize = 30;

    /// The slots of all threads, fewer each time that a thread of an earlier test ends.
    fn slots() -> usize {
        DOMAIN.lock().slots.len()
    }

    #[test]
    fn garbage_without_readers_runs_at_once() {
        let _turn = turn();
        assert!(has_run(&retired()));
    }

    #[test]
    fn garbage_waits_for_the_next_pass() {
        let _turn = turn();
        let mut reading = enter();
        assert!(reading.pass() && !reading.pass());
        let runs = retired();
        assert!(!has_run(&runs));
        assert!(reading.pass() && !reading.pass());
        assert_eq!(runs.get(), 1, "the pass runs what is due");
    }

    #[test]
    fn announcement_is_reported_once_to_every_worker() {
        let _turn = turn();
        let [step, both] = [1, 2].map(|_| Barrier::new(3));
        scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut reading = enter();
                    assert!(reading.pass() && !reading.pass());
                    both.wait();
                    step.wait();
                    assert!(reading.pass() && !reading.pass());
                });
            }
            both.wait();
            announce();
            step.wait();
        });
    }

    #[test]
    fn pass_within_a_pin_announces_nothing() {
        let _turn = turn();
        let value = Published::new(Arc::new(7));
        let mut reading = enter();
        reading.pass();
        let pin = pin();
        let before = value.get(&pin);
        value.replace(Arc::new(8));
        assert!(reading.pass() && reading.pass());
        assert_eq!((**before, Arc::strong_count(before)), (7, 1));
        let kept = before.clone();
        drop(pin);
        assert!(reading.pass() && !reading.pass());
        assert_eq!(Arc::strong_count(&kept), 1, "the old value is dropped");
    }

    #[test]
    fn nested_reading_reports_changes_and_announces_nothing() {
        let _turn = turn();
        let mut outer = enter();
        outer.pass();
        let mut inner = enter();
        inner.pass();
        let runs = retired();
        assert!(inner.pass() && !inner.pass());
        assert!(!has_run(&runs));
        drop(inner);
        assert!(!has_run(&runs));
        assert!(outer.pass());
        assert!(has_run(&runs));
    }

    #[test]
    fn nested_reading_within_a_pause_announces() {
        let _turn = turn();
        let mut outer = enter();
        outer.pause(|| {
            let mut inner = enter();
            let runs = retired();
            assert!(!has_run(&runs));
            assert!(inner.pass());
            assert!(has_run(&runs));
        });
    }

    #[test]
    fn garbage_does_not_wait_for_a_paused_thread() {
        let _turn = turn();
        let mut reading = enter();
        reading.pass();
        let runs = retired();
        assert!(!has_run(&runs));
        reading.pause(|| assert_eq!(runs.get(), 1, "the pause runs what is due"));
        reading.pause(|| assert!(has_run(&retired())));
        assert!(reading.pass(), "changes during a pause are reported");
        assert!(!has_run(&retired()), "the thread reads again");
    }

    #[test]
    fn pin_within_a_pause_and_beyond_holds_garbage() {
        let _turn = turn();
        let mut reading = enter();
        let (pin, runs) = reading.pause(|| (pin(), retired()));
        assert!(!has_run(&runs));
        drop(reading);
        assert!(!has_run(&runs));
        drop(pin);
        assert_eq!(runs.get(), 1);
    }

    #[test]
    fn pause_that_panics_leaves_the_thread_reading() {
        let _turn = turn();
        let mut reading = enter();
        reading.pass();
        let paused = catch_unwind(AssertUnwindSafe(|| reading.pause(|| panic!("in the pause"))));
        assert!(paused.is_err());
        let runs = retired();
        assert!(!has_run(&runs));
        reading.pass();
        assert!(has_run(&runs));
    }

    #[test]
    fn pins_outside_a_reading_hold_garbage_until_the_last_ends() {
        let _turn = turn();
        let pins = [pin(), pin()];
        let runs = retired();
        assert!(!has_run(&runs));
        let [first, last] = pins;
        drop(first);
        assert!(!has_run(&runs));
        drop(last);
        assert_eq!(runs.get(), 1, "the end of the pin runs what is due");
    }

    #[test]
    fn garbage_retires_and_collects_more_garbage() {
        let _turn = turn();
        let runs = Arc::new(Counter::default());
        let (inner, innermost) = (runs.clone(), garbage(&runs));
        retire(move || {
            let _pin = pin();
            inner.next();
            retire(innermost);
            collect();
            assert_eq!(inner.get(), 1, "its own pin holds it");
        });
        collect();
        assert_eq!(runs.get(), 2);
    }

    #[test]
    fn end_of_the_last_reading_runs_garbage_of_garbage() {
        let _turn = turn();
        let reading = enter();
        let runs = Arc::new(Counter::default());
        let inner = garbage(&runs);
        retire(move || retire(inner));
        collect();
        assert_eq!(runs.get(), 0);
        drop(reading);
        assert_eq!(runs.get(), 1);
    }

    #[test]
    fn panic_of_garbage_leaves_the_rest_to_the_next_call() {
        let _turn = turn();
        retire(|| panic!("in garbage"));
        let runs = retired();
        assert!(catch_unwind(collect).is_err());
        assert_eq!(runs.get(), 0);
        assert!(has_run(&runs));
    }

    #[test]
    fn panic_of_garbage_in_an_unwinding_thread_is_caught() {
        let _turn = turn();
        let unwound = catch_unwind(|| {
            let _pin = pin();
            retire(|| panic!("in garbage"));
            panic!("the first panic");
        });
        assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"the first panic"));
    }

    #[test]
    fn pin_is_valid_in_destructors_of_thread_local_values() {
        /// Reads and retires when the thread ends.
        struct AtExit(Arc<Published<u32>>, Arc<Counter>);

        impl Drop for AtExit {
            fn drop(&mut self) {
                let pin = pin();
                assert_eq!(*self.0.get(&pin), 7);
                retire(garbage(&self.1));
                drop(pin);
                let mut reading = enter();
                assert!(reading.pass());
                self.1.next();
            }
        }

        thread_local! {
            static EARLY: RefCell<Option<AtExit>> = const { RefCell::new(None) };
            static LATE: RefCell<Option<AtExit>> = const { RefCell::new(None) };
        }

        let _turn = turn();
        let slots = slots();
        let value = Arc::new(Published::new(7));
        let runs = Arc::new(Counter::default());
        for _ in 0..THREADS {
            let at_exit = || AtExit(value.clone(), runs.clone());
            let values = [at_exit(), at_exit()];
            let thread = spawn(move || {
                let [early, late] = values;
                // Destructors run in the order of first use, or in its reverse: one of them runs
                // after that of the reclamation.
                EARLY.set(Some(early));
                drop(pin());
                LATE.set(Some(late));
            });
            thread.join().unwrap();
        }
        collect();
        assert_eq!(runs.get(), 4 * THREADS as u64);
        assert!(self::slots() <= slots, "the threads gave their slots back");
    }

    #[test]
    fn threads_that_ended_leave_no_slots() {
        let _turn = turn();
        let slots = slots();
        for _ in 0..THREADS {
            spawn(|| drop(enter())).join().unwrap();
            spawn(|| drop(pin())).join().unwrap();
        }
        assert!(self::slots() <= slots);
    }

    /// A value that knows whether it was dropped.
    struct Value {
        number: usize,
        is_dropped: Flag,
        dropped: Arc<Counter>,
    }

    impl Drop for Value {
        fn drop(&mut self) {
            self.is_dropped.raise();
            self.dropped.next();
        }
    }

    /// Workers that pass, a thread that pins, and two that replace: no value is dropped while it is
    /// read, numbers never go back, and every value is dropped once.
    #[test]
    fn readers_see_living_values_while_others_replace_them() {
        const REPLACED: usize = if cfg!(miri) { 40 } else { 20_000 };
        let _turn = turn();
        let dropped = Arc::new(Counter::default());
        let value =
            |number| Value { number, is_dropped: Flag::default(), dropped: dropped.clone() };
        let published = Published::new(value(0));
        let finished = Counter::default();
        let read = |last: &mut usize| {
            let pin = pin();
            let value = published.get(&pin);
            assert!(!value.is_dropped.is_raised());
            // Two writers: numbers of one of them never go back.
            let number = value.number;
            assert!(number % 2 != *last % 2 || number >= *last);
            *last = number;
        };
        scope(|scope| {
            for writer in 0..2 {
                let (value, published, finished) = (&value, &published, &finished);
                scope.spawn(move || {
                    for n in 1..=REPLACED {
                        published.replace(value(2 * n + writer));
                        if n % 8 == 0 {
                            collect();
                        }
                    }
                    finished.next();
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut reading = enter();
                    let mut last = 0;
                    while finished.get() < 2 {
                        (0..10).for_each(|_| read(&mut last));
                        reading.pass();
                        if last % 64 == 0 {
                            reading.pause(std::thread::yield_now);
                        }
                    }
                });
            }
            scope.spawn(|| {
                let mut last = 0;
                while finished.get() < 2 {
                    read(&mut last);
                }
            });
        });
        drop(published);
        collect();
        assert_eq!(dropped.get(), 2 * REPLACED as u64 + 1);
    }
}
