//! The models. The comment on each states its claim; its mutants show what it detects.
//!
//! Both sides of a model are spawned threads. They return their handles to the main thread, which
//! drops them in order, so that no schedules are spent on reference counts outside the model's
//! subject.

use loom::thread::JoinHandle;

mod announcements;
mod changes;
mod counter;
mod inbox;
mod keep_last;
mod list;
mod multiplexer;
mod notifier;
mod pool;
mod ready;
mod ready_set;
mod reclaim;
mod sleeper;
mod spsc;
mod strand;
mod table;
mod wait;

/// Joins all `threads`, in order.
fn join<T, const N: usize>(threads: [JoinHandle<T>; N]) -> [T; N] {
    threads.map(|thread| thread.join().expect("loom reports a thread's panic itself"))
}
