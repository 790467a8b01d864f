//! Messages that take time, or do not arrive: the figures are exact to the nanosecond.

use ringspin_executor::{BoxError, Collector, Context, Graph, Message, QoS, Time, Verdict};
use ringspin_modes::{Jitter, Simulation};
use ringspin_simulation::Job;
use ringspin_simulation::models::Links;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn ms(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000)
}

fn links(toml: &str) -> Links {
    Links::from_toml(toml).unwrap()
}

/// A job with these links.
fn linked<'a, T>(
    toml: &str,
    build: impl Fn(&Graph) -> Result<T, BoxError> + Send + Sync + 'a,
) -> Job<'a, T> {
    let links = links(toml);
    Job::new(build).simulate(|simulation| simulation.links = links.into())
}

/// Publishes the time every `period`.
fn clock(graph: &Graph, topic: &str, period: Duration, qos: QoS) -> Result<(), BoxError> {
    let node = graph.create_node(&format!("clock_{topic}"), ())?;
    let out = node.create_publisher::<Time>(topic, qos)?;
    // A keep-all subscription may be full.
    node.create_timer(period, move |(), cx| out.publish(cx.now()).unwrap_or(()))?;
    Ok(())
}

fn collect(graph: &Graph, node: &str, topic: &str, qos: QoS) -> Result<Collector<Time>, BoxError> {
    Ok(graph.create_node(node, ())?.create_collector(topic, qos)?)
}

/// When the messages were published and when they arrived, in milliseconds.
fn flights(collector: &Collector<Time>) -> Vec<(u64, u64)> {
    let in_ms = |time: Time| {
        assert!(time.as_nanos().is_multiple_of(1_000_000), "{time} is no whole millisecond");
        time.as_nanos() / 1_000_000
    };
    let flights = collector.take().into_iter();
    flights.map(|(arrived, sent)| (in_ms(*sent), in_ms(arrived))).collect()
}

/// RSLCPP's test of delays: a timer of 100 ms from 10 s to 15 s inclusive, and queues of depth one.
/// The timer is overdue at the start, so it fires at 10.0 s, 10.1 s ... 15.0 s.
fn assert_rslcpp_figures(links: Links) {
    let topics = [("no_delay", 0, 51), ("fixed_delay_1", 10, 50), ("fixed_delay_2", 300, 48)];
    let job = Job::new(|graph: &Graph| {
        let collector = |(topic, ..): &(&str, u64, usize)| {
            clock(graph, topic, 100 * MS, QoS::keep_last(1))?;
            collect(graph, &format!("listener_{topic}"), topic, QoS::keep_last(1))
        };
        topics.iter().map(collector).collect::<Result<Vec<_>, BoxError>>()
    });
    let job = job.start_at(ms(10_000)).end_at(ms(15_000));
    let mut session = job.simulate(|simulation| simulation.links = links.into()).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    for (collector, (topic, delay_ms, received)) in session.handles.iter().zip(topics) {
        let sent = (0..received as u64).map(|n| 10_000 + 100 * n);
        let expected: Vec<_> = sent.map(|sent| (sent, sent + delay_ms)).collect();
        assert_eq!(flights(collector), expected, "{topic}");
    }
    // Messages under way at the end are neither received nor lost.
    let report = session.report();
    assert_eq!((report.dispatches(), report.statistics().lost()), (3 * 51 + 51 + 50 + 48, 0));
}

#[test]
fn rslcpps_figures_with_links_from_toml() {
    assert_rslcpp_figures(links(
        r#"
        link = [
            { topic = "/fixed_delay_1", delay = "10ms" },
            { topic = "/fixed_delay_2", delay = "300ms" },
        ]
        "#,
    ));
}

