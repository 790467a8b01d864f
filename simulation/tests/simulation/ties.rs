//! Orders of one instant: the default one, others, and that each comes again.

use ringspin_executor::{BoxError, CallbackId, Graph, Message, QoS, Time};
use ringspin_modes::{Candidate, Cores, Mapping, Schedule, Simulation, TieBreaker, TiePolicy};
use ringspin_simulation::models::{Distribution, DurationRule, Durations, LinkRule, Links};
use ringspin_simulation::{Job, Report};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Timers, chains, a service and a task: everything that can be ready at the same time.
fn busy(graph: &Graph) -> Result<(), BoxError> {
    let out = graph.create_node("source", 0u64)?;
    for (n, period) in [3u32, 2, 6].into_iter().enumerate() {
        let topic = format!("t{n}");
        let publisher = out.create_publisher::<u64>(&topic, QoS::keep_last(3))?;
        out.create_timer(MS * period, move |count, _| {
            *count += 1;
            publisher.publish(*count)
        })?;
    }
    let server = graph.create_node("server", ())?;
    server.create_service("double", QoS::services(), |_, n: &u64, _| n * 2)?;
    for name in ["one", "two"] {
        let node = graph.create_node(name, 0u64)?;
        let client = node.create_client::<u64, u64>("double", QoS::services())?;
        let echo = node.create_publisher::<u64>("echo", QoS::default())?;
        for n in 0..3 {
            let (client, echo) = (client.clone(), echo.clone());
            let topic = format!("t{n}");
            node.create_subscription(&topic, QoS::keep_last(3), move |_, m: &Message<u64>, _| {
                let echo = echo.clone();
                client
                    .call(**m, move |sum: &mut u64, reply, _| -> Result<(), BoxError> {
                        *sum += *reply?;
                        echo.publish(*sum)?;
                        Ok(())
                    })
                    .map_err(BoxError::from)
            })?;
        }
    }
    let listener = graph.create_node("listener", ())?;
    let mut stream = listener.create_stream::<u64>("echo", QoS::default())?;
    listener.spawn("listen", async move {
        loop {
            stream.next().await;
        }
    })?;
    Ok(())
}

fn run(ties: TiePolicy) -> Report {
    let job = Job::new(busy).run_for(60 * MS).simulate(|simulation| simulation.ties = ties);
    job.run().unwrap()
}

struct First;

impl TieBreaker for First {
    fn choose(&mut self, _: Time, candidates: &[Candidate]) -> usize {
        assert!(candidates.len() > 1, "one candidate is no choice");
        0
    }
}

#[test]
fn always_the_first_candidate_is_the_default_order() {
    let default = run(TiePolicy::Fifo);
    let chosen = Job::new(busy).run_for(60 * MS).with_tie_breaker(|| First).run().unwrap();
    assert_eq!(chosen.digest(), default.digest());
    assert!(chosen.choices() > 100, "{}", chosen.choices());
    assert_eq!(run(TiePolicy::Scripted(Schedule::default())).digest(), default.digest());
}

#[test]
fn every_policy_gives_the_same_order_again_and_seeds_give_others() {
    let pct = |seed| TiePolicy::Pct { seed, depth: 3, steps: 500 };
    let mut digests = vec![run(TiePolicy::Fifo).digest(), run(TiePolicy::Reverse).digest()];
    for seed in 0..4 {
        for policy in [TiePolicy::Shuffle { seed }, pct(seed)] {
            let report = run(policy.clone());
            assert_eq!(report.digest(), run(policy).digest());
            assert!(!report.schedule().is_empty());
            digests.push(report.digest());
        }
    }
    digests.sort_by_key(|digest| digest.0);
    digests.dedup();
    assert_eq!(digests.len(), 10, "each policy and seed has a different order");
}

#[test]
fn the_schedule_of_a_run_repeats_it() {
    for seed in 0..8 {
        let report = run(TiePolicy::Shuffle { seed });
        let text = report.schedule().to_string();
        let again = run(TiePolicy::Scripted(text.parse().unwrap()));
        assert_eq!(again.digest(), report.digest());
        assert_eq!(again.schedule(), report.schedule());
    }
}

#[test]
fn every_order_handles_the_same_number_of_events() {
    // A task answers several wake-ups with one poll.
    let handled = |ties| {
        let report = run(ties);
        let callbacks = report.statistics().callbacks.iter();
        let others = callbacks.filter(|callback| !callback.callback.starts_with("task"));
        others.map(|callback| callback.dispatched).sum::<u64>()
    };
    let by_default = handled(TiePolicy::Fifo);
    assert_eq!(handled(TiePolicy::Reverse), by_default);
    for seed in 0..8 {
        assert_eq!(handled(TiePolicy::Shuffle { seed }), by_default);
    }
}

