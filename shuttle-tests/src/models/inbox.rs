//! Messages on the way to a worker that sleeps, with publishers that are suspended on the way. A
//! message that is left behind leaves the worker asleep, which Shuttle reports as a deadlock.

use super::join;
use crate::explore::Model;
use crate::shared::worker::{Port, Step, publisher, subscriptions};
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread::spawn;

/// Publishes to `port` up to a step that is drawn. True if the token of the message is left out.
fn publish_in_part(port: &Port, message: u32) -> bool {
    let steps = [Step::Queued, Step::TokenPushed, Step::MarkSet];
    port.publish_until(message, steps[thread_rng().gen_range(0..3)])
}

/// Three publishers are suspended while the worker works and sleeps. Then another one publishes
/// `messages` to every queue, and its last message arrives. When the suspended ones go on, the next
/// messages arrive, too.
fn suspend_three(loops: usize, depth: usize, messages: u32) {
    let (ports, worker) = subscriptions(loops, 2, depth);
    let suspended = [0, 1, 2].map(|n| {
        let port = ports[n % ports.len()].clone();
        spawn(move || (publish_in_part(&port, 1_000 + n as u32), port))
    });
    let worker = spawn(move || worker.run_until(messages - 1));
    let suspended = join(suspended);
    join([publisher(&ports, 0..messages)]);
    let worker = join([worker]).pop().unwrap();

    let owes_token = suspended.into_iter().filter(|(owes_token, _)| *owes_token);
    let late: Vec<_> = owes_token.map(|(_, port)| spawn(move || port.announce())).collect();
    let publisher = publisher(&ports, messages..messages + 3);
    let worker = spawn(move || worker.run_until(messages + 2));
    join(late);
    join([publisher]);
    let mut worker = join([worker]).pop().unwrap();
    worker.drain();
    for taken in worker.taken() {
        let own = taken.iter().filter(|message| **message < 1_000);
        assert!(own.is_sorted_by(|a, b| a < b), "{taken:?}");
    }
}

#[test]
fn message_arrives_while_other_publishers_are_suspended() {
    let model = Model::new(4_000).kills("inbox.attention").kills("inbox.second_look");
    model.check(|| suspend_three(1, 1, 3));
}

#[test]
fn message_arrives_behind_messages_without_tokens() {
    let model = Model::new(4_000).kills("inbox.look_again").kills("inbox.second_look");
    model.check(|| suspend_three(1, 3, 2));
}

#[test]
fn message_arrives_in_each_of_several_loops() {
    Model::new(2_000).kills("inbox.second_look").check(|| suspend_three(2, 2, 3));
}
