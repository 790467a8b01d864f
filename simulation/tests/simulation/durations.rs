//! Callbacks that take time: the cores that they occupy, the events that wait, and when messages
//! leave.

use ringspin_executor::{
    BoxError, Budget, Error, Graph, LoopId, Message, Node, QoS, Statistics, Time,
};
use ringspin_modes::{Cores, Mapping};
use ringspin_simulation::models::{Distribution, DurationRule, Durations};
use ringspin_simulation::{Job, Report, Session};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// The time at which a message was received, in milliseconds, and the message.
type Received = Vec<(u64, u32)>;

fn ms(time: Time) -> u64 {
    assert_eq!(time.as_nanos() % 1_000_000, 0, "{time}");
    time.as_nanos() / 1_000_000
}

/// A source that counts every 10 ms, a worker that forwards its messages, and a sink.
fn chain(graph: &Graph) -> Result<(), BoxError> {
    let source = graph.create_node("source", 0u32)?;
    let out = source.create_publisher("raw", QoS::default())?;
    source.create_timer(10 * MS, move |n, _| {
        *n += 1;
        out.publish(*n)
    })?;
    let worker = graph.create_node("worker", Received::new())?;
    let out = worker.create_publisher("done", QoS::default())?;
    worker.create_subscription("raw", QoS::keep_last(1), move |seen, n: &Message<u32>, cx| {
        seen.push((ms(cx.now()), **n));
        out.publish(**n)
    })?;
    let sink = graph.create_node("sink", Received::new())?;
    sink.create_subscription("done", QoS::default(), |seen, n: &Message<u32>, cx| {
        seen.push((ms(cx.now()), **n));
    })?;
    Ok(())
}

fn rule(node: &str, duration: Duration) -> DurationRule {
    DurationRule::new(node).duration(Distribution::fixed(duration))
}

fn session(durations: Durations, cores: Cores, end_ms: u64) -> (Session<()>, Report) {
    let job = Job::new(chain).simulate(|simulation| {
        simulation.durations = durations.into();
        simulation.cores = cores;
    });
    let mut session = job.start().unwrap();
    session.run_until(Time::from_nanos(end_ms * 1_000_000)).unwrap();
    let report = session.report();
    (session, report)
}

fn received(session: &mut Session<()>, node: &str) -> Received {
    session.state::<Received>(node).unwrap().clone()
}

#[test]
fn publications_appear_at_the_end_of_their_callback() {
    let durations = Durations::new().rule(rule("/worker", 4 * MS));
    let (mut session, report) = session(durations, Cores::Unlimited, 30);
    assert_eq!(received(&mut session, "/worker"), [(10, 1), (20, 2), (30, 3)]);
    assert_eq!(received(&mut session, "/sink"), [(14, 1), (24, 2)]);
    assert_eq!(report.statistics().overwritten(), 0);
}

#[test]
fn messages_that_arrive_during_a_callback_wait_or_are_overwritten() {
    let durations = Durations::new().rule(rule("/worker", 25 * MS));
    let (mut session, report) = session(durations, Cores::Unlimited, 100);
    // While it handles 1 from 10 to 35, 2 is overwritten by 3.
    // At 60 it is free before 6 is there: an event goes before a timer.
    let expected = [(10, 1), (35, 3), (60, 5), (85, 8)];
    assert_eq!(received(&mut session, "/worker"), expected);
    assert_eq!(received(&mut session, "/sink"), [(35, 1), (60, 3), (85, 5)]);
    // 2, 4, 6 and 7, and 9 by 10 at the end.
    assert_eq!(report.statistics().overwritten(), 5);
}

#[test]
fn a_scale_factor_makes_a_node_faster() {
    let rules = Durations::new().rule(rule("/worker", 4 * MS));
    let durations = rules.rule(DurationRule::new("/worker").scale(0.75));
    let (mut session, _) = session(durations, Cores::Unlimited, 30);
    assert_eq!(received(&mut session, "/sink"), [(13, 1), (23, 2)]);
}

#[test]
fn with_logical_execution_time_messages_leave_at_the_deadline() {
    let logical = rule("/worker", 4 * MS).logical(7 * MS);
    let durations = Durations::new().rule(logical);
    let (mut first, report) = session(durations, Cores::Unlimited, 30);
    assert_eq!(received(&mut first, "/sink"), [(17, 1), (27, 2)]);
    assert!(report.overruns().is_empty());
    let durations = Durations::new().rule(rule("/worker", 8 * MS).logical(7 * MS));
    let (mut late, report) = session(durations, Cores::Unlimited, 30);
    assert_eq!(received(&mut late, "/sink"), [(18, 1), (28, 2)]);
    assert_eq!(report.overruns(), [("/worker `subscription /raw`".to_string(), 3)]);
}

