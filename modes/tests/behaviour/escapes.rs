//! Failures that cause further failures: any panic on a worker's thread ends the spin with a
//! report, in every mode, and never leaves other cores running.

use crate::{failure_of, in_every_mode, in_every_mode_isolating, this_program};
use ringspin_executor::{
    Budget, Cause, Completion, Context, Dispatch, Failure, FailurePolicy, Message, QoS, Recorder,
};
use ringspin_modes::Executor;
use std::fmt;
use std::panic::panic_any;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs `test`, which fails if it does not end.
fn that_ends(test: impl FnOnce() + Send + 'static) {
    let (end, ended) = mpsc::channel();
    let tested = std::thread::spawn(move || {
        test();
        let _ = end.send(());
    });
    match ended.recv_timeout(PATIENCE) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the spin does not end"),
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => tested.join().unwrap(),
    }
}

/// Nodes on all cores that would run for ever.
fn bystanders(executor: &Executor) {
    for n in 0..4 {
        let node = executor.create_node(&format!("bystander_{n}"), ()).unwrap();
        node.create_timer(MS, |_, _| ()).unwrap();
    }
}

/// The failure that ended the spin, which is listed.
fn listed_failure_of(executor: &mut Executor) -> Failure {
    let failure = failure_of(executor);
    assert!(executor.failures().contains(&failure), "it is listed");
    failure
}

/// An error and a panic's payload that can misbehave in every way.
#[derive(Debug)]
struct Rogue {
    display: fn(&mut fmt::Formatter<'_>) -> fmt::Result,
    drop_panics: bool,
}

impl fmt::Display for Rogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.display)(f)
    }
}

impl std::error::Error for Rogue {}

impl Drop for Rogue {
    fn drop(&mut self) {
        if self.drop_panics {
            panic_any(Rogue { display: self.display, drop_panics: !std::thread::panicking() });
        }
    }
}

const ROGUES: usize = 4;

/// The rogue with this number, up to [`ROGUES`].
fn rogue(n: usize) -> Rogue {
    match n {
        0 => Rogue { display: |_| Err(fmt::Error), drop_panics: false },
        1 => Rogue { display: |_| panic!("no text"), drop_panics: false },
        2 => Rogue { display: |f| f.write_str("text"), drop_panics: true },
        _ => Rogue { display: |_| panic!("no text"), drop_panics: true },
    }
}

#[test]
fn error_without_a_usable_text_is_a_failure_like_others() {
    that_ends(|| {
        for n in 0..ROGUES {
            in_every_mode(|mut executor| {
                bystanders(&executor);
                let node = executor.create_node("rogue", ()).unwrap();
                node.create_timer(MS, move |_, _| Err::<(), _>(rogue(n))).unwrap();
                let failure = listed_failure_of(&mut executor);
                assert_eq!(failure.node, "/rogue");
                assert!(matches!(failure.cause, Cause::Error(_)), "{failure}");
            });
        }
    });
}

#[test]
fn payload_whose_drop_panics_is_a_failure_like_others() {
    that_ends(|| {
        in_every_mode(|mut executor| {
            bystanders(&executor);
            let node = executor.create_node("rogue", ()).unwrap();
            node.create_timer(MS, |_, _| panic_any(rogue(2))).unwrap();
            let failure = listed_failure_of(&mut executor);
            assert_eq!(failure.node, "/rogue");
            assert_eq!(failure.cause, Cause::Panic("a panic without a text".into()));
        });
    });
}

