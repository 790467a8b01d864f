//! When something fails: the middleware, or a callback while messages arrive from outside.

use super::fake_middleware::{FakeMiddleware, Fault, Way};
use super::{
    END, connect, first_of, in_every_way, listening, on_all_cores, received, receiver, sender,
    spin_on, stop_when,
};
use crate::{Log, entries, log, spawn_beside};
use ringspin_executor::{
    Cause, FailurePolicy, Graph, Message, Middleware, Monitor, PublishError, QoS,
};
use ringspin_modes::Executor;
use std::sync::{Arc, OnceLock};

#[test]
fn a_node_that_fails_while_messages_arrive_is_isolated_and_the_rest_is_discarded() {
    const MANY: u64 = 1_000;
    on_all_cores(|executor, fake| {
        let mut executor = executor.with_failure_policy(FailurePolicy::IsolateNode);
        connect(&executor, fake.another());
        let node = executor.create_node("fragile", ()).unwrap();
        node.create_subscription("numbers", QoS::keep_all(2_000), |_, n: &Message<u64>, _| {
            assert!(**n < 3, "three is too many");
        })
        .unwrap();
        node.create_service("double", QoS::services(), |_, n: &u64, _| 2 * n).unwrap();
        let heard = listening(&executor, "robust", "numbers", QoS::keep_all(2_000));
        let monitor: Arc<OnceLock<Monitor>> = Arc::default();
        let seen = monitor.clone();
        let all = heard.clone();
        stop_when(&executor, move || {
            let discarded = seen.get().unwrap().statistics().discarded();
            discarded >= MANY - 4 && all.lock().unwrap().len() as u64 == MANY
        });
        executor.freeze().unwrap();
        let _ = monitor.set(executor.monitor().unwrap());
        let out = sender(&fake, "/numbers", QoS::default());
        let sending =
            spawn_beside(&executor, move || (0..MANY).for_each(|n| out.publish(&n).unwrap()));
        executor.spin().unwrap();
        sending.join().unwrap();
        let fragile = first_of(&executor, "/fragile");
        assert_eq!((fragile.dispatched, fragile.discarded), (4, MANY - 4));
        assert_eq!(entries(&heard), (0..MANY).collect::<Vec<_>>());
        assert_eq!(executor.failures().len(), 1);
    });
}

#[test]
fn failed_takes_are_counted_and_the_next_message_is_taken() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard = listening(&executor, "listener", "numbers", QoS::keep_last(10));
        executor.freeze().unwrap();
        let out = sender(&fake, "/numbers", QoS::default());
        (0..5u64).for_each(|n| out.publish(&n).unwrap());
        fake.fail(Fault::Take, 2);
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&heard), [2, 3, 4]);
        let statistics = first_of(&executor, "/listener");
        assert_eq!((statistics.dispatched, statistics.lost), (3, 2));
    });
}

#[test]
fn a_take_that_panics_is_a_failure_and_leaves_nothing_behind() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard: Log<u64> = log();
        let seen = heard.clone();
        let node = executor.graph().create_restartable_node("fragile", 1, || ()).unwrap();
        node.create_subscription("numbers", QoS::keep_last(10), move |_, n: &Message<u64>, _| {
            seen.lock().unwrap().push(**n);
        })
        .unwrap();
        executor.freeze().unwrap();
        let out = sender(&fake, "/numbers", QoS::default());
        (0..5u64).for_each(|n| out.publish(&n).unwrap());
        fake.fail(Fault::Panic, 1);
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&heard), [1, 2, 3, 4]);
        let failures = executor.failures();
        assert_eq!(failures.len(), 1);
        assert_eq!(failures[0].cause, Cause::Panic("a message that cannot be read".into()));
        assert_eq!(&*failures[0].node, "/fragile");
    });
}

#[test]
fn a_message_that_does_not_leave_is_returned_unless_a_subscription_has_it() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard = listening(&executor, "listener", "heard", QoS::keep_last(10));
        let node = executor.create_node("talker", ()).unwrap();
        let latched = QoS::default().transient_local();
        let alone = node.create_publisher::<u64>("alone", QoS::default()).unwrap();
        let alone_latched = node.create_publisher::<u64>("latched", latched).unwrap();
        let plain = node.create_publisher::<u64>("heard", QoS::default()).unwrap();
        let heard_latched = node.create_publisher::<u64>("heard", latched).unwrap();
        fake.fail(Fault::Publish, 1);
        let early = alone_latched.publish(7).unwrap_err();
        assert_eq!(early.into_message(), Some(7), "it is not kept either");
        executor.freeze().unwrap();
        let mut outside = receiver(&fake, "/alone");
        fake.fail(Fault::Publish, 1);
        let error = alone.publish(1).unwrap_err();
        assert!(matches!(error, PublishError::Remote { message: Some(_), .. }), "{error:?}");
        assert!(error.to_string().contains("Publish was told to fail"), "{error}");
        assert_eq!(error.into_message(), Some(1));
        fake.fail(Fault::Publish, 1);
        let mut loan = alone.loan().unwrap();
        *loan = 8;
        assert_eq!(loan.publish().unwrap_err().into_message(), Some(8));
        alone.publish(2).unwrap();
        for (n, out) in [(3, &plain), (4, &heard_latched)] {
            fake.fail(Fault::Publish, 1);
            let error = out.publish(n).unwrap_err();
            assert!(matches!(error, PublishError::Remote { message: None, .. }), "{error:?}");
        }
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&heard), [3, 4]);
        assert_eq!(received(&mut *outside), [2]);
    });
}

