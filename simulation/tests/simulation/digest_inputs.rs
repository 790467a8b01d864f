//! Inputs of the digest of a run: messages that no subscription receives, messages after the last
//! dispatch, and events that other threads caused.

use ringspin_executor::{BoxError, Delivery, ExternalInput, Graph, Message, Publisher, QoS, Time};
use ringspin_modes::RunDigest;
use ringspin_simulation::models::Links;
use ringspin_simulation::{Difference, Divergence, Job, Uncontrolled};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// A node with a timer that publishes these values on a topic without subscriptions.
fn commands(values: &'static [u32], qos: QoS, digested: bool) -> RunDigest {
    let job = Job::new(|graph| {
        let node = graph.create_node("control", ())?;
        let out = node.create_publisher::<u32>("cmd_vel", qos)?;
        let out = if digested { out.digested() } else { out };
        node.create_timer(MS, move |(), _| values.iter().try_for_each(|n| out.publish(*n)))?;
        Ok(())
    });
    job.run_for(3 * MS).run().unwrap().digest()
}

#[test]
fn messages_without_a_subscription_count_in_the_digest() {
    for qos in [QoS::default(), QoS::keep_last(2).transient_local()] {
        assert_ne!(commands(&[1], qos, false), commands(&[1, 1], qos, false), "their number");
        assert_ne!(commands(&[1], qos, false), commands(&[], qos, false), "whether there are any");
        assert_eq!(commands(&[1], qos, false), commands(&[2], qos, false), "not their content");
        assert_ne!(commands(&[1], qos, true), commands(&[2], qos, true), "unless it is shown");
    }
    let loaned = |n: usize| {
        let job = Job::new(move |graph| {
            let node = graph.create_node("control", ())?;
            let out = node.create_publisher::<u32>("cmd_vel", QoS::default())?;
            node.create_timer(MS, move |(), _| -> Result<(), BoxError> {
                for _ in 0..n {
                    out.loan()?.publish()?;
                }
                Ok(())
            })?;
            Ok(())
        });
        job.run_for(MS).run().unwrap().digest()
    };
    assert_ne!(loaned(1), loaned(2));
    assert_eq!(loaned(1), loaned(1));
}

/// The digest of such a job was not changed by the above: it showed all messages already.
#[test]
fn a_digested_topic_without_a_subscription_has_the_digest_that_it_had() {
    let digest = commands(&[1, 2], QoS::default(), true).to_string();
    assert_eq!(digest, "99b3347be20f17581c37f5415f5fae39");
}

#[test]
fn verify_finds_a_message_without_a_subscription_that_is_not_in_every_run() {
    let runs = AtomicU32::new(0);
    let job = Job::new(|graph| {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        let node = graph.create_node("control", ())?;
        let out = node.create_publisher::<u32>("cmd_vel", QoS::default())?;
        node.create_timer(MS, move |(), _| match run {
            0 => Ok(()),
            _ => out.publish(1),
        })?;
        Ok(())
    });
    let diverged = job.run_for(MS).verify(2).unwrap_err();
    let divergence = diverged.cause::<Divergence>().unwrap();
    assert_eq!((divergence.index, &divergence.difference), (0, &Difference::Digest));
}

/// Publishes one number at one millisecond.
struct Once {
    number: Option<u32>,
    out: Publisher<u32>,
}

impl ExternalInput for Once {
    fn next_time(&mut self) -> Option<Time> {
        self.number.map(|_| Time::ZERO + MS)
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        self.out.publish(self.number.take().unwrap_or_default())?;
        Ok(Delivery::Done)
    }
}

#[test]
fn messages_of_inputs_after_the_last_dispatch_change_the_digest() {
    let next = AtomicU32::new(0);
    let job = Job::new(|graph| {
        let out = graph.create_node("player", ())?.create_publisher("t", QoS::default())?;
        let number = Some(next.load(Ordering::Relaxed));
        graph.add_input("once", Once { number, out: out.digested() })?;
        Ok(())
    });
    let digest = || job.run().unwrap().digest();
    let first = digest();
    assert_eq!(digest(), first);
    next.store(1, Ordering::Relaxed);
    assert_ne!(digest(), first);
    let job = Job::new(|graph| {
        let out = graph.create_node("player", ())?.create_publisher("t", QoS::default())?;
        let number = Some(next.fetch_add(1, Ordering::Relaxed));
        graph.add_input("once", Once { number, out: out.digested() })?;
        Ok(())
    });
    let diverged = job.verify(2).unwrap_err();
    assert!(
        diverged.to_string().contains("other messages were published after that"),
        "{diverged}"
    );
}

/// Has `act` called on a new thread, by a callback that waits for it.
fn on_a_thread(act: impl FnOnce() + Send) {
    std::thread::scope(|scope| drop(scope.spawn(act)));
}

