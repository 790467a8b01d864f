//! Many clients of one service or action, in one process and in several. The middleware hands the
//! responses of all of them to each.

use crate::actions::{Action, serve};
use crate::peer::DOMAIN;
use crate::{LIVE, LONG, Peer, Spinning, domain, executor, on, ros2, unique, unique_to, wait};
use ringspin::action::{
    ActionClient, ActionClientOptions, GoalCallbacks, GoalOutcome, GoalStatus, SendGoalError,
};
use ringspin::ros2::{Ros2, Traffic};
use ringspin::{CallError, Client, Context, Executor, Mode, QoS, Responder};
use ringspin_test_msgs::test_msgs::action::Fibonacci;
use ringspin_test_msgs::test_msgs::srv::BasicTypes::{Request, Response};
use serde_json::json;
use std::cell::RefCell;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Calls of each client.
const CALLS: i64 = 20;
/// Goals of each client of an action.
const GOALS: i32 = 4;
/// Calls, and goals, of a child of five at once: the peer's services keep ten requests.
const AT_ONCE_FOR_PEER: usize = 2;

/// Names the questions of a child, and whether it asks for responses or results.
const ASK: &str = "RINGSPIN_TEST_ASK";

/// A service that answers with the number that it was asked with.
fn echo(executor: &Executor, service: &str) {
    let node = executor.create_node("server", ()).unwrap();
    node.create_service(service, QoS::keep_last(1000), |(), request: &Request, _| Response {
        int64_value: request.int64_value,
        ..Response::default()
    })
    .unwrap();
}

type Echo = Client<(), Request, Response>;

fn client(executor: &Executor, name: &str, service: &str) -> Echo {
    let node = executor.create_node(name, ()).unwrap();
    node.create_client::<Request, Response>(service, QoS::services()).unwrap()
}

/// Makes all calls of a client, so many at once; each is answered with its own number.
fn ask(client: &Echo, first: i64, at_once: i64) {
    for burst in 0..CALLS / at_once {
        let numbers = (0..at_once).map(|n| first + burst * at_once + n);
        let (tell, told) = channel();
        for number in numbers.clone() {
            let tell = tell.clone();
            let request = Request { int64_value: number, ..Request::default() };
            client
                .call(request, move |(), reply, _| tell.send(reply.unwrap().int64_value).unwrap())
                .unwrap();
        }
        let next = || told.recv_timeout(LONG).expect("every call is answered");
        let mut ended: Vec<i64> = (0..at_once).map(|_| next()).collect();
        ended.sort_unstable();
        assert_eq!(ended, numbers.collect::<Vec<_>>());
    }
}

/// Has goals for the action, `at_once` at a time; each ends with its own result.
fn pursue(
    executor: &Executor,
    client: &ActionClient<(), Action>,
    at_once: usize,
) -> impl FnOnce() + use<> {
    let (tell, told) = channel();
    for first in (1..=GOALS).take(at_once) {
        let (client, tell) = (client.clone(), tell.clone());
        let node = executor.create_node(&format!("operator{first}"), ()).unwrap();
        let pursued = async move {
            for order in (first..=GOALS).step_by(at_once) {
                let mut goal = client.send_goal_async(Fibonacci::Goal { order }).await?;
                let outcome = goal.result().await?;
                tell.send((outcome.status, outcome.result.sequence.len() as i32)).unwrap();
            }
            Ok::<(), SendGoalError>(())
        };
        node.spawn("pursue", pursued).unwrap();
    }
    move || {
        let next = || told.recv_timeout(LONG).expect("every goal ends");
        let mut lengths: Vec<i32> = (0..GOALS)
            .map(|_| {
                let (status, length) = next();
                assert_eq!(status, GoalStatus::Succeeded);
                length
            })
            .collect();
        lengths.sort_unstable();
        assert!(lengths == [1, 2, 3, 4] || lengths == [3; 4], "{lengths:?}");
    }
}