#[test]
fn on_one_core_loops_wait_for_each_other() {
    let durations = Durations::new().rule(rule("/worker", 8 * MS)).rule(rule("/sink", 5 * MS));
    let (mut alone, _) = session(durations.clone(), Cores::Unlimited, 40);
    assert_eq!(received(&mut alone, "/worker"), [(10, 1), (20, 2), (30, 3), (40, 4)]);
    assert_eq!(received(&mut alone, "/sink"), [(18, 1), (28, 2), (38, 3)]);
    let (mut shared, _) = session(durations.clone(), Cores::Single, 40);
    // From 18 to 23 the sink has the core, so the source's timer of 20 fires at 23.
    assert_eq!(received(&mut shared, "/worker"), [(10, 1), (23, 2), (36, 3)]);
    assert_eq!(received(&mut shared, "/sink"), [(18, 1), (31, 2)]);
    let mapping = Mapping::new().core(7, ["source", "worker"]).core(9, ["sink"]);
    let (mut apart, _) = session(durations, Cores::Mapped(mapping), 40);
    assert_eq!(received(&mut apart, "/worker"), received(&mut alone, "/worker"));
    assert_eq!(received(&mut apart, "/sink"), received(&mut alone, "/sink"));
}

#[test]
fn on_a_virtual_core_a_higher_priority_goes_first() {
    let order = |priority: u8| {
        let job = Job::new(move |graph| {
            let source = graph.create_node("source", ())?;
            let out = source.create_publisher::<u32>("t", QoS::default())?;
            source.create_timer(10 * MS, move |_, _| out.publish(1))?;
            for (name, priority) in [("a", 0), ("b", priority)] {
                let node = graph.create_node(name, ())?;
                node.set_priority(priority)?;
                node.create_subscription("t", QoS::default(), |_, _: &Message<u32>, _| ())?;
            }
            Ok(())
        });
        let job = job.simulate(|simulation| {
            simulation.durations =
                Durations::new().rule(rule("/a", MS)).rule(rule("/b", MS)).into();
            simulation.cores = Cores::Single;
        });
        let mut session = job.start().unwrap();
        let steps = (0..3).map(|_| session.step().unwrap().unwrap());
        steps.map(|step| (ms(step.time), step.callback)).collect::<Vec<_>>()
    };
    let (a, b) = ("/a `subscription /t`".to_owned(), "/b `subscription /t`".to_owned());
    assert_eq!(order(0)[1..], [(10, a.clone()), (11, b.clone())]);
    assert_eq!(order(3)[1..], [(10, b), (11, a)]);
}

#[test]
fn timers_of_a_busy_loop_wait_and_count_what_they_miss() {
    let job = Job::new(|graph| {
        let node = graph.create_node("node", Vec::<u64>::new())?;
        node.create_timer(10 * MS, |seen, cx| seen.push(ms(cx.now())))?;
        Ok(())
    });
    let durations = Durations::new().rule(rule("/node", 25 * MS));
    let job = job.simulate(|simulation| simulation.durations = durations.into());
    let mut session = job.start().unwrap();
    session.run_for(90 * MS).unwrap();
    assert_eq!(*session.state::<Vec<u64>>("/node").unwrap(), [10, 35, 60, 85]);
    let statistics = session.report().statistics().clone();
    // 30 while 20 waits, 50 while 40 does, 70 and 80 while 60 does.
    assert_eq!(statistics.callbacks[0].missed, 4);
}

/// The statistics of a node with a timer of 10 ms and one of 20 ms, and callbacks that take
/// `duration`, after 85 ms.
fn with_timers(duration: Duration, set: fn(&Node<()>) -> Result<(), Error>) -> Statistics {
    let job = Job::new(move |graph| {
        let node = graph.create_node("node", ())?;
        node.create_timer(10 * MS, |_, _| ())?;
        node.create_timer(20 * MS, |_, _| ())?;
        Ok(set(&node)?)
    });
    let durations = Durations::new().rule(rule("/node", duration));
    let job = job.simulate(|simulation| simulation.durations = durations.into()).run_for(85 * MS);
    job.run().unwrap().statistics().clone()
}

#[test]
fn deadlines_are_kept_or_missed_in_simulated_time() {
    let late = |duration| {
        let set = |node: &Node<()>| node.set_deadline("timer 10ms", 5 * MS);
        with_timers(duration, set).callbacks[0].late
    };
    assert_eq!(late(5 * MS), 0);
    assert_eq!(late(5 * MS + Duration::from_nanos(1)), 8);
}

#[test]
fn budgets_are_kept_or_exceeded_in_simulated_time() {
    let exceeded = |duration| {
        let set = |node: &Node<()>| node.set_budget(Budget::new(4 * MS, 10 * MS)?);
        with_timers(duration, set).budgets[0].exceeded
    };
    assert_eq!(exceeded(2 * MS), 0);
    assert_eq!(exceeded(2 * MS + Duration::from_nanos(1)), 4, "when both timers are due");
    assert_eq!(exceeded(4 * MS + Duration::from_nanos(1)), 8);
}

