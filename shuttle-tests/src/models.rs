//! The models. Each states its claim, and names the operations that must not be torn.

use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::thread::{JoinHandle, spawn, yield_now};
use std::sync::Arc;

mod changes;
mod inbox;
mod keep_last;
mod multiplexer;
mod pool;
mod ready;
mod ready_set;
mod spsc;
mod wait;

/// One push before the stored sequence of an entry wraps to zero.
const BEFORE_WRAP: u64 = (1 << 40) - 1;

/// Joins all `threads`, in order.
fn join<T>(threads: impl IntoIterator<Item = JoinHandle<T>>) -> Vec<T> {
    let threads = threads.into_iter();
    threads.map(|thread| thread.join().expect("Shuttle reports a thread's panic itself")).collect()
}

/// The senders of a scenario, with a flag for their completion.
struct Senders<T> {
    threads: Vec<JoinHandle<T>>,
    running: Arc<AtomicUsize>,
}

impl<T: Send + 'static> Senders<T> {
    /// Spawns a thread for each of `0..count`, which runs the closure returned by `make`.
    fn spawn<F>(count: u32, make: impl Fn(u32) -> F) -> Self
    where
        F: FnOnce() -> T + Send + 'static,
    {
        let running = Arc::new(AtomicUsize::new(count as usize));
        let thread = |id| {
            let (run, running) = (make(id), running.clone());
            spawn(move || {
                let result = run();
                running.fetch_sub(1, SeqCst);
                result
            })
        };
        Self { threads: (0..count).map(thread).collect(), running }
    }

    /// Calls `receive` repeatedly, for the last time after all senders are done, and returns their
    /// results.
    fn receive(self, mut receive: impl FnMut()) -> Vec<T> {
        loop {
            let done = self.running.load(SeqCst) == 0;
            receive();
            if done {
                return join(self.threads);
            }
            yield_now();
        }
    }
}
