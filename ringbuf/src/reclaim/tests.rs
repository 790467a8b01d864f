//! Tests of the reclamation with threads.

use super::{Domain, Place, Published};
use crate::counter::{Counter, Flag};
use crate::sync::Ordering;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};
use std::thread::{scope, spawn};

/// Garbage that counts its runs.
fn garbage(runs: &Arc<Counter>) -> impl FnOnce() + Send + 'static {
    let runs = runs.clone();
    move || {
        runs.next();
    }
}

fn retired(domain: &Domain) -> Arc<Counter> {
    let runs = Arc::default();
    domain.retire(garbage(&runs));
    runs
}

fn has_run(domain: &Domain, runs: &Counter) -> bool {
    domain.collect();
    runs.get() == 1
}

/// More threads than end meanwhile, because their tests were before this one.
const THREADS: usize = 30;

/// The slots of all threads, fewer each time that a thread of an earlier test ends.
fn slots(domain: &Domain) -> usize {
    let is_taken = |of: &&Place| of.is_taken.load(Ordering::Relaxed) == 1;
    domain.places().filter(is_taken).count()
}

#[test]
fn garbage_without_readers_runs_at_once() {
    let domain = &Arc::<Domain>::default();
    assert!(has_run(domain, &retired(domain)));
}

#[test]
fn garbage_waits_for_the_next_pass() {
    let domain = &Arc::<Domain>::default();
    let mut reading = domain.enter();
    assert!(reading.pass() && !reading.pass());
    let runs = retired(domain);
    assert!(!has_run(domain, &runs));
    assert!(reading.pass() && !reading.pass());
    assert_eq!(runs.get(), 1, "the pass runs due actions");
}

#[test]
fn announcement_is_reported_once_to_every_worker() {
    let domain = &Arc::<Domain>::default();
    let [step, both] = [1, 2].map(|_| Barrier::new(3));
    scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reading = domain.enter();
                assert!(reading.pass() && !reading.pass());
                both.wait();
                step.wait();
                assert!(reading.pass() && !reading.pass());
            });
        }
        both.wait();
        domain.announce();
        step.wait();
    });
}

#[test]
fn pass_within_a_pin_announces_nothing() {
    let domain = &Arc::<Domain>::default();
    let value = Published::new(Arc::new(7), domain);
    let mut reading = domain.enter();
    reading.pass();
    let before = value.load();
    value.replace(Arc::new(8));
    assert!(reading.pass() && reading.pass());
    assert_eq!((**before, Arc::strong_count(&before)), (7, 1));
    let kept = Arc::clone(&before);
    drop(before);
    assert!(reading.pass() && !reading.pass());
    assert_eq!(Arc::strong_count(&kept), 1, "the old value is dropped");
}

#[test]
fn nested_reading_reports_changes_and_announces_nothing() {
    let domain = &Arc::<Domain>::default();
    let mut outer = domain.enter();
    outer.pass();
    let mut inner = domain.enter();
    inner.pass();
    let runs = retired(domain);
    assert!(inner.pass() && !inner.pass());
    assert!(!has_run(domain, &runs));
    drop(inner);
    assert!(!has_run(domain, &runs));
    assert!(outer.pass());
    assert!(has_run(domain, &runs));
}

#[test]
fn nested_reading_within_a_pause_announces() {
    let domain = &Arc::<Domain>::default();
    let mut outer = domain.enter();
    outer.pause(|| {
        let mut inner = domain.enter();
        let runs = retired(domain);
        assert!(!has_run(domain, &runs));
        assert!(inner.pass());
        assert!(has_run(domain, &runs));
    });
}

#[test]
fn garbage_does_not_wait_for_a_paused_thread() {
    let domain = &Arc::<Domain>::default();
    let mut reading = domain.enter();
    reading.pass();
    let runs = retired(domain);
    assert!(!has_run(domain, &runs));
    reading.pause(|| assert_eq!(runs.get(), 1, "the pause runs due actions"));
    reading.pause(|| assert!(has_run(domain, &retired(domain))));
    assert!(reading.pass(), "changes during a pause are reported");
    assert!(!has_run(domain, &retired(domain)), "the thread reads again");
}

#[test]
fn pin_within_a_pause_and_beyond_holds_garbage() {
    let domain = &Arc::<Domain>::default();
    let mut reading = domain.enter();
    let (pin, runs) = reading.pause(|| (domain.pin(), retired(domain)));
    assert!(!has_run(domain, &runs));
    drop(reading);
    assert!(!has_run(domain, &runs));
    drop(pin);
    assert!(has_run(domain, &runs));
}

