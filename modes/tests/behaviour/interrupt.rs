//! Ctrl-C: the first stops the executor, the second names what does not return, and ends the
//! process.

use crate::this_program;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use ringspin_modes::Executor;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Tells this program that it is the child, and names its task.
const ROLE: &str = "RINGSPIN_TEST_ROLE";

/// This program again, as a child with this role.
fn child(role: &str) -> Child {
    let mut command = this_program();
    command.args(["--exact", "interrupt::the_child", "--nocapture"]).env(ROLE, role);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Not a test by itself: the program of the child processes.
#[test]
fn the_child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    if role == "several" {
        return several_executors();
    }
    let mut executor = Executor::single_core();
    executor.stop_on_ctrl_c().unwrap();
    let node = executor.create_node("node", ()).unwrap();
    node.create_one_shot_timer(Duration::from_millis(1), move |_, _| {
        println!("in the callback");
        if role == "stuck" {
            let (never, changes) = (Mutex::new(()), Condvar::new());
            let held = never.lock().unwrap_or_else(PoisonError::into_inner);
            drop(changes.wait_while(held, |_| true));
        }
    })
    .unwrap();
    executor.spin().unwrap();
    println!("the executor stopped");
}

/// One after the other is stopped: one that is kept, one that spins again after that, one that is
/// dropped, and one beside another that was stopped otherwise.
fn several_executors() {
    let create = || {
        let mut executor = Executor::single_core();
        executor.stop_on_ctrl_c().unwrap();
        let node = executor.create_node("node", ()).unwrap();
        node.create_one_shot_timer(Duration::from_millis(1), |_, _| println!("in the callback"))
            .unwrap();
        executor
    };
    let mut kept = create();
    kept.spin().unwrap();
    println!("the executor stopped");
    kept.stop_handle().reset();
    println!("in the callback");
    kept.spin().unwrap();
    println!("the executor stopped");
    create().spin().unwrap();
    println!("the executor stopped");
    let other = create();
    other.stop_handle().stop();
    let mut last = create();
    last.stop_on_ctrl_c().unwrap();
    last.spin().unwrap();
    println!("the executor stopped");
    drop((kept, other, last));
    println!("in the callback");
    std::thread::sleep(Duration::from_secs(3600));
}

/// Waits until the child's callback runs; returns the rest of its output.
fn when_running(child: &mut Child) -> impl BufRead + use<> {
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("in the callback") {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the child ended too early");
    }
    output
}

fn interrupt(child: &Child) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
}

#[test]
fn the_first_interrupt_stops_the_executor() {
    let mut child = child("quick");
    let output = when_running(&mut child);
    interrupt(&child);
    let rest = std::io::read_to_string(output).unwrap();
    assert!(rest.contains("the executor stopped"), "{rest}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn each_executor_of_a_process_is_stopped_by_one_interrupt() {
    let mut child = child("several");
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut wait_for = |expected: &str| {
        let mut line = String::new();
        while !line.contains(expected) {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the child ended too early");
        }
    };
    for _ in 0..4 {
        wait_for("in the callback");
        interrupt(&child);
        wait_for("the executor stopped");
    }
    // All are dropped: the process ends as if it had no handler.
    wait_for("in the callback");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn the_second_interrupt_names_the_callback_that_does_not_return() {
    let mut child = child("stuck");
    let _output = when_running(&mut child);
    // Signals of one kind are merged while one is pending: until the child has ended, send more.
    let status = loop {
        interrupt(&child);
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::yield_now(),
        }
    };
    let errors = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(status.code(), Some(130), "{errors}");
    assert!(errors.contains("still running: /node `one-shot timer 1ms`"), "{errors}");
}
