//! Messages that are larger than a stack, and those that just go by value. A stack overflow ends
//! the process, so each case runs in a child process.

use crate::{in_every_mode, this_program};
use ringspin_executor::{BY_VALUE_MAX, CALL_BY_VALUE_MAX, ErrorKind, Graph, Message, QoS};
use ringspin_modes::Executor;
use std::time::Duration;

const TICK: Duration = Duration::from_micros(500);
const ROUNDS: usize = 20;

struct Large<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> Default for Large<BYTES> {
    fn default() -> Self {
        Self([3; BYTES])
    }
}

/// Runs test `name` of this module, which is ignored otherwise, in a child process.
fn passes_in_a_process(name: &str) {
    // A sanitizer needs more stack than the code that it watches.
    if std::env::var_os("TSAN_OPTIONS").is_some() {
        return;
    }
    let test = format!("large_messages::{name}");
    let arguments = [&*test, "--exact", "--ignored", "--nocapture", "--test-threads=1"];
    let output = this_program().args(arguments).output().unwrap();
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{report}", output.status);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("1 passed"), "{name}: {told}");
}

/// Runs `test` on a thread with the stack that threads have by default.
fn on_2_mib(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap().join().unwrap();
}

/// Loans that go from node to node, to late joiners, and back.
fn loan_in_every_mode<const BYTES: usize>() {
    on_2_mib(|| {
        in_every_mode(|mut executor| {
            let camera = executor.create_node("camera", 0u8).unwrap();
            let qos = QoS::keep_last(2).transient_local().held(1);
            let out = camera.create_publisher::<Large<BYTES>>("image", qos).unwrap();
            let mut early = out.loan().unwrap();
            assert_eq!((early.0[0], early.0[BYTES - 1]), (3, 3), "the default");
            early.0[BYTES - 1] = 100;
            early.publish().unwrap();
            camera
                .create_timer(TICK, move |round, _| {
                    *round = round.wrapping_add(1);
                    let mut image = out.loan().unwrap();
                    image.0[BYTES - 1] = *round;
                    image.publish().unwrap();
                })
                .unwrap();
            let relay = executor.create_node("relay", ()).unwrap();
            let qos_out = QoS::keep_last(1).held(1);
            let again = relay.create_publisher::<Large<BYTES>>("again", qos_out).unwrap();
            relay
                .create_subscription("image", qos, move |_, image: &Message<Large<BYTES>>, _| {
                    let mut copy = again.loan().unwrap();
                    copy.0.copy_from_slice(&image.0);
                    copy.publish()
                })
                .unwrap();
            let viewer = executor.create_node("viewer", (Vec::new(), None)).unwrap();
            viewer
                .create_subscription("again", qos_out, |(seen, kept), image, cx| {
                    let image: &Message<Large<BYTES>> = image;
                    seen.push(image.0[BYTES - 1]);
                    *kept = Some(image.clone());
                    if seen.len() == ROUNDS {
                        cx.stop();
                    }
                })
                .unwrap();
            executor.spin().unwrap();
            assert!(executor.failures().is_empty());
        });
    });
}

#[test]
fn loans_of_256_kib_need_no_stack() {
    passes_in_a_process("child_loans_256_kib");
}

#[test]
fn loans_of_1_mib_need_no_stack() {
    passes_in_a_process("child_loans_1_mib");
}

#[test]
fn loans_of_8_mib_need_no_stack() {
    passes_in_a_process("child_loans_8_mib");
}

#[test]
fn messages_of_the_largest_size_go_by_value_on_a_default_stack() {
    passes_in_a_process("child_goes_by_value");
}

#[test]
fn requests_of_the_largest_size_go_by_value_on_a_default_stack() {
    passes_in_a_process("child_calls_by_value");
}

#[test]
fn workers_have_the_stack_that_was_chosen() {
    passes_in_a_process("child_uses_32_mib_of_stack");
}

#[test]
#[ignore = "run by `loans_of_256_kib_need_no_stack`"]
fn child_loans_256_kib() {
    loan_in_every_mode::<{ 256 << 10 }>();
}

#[test]
#[ignore = "run by `loans_of_1_mib_need_no_stack`"]
fn child_loans_1_mib() {
    loan_in_every_mode::<{ 1 << 20 }>();
}

#[test]
#[ignore = "run by `loans_of_8_mib_need_no_stack`"]
fn child_loans_8_mib() {
    loan_in_every_mode::<{ 8 << 20 }>();
}