#[test]
fn rslcpps_figures_with_its_own_file_and_measured_delays_refused() {
    let file = "Topic Name, Delay Type (FIXED/MEASURED), Fixed Delay_ms, Measured Delay Skew\n\
        /fixed_delay_1, FIXED, 10,\n\
        /fixed_delay_2, FIXED, 300,\n";
    assert_rslcpp_figures(Links::from_rslcpp_csv(file, "delays.csv").unwrap());
    let measured = format!("{file}/no_delay, MEASURED, , 1.0\n");
    let error = Links::from_rslcpp_csv(&measured, "delays.csv").unwrap_err().to_string();
    assert!(error.starts_with("delays.csv, line 4: `/no_delay` is MEASURED"), "{error}");
    assert!(error.contains("record a profile"), "{error}");
}

#[test]
fn a_delay_is_exact_to_the_nanosecond() {
    let toml = r#"link = [{ topic = "/t", delay = "1000001ns" }]"#;
    let job = linked(toml, |graph| {
        clock(graph, "t", MS, QoS::default())?;
        collect(graph, "listener", "t", QoS::default())
    });
    let mut session = job.run_for(10 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let took = session.handles.take().into_iter().map(|(arrived, sent)| arrived.since(*sent));
    assert_eq!(took.collect::<Vec<_>>(), [Duration::from_nanos(1_000_001); 8]);
}

#[test]
fn a_link_is_for_its_edge_only() {
    let toml = r#"
        link = [
            { topic = "/t", to = "/far", delay = "20ms" },
            { topic = "/t", from = "/clock_other", to = "/near", loss = 1.0 },
        ]
    "#;
    let job = linked(toml, |graph| {
        clock(graph, "t", 50 * MS, QoS::default())?;
        let other = graph.create_node("clock_other", ())?;
        let out = other.create_publisher::<Time>("t", QoS::default())?;
        other.create_timer(80 * MS, move |(), cx| out.publish(cx.now()))?;
        let names = ["near", "far", "between"].iter();
        let collectors = names.map(|name| collect(graph, name, "t", QoS::default()));
        collectors.collect::<Result<Vec<_>, _>>()
    });
    let mut session = job.run_for(100 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let [near, far, between] = &session.handles[..] else { panic!("there are three") };
    assert_eq!(flights(near), [(50, 50), (100, 100)]);
    assert_eq!(flights(far), [(50, 70), (80, 100)]);
    assert_eq!(flights(between), [(50, 50), (80, 80), (100, 100)]);
    let statistics = session.report().statistics().clone();
    assert_eq!(statistics.of("/near").map(|of| of.lost).collect::<Vec<_>>(), [1]);
    assert_eq!(statistics.lost(), 1);
}

#[test]
fn requests_and_responses_take_their_time() {
    let build = |graph: &Graph| {
        let server = graph.create_node("server", Vec::<Time>::new())?;
        server.create_service("double", QoS::services(), |asked, n: &u64, cx| {
            asked.push(cx.now());
            n * 2
        })?;
        let client = graph.create_node("client", Vec::<(Time, u64)>::new())?;
        let double = client.create_client::<u64, u64>("double", QoS::services())?;
        client.create_one_shot_timer(MS, move |_, _| {
            double.call(21, |answers: &mut Vec<_>, reply, cx| {
                reply.map(|reply| answers.push((cx.now(), *reply)))
            })
        })?;
        Ok(())
    };
    for (rule, asked, answered) in [
        (r#"topic = "/double", delay = "10ms""#, 11, 21),
        (r#"topic = "/double", delay = "10ms", from = "/client""#, 11, 11),
        (r#"topic = "/double", delay = "10ms", from = "/server""#, 1, 11),
    ] {
        let mut session = linked(&format!("link = [{{ {rule} }}]"), build).start().unwrap();
        session.run_until(Time::MAX).unwrap();
        assert_eq!(session.state::<Vec<Time>>("/server").unwrap(), &[ms(asked)], "{rule}");
        let answers = session.state::<Vec<(Time, u64)>>("/client").unwrap();
        assert_eq!(answers, &[(ms(answered), 42)], "{rule}");
    }
}

#[test]
fn a_call_that_is_slower_than_its_timeout_ends_in_time_and_holds_its_place() {
    let toml = r#"link = [{ topic = "/echo", delay = "10ms" }]"#;
    let job = linked(toml, |graph| {
        let server = graph.create_node("server", ())?;
        server.create_service("echo", QoS::services(), |(), n: &u64, _| *n)?;
        let client = graph.create_node("client", Vec::<(Time, Option<u64>)>::new())?;
        let echo = client.create_client::<u64, u64>("echo", QoS::keep_all(1))?;
        let echo = echo.with_timeout(15 * MS);
        client.create_timer(8 * MS, move |_, cx| {
            // It is refused while the response before it is under way.
            let called = echo.call(cx.event().sequence, |answers: &mut Vec<_>, reply, cx| {
                answers.push((cx.now(), reply.ok().map(|reply| *reply)));
            });
            called.unwrap_or(());
        })?;
        Ok(())
    });
    let mut session = job.run_for(60 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    // Calls at 8 ms and 32 ms, of which the responses come at 28 ms and 52 ms; the next at 56 ms.
    let answers = session.state::<Vec<(Time, Option<u64>)>>("/client").unwrap();
    assert_eq!(answers, &[(ms(23), None), (ms(47), None)]);
    assert_eq!(session.report().statistics().of("/server").next().unwrap().dispatched, 2);
}

#[test]
fn lost_messages_are_counted_and_a_seed_loses_the_same_ones() {
    let run = |seed| {
        let job = linked(r#"link = [{ topic = "/t", loss = 0.3 }]"#, |graph| {
            clock(graph, "t", MS, QoS::default())?;
            collect(graph, "listener", "t", QoS::default())
        });
        let job = job.run_for(1000 * MS).simulate(|simulation| simulation.seed = seed);
        let mut session = job.start().unwrap();
        session.run_until(Time::MAX).unwrap();
        let received = flights(&session.handles);
        let lost = session.report().statistics().lost();
        assert_eq!(received.len() as u64 + lost, 1000);
        assert!((200..400).contains(&lost), "{lost} of 1000");
        received
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn doubled_messages_arrive_twice_if_there_is_a_place() {
    let received = |qos: QoS| {
        let toml = r#"link = [{ topic = "/t", delay = "2ms", duplication = 1.0 }]"#;
        let job = linked(toml, move |graph| {
            clock(graph, "t", 10 * MS, QoS::default())?;
            collect(graph, "listener", "t", qos)
        });
        let mut session = job.run_for(29 * MS).start().unwrap();
        session.run_until(Time::MAX).unwrap();
        let statistics = session.report().statistics().clone();
        (flights(&session.handles), statistics.lost(), statistics.overwritten())
    };
    let once = vec![(10, 12), (20, 22)];
    let twice = vec![(10, 12), (10, 12), (20, 22), (20, 22)];
    assert_eq!(received(QoS::keep_last(2)), (twice.clone(), 0, 0));
    assert_eq!(received(QoS::keep_last(1)), (once.clone(), 0, 2));
    assert_eq!(received(QoS::keep_all(2)), (twice, 0, 0));
    assert_eq!(received(QoS::keep_all(1)), (once, 2, 0));
}

#[test]
fn a_line_is_occupied_by_one_message_after_the_other() {
    let toml = r#"
        link = [{ topic = "/t", bandwidth = "1 MB/s", bytes = 3000, delay = "10ms" }]
    "#;
    let job = linked(toml, |graph| {
        let node = graph.create_node("node", ())?;
        let out = node.create_publisher::<Time>("t", QoS::default())?;
        node.create_timer(20 * MS, move |(), cx| {
            (0..3).for_each(|_| out.publish(cx.now()).unwrap());
        })?;
        collect(graph, "listener", "t", QoS::default())
    });
    let mut session = job.run_for(55 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let expected = [(20, 33), (20, 36), (20, 39), (40, 53)];
    assert_eq!(flights(&session.handles), expected, "3 ms each, and then 10 ms");
}

#[test]
fn a_link_keeps_the_order_unless_it_is_to_reorder() {
    let run = |reordering: &str| {
        let toml = format!(
            r#"link = [{{ topic = "/t", delay = {{ uniform = ["0ms", "50ms"] }}{reordering} }}]"#
        );
        let job = linked(&toml, |graph| {
            clock(graph, "t", MS, QoS::default())?;
            collect(graph, "listener", "t", QoS::keep_last(100))
        });
        let mut session = job.run_for(200 * MS).start().unwrap();
        session.run_until(Time::MAX).unwrap();
        let sent = session.handles.take().into_iter().map(|(_, sent)| *sent);
        sent.collect::<Vec<_>>()
    };
    let in_order = run("");
    assert!(in_order.is_sorted() && in_order.len() > 140, "{}", in_order.len());
    let mut overtaking = run(", reordering = 0.2");
    assert!(!overtaking.is_sorted());
    overtaking.sort_unstable();
    overtaking.dedup();
    assert!(overtaking.len() > 140, "{}", overtaking.len());
}

#[test]
fn a_keep_all_subscription_counts_what_is_under_way() {
    let toml = r#"link = [{ topic = "/t", delay = "10ms" }]"#;
    let job = linked(toml, |graph| {
        clock(graph, "t", MS, QoS::default())?;
        collect(graph, "listener", "t", QoS::keep_all(2))
    });
    let mut session = job.run_for(40 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    // Of each ten, two are under way. Their places are free as soon as they are taken.
    let expected = [(1, 11), (2, 12), (11, 21), (12, 22), (21, 31), (22, 32)];
    assert_eq!(flights(&session.handles), expected);
    let report = session.report();
    assert_eq!(report.statistics().refused, [("/t".to_owned(), 32)]);
    assert_eq!((report.statistics().lost(), report.statistics().overwritten()), (0, 0));
}

#[test]
fn a_lost_message_leaves_its_place_to_others() {
    for (toml, verdict) in [
        (r#"link = [{ topic = "/t", delay = "10ms", loss = 1.0 }]"#, Verdict::Pass),
        ("", Verdict::Drop),
        (r#"link = [{ topic = "/t", loss = 1.0 }]"#, Verdict::Drop),
    ] {
        let job = linked(toml, |graph| {
            clock(graph, "t", MS, QoS::default())?;
            let verdict = verdict.clone();
            graph.intercept("t", move |_: &Message<Time>, _| verdict.clone())?;
            collect(graph, "listener", "t", QoS::keep_all(1))
        });
        let report = job.run_for(100 * MS).run().unwrap();
        assert_eq!(report.statistics().refused, [], "{toml}");
        assert_eq!((report.statistics().lost(), report.dispatches()), (100, 100), "{toml}");
    }
}

#[test]
fn kept_messages_travel_too() {
    let kept = QoS::keep_last(2).transient_local();
    let toml = r#"link = [{ topic = "/map", delay = "10ms" }]"#;
    let job = linked(toml, move |graph| {
        let server = graph.create_node("server", 0)?;
        let map = server.create_publisher::<u32>("map", kept)?;
        map.publish(0)?;
        server.create_timer(100 * MS, move |n, _| {
            *n += 1;
            map.publish(*n)
        })?;
        let early = graph.create_node("early", ())?.create_collector::<u32>("map", kept)?;
        let node = graph.create_node("late", Vec::<(Time, u32)>::new())?;
        let late = node.clone();
        node.create_one_shot_timer(250 * MS, move |_, _| {
            late.create_subscription("map", kept, |seen, n: &Message<u32>, cx| {
                seen.push((cx.now(), **n));
            })
            .map(drop)
        })?;
        Ok(early)
    });
    let mut session = job.run_for(320 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let early = session.handles.take();
    let early: Vec<_> = early.iter().map(|(time, n)| (*time, **n)).collect();
    assert_eq!(early, [(ms(10), 0), (ms(110), 1), (ms(210), 2), (ms(310), 3)]);
    let late = session.state::<Vec<(Time, u32)>>("/late").unwrap();
    assert_eq!(late, &[(ms(260), 1), (ms(260), 2), (ms(310), 3)]);
}

#[test]
fn a_lifespan_shorter_than_the_delay_expires() {
    for (lifespan_ms, received, expired) in [(9, 0, 9), (10, 9, 0)] {
        let toml = r#"link = [{ topic = "/t", delay = "10ms" }]"#;
        let job = linked(toml, move |graph| {
            clock(graph, "t", 10 * MS, QoS::default().lifespan(MS * lifespan_ms))?;
            collect(graph, "listener", "t", QoS::default())
        });
        let mut session = job.run_for(100 * MS).start().unwrap();
        session.run_until(Time::MAX).unwrap();
        assert_eq!(session.handles.len(), received, "{lifespan_ms}");
        assert_eq!(session.report().statistics().expired(), expired, "{lifespan_ms}");
    }
}

#[test]
fn an_interceptors_delay_comes_on_top() {
    let toml = r#"link = [{ topic = "/t", delay = "10ms" }]"#;
    let job = linked(toml, |graph| {
        clock(graph, "t", 50 * MS, QoS::default())?;
        graph.intercept("t", |sent: &Message<Time>, in_flight| {
            assert_eq!(in_flight.departure, **sent);
            Verdict::Delay(7 * MS)
        })?;
        collect(graph, "listener", "t", QoS::default())
    });
    let mut session = job.run_for(99 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    assert_eq!(flights(&session.handles), [(50, 67)]);
}

/// The queue places that keep-all subscriptions had reserved when the interceptor panics are freed:
/// for the subscription it was called for, and for the later ones.
#[test]
fn an_interceptor_that_panics_leaves_no_place_taken() {
    for qos in [QoS::keep_all(1), QoS::keep_all(1).transient_local()] {
        let job = linked("", move |graph| {
            let node = graph.create_node("clock", 0)?;
            let out = node.create_publisher::<Time>("t", qos)?;
            node.create_timer(MS, move |panics, cx| {
                let publish = || out.publish(cx.now()).expect("everybody has a place");
                *panics += u32::from(catch_unwind(AssertUnwindSafe(publish)).is_err());
                assert_eq!(*panics, 1);
            })?;
            let mut passages = 0;
            graph.intercept("t", move |_: &Message<Time>, _| {
                passages += 1;
                assert_ne!(passages, 2, "the first message to the second listener");
                Verdict::Pass
            })?;
            let listeners = ["first", "second", "third"];
            let collectors = listeners.map(|name| collect(graph, name, "t", QoS::keep_all(1)));
            collectors.into_iter().collect::<Result<Vec<_>, _>>()
        });
        let mut session = job.run_for(5 * MS).start().unwrap();
        session.run_until(Time::MAX).unwrap();
        let received = session.handles.iter().map(|collector| flights(collector).len());
        assert_eq!(received.collect::<Vec<_>>(), [5, 4, 4]);
        let statistics = session.report().statistics().clone();
        assert_eq!((statistics.refused.len(), statistics.lost()), (0, 2));
    }
}

/// A message that holds its own way: the publisher.
struct Held {
    _sign: Arc<()>,
    _way: ringspin_executor::Publisher<Held>,
}

#[test]
fn messages_under_way_at_the_end_are_dropped() {
    let sign = Arc::new(());
    let build = |graph: &Graph| {
        let node = graph.create_node("node", 0)?;
        let out = node.create_publisher::<Held>("t", QoS::default())?;
        let sign = sign.clone();
        node.create_timer(MS, move |n, cx| {
            *n += 1;
            if *n == 5 {
                cx.stop();
            }
            out.publish(Held { _sign: sign.clone(), _way: out.clone() })
        })?;
        node.create_subscription("t", QoS::default(), |_, _: &Message<Held>, _| ())?;
        Ok(())
    };
    let toml = r#"link = [{ topic = "/t", delay = "1h", duplication = 0.5 }]"#;
    let report = linked(toml, build).run().unwrap();
    assert_eq!((report.end(), report.dispatches()), (ms(5), 5), "a stop waits for nothing");
    assert_eq!(Arc::strong_count(&sign), 1);
    let report = linked(toml, build).end_at(ms(3)).run().unwrap();
    assert_eq!((report.end(), report.dispatches()), (ms(3), 3));
    assert_eq!(Arc::strong_count(&sign), 1);
    // A session that is dropped in the middle.
    let mut session = linked(toml, build).start().unwrap();
    session.run_until(ms(2)).unwrap();
    assert!(Arc::strong_count(&sign) > 3, "the timer's, and those under way");
    drop(session);
    assert_eq!(Arc::strong_count(&sign), 1);
}

#[test]
fn messages_under_way_keep_a_run_going_until_they_arrive() {
    let toml = r#"link = [{ topic = "/t", delay = "1h" }]"#;
    let job = linked(toml, |graph| {
        let node = graph.create_node("node", ())?;
        let out = node.create_publisher::<Time>("t", QoS::default())?;
        node.create_one_shot_timer(MS, move |(), cx| out.publish(cx.now()))?;
        collect(graph, "listener", "t", QoS::default())
    });
    let mut session = job.start().unwrap();
    session.run_until(Time::MAX).unwrap();
    assert_eq!(flights(&session.handles), [(1, 3_600_001)]);
    assert_eq!(session.now(), ms(3_600_001));
}

/// When each publisher's messages arrive, of a node that has these publishers (the empty name is
/// none) on one topic, which all publish at the same times.
fn arrivals(publishers: &'static [&'static str], change: fn(&mut Simulation)) -> Vec<Vec<u64>> {
    let job = Job::new(|graph| {
        let node = graph.create_node("node", ())?;
        for (n, name) in publishers.iter().enumerate() {
            let out = node.create_publisher::<usize>("t", QoS::default())?;
            let out = if name.is_empty() { out } else { out.named(name) };
            node.create_timer(10 * MS, move |(), _| out.publish(n))?;
        }
        Ok(graph.create_node("to", ())?.create_collector::<usize>("t", QoS::keep_last(1000))?)
    });
    let mut session = job.run_for(500 * MS).simulate(change).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let mut arrivals = vec![Vec::new(); publishers.len()];
    for (time, by) in session.handles.take() {
        arrivals[*by].push(time.as_nanos());
    }
    arrivals
}

#[test]
fn publishers_of_one_node_on_one_topic_have_random_numbers_of_their_own() {
    fn jitter(simulation: &mut Simulation) {
        simulation.jitter = Jitter { max: 5 * MS, seed: 1 };
    }
    fn delay(simulation: &mut Simulation) {
        let uniform = "[[link]]\ntopic = \"/t\"\ndelay = { uniform = [\"0 ms\", \"5 ms\"] }";
        simulation.links = links(uniform).into();
    }
    for change in [jitter, delay] {
        let alone = arrivals(&[""], change);
        let two = arrivals(&["", ""], change);
        assert_ne!(two[0], two[1]);
        assert_eq!(two[0], alone[0]);
        // A name keeps its numbers wherever its publisher comes, and leaves those of others alone.
        let named = arrivals(&["front"], change);
        let both = arrivals(&["rear", "front", ""], change);
        assert_eq!((&both[1], &both[2]), (&named[0], &alone[0]));
        assert_ne!(both[0], both[1]);
    }
}

#[test]
fn a_partition_loses_what_leaves_within_its_window() {
    let text = r#"
        [[link]]
        topic = "/t"
        delay = "5 ms"
        [[link]]
        topic = "/t"
        to = "/cut"
        since = "30 ms"
        until = "60 ms"
        loss = 1.0
    "#;
    let job = linked(text, |graph| {
        clock(graph, "t", 10 * MS, QoS::default())?;
        let all = QoS::keep_last(100);
        Ok((collect(graph, "cut", "t", all)?, collect(graph, "whole", "t", all)?))
    });
    let mut session = job.run_for(100 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let sent = |collector| flights(collector).into_iter().map(|(sent, _)| sent).collect::<Vec<_>>();
    assert_eq!(sent(&session.handles.0), [10, 20, 60, 70, 80, 90], "in [30 ms, 60 ms) none");
    assert_eq!(sent(&session.handles.1).len(), 9);
    assert_eq!(session.report().statistics().lost(), 3);
    for (window, sent) in [("since = \"50 ms\"", 4), ("until = \"50 ms\"", 5)] {
        let text = format!("[[link]]\ntopic = \"/t\"\nloss = 1.0\n{window}");
        let job = linked(&text, |graph| {
            clock(graph, "t", 10 * MS, QoS::default())?;
            collect(graph, "to", "t", QoS::keep_last(100))
        });
        let mut session = job.run_for(90 * MS).start().unwrap();
        session.run_until(Time::MAX).unwrap();
        assert_eq!(flights(&session.handles).len(), sent, "{window}");
    }
}

#[test]
fn messages_sent_after_a_window_do_not_overtake_earlier_ones() {
    let rule = "[[link]]\ntopic = \"/t\"\nsince = \"20 ms\"\nuntil = \"30 ms\"\ndelay = \"15 ms\"";
    let job = linked(rule, |graph| {
        clock(graph, "t", 10 * MS, QoS::default())?;
        collect(graph, "to", "t", QoS::keep_last(100))
    });
    let mut session = job.run_for(50 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let expected = [(10, 10), (20, 35), (30, 35), (40, 40), (50, 50)];
    assert_eq!(flights(&session.handles), expected);
}

/// A callback that takes time: its messages leave at its end, and that counts.
#[test]
fn a_window_is_for_the_time_at_which_a_message_leaves() {
    let cut = links("[[link]]\ntopic = \"/t\"\nsince = \"25 ms\"\nloss = 1.0");
    let job = Job::new(|graph| {
        clock(graph, "t", 20 * MS, QoS::default())?;
        collect(graph, "to", "t", QoS::default())
    });
    let job = job.run_for(30 * MS).simulate(|s| s.links = cut.into());
    let received = |job: &Job<'_, Collector<Time>>| {
        let mut session = job.start().unwrap();
        session.run_until(Time::MAX).unwrap();
        session.handles.values().len()
    };
    assert_eq!(received(&job), 1);
    let job = job.simulate(|s| s.durations = super::composition::takes("/clock_t", 10 * MS).into());
    assert_eq!(received(&job), 0, "it leaves at 30 ms");
}

#[test]
fn a_window_that_no_time_is_in_is_refused() {
    let rule = "[[link]]\ntopic = \"/t\"\nsince = \"2 s\"\nuntil = \"2 s\"";
    let job = linked(rule, |graph| clock(graph, "t", MS, QoS::default()));
    let error = job.run().unwrap_err().to_string();
    assert!(error.starts_with("link 1 (`/t`): it begins at 2.000000000 s and ends at"), "{error}");
}

/// The times of messages are exact: they leave at the end of the callback that publishes them,
/// arrive after the delay of their link, and are handled when their node is free. The queue of
/// depth one overwrites a message on its way to a busy node.
#[test]
fn times_of_messages_are_exact() {
    let toml = "[[link]]\ntopic = '/slow'\ndelay = '30ms'";
    let build = |graph: &Graph| {
        let talker = graph.create_node("talker", ())?;
        let out = talker.create_publisher::<u64>("slow", QoS::default())?;
        talker.create_timer(10 * MS, move |(), cx| out.publish(cx.event().sequence).unwrap())?;
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let listener = graph.create_node("listener", seen.clone())?;
        let qos = QoS::keep_last(1).message_times();
        listener.create_subscription("slow", qos, |seen, n: &Message<u64>, cx| {
            let times = n.times().unwrap();
            let times = [times.source_timestamp, times.received_timestamp, cx.now()];
            let times = times.map(|time| time.as_nanos() / 1_000_000);
            seen.lock().unwrap().push((**n, times));
        })?;
        Ok(seen)
    };
    let durations = "[[execution]]\nnode = '/talker'\nduration = '2ms'\n\
        [[execution]]\nnode = '/listener'\nduration = '25ms'";
    let job = linked(toml, build).start_at(ms(0)).end_at(ms(100));
    let durations = ringspin_simulation::models::Durations::from_toml(durations).unwrap();
    let mut session =
        job.simulate(move |simulation| simulation.durations = durations.into()).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let seen = session.handles.lock().unwrap().clone();
    // The timer is due every 10 ms, and takes 2 ms.
    for (n, [source, received, handled]) in &seen {
        assert_eq!((*source, *received), (12 + 10 * n, 42 + 10 * n));
        assert!(handled >= received);
    }
    assert_eq!(seen[0], (0, [12, 42, 42]));
    assert_eq!(seen[1], (2, [32, 62, 67]), "it overwrote message 1 while its node was busy");
}

/// Source and reception times of a message in milliseconds, with its number.
type Seen = Arc<std::sync::Mutex<Vec<(u32, [u64; 2])>>>;

fn see(seen: &Seen, n: &Message<u32>) {
    let times = n.times().unwrap();
    let times = [times.source_timestamp, times.received_timestamp];
    seen.lock().unwrap().push((**n, times.map(|time| time.as_nanos() / 1_000_000)));
}

#[test]
fn replaced_message_keeps_the_time_of_its_publication() {
    let toml = "[[link]]\ntopic = '/t'\ndelay = '30ms'";
    let job = linked(toml, |graph| {
        let node = graph.create_node("talker", 0)?;
        let out = node.create_publisher::<u32>("t", QoS::default())?;
        node.create_timer(10 * MS, move |n, _| {
            *n += 1;
            out.publish(*n)
        })?;
        graph.intercept("t", |n: &Message<u32>, _| Verdict::Replace(**n + 100))?;
        let seen = Seen::default();
        let listener = graph.create_node("listener", seen.clone())?;
        let qos = QoS::keep_last(9).message_times();
        listener.create_subscription("t", qos, |seen, n: &Message<u32>, _| see(seen, n))?;
        Ok(seen)
    });
    let mut session = job.run_for(60 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let expected = [(101, [10, 40]), (102, [20, 50]), (103, [30, 60])];
    assert_eq!(*session.handles.lock().unwrap(), expected);
}

#[test]
fn message_that_a_late_subscription_gets_keeps_the_time_of_its_publication() {
    let job = Job::new(|graph| {
        let node = graph.create_node("talker", 0)?;
        let qos = QoS::keep_last(2).transient_local();
        let out = node.create_publisher::<u32>("t", qos)?;
        node.create_timer(10 * MS, move |n, _| {
            *n += 1;
            out.publish(*n)
        })?;
        let seen = Seen::default();
        let listener = graph.create_node("listener", seen.clone())?;
        let take = |seen: &mut Seen, n: &Message<u32>, _: &mut Context<'_>| see(seen, n);
        let qos = QoS::keep_last(9).transient_local().message_times();
        let creator = graph.create_node("creator", ())?;
        creator.create_one_shot_timer(35 * MS, move |(), _| {
            listener.create_subscription("t", qos, take).map(drop)
        })?;
        Ok(seen)
    });
    let mut session = job.run_for(40 * MS).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let expected = [(2, [20, 35]), (3, [30, 35]), (4, [40, 40])];
    assert_eq!(*session.handles.lock().unwrap(), expected);
}
