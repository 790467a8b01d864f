//! Recorded requests of services.

use crate::support::{Number, ms, record, topic, types};
use ringspin_bag::{MemoryRecording, PlayReport, Player};
use ringspin_executor::{Graph, QoS, Responder, Time};
use ringspin_messages::RosService;
use ringspin_modes::Executor;
use ringspin_simulation::Job;
use serde::Serialize;
use std::time::Duration;

struct Square;

impl RosService for Square {
    const TYPE_NAME: &'static str = "test_msgs/srv/Square";
    const TYPE_HASH: &'static str = "RIHS01_cc";
    type Request = Number;
    type Response = Number;
    type Event = Number; // not used here
}

/// An event as service introspection publishes it.
#[derive(Serialize)]
struct Event {
    event_type: u8,
    stamp: (i32, u32),
    client_gid: [u8; 16],
    sequence_number: i64,
    request: Vec<Number>,
    response: Vec<Number>,
}

/// The four events of each call; `contents` says whether their values are recorded.
fn calls(values: &[u32], contents: bool) -> MemoryRecording {
    let mut topic = topic::<Number>("/square/_service_event");
    topic.type_name = "test_msgs/srv/Square_Event".into();
    let mut records = Vec::new();
    for (n, value) in values.iter().enumerate() {
        for event_type in 0..4u8 {
            let number =
                |of: bool, value| if of && contents { vec![Number { value }] } else { vec![] };
            let event = Event {
                event_type,
                stamp: (1, 2),
                client_gid: [n as u8; 16],
                sequence_number: n as i64,
                request: number(event_type < 2, *value),
                response: number(event_type >= 2, value * value),
            };
            records.push(record(0, ms(n as u64), records.len() as u32, &event));
        }
    }
    MemoryRecording { topics: vec![topic], records }
}

/// Plays calls to a server with a queue of one request; returns the requests that it got.
fn play(recording: MemoryRecording, has_server: bool) -> (Vec<u32>, PlayReport) {
    let player = Player::new([recording]).service_requests();
    let job = Job::new(|graph: &Graph| {
        let node = graph.create_node("server", Vec::<u32>::new())?;
        if has_server {
            node.create_deferred_service(
                "square",
                QoS::keep_all(1),
                |seen: &mut Vec<u32>, request: &Number, responder: Responder<Number>, _| {
                    seen.push(request.value);
                    responder.respond(Number { value: request.value * request.value });
                },
            )?;
        }
        Ok(player.add_to(graph, &types().with_service::<Square>())?)
    });
    let mut session = player.apply_times(job, &types()).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let statistics = session.report().statistics().clone();
    let report = session.handles.report(&statistics);
    (session.state::<Vec<u32>>("/server").unwrap().clone(), report)
}

/// Plays calls to a server that keeps its requests, beside a timer that never ends.
fn play_unanswered(count: u32) -> (Result<(), String>, PlayReport) {
    let player = Player::new([calls(&(0..count).collect::<Vec<_>>(), true)]).service_requests();
    let job = Job::new(|graph: &Graph| {
        let node = graph.create_node("server", Vec::<Responder<Number>>::new())?;
        node.create_deferred_service(
            "square",
            QoS::services(),
            |kept: &mut Vec<_>, _: &Number, responder: Responder<Number>, _| kept.push(responder),
        )?;
        node.create_timer(Duration::from_millis(10), |_, _| ())?;
        Ok(player.add_to(graph, &types().with_service::<Square>())?)
    });
    let mut session = job.start_at(ms(0)).start().unwrap();
    let ended = session.run_until(ms(100_000)).map(drop);
    let statistics = session.report().statistics().clone();
    (ended.map_err(|error| error.to_string()), session.handles.report(&statistics))
}

#[test]
fn player_goes_on_without_responses_and_counts_them() {
    let (ended, report) = play_unanswered(1000);
    assert_eq!(ended, Ok(()));
    let counts = (report.requests, report.requests_unanswered, report.requests_empty);
    assert_eq!(counts, (1000, 1000, 3000), "the events after the last request are played");
}

#[test]
fn service_that_leaves_a_thousand_requests_without_response_is_an_error() {
    let (ended, report) = play_unanswered(1001);
    let error = ended.unwrap_err();
    assert!(error.contains("service /square has not responded to 1000 requests"), "{error}");
    assert_eq!((report.requests, report.requests_unanswered), (1000, 1000));
}

#[test]
fn each_recorded_request_is_sent_once() {
    let (seen, report) = play(calls(&[3, 1, 4, 1, 5], true), true);
    assert_eq!(seen, [3, 1, 4, 1, 5]);
    let counts = (report.requests, report.requests_empty, report.requests_refused);
    assert_eq!((counts, report.messages), ((5, 15, 0), 0));
    assert_eq!(report.requests_unanswered, 0);
}

#[test]
fn requests_without_contents_or_server_are_counted() {
    let (seen, report) = play(calls(&[3, 1], false), true);
    assert_eq!((seen, report.requests, report.requests_empty), (vec![], 0, 8));
    let (_, report) = play(calls(&[3, 1], true), false);
    assert_eq!((report.requests, report.requests_empty, report.requests_refused), (0, 6, 2));
}

/// Gives all events one time.
fn at_once(mut recording: MemoryRecording) -> MemoryRecording {
    recording.records.iter_mut().for_each(|record| record.log_time = ms(0));
    recording
}

#[test]
fn requests_wait_for_a_server_with_a_full_queue() {
    let (seen, report) = play(at_once(calls(&[3, 1, 4, 1, 5], true)), true);
    assert_eq!((seen, report.requests), (vec![3, 1, 4, 1, 5], 5));
}

#[test]
fn requests_count_in_the_mean_lag_of_a_live_run() {
    let mut executor = Executor::single_core();
    let node = executor.create_node("server", ()).unwrap();
    let done = executor.stop_handle();
    node.create_deferred_service(
        "square",
        QoS::keep_all(1),
        move |(), request: &Number, responder: Responder<Number>, _| {
            if request.value == 20 {
                done.stop();
            }
            responder.respond(Number { value: 0 });
        },
    )
    .unwrap();
    let values: Vec<_> = (1..=20).collect();
    let player = Player::new([at_once(calls(&values, true))]).service_requests();
    let handle = player.add_to(executor.graph(), &types().with_service::<Square>()).unwrap();
    executor.spin_for(Duration::from_secs(60)).unwrap();
    let report = handle.report(&executor.statistics());
    assert_eq!(report.requests, 20);
    assert!(report.retries > 0 && report.lag_mean <= report.lag_max, "{report:?}");
}

#[test]
fn events_are_published_unless_requests_are_asked_for() {
    let player = Player::new([calls(&[3, 1], true)]);
    let types = types().with_service::<Square>();
    let job = Job::new(|graph: &Graph| Ok(player.add_to(graph, &types)?));
    let mut session = player.apply_times(job, &types).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let statistics = session.report().statistics().clone();
    let report = session.handles.report(&statistics);
    assert_eq!((report.messages, report.requests), (8, 0));
}