#[test]
#[ignore = "run by `messages_of_the_largest_size_go_by_value_on_a_default_stack`"]
fn child_goes_by_value() {
    type Largest = Large<BY_VALUE_MAX>;
    on_2_mib(|| {
        in_every_mode(|mut executor| {
            let sink = executor.create_node("sink", 0).unwrap();
            let qos = QoS::keep_all(1);
            sink.create_subscription("image", qos, |count, _: &Message<Largest>, cx| {
                *count += 1;
                if *count == ROUNDS {
                    cx.stop();
                }
            })
            .unwrap();
            let source = executor.create_node("source", ()).unwrap();
            let latched = QoS::keep_last(1).transient_local();
            let out = source.create_publisher::<Largest>("image", qos).unwrap();
            let map = source.create_publisher::<Largest>("map", latched).unwrap();
            map.publish(Large::default()).unwrap();
            source
                .create_timer(TICK, move |_, _| {
                    // The second one is refused, and handed back by value.
                    let _ = out.publish(Large::default());
                    let refused = out.publish(Large::default());
                    drop(refused.map_err(|error| error.into_returned()));
                    map.publish(Large::default()).unwrap();
                })
                .unwrap();
            executor.spin().unwrap();
            assert!(executor.failures().is_empty());
        });
    });
}

#[test]
#[ignore = "run by `requests_of_the_largest_size_go_by_value_on_a_default_stack`"]
fn child_calls_by_value() {
    type Largest = Large<CALL_BY_VALUE_MAX>;
    on_2_mib(|| {
        in_every_mode(|mut executor| {
            let server = executor.create_node("server", ()).unwrap();
            server
                .create_service("echo", QoS::services(), |_, image: &Largest, _| {
                    let mut answer = Largest::default();
                    answer.0.copy_from_slice(&image.0);
                    answer
                })
                .unwrap();
            let node = executor.create_node("node", 0).unwrap();
            let client = node.create_client::<Largest, Largest>("echo", QoS::keep_all(1)).unwrap();
            node.create_timer(TICK, move |_, _| {
                drop(client.call(Large::default(), |count, reply, cx| {
                    assert_eq!(reply.unwrap().0[7], 3);
                    *count += 1;
                    if *count == ROUNDS {
                        cx.stop();
                    }
                }));
            })
            .unwrap();
            executor.spin().unwrap();
            assert!(executor.failures().is_empty());
        });
    });
}

#[test]
#[ignore = "run by `workers_have_the_stack_that_was_chosen`"]
fn child_uses_32_mib_of_stack() {
    let mut executor =
        Executor::new(ringspin_modes::Mode::MultiCore(None)).with_stack_size(128 << 20);
    let node = executor.create_node("deep", ()).unwrap();
    node.create_one_shot_timer(TICK, |_, cx| {
        let large = std::hint::black_box([1u8; 32 << 20]);
        assert_eq!(large.iter().filter(|byte| **byte == 1).count(), 32 << 20);
        cx.stop();
    })
    .unwrap();
    executor.spin().unwrap();
    assert!(executor.failures().is_empty());
}

#[test]
fn services_of_larger_types_are_refused_with_their_size() {
    const BYTES: usize = CALL_BY_VALUE_MAX + 1;
    let executor = Executor::single_core();
    let node = executor.create_node("node", ()).unwrap();
    let qos = QoS::services();
    let service = node.create_service("flip", qos, |_, _: &Large<BYTES>, _| ());
    let client = node.create_client::<(), Large<BYTES>>("get", qos);
    let (service, client) = (service.unwrap_err(), client.unwrap_err());
    for (error, name) in [(service, "service /flip"), (client, "client /get")] {
        assert_eq!((error.kind(), error.node()), (ErrorKind::InvalidArgument, Some("/node")));
        let start = format!("failed to create {name} of node /node: ");
        assert!(error.to_string().starts_with(&start), "{error}");
        assert!(error.to_string().contains("16385 bytes"), "{error}");
    }
}

#[test]
fn queue_that_needs_too_much_memory_is_an_error_that_names_it() {
    type Large = [u8; 60_000];
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let deep = QoS::keep_last(1 << 20);
    let refused = node.create_subscription("points", deep, |_, _: &Message<Large>, _| ());
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), error.topic()), (ErrorKind::LimitReached, Some("/points")));
    assert_eq!(error.node(), Some("/node"));
    assert!(error.to_string().contains("use a depth of 71582 at most"), "{error}");
    node.create_publisher::<Large>("points", deep.transient_local()).unwrap_err();
    let called = node.create_client::<(), [u64; 1024]>("service", QoS::keep_all(1 << 20));
    assert_eq!(called.unwrap_err().kind(), ErrorKind::LimitReached);
    node.create_subscription("numbers", deep, |_, _: &Message<u64>, _| ()).unwrap();
}