/// The children that ask for `what` from `name`.
fn children(count: usize, what: &str, name: &str) -> Vec<Child> {
    let child = |number| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "clients::child", "--nocapture"]);
        command.env(ASK, format!("{what} {name} {number}"));
        command.env(DOMAIN, domain().to_string()).stdin(Stdio::piped()).spawn().unwrap()
    };
    (1..=count).map(child).collect()
}

/// Lets the children start once the peer has discovered `clients` clients of each of `services`:
/// its server drops a response to a client that it has not discovered. Ours sends it again.
fn release(children: &mut [Child], peer: &mut Peer, services: &[String], clients: usize) {
    for name in services {
        peer.ask(json!({"do": "client_matched", "name": name, "at_least": clients}));
    }
    children.iter_mut().for_each(|child| child.stdin.take().unwrap().write_all(b"\n").unwrap());
}

/// Waits for the children, all of which got their answers.
fn join(children: Vec<Child>) {
    let ends: Vec<_> = children.into_iter().map(|mut child| child.wait().unwrap()).collect();
    assert!(ends.iter().all(|status| status.success()), "{ends:?}");
}

/// A process that asks: two clients of a service, or one of an action. Or one that is asked, and
/// keeps all requests until it is killed.
#[test]
fn child() {
    let Ok(given) = std::env::var(ASK) else { return };
    let _ = tracing_subscriber::fmt().with_writer(std::io::stderr).try_init();
    let mut words = given.split(' ');
    let [what, name, number] = [(); 3].map(|()| words.next().unwrap());
    let ros2 = ros2(Traffic::Direct);
    let mut executor = on(&ros2, Executor::single_core());
    if what == "requests" {
        let node = executor.create_node("keeper", Vec::new()).unwrap();
        let keep = |kept: &mut Vec<_>,
                    _: &Request,
                    responder: Responder<Response>,
                    _: &mut Context<'_>| {
            kept.push(responder);
        };
        node.create_deferred_service(name, QoS::keep_last(1000), keep).unwrap();
        return executor.spin().unwrap();
    }
    // See `release`.
    let released = || std::io::stdin().read_line(&mut String::new()).unwrap();
    if what.starts_with("goals") {
        let node = executor.create_node(&format!("child{number}"), ()).unwrap();
        let options = ActionClientOptions::default();
        let client = node.create_action_client::<Action>(name, options).unwrap();
        let asks_peer = what == "goals_of_peer";
        let at_once = if asks_peer { AT_ONCE_FOR_PEER } else { GOALS as usize };
        let join = pursue(&executor, &client, at_once);
        wait(&ros2, "the action is there", || client.server_is_ready());
        if asks_peer {
            released();
        }
        let spinning = Spinning::start(executor);
        join();
        spinning.stop();
        return;
    }
    let asks_peer = what == "answers";
    let clients = ["a", "b"].map(|id| client(&executor, &format!("child{number}{id}"), name));
    wait(&ros2, "the service is there", || clients.iter().all(Client::service_is_ready));
    if asks_peer {
        released();
    }
    let spinning = Spinning::start(executor);
    let number: i64 = number.parse().unwrap();
    for (id, client) in (0..).zip(&clients) {
        let at_once = if asks_peer { AT_ONCE_FOR_PEER as i64 } else { 5 };
        ask(client, 1_000 * number + 500 * id, at_once);
    }
    spinning.stop();
}

#[test]
fn every_call_of_2_and_5_and_20_processes_is_answered() {
    let _ = tracing_subscriber::fmt().with_writer(std::io::stderr).try_init();
    for count in [2, 5, 20] {
        let executor = executor(Traffic::Direct);
        let name = unique(&format!("echo{count}"));
        echo(&executor, &name);
        let spinning = Spinning::start(executor);
        join(children(count, "responses", &name));
        assert_eq!(spinning.stop().statistics().overwritten(), 0);
    }
}

