//! Unit tests of `table`.

use super::*;
use crate::counter::Counter;
use crate::sync::{AtomicU32, Ordering::Relaxed};

#[test]
fn value_is_taken_once_and_its_place_used_again() {
    let table = Table::<u32>::new(2);
    let first = table.claim().unwrap().fill(1).unwrap();
    let second = table.claim().unwrap().fill(2).unwrap();
    assert_eq!(table.claim().err(), Some(Refused::Full));
    assert_eq!((table.take(first), table.take(first)), (Some(1), None));
    let third = table.claim().unwrap().fill(3).unwrap();
    assert_eq!(table.take(first), None, "a late ticket finds nothing");
    assert!(first < second && second < third);
    assert_eq!((table.take(third), table.take(second)), (Some(3), Some(2)));
}

#[test]
fn dropped_claim_frees_its_place() {
    let table = Table::<u32>::new(1);
    drop(table.claim().unwrap());
    assert!(table.claim().is_ok());
}

#[test]
fn closed_table_hands_out_its_values_and_takes_no_more() {
    let table = Table::<u32>::new(3);
    let ticket = table.claim().unwrap().fill(1).unwrap();
    let late = table.claim().unwrap();
    assert_eq!(table.close(), [1]);
    assert_eq!(late.fill(2), Err(2));
    assert_eq!(table.take(ticket), None);
    assert_eq!(table.claim().err(), Some(Refused::Closed));
    assert!(table.close().is_empty() && table.filled().next().is_none());
}

#[test]
fn notes_are_beside_the_value() {
    let table = Table::<(), Counter>::new(2);
    for n in 1..=2 {
        let claim = table.claim().unwrap();
        claim.notes().set(n);
        claim.fill(()).unwrap();
    }
    let notes =
        |table: &Table<(), Counter>| -> u64 { table.filled().map(|(_, note)| note.get()).sum() };
    assert_eq!(notes(&table), 3);
    let second = table.filled().find(|(_, note)| note.get() == 2).unwrap().0;
    table.take(second).unwrap();
    assert_eq!(notes(&table), 1);
}

#[test]
fn place_holds_one_value_once() {
    let place = Place::default();
    assert_eq!(place.get(), None);
    assert_eq!((place.put(1), place.put(2)), (Ok(()), Err(2)));
    assert_eq!((place.get(), place.get()), (Some(1), None));
}

#[test]
fn threads_take_each_value_once() {
    const EACH: u32 = 20_000;
    let table = Table::<Box<u32>>::new(3);
    let taken: Vec<_> = (0..2 * EACH).map(|_| AtomicU32::new(0)).collect();
    std::thread::scope(|scope| {
        for id in 0..2 {
            let (table, taken) = (&table, &taken);
            scope.spawn(move || {
                for n in 0..EACH {
                    let ticket = loop {
                        match table.claim() {
                            Ok(claim) => break claim.fill(Box::new(id * EACH + n)).unwrap(),
                            Err(_) => std::thread::yield_now(),
                        }
                    };
                    let others = table.filled().map(|(ticket, ())| ticket).collect::<Vec<_>>();
                    for ticket in others.into_iter().chain([ticket]) {
                        if let Some(value) = table.take(ticket) {
                            taken[*value as usize].fetch_add(1, Relaxed);
                        }
                    }
                }
            });
        }
    });
    assert!(taken.iter().all(|count| count.load(Relaxed) == 1));
}
