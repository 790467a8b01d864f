//! A thread is suspended while it marks a strand, or while it has the worker of one.

use crate::harness::{Suspended, returns};
use ringspin_ringbuf::{ReadySet, Strand};
use std::sync::Arc;

/// A strand that rests, its set of two loops, and the sets of two threads; it wakes at the first.
fn resting() -> (Arc<Strand<u32>>, Arc<ReadySet>, [Arc<ReadySet>; 2]) {
    let (set, threads) = (Arc::new(ReadySet::new(2)), [(); 2].map(|()| Arc::new(ReadySet::new(1))));
    let first = threads[0].clone();
    set.wake_by(Arc::new(move || first.mark(0)));
    let strand = Arc::new(Strand::new(0, set.clone(), 0));
    strand.rest(strand.take().unwrap(), &threads[0]);
    (strand, set, threads)
}

#[test]
fn a_suspended_publisher_hides_no_event_of_a_strand() {
    for step in ["mark.set", "wake.found"] {
        let (strand, set, threads) = resting();
        let suspended = Suspended::at(step, {
            let set = set.clone();
            move || set.mark(0)
        });
        let other = set.clone();
        assert!(returns(move || other.mark(1)), "step {step}");
        assert_eq!(threads[0].next(0), Some(0), "step {step}: the event is lost");
        let worker = strand.take_marked(&threads[0]).unwrap();
        assert_eq!([set.next(0), set.next(1)], [Some(0), Some(1)], "step {step}");
        suspended.resume();
        drop(worker);
    }
}

/// The thread that has the worker is suspended before it puts it back. An event that comes then is
/// marked for another thread, which finds no worker; the first one sees it when it goes on.
#[test]
fn a_thread_that_is_suspended_with_a_worker_finds_the_events_of_meanwhile() {
    let (strand, set, threads) = resting();
    let suspended = Suspended::at("strand.rests", {
        let (strand, thread) = (strand.clone(), threads[1].clone());
        move || strand.rest(strand.take().unwrap(), &thread)
    });
    set.mark(1);
    assert_eq!(threads[0].next(0), Some(0));
    assert!(strand.take_marked(&threads[0]).is_none());
    assert!(threads[0].is_empty() && threads[1].is_empty());
    suspended.resume();
    assert_eq!(threads[1].next(0), Some(0), "the event is lost");
}
