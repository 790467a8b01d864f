//! Strands that change their thread with each event lose none.

use super::*;
use crate::counter::{Counter, Flag};
use crate::ready;
use std::thread;

const THREADS: usize = 4;
const STRANDS: usize = 3;
const PUBLISHERS: usize = 2;

/// A worker that gets numbers from each publisher, in order.
struct Hearing {
    numbers: ready::Consumer,
    next: [u32; PUBLISHERS],
    /// The thread that ran it last.
    thread: usize,
    moves: u64,
}

impl Hearing {
    /// Takes what there is, and the mark off, as a worker does.
    fn run(&mut self, set: &ReadySet) {
        loop {
            while let Some(number) = self.numbers.pop() {
                let publisher = number as usize % PUBLISHERS;
                let number = number / PUBLISHERS as u32;
                assert_eq!(number, self.next[publisher], "an event is lost, or out of order");
                self.next[publisher] += 1;
            }
            set.clear(0);
            if self.numbers.is_empty() {
                return;
            }
            set.mark(0);
        }
    }
}

/// Publishers send numbers to strands that any of some threads run: each wake-up is at the next
/// thread. Returns how often a strand ran on another thread than before.
fn churn(events: u32) -> u64 {
    let threads: Vec<_> = (0..THREADS).map(|_| Arc::new(ReadySet::new(STRANDS))).collect();
    let turn = Arc::new(Counter::default());
    let (mut outputs, mut strands) = (Vec::new(), Vec::new());
    for index in 0..STRANDS {
        let (producer, numbers) = ready::ring(1 << 10);
        let set = Arc::new(ReadySet::new(1));
        let (all, turn) = (threads.clone(), turn.clone());
        set.wake_by(Arc::new(move || all[turn.next() as usize % THREADS].mark(index)));
        let hearing = Hearing { numbers, next: [0; PUBLISHERS], thread: 0, moves: 0 };
        strands.push(Strand::new(hearing, set.clone(), index));
        threads[0].mark(index);
        outputs.push((producer, set));
    }
    let is_over = Flag::default();
    thread::scope(|scope| {
        for (number, set) in threads.iter().enumerate() {
            let (strands, is_over) = (&strands, &is_over);
            scope.spawn(move || {
                let mut start = 0;
                loop {
                    let Some(index) = set.next(start) else {
                        if is_over.is_raised() {
                            return;
                        }
                        thread::yield_now();
                        continue;
                    };
                    start = index + 1;
                    let Some(mut worker) = strands[index].take_marked(set) else { continue };
                    worker.moves +=
                        u64::from(std::mem::replace(&mut worker.thread, number) != number);
                    worker.run(&strands[index].set);
                    strands[index].rest(worker, set);
                }
            });
        }
        let publishers: Vec<_> = (0..PUBLISHERS)
            .map(|publisher| {
                let outputs = &outputs;
                scope.spawn(move || {
                    for number in 0..events {
                        for (producer, set) in outputs {
                            while producer
                                .push(number * PUBLISHERS as u32 + publisher as u32)
                                .is_err()
                            {
                                thread::yield_now();
                            }
                            set.mark(0);
                        }
                    }
                })
            })
            .collect();
        publishers.into_iter().for_each(|publisher| publisher.join().unwrap());
        // A thread ends when nothing is marked for it; an event that is left is marked somewhere.
        is_over.raise();
    });
    let workers = strands.iter_mut().map(Strand::get_mut);
    workers
        .map(|worker| {
            assert_eq!(worker.next, [events; PUBLISHERS], "each event is handled once");
            worker.moves
        })
        .sum()
}

#[test]
fn strand_that_changes_its_thread_loses_no_event() {
    let mut moves = 0;
    // The changes in one churn depend on the scheduler of the machine.
    for _ in 0..100 {
        moves += churn(20_000);
        if moves > 100 {
            return;
        }
    }
    panic!("{moves} changes of the thread in 100 churns");
}

#[test]
#[ignore = "ten seconds; scripts/test-long runs it"]
fn slow_million_changes_of_the_thread_lose_no_event() {
    let mut moves = 0;
    while moves < 1_000_000 {
        moves += churn(100_000);
    }
}