/// Also where the failure has no other consequence than a node's isolation, or its restart.
#[test]
fn nodes_whose_failures_panic_again_are_isolated_or_restarted() {
    that_ends(|| {
        in_every_mode_isolating(|mut executor| {
            for n in 0..ROGUES {
                let node = executor.create_node(&format!("error_{n}"), ()).unwrap();
                node.create_timer(MS, move |_, _| Err::<(), _>(rogue(n))).unwrap();
                let node = executor.create_node(&format!("panic_{n}"), rogue(2)).unwrap();
                node.create_timer(MS, move |_, _| panic_any(rogue(n))).unwrap();
                let name = format!("restarted_{n}");
                let node = executor.graph().create_restartable_node(&name, 1, move || rogue(n));
                let node = node.unwrap();
                node.create_timer(MS, |_, _| Err::<(), _>("again")).unwrap();
            }
            let observer = executor.create_node("observer", 0u32).unwrap();
            observer
                .create_timer(MS, |ticks, cx| {
                    *ticks += 1;
                    if *ticks % 20 == 0 {
                        cx.stop();
                    }
                })
                .unwrap();
            // Each spin ends; on a slow machine a node may not have failed until a later one.
            let expected: Vec<_> = (0..ROGUES)
                .flat_map(|n| ["error", "panic", "restarted"].map(|kind| format!("/{kind}_{n}")))
                .collect();
            loop {
                executor.spin().unwrap();
                executor.stop_handle().reset();
                let failures = executor.failures();
                let failed = |name: &String| failures.iter().any(|failure| failure.node == *name);
                let drops = failures.iter().filter(|f| f.callback.starts_with("drop of its state"));
                let dropped = drops.filter(|failure| failure.node.starts_with("/panic")).count();
                if expected.iter().all(failed) && dropped == ROGUES {
                    break;
                }
            }
        });
    });
}

struct Rec {
    starts: bool,
}

impl Recorder for Rec {
    fn started(&mut self, _: &Dispatch) {
        assert!(!self.starts, "a full disk");
    }

    fn finished(&mut self, _: &Dispatch, _: Completion) {
        panic!("a full disk");
    }
}

/// It is not the node's fault: isolating that would not help.
#[test]
fn recorder_that_panics_stops_the_executor_whatever_the_policy() {
    that_ends(|| {
        for starts in [true, false] {
            in_every_mode_isolating(|executor| {
                let mut executor = executor.with_recorders(move |_, _| Rec { starts });
                bystanders(&executor);
                let Cause::Panic(text) = listed_failure_of(&mut executor).cause else { panic!() };
                assert!(text.contains("a full disk"), "{text}");
            });
        }
    });
}

/// A state and a message that cannot be dropped.
#[derive(Debug)]
struct Undroppable;

impl Drop for Undroppable {
    fn drop(&mut self) {
        panic!("undroppable");
    }
}

#[test]
fn executor_drops_all_states_and_reports_each_that_panics() {
    that_ends(|| {
        in_every_mode(|mut executor| {
            let held = std::sync::Arc::new(());
            for n in 0..6 {
                let state = (Undroppable, held.clone());
                let node = executor.create_node(&format!("node_{n}"), state).unwrap();
                let (kept, captured) = (held.clone(), Undroppable);
                node.create_timer(MS, move |_, cx| {
                    let _ = (&kept, &captured);
                    cx.stop();
                })
                .unwrap();
            }
            executor.spin().unwrap();
            let monitor = executor.monitor().unwrap();
            drop(executor);
            assert_eq!(std::sync::Arc::strong_count(&held), 1);
            let failures = monitor.failures();
            let nodes: Vec<_> = failures.iter().map(|failure| &*failure.node).collect();
            assert_eq!(nodes.len(), 6, "{failures:?}");
            let text = failures[0].to_string();
            assert!(text.contains("/node_") && text.contains("undroppable"), "{text}");
        });
    });
}

#[test]
fn message_whose_drop_panics_fails_the_callback_that_gets_it() {
    that_ends(|| {
        in_every_mode(|mut executor| {
            bystanders(&executor);
            let node = executor.create_node("node", ()).unwrap();
            let out = node.create_publisher("topic", QoS::default()).unwrap();
            let callback = |_: &mut (), _: &Message<Undroppable>, _: &mut Context<'_>| ();
            node.create_subscription("topic", QoS::default(), callback).unwrap();
            node.create_timer(MS, move |_, _| std::mem::forget(out.publish(Undroppable))).unwrap();
            let failure = listed_failure_of(&mut executor);
            assert_eq!(failure.cause, Cause::Panic("undroppable".into()));
        });
    });
}

