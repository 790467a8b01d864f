//! Events of quality of service that a middleware reports, together with those of the process.

use super::fake_middleware::Fault;
use super::{FakeMiddleware, connect, in_every_way, receiver, sender, spin_on};
use crate::{Log, entries, log};
use ringspin_executor::{
    Context, ErrorKind, Incompatibility, IncompatiblePeer, LivelinessChanged, Matched, Message,
    MessageLost, PublisherEvents, QoS, QosPolicy, RemoteEventKind, RemoteStatus,
    SubscriptionEvents,
};

/// The reported events, as text.
type Told = Log<String>;

fn told<E: std::fmt::Debug>(log: &mut Told, event: E) {
    log.lock().unwrap().push(format!("{event:?}"));
}

/// All events of a subscription, into its node's state.
fn subscription_events() -> SubscriptionEvents<Told> {
    SubscriptionEvents::new()
        .on_liveliness_changed(|log: &mut Told, event, _| told(log, event))
        .on_incompatible_qos(|log: &mut Told, event, _| told(log, event))
        .on_message_lost(|log: &mut Told, event, _| told(log, event))
        .on_matched(|log: &mut Told, event, _| told(log, event))
}

fn matched(total: u64, total_change: u64, current: u64, change: i64) -> String {
    let event = Matched {
        total_count: total,
        total_count_change: total_change,
        current_count: current,
        current_count_change: change,
    };
    format!("{event:?}")
}

#[test]
fn peers_of_the_process_and_outside_are_counted_together() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard: Told = log();
        let node = executor.create_node("node", heard.clone()).unwrap();
        let _out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let quiet =
            SubscriptionEvents::new().on_matched(|log: &mut Told, event, _| told(log, event));
        node.create_subscription_with_events(
            "numbers",
            QoS::default(),
            quiet,
            |_, _: &Message<u64>, _| {},
        )
        .unwrap();
        spin_on(&mut executor, &fake);
        let kind = RemoteEventKind::Matched;
        for (total, current) in [(2, 2), (2, 1), (2, 1)] {
            assert_eq!(fake.report("/numbers", kind, &RemoteStatus::Matched { total, current }), 1);
            spin_on(&mut executor, &fake);
        }
        assert_eq!(
            entries(&heard),
            [matched(1, 1, 1, 1), matched(3, 2, 3, 2), matched(3, 0, 2, -1)]
        );
    });
}

#[test]
fn publisher_counts_subscriptions_of_the_process_and_outside_once() {
    in_every_way(|executor, fake| {
        connect(&executor, fake.another());
        let node = executor.create_node("node", ()).unwrap();
        let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let listen = || {
            let hear = |(): &mut (), _: &Message<u64>, _: &mut Context<'_>| {};
            node.create_subscription("numbers", QoS::default(), hear).unwrap()
        };
        let inside = [listen(), listen()];
        assert_eq!(out.subscription_count().unwrap(), 2);
        let _outside = receiver(&fake, "/numbers");
        assert_eq!(out.subscription_count().unwrap(), 3);
        inside.iter().for_each(ringspin_executor::Subscription::destroy);
        assert_eq!(out.subscription_count().unwrap(), 1);
    });
    in_every_way(|executor, fake| {
        connect(&executor, fake.another().not_bypassed());
        let node = executor.create_node("node", ()).unwrap();
        let out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        node.create_subscription("numbers", QoS::default(), |(), _: &Message<u64>, _| {}).unwrap();
        let _outside = receiver(&fake, "/numbers");
        assert_eq!(out.subscription_count().unwrap(), 2);
    });
}

#[test]
fn a_middleware_that_counts_the_ends_of_the_process_is_believed() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another().not_bypassed());
        let heard: Told = log();
        let node = executor.create_node("node", heard.clone()).unwrap();
        let events = PublisherEvents::new().on_matched(|log: &mut Told, event, _| told(log, event));
        let _out =
            node.create_publisher_with_events::<u64>("numbers", QoS::default(), events).unwrap();
        node.create_subscription("numbers", QoS::default(), |_, _: &Message<u64>, _| {}).unwrap();
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&heard), [""; 0]);
        let status = RemoteStatus::Matched { total: 1, current: 1 };
        assert_eq!(fake.report("/numbers", RemoteEventKind::Matched, &status), 1);
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&heard), [matched(1, 1, 1, 1)]);
    });
}

