//! Properties that hold for every composition of a run: slices, inputs beside timers, callbacks
//! that take time while other events happen.

use ringspin_executor::{
    BoxError, Delivery, ExternalInput, Graph, Message, Publisher, QoS, Responder, Time,
};
use ringspin_modes::{Candidate, TieBreaker, TiePolicy};
use ringspin_simulation::Job;
use ringspin_simulation::models::{Distribution, DurationRule, Durations, LinkRule, Links};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

pub(crate) fn ms(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000)
}

/// Times in milliseconds, with the event that happened then.
pub(crate) type Log = Arc<Mutex<Vec<(u64, String)>>>;

pub(crate) fn note(log: &Log, time: Time, what: impl Into<String>) {
    log.lock().unwrap().push((time.as_nanos() / 1_000_000, what.into()));
}

pub(crate) fn taken(log: &Log) -> Vec<(u64, String)> {
    std::mem::take(&mut log.lock().unwrap())
}

pub(crate) fn entries(entries: &[(u64, &str)]) -> Vec<(u64, String)> {
    entries.iter().map(|(time, what)| (*time, (*what).to_owned())).collect()
}

pub(crate) fn takes(node: &str, duration: Duration) -> Durations {
    Durations::new().rule(DurationRule::new(node).duration(Distribution::fixed(duration)))
}

/// Chooses the first event in the contract's order.
struct First;

impl TieBreaker for First {
    fn choose(&mut self, _: Time, _: &[Candidate]) -> usize {
        0
    }
}

/// Has an item each ten milliseconds, and notes when it is told that an instant is quiet.
struct Ticks {
    next: Time,
    out: Publisher<u32>,
    log: Log,
}

impl ExternalInput for Ticks {
    fn next_time(&mut self) -> Option<Time> {
        (self.next <= ms(30)).then_some(self.next)
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        if self.out.publish(1).is_err() {
            return Ok(Delivery::Again);
        }
        self.next = self.next + 10 * MS;
        Ok(Delivery::Done)
    }

    fn quiet(&mut self, now: Time) -> Result<(), BoxError> {
        note(&self.log, now, "quiet");
        Ok(())
    }
}

/// An input and a timer at the same times.
fn ticking(graph: &Graph) -> Result<Log, BoxError> {
    let log = Log::default();
    let node = graph.create_node("node", ())?;
    let (seen, due) = (log.clone(), log.clone());
    node.create_timer(10 * MS, move |_, cx| note(&due, cx.now(), "timer"))?;
    node.create_subscription("t", QoS::keep_all(1), move |_, _: &Message<u32>, cx| {
        note(&seen, cx.now(), "item");
    })?;
    let out = node.create_publisher("t", QoS::default())?;
    graph.add_input("ticks", Ticks { next: ms(10), out, log: log.clone() })?;
    Ok(log)
}

const TICKING: [(u64, &str); 7] = [
    (0, "quiet"),
    (10, "item"),
    (10, "timer"),
    (10, "quiet"),
    (20, "item"),
    (20, "timer"),
    (20, "quiet"),
];

#[test]
fn an_input_goes_before_a_timer_in_steps_and_under_a_tie_breaker_too() {
    let mut whole = Job::new(ticking).start().unwrap();
    whole.run_until(ms(20)).unwrap();
    assert_eq!(taken(&whole.handles), entries(&TICKING));
    let mut some = Job::new(ticking).start().unwrap();
    while some.now() < ms(20) {
        some.run_for(10 * MS / 3).unwrap();
        while some.executor().spin_some().unwrap() > 0 {}
    }
    // At 19.999999 there is one slice more.
    some.run_until(ms(20)).unwrap();
    assert_eq!(taken(&some.handles), entries(&TICKING));
    let mut first = Job::new(ticking).with_tie_breaker(|| First).start().unwrap();
    first.run_until(ms(20)).unwrap();
    assert_eq!(taken(&first.handles), entries(&TICKING));
}

#[test]
fn an_input_is_told_once_that_an_instant_is_quiet() {
    let mut session = Job::new(ticking).start().unwrap();
    for n in 0..=20 {
        session.run_until(ms(n)).unwrap();
        session.run_until(ms(n)).unwrap();
        session.settle().unwrap();
    }
    assert_eq!(taken(&session.handles), entries(&TICKING));
}

#[test]
fn simulated_time_never_goes_back_and_steps_end_with_the_job() {
    let log = |graph: &Graph| {
        let log = Log::default();
        let (node, seen) = (graph.create_node("node", ())?, log.clone());
        node.create_timer(10 * MS, move |_, cx| note(&seen, cx.now(), "timer"))?;
        Ok(log)
    };
    let mut session = Job::new(log).run_for(25 * MS).start().unwrap();
    session.run_until(ms(15)).unwrap();
    session.run_until(ms(5)).unwrap();
    assert_eq!(session.now(), ms(15));
    assert_eq!(session.step().unwrap().unwrap().time, ms(20));
    assert_eq!(session.step().unwrap(), None);
    assert!(!session.executor().spin_once(100 * MS).unwrap());
    assert_eq!(session.now(), ms(25));
    assert_eq!(taken(&session.handles), entries(&[(10, "timer"), (20, "timer")]));
}

