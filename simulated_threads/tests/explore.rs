//! Bugs of ordinary threaded code that come in some orders of threads only: found, shrunk, and
//! repeated from the schedule.

mod common;

use ringspin_simulated_threads::{ExploreError, Found, Settings, explore, run};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const RUNS: u64 = 1000;

/// Lets other threads run, as any line of a log does that has a time.
fn write_log() {
    let _ = Instant::now();
}

/// Two threads that take two locks in different orders.
fn deadlock() {
    let (left, right) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    let lock_both = |first: Arc<Mutex<()>>, second: Arc<Mutex<()>>| {
        move || {
            let first = first.lock().unwrap();
            write_log();
            let second = second.lock().unwrap();
            drop((first, second));
        }
    };
    let other = thread::spawn(lock_both(left.clone(), right.clone()));
    lock_both(right, left)();
    other.join().unwrap();
}

/// The flag is checked, and then the wait begins: the notice in between is lost.
fn lost_wakeup() {
    let (is_ready, event) =
        (Arc::new(AtomicBool::new(false)), Arc::new((Mutex::new(()), Condvar::new())));
    let (flag, notified) = (is_ready.clone(), event.clone());
    let notifier = thread::spawn(move || {
        flag.store(true, Ordering::SeqCst);
        notified.1.notify_one();
    });
    if !is_ready.load(Ordering::SeqCst) {
        write_log();
        let lock = event.0.lock().unwrap();
        drop(event.1.wait(lock).unwrap());
    }
    notifier.join().unwrap();
}

/// A counter that is read, and written later.
fn lost_update() {
    let counter = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let counter = counter.clone();
            thread::spawn(move || {
                let value = counter.load(Ordering::SeqCst);
                write_log();
                counter.store(value + 1, Ordering::SeqCst);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(counter.load(Ordering::SeqCst), 3, "an update was lost");
}

/// An answer that comes at the instant of the timeout: usually the server is first.
fn missed_timeout() {
    let (answer, received) = mpsc::channel();
    let server = thread::spawn(move || {
        answer.send(0).unwrap(); // it begins
        thread::sleep(Duration::from_millis(50));
        let _ = answer.send(7);
    });
    assert_eq!(received.recv(), Ok(0));
    let begin = Instant::now();
    let got = received.recv_timeout(Duration::from_millis(50));
    assert!(begin.elapsed() <= Duration::from_millis(50));
    assert_eq!(got, Ok(7), "the server did not answer");
    server.join().unwrap();
}

fn find(function: fn()) -> Found {
    match explore(RUNS, function) {
        Err(ExploreError::Found(found)) => *found,
        other => panic!("not found in {RUNS} runs: {other:?}"),
    }
}

/// The usual order hides the bug; the exploration finds it, each time in the same run.
fn is_found_and_shrunk(function: fn(), deviations_max: usize, failure: &str) {
    let found = find(function);
    assert!(found.runs > 1, "the usual order fails: {found}");
    assert!(found.failure.contains(failure), "{found}");
    assert!(found.threads.iter().all(|taken| found.to_string().contains(&taken.to_string())));
    let deviations = found.threads.iter().map(|taken| taken.deviation);
    assert_eq!(deviations.collect::<Vec<_>>(), found.schedule.threads);
    assert!(found.schedule.threads.len() <= deviations_max, "{found}");
    assert!(found.to_string().contains(&format!("RINGSPIN_SCHEDULE='{}'", found.schedule)));
    assert_eq!(find(function), found);
}

/// Explores a function of [`REPEATED`] in another process with `schedule` in its environment.
fn repeat(name: &str, schedule: &str) -> String {
    let program = common::command(std::env::current_exe().unwrap())
        .args(["shown", "--exact", "--ignored", "--nocapture"])
        .env("RINGSPIN_TEST_FUNCTION", name)
        .env("RINGSPIN_SCHEDULE", schedule)
        .output()
        .unwrap();
    String::from_utf8_lossy(&program.stdout).into_owned()
}

/// Functions with a bug, and the begin of its failure.
const REPEATED: [(&str, fn(), &str); 4] = [
    ("deadlock", deadlock, "deadlock at 0"),
    ("wake-up", lost_wakeup, "deadlock at 0"),
    ("update", lost_update, "an update was lost"),
    ("timeout", missed_timeout, "the server did not answer"),
];

#[test]
#[ignore = "is started by `schedule_in_the_environment_is_repeated`"]
fn shown() {
    let name = std::env::var("RINGSPIN_TEST_FUNCTION").unwrap();
    let (.., function, _) = REPEATED.iter().find(|(other, ..)| *other == name).unwrap();
    println!("{:?}", explore(RUNS, *function).map_err(|error| error.to_string()));
}

#[test]
fn schedule_in_the_environment_is_repeated() {
    for (name, function, failure) in REPEATED {
        let found = find(function);
        let shown = repeat(name, &found.schedule.to_string());
        assert!(shown.contains("in run 1;") && shown.contains(failure), "{name}: {shown}");
    }
    let other = repeat("deadlock", "s1");
    assert!(other.contains("Ok(())"), "{other}");
    let other = repeat("deadlock", "s1,h7:0>1");
    assert!(other.contains("was not followed: the function has other choices"), "{other}");
    let wrong = repeat("deadlock", "x");
    assert!(wrong.contains("RINGSPIN_SCHEDULE: `x` is not a deviation"), "{wrong}");
}

#[test]
fn deadlock_of_two_locks() {
    is_found_and_shrunk(deadlock, 2, "deadlock");
}

#[test]
fn wakeup_that_is_lost() {
    is_found_and_shrunk(lost_wakeup, 2, "deadlock");
}

#[test]
fn update_that_is_lost() {
    is_found_and_shrunk(lost_update, 2, "an update was lost");
}

#[test]
fn timeout_at_the_instant_of_the_answer() {
    is_found_and_shrunk(missed_timeout, 1, "the server did not answer");
}

/// Every second run has priorities. Where they stay as they are, no thread loses its turn before it
/// waits, and no update is lost.
#[test]
fn priorities_of_threads_change_within_a_run() {
    let runs = |seed| match (Settings { seed, ..Settings::default() }).explore(RUNS, lost_update) {
        Err(ExploreError::Found(found)) => found.runs,
        other => panic!("not found in {RUNS} runs: {other:?}"),
    };
    assert!((0..16).any(|seed| runs(seed) % 2 == 0));
}

#[test]
fn correct_program_passes_every_order() {
    let correct = || {
        let counter = Arc::new(Mutex::new(0));
        let add = |counter: Arc<Mutex<i32>>| {
            move || {
                write_log();
                *counter.lock().unwrap() += 1;
            }
        };
        let threads: Vec<_> = (0..3).map(|_| thread::spawn(add(counter.clone()))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*counter.lock().unwrap(), 3);
    };
    explore(200, correct).unwrap();
}

#[test]
fn usual_order_of_a_world_is_not_explored() {
    for _ in 0..5 {
        run(lost_update).unwrap();
        Settings { seed: 3, ..Settings::default() }.run(lost_wakeup).unwrap();
    }
}