#[test]
fn pause_that_panics_leaves_the_thread_reading() {
    let domain = &Arc::<Domain>::default();
    let mut reading = domain.enter();
    reading.pass();
    let paused = catch_unwind(AssertUnwindSafe(|| reading.pause(|| panic!("in the pause"))));
    assert!(paused.is_err());
    let runs = retired(domain);
    assert!(!has_run(domain, &runs));
    reading.pass();
    assert!(has_run(domain, &runs));
}

#[test]
fn pins_outside_a_reading_hold_garbage_until_the_last_ends() {
    let domain = &Arc::<Domain>::default();
    let pins = [domain.pin(), domain.pin()];
    let runs = retired(domain);
    assert!(!has_run(domain, &runs));
    let [first, last] = pins;
    drop(first);
    assert!(!has_run(domain, &runs));
    drop(last);
    assert_eq!(runs.get(), 0, "the end of a pin runs nothing");
    assert!(has_run(domain, &runs));
}

#[test]
fn end_of_a_change_runs_garbage_unless_the_thread_reads() {
    let domain = &Arc::<Domain>::default();
    let [outer, inner] = [domain.change(), domain.change()];
    let runs = retired(domain);
    drop(inner);
    assert_eq!(runs.get(), 0);
    drop(outer);
    assert_eq!(runs.get(), 1);
    let mut reading = domain.enter();
    reading.pass();
    let runs = {
        let _change = domain.change();
        retired(domain)
    };
    assert_eq!(runs.get(), 0, "the worker does it at its next pass");
    reading.pass();
    assert_eq!(runs.get(), 1);
}

#[test]
fn garbage_waits_for_the_pin_of_another_thread() {
    let domain = &Arc::<Domain>::default();
    let (runs, pinned) = (Arc::new(Counter::default()), Barrier::new(2));
    scope(|scope| {
        scope.spawn(|| {
            let pin = domain.pin();
            pinned.wait();
            pinned.wait();
            drop(pin);
            domain.collect();
        });
        pinned.wait();
        domain.retire(garbage(&runs));
        (0..100).for_each(|_| domain.collect());
        assert_eq!(runs.get(), 0);
        pinned.wait();
    });
    assert_eq!(runs.get(), 1);
}

#[test]
fn garbage_retires_and_collects_more_garbage() {
    let domain = &Arc::<Domain>::default();
    let runs = Arc::new(Counter::default());
    let (inner, innermost, own) = (runs.clone(), garbage(&runs), domain.clone());
    domain.retire(move || {
        let _pin = own.pin();
        inner.next();
        own.retire(innermost);
        own.collect();
        assert_eq!(inner.get(), 1, "its own pin holds it");
    });
    domain.collect();
    assert_eq!(runs.get(), 2);
}

#[test]
fn end_of_the_last_reading_runs_garbage_of_garbage() {
    let domain = &Arc::<Domain>::default();
    let reading = domain.enter();
    let runs = Arc::new(Counter::default());
    let inner = garbage(&runs);
    let own = domain.clone();
    domain.retire(move || own.retire(inner));
    domain.collect();
    assert_eq!(runs.get(), 0);
    drop(reading);
    assert_eq!(runs.get(), 1);
}

#[test]
fn panic_of_garbage_is_caught_and_the_rest_runs() {
    let domain = &Arc::<Domain>::default();
    domain.retire(|| panic!("in garbage"));
    let runs = retired(domain);
    domain.collect();
    assert_eq!(runs.get(), 1);
}

#[test]
fn panic_of_garbage_in_an_unwinding_thread_is_caught() {
    let domain = &Arc::<Domain>::default();
    let unwound = catch_unwind(|| {
        let _change = domain.change();
        domain.retire(|| panic!("in garbage"));
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
            let domain = self.0.domain();
            let value = self.0.load();
            assert_eq!(*value, 7);
            domain.retire(garbage(&self.1));
            drop(value);
            let mut reading = domain.enter();
            assert!(reading.pass());
            self.1.next();
        }
    }

    thread_local! {
        static EARLY: RefCell<Option<AtExit>> = const { RefCell::new(None) };
        static LATE: RefCell<Option<AtExit>> = const { RefCell::new(None) };
    }

    let domain = &Arc::<Domain>::default();
    let slots = slots(domain);
    let value = Arc::new(Published::new(7, domain));
    let runs = Arc::new(Counter::default());
    for _ in 0..THREADS {
        let at_exit = || AtExit(value.clone(), runs.clone());
        let values = [at_exit(), at_exit()];
        let thread = spawn(move || {
            let [early, late] = values;
            // Destructors run in the order of first use, or in its reverse: one of them runs
            // after that of the reclamation.
            let domain = early.0.domain().clone();
            EARLY.set(Some(early));
            drop(domain.pin());
            LATE.set(Some(late));
        });
        thread.join().unwrap();
    }
    domain.collect();
    assert_eq!(runs.get(), 4 * THREADS as u64);
    assert!(self::slots(domain) <= slots, "the threads gave their slots back");
}

