//! The ready set. A lost wake-up or mark leaves the worker parked for ever, which Shuttle reports
//! as a deadlock.

use super::join;
use crate::explore::{Model, is_mutant};
use crate::ready::{Consumer, ring_at};
use crate::ready_set::ReadySet;
use shuttle::thread::spawn;
use std::sync::Arc;
use std::time::Duration;

/// The mutant of the worker's own logic: it clears a mark without a second check.
const NO_RECHECK: &str = "worker.recheck";

/// Pops `tokens` from `rings`, which belong to the loops in `used`; sleeps in between.
fn work(set: &ReadySet, used: &[usize], rings: &mut [Consumer], tokens: usize) {
    set.register_sleeper();
    let (mut popped, mut start) = (0, 0);
    while popped < tokens {
        let Some(index) = set.next(start) else {
            set.sleep(Duration::MAX);
            continue;
        };
        start = index + 1;
        let at = used.iter().position(|used| *used == index).expect("only these are marked");
        if rings[at].pop().is_some() {
            popped += 1;
            continue;
        }
        set.clear(index);
        if !is_mutant(NO_RECHECK) && !rings[at].is_empty() {
            set.mark(index);
        }
    }
}

/// Three producers push `each` tokens to two loops in turn; the worker finds all of them.
fn race(loops: usize, used: [usize; 2], each: usize) {
    let set = Arc::new(ReadySet::new(loops));
    let (producers, mut rings): (Vec<_>, Vec<_>) = used.iter().map(|_| ring_at(16, 0)).unzip();
    let threads = [0, 1, 2].map(|id| {
        let (set, producers) = (set.clone(), producers.clone());
        spawn(move || {
            for n in 0..each {
                let at = (id + n) % used.len();
                producers[at].push(n as u32).unwrap();
                set.mark(used[at]);
            }
        })
    });
    let shared = set.clone();
    let worker = spawn(move || work(&shared, &used, &mut rings, 3 * each));
    join(threads);
    join([worker]);
    // Marks may be left of events that were handled early; the worker would clear them next.
    while let Some(index) = set.next(0) {
        set.clear(index);
    }
    assert!(set.is_empty(), "a phantom mark forbids sleep");
}

#[test]
fn every_event_wakes_the_worker() {
    let model = Model::new(2_000).kills(NO_RECHECK).kills("ready_set.mark");
    model.kills("ready_set.clear").kills("ready_set.sleep").check(|| race(2, [0, 1], 4));
}

/// More loops than the summary has bits; both of one leaf.
#[test]
fn every_event_wakes_the_worker_in_one_leaf() {
    let model = Model::new(2_000).kills(NO_RECHECK).kills("ready_set.leaf");
    model.kills("ready_set.leaf_clear").kills("ready_set.sleep").check(|| race(64, [5, 6], 2));
}

/// Two leaves, each with a bit of the summary.
#[test]
fn every_event_wakes_the_worker_in_two_leaves() {
    let model = Model::new(2_000).kills("ready_set.mark").kills("ready_set.group_clear");
    model.check(|| race(128, [5, 64 + 5], 3));
}

/// Two leaves that share a bit of the summary.
#[test]
fn every_event_wakes_the_worker_in_a_group_of_leaves() {
    Model::new(2_000).kills(NO_RECHECK).check(|| race(63 * 64 + 1, [5, 64 + 5], 3));
}