/// In each mode, all in one process: each burst brings every client the responses of all others.
#[test]
fn every_call_of_clients_that_call_in_bursts_is_answered() {
    const CLIENTS: usize = 4;
    for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
        let ros2 = ros2(Traffic::Loopback);
        let executor = on(&ros2, Executor::new(mode));
        let name = unique("bursts");
        echo(&executor, &name);
        let clients: Vec<_> =
            (0..CLIENTS).map(|n| client(&executor, &format!("asker{n}"), &name)).collect();
        wait(&ros2, "the service is there", || clients.iter().all(Client::service_is_ready));
        let spinning = Spinning::start(executor);
        thread::scope(|scope| {
            for (n, client) in (0..).zip(&clients) {
                scope.spawn(move || (0..5).for_each(|_| ask(client, 1_000 * n, 10)));
            }
        });
        spinning.stop();
    }
}

#[test]
fn every_call_of_2_and_5_processes_is_answered_by_the_peer() {
    let mut peer = Peer::start("echoing");
    for count in [2, 5] {
        let name = unique(&format!("echoed{count}"));
        peer.ask(json!({"do": "service", "name": name, "type": "test_msgs/srv/BasicTypes"}));
        let mut children = children(count, "answers", &name);
        release(&mut children, &mut peer, &[name], 2 * count);
        join(children);
    }
}

#[test]
fn every_goal_of_2_and_5_processes_ends() {
    for count in [2, 5] {
        let executor = executor(Traffic::Direct);
        let name = unique(&format!("counting{count}"));
        serve(&executor, &name);
        let spinning = Spinning::start(executor);
        join(children(count, "goals", &name));
        spinning.stop();
    }
}

#[test]
fn every_goal_of_2_and_5_processes_is_ended_by_the_peer() {
    let mut peer = Peer::start("counting");
    for count in [2, 5] {
        let name = unique(&format!("counted{count}"));
        let kind = "test_msgs/action/Fibonacci";
        let result = json!({"sequence": [0, 1, 1]});
        peer.ask(json!({"do": "action_server", "name": name, "type": kind, "result": result}));
        let mut children = children(count, "goals_of_peer", &name);
        let services = ["send_goal", "get_result"].map(|part| format!("{name}/_action/{part}"));
        release(&mut children, &mut peer, &services, count);
        join(children);
    }
}

/// As much as a client may have without a response.
fn fill(client: &Echo) -> Receiver<Result<i64, CallError>> {
    let (tell, told) = channel();
    let call = || {
        let tell = tell.clone();
        client.call(Request::default(), move |(), reply, _| {
            tell.send(reply.map(|reply| reply.int64_value)).unwrap();
        })
    };
    (0..QoS::services().depth()).for_each(|_| call().unwrap());
    assert_eq!(call().unwrap_err().reason, CallError::TooManyCalls);
    told
}

/// Outstanding calls end when their server, which `kill` kills, is missed, though another one is
/// there by then; later calls are answered.
fn calls_end_with_their_server(ros2: &Ros2, name: &str, start: impl FnOnce(), kill: impl FnOnce()) {
    let executor = on(ros2, Executor::single_core());
    let client = client(&executor, "asker", name);
    let spinning = Spinning::start(executor);
    start();
    wait(ros2, "the service is there", || client.service_is_ready());
    let told = fill(&client);
    kill();
    let mut peer = Peer::start("heir");
    peer.ask(json!({"do": "service", "name": name, "type": "test_msgs/srv/BasicTypes"}));
    for _ in 0..QoS::services().depth() {
        let end = told.recv_timeout(LONG).expect("every call ends");
        assert_eq!(end, Err(CallError::ServerLost));
    }
    wait(ros2, "the other server is there", || client.service_is_ready());
    ask(&client, 7, 5);
    spinning.stop();
}

