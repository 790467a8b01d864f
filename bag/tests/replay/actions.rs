//! Recorded goals of actions, requests to cancel them, and requests for their results.

use crate::support::{MS, ms, record, topic, types};
use ringspin_bag::{MemoryRecording, MessageTypes, PlayReport, Player, PlayerHandle, Topic};
use ringspin_executor::action::{GoalInfo, messages::CancelGoalRequest};
use ringspin_executor::{
    ActionClientOptions, ActionServerOptions, BoxError, CancelResponse, Digest, GoalCallbacks,
    GoalHandle, GoalId, GoalResponse, Graph, Time,
};
use ringspin_messages::RosService;
use ringspin_messages::action_msgs::{msg as action_msgs, srv::CancelGoal};
use ringspin_messages::builtin_interfaces;
use ringspin_messages::example_interfaces::action::Fibonacci;
use ringspin_messages::service_msgs::msg::ServiceEventInfo;
use ringspin_messages::unique_identifier_msgs::msg::UUID;
use ringspin_simulation::Job;

/// The goals and requests to cancel that a server got, and their times.
type Log = Vec<(Time, String)>;

/// A server of goals that take as many milliseconds as they say.
#[derive(Default, Digest)]
#[digest(crate = "ringspin_executor")]
struct Server {
    log: Log,
    #[digest(skip)]
    running: Vec<(i32, GoalHandle<Fibonacci::Action>)>,
}

impl Server {
    const ORDER_MAX: i32 = 500;

    fn add_to(graph: &Graph) -> Result<(), BoxError> {
        let node = graph.create_node("server", Self::default())?;
        node.digest_state()?;
        node.create_action_server::<Fibonacci::Action, _>(
            "fibonacci",
            ActionServerOptions::default(),
            |server, goal, cx| {
                if goal.order <= Self::ORDER_MAX {
                    return GoalResponse::Accept;
                }
                server.log.push((cx.now(), format!("rejected {}", goal.order)));
                GoalResponse::Reject
            },
            |server, handle, cx| {
                server.log.push((cx.now(), format!("canceled {}", handle.goal_id())));
                CancelResponse::Accept
            },
            |server, handle, cx| {
                let order = handle.goal().order;
                server.log.push((cx.now(), format!("accepted {order} {}", handle.goal_id())));
                server.running.push((order, handle));
            },
        )?;
        node.create_timer(MS, |server, _| {
            for (left, handle) in &mut server.running {
                *left -= 1;
                let result = Fibonacci::Result { sequence: vec![*left] };
                match (handle.is_canceling(), *left) {
                    (true, _) => handle.canceled(result).unwrap(),
                    (false, 0) => handle.succeed(result).unwrap(),
                    (false, left) => {
                        handle.publish_feedback(Fibonacci::Feedback { sequence: vec![left] })?;
                    }
                }
            }
            server.running.retain(|(_, handle)| handle.is_active());
            Ok::<_, BoxError>(())
        })?;
        Ok(())
    }
}

/// A request of the client.
#[derive(Clone, Copy, Debug)]
enum Request {
    Goal(GoalId, i32),
    Cancel(GoalInfo),
    Result(GoalId),
}

/// The requests of a client, and their times.
type Requests = Vec<(Time, Request)>;

/// The goals that the client sends: milliseconds and order.
const GOALS: [(u64, i32); 7] =
    [(5, 3), (5, 100), (7, 501), (12, 200), (20, 300), (21, 300), (50, 400)];

/// Adds a client that sends goals, a goal that is rejected, and all kinds of requests to cancel.
fn add_client(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("operator", Requests::new())?;
    let options = ActionClientOptions::default();
    let client = node.create_action_client::<Fibonacci::Action>("fibonacci", options)?;
    node.create_timer(MS, move |requests: &mut Requests, cx| {
        let at = (cx.now() - ms(0)).as_millis() as u64;
        for (_, order) in GOALS.iter().filter(|(time, _)| *time == at) {
            let callbacks =
                GoalCallbacks::new().on_response(|requests: &mut Requests, goal, cx| {
                    if let Ok(goal) = goal {
                        requests.push((cx.now(), Request::Result(goal.goal_id)));
                    }
                });
            let sent = client.send_goal(Fibonacci::Goal { order: *order }, callbacks);
            requests.push((cx.now(), Request::Goal(sent.unwrap(), *order)));
        }
        let goals = requests.iter().filter_map(|(_, request)| match request {
            Request::Goal(id, _) => Some(*id),
            _ => None,
        });
        let goals: Vec<_> = goals.collect();
        let request = match at {
            15 => CancelGoalRequest::goal(goals[3]),
            30 => CancelGoalRequest::before(ms(20) + MS / 2),
            31 => CancelGoalRequest::goal(goals[0]), // it has ended
            60 => CancelGoalRequest::all(),
            _ => return,
        };
        client.cancel(request, |_, _, _| ()).unwrap();
        requests.push((cx.now(), Request::Cancel(request.goal_info)));
    })?;
    Ok(())
}

