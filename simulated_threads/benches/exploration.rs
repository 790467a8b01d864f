//! How many runs find the bugs of small programs: `explore` on ordinary code, beside Shuttle
//! on the same code written with its types. Medians and maxima over seeds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ringspin_simulated_threads::{ExploreError, Settings};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

const RUNS_MAX: u64 = 10_000;
const SEEDS: u64 = 21;

/// The programs, with the threads and locks of a crate; `log` stands for a line of a log.
macro_rules! programs {
    ($module:ident, $($path:ident)::+, $log:expr) => {
        mod $module {
            use $($path)::+::sync::atomic::{AtomicBool, AtomicU32, Ordering};
            use $($path)::+::sync::{Arc, Condvar, Mutex};
            use $($path)::+::thread;

            /// Two threads that take two locks in different orders.
            pub(super) fn deadlock() {
                let (left, right) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
                let lock_both = |first: Arc<Mutex<()>>, second: Arc<Mutex<()>>| {
                    move || {
                        let first = first.lock().unwrap();
                        $log;
                        let second = second.lock().unwrap();
                        drop((first, second));
                    }
                };
                let other = thread::spawn(lock_both(left.clone(), right.clone()));
                lock_both(right, left)();
                other.join().unwrap();
            }

            /// The flag is checked, and then the wait begins: the notice in between is lost.
            pub(super) fn lost_wakeup() {
                let is_ready = Arc::new(AtomicBool::new(false));
                let event = Arc::new((Mutex::new(()), Condvar::new()));
                let (flag, notified) = (is_ready.clone(), event.clone());
                let notifier = thread::spawn(move || {
                    flag.store(true, Ordering::SeqCst);
                    notified.1.notify_one();
                });
                if !is_ready.load(Ordering::SeqCst) {
                    $log;
                    let lock = event.0.lock().unwrap();
                    drop(event.1.wait(lock).unwrap());
                }
                notifier.join().unwrap();
            }

            /// A counter that is read, and written later.
            pub(super) fn lost_update() {
                let counter = Arc::new(AtomicU32::new(0));
                let add = |counter: Arc<AtomicU32>| {
                    move || {
                        let value = counter.load(Ordering::SeqCst);
                        $log;
                        counter.store(value + 1, Ordering::SeqCst);
                    }
                };
                let threads: Vec<_> =
                    (0..3).map(|_| thread::spawn(add(counter.clone()))).collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                assert_eq!(counter.load(Ordering::SeqCst), 3, "an update was lost");
            }
        }
    };
}

programs!(ordinary, std, {
    let _ = std::time::Instant::now();
});
programs!(shuttles, shuttle, {});

/// An answer that comes at the instant of the timeout: usually the server is first. For Shuttle, no
/// time passes.
fn missed_timeout() {
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

/// The number of the run that fails, with this seed.
fn explored(seed: u64, program: fn()) -> u64 {
    match (Settings { seed: seed * RUNS_MAX, ..Settings::default() }).explore(RUNS_MAX, program) {
        Err(ExploreError::Found(found)) => found.runs,
        other => panic!("not found: {other:?}"),
    }
}

fn with_shuttle(scheduler: impl Scheduler + 'static, program: fn()) -> u64 {
    let runs = Arc::new(AtomicU64::new(0));
    let count = runs.clone();
    let mut config = Config::new();
    config.silence_warnings = true;
    let failed = catch_unwind(AssertUnwindSafe(|| {
        Runner::new(scheduler, config).run(move || {
            count.fetch_add(1, Ordering::Relaxed);
            program();
        });
    }));
    assert!(failed.is_err(), "not found");
    runs.load(Ordering::Relaxed)
}

fn summary(find: impl Fn(u64) -> u64) -> String {
    let mut runs: Vec<_> = (1..=SEEDS).map(find).collect();
    runs.sort_unstable();
    format!("{} / {}", runs[runs.len() / 2], runs[runs.len() - 1])
}

/// A name, a program, and the same one with Shuttle's types.
type Program = (&'static str, fn(), fn());

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let runs = RUNS_MAX as usize;
    println!("runs up to the bug, median / maximum of {SEEDS} seeds");
    println!("{:<14} {:>12} {:>16} {:>14}", "", "explore", "Shuttle, random", "Shuttle, PCT");
    let programs: [Program; 3] = [
        ("deadlock", ordinary::deadlock, shuttles::deadlock),
        ("lost wake-up", ordinary::lost_wakeup, shuttles::lost_wakeup),
        ("lost update", ordinary::lost_update, shuttles::lost_update),
    ];
    for (name, program, of_shuttle) in programs {
        let own = summary(|seed| explored(seed, program));
        let random =
            summary(|seed| with_shuttle(RandomScheduler::new_from_seed(seed, runs), of_shuttle));
        let pct =
            summary(|seed| with_shuttle(PctScheduler::new_from_seed(seed, 3, runs), of_shuttle));
        println!("{name:<14} {own:>12} {random:>16} {pct:>14}");
    }
    let own = summary(|seed| explored(seed, missed_timeout));
    println!("{:<14} {own:>12}", "missed timeout");
}
