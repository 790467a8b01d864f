//! Panics in the user's code that is no callback: each is reported with its place and ends its run
//! only, never the program or an exploration.

use ringspin_executor::{
    BoxError, CallbackId, Context, Delivery, Digest, DigestHasher, Dispatch, ExternalInput,
    FailurePolicy, Graph, GraphInfo, Message, Publisher, QoS, Recorder, Time,
};
use ringspin_modes::deterministic::{Execution, Model, ResolvedDurations};
use ringspin_modes::{Candidate, Executor, Simulation, TieBreaker, TiePolicy};
use ringspin_simulation::{Counterexample, Exploration, Job};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Panics when it is dropped.
#[derive(Default)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("boom");
    }
}

/// A panic with a payload that panics when dropped.
struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        panic!("the payload, too");
    }
}

struct Undigestible;

impl Digest for Undigestible {
    fn digest(&self, _: &mut DigestHasher) {
        panic!("no digest");
    }
}

/// A node with a timer of one millisecond and this state.
fn ticking<S: Send + 'static>(graph: &Graph, name: &str, state: S) -> Result<(), BoxError> {
    graph.create_node(name, state)?.create_timer(MS, |_, _| {})?;
    Ok(())
}

/// Two nodes with timers that are due together, so that there is a choice.
fn pair(graph: &Graph) -> Result<(), BoxError> {
    ticking(graph, "a", ())?;
    ticking(graph, "b", ())
}

fn error<T>(job: &Job<'_, T>) -> String {
    job.run().expect_err("it fails").to_string()
}

#[test]
fn a_panic_while_the_graph_is_built_is_an_error() {
    let job = Job::new(|_| -> Result<(), BoxError> { panic!("no graph today") });
    assert_eq!(error(&job), "building the graph panicked: no graph today");
    assert_eq!(job.start().err().unwrap().to_string(), error(&job));
}

#[test]
fn states_that_panic_when_they_are_dropped_are_named() {
    // Two of them: a second panic while the first unwinds would abort the process.
    let job = Job::new(|graph| {
        ticking(graph, "a", Bomb)?;
        ticking(graph, "b", Bomb)?;
        graph.create_node("c", ())?.create_callback_group("group", Bomb)?;
        Ok(())
    });
    let job = job.run_for(2 * MS);
    let message = error(&job);
    for node in ["/a", "/b", "/c:group"] {
        assert!(message.contains(&format!("dropping the state of {node} panicked")), "{message}");
    }
    // A session that is just dropped has no one to tell.
    drop(job.start().unwrap());
}

#[test]
fn a_drop_that_panics_before_the_start_is_an_error() {
    let job = Job::new(|graph| {
        graph.create_node("a", Bomb)?;
        graph.create_node("b", Bomb)?;
        graph.create_node("b", ())?;
        Ok(())
    });
    assert!(error(&job).contains("failed to create node /b: there is one"), "{}", error(&job));
}

#[test]
fn captures_and_handles_that_panic_when_they_are_dropped_are_named() {
    let job = Job::new(|graph| {
        let (one, other) = (Bomb, Bomb);
        let node = graph.create_node("a", ())?;
        node.create_timer(MS, move |_, _| assert_eq!(size_of_val(&one), 0))?;
        node.create_timer(MS, move |_, _| assert_eq!(size_of_val(&other), 0))?;
        Ok(())
    });
    let message = error(&job.run_for(MS));
    assert!(
        message.contains("dropping a callback of /a panicked at 0.001000000 s: boom; "),
        "{message}"
    );
    let job = Job::new(|_| Ok(Bomb));
    assert_eq!(error(&job), "dropping the job's handles panicked at 0.000000000 s: boom");
}

#[test]
fn a_state_whose_digest_panics_is_a_failure_of_its_node() {
    let job = Job::new(|graph| {
        let node = graph.create_node("a", Undigestible)?;
        node.digest_state()?;
        node.create_timer(MS, |_, _| {})?;
        ticking(graph, "b", ())
    });
    let job = job.run_for(3 * MS);
    let expected = "node /a, callback `timer 1ms` panicked on event";
    let message = error(&job);
    assert!(message.starts_with(expected) && message.contains("no digest"), "{message}");
    let report = job.with_failure_policy(FailurePolicy::IsolateNode).run().unwrap();
    assert_eq!(report.failures().len(), 1);
    assert_eq!(report.statistics().of("/b").next().unwrap().dispatched, 3);
}

