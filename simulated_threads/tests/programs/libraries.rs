//! Programs of crossbeam, parking_lot, rayon and futures-timer.

use crate::{MILLI, Program, log};
use crossbeam_channel::{after, bounded, select, tick, unbounded};
use crossbeam_utils::sync::{Parker, ShardedLock, WaitGroup};
use futures_timer::Delay;
use parking_lot::{Condvar, FairMutex, Mutex, Once, RwLock};
use rayon::prelude::*;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

pub(crate) const PROGRAMS: &[Program] = &[
    ("crossbeam", crossbeam),
    ("crossbeam-select", crossbeam_select),
    ("crossbeam-utils", crossbeam_utils),
    ("parking-lot", parking_lot),
    ("parking-lot-condvar", parking_lot_condvar),
    ("rayon", rayon),
    ("block-on", block_on_timers),
];

fn crossbeam() {
    let (sender, receiver) = bounded(2);
    thread::scope(|scope| {
        for n in 0..4 {
            let sender = sender.clone();
            scope.spawn(move || (0..50).for_each(|k| sender.send((n, k)).unwrap()));
        }
        drop(sender);
        receiver.iter().for_each(|got| log(format!("{got:?}")));
    });
}

fn crossbeam_select() {
    let (numbers, from_numbers) = unbounded();
    let (names, from_names) = bounded(0);
    let ticks = tick(3 * MILLI);
    let over = after(40 * MILLI);
    thread::spawn(move || {
        for n in 0.. {
            thread::sleep(2 * MILLI);
            let _ = numbers.send(n);
        }
    });
    thread::spawn(move || {
        for n in 0.. {
            let _ = names.send(format!("name {n}"));
        }
    });
    for _ in 0..60 {
        select! {
            recv(from_numbers) -> got => log(got.unwrap()),
            recv(from_names) -> got => log(got.unwrap()),
            recv(ticks) -> _ => log("tick"),
            recv(over) -> _ => log("over"),
        }
        thread::sleep(MILLI);
    }
}

fn crossbeam_utils() {
    let (lock, all) = (&ShardedLock::new(0), WaitGroup::new());
    let parker = Parker::new();
    crossbeam_utils::thread::scope(|scope| {
        for n in 0..4 {
            let (all, unparker) = (all.clone(), parker.unparker().clone());
            scope.spawn(move |_| {
                for _ in 0..3 {
                    match n {
                        0 => *lock.write().unwrap() += 1,
                        _ => log(format!("{n} reads {}", *lock.read().unwrap())),
                    }
                    thread::sleep(n * MILLI);
                }
                unparker.unpark();
                drop(all);
                log(format!("{n} is over"));
            });
        }
        all.wait();
        log("all are over");
        parker.park();
        parker.park_timeout(5 * MILLI);
    })
    .unwrap();
}

fn parking_lot() {
    let (mutex, fair, lock) = (Mutex::new(0), FairMutex::new(0), RwLock::new(0));
    let once = Once::new();
    thread::scope(|scope| {
        for n in 0..5 {
            let (mutex, fair, lock, once) = (&mutex, &fair, &lock, &once);
            scope.spawn(move || {
                once.call_once(|| thread::sleep(MILLI));
                for _ in 0..6 {
                    let mut value = mutex.lock();
                    thread::sleep(MILLI);
                    *value += 1;
                    log(format!("{n} has {}", *value));
                    drop(value);
                    *fair.lock() += 1;
                    match n {
                        0 => *lock.write() += 1,
                        _ => log(*lock.read()),
                    }
                    match mutex.try_lock_for(MILLI / 2) {
                        Some(value) => log(format!("{n} has it in time: {}", *value)),
                        None => log(format!("{n} is late")),
                    }
                }
            });
        }
    });
}

fn parking_lot_condvar() {
    let shared = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        for n in 0..4 {
            let (count, changed) = &shared;
            scope.spawn(move || {
                let mut count = count.lock();
                for _ in 0..5 {
                    let waited = changed.wait_for(&mut count, (n + 1) * MILLI);
                    log(format!("{n}: {} {}", *count, waited.timed_out()));
                }
            });
        }
        for n in 0..6 {
            thread::sleep(2 * MILLI);
            *shared.0.lock() += 1;
            match n % 2 {
                0 => drop(shared.1.notify_one()),
                _ => drop(shared.1.notify_all()),
            }
        }
    });
}

fn rayon() {
    let sum: u64 = (0..200u64)
        .into_par_iter()
        .map(|n| {
            log(n);
            n * n
        })
        .sum();
    log(sum);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let joined = pool.install(|| rayon::join(|| log("left"), || log("right")));
    log(format!("{joined:?}"));
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn block_on_timers() {
    let other = thread::spawn(|| {
        block_on(async {
            for n in 0..5 {
                Delay::new(3 * MILLI).await;
                log(format!("other {n}"));
            }
        });
    });
    block_on(async {
        for n in 0..5 {
            Delay::new(4 * MILLI).await;
            log(n);
        }
    });
    other.join().unwrap();
}