/// Which callbacks a breaker was asked about, at which time.
type Asked = Arc<Mutex<Vec<(Time, Vec<(CallbackId, bool)>)>>>;

struct Log(Asked);

impl TieBreaker for Log {
    fn choose(&mut self, now: Time, candidates: &[Candidate]) -> usize {
        let candidates = candidates.iter().map(|c| (c.callback, c.due_timer)).collect();
        self.0.lock().unwrap().push((now, candidates));
        usize::MAX
    }
}

#[test]
fn candidates_are_the_ready_events_and_then_the_due_timers() {
    let asked = Asked::default();
    let log = asked.clone();
    let job = Job::new(|graph: &Graph| {
        let node = graph.create_node("node", ())?;
        let out = node.create_publisher::<u8>("t", QoS::keep_last(4))?;
        node.create_timer(MS, move |_, _| {
            out.publish(1).unwrap();
            out.publish(2)
        })?;
        node.create_timer(MS, |_, _| ())?;
        node.create_subscription("t", QoS::keep_last(4), |_, _: &Message<u8>, _| ())?;
        graph.create_node("other", ())?.create_subscription(
            "t",
            QoS::keep_last(4),
            |_, _: &Message<u8>, _| (),
        )?;
        Ok(())
    });
    let job = job.with_tie_breaker(move || Log(log.clone())).run_for(MS);
    assert_eq!(job.run().unwrap().dispatches(), 6);
    let id = CallbackId;
    let at = Time::ZERO + MS;
    // The last is taken each time: the second timer, the first, then other's two messages.
    let both = (at, vec![(id(2), false), (id(3), false)]);
    let expected = [(at, vec![(id(0), true), (id(1), true)]), both.clone(), both];
    assert_eq!(*asked.lock().unwrap(), expected);
}

#[test]
fn messages_of_one_publisher_keep_their_order_under_every_policy() {
    for seed in 0..20 {
        let job = Job::new(|graph| {
            let node = graph.create_node("talker", 0u32)?;
            let out = node.create_publisher("t", QoS::keep_last(10))?;
            node.create_timer(MS, move |n, _| {
                for _ in 0..4 {
                    out.publish(*n).unwrap();
                    *n += 1;
                }
            })?;
            let probe = graph.create_node("probe", ())?;
            Ok([(); 2].map(|()| probe.create_collector::<u32>("t", QoS::keep_last(10)).unwrap()))
        });
        let job = job.run_for(5 * MS).simulate(|s| s.ties = TiePolicy::Shuffle { seed });
        let job = job.check(|session| {
            let all: Vec<u32> = (0..20).collect();
            session.handles.iter().for_each(|c| assert_eq!(c.values(), all));
            Ok(())
        });
        job.run().unwrap();
    }
}

/// [`busy`] on virtual cores: one for all, or two.
fn on_cores(two: bool) -> Job<'static> {
    Job::new(busy).run_for(200 * MS).simulate(|simulation: &mut Simulation| {
        let mapping = Mapping::new().core(0, ["/source", "/one"]).default_core(1);
        simulation.cores = if two { Cores::Mapped(mapping) } else { Cores::Single };
        let takes = |node: &str, us| {
            DurationRule::new(node).duration(Distribution::fixed(Duration::from_micros(us)))
        };
        let rules = vec![takes("/one", 300), takes("/two", 150), takes("/server", 50)];
        simulation.durations = Durations { rules }.into();
    })
}

#[test]
fn orders_on_virtual_cores_start_from_the_default_and_come_again() {
    for two in [false, true] {
        let default = on_cores(two).run().unwrap();
        let chosen = on_cores(two).with_tie_breaker(|| First).run().unwrap();
        assert_eq!(chosen.digest(), default.digest());
        assert!(chosen.choices() > 50, "{}", chosen.choices());
        let with = |ties: TiePolicy| on_cores(two).simulate(|s| s.ties = ties).run().unwrap();
        let empty = with(TiePolicy::Scripted(Schedule::default()));
        assert_eq!(empty.digest(), default.digest());
        let mut digests = vec![default.digest()];
        for seed in 0..4 {
            let pct = TiePolicy::Pct { seed, depth: 3, steps: 500 };
            for policy in [TiePolicy::Shuffle { seed }, pct] {
                let report = with(policy);
                let again = with(TiePolicy::Scripted(report.schedule().clone()));
                assert_eq!(again.digest(), report.digest());
                assert_eq!(again.schedule(), report.schedule());
                digests.push(report.digest());
            }
        }
        digests.sort_by_key(|digest| digest.0);
        digests.dedup();
        assert_eq!(digests.len(), 9, "each policy and seed has a different order");
    }
}

