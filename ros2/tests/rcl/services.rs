//! Services, asked and answered by the peer, and by ourselves.

use crate::{LONG, Peer, node, unique, wait};
use r2r::std_srvs::srv::SetBool;
use r2r::test_msgs::srv::BasicTypes;
use ringspin_executor::QoS;
use ringspin_ros2::rcl::{Client, RequestId, RosService, Service};
use serde_json::json;
use std::sync::mpsc::{Receiver, channel};

type Request<S> = <S as RosService>::Request;

/// The next request, which has to come.
fn request<S: RosService>(service: &Service<S>, bell: &Receiver<usize>) -> (Request<S>, RequestId) {
    loop {
        if let Some(taken) = service.take_request().unwrap() {
            return taken;
        }
        bell.recv_timeout(LONG).expect("a request comes");
    }
}

/// The next response, which has to come.
fn response<S: RosService>(client: &Client<S>, bell: &Receiver<usize>) -> (i64, S::Response) {
    loop {
        if let Some(taken) = client.take_response().unwrap() {
            return taken;
        }
        bell.recv_timeout(LONG).expect("a response comes");
    }
}

#[test]
fn the_peer_calls_us() {
    let node = node("server");
    let name = unique("set_bool");
    let service = Service::<SetBool::Service>::new(&node, &name, &QoS::services()).unwrap();
    assert_eq!(service.name(), name);
    let (ring, bell) = channel();
    service.on_new_request(move |count| ring.send(count).unwrap()).unwrap();
    let mut peer = Peer::start("caller");
    for data in [true, false, true] {
        let call = json!({"do": "call", "name": name, "type": "std_srvs/srv/SetBool",
            "value": {"data": data}});
        let call = peer.tell(call);
        let (request, id) = request(&service, &bell);
        assert_eq!(request.data, data);
        let message = format!("Grüße {data}");
        let response = SetBool::Response { success: !data, message: message.clone() };
        service.send_response(id, &response).unwrap();
        assert_eq!(peer.answer(call), json!({"success": !data, "message": message}));
    }
}

#[test]
fn we_call_the_peer() {
    let node = node("asker");
    let name = unique("echo");
    let client = Client::<BasicTypes::Service>::new(&node, &name, &QoS::services()).unwrap();
    let (ring, bell) = channel();
    client.on_new_response(move |count| ring.send(count).unwrap()).unwrap();
    assert!(!client.is_available().unwrap());
    let mut peer = Peer::start("echo");
    peer.ask(json!({"do": "service", "name": name, "type": "test_msgs/srv/BasicTypes"}));
    wait(&node, "the service is there", || client.is_available().unwrap());
    peer.ask(json!({"do": "client_matched", "name": name}));
    let mut sent = Vec::new();
    // As many as wait at the depth that services have.
    for n in 0..10_i64 {
        let request = BasicTypes::Request {
            int64_value: i64::MIN + n,
            string_value: "ß".repeat(n as usize),
            ..Default::default()
        };
        sent.push((client.send_request(&request).unwrap(), request));
    }
    for (number, request) in sent {
        let (of, response) = response(&client, &bell);
        assert_eq!(of, number);
        assert_eq!(response.int64_value, request.int64_value);
        assert_eq!(response.string_value, request.string_value);
    }
}

#[test]
fn answers_may_come_in_any_order_and_from_any_thread() {
    let (here, there) = (node("deferred"), node("deferred_client"));
    let name = unique("deferred");
    let service = Service::<SetBool::Service>::new(&here, &name, &QoS::services()).unwrap();
    let client = Client::<SetBool::Service>::new(&there, &name, &QoS::services()).unwrap();
    let ((ask, asked), (tell, told)) = (channel(), channel());
    service.on_new_request(move |count| ask.send(count).unwrap()).unwrap();
    client.on_new_response(move |count| tell.send(count).unwrap()).unwrap();
    wait(&there, "the service is there", || client.is_available().unwrap());
    let numbers =
        [true, false, true].map(|data| client.send_request(&SetBool::Request { data }).unwrap());
    let requests: Vec<_> = (0..3).map(|_| request(&service, &asked)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for (request, id) in requests.iter().rev() {
                let message = id.sequence.to_string();
                let answer = SetBool::Response { success: request.data, message };
                service.send_response(*id, &answer).unwrap();
            }
        });
    });
    for number in numbers.iter().rev() {
        let (of, response) = response(&client, &told);
        assert_eq!(of, *number);
        assert_eq!(response.message, number.to_string());
    }
    drop(service);
    wait(&there, "the service is gone", || !client.is_available().unwrap());
}