/// Runs the server and the client; returns the server's log and the client's requests.
fn run() -> (Log, Requests) {
    let job = Job::new(|graph: &Graph| {
        Server::add_to(graph)?;
        add_client(graph)
    });
    let mut session = job.start_at(ms(0)).end_at(ms(100)).start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let log = session.state::<Server>("/server").unwrap().log.clone();
    (log, session.state::<Requests>("/operator").unwrap().clone())
}

fn uuid(id: GoalId) -> UUID {
    UUID { uuid: id.0.to_vec() }
}

fn event_topic<S: RosService>(part: &str) -> Topic {
    let topic = topic::<S::Event>(&format!("/fibonacci/_action/{part}/_service_event"));
    assert_eq!(topic.type_name, format!("{}_Event", S::TYPE_NAME));
    topic
}

/// The recording of a client's requests by service introspection, with the server's topics.
fn recording(requests: &Requests, contents: bool) -> MemoryRecording {
    fn of<T>(contents: bool, value: T) -> Vec<T> {
        Vec::from_iter(contents.then_some(value))
    }
    let mut records = Vec::new();
    for (time, request) in requests {
        for event_type in 0..4u8 {
            let info = ServiceEventInfo { event_type, ..ServiceEventInfo::default() };
            let (sent, answered) = (contents && event_type < 2, contents && event_type >= 2);
            let sequence = records.len() as u32;
            records.push(match *request {
                Request::Goal(id, order) => {
                    let goal = Fibonacci::Goal { order };
                    let request = Fibonacci::SendGoal::Request { goal_id: uuid(id), goal };
                    let (request, response) = (of(sent, request), of(answered, Default::default()));
                    let event = Fibonacci::SendGoal::Event { info, request, response };
                    record(0, *time, sequence, &event)
                }
                Request::Cancel(GoalInfo { goal_id, stamp }) => {
                    let stamp = builtin_interfaces::msg::Time::from_time(stamp);
                    let goal_info = action_msgs::GoalInfo { goal_id: uuid(goal_id), stamp };
                    let request = of(sent, CancelGoal::Request { goal_info });
                    let response = of(answered, Default::default());
                    record(1, *time, sequence, &CancelGoal::Event { info, request, response })
                }
                Request::Result(id) => {
                    let request = Fibonacci::GetResult::Request { goal_id: uuid(id) };
                    let (request, response) = (of(sent, request), of(answered, Default::default()));
                    let event = Fibonacci::GetResult::Event { info, request, response };
                    record(2, *time, sequence, &event)
                }
            });
        }
    }
    let feedback = Fibonacci::FeedbackMessage::default();
    records.push(record(3, ms(8), 0, &feedback));
    records.push(record(4, ms(8), 0, &action_msgs::GoalStatusArray::default()));
    let topics = vec![
        event_topic::<Fibonacci::SendGoal::Service>("send_goal"),
        event_topic::<CancelGoal::Service>("cancel_goal"),
        event_topic::<Fibonacci::GetResult::Service>("get_result"),
        topic::<Fibonacci::FeedbackMessage>("/fibonacci/_action/feedback"),
        topic::<action_msgs::GoalStatusArray>("/fibonacci/_action/status"),
    ];
    MemoryRecording { topics, records }
}

fn action_types() -> MessageTypes {
    types().with_action::<Fibonacci::Action>()
}

/// Plays to the server; returns its log, the report, and the digest.
fn play(recording: MemoryRecording) -> Result<(Log, PlayReport, String), BoxError> {
    let player = Player::new([recording]).service_requests();
    let job = Job::new(|graph: &Graph| {
        Server::add_to(graph)?;
        Ok(player.add_to(graph, &action_types())?)
    });
    let mut session = player.apply_times(job, &action_types())?.start()?;
    session.run_until(Time::MAX)?;
    let report = session.report();
    let (statistics, digest) = (report.statistics().clone(), report.digest().to_string());
    let log = session.state::<Server>("/server").unwrap().log.clone();
    Ok((log, session.handles.report(&statistics), digest))
}

