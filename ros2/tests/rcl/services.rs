//! Services, asked and answered by the peer, and by ourselves.

use crate::{LONG, Peer, node, unique, wait};
use ringspin_executor::{ErrorKind, QoS};
use ringspin_messages::std_srvs::srv::SetBool;
use ringspin_messages::{RosService, cdr};
use ringspin_ros2::rcl::{Client, RequestId, Service};
use ringspin_test_msgs::test_msgs::srv::BasicTypes;
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
    wait(&there, "the service ended", || !client.is_available().unwrap());
}

#[test]
fn bytes_of_a_type_known_by_name_go_both_ways() {
    let node = node("raw_server");
    let mut peer = Peer::start("raw_caller");
    let kind = "std_srvs/srv/SetBool";
    let (ours, theirs) = (unique("raw_ours"), unique("raw_theirs"));
    let service = Service::named(&node, kind, &ours, &QoS::services()).unwrap();
    let (ring, bell) = channel();
    service.on_new_request(move |count| ring.send(count).unwrap()).unwrap();
    let call = json!({"do": "call", "name": ours, "type": kind, "value": {"data": true}});
    let call = peer.tell(call);
    let (request, id) = loop {
        match service.take_request_serialized().unwrap() {
            Some(taken) => break taken,
            None => bell.recv_timeout(LONG).map(drop).expect("a request comes"),
        }
    };
    // Bytes after the message are ignored: Fast DDS estimates lengths.
    assert_eq!(request[..5], [0, 1, 0, 0, 1]);
    let response = SetBool::Response { success: true, message: "añ".into() };
    let garbled = service.send_response_serialized(id, &[0, 1, 0, 0, 1, 0]);
    assert!(garbled.unwrap_err().to_string().contains(&ours));
    service.send_response_serialized(id, &cdr::to_bytes(&response).unwrap()).unwrap();
    assert_eq!(peer.answer(call), json!({"success": true, "message": "añ"}));

    let client = Client::named(&node, kind, &theirs, &QoS::services()).unwrap();
    let (ring, bell) = channel();
    client.on_new_response(move |count| ring.send(count).unwrap()).unwrap();
    let answer = json!({"success": true, "message": "añ"});
    peer.ask(json!({"do": "service", "name": theirs, "type": kind, "answer": answer}));
    wait(&node, "the service is there", || client.is_available().unwrap());
    peer.ask(json!({"do": "client_matched", "name": theirs}));
    let number = client.send_request_serialized(&[0, 1, 0, 0, 1]).unwrap();
    let taken = loop {
        match client.take_response_serialized().unwrap() {
            Some(taken) => break taken,
            None => bell.recv_timeout(LONG).map(drop).expect("a response comes"),
        }
    };
    assert_eq!(taken.0, number);
    assert_eq!(cdr::from_bytes::<SetBool::Response>(&taken.1).unwrap(), response);
}

#[test]
fn an_unknown_or_changed_service_type_is_refused() {
    let node = node("unknown_service");
    let refused = |kind: &str| match Service::named(&node, kind, "s", &QoS::services()).err() {
        Some(error) if error.kind() == ErrorKind::NotFound => error.to_string(),
        other => panic!("{kind}: {other:?}"),
    };
    assert!(refused("std_srvs/srv/SetBoo").contains("the package has std_srvs/srv/Empty, "));
    assert!(refused("my_srvs/srv/Thing").contains("source the workspace of package"));
    assert!(refused("std_msgs/msg/String").contains("as in std_srvs/srv/SetBool"));

    struct Changed;
    impl RosService for Changed {
        const TYPE_NAME: &'static str = "std_srvs/srv/SetBool";
        const TYPE_HASH: &'static str = "RIHS01_0000";
        type Request = SetBool::Request;
        type Response = SetBool::Response;
        type Event = SetBool::Event;
    }
    let error = Client::<Changed>::new(&node, "s", &QoS::services()).err().unwrap().to_string();
    assert!(error.contains("RIHS01_0000"), "{error}");
    assert!(error.contains(<SetBool::Service as RosService>::TYPE_HASH), "{error}");
}
