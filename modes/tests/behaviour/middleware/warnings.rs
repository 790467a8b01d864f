//! Warnings about the middleware in the log.

use super::fake_middleware::{FakeMiddleware, Private, Way};
use super::{MS, connect, spin_on};
use ringspin_executor::{QoS, RemoteNode, RemoteNotifier, ServiceTypes, TypeName};
use ringspin_modes::Executor;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The warnings of this thread while `run` runs.
fn warnings(run: impl FnOnce()) -> Vec<String> {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false);
    let subscriber = subscriber.with_writer(move || writer.clone()).finish();
    tracing::subscriber::with_default(subscriber, run);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    text.lines().filter(|line| line.contains("WARN")).map(str::to_owned).collect()
}

#[test]
fn a_type_that_stays_within_the_process_is_warned_of_once() {
    let executor = Executor::single_core();
    connect(&executor, FakeMiddleware::new(Way::AtOnce));
    let node = executor.create_node("talker", ()).unwrap();
    let warned = warnings(|| {
        node.create_publisher::<u64>("carried", QoS::default()).unwrap();
        for topic in ["private", "other"] {
            node.create_publisher::<Private>(topic, QoS::default()).unwrap();
        }
    });
    assert_eq!(warned.len(), 1, "{warned:?}");
    for word in ["publisher /private", "the fake", "use a type that it carries"] {
        assert!(warned[0].contains(word), "{warned:?}");
    }
    // Without a middleware there is no outside.
    let executor = Executor::single_core();
    let alone = executor.create_node("talker", ()).unwrap();
    let create = || drop(alone.create_publisher::<Private>("private", QoS::default()).unwrap());
    assert_eq!(warnings(create), [""; 0]);
}

#[test]
fn requests_that_are_overwritten_are_counted_and_warned_of_when_their_number_has_doubled() {
    let fake = FakeMiddleware::new(Way::AtOnce);
    let mut executor = Executor::single_core();
    connect(&executor, fake.another());
    let node = executor.create_node("server", ()).unwrap();
    node.create_service("double", QoS::keep_last(10), |(), n: &u64, _| 2 * n).unwrap();
    executor.freeze().unwrap();
    let of = TypeName::of::<u64>();
    let types = ServiceTypes { request: of, response: of };
    let client = fake.outside().call("/double", types, QoS::services(), RemoteNotifier::default());
    let client = client.unwrap().unwrap();
    let mut burst = |requests: u64| {
        (0..requests).for_each(|n| assert!(client.send(&n).is_ok()));
        let mut warned = warnings(|| spin_on(&mut executor, &fake));
        warned.retain(|line| line.contains("/double")); // a slow machine is told of missed periods
        warned
    };
    assert_eq!(burst(10), [""; 0]);
    let warned = burst(110);
    assert!(!warned.is_empty() && warned.len() <= 8, "{warned:?}");
    let last = warned.last().unwrap();
    for word in ["overwritten=", "depth of 10", "greater depth"] {
        assert!(last.contains(word), "{last}");
    }
    assert_eq!(burst(12), [""; 0], "102 is not much more than 100");
    let statistics = executor.statistics();
    let served = statistics.of("/server").next().unwrap();
    assert_eq!((served.dispatched, served.overwritten), (30, 102));
}

#[test]
fn spin_of_a_stopped_executor_is_warned_of_once_for_each_stop() {
    let mut executor = Executor::single_core();
    executor.create_node("node", ()).unwrap();
    let stop = executor.stop_handle();
    let mut spin = || warnings(|| executor.spin_for(MS).unwrap()).len();
    assert_eq!(spin(), 0);
    for _ in 0..2 {
        stop.stop();
        assert_eq!((spin(), spin()), (1, 0));
        stop.reset();
        assert_eq!(spin(), 0);
    }
}
