//! The node types of the tests of job files, here and in `cli`.

use ringspin_executor::{Message, QoS};
use ringspin_simulation::Registry;
use std::time::Duration;

/// Node types: a talker, a listener that can fail, end the run or never return, and an idle node.
pub(crate) fn registry() -> Registry {
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

pub(crate) const PAIR: &str = "
[[node]]
type = \"talker\"
[[node]]
type = \"listener\"
";
