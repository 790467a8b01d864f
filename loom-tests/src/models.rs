//! The models. Each says beside it what it claims; its mutants say what it would notice.
//!
//! Both sides of a model are spawned threads. They return their handles to the main thread, which
//! drops them one after the other, so that no schedules are spent on reference counts that are not
//! the subject.

use loom::thread::JoinHandle;

mod counter;
mod executor;
mod inbox;
mod keep_last;
mod keep_last_static;
mod multiplexer;
mod pool;
mod ready;
mod ready_set;
mod remote;
mod sleeper;
mod spsc;
mod wait;

/// Waits for all `threads`, in order.
fn join<T, const N: usize>(threads: [JoinHandle<T>; N]) -> [T; N] {
    threads.map(|thread| thread.join().expect("loom reports a thread's panic itself"))
}
