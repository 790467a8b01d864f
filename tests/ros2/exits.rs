//! Exits of processes that were busy until then, while their peers come and go.

use crate::peer::DOMAIN;
use crate::{LONG, Spinning, domain, executor};
use ringspin::lifecycle::Transition;
use ringspin::messages::std_msgs::msg::Int64;
use ringspin::messages::std_srvs::srv::SetBool::{Request, Response};
use ringspin::ros2::Traffic;
use ringspin::{Context, Graph, Message, QoS};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::{env, fs, thread};

/// Has a child process leave; it has the number of the child.
const LEAVE: &str = "RINGSPIN_TEST_LEAVE";
/// The number of exits, if not 2,000.
const EXITS: &str = "RINGSPIN_TEST_EXITS";

/// The processes that run at once: each is a peer of the others.
const AT_ONCE: usize = 4;

/// A managed node with endpoints comes, is configured, and goes.
fn come_and_go(graph: &Graph) {
    let (tell, told) = channel();
    let node = graph.create_node("guest", tell).unwrap();
    let lifecycle = node.lifecycle().on_configure(|tell, _| tell.send(()).unwrap());
    let lifecycle = lifecycle.create().unwrap();
    let out = node.create_publisher::<Int64>("numbers", QoS::default()).unwrap();
    let ignore = |_: &mut _, _: &Message<Int64>, _: &mut Context<'_>| {};
    node.create_subscription("numbers", QoS::default(), ignore).unwrap();
    let answer = |_: &mut _, _: &Request, _: &mut Context<'_>| Response::default();
    node.create_service("~/set", QoS::services(), answer).unwrap();
    let _client = node.create_client::<Request, Response>("set", QoS::services()).unwrap();
    lifecycle.request(Transition::Configure).unwrap();
    told.recv_timeout(LONG).expect("it is configured");
    (0..10).for_each(|data| out.publish(Int64 { data }).unwrap());
    node.destroy();
}

/// The role of a child.
#[test]
fn leave() {
    let Ok(number) = env::var(LEAVE) else { return };
    let number: usize = number.parse().unwrap();
    let executor = executor(Traffic::Direct);
    let graph = executor.graph().clone();
    let spinning = Spinning::start(executor);
    // They end at different times after the start of another one.
    (0..number % 7).for_each(|_| come_and_go(&graph));
    let executor = spinning.stop();
    assert_eq!(executor.failures(), []);
}

#[test]
#[ignore = "slow: two thousand processes; scripts/test-ros2 slow runs it"]
fn slow_no_exit_fails_while_peers_come_and_go() {
    let exits = env::var(EXITS).map_or(2_000, |exits| exits.parse().unwrap());
    // For cores, where `ulimit -c` and `kernel.core_pattern` have them written.
    let folder = env::temp_dir().join(format!("ringspin-exits-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let leave_in_turn = || {
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= exits {
                return;
            }
            let mut child = Command::new(env::current_exe().unwrap());
            child.args(["--exact", "exits::leave"]).current_dir(&folder).stdout(Stdio::null());
            child.env(LEAVE, number.to_string()).env(DOMAIN, domain().to_string());
            let status = child.status().unwrap();
            if !status.success() {
                println!("exit {number}: {status}");
                failed.fetch_add(1, Relaxed);
            }
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| _ = scope.spawn(leave_in_turn)));
    let failed = failed.into_inner();
    assert_eq!(failed, 0, "of {exits} exits; cores are in {}", folder.display());
    fs::remove_dir_all(folder).unwrap();
}
