//! Ten bugs of threads in small programs, which read no clock between their steps.

/// Defines a module with those of the bugs that need no time and no tokio, with the threads, locks
/// and channels of a crate.
#[macro_export]
macro_rules! programs {
    ($module:ident, $($path:ident)::+) => {
        /// Bugs with the threads and locks of a crate.
        pub mod $module {
            use $($path)::+::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
            use $($path)::+::sync::mpsc::{TryRecvError, channel};
            use $($path)::+::sync::{Arc, Condvar, Mutex, RwLock};
            use $($path)::+::thread;

            /// Three threads that take each two of three locks, in a circle.
            pub fn three_locks() {
                let locks: Arc<[Mutex<()>; 3]> = Arc::default();
                let threads: Vec<_> = (0..3)
                    .map(|n| {
                        let locks = locks.clone();
                        thread::spawn(move || {
                            let first = locks[n].lock().unwrap();
                            let second = locks[(n + 1) % 3].lock().unwrap();
                            drop((first, second));
                        })
                    })
                    .collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            }

            /// The flag is checked, and then the wait begins: the notice in between is lost.
            pub fn lost_wakeup() {
                let is_ready = Arc::new(AtomicBool::new(false));
                let event = Arc::new((Mutex::new(()), Condvar::new()));
                let (flag, notified) = (is_ready.clone(), event.clone());
                let notifier = thread::spawn(move || {
                    flag.store(true, Ordering::SeqCst);
                    notified.1.notify_one();
                });
                if !is_ready.load(Ordering::SeqCst) {
                    let lock = event.0.lock().unwrap();
                    drop(event.1.wait(lock).unwrap());
                }
                notifier.join().unwrap();
            }

            /// Two threads take the last piece.
            pub fn check_then_act() {
                let stock = Arc::new(AtomicI32::new(1));
                let threads: Vec<_> = (0..2)
                    .map(|_| {
                        let stock = stock.clone();
                        thread::spawn(move || {
                            if stock.load(Ordering::SeqCst) > 0 {
                                stock.fetch_sub(1, Ordering::SeqCst);
                            }
                        })
                    })
                    .collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                assert!(stock.load(Ordering::SeqCst) >= 0, "the last piece was taken twice");
            }

            /// A value is read, and written under another lock.
            pub fn lock_upgrade() {
                let count = Arc::new(RwLock::new(0));
                let threads: Vec<_> = (0..2)
                    .map(|_| {
                        let count = count.clone();
                        thread::spawn(move || {
                            let read = *count.read().unwrap();
                            *count.write().unwrap() = read + 1;
                        })
                    })
                    .collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                assert_eq!(*count.read().unwrap(), 2, "an update was lost");
            }

            /// A pool that ends without its lock: the worker has checked the flag already.
            pub fn pool_shutdown() {
                let jobs = Arc::new((Mutex::new(vec![1]), Condvar::new()));
                let is_over = Arc::new(AtomicBool::new(false));
                let (queue, over) = (jobs.clone(), is_over.clone());
                let worker = thread::spawn(move || {
                    let mut jobs = queue.0.lock().unwrap();
                    loop {
                        if jobs.pop().is_some() {
                            continue;
                        }
                        if over.load(Ordering::SeqCst) {
                            break;
                        }
                        jobs = queue.1.wait(jobs).unwrap();
                    }
                });
                is_over.store(true, Ordering::SeqCst);
                jobs.1.notify_all();
                worker.join().unwrap();
            }

            /// Data is published by a relaxed flag: wrong in a weak memory model only.
            pub fn relaxed_double_check() {
                let data = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
                let written = data.clone();
                let writer = thread::spawn(move || {
                    written.0.store(7, Ordering::Relaxed);
                    written.1.store(true, Ordering::Relaxed);
                });
                if data.1.load(Ordering::Relaxed) {
                    assert_eq!(data.0.load(Ordering::Relaxed), 7, "the data is not there");
                }
                writer.join().unwrap();
            }

            /// The receiver finds the channel empty, then that the sender is done, and leaves.
            pub fn channel_drop() {
                let (sender, receiver) = channel();
                let is_done = Arc::new(AtomicBool::new(false));
                let done = is_done.clone();
                let producer = thread::spawn(move || {
                    sender.send(7).unwrap();
                    done.store(true, Ordering::SeqCst);
                    sender
                });
                let mut received = 0;
                loop {
                    match receiver.try_recv() {
                        Ok(_) => received += 1,
                        Err(TryRecvError::Empty) if !is_done.load(Ordering::SeqCst) => {
                            thread::yield_now();
                        }
                        Err(_) => break,
                    }
                }
                drop(producer.join().unwrap());
                assert_eq!(received, 1, "a message was dropped");
            }

            /// A barrier that counts to two and forgets in which round a thread waits.
            pub fn barrier_reuse() {
                let barrier = Arc::new((Mutex::new(0), Condvar::new()));
                let rounds = |barrier: Arc<(Mutex<u32>, Condvar)>| {
                    move || {
                        for _ in 0..2 {
                            let mut arrived = barrier.0.lock().unwrap();
                            *arrived = (*arrived + 1) % 2;
                            barrier.1.notify_all();
                            while *arrived != 0 {
                                arrived = barrier.1.wait(arrived).unwrap();
                            }
                            drop(arrived);
                            thread::yield_now();
                        }
                    }
                };
                let other = thread::spawn(rounds(barrier.clone()));
                rounds(barrier)();
                other.join().unwrap();
            }
        }
    };
}

programs!(ordinary, std);

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// An answer that comes at the instant of the timeout: usually the server is first.
pub fn timeout_at_the_deadline() {
    let pause = Duration::from_millis(50);
    let (answer, received) = mpsc::channel();
    let server = thread::spawn(move || {
        answer.send(0).unwrap(); // it begins
        thread::sleep(pause);
        let _ = answer.send(7);
    });
    assert_eq!(received.recv(), Ok(0));
    assert_eq!(received.recv_timeout(pause), Ok(7), "the server did not answer");
    server.join().unwrap();
}

/// A branch of `select!` has taken a message when another branch ends it.
pub fn select_loss() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let tick = Arc::new(tokio::sync::Notify::new());
    let ticker = tick.clone();
    let other = thread::spawn(move || {
        sender.send(7).unwrap();
        ticker.notify_one();
        ticker.notify_one(); // is lost, unless the first one was taken
    });
    let take = async |receiver: &mut tokio::sync::mpsc::UnboundedReceiver<i32>| {
        let message = receiver.recv().await;
        tokio::task::yield_now().await;
        message
    };
    let run = async {
        tick.notified().await;
        loop {
            tokio::select! {
                biased;
                () = tick.notified() => {}
                message = take(&mut receiver) => break message,
            }
        }
    };
    let message = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run);
    other.join().unwrap();
    assert_eq!(message, Some(7), "a message was lost");
}

/// The bugs by name.
pub const PROGRAMS: [(&str, fn()); 10] = [
    ("three-lock deadlock", ordinary::three_locks),
    ("lost wake-up", ordinary::lost_wakeup),
    ("check-then-act", ordinary::check_then_act),
    ("lock upgrade", ordinary::lock_upgrade),
    ("pool shutdown", ordinary::pool_shutdown),
    ("relaxed double-check", ordinary::relaxed_double_check),
    ("timeout at the deadline", timeout_at_the_deadline),
    ("select! loss", select_loss),
    ("channel drop", ordinary::channel_drop),
    ("barrier reuse", ordinary::barrier_reuse),
];
