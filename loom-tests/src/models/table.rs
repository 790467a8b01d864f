//! The table of values with tickets.

use super::join;
use crate::model::Model;
use crate::table::{Place, Table};
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::sync::Arc;

/// Two threads share the one place of a table: each value is taken once, by its own thread or by
/// the other one, with what was written in its notes.
#[test]
fn value_is_taken_once_with_its_notes() {
    let model = Model::new(30).kills("table.claim", Relaxed).kills("table.free", Relaxed);
    let model = model.kills("table.fill", Relaxed);
    model.kills("table.look", Relaxed).check(|| {
        let table = Arc::new(Table::<u32, AtomicU32>::new(1));
        let threads = [1, 2].map(|n| {
            let table = table.clone();
            spawn(move || {
                let ticket = table.claim().ok().map(|claim| {
                    claim.notes().store(n, Relaxed);
                    claim.fill(n).unwrap()
                });
                let seen = table.filled().map(|(ticket, note)| (ticket, note.load(Relaxed))).next();
                let other = seen.filter(|(ticket_seen, _)| Some(*ticket_seen) != ticket);
                let other = other.and_then(|(ticket, note)| Some((table.take(ticket)?, note)));
                if let Some((value, note)) = other {
                    assert_eq!(value, note, "the note is that of the value");
                }
                let own = ticket.and_then(|ticket| table.take(ticket));
                assert!(own.is_none_or(|value| value == n));
                let taken = u32::from(own.is_some()) + u32::from(other.is_some());
                (u32::from(ticket.is_some()), taken)
            })
        });
        let results = join(threads);
        let sum = |part: fn(&(u32, u32)) -> u32| results.iter().map(part).sum::<u32>();
        let left = table.close().len() as u32;
        assert_eq!(sum(|(stored, _)| *stored), sum(|(_, taken)| *taken) + left);
        assert!(sum(|(stored, _)| *stored) > 0);
    });
}

/// A table is closed while one thread stores a value, and another one takes it: the value is handed
/// out once, to one of the three.
#[test]
fn closing_misses_no_value() {
    Model::new(30).kills("table.close", Relaxed).check(|| {
        let shared = Arc::new((Table::<u32>::new(1), AtomicU32::new(0)));
        let filler = spawn({
            let shared = shared.clone();
            move || {
                let Ok(claim) = shared.0.claim() else { return 1 };
                match claim.fill(7) {
                    Ok(ticket) => {
                        // The ticket's way to the taker.
                        shared.1.store(1, Release);
                        u32::from(shared.0.take(ticket).is_some())
                    }
                    Err(value) => {
                        assert_eq!(value, 7);
                        1
                    }
                }
            }
        });
        let taker = spawn({
            let shared = shared.clone();
            move || {
                if shared.1.load(Acquire) == 0 {
                    return 0;
                }
                let ticket = shared.0.filled().map(|(ticket, ())| ticket).next();
                u32::from(ticket.is_some_and(|ticket| shared.0.take(ticket).is_some()))
            }
        });
        let closer = spawn({
            let shared = shared.clone();
            move || shared.0.close().len() as u32
        });
        let handed_out: u32 = join([filler, taker, closer]).into_iter().sum();
        assert_eq!(handed_out, 1);
        assert!(shared.0.claim().is_err());
    });
}

/// The result of a call, which the waiting thread looks for.
#[test]
fn put_value_is_found_by_one_of_its_seekers() {
    Model::new(4).kills("table.take", Relaxed).check(|| {
        let place = Arc::new(Place::default());
        let putter = spawn({
            let place = place.clone();
            move || u32::from(place.put(7).is_err())
        });
        let seeker = spawn({
            let place = place.clone();
            move || place.get().unwrap_or(0)
        });
        let [put, found] = join([putter, seeker]);
        assert_eq!(put, 0);
        assert_eq!(place.get().unwrap_or(0) + found, 7);
    });
}