/// Tells this program that it is the child, and in which mode.
const ROLE: &str = "RINGSPIN_TEST_LOG";

/// A log that cannot write what ringspin says.
struct FullLog;

impl tracing::Subscriber for FullLog {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("ringspin")
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        assert!(*event.metadata().level() > tracing::Level::WARN, "the log is full");
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {
        // While a callback's panic unwinds, and afterwards.
        if std::env::var(ROLE).is_ok_and(|role| role == "spans") {
            panic!("the log is full");
        }
    }
}

/// Not a test by itself: the program of the child processes, each with a separate log.
#[test]
fn the_child_with_a_full_log() {
    let Ok(role) = std::env::var(ROLE) else { return };
    tracing::subscriber::set_global_default(FullLog).unwrap();
    in_every_mode_isolating(|mut executor| {
        bystanders(&executor);
        let node = executor.create_node("node", ()).unwrap();
        match &*role {
            // The log of the failure.
            "failure" | "spans" => {
                node.create_timer(MS, |_, _| panic!("the callback")).unwrap();
            }
            // The log of a late callback.
            "late" => {
                node.create_timer(MS, |_, _| std::thread::sleep(MS)).unwrap();
                node.set_deadline("timer 1ms", Duration::from_nanos(1)).unwrap();
            }
            // The log of an exceeded budget.
            "budget" => {
                node.create_timer(MS, |_, _| std::thread::sleep(MS)).unwrap();
                node.set_budget(Budget::new(MS / 1000, MS).unwrap()).unwrap();
            }
            // The log of periods that were missed: no callback has to do with it.
            _ => {
                node.create_timer(MS, |_, _| std::thread::sleep(20 * MS)).unwrap();
            }
        }
        let is_simulated =
            executor.digest().is_some() || format!("{executor:?}").contains("Determ");
        if is_simulated && ["late", "budget", "missed"].contains(&&*role) {
            return; // callbacks take no time there
        }
        let failure = listed_failure_of(&mut executor);
        assert!(failure.to_string().contains("the log is full"), "{failure}");
    });
    println!("all modes ended");
}

#[test]
fn log_that_panics_stops_the_executor_with_a_report() {
    for role in ["failure", "late", "budget", "missed", "spans"] {
        let mut command = this_program();
        command.args(["--exact", "escapes::the_child_with_a_full_log", "--nocapture"]);
        command.env(ROLE, role).stdin(Stdio::null());
        let output = that_returns(command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("all modes ended"), "{role}: {text}{errors}");
    }
}

/// The output of a child, which is ended if it takes too long.
pub(crate) fn that_returns(mut command: std::process::Command) -> std::process::Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    let (end, ended) = mpsc::channel();
    let waiting = std::thread::spawn(move || {
        let output = child.wait_with_output();
        let _ = end.send(());
        output
    });
    if ended.recv_timeout(PATIENCE).is_err() {
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGKILL).unwrap();
    }
    waiting.join().unwrap().unwrap()
}

/// The policy is the node's own.
#[test]
fn failure_that_panics_again_stops_the_others_if_that_is_the_policy_of_its_node() {
    that_ends(|| {
        in_every_mode_isolating(|mut executor| {
            bystanders(&executor);
            let node = executor.create_node("rogue", ()).unwrap();
            node.set_failure_policy(FailurePolicy::StopAll).unwrap();
            node.create_timer(MS, |_, _| panic_any(rogue(2))).unwrap();
            assert_eq!(listed_failure_of(&mut executor).node, "/rogue");
        });
    });
}