/// Otherwise a publisher that tries again sends it twice.
#[test]
fn a_message_that_is_refused_in_the_process_does_not_leave_it() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard = listening(&executor, "listener", "numbers", QoS::keep_all(2));
        let node = executor.create_node("talker", ()).unwrap();
        let plain = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let latched = QoS::keep_last(10).transient_local();
        let latched = node.create_publisher::<u64>("numbers", latched).unwrap();
        let mut outside = receiver(&fake, "/numbers");
        assert!(matches!(plain.publish(0), Err(PublishError::NotFrozen(_))));
        executor.freeze().unwrap();
        plain.publish(1).unwrap();
        latched.publish(2).unwrap();
        for out in [&plain, &latched] {
            assert!(matches!(out.publish(3), Err(PublishError::Full(_))));
        }
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&heard), [1, 2]);
        assert_eq!(received(&mut *outside), [1, 2]);
    });
}

/// Asserts that `error` names all of `words`.
fn names(error: &dyn std::error::Error, words: &[&str]) {
    let text = error.to_string();
    assert!(
        words.iter().all(|word| text.contains(word)),
        "{text:?} does not name all of {words:?}"
    );
}

#[test]
fn errors_say_what_of_which_node_the_middleware_does_not_take() {
    let fake = FakeMiddleware::new(Way::AtOnce);
    let mut executor = Executor::single_core();
    let graph: &Graph = executor.graph();
    let connect = |graph: &Graph| {
        let middleware: Arc<dyn Middleware> = Arc::new(fake.another());
        graph.set_middleware(middleware)
    };
    connect(graph).unwrap();
    names(&connect(graph).unwrap_err(), &["the fake", "already"]);
    fake.fail(Fault::Node, 1);
    let error = graph.create_node_in("/lab", "camera", ()).unwrap_err();
    names(&error, &["the fake", "/lab/camera", "Node was told to fail"]);
    let node = graph.create_node_in("/lab", "camera", ()).unwrap();
    assert_eq!(fake.nodes(), ["/lab camera"]);
    let all = ["the fake", "/lab/camera", "told to fail"];
    let qos = QoS::default();
    fake.fail(Fault::Advertise, 1);
    let error = node.create_publisher::<u64>("out", qos.best_effort()).unwrap_err();
    names(&error, &all);
    names(&error, &["publisher /lab/out"]);
    fake.fail(Fault::Subscribe, 1);
    let error = node.create_subscription("in", qos, |_, _: &Message<u64>, _| ()).unwrap_err();
    names(&error, &all);
    names(&error, &["subscription /lab/in"]);
    fake.fail(Fault::Serve, 1);
    let error = node.create_service("serve", qos, |_, n: &u64, _| *n).unwrap_err();
    names(&error, &all);
    names(&error, &["service /lab/serve"]);
    fake.fail(Fault::Call, 1);
    let error = node.create_client::<u64, u64>("call", qos).unwrap_err();
    names(&error, &all);
    names(&error, &["client /lab/call"]);
    // Nothing is left of them: neither a callback, nor a publisher with which others must agree.
    let info = graph.info();
    assert!(info.callbacks.is_empty(), "{info:?}");
    assert!(info.topics.iter().all(|topic| topic.publishers.is_empty()), "{info:?}");
    node.create_subscription("out", qos.reliable(), |_, _: &Message<u64>, _| ()).unwrap();
    executor.freeze().unwrap();
    let graph = Graph::new();
    graph.create_node("first", ()).unwrap();
    names(&connect(&graph).unwrap_err(), &["the fake", "before its first node"]);
    let mut executor = Executor::single_core();
    executor.freeze().unwrap();
    names(&connect(executor.graph()).unwrap_err(), &["the fake", "frozen"]);
}

#[test]
fn a_graph_outlives_its_executor_and_the_middleware_goes_on() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard = listening(&executor, "listener", "numbers", QoS::keep_last(2));
        let node = executor.create_node("talker", ()).unwrap();
        let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let client = node.create_client::<u64, u64>("double", QoS::services()).unwrap();
        let remote = sender(&fake, "/numbers", QoS::default());
        executor.freeze().unwrap();
        remote.publish(&END).unwrap();
        executor.spin().unwrap();
        drop(executor);
        for n in 0..100 {
            remote.publish(&n).unwrap();
            assert!(matches!(out.publish(n), Err(PublishError::Gone(back)) if *back == n));
        }
        fake.flush();
        assert!(client.call(1, |(), _, _| ()).is_err());
        assert_eq!(entries(&heard), [END]);
    });
}
