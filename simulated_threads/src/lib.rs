//! Threads and tokio, unchanged, under simulated time.
//!
//! A program that links this crate can be run in a **world**: one thread of the world runs at a
//! time, until it waits for something; when all wait, time jumps to the earliest deadline. So the
//! program does the same in every run, and as fast as it can: nothing sleeps. Neither the program
//! nor tokio, parking_lot, crossbeam or rayon is changed: the functions of libc through which
//! threads wait, read clocks and draw random numbers are defined here, under the same names.
//!
//! * A whole program: link this crate (`use ringspin_simulated_threads as _;`) and start the
//!   program with `RINGSPIN_MODE=deterministic`. Without that it runs as usual.
//! * A test: [`run`] gives a function a world of its own; worlds of parallel tests take turns.
//! * [`explore`](explore()) looks for an order of threads in which a function fails.
//!
//! ```
//! use std::sync::mpsc;
//! use std::time::{Duration, Instant};
//!
//! let waited = ringspin_simulated_threads::run(|| {
//!     let (sender, receiver) = mpsc::channel();
//!     let begin = Instant::now();
//!     std::thread::spawn(move || {
//!         std::thread::sleep(Duration::from_secs(60));
//!         sender.send("done")
//!     });
//!     assert_eq!(receiver.recv(), Ok("done"));
//!     begin.elapsed()
//! });
//! assert_eq!(waited?, Duration::from_secs(60));
//! # Ok::<(), ringspin_simulated_threads::Stuck>(())
//! ```
//!
//! An executor of `ringspin-modes` in deterministic mode that spins on a thread of a world shares
//! its time: see [`ringspin_modes::threads`].
//!
//! | module | contents |
//! |---|---|
//! | `settings` | [`Settings`] |
//! | `armed` | a world for a whole program |
//! | `test_world` | [`run`] |
//! | `explore`, `choice` | [`explore`](explore()): other orders of threads |
//! | `world` | which thread runs, and what time it is |
//! | `state` | which threads are ready, and for what the others wait |
//! | `outside` | wake-ups by threads of no world |
//! | `turn` | handing over from thread to thread |
//! | `current` | the world of a thread |
//! | `descriptors` | what threads wait for besides each other, and timers |
//! | `scheduler` | the executors among the threads |
//! | `interpose` | the functions of libc |
//! | `original` | their originals |
//! | `os` | real time and the operating system |
//! | `trace` | the order of threads in a file |
//! | `binary` | what the report says of the program and the kernel |
//! | `platform` | refuses to be built elsewhere |
//! | `wait`, `random` | waits of threads; random numbers |
//! | `report`, `backtrace`, `output` | what is said of threads that cannot go on |
//! | `watchdog` | threads that wait or work where no world sees it |

mod platform;

mod armed;
mod backtrace;
mod binary;
mod choice;
mod current;
mod descriptors;
mod explore;
mod interpose;
mod original;
mod os;
mod output;
mod outside;
mod random;
mod report;
mod scheduler;
mod settings;
mod state;
mod test_world;
mod trace;
mod turn;
mod wait;
mod watchdog;
mod world;

pub use explore::{ExploreError, Found, explore};
pub use report::Stuck;
pub use settings::Settings;
pub use test_world::run;

use std::time::Duration;

/// Whether the calling thread is one of a world.
pub fn is_simulated() -> bool {
    current::current().is_some()
}

/// A number that identifies the calling thread's world within the process; `None` outside of one.
pub fn world_id() -> Option<usize> {
    let (world, _) = current::current()?;
    Some(std::ptr::from_ref(world).addr())
}

/// The progress of the calling thread's world; `None` outside of one.
pub fn progress() -> Option<Progress> {
    let (world, _) = current::current()?;
    Some(Progress {
        time: Duration::from_nanos(world.now()),
        switches: world.switches(),
        digest: world.digest(),
        sockets: world.sockets(),
    })
}

/// How far a world has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The time, since 1970.
    pub time: Duration,
    /// How often another thread ran.
    pub switches: u64,
    /// A digest of which thread ran when: equal in two runs whose threads did the same.
    pub digest: u64,
    /// How many sockets were created: what arrives there no other run repeats.
    pub sockets: u64,
}

/// The monotonic clock of the real time, for reports about a run; it counts from any point.
pub fn real_time() -> Duration {
    os::monotonic()
}
