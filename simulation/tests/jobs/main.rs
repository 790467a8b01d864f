//! Jobs from files: what each key does, what is wrong with others, and the command line.

mod certificate;
mod environment;
mod errors;
mod keys;

use ringspin_executor::{Message, QoS};
use ringspin_simulation::{JobFile, Registry, Report};
use std::time::Duration;

/// Node types: a talker, a listener that can fail, end the run or never return, and an idle node.
fn registry() -> Registry {
    Registry::new()
        .node("talker", |graph, place| {
            let talker = place.create_node(graph, 0u64)?;
            talker.digest_state()?;
            let period = talker.declare_parameter("period_ms", 100i64)?.get();
            let out = talker.create_publisher("chatter", QoS::default())?.digested();
            talker.create_timer(
                Duration::from_millis(period.unsigned_abs()),
                move |count, _| {
                    *count += 1;
                    out.publish(*count)
                },
            )?;
            Ok(())
        })
        .node("listener", |graph, place| {
            let listener = place.create_node(graph, ())?;
            let parameter = |name| listener.declare_parameter(name, 0i64);
            let fail_at = parameter("fail_at")?.get().unsigned_abs();
            let exit_at = parameter("exit_at")?.get().unsigned_abs();
            let stuck_at = parameter("stuck_at")?.get().unsigned_abs();
            let hear =
                move |_: &mut (), n: &Message<u64>, cx: &mut ringspin_executor::Context<'_>| {
                    if **n == exit_at {
                        cx.exit(7);
                    }
                    if **n == stuck_at {
                        loop {
                            std::thread::park();
                        }
                    }
                    assert_ne!(**n, fail_at, "that is one too many");
                };
            listener.create_subscription("chatter", QoS::default(), hear)?;
            Ok(())
        })
        .node("idle", |graph, place| {
            place.create_node(graph, ())?;
            Ok(())
        })
}

const PAIR: &str = "
[[node]]
type = \"talker\"
[[node]]
type = \"listener\"
";

fn file(text: &str) -> JobFile {
    JobFile::from_toml(text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(text: &str) -> Report {
    file(text).job(&registry()).unwrap().run().unwrap_or_else(|error| panic!("{error}"))
}