#[test]
fn a_response_and_a_trigger_leave_at_the_end_too() {
    let job = Job::new(|graph| {
        let server = graph.create_node("server", ())?;
        server.create_service("double", QoS::services(), |_, n: &u32, _| n * 2)?;
        let node = graph.create_node("node", Received::new())?;
        let client = node.create_client::<u32, u32>("double", QoS::services())?;
        let other = node.create_callback_group("other", Received::new())?;
        let guard = other.create_guard_condition("go", |seen, cx| seen.push((ms(cx.now()), 0)))?;
        node.create_one_shot_timer(10 * MS, move |_, _| {
            guard.trigger();
            client.call(4, |seen: &mut Received, reply, cx| {
                seen.push((ms(cx.now()), *reply.unwrap()));
            })
        })?;
        Ok(())
    });
    let rules = Durations::new().rule(rule("/node", 3 * MS)).rule(rule("/server", 2 * MS));
    let job = job.simulate(|simulation| simulation.durations = rules.into());
    let mut session = job.start().unwrap();
    session.run_for(30 * MS).unwrap();
    assert_eq!(received(&mut session, "/node"), [(15, 8)]);
    assert_eq!(received(&mut session, "/node:other"), [(13, 0)]);
}

#[test]
fn tie_policies_and_durations_go_together() {
    let run = |seed| {
        let job = Job::new(chain).run_for(1000 * MS).simulate(|simulation| {
            simulation.durations = Durations::new().rule(rule("/worker", 10 * MS)).into();
            simulation.ties = ringspin_modes::TiePolicy::Shuffle { seed };
        });
        job.run().unwrap()
    };
    assert_eq!(run(1).digest(), run(1).digest());
    assert!((0..10).any(|seed| run(seed).digest() != run(0).digest()));
}

/// A node that sends every other call, and its receiver.
fn every_other(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("node", 0u32)?;
    let out = node.create_publisher("out", QoS::default())?;
    node.create_timer(10 * MS, move |n, _| {
        *n += 1;
        if *n % 2 == 0 { out.publish(*n) } else { Ok(()) }
    })?;
    let sink = graph.create_node("sink", Received::new())?;
    sink.create_subscription("out", QoS::default(), |seen, n: &Message<u32>, cx| {
        seen.push((ms(cx.now()), **n));
    })?;
    Ok(())
}

#[test]
fn a_call_that_sends_can_take_another_time() {
    let run = |rule: DurationRule, end_ms: u64| {
        let job = Job::new(every_other).simulate(|simulation| {
            simulation.durations = Durations::new().rule(rule).into();
        });
        let mut session = job.start().unwrap();
        session.run_until(Time::from_nanos(end_ms * 1_000_000)).unwrap();
        let received = session.state::<Received>("/sink").unwrap().clone();
        let report = session.report();
        let calls = report.statistics().of("/node").map(|callback| callback.dispatched).sum();
        (received, calls, report.overruns().iter().map(|(_, n)| *n).sum())
    };
    let sends = |ms| Distribution::fixed(ms * MS);
    // Calls at 10, 20, 30, 40; those at 20 and 40 send, and take 7 ms instead of 1.
    let seven = || rule("/node", MS).sending(sends(7));
    assert_eq!(run(seven(), 49), (vec![(27, 2), (47, 4)], 4, 0));
    assert_eq!(run(seven().scale(2.0), 59), (vec![(34, 2), (54, 4)], 5, 0));
    // A long quiet call keeps the node busy, a short sending one does not: 10 to 22, 22, 30 to 42.
    let quiet = rule("/node", 12 * MS).sending(sends(0));
    assert_eq!(run(quiet, 45), (vec![(22, 2), (42, 4)], 4, 0));
    let only = DurationRule::new("/node").sending(sends(3));
    assert_eq!(run(only, 49), (vec![(23, 2), (43, 4)], 4, 0));
    // Messages appear at the logical end, unless the call was longer; a quiet one is in time.
    assert_eq!(run(seven().logical(9 * MS), 49), (vec![(29, 2), (49, 4)], 4, 0));
    assert_eq!(run(seven().logical(5 * MS), 49), (vec![(27, 2), (47, 4)], 4, 2));
}

#[test]
fn a_later_duration_is_for_all_calls_again() {
    let durations = Durations::from_toml(
        "[[execution]]\nnode = \"/node\"\nduration = \"1ms\"\nsending = \"7ms\"\n\
         [[execution]]\nnode = \"/node\"\nduration = \"2ms\"\n",
    )
    .unwrap();
    let graph = Graph::new();
    every_other(&graph).unwrap();
    let info = graph.info();
    let of = |durations: &Durations| {
        let table = durations.resolve(&info, 0).unwrap();
        let execution = table.execution(info.loops[LoopId(0)].callbacks[0], 0);
        (execution.duration, execution.sending)
    };
    assert_eq!(of(&durations), (2 * MS, None));
    let first = Durations { rules: durations.rules[..1].to_vec() };
    assert_eq!(of(&first), (MS, Some(7 * MS)));
}