#[test]
fn calls_end_when_a_server_crashes() {
    let name = unique("kept");
    let server = RefCell::new(Vec::new());
    let start = || *server.borrow_mut() = children(1, "requests", &name);
    let kill = || {
        server.borrow_mut()[0].kill().unwrap();
        server.borrow_mut()[0].wait().unwrap();
    };
    calls_end_with_their_server(&ros2(Traffic::Direct), &name, start, kill);
}

#[test]
fn calls_end_when_the_peer_crashes() {
    let name = unique("held");
    let mut peer = Peer::start("holding");
    peer.tell(json!({"do": "service", "name": name, "type": "test_msgs/srv/BasicTypes",
        "hold": true}));
    let kill = move || drop(peer);
    calls_end_with_their_server(&ros2(Traffic::Direct), &name, || (), kill);
}

#[test]
fn goals_end_when_the_peer_crashes() {
    let ros2 = ros2(Traffic::Direct);
    let executor = on(&ros2, Executor::single_core());
    let name = unique("abandoned");
    let offer = |peer: &mut Peer, hold: bool| {
        let kind = "test_msgs/action/Fibonacci";
        let feedback = json!([{"sequence": [5]}]);
        peer.ask(json!({"do": "action_server", "name": name, "type": kind, "hold": hold,
            "feedback": feedback, "result": {"sequence": [1, 2]}}));
    };
    let mut peer = Peer::start("holding");
    offer(&mut peer, true);
    let node = executor.create_node("operator", ()).unwrap();
    let options = ActionClientOptions { goals_max: 1, ..ActionClientOptions::default() };
    let client = node.create_action_client::<Action>(&name, options).unwrap();
    let (tell, told) = channel();
    let (sending, tell_of_task) = (client.clone(), tell.clone());
    node.spawn("pursue", async move {
        let mut goal = sending.send_goal_async(Fibonacci::Goal { order: 3 }).await?;
        let mut feedback = goal.feedback();
        while let Some(numbers) = feedback.next().await {
            tell_of_task.send(Ok(numbers.sequence.clone())).unwrap();
        }
        let end = goal.result().await.map(|outcome| outcome.result.sequence.clone());
        tell_of_task.send(end).unwrap();
        Ok::<(), SendGoalError>(())
    })
    .unwrap();
    wait(&ros2, "the action is there", || client.server_is_ready());
    let spinning = Spinning::start(executor);
    let next = || told.recv_timeout(LONG).expect("something comes");
    assert_eq!(next(), Ok(vec![5]));
    drop(peer); // kills it
    let mut heir = Peer::start("heir");
    offer(&mut heir, false);
    assert_eq!(next(), Err(CallError::ServerLost));
    wait(&ros2, "the other server is there", || client.server_is_ready());
    let callbacks = GoalCallbacks::new().on_result(move |(), outcome, _| {
        let result = outcome.map(|outcome: GoalOutcome<Action>| outcome.result.sequence.clone());
        tell.send(result).unwrap();
    });
    client.send_goal(Fibonacci::Goal { order: 3 }, callbacks).unwrap();
    assert_eq!(next(), Ok(vec![1, 2]));
    spinning.stop();
}

#[test]
fn clients_of_one_process_share_a_service() {
    for traffic in LIVE {
        for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
            let ros2 = ros2(traffic);
            let executor = on(&ros2, Executor::new(mode));
            let name = unique_to(traffic, "own");
            echo(&executor, &name);
            let ids = 0..5;
            let clients: Vec<_> =
                ids.map(|id| client(&executor, &format!("client{id}"), &name)).collect();
            let spinning = Spinning::start(executor);
            wait(&ros2, "the service is there", || clients.iter().all(Client::service_is_ready));
            thread::scope(|scope| {
                for (id, client) in (0..).zip(&clients) {
                    scope.spawn(move || ask(client, 1_000 * id, 5));
                }
            });
            spinning.stop();
        }
    }
}