/// On one core, `low` and `high` get messages at the same instants, and `busy` has a timer.
fn prioritized(graph: &Graph) -> Result<(), BoxError> {
    let source = graph.create_node("source", 0u32)?;
    let out = source.create_publisher::<u32>("t", QoS::default())?;
    source.create_timer(4 * MS, move |n, _| {
        *n += 1;
        out.publish(*n)
    })?;
    graph.create_node("busy", ())?.create_timer(4 * MS, |_, _| ())?;
    for (name, priority) in [("low", 0), ("high", 1)] {
        let node = graph.create_node(name, Vec::<Time>::new())?;
        node.set_priority(priority)?;
        node.create_subscription("t", QoS::default(), |calls, _: &Message<u32>, cx| {
            calls.push(cx.now());
        })?;
    }
    Ok(())
}

#[test]
fn an_event_that_has_waited_for_its_virtual_core_goes_before_lower_priorities() {
    let swaps = |delay: Duration, seed: u64| {
        let job = Job::new(prioritized).simulate(|simulation| {
            let mapping = Mapping::new().core(0, ["/busy", "/low", "/high"]).core(1, ["/source"]);
            simulation.cores = Cores::Mapped(mapping);
            let takes = |node: &str| DurationRule::new(node).duration(Distribution::fixed(MS));
            simulation.durations =
                Durations { rules: ["/busy", "/low", "/high"].map(takes).into() }.into();
            simulation.links =
                Links::new().rule(LinkRule::new("/t").delay(Distribution::fixed(delay))).into();
            simulation.ties = TiePolicy::Shuffle { seed };
        });
        let mut session = job.start().unwrap();
        session.run_for(100 * MS).unwrap();
        let mut calls = |node: &str| session.state::<Vec<Time>>(node).unwrap().clone();
        let (low, high) = (calls("/low"), calls("/high"));
        assert!(low.len() > 20 && high.len() > 20);
        low.iter().zip(&high).filter(|(low, high)| low < high).count()
    };
    let all = |delay| (0..20).map(|seed| swaps(delay, seed)).sum::<usize>();
    let at_once = all(Duration::ZERO);
    assert!(at_once > 50, "in one instant either can be first: {at_once}");
    assert_eq!(all(MS / 2), 0, "both have waited when the core is free");
}

/// A loop that is busy for 3 ms with each event, and gets more events than it can handle.
fn overloaded(graph: &Graph) -> Result<(), BoxError> {
    let source = graph.create_node("source", 0u32)?;
    let [x, y] = ["x", "y"].map(|topic| source.create_publisher::<u32>(topic, QoS::default()));
    let (x, y) = (x?, y?);
    source.create_timer(MS, move |n, _| {
        *n += 1;
        match *n {
            1 => x.publish(1),
            2 => x.publish(2).and_then(|()| x.publish(2)).and_then(|()| y.publish(2)),
            3 => y.publish(3),
            _ => Ok(()),
        }
    })?;
    let slow = graph.create_node("slow", Vec::<(u64, String)>::new())?;
    for topic in ["x", "y"] {
        slow.create_subscription(topic, QoS::keep_last(5), move |log, m: &Message<u32>, cx| {
            log.push((cx.now().as_nanos() / 1_000_000, format!("{topic}{}", **m)));
        })?;
    }
    for due in [2, 4] {
        slow.create_one_shot_timer(MS * due, move |log, cx| {
            log.push((cx.now().as_nanos() / 1_000_000, format!("timer{due}")));
        })?;
    }
    Ok(())
}

#[test]
fn reverse_order_in_a_busy_loop_is_by_instant_and_then_from_the_newest_event() {
    let job = Job::new(overloaded).simulate(|simulation| {
        simulation.ties = TiePolicy::Reverse;
        let rule = DurationRule::new("/slow").duration(Distribution::fixed(3 * MS));
        simulation.durations = Durations::new().rule(rule).into();
    });
    let mut session = job.start().unwrap();
    session.run_for(30 * MS).unwrap();
    let log = session.state::<Vec<(u64, String)>>("/slow").unwrap().clone();
    let log: Vec<_> = log.iter().map(|(ms, event)| (*ms, &**event)).collect();
    // The timer of 2 ms expires first, and waits; then come the messages of that instant. The timer
    // of 4 ms is due when the loop becomes free, but older events wait there.
    let expected =
        [(1, "x1"), (4, "y2"), (7, "x2"), (10, "x2"), (13, "timer2"), (16, "y3"), (19, "timer4")];
    assert_eq!(log, expected);
}