#[test]
fn a_message_whose_digest_panics_is_a_failure_of_the_callback_that_publishes_it() {
    let job = Job::new(|graph| {
        let node = graph.create_node("a", ())?;
        let out = node.create_publisher("t", QoS::default())?.digested();
        node.create_timer(MS, move |(), _| out.publish(Undigestible))?;
        Ok(())
    });
    let message = error(&job.run_for(3 * MS));
    assert!(message.starts_with("node /a, callback `timer 1ms` panicked"), "{message}");
}

struct Undecided;

impl TieBreaker for Undecided {
    fn choose(&mut self, _: Time, _: &[Candidate]) -> usize {
        panic!("I cannot decide")
    }
}

#[test]
fn a_tie_breaker_that_panics_ends_its_run() {
    let job = Job::new(pair).run_for(3 * MS).with_tie_breaker(|| Undecided);
    assert_eq!(error(&job), "the tie breaker panicked at 0.001000000 s: I cannot decide");
    let none = || -> Undecided { panic!("none left") };
    let job = Job::new(pair).run_for(3 * MS).with_tie_breaker(none);
    assert_eq!(error(&job), "creating the tie breaker panicked: none left");
}

#[test]
fn an_end_condition_that_panics_ends_its_run() {
    let job = Job::new(pair).run_for(3 * MS).end_when(|(), now| {
        assert!(now < Time::ZERO + 2 * MS, "too late");
        false
    });
    assert_eq!(error(&job), "the end condition panicked at 0.002000000 s: too late");
    let mut session = Job::new(pair).start().unwrap();
    let ended = session.run_until_true(|(), _| panic!("never")).unwrap_err().to_string();
    assert_eq!(ended, "the end condition panicked at 0.000000000 s: never");
}

/// A model of durations that panics when the graph is frozen, or when it is asked.
#[derive(Debug)]
struct BadModel {
    resolves: bool,
}

struct BadDurations;

impl Model<dyn ResolvedDurations> for BadModel {
    fn resolve(&self, _: &GraphInfo, _: u64) -> Result<Box<dyn ResolvedDurations>, BoxError> {
        assert!(self.resolves, "no model");
        Ok(Box::new(BadDurations))
    }

    fn equals(&self, _: &dyn std::any::Any) -> bool {
        false
    }
}

impl ResolvedDurations for BadDurations {
    fn extend(&mut self, _: &GraphInfo) {}

    fn depends_on_sending(&self) -> bool {
        false
    }

    fn execution(&self, _: CallbackId, _: u64) -> Execution {
        panic!("no duration")
    }
}

