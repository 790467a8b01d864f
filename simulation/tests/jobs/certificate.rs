//! Certificates: their contents do not change by accident.

use super::{PAIR, file, registry};
use ringspin_executor::{ExternalInput, Graph, Message, QoS, Time};
use ringspin_simulation::{Certificate, Job, Uncontrolled};
use std::time::Duration;

fn certificate(text: &str) -> Certificate {
    let registry = registry();
    let job = file(text).job(&registry).unwrap();
    job.certificate(&job.run().unwrap_or_else(|error| panic!("{error}")))
}

const TEXT: &str = "
seed = 7
for = \"10 s\"
ties = { shuffle = { seed = 1 } }
[[link]]
topic = \"/chatter\"
delay = { uniform = [\"1 ms\", \"90 ms\"] }
loss = 0.1
";

/// The whole document but for the platform. A pinned value never changes: another value here is
/// another format, or another behaviour.
#[test]
fn the_document_is_the_same_on_every_machine() {
    let mut certificate = certificate(&format!("{TEXT}{PAIR}"));
    assert_eq!(certificate.platform.ringspin, env!("CARGO_PKG_VERSION"));
    assert!(certificate.platform.rustc.starts_with("rustc 1."), "{:?}", certificate.platform);
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    assert_eq!(certificate.platform.build, build);
    assert_eq!(certificate.platform.pointer_width, usize::BITS);
    certificate.platform.ringspin = "x";
    certificate.platform.rustc = "x";
    certificate.platform.architecture = "x";
    certificate.platform.os = "x";
    certificate.platform.build = "x";
    certificate.platform.pointer_width = 64;
    assert_eq!(certificate.to_json(), include_str!("certificate.json"));
}

#[test]
fn hashes_tell_what_differs() {
    let base = certificate(&format!("{TEXT}{PAIR}"));
    let same = certificate(&format!("{TEXT}{PAIR}"));
    assert_eq!(base, same);
    let without_ties = TEXT.replace("seed = 1 ", "seed = 2 ");
    for (what, text) in [
        ("seed", format!("{}{PAIR}", TEXT.replace("seed = 7", "seed = 8"))),
        ("end", format!("{}{PAIR}", TEXT.replace("10 s", "11 s"))),
        ("ties", format!("{without_ties}{PAIR}")),
        ("delay", format!("{}{PAIR}", TEXT.replace("90 ms", "91 ms"))),
        ("jitter", format!("jitter = {{ max = \"1 ns\" }}{TEXT}{PAIR}")),
        ("failures", format!("failures = \"isolate\"{TEXT}{PAIR}")),
        ("progress", format!("no_progress_max = \"9 s\"{TEXT}{PAIR}")),
        ("dispatches", format!("instant_dispatches_max = 9{TEXT}{PAIR}")),
        ("end on", format!("end_when = {{ topic = \"/chatter\", messages = 9 }}{TEXT}{PAIR}")),
        ("argument", format!("ros_args = [\"-p\", \"fail_at:=1000\"]{TEXT}{PAIR}")),
        ("parameter", format!("{TEXT}{PAIR}parameters = {{ fail_at = 1000 }}")),
        ("duration", format!("{TEXT}{PAIR}[[execution]]\nnode = \"/talker\"\nduration = \"1 ns\"")),
    ] {
        let other = certificate(&text);
        assert_ne!(other.configuration, base.configuration, "{what}");
        assert_eq!(other.graph, base.graph, "{what}");
    }
    let cores = |cores: &str| {
        let text = format!("for = \"1 s\"\ncores = \"{cores}\"\n{PAIR}");
        certificate(&text).configuration
    };
    assert_ne!(cores("single"), cores("unlimited"));
    let more = certificate(&format!("{TEXT}{PAIR}\n[[node]]\ntype = \"idle\""));
    assert_eq!(more.configuration, base.configuration, "nodes are the graph's");
    assert_ne!(more.graph, base.graph);
}

/// Never has anything.
struct Silent;

impl ExternalInput for Silent {
    fn next_time(&mut self) -> Option<Time> {
        None
    }

    fn deliver(
        &mut self,
        _: Time,
    ) -> Result<ringspin_executor::Delivery, ringspin_executor::BoxError> {
        Ok(ringspin_executor::Delivery::Done)
    }
}

#[test]
fn activity_outside_the_digest_is_listed() {
    let graph = Graph::new();
    let shown = graph.create_node("shown", 0u8).unwrap();
    shown.digest_state().unwrap();
    let hidden = graph.create_node("hidden", 0u8).unwrap();
    let publish = |topic: &str| shown.create_publisher::<u8>(topic, QoS::default()).unwrap();
    let (_digested, _not) = (publish("seen").digested(), publish("unseen"));
    let _unheard = publish("unheard");
    for topic in ["seen", "unseen"] {
        let nothing = |_: &mut u8, _: &Message<u8>, _: &mut ringspin_executor::Context<'_>| {};
        hidden.create_subscription(topic, QoS::default(), nothing).unwrap();
    }
    hidden.create_callback_group("empty", ()).unwrap();
    graph.add_input("bag", Silent).unwrap();
    let serve = |_: &mut u8, request: &u8, _: &mut ringspin_executor::Context<'_>| *request;
    shown.create_service("add", QoS::default(), serve).unwrap();
    let _client = hidden.create_client::<u8, u8>("add", QoS::default()).unwrap();
    let uncontrolled = Uncontrolled::of(&graph.info());
    assert!(!uncontrolled.is_empty());
    let expected = Uncontrolled {
        publishers: vec!["/shown on /unheard".into(), "/shown on /unseen".into()],
        states: vec!["/hidden".into()],
        services: vec!["/add".into()],
        inputs: vec!["bag".into()],
        threads: vec![],
    };
    assert_eq!(uncontrolled, expected);
}

/// Parameters and lifecycles publish on topics of their node, which it may not listen to.
#[test]
fn topics_of_a_node_to_itself_are_not_listed_without_a_subscription() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let gain = node.declare_parameter("gain", 1.0).unwrap();
    assert_eq!(gain.get(), 1.0);
    assert_eq!(Uncontrolled::of(&graph.info()), Uncontrolled::default());
}

#[test]
fn a_run_that_was_not_quiet_says_so() {
    let job = Job::new(|graph| {
        let node = graph.create_node("node", 0u64)?;
        let out = node.create_publisher("numbers", QoS::default())?;
        node.create_timer(Duration::from_secs(1), move |n, cx| {
            (0..3).try_for_each(|k| out.publish(k))?;
            *n += 1;
            if *n == 2 {
                cx.exit(5);
            }
            Ok::<_, ringspin_executor::BoxError>(())
        })?;
        let slow = graph.create_node("slow", ())?;
        slow.create_subscription("numbers", QoS::keep_last(1), |_, _: &Message<i32>, _| {})?;
        Ok(())
    });
    let certificate = job.certificate(&job.run().unwrap());
    assert_eq!((certificate.exit_code, certificate.counts.overwritten), (Some(5), 4));
    assert_eq!(certificate.callbacks[1].dropped, 4);
    assert_eq!(certificate.end_ns, 2_000_000_000);
}
