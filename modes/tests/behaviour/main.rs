//! Promises of every mode, tested in every mode through one parameter.

mod actions;
mod balance;
mod budgets;
mod bursts;
mod changes;
mod churn;
mod cores;
mod deadlines;
mod delivery;
mod destruction;
mod detached_streams;
mod domains;
mod drops;
mod endings;
#[cfg(unix)]
mod escapes;
mod failures;
mod flight;
mod graph;
mod groups;
mod guard_conditions;
#[cfg(unix)]
mod interrupt;
mod isolation;
mod known_faults;
mod large_messages;
mod late_settings;
mod lifecycle;
mod middleware;
mod parameters;
mod qos;
mod random;
mod reconfiguration;
mod remapping;
mod services;
mod slots;
mod spin_async;
mod spinning;
mod synchronized;
mod tasks;
mod timers;

use ringspin_executor::{ErrorKind, Failure, FailurePolicy, StopHandle, WaitStrategy};
use ringspin_modes::{Executor, Mapping, Mode, allowed_cores};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Spins, and returns the failure that ended the spin. The error reads like the failure, and names
/// its node.
fn failure_of(executor: &mut Executor) -> Failure {
    let error = executor.spin().unwrap_err();
    let failure = error.cause::<Failure>().expect("the failure has to end the spin").clone();
    assert_eq!((error.kind(), error.node()), (ErrorKind::CallbackFailed, Some(&*failure.node)));
    assert_eq!(format!("{error:?}"), failure.to_string());
    failure
}

/// This program again, as a child; by its runner, if it needs one to run here.
fn this_program() -> Command {
    let runner = std::env::var("RINGSPIN_TEST_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let program = std::env::current_exe().unwrap();
    match words.next() {
        None => Command::new(program),
        Some(runner) => {
            let mut command = Command::new(runner);
            command.args(words).arg(program);
            command
        }
    }
}

/// A log that callbacks of any thread append to.
type Log<T> = Arc<Mutex<Vec<T>>>;

fn log<T>() -> Log<T> {
    Arc::default()
}

fn entries<T: Clone>(log: &Log<T>) -> Vec<T> {
    log.lock().unwrap().clone()
}

/// The first two cores of this process, if it has so many.
fn two_cores() -> Option<[usize; 2]> {
    let cores = allowed_cores();
    let [first, second, ..] = cores[..] else {
        println!("this needs two cores");
        return None;
    };
    Some([first, second])
}

fn thread_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

/// Stops an executor if the thread that owns this panics.
struct StopOnPanic(StopHandle);

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// Runs `act` on a thread beside `executor`, and usually ends the spin by an act of the thread. A
/// panic of the thread stops the executor, so that the test fails instead of waiting.
fn spawn_beside<T: Send + 'static>(
    executor: &Executor,
    act: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let stop = StopOnPanic(executor.stop_handle());
    std::thread::spawn(move || {
        let _stop = stop;
        act()
    })
}

#[test]
fn panic_of_a_thread_beside_stops_the_executor() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        node.create_timer(Duration::from_millis(1), |_, _| ()).unwrap();
        executor.freeze().unwrap();
        let thread = spawn_beside(&executor, || panic!("the thread"));
        assert!(thread.join().is_err());
        executor.spin_for(Duration::from_secs(60)).unwrap();
        assert_eq!(executor.statistics().dispatched(), 0, "it was stopped before");
    });
}

#[test]
fn end_of_a_thread_beside_does_not_stop_the_executor() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        node.create_timer(Duration::from_millis(1), |_, cx| cx.stop()).unwrap();
        executor.freeze().unwrap();
        assert_eq!(spawn_beside(&executor, || 7).join().unwrap(), 7);
        executor.spin().unwrap();
        assert_eq!(executor.statistics().dispatched(), 1);
    });
}

/// Runs `test` with an executor of each mode: single-core, multi-core with the wait strategies and
/// nodes that run where there is time, and deterministic.
fn in_every_mode(test: impl Fn(Executor)) {
    in_each_mode(&test);
}

/// Compiled once, not once a test.
fn in_each_mode(test: &dyn Fn(Executor)) {
    let modes: [(&str, Mode, WaitStrategy); 5] = [
        ("single", Mode::SingleCore, WaitStrategy::default()),
        ("multi", Mode::MultiCore(None), WaitStrategy::default()),
        ("multi, parking", Mode::MultiCore(None), WaitStrategy::SpinThenPark(Duration::ZERO)),
        ("multi, yielding", Mode::MultiCore(None), WaitStrategy::Yield),
        ("deterministic", Mode::Deterministic(Default::default()), WaitStrategy::default()),
    ];
    for (name, mode, wait) in modes {
        println!("mode: {name}");
        test(Executor::new(mode).with_wait_strategy(wait));
    }
}

/// An executor with everything on the first core that this process may use.
fn on_one_core() -> Executor {
    Executor::multi_core(Mapping::new().default_core(allowed_cores()[0]))
}

/// Runs `test` in every mode, with failing nodes isolated.
fn in_every_mode_isolating(test: impl Fn(Executor)) {
    in_every_mode(|executor| test(executor.with_failure_policy(FailurePolicy::IsolateNode)));
}
