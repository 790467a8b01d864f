//! The topics that a recorder chooses, and the messages that it counts.

use crate::support::{MS, Number, numbers, replay, types};
use ringspin_bag::{MemoryRecording, Player, Recorder};
use ringspin_executor::{Graph, Node, Publisher, QoS, Time};
use ringspin_modes::Executor;
use ringspin_simulation::Job;
use ringspin_simulation::models::Links;

fn publisher(node: &Node<()>, topic: &str, qos: QoS) -> Publisher<Number> {
    node.create_publisher(topic, qos).unwrap()
}

#[test]
fn messages_are_counted_by_publisher_and_none_is_missed() {
    let mut executor = Executor::deterministic(Default::default());
    let node = executor.create_node("talker", ()).unwrap();
    // Different offers: the recorder requests no more than each of them.
    let offers = [QoS::keep_last(10).transient_local(), QoS::keep_last(10).best_effort()];
    let [one, other] = offers.map(|qos| publisher(&node, "n", qos));
    node.create_one_shot_timer(MS, move |(), _| {
        (0..5).try_for_each(|value| one.publish(Number { value }))?;
        other.publish(Number { value: 5 })?;
        one.publish(Number { value: 6 })
    })
    .unwrap();
    let (sink, _) = MemoryRecording::sink();
    let recorder = Recorder::new(sink).add_to(executor.graph(), &types()).unwrap();
    executor.spin().unwrap();
    let report = recorder.finish().unwrap();
    assert_eq!((report.messages(), report.topics[0].bytes, report.lost()), (7, 7 * 8, 0));
}

#[test]
fn all_topics_but_hidden_and_excluded_ones_are_recorded() {
    let names = |change: fn(Recorder) -> Recorder| {
        let graph = Graph::new();
        let node = graph.create_node("talker", ()).unwrap();
        let _ends = ["n", "m", "square/_service_event"]
            .map(|topic| publisher(&node, topic, QoS::default()));
        let (sink, recording) = MemoryRecording::sink();
        let recorder = change(Recorder::new(sink)).add_to(&graph, &types()).unwrap();
        recorder.finish().unwrap();
        recording.get().topics.into_iter().map(|topic| topic.name).collect::<Vec<_>>()
    };
    assert_eq!(names(|recorder| recorder), ["/m", "/n"]);
    assert_eq!(names(|recorder| recorder.exclude(["m"])), ["/n"]);
    let chosen = names(|recorder| recorder.topics(["n", "/n", "square/_service_event"]));
    assert_eq!(chosen, ["/n", "/square/_service_event"]);
}

#[test]
fn a_message_is_recorded_with_the_times_of_its_publication_and_reception() {
    let player = Player::new([numbers("/n", &[(0, 1), (10, 2)])]);
    let job = Job::new(|graph: &Graph| replay(graph, &player));
    let job = player.apply_times(job, &types()).unwrap().simulate(|simulation| {
        simulation.end = None;
        let delay = "[[link]]\ntopic = \"/n\"\ndelay = \"3ms\"\n";
        simulation.links = Links::from_toml(delay).unwrap().into();
    });
    let mut session = job.start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let (_, recorder, recording) = &session.handles;
    assert_eq!(recorder.finish().unwrap().messages(), 2);
    for record in recording.get().records {
        assert_eq!(record.log_time, record.publish_time + 3 * MS);
    }
}