#[test]
fn liveliness_misfits_and_losses_are_events_of_the_loop() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard: Told = log();
        let node = executor.create_node("node", heard.clone()).unwrap();
        let _out = node.create_publisher::<u64>("numbers", QoS::default()).unwrap();
        let events = subscription_events();
        node.create_subscription_with_events(
            "numbers",
            QoS::default(),
            events,
            |_, _: &Message<u64>, _| {},
        )
        .unwrap();
        spin_on(&mut executor, &fake);
        let at_start = entries(&heard);
        assert_eq!(at_start.len(), 2, "alive, matched: {at_start:?}");
        let (offered, requested) = ("best effort".into(), "reliable".into());
        let incompatibility =
            Incompatibility { policy: QosPolicy::Reliability, offered, requested };
        let peer = IncompatiblePeer { node: Some("/other".into()), incompatibility };
        assert_eq!(
            peer.to_string(),
            "node /other: reliability offered best effort, requested reliable"
        );
        for (kind, status) in [
            (
                RemoteEventKind::LivelinessChanged,
                RemoteStatus::Liveliness { alive: 2, not_alive: 1 },
            ),
            (
                RemoteEventKind::IncompatibleQos,
                RemoteStatus::IncompatibleQos {
                    total: 1,
                    last_policy: Some(QosPolicy::Reliability),
                    last_peer: Some(peer),
                },
            ),
            (RemoteEventKind::MessageLost, RemoteStatus::MessageLost { total: 7 }),
        ] {
            assert_eq!(fake.report("/numbers", kind, &status), 1);
            spin_on(&mut executor, &fake);
        }
        let changed = LivelinessChanged {
            alive_count: 3,
            not_alive_count: 1,
            alive_count_change: 2,
            not_alive_count_change: 1,
        };
        let lost = MessageLost { total_count: 7, total_count_change: 7 };
        let later = &entries(&heard)[2..];
        assert_eq!([&later[0], &later[2]], [&format!("{changed:?}"), &format!("{lost:?}")]);
        assert!(later[1].starts_with("IncompatibleQos { total_count: 1"), "{}", later[1]);
        assert!(later[1].contains("/other"), "{}", later[1]);
        assert_eq!(later.len(), 3);
    });
}

#[test]
fn a_message_that_cannot_be_taken_is_reported_as_lost() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let heard: Told = log();
        let node = executor.create_node("node", heard.clone()).unwrap();
        let events =
            SubscriptionEvents::new().on_message_lost(|log: &mut Told, event, _| told(log, event));
        node.create_subscription_with_events(
            "numbers",
            QoS::default(),
            events,
            |_, _: &Message<u64>, _| {},
        )
        .unwrap();
        let out = sender(&fake, "/numbers", QoS::default());
        fake.fail(Fault::Take, 1);
        out.publish(&1u64).unwrap();
        out.publish(&2u64).unwrap();
        spin_on(&mut executor, &fake);
        let lost = MessageLost { total_count: 1, total_count_change: 1 };
        assert_eq!(entries(&heard), [format!("{lost:?}")]);
    });
}

#[test]
fn unsupported_events_are_errors_that_name_them() {
    let executor = ringspin_modes::Executor::single_core();
    let fake = FakeMiddleware::new(super::Way::AtOnce);
    connect(&executor, fake.another());
    let node = executor.create_node("node", log::<String>()).unwrap();
    fake.fail(Fault::Watch, 1);
    let events = subscription_events();
    let refused = node.create_subscription_with_events(
        "numbers",
        QoS::default(),
        events,
        |_, _: &Message<u64>, _| {},
    );
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Middleware);
    let start = "failed to create LivelinessChanged of subscription /numbers in ";
    assert!(error.to_string().starts_with(start), "{error}");
}
