//! Services, asked and answered by the peer, and by nodes of one graph.

use crate::{LIVE, LONG, Peer, Spinning, executor, on, ros2, unique, unique_to, wait};
use ringspin::messages::std_srvs::srv::SetBool::{self, Request, Response};
use ringspin::ros2::Traffic;
use ringspin::{CallError, Executor, QoS, Reply};
use serde_json::json;
use std::sync::mpsc::channel;
use std::time::Duration;

const SET_BOOL: &str = "std_srvs/srv/SetBool";

/// A node that offers a service, and counts its calls.
fn counting_service(executor: &Executor, service: &str) {
    let node = executor.create_node("server", 0).unwrap();
    node.create_service(service, QoS::services(), |calls, request: &Request, _| {
        *calls += 1;
        let message = format!("Grüße Nr. {calls}");
        Response { success: !request.data, message }
    })
    .unwrap();
}

#[test]
fn the_peer_calls_us() {
    for traffic in LIVE {
        let executor = executor(traffic);
        let name = unique_to(traffic, "counted");
        counting_service(&executor, &name);
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("caller");
        let call =
            |data| json!({"do": "call", "name": name, "type": SET_BOOL, "value": {"data": data}});
        assert_eq!(peer.ask(call(true))["success"], false);
        // Several at once.
        let calls: Vec<_> = (0..8).map(|n| (n % 2 == 0, peer.tell(call(n % 2 == 0)))).collect();
        let mut messages = Vec::new();
        for (data, number) in calls {
            let response = peer.answer(number);
            assert_eq!(response["success"], !data);
            messages.push(response["message"].as_str().unwrap().to_owned());
        }
        messages.sort();
        assert_eq!(messages, (2..10).map(|n| format!("Grüße Nr. {n}")).collect::<Vec<_>>());
        spinning.stop();
    }
}

#[test]
fn we_call_the_peer_in_every_way() {
    for traffic in LIVE {
        let ros2 = ros2(traffic);
        let executor = on(&ros2, Executor::single_core());
        let name = unique_to(traffic, "offered");
        let (tell, told) = channel();
        let node = executor.create_node("asker", tell.clone()).unwrap();
        let client = node.create_client::<Request, Response>(&name, QoS::services()).unwrap();
        let spinning = Spinning::start(executor);
        let refused = client.call_and_wait(Request { data: true }, LONG).unwrap_err();
        assert_eq!(refused, CallError::NoService);

        let mut peer = Peer::start("offering");
        let answer = json!({"success": true, "message": "ja, 好"});
        peer.ask(json!({"do": "service", "name": name, "type": SET_BOOL, "answer": answer}));
        wait(&ros2, "the service is there", || client.service_is_ready());
        peer.ask(json!({"do": "client_matched", "name": name}));
        let expected = Response { success: true, message: "ja, 好".into() };
        let reply = client.call_and_wait(Request { data: true }, LONG).unwrap();
        assert_eq!(*reply, expected);
        type Told = std::sync::mpsc::Sender<Response>;
        client
            .call(Request { data: false }, |tell: &mut Told, reply, _| {
                let reply: Result<Reply<Response>, CallError> = reply;
                tell.send(Response::clone(&*reply?)).unwrap();
                Ok::<(), CallError>(())
            })
            .unwrap();
        assert_eq!(told.recv_timeout(LONG).unwrap(), expected);
        peer.leave();
        wait(&ros2, "the service has gone", || !client.service_is_ready());
        let refused = client.call_and_wait(Request { data: true }, LONG).unwrap_err();
        assert_eq!(refused, CallError::NoService);
        spinning.stop();
    }
}

#[test]
fn a_task_calls_the_peer() {
    let ros2 = ros2(Traffic::Direct);
    let executor = on(&ros2, Executor::single_core());
    let mut peer = Peer::start("answering");
    let name = unique("answered");
    let answer = json!({"success": true, "message": "done"});
    peer.ask(json!({"do": "service", "name": name, "type": SET_BOOL, "answer": answer}));
    let (tell, told) = channel();
    let node = executor.create_node("asker", ()).unwrap();
    let client = node.create_client::<Request, Response>(&name, QoS::services()).unwrap();
    let asking = client.clone();
    node.spawn("ask", async move {
        for _ in 0..10 {
            tell.send(asking.call_async(Request { data: true }).await?.message.clone()).unwrap();
        }
        Ok::<(), CallError>(())
    })
    .unwrap();
    // The task begins later.
    wait(&ros2, "the service is there", || client.service_is_ready());
    peer.ask(json!({"do": "client_matched", "name": name}));
    let spinning = Spinning::start(executor);
    for _ in 0..10 {
        assert_eq!(told.recv_timeout(LONG).unwrap(), "done");
    }
    spinning.stop();
}

#[test]
fn a_call_times_out_when_the_peer_is_killed() {
    let ros2 = ros2(Traffic::Direct);
    let executor = on(&ros2, Executor::single_core());
    let name = unique("fatal");
    let mut peer = Peer::start("dying");
    peer.ask(json!({"do": "service", "name": name, "type": SET_BOOL}));
    let (tell, told) = channel();
    let node = executor.create_node("asker", tell).unwrap();
    let client = node.create_client::<Request, Response>(&name, QoS::services()).unwrap();
    let client = client.with_timeout(Duration::from_millis(200));
    wait(&ros2, "the service is there", || client.service_is_ready());
    let spinning = Spinning::start(executor);
    peer.kill();
    // ROS does not know yet that it has ended.
    for data in [true, false] {
        client
            .call(Request { data }, |tell, reply, _| {
                tell.send(reply.map(|reply| reply.success)).unwrap();
            })
            .unwrap();
        assert_eq!(told.recv_timeout(LONG).unwrap(), Err(CallError::TimedOut));
    }
    let waited = client.call_and_wait(Request { data: true }, Duration::from_millis(100));
    assert_eq!(waited.unwrap_err(), CallError::TimedOut);
    spinning.stop();
}

#[test]
fn nodes_of_one_graph_and_the_peer_share_a_service() {
    for traffic in LIVE {
        let ros2 = ros2(traffic);
        let executor = on(&ros2, Executor::single_core());
        let name = unique_to(traffic, "shared");
        counting_service(&executor, &name);
        let node = executor.create_node("inside", ()).unwrap();
        let client = node.create_client::<Request, Response>(&name, QoS::services()).unwrap();
        let spinning = Spinning::start(executor);
        wait(&ros2, "the service is there", || client.service_is_ready());
        let inside = client.call_and_wait(Request { data: false }, LONG).unwrap();
        let expected = SetBool::Response { success: true, message: "Grüße Nr. 1".into() };
        assert_eq!(*inside, expected, "{traffic:?}");
        let mut peer = Peer::start("guest");
        let call = json!({"do": "call", "name": name, "type": SET_BOOL, "value": {"data": true}});
        // Number two: the first call was heard once.
        assert_eq!(peer.ask(call)["message"], "Grüße Nr. 2");
        spinning.stop();
    }
}