#[test]
fn model_that_panics_ends_its_run_only() {
    for (resolves, expected) in [(false, "the run panicked: no model"), (true, "no duration")] {
        let job = Job::new(pair).run_for(3 * MS).simulate(|simulation| {
            simulation.durations = Some(Arc::new(BadModel { resolves }));
        });
        assert!(error(&job).contains(expected), "{}", error(&job));
        let explored = job.explore(&Exploration { seeds: 0..3, ..Exploration::default() });
        let error = explored.unwrap_err();
        assert!(error.to_string().starts_with("the job fails in the default order"), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Panics at one of its methods.
struct Input {
    method: &'static str,
    left: u32,
    _out: Publisher<u32>,
}

impl ExternalInput for Input {
    fn next_time(&mut self) -> Option<Time> {
        assert_ne!(self.method, "next_time");
        (self.left > 0).then_some(Time::ZERO + MS)
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        self.left -= 1;
        assert_ne!(self.method, "deliver");
        Ok(Delivery::Done)
    }

    fn quiet(&mut self, _: Time) -> Result<(), BoxError> {
        assert_ne!(self.method, "quiet");
        Ok(())
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        assert_ne!(self.method, "drop");
    }
}

#[test]
fn inputs_that_panic_are_named() {
    for method in ["next_time", "deliver", "quiet", "drop"] {
        let job = Job::new(|graph| {
            let _out = graph.create_node("player", ())?.create_publisher("t", QoS::default())?;
            graph.add_input("bag", Input { method, left: 2, _out })?;
            pair(graph)
        });
        let message = error(&job.run_for(3 * MS));
        let expected = match method {
            "drop" => "dropping input \"bag\" panicked at 0.003000000 s: ",
            "deliver" => "input \"bag\" failed at 0.001000000 s: it panicked: ",
            _ => "input \"bag\" failed at 0.000000000 s: it panicked: ",
        };
        assert!(message.starts_with(expected), "{method}: {message}");
    }
}

#[test]
fn failed_build_drops_inputs_that_panic() {
    let built = |fails: bool| {
        Job::new(move |graph| {
            for (node, input) in [("player", "bag"), ("other", "second bag")] {
                let _out = graph.create_node(node, Bomb)?.create_publisher("t", QoS::default())?;
                graph.add_input(input, Input { method: "drop", left: 0, _out })?;
            }
            if fails { Err("no graph today".into()) } else { Ok(()) }
        })
    };
    assert_eq!(error(&built(true)), "no graph today");
    assert_eq!(built(true).start().err().unwrap().to_string(), "no graph today");
    // A session that is dropped drops inputs and states all the same.
    drop(built(false).start().unwrap());
    let message = error(&built(false).run_for(MS));
    for input in ["bag", "second bag"] {
        assert!(message.contains(&format!("dropping input {input:?} panicked")), "{message}");
    }
}

#[test]
fn session_that_is_dropped_drops_waiting_messages_that_panic() {
    let job = Job::new(|graph| {
        let node = graph.create_node("a", ())?;
        let out = node.create_publisher("t", QoS::default())?;
        let captured = Bomb;
        let take = move |_: &mut (), _: &Message<Bomb>, _: &mut Context<'_>| _ = &captured;
        node.create_subscription("t", QoS::keep_last(3), take)?;
        node.create_one_shot_timer(MS, move |(), cx| {
            for _ in 0..3 {
                assert!(out.publish(Bomb).is_ok());
            }
            cx.stop();
        })?;
        Ok(())
    });
    let mut session = job.start().unwrap();
    session.step().unwrap();
    drop(session);
    let message = error(&job.run_for(2 * MS));
    let expected = "dropping a callback of /a panicked at 0.001000000 s: boom; \
                    dropping the waiting messages of /a panicked at 0.001000000 s: boom";
    assert_eq!(message, expected);
}

#[test]
fn exploring_finds_the_order_in_which_an_end_condition_panics() {
    let seen = |order: &Arc<AtomicU32>| order.load(Ordering::Relaxed);
    let job = Job::new(|graph| {
        let order = Arc::new(AtomicU32::new(0));
        for (name, digit) in [("a", 1), ("b", 2)] {
            let order = order.clone();
            let node = graph.create_node(name, ())?;
            node.create_one_shot_timer(MS, move |(), _| {
                order.store(10 * order.load(Ordering::Relaxed) + digit, Ordering::Relaxed);
            })?;
        }
        Ok(order)
    });
    let job = job.run_for(2 * MS).end_when(|order, _| {
        assert!(seen(order) != 21, "b was first");
        false
    });
    job.run().unwrap();
    for threads in [1, 3] {
        let exploration = Exploration { seeds: 0..50, threads, ..Exploration::default() };
        let error = job.explore(&exploration).unwrap_err();
        let found = error.cause::<Counterexample>().unwrap();
        let expected = "the end condition panicked at 0.001000000 s: b was first";
        assert!(found.failure.contains(expected), "{found}");
    }
}

#[test]
fn exploring_asks_no_tie_breaker_of_the_job() {
    let job = Job::new(pair).run_for(3 * MS).with_tie_breaker(|| Undecided);
    let exploration = Exploration { seeds: 0..5, ..Exploration::default() };
    assert_eq!(job.explore(&exploration).unwrap().runs, 5);
}

struct Clumsy(&'static str);

impl Recorder for Clumsy {
    fn started(&mut self, _: &Dispatch) {
        assert_ne!(self.0, "started");
    }

    fn finished(&mut self, _: &Dispatch, _: ringspin_executor::Completion) {
        assert_ne!(self.0, "finished");
    }
}

impl Drop for Clumsy {
    fn drop(&mut self) {
        assert_ne!(self.0, "drop");
    }
}

#[test]
fn recorders_that_panic_are_reported_with_the_dispatch() {
    for method in ["started", "finished"] {
        for simulated in [true, false] {
            let mut executor = match simulated {
                true => Executor::deterministic(Simulation::default()),
                false => Executor::single_core(),
            };
            pair(executor.graph()).unwrap();
            executor = executor.with_recorders(move |_, _| Clumsy(method));
            // Live, it ends as soon as the recorder has panicked.
            let error = executor.spin_for(Duration::from_secs(60)).unwrap_err().to_string();
            assert!(error.contains(", callback `timer 1ms` panicked on event"), "{error}");
            assert!(method == "started" || error.contains("its recorder panicked"), "{error}");
        }
    }
    let executor = Executor::deterministic(Simulation::default());
    pair(executor.graph()).unwrap();
    let mut executor = executor.with_recorders(|_, _| -> Clumsy { panic!("no recorder") });
    let error = executor.spin_for(MS).unwrap_err().to_string();
    assert_eq!(error, "creating the recorder panicked: no recorder");
}

#[test]
fn a_message_that_panics_when_it_is_overwritten_on_its_arrival_ends_its_run() {
    let links = ringspin_simulation::models::Links::from_toml(
        "[[link]]\ntopic = \"/t\"\ndelay = \"10 ms\"",
    );
    let links = links.unwrap();
    let job = Job::new(|graph| {
        let node = graph.create_node("a", ())?;
        let out = node.create_publisher::<Option<Bomb>>("t", QoS::default())?;
        node.create_one_shot_timer(MS, move |(), _| {
            // They arrive together, and there is a place for one.
            out.publish(Some(Bomb)).ok();
            out.publish(None).ok();
        })?;
        let to = graph.create_node("b", ())?;
        to.create_subscription("t", QoS::keep_last(1), |_, _: &Message<Option<Bomb>>, _| {})?;
        Ok(())
    });
    let job = job.simulate(|simulation| simulation.links = links.into()).run_for(11 * MS);
    assert_eq!(error(&job), "dropping a message panicked at 0.011000000 s: boom");
    // Still under way.
    let job = job.run_for(5 * MS);
    assert_eq!(error(&job), "dropping a message panicked at 0.005000000 s: boom");
}

#[test]
fn panic_of_the_observer_of_runs_is_an_error() {
    let job = Job::new(pair).run_for(MS).after_each_run(|| panic!("not listening"));
    assert_eq!(error(&job), "the observer of runs panicked: not listening");
}

#[test]
fn a_panic_whose_payload_panics_ends_its_run_only() {
    let job = Job::new(pair).run_for(3 * MS).end_when(|(), _| std::panic::panic_any(Payload));
    assert!(error(&job).contains("the end condition panicked"), "{}", error(&job));
}

/// Counts its instances, and panics in the order that is not the default.
struct Touchy(Arc<AtomicU32>);

impl Drop for Touchy {
    fn drop(&mut self) {
        assert_eq!(self.0.load(Ordering::Relaxed) % 10, 1, "b was first");
    }
}

#[test]
fn exploring_finds_the_order_in_which_a_drop_panics() {
    let build = |graph: &Graph| {
        let first = Arc::new(AtomicU32::new(0));
        for (name, digit) in [("a", 1), ("b", 2)] {
            let first = first.clone();
            let touchy = Touchy(first.clone());
            let node = graph.create_node(name, touchy)?;
            node.create_timer(MS, move |_, _: &mut Context<'_>| {
                // Digits in the order of the calls, the first one is the last digit.
                let before = first.load(Ordering::Relaxed);
                let shift = if before == 0 { 1 } else { 10 };
                first.store(before + digit * shift, Ordering::Relaxed);
            })?;
        }
        Ok(())
    };
    let job = Job::new(build).run_for(MS);
    job.run().unwrap();
    for threads in [1, 3] {
        let exploration = Exploration { seeds: 0..50, threads, ..Exploration::default() };
        let error = job.explore(&exploration).unwrap_err();
        let found = error.cause::<Counterexample>().unwrap();
        assert!(found.failure.contains("b was first"), "{found}");
        assert_eq!(found.schedule.len(), 1);
    }
    let reverse = Job::new(build).run_for(MS).simulate(|s| s.ties = TiePolicy::Reverse);
    assert!(error(&reverse).contains("dropping the state of /a panicked"), "{}", error(&reverse));
}

/// An error of the user's that can neither be printed nor dropped.
#[derive(Debug)]
struct BadError;

impl std::fmt::Display for BadError {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no text")
    }
}

impl std::error::Error for BadError {}

impl Drop for BadError {
    fn drop(&mut self) {
        panic!("no drop");
    }
}

#[test]
fn check_whose_error_panics_fails_with_both_panics() {
    let job = Job::new(|_: &Graph| Ok(())).check(|_| Err(Box::new(BadError) as BoxError));
    let error = job.run().unwrap_err().to_string();
    assert!(error.contains("no text") && error.contains("no drop"), "{error}");
}