#[test]
fn events_that_waited_for_their_core_precede_timers_under_every_policy() {
    for ties in [TiePolicy::Fifo, TiePolicy::Reverse] {
        let job = Job::new(|graph| {
            let log = Log::default();
            let busy = graph.create_node("busy", ())?;
            let (seen, due) = (log.clone(), log.clone());
            busy.create_timer(10 * MS, move |_, cx| note(&due, cx.now(), "timer"))?;
            busy.create_subscription("t", QoS::default(), move |_, _: &Message<u32>, cx| {
                note(&seen, cx.now(), "message");
            })?;
            let source = graph.create_node("source", ())?;
            let out = source.create_publisher::<u32>("t", QoS::default())?;
            source.create_one_shot_timer(15 * MS, move |_, _| out.publish(1))?;
            Ok(log)
        });
        let job = job.simulate(|simulation| {
            simulation.durations = takes("/busy", 10 * MS).into();
            simulation.ties = ties.clone();
        });
        let mut session = job.start().unwrap();
        session.run_until(ms(30)).unwrap();
        // The message has waited since 15.
        let expected = entries(&[(10, "timer"), (20, "message"), (30, "timer")]);
        assert_eq!(taken(&session.handles), expected, "{ties:?}");
    }
}

/// A responder that answers a call later.
type Held = Mutex<Responder<u32>>;

#[test]
fn messages_under_way_at_the_end_may_publish_when_they_are_dropped() {
    let job = Job::new(|graph| {
        let server = graph.create_node("server", ())?;
        let out = server.create_publisher::<Held>("later", QoS::default())?;
        server.create_deferred_service(
            "ask",
            QoS::services(),
            move |_, _: &u32, responder: Responder<u32>, _: &mut _| {
                out.publish(Mutex::new(responder)).map_err(|_| "it was not taken")
            },
        )?;
        let node = graph.create_node("node", ())?;
        node.create_subscription("later", QoS::default(), |_, _: &Message<Held>, _| ())?;
        let client = node.create_client::<u32, u32>("ask", QoS::services())?;
        node.create_one_shot_timer(MS, move |_, _| client.call(1, |_, _, _| ()))?;
        Ok(())
    });
    let delay = |name: &str| LinkRule::new(name).delay(Distribution::fixed(10 * MS));
    let links = Links::new().rule(delay("/later")).rule(delay("/ask"));
    let report = job.simulate(|s| s.links = links.into()).run_for(15 * MS).run().unwrap();
    assert_eq!(report.dispatches(), 2, "the timer and the request");
}

#[test]
fn a_late_subscription_joins_when_the_callback_that_creates_it_returns() {
    let job = Job::new(|graph| {
        let log = Log::default();
        let source = graph.create_node("source", 0u32)?;
        let out = source.create_publisher("t", QoS::keep_last(5).transient_local())?;
        source.create_timer(10 * MS, move |n, _| {
            *n += 1;
            out.publish(*n)
        })?;
        let (node, seen) = (graph.create_node("node", ())?, log.clone());
        let creator = graph.create_node("creator", ())?;
        creator.create_one_shot_timer(25 * MS, move |_, _| {
            let (seen, qos) = (seen.clone(), QoS::keep_last(5).transient_local());
            node.create_subscription("t", qos, move |_, n: &Message<u32>, cx| {
                note(&seen, cx.now(), n.to_string());
            })
            .map(drop)
        })?;
        Ok(log)
    });
    let job = job.simulate(|simulation| simulation.durations = takes("/creator", 12 * MS).into());
    let mut session = job.start().unwrap();
    session.run_until(ms(40)).unwrap();
    // 3 is published at 30, while the creator is at work.
    let expected = entries(&[(37, "1"), (37, "2"), (37, "3"), (40, "4")]);
    assert_eq!(taken(&session.handles), expected);
}

#[test]
fn a_trigger_does_not_wait_for_another_callback_to_return() {
    let job = Job::new(|graph| {
        let log = Log::default();
        let (node, seen) = (graph.create_node("node", ())?, log.clone());
        let guard = node.create_guard_condition("go", move |_, cx| note(&seen, cx.now(), "go"))?;
        for (name, at) in [("slow", 10), ("quick", 12)] {
            let (by, guard) = (graph.create_node(name, ())?, guard.clone());
            by.create_one_shot_timer(at * MS, move |_, _| guard.trigger())?;
        }
        Ok(log)
    });
    let job = job.simulate(|simulation| simulation.durations = takes("/slow", 10 * MS).into());
    let mut session = job.start().unwrap();
    session.run_until(ms(30)).unwrap();
    // The callback at 12 sees both triggers, so none is left at 20.
    assert_eq!(taken(&session.handles), entries(&[(12, "go")]));
}
