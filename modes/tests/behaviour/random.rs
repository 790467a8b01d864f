//! Random streams of nodes: the same numbers in every mode, independent of other nodes.

use crate::{in_every_mode, log};
use ringspin_executor::FailurePolicy;
use ringspin_executor::rand_core::Rng;
use ringspin_modes::Executor;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// The first `count` numbers of the stream `noise` of node `laser`, drawn by a timer while `others`
/// nodes draw as well; every third call fails, and the node is restarted.
fn drawn(executor: Executor, others: usize, count: usize) -> Vec<u64> {
    let mut executor = executor.with_failure_policy(FailurePolicy::IsolateNode);
    executor.graph().set_seed(42).unwrap();
    for n in 0..others {
        let other = executor.create_node(&format!("other_{n}"), 0u64).unwrap();
        let mut random = other.create_random("noise").unwrap();
        other.create_timer(MS, move |sum, _| *sum ^= random.next_u64()).unwrap();
    }
    let laser = executor.graph().create_restartable_node("laser", u32::MAX, || ()).unwrap();
    let numbers = log();
    let mut noise = laser.create_random("noise").unwrap();
    let drawn = numbers.clone();
    laser
        .create_timer(MS, move |(), cx| {
            let mut drawn = drawn.lock().unwrap();
            drawn.push(noise.next_u64());
            if drawn.len() == count {
                cx.stop();
            }
            if drawn.len() % 3 == 0 { Err("a fault that restarts the node") } else { Ok(()) }
        })
        .unwrap();
    executor.spin().unwrap();
    let numbers = numbers.lock().unwrap();
    numbers[..count].to_vec()
}

#[test]
fn a_stream_is_the_same_in_every_mode_beside_any_other_and_after_restarts() {
    let alone = drawn(Executor::deterministic(Default::default()), 0, 10);
    let mut different = alone.clone();
    different.dedup();
    assert_eq!(different.len(), 10, "a restart does not draw the same number again");
    in_every_mode(|executor| assert_eq!(drawn(executor, 3, 10), alone));
}