#[test]
fn runs_with_events_of_other_threads_are_not_verified() {
    let job = Job::new(|graph| {
        let node = graph.create_node("a", ())?;
        let out = node.create_publisher::<u32>("t", QoS::default())?;
        node.create_subscription("t", QoS::default(), |_, _: &Message<u32>, _| {})?;
        node.create_one_shot_timer(MS, move |_, _| on_a_thread(|| out.publish(1).unwrap()))?;
        Ok(())
    });
    let job = job.run_for(5 * MS);
    let error = job.verify(2).unwrap_err().to_string();
    assert!(error.contains("another thread of the program caused 1 "), "{error}");
    assert!(error.contains("/a `subscription /t`"), "{error}");
}

/// The events of other threads in a run of this graph.
fn foreign(
    links: &str,
    build: impl Fn(&Graph) -> Result<(), BoxError> + Send + Sync,
) -> Vec<String> {
    let links = Links::from_toml(links).unwrap();
    let job = Job::new(build).run_for(MS).simulate(|simulation| simulation.links = links.into());
    let report = job.run().unwrap();
    let certificate = job.certificate(&report);
    let expected: u64 = report.foreign().iter().map(|(_, count)| count).sum();
    assert_eq!(certificate.counts.foreign, expected);
    assert_eq!(certificate.uncontrolled.threads.len(), report.foreign().len());
    assert_eq!(Uncontrolled::of_run(&report), certificate.uncontrolled);
    certificate.uncontrolled.threads
}

/// A publisher that publishes twice from another thread, and one subscription.
fn talk(graph: &Graph, depth: usize) -> Result<(), BoxError> {
    let node = graph.create_node("a", ())?;
    let out = node.create_publisher::<u32>("t", QoS::default())?;
    node.create_timer(MS, move |(), _| {
        on_a_thread(|| (0..2).for_each(|n| out.publish(n).unwrap()));
    })?;
    let to = graph.create_node("b", ())?;
    to.create_subscription("t", QoS::keep_last(depth), |(), _: &Message<u32>, _| {})?;
    Ok(())
}

#[test]
fn messages_of_another_thread_are_counted_however_they_travel() {
    let expected = ["2 events for /b `subscription /t`"];
    assert_eq!(foreign("", |graph| talk(graph, 5)), expected);
    assert_eq!(foreign("", |graph| talk(graph, 1)), expected, "one overwrites the other");
    let link = |rule| format!("[[link]]\ntopic = \"/t\"\n{rule}");
    assert_eq!(foreign(&link("delay = \"1 us\""), |graph| talk(graph, 5)), expected);
    assert_eq!(foreign(&link("loss = 1.0"), |graph| talk(graph, 5)), expected);
    let unheard = foreign("", |graph| {
        let node = graph.create_node("a", ())?;
        let out = node.create_publisher::<u32>("t", QoS::default())?;
        node.create_timer(MS, move |(), _| on_a_thread(|| out.publish(1).unwrap()))?;
        Ok(())
    });
    assert_eq!(unheard, ["1 messages of /a on /t"]);
}

#[test]
fn other_events_of_another_thread_are_counted() {
    let events = foreign("", |graph| {
        let server = graph.create_node("server", ())?;
        server.create_service("double", QoS::services(), |(), n: &u64, _| n * 2)?;
        let node = graph.create_node("a", ())?;
        let guard = node.create_guard_condition("guard", |(), _| {})?;
        let client = node.create_client::<u64, u64>("double", QoS::services())?;
        let timer = node.create_timer(10 * MS, |(), _| {})?;
        node.create_timer(MS, move |(), _| {
            on_a_thread(|| {
                guard.trigger();
                timer.reset();
                client.call(1, |(), _, _| {}).unwrap();
            });
        })?;
        Ok(())
    });
    let expected = [
        "1 events for /server `service /double`",
        "1 events for /a `guard condition guard`",
        "1 changes of timers or nodes",
    ];
    assert_eq!(events, expected);
}

#[test]
fn the_thread_that_steps_a_session_is_none_of_the_others() {
    let job = Job::new(|graph| {
        let node = graph.create_node("a", 0u32)?;
        node.create_subscription("t", QoS::default(), |n, _: &Message<u32>, _| *n += 1)?;
        Ok(graph.create_node("test", ())?.create_publisher::<u32>("t", QoS::default())?)
    });
    let mut session = job.start().unwrap();
    session.handles.publish(1).unwrap();
    session.settle().unwrap();
    let mut session = std::thread::scope(|scope| {
        let moved = scope.spawn(move || {
            session.settle().unwrap();
            session.handles.publish(2).unwrap();
            session.settle().unwrap();
            session
        });
        moved.join().unwrap()
    });
    assert_eq!(session.report().foreign(), []);
    session.settle().unwrap();
    let out = session.handles.clone();
    on_a_thread(|| out.publish(3).unwrap());
    session.settle().unwrap();
    assert_eq!(session.report().foreign(), [("events for /a `subscription /t`".into(), 1)]);
}
