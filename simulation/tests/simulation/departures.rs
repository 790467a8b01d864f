//! Messages of a callback that takes time count as sent at their departure, in every respect.

use crate::composition::{Log, entries, ms, note, taken, takes};
use ringspin_executor::{Message, QoS};
use ringspin_simulation::Job;
use ringspin_simulation::models::{Distribution, DurationRule, Durations};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// The messages that a subscription, created at `creation_ms`, receives from a publisher with a
/// callback that publishes at 10 ms and returns at 20.
fn late(creation_ms: u32) -> Vec<(u64, String)> {
    let job = Job::new(move |graph| {
        let log = Log::default();
        let source = graph.create_node("source", ())?;
        let out = source.create_publisher("t", QoS::keep_last(5).transient_local())?;
        source.create_one_shot_timer(10 * MS, move |_, _| out.publish(1u32))?;
        let (node, seen) = (graph.create_node("node", ())?, log.clone());
        let creator = graph.create_node("creator", ())?;
        creator.create_one_shot_timer(creation_ms * MS, move |_, _| {
            let (seen, qos) = (seen.clone(), QoS::keep_last(5).transient_local());
            node.create_subscription("t", qos, move |_, n: &Message<u32>, cx| {
                note(&seen, cx.now(), n.to_string());
            })
            .map(drop)
        })?;
        Ok(log)
    });
    let job = job.simulate(|simulation| simulation.durations = takes("/source", 10 * MS).into());
    let mut session = job.start().unwrap();
    session.run_until(ms(60)).unwrap();
    taken(&session.handles)
}

#[test]
fn a_late_joiner_gets_no_message_before_it_has_left() {
    for (creation_ms, received_ms) in [(5, 20), (15, 20), (20, 20), (25, 25)] {
        assert_eq!(late(creation_ms), entries(&[(received_ms, "1")]), "{creation_ms}");
    }
}

#[test]
fn messages_of_one_publisher_never_overtake_each_other() {
    let job = Job::new(|graph| {
        let log = Log::default();
        let source = graph.create_node("source", ())?;
        let out = source.create_publisher("t", QoS::keep_last(5))?;
        let other = out.clone();
        source.create_one_shot_timer(10 * MS, move |_, _| out.publish("logical"))?;
        source.create_one_shot_timer(12 * MS, move |_, _| other.publish("at once"))?;
        let (node, seen) = (graph.create_node("node", ())?, log.clone());
        node.create_subscription("t", QoS::keep_last(5), {
            move |_, name: &Message<&str>, cx| note(&seen, cx.now(), **name)
        })?;
        Ok(log)
    });
    let logical = DurationRule::new("/source").callback("one-shot timer 10ms").logical(20 * MS);
    let rules = Durations::new().rule(logical);
    let mut session =
        job.simulate(|simulation| simulation.durations = rules.into()).start().unwrap();
    session.run_until(ms(60)).unwrap();
    assert_eq!(taken(&session.handles), entries(&[(30, "logical"), (30, "at once")]));
}

#[test]
fn a_lifespan_begins_when_the_message_leaves() {
    let job = Job::new(|graph| {
        let log = Log::default();
        let source = graph.create_node("source", ())?;
        let out = source.create_publisher("t", QoS::default().lifespan(5 * MS))?;
        source.create_one_shot_timer(10 * MS, move |_, _| out.publish(1u32))?;
        let (node, seen) = (graph.create_node("node", ())?, log.clone());
        node.create_subscription("t", QoS::default(), move |_, n: &Message<u32>, cx| {
            note(&seen, cx.now(), n.to_string());
        })?;
        Ok(log)
    });
    let job = job.simulate(|simulation| simulation.durations = takes("/source", 10 * MS).into());
    let mut session = job.start().unwrap();
    session.run_until(ms(60)).unwrap();
    assert_eq!(taken(&session.handles), entries(&[(20, "1")]));
    assert_eq!(session.report().statistics().expired(), 0);
}

#[test]
fn a_timeout_counts_from_when_the_request_leaves() {
    for (service_ms, answer) in [(4, (24, "answer")), (6, (25, "timeout"))] {
        let job = Job::new(|graph| {
            let log = Log::default();
            let server = graph.create_node("server", ())?;
            server.create_service("ask", QoS::services(), |_, n: &u32, _| *n)?;
            let (node, seen) = (graph.create_node("node", ())?, log.clone());
            let client = node.create_client::<u32, u32>("ask", QoS::services())?;
            let client = client.with_timeout(5 * MS);
            node.create_one_shot_timer(10 * MS, move |_, _| {
                let seen = seen.clone();
                client.call(1, move |_, reply, cx| {
                    let name = if reply.is_ok() { "answer" } else { "timeout" };
                    note(&seen, cx.now(), name);
                })
            })?;
            Ok(log)
        });
        let fixed = |ms: u32| Distribution::fixed(ms * MS);
        let rules = Durations::new()
            .rule(DurationRule::new("/node").callback("one-shot timer 10ms").duration(fixed(10)))
            .rule(DurationRule::new("/server").duration(fixed(service_ms)));
        let mut session =
            job.simulate(|simulation| simulation.durations = rules.into()).start().unwrap();
        session.run_until(ms(60)).unwrap();
        assert_eq!(taken(&session.handles), entries(&[answer]));
    }
}
