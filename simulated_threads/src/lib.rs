//! Threads and tokio, unchanged, under simulated time.
//!
//! A program that links this crate can be run in a **world**: one thread of the world runs at a
//! time, until it waits for something; when all wait, time jumps to the earliest deadline. So the
//! program does the same in every run, and as fast as it can: nothing sleeps. Neither the program
//! nor tokio, parking_lot, crossbeam or rayon is changed: the functions of libc through which
//! threads wait, read clocks and draw random numbers are defined here, under the same names.
//!
//! * A whole program: link this crate (`use ringspin_simulated_threads as _;`) and start the
//!   program with `RINGSPIN_MODE=deterministic`. Without the variable it runs as usual.
//! * A test: [`run`] gives a function its own world; worlds of parallel tests take turns.
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
//! | `restart` | a new start without a random layout of addresses |
//! | `test_world` | [`run`] |
//! | `explore`, `choice` | [`explore`](explore()): other orders of threads |
//! | `world` | the thread that runs, and the time |
//! | `signal_timers` | timers that send signals |
//! | `state` | the threads that are ready, and the waits of the others |
//! | `outside` | wake-ups by threads of no world |
//! | `turn` | handing over from thread to thread |
//! | `current` | the world of a thread |
//! | `descriptors` | descriptors for which threads wait, and timers |
//! | [`coordination`], `coordinator` | several processes in one order |
//! | `copies` | a program and a library of its with a copy of this crate each |
//! | `order` | the order of threads in a process of a run |
//! | `family`, `environment` | child processes that are processes of the run, and their programs |
//! | `children` | child processes that run in real time, outside of a run |
//! | `scheduler` | the executors among the threads |
//! | `interpose` | the functions of libc |
//! | `instrumented` | atomic operations of an instrumented program |
//! | `original` | their originals |
//! | `os` | real time and the operating system |
//! | `trace` | the order of threads in a file |
//! | `binary` | program and kernel in the report |
//! | `platform` | refuses to be built elsewhere |
//! | `wait` | waits of threads |
//! | `report`, `backtrace`, `output` | the report of threads that cannot continue |
//! | `watchdog` | threads that wait or work where no world sees it |

mod platform;

mod armed;
mod backtrace;
mod binary;
mod children;
mod choice;
pub mod coordination;
mod coordinator;
mod copies;
mod current;
mod descriptors;
mod environment;
mod explore;
mod family;
#[cfg(ringspin_instrumented)]
mod instrumented;
mod interpose;
mod order;
mod original;
mod os;
mod output;
mod outside;
mod report;
mod restart;
mod scheduler;
mod settings;
mod signal_timers;
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

use current::Inside;
use std::time::Duration;

/// A number that identifies the calling thread's world within the process; `None` outside of one.
pub fn world_id() -> Option<usize> {
    let (world, _) = current::current()?;
    Some(std::ptr::from_ref(world).addr())
}

/// The progress of the calling thread's world; `None` outside of one.
pub fn progress() -> Option<WorldProgress> {
    let _inside = Inside::enter();
    let (world, _) = current::current()?;
    Some(WorldProgress {
        time: Duration::from_nanos(world.now()),
        switches: world.switches.get(),
        digest: world.state().hash,
    })
}

/// The progress of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorldProgress {
    /// The time, since 1970.
    pub time: Duration,
    /// The number of switches to another thread.
    pub switches: u64,
    /// A digest of which thread ran when: equal in two runs in which the threads did the same.
    pub digest: u64,
}

/// The monotonic clock of the real time, for reports about a run; it counts from any point.
pub fn real_time() -> Duration {
    os::monotonic()
}
