//! The way of a message to a worker that sleeps, with publishers that are suspended on the way. A
//! message that is left behind leaves the worker asleep, which Shuttle reports as a deadlock.

use super::join;
use crate::explore::Model;
use crate::inbox::{Announce, Announcer, Inbox, push};
use crate::keep_last::{Consumer, Producer, Pushed, queue};
use crate::pool::Pool;
use crate::ready_set::ReadySet;
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::Arc;
use shuttle::thread::spawn;
use std::time::Duration;

/// One of several subscriptions of a worker.
#[derive(Clone)]
struct Port {
    pool: Pool<u32>,
    queue: Producer<u32>,
    ready: Announcer,
    set: Arc<ReadySet>,
}

struct Worker {
    queues: Vec<Consumer<u32>>,
    inbox: Inbox,
    taken: Vec<Vec<u32>>,
}

/// Where a publisher stopped.
enum Stopped {
    BeforeToken,
    Announced,
}

/// Subscriptions with queues of `depth`, two for each event loop, and room for what comes late.
fn worker(loops: usize, depth: usize) -> (Vec<Port>, Worker) {
    let mut inbox = Inbox::new(&vec![2 * depth; loops], 2 * loops);
    let mut ports = Vec::new();
    let mut queues = Vec::new();
    for token in 0..2 * loops {
        let pool = Pool::new();
        let (producer, consumer) = queue(&pool, depth);
        let ready = inbox.announcer(token / 2, token as u32);
        ports.push(Port { pool, queue: producer, ready, set: inbox.set().clone() });
        queues.push(consumer);
    }
    let taken = vec![Vec::new(); 2 * loops];
    (ports, Worker { queues, inbox, taken })
}

impl Port {
    fn publish(&self, message: u32) {
        drop(push(&self.queue, self.pool.insert(message), &self.ready));
    }

    /// Publishes up to a step that is drawn, and stops there.
    fn publish_in_part(&self, message: u32) -> Stopped {
        match self.queue.push(self.pool.insert(message)) {
            Pushed::Overwrote(_) => Stopped::Announced, // what it owes is a reminder, no token
            Pushed::Grew => match thread_rng().gen_range(0..3) {
                0 => Stopped::BeforeToken,
                1 => {
                    self.ready.push_unmarked();
                    Stopped::Announced
                }
                _ => {
                    self.ready.push_unmarked();
                    self.set.set_mark(0);
                    Stopped::Announced
                }
            },
        }
    }
}

impl Worker {
    fn dispatch(&mut self, index: usize) {
        let Self { queues, inbox, taken } = self;
        if let Some(turn) = inbox.next(index, |token| queues[token as usize].waiting()) {
            let token = turn.token() as usize;
            taken[token].extend(queues[token].take().map(|message| *message));
            if !queues[token].is_empty() {
                inbox.look_again(token as u32, |token| queues[token as usize].waiting());
            }
        }
        inbox.clear_if_idle(index);
    }

    /// Works and sleeps until each queue has brought `message`.
    fn run_until(mut self, message: u32) -> Self {
        self.inbox.set().register_sleeper();
        let mut start = 0;
        while !self.taken.iter().all(|taken| taken.contains(&message)) {
            match self.inbox.set().next(start) {
                Some(index) => {
                    self.dispatch(index);
                    start = index + 1;
                }
                None => self.inbox.set().sleep(Duration::MAX),
            }
        }
        self
    }

    fn drain(&mut self) {
        while let Some(index) = self.inbox.set().next(0) {
            self.dispatch(index);
        }
    }
}

/// Three publishers stop on the way, while the worker works and sleeps. Then another one publishes
/// to every queue, and its last message arrives; and when the others go on, so do the next ones.
fn others_stop(loops: usize, depth: usize, messages: u32) {
    let (ports, worker) = worker(loops, depth);
    let stopping = [0, 1, 2].map(|n| {
        let port = ports[n % ports.len()].clone();
        spawn(move || (port.publish_in_part(1_000 + n as u32), port))
    });
    let last = messages - 1;
    let worker = spawn(move || worker.run_until(last));
    let stopped = join(stopping);
    let publish = |ports: Vec<Port>, messages: std::ops::Range<u32>| {
        spawn(move || {
            for message in messages {
                ports.iter().for_each(|port| port.publish(message));
            }
        })
    };
    let publisher = publish(ports.clone(), 0..messages);
    join([publisher]);
    let worker = join([worker]).pop().unwrap();

    // A thread that stopped before its token goes on, while there is more to do.
    let late = stopped.into_iter().map(|(stopped, port)| {
        spawn(move || {
            if let Stopped::BeforeToken = stopped {
                port.ready.announce();
            }
        })
    });
    let late: Vec<_> = late.collect();
    let publisher = publish(ports.clone(), messages..messages + 3);
    let worker = spawn(move || worker.run_until(messages + 2));
    join(late);
    join([publisher]);
    let mut worker = join([worker]).pop().unwrap();
    worker.drain();
    for taken in &worker.taken {
        let own = taken.iter().filter(|message| **message < 1_000);
        assert!(own.is_sorted_by(|a, b| a < b), "{taken:?}");
    }
}

#[test]
fn a_message_arrives_whatever_others_stopped_in() {
    let model = Model::new(4_000).kills("inbox.attention").kills("inbox.second_look");
    model.check(|| others_stop(1, 1, 3));
}

#[test]
fn a_message_arrives_behind_those_that_others_left() {
    let model = Model::new(4_000).kills("inbox.look_again").kills("inbox.second_look");
    model.check(|| others_stop(1, 3, 2));
}

#[test]
fn a_message_arrives_among_several_loops() {
    Model::new(2_000).kills("inbox.second_look").check(|| others_stop(2, 2, 3));
}
