//! Many threads at once: nothing deadlocks while entities are made, freed, asked and logged.

use crate::{context, unique};
use ringspin_executor::{LogLevel, QoS, RemoteEventKind};
use ringspin_messages::std_msgs::msg::Int32;
use ringspin_messages::std_srvs::srv::Trigger;
use ringspin_ros2::rcl::{
    Client, Context, Locals, LogLine, Node, NodeOptions, Publisher, Service, Subscription, log,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes one of everything, uses it, and frees it.
fn live(context: &Context, thread: usize, heard: &'static AtomicUsize) {
    let name = format!("worker_{thread}");
    let node = Node::new(context, "", &name, NodeOptions::default()).unwrap();
    let (topic, service) = (unique("busy"), unique(&name));
    let publisher = Publisher::<Int32>::new(&node, &topic, &QoS::default()).unwrap();
    let event = publisher.event(RemoteEventKind::Matched).unwrap().unwrap();
    event.on_event(|_| {}).unwrap();
    let mut subscription =
        Subscription::<Int32>::new(&node, &topic, &QoS::default(), Locals::Deliver).unwrap();
    let hear = move |count| {
        heard.fetch_add(count, Ordering::Relaxed);
    };
    subscription.on_new_message(hear).unwrap();
    let server = Service::<Trigger::Service>::new(&node, &service, &QoS::services()).unwrap();
    server.on_new_request(|_| {}).unwrap();
    let client = Client::<Trigger::Service>::new(&node, &service, &QoS::services()).unwrap();
    client.on_new_response(|_| {}).unwrap();
    for data in 0..20 {
        publisher.publish(&Int32 { data }).unwrap();
        client.is_available().unwrap();
        let message = "busy";
        let (severity, file, function) = (LogLevel::Info, file!(), "live");
        log(&node, &LogLine { severity, message, file, function, line: line!() });
        while subscription.take().unwrap().is_some() {}
    }
    node.nodes().unwrap();
    node.count_subscriptions(&topic).unwrap();
    event.take().unwrap();
}

#[test]
fn entities_come_and_go_on_many_threads() {
    static HEARD: AtomicUsize = AtomicUsize::new(0);
    let quiet = Context::with_options(&[], &crate::options(false)).unwrap();
    let shared = context();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let context = if thread % 2 == 0 { &quiet } else { &shared };
            scope.spawn(move || {
                for _ in 0..5 {
                    live(context, thread, &HEARD);
                }
            });
        }
    });
    assert!(HEARD.load(Ordering::Relaxed) > 0);
}

#[test]
fn callbacks_that_log_do_not_deadlock() {
    // A callback within `publish` that logs, and so publishes itself.
    let context = context();
    let node = Node::new(&context, "", "nested_log", NodeOptions::default()).unwrap();
    let topic = unique("nested_log");
    let publisher = Publisher::<Int32>::new(&node, &topic, &QoS::default()).unwrap();
    let subscription =
        Subscription::<Int32>::new(&node, &topic, &QoS::default(), Locals::Deliver).unwrap();
    let (ring, bell) = std::sync::mpsc::channel();
    let inner = node.clone();
    let call = move |count| {
        let (severity, file, function) = (LogLevel::Info, file!(), "call");
        log(&inner, &LogLine { severity, message: "within", file, function, line: line!() });
        ring.send(count).unwrap_or_default();
    };
    subscription.on_new_message(call).unwrap();
    crate::wait(&node, "matched", || publisher.subscription_count().unwrap() == 1);
    publisher.publish(&Int32 { data: 1 }).unwrap();
    assert_eq!(bell.recv_timeout(crate::LONG), Ok(1));
    subscription.on_new_message(|_| {}).unwrap(); // Frees the closure, and the node within.
}
