//! Values that are replaced while threads read them, and their memory afterwards.

use super::join;
use crate::model::{Model, Plain};
use crate::reclaim::{Domain, Published, Replaced, Slot};
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::{JoinHandle, spawn};
use std::sync::{Arc, Mutex};

type Place = Slot<Arc<Domain>>;

/// A value that reclamation marks instead of freeing it, so that a mutant's late read is a failure
/// of the model and no undefined behaviour.
struct Value {
    number: u32,
    alive: Plain<bool>,
}

impl Value {
    fn new(number: u32) -> Self {
        Self { number, alive: Plain::new(true) }
    }
}

/// A published value and its domain.
struct Shared {
    domain: Arc<Domain>,
    value: Published<Value>,
    reclaimed: Arc<Mutex<Vec<Replaced<Value>>>>,
}

impl Shared {
    /// Publishes value 0.
    fn new() -> Arc<Self> {
        let domain = Arc::new(Domain::new());
        let value = Published::new(Value::new(0), &domain);
        Arc::new(Self { domain, value, reclaimed: Arc::default() })
    }

    fn place(&self) -> Place {
        Slot::new(self.domain.clone())
    }

    /// Reads the value on a thread that is online. (Loom fails the model if the value was
    /// reclaimed, or is reclaimed without order after this read.)
    fn read(&self) -> u32 {
        // SAFETY: reclamation keeps the memory until the end of the model.
        let value = unsafe { self.value.read() };
        assert!(value.alive.get(), "value {} was reclaimed", value.number);
        value.number
    }

    fn replace(&self, number: u32) {
        // SAFETY: the memory is kept until the end of the model.
        let old = unsafe { self.value.exchange(Value::new(number)) };
        let reclaimed = self.reclaimed.clone();
        let complete = Plain::new(false);
        complete.set(true);
        self.domain.retire(move || {
            assert!(complete.get());
            assert!(old.value().alive.get(), "reclaimed twice");
            old.value().alive.set(false);
            reclaimed.lock().unwrap().push(old);
        });
    }

    fn reclaimed(&self) -> usize {
        self.reclaimed.lock().unwrap().len()
    }

    /// A thread that replaces the value, and then reclaims what it can.
    fn writer(self: &Arc<Self>, number: u32) -> JoinHandle<()> {
        let shared = self.clone();
        spawn(move || {
            shared.replace(number);
            shared.domain.collect();
        })
    }

    /// A thread with a place, which is offline when `f` begins; after `f` it is offline again, and
    /// reclaims what it can.
    fn reader(
        self: &Arc<Self>,
        f: impl FnOnce(&Self, &Place) + Send + 'static,
    ) -> JoinHandle<Place> {
        let (shared, place) = (self.clone(), self.place());
        spawn(move || {
            f(&shared, &place);
            place.offline();
            shared.domain.collect();
            place
        })
    }
}

/// A worker that reads before and after a quiescent point, while a thread replaces the value: it
/// never reads a reclaimed one, and the last of the two reclaims it.
#[test]
fn worker_that_passes_reads_no_reclaimed_value() {
    let model = Model::new(100).preemptions(3).kills("reclaim.version", Relaxed);
    let model = model.kills("reclaim.announce", Relaxed).kills("reclaim.pass", Relaxed);
    let model = model.kills("reclaim.seen", Relaxed).kills("published.get", Relaxed);
    model.kills("published.replace", Acquire).check(|| {
        let shared = Shared::new();
        let reader = shared.reader(|shared, place| {
            place.online();
            let first = shared.read();
            place.pass(shared.domain.version());
            assert!(shared.read() >= first);
        });
        let writer = shared.writer(1);
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(shared.reclaimed(), 1);
    });
}

/// A thread that goes online while another one replaces the value and reclaims it.
#[test]
fn reader_that_goes_online_reads_no_reclaimed_value() {
    let model = Model::new(100).preemptions(3);
    let model = model.needs("reclaim.online_fence").needs("reclaim.collect");
    model.check(|| {
        let shared = Shared::new();
        let reader = shared.reader(|shared, place| {
            place.online();
            shared.read();
        });
        let writer = shared.writer(1);
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(shared.reclaimed(), 1);
    });
}