#[test]
fn a_server_gets_the_recorded_goals_and_cancels_at_their_times() {
    let (recorded, requests) = run();
    let cancels = recorded.iter().filter(|(_, what)| what.starts_with("canceled")).count();
    assert_eq!((recorded.len(), requests.len(), cancels), (12, 17, 5), "{recorded:#?}");
    let (log, report, digest) = play(recording(&requests, true)).unwrap();
    assert_eq!(log, recorded);
    let counts = (report.requests, report.requests_empty, report.requests_refused);
    // The server publishes feedback and status itself.
    assert_eq!((counts, report.messages), ((17, 3 * 17, 0), 0));
    assert_eq!(play(recording(&requests, true)).unwrap().2, digest);
    let fewer = play(recording(&requests[1..].to_vec(), true)).unwrap();
    assert_ne!(fewer.2, digest);
}

#[test]
fn goals_without_contents_or_server_are_counted() {
    let (_, requests) = run();
    let (log, report, _) = play(recording(&requests, false)).unwrap();
    assert_eq!((log, report.requests, report.requests_empty), (vec![], 0, 4 * 17));
    let player = Player::new([recording(&requests, true)]).service_requests();
    let job = Job::new(|graph: &Graph| Ok(player.add_to(graph, &action_types())?));
    let mut session = player.apply_times(job, &action_types()).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let statistics = session.report().statistics().clone();
    let report = session.handles.report(&statistics);
    let counts = (report.requests, report.requests_empty, report.requests_refused);
    assert_eq!(counts, (0, 3 * 17, 17));
}

#[test]
fn damaged_goals_and_cancels_end_the_run_with_topic_and_time() {
    let id = GoalId([7; 16]);
    let requests = vec![(ms(3), Request::Goal(id, 5)), (ms(4), Request::Goal(id, 6))];
    let mut damaged = recording(&requests, true);
    damaged.records[5].data.truncate(60);
    let error = play(damaged).unwrap_err().to_string();
    let expected =
        format!("message of topic /fibonacci/_action/send_goal/_service_event at {}", ms(4));
    assert!(error.contains(&expected), "{error}");
    assert!(error.contains("failed to deserialize 60 bytes"), "{error}");

    let all = vec![(ms(3), Request::Cancel(GoalInfo::default()))];
    let mut damaged = recording(&all, true);
    let goal_info = action_msgs::GoalInfo {
        stamp: builtin_interfaces::msg::Time { sec: -1, nanosec: 0 },
        ..action_msgs::GoalInfo::default()
    };
    damaged.records[1] = record(
        1,
        ms(3),
        1,
        &CancelGoal::Event {
            info: ServiceEventInfo { event_type: 1, ..ServiceEventInfo::default() },
            request: vec![CancelGoal::Request { goal_info }],
            response: vec![],
        },
    );
    let error = play(damaged).unwrap_err().to_string();
    assert!(error.contains("the stamp of -1 s is before the epoch"), "{error}");
}

#[test]
fn an_action_of_an_unknown_type_is_published_as_it_was_recorded() {
    let (_, requests) = run();
    let recording = recording(&requests, true);
    let messages = recording.records.len() as u64;
    let player = Player::new([recording]).service_requests();
    let job = Job::new(|graph: &Graph| -> Result<PlayerHandle, BoxError> {
        Ok(player.add_to(graph, &types())?)
    });
    let mut session = player.apply_times(job, &types()).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    assert_eq!(session.handles.messages(), messages);
}

#[test]
fn feedback_and_status_are_published_when_no_goals_are_sent() {
    let (_, requests) = run();
    let recording = recording(&requests, true);
    let events = recording.records.len() as u64;
    let played = |player: Player| {
        let job = Job::new(|graph: &Graph| Ok(player.add_to(graph, &action_types())?));
        let mut session = player.apply_times(job, &action_types()).unwrap().start().unwrap();
        session.run_until(Time::MAX).unwrap();
        session.handles.messages()
    };
    assert_eq!(played(Player::new([recording.clone()])), events);
    let player = Player::new([recording]).service_requests();
    assert_eq!(played(player.clone()), 0);
    assert_eq!(played(player.exclude(["/fibonacci/_action/send_goal/_service_event"])), 2);
}
