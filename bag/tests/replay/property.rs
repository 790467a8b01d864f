//! Random recordings through a graph.

use crate::support::{Number, ms, record, replay, topic, types};
use proptest::prelude::*;
use ringspin_bag::{MemoryRecording, Player};
use ringspin_executor::{Graph, Message, QoS, Time};
use ringspin_simulation::Job;
use ringspin_simulation::models::Durations;

/// Recordings of up to three topics, as the milliseconds and topics of their messages.
fn recordings() -> impl Strategy<Value = Vec<Vec<(u64, usize)>>> {
    let messages = prop::collection::vec((0..30u64, 0..3usize), 0..40);
    prop::collection::vec(messages, 1..4)
}

const TOPICS: [&str; 3] = ["/a", "/b", "/c"];

/// The recording `source`; the value of each message is unique.
fn recording(source: usize, messages: &[(u64, usize)]) -> MemoryRecording {
    let records = messages.iter().enumerate().map(|(n, (at, topic))| {
        record(*topic, ms(*at), n as u32, &Number { value: (source * 1000 + n) as u32 })
    });
    let topics = TOPICS.iter().map(|name| topic::<Number>(name)).collect();
    MemoryRecording { topics, records: records.collect() }
}

/// The order in which they are played: by time, then recording, then order of reception.
fn expected(messages: &[Vec<(u64, usize)>]) -> Vec<(usize, u32)> {
    let mut all = Vec::new();
    for (source, messages) in messages.iter().enumerate() {
        let of = messages.iter().enumerate();
        all.extend(of.map(|(n, (at, topic))| (*at, source, n, *topic)));
    }
    all.sort_unstable();
    all.into_iter().map(|(_, source, n, topic)| (topic, (source * 1000 + n) as u32)).collect()
}

/// Plays to one node with queues of `depth` and callbacks of `duration_us`; returns the messages
/// that it got, the digest, and the recording of the replay.
fn play(
    messages: &[Vec<(u64, usize)>],
    depth: usize,
    duration_us: u64,
) -> (Vec<(usize, u32)>, String, MemoryRecording) {
    let sources = messages.iter().enumerate().map(|(n, messages)| recording(n, messages));
    let player = Player::new(sources.collect::<Vec<_>>());
    let job = Job::new(|graph: &Graph| {
        let node = graph.create_node("probe", Vec::<(usize, u32)>::new())?;
        node.digest_state()?;
        for (n, topic) in TOPICS.iter().enumerate() {
            let qos = QoS::keep_all(depth);
            node.create_subscription(topic, qos, move |seen, number: &Message<Number>, _| {
                seen.push((n, number.value));
            })?;
        }
        replay(graph, &player)
    });
    let durations = format!("[[execution]]\nnode = \"/probe\"\nduration = \"{duration_us}us\"\n");
    let job = player.apply_times(job, &types()).unwrap().simulate(|simulation| {
        simulation.end = None;
        simulation.durations = Durations::from_toml(&durations).unwrap().into();
    });
    let mut session = job.start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let digest = session.report().digest().to_string();
    session.handles.1.finish().unwrap();
    let recorded = session.handles.2.get();
    (session.state::<Vec<(usize, u32)>>("/probe").unwrap().clone(), digest, recorded)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_message_arrives_once_in_order_however_slow_the_callbacks_are(
        messages in recordings(),
        depth in 1..4usize,
        duration_us in prop_oneof![Just(0), 1..5000u64],
    ) {
        let (seen, digest, recorded) = play(&messages, depth, duration_us);
        let expected = expected(&messages);
        prop_assert_eq!(&seen, &expected);
        prop_assert_eq!(recorded.records.len(), expected.len());
        let again = play(&messages, depth, duration_us);
        prop_assert_eq!((seen, digest, recorded), again);
    }
}

#[test]
fn twenty_replays_have_one_digest() {
    let messages = [vec![(0, 0), (3, 1), (3, 1), (9, 2)], vec![(3, 1), (4, 0)]];
    let (_, first, _) = play(&messages, 1, 2500);
    assert!((1..20).all(|_| play(&messages, 1, 2500).1 == first));
    // The digest depends on the played messages.
    let others = [vec![(0, 0), (3, 1), (3, 2), (9, 2)], vec![(3, 1), (4, 0)]];
    assert_ne!(play(&others, 1, 2500).1, first);
}