/// A thread that pins twice: its first read is over before the value is reclaimed, also where the
/// collection finds the second pin.
#[test]
fn reads_of_earlier_pins_are_over_before_reclamation() {
    Model::new(100).preemptions(3).kills("reclaim.offline", Relaxed).check(|| {
        let shared = Shared::new();
        let reader = shared.reader(|shared, place| {
            place.online();
            shared.read();
            place.offline();
            place.online();
        });
        let writer = shared.writer(1);
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(shared.reclaimed(), 1);
    });
}

/// The last of reader and writer reclaims the value, without a further call.
#[test]
fn nothing_is_left_when_the_last_thread_is_done() {
    let model = Model::new(100).preemptions(3);
    let model = model.needs("reclaim.offline_fence").needs("reclaim.collect");
    model.check(|| {
        let shared = Shared::new();
        let reader = shared.reader(|_, place| place.online());
        let writer = shared.writer(1);
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(shared.reclaimed(), 1);
    });
}

/// Two threads exchange the value: the second one gets the first one's value complete. Without a
/// collection, because its fence would order the two as well, in loom only.
#[test]
fn value_that_is_replaced_is_complete() {
    Model::new(2).kills("published.replace", Release).check(|| {
        let shared = Shared::new();
        let threads = [1, 2].map(|number| {
            let shared = shared.clone();
            spawn(move || {
                // SAFETY: no thread reads the value.
                let old = unsafe { shared.value.exchange(Value::new(number)) };
                assert!(old.value().alive.get());
                old
            })
        });
        drop(join(threads));
    });
}

/// Two threads replace the value and reclaim what they can.
#[test]
fn two_replacements_reclaim_each_value_once() {
    let model = Model::new(100).preemptions(2);
    let model = model.kills("reclaim.request", Relaxed).kills("reclaim.served", Relaxed);
    model.check(|| {
        let shared = Shared::new();
        join([1, 2].map(|number| shared.writer(number)));
        assert_eq!(shared.reclaimed(), 2);
    });
}

/// Two threads replace the value while a worker reads it.
#[test]
#[ignore = "slow: two preemptions among three threads"]
fn worker_reads_no_reclaimed_value_among_two_replacements() {
    Model::new(100).preemptions(2).check(|| {
        let shared = Shared::new();
        let reader = shared.reader(|shared, place| {
            place.online();
            shared.read();
            place.pass(shared.domain.version());
            shared.read();
        });
        join([1, 2].map(|number| shared.writer(number)));
        reader.join().unwrap();
        assert_eq!(shared.reclaimed(), 2);
    });
}

/// A thread that is offline, and one that comes and goes: nothing waits for the first, and the
/// second one reads no reclaimed value.
#[test]
fn offline_and_ended_threads_hold_nothing_up() {
    let model = Model::new(20).preemptions(2);
    let model = model.kills("reclaim.join", Relaxed).kills("reclaim.places", Relaxed);
    model.check(|| {
        let shared = Shared::new();
        let idle = shared.place();
        let guest = spawn({
            let shared = shared.clone();
            move || {
                let place = shared.place();
                place.online();
                shared.read();
                drop(place);
                shared.domain.collect();
            }
        });
        let writer = shared.writer(1);
        guest.join().unwrap();
        writer.join().unwrap();
        assert_eq!(shared.reclaimed(), 1);
        drop(idle);
    });
}

/// A thread that reads in two domains, and stays online in the first one while the values of both
/// are replaced: it holds back the value of the first one only, and reads no reclaimed value.
#[test]
fn reader_in_one_domain_holds_back_no_value_of_another() {
    Model::new(100).preemptions(2).check(|| {
        let [long, short] = [(); 2].map(|()| Shared::new());
        let place = long.place();
        place.online();
        let first = long.read();
        let visitor = short.reader({
            let long = long.clone();
            move |shared, place| {
                place.online();
                shared.read();
                long.replace(1);
                long.domain.collect();
            }
        });
        short.writer(1).join().unwrap();
        visitor.join().unwrap();
        assert_eq!((short.reclaimed(), long.reclaimed()), (1, 0));
        assert!(long.read() >= first);
        place.offline();
        long.domain.collect();
        assert_eq!(long.reclaimed(), 1);
    });
}