#[test]
fn threads_that_ended_leave_no_slots() {
    let domain = &Arc::<Domain>::default();
    let slots = slots(domain);
    for _ in 0..THREADS {
        scope(|scope| scope.spawn(|| drop(domain.enter())).join().unwrap());
        scope(|scope| scope.spawn(|| drop(domain.pin())).join().unwrap());
    }
    assert!(self::slots(domain) <= slots);
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
    let domain = &Arc::<Domain>::default();
    let dropped = Arc::new(Counter::default());
    let value = |number| Value { number, is_dropped: Flag::default(), dropped: dropped.clone() };
    let published = Published::new(value(0), domain);
    let finished = Counter::default();
    let read = |last: &mut usize| {
        let value = published.load();
        assert!(!value.is_dropped.is_raised());
        // Two writers: numbers of one of them never go back.
        let number = value.number;
        assert!(number % 2 != *last % 2 || number >= *last);
        *last = number;
    };
    scope(|scope| {
        let mut threads = Vec::new();
        for writer in 0..2 {
            let (value, published, finished) = (&value, &published, &finished);
            threads.push(scope.spawn(move || {
                for n in 1..=REPLACED {
                    published.replace(value(2 * n + writer));
                    if n % 8 == 0 {
                        domain.collect();
                    }
                }
                finished.next();
            }));
        }
        for _ in 0..2 {
            threads.push(scope.spawn(|| {
                let mut reading = domain.enter();
                let mut last = 0;
                while finished.get() < 2 {
                    (0..10).for_each(|_| read(&mut last));
                    reading.pass();
                    if last % 64 == 0 {
                        reading.pause(std::thread::yield_now);
                    }
                }
            }));
        }
        threads.push(scope.spawn(|| {
            let mut last = 0;
            while finished.get() < 2 {
                read(&mut last);
            }
        }));
        // A scope alone does not wait until its threads have ended, and thereby collected.
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    drop(published);
    domain.collect();
    assert_eq!(dropped.get(), 2 * REPLACED as u64 + 1);
}

#[test]
fn reader_in_one_domain_holds_back_garbage_of_that_domain_only() {
    let [long, short] = &[(); 2].map(|()| Arc::<Domain>::default());
    let mut reading = long.enter();
    let pin = short.pin();
    let (of_long, of_short) = (retired(long), retired(short));
    assert!(!has_run(long, &of_long) && !has_run(short, &of_short));
    drop(pin);
    assert!(has_run(short, &of_short) && !has_run(long, &of_long));
    assert!(reading.pass() && !reading.pass(), "changes of the own domain are reported");
    assert_eq!(of_long.get(), 1);
    short.announce();
    assert!(!reading.pass(), "changes of another one are not");
}

#[test]
fn many_domains_are_read_in_turns() {
    let domains: Vec<_> = (0..5).map(|_| Arc::<Domain>::default()).collect();
    let pins: Vec<_> = domains.iter().map(Domain::pin).collect();
    let runs: Vec<_> = domains.iter().map(|domain| retired(domain)).collect();
    for (n, pin) in pins.into_iter().enumerate() {
        assert!(!has_run(&domains[n], &runs[n]));
        drop((domains[(n + 2) % 5].pin(), pin));
        assert!(has_run(&domains[n], &runs[n]));
    }
    assert!(domains.iter().all(|domain| domain.places().count() == 1));
}

#[test]
fn dropped_domain_runs_its_garbage() {
    for _ in 0..THREADS {
        let domain = Arc::<Domain>::default();
        let pin = domain.pin();
        let runs = retired(&domain);
        drop(pin);
        assert_eq!(runs.get(), 0);
        let memory = Arc::downgrade(&domain);
        drop(domain);
        assert_eq!((runs.get(), memory.strong_count()), (1, 0));
    }
}

#[test]
fn thread_that_ends_runs_the_garbage_that_waited_for_it() {
    let domain = &Arc::<Domain>::default();
    let runs = spawn({
        let domain = domain.clone();
        move || {
            let _pin = domain.pin();
            retired(&domain)
        }
    });
    assert_eq!(runs.join().unwrap().get(), 1);
}
