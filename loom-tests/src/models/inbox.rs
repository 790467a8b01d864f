//! The way of an event from its publisher to a worker that sleeps, from the sources that the
//! executor uses: queue, token, ready set, and the worker's pops, looks and sleep.
//!
//! A thread that is suspended for good has made the first steps and does not go on: a message of
//! another thread has to arrive all the same. One that does not leaves the worker asleep, which
//! loom reports as a deadlock.

use super::join;
use crate::counter::Notice;
use crate::inbox::{Announce, Announcer, Inbox, notify, push};
use crate::keep_last::{Consumer, Producer, Pushed, queue};
use crate::model::Model;
use crate::pool::Pool;
use loom::thread::spawn;
use std::time::Duration;

/// A subscription, whose ready ring has exactly the places that its queue needs.
#[derive(Clone)]
struct Port {
    pool: Pool<u32>,
    queue: Producer<u32>,
    ready: Announcer,
}

/// Its worker.
struct Worker {
    queue: Consumer<u32>,
    inbox: Inbox,
    taken: Vec<u32>,
}

fn subscription(depth: usize) -> (Port, Worker) {
    let pool = Pool::new();
    pool.reserve(depth + 2);
    let (producer, consumer) = queue(&pool, depth);
    let mut inbox = Inbox::new(&[depth], 1);
    let ready = inbox.announcer(0, 0);
    (Port { pool, queue: producer, ready }, Worker { queue: consumer, inbox, taken: Vec::new() })
}

impl Port {
    fn publish(&self, message: u32) {
        drop(push(&self.queue, self.pool.insert(message), &self.ready));
    }

    /// The first step of [`publish`](Self::publish).
    fn queue_only(&self, message: u32) {
        assert!(matches!(self.queue.push(self.pool.insert(message)), Pushed::Grew));
    }
}

impl Worker {
    /// As `executor/src/worker.rs` does: one event of the ring, if there is one.
    fn dispatch(&mut self) {
        let Self { queue, inbox, taken } = self;
        if inbox.next(0, |_| queue.waiting()).is_some() {
            taken.extend(queue.take().map(|message| *message));
            if !queue.is_empty() {
                inbox.look_again(0, |_| queue.waiting());
            }
        }
        inbox.clear_if_idle(0);
    }

    /// Works and sleeps until it has taken `message`.
    fn run_until(mut self, message: u32) -> Self {
        self.inbox.set().register_sleeper();
        while !self.taken.contains(&message) {
            match self.inbox.set().next(0) {
                Some(_) => self.dispatch(),
                None => self.inbox.set().sleep(Duration::MAX),
            }
        }
        self
    }

    /// Works until it would sleep.
    fn drain(&mut self) -> &[u32] {
        while self.inbox.set().next(0).is_some() {
            self.dispatch();
        }
        &self.taken
    }
}

/// A publisher, and a worker that goes to sleep between its messages: both arrive.
#[test]
fn every_message_arrives() {
    Model::new(1_000).preemptions(2).needs("inbox.second_look").check(|| {
        let (port, worker) = subscription(2);
        let publisher = spawn({
            let port = port.clone();
            move || {
                port.publish(1);
                port.publish(2);
                port
            }
        });
        let worker = spawn(move || worker.run_until(2));
        let (port_of, worker) = (publisher.join().unwrap(), worker.join().unwrap());
        assert_eq!(worker.taken, [1, 2]);
        drop((port_of, worker, port));
    });
}

/// Two publishers at once.
#[test]
fn every_message_of_two_publishers_arrives() {
    Model::new(1_000).preemptions(1).check(|| {
        let (port, worker) = subscription(2);
        let publishers = [1, 2].map(|message| {
            let port = port.clone();
            spawn(move || {
                port.publish(message);
                port
            })
        });
        let worker = spawn(move || worker.run_until(1).run_until(2));
        drop(join(publishers));
        let mut worker = worker.join().unwrap();
        assert_eq!(worker.drain().len(), 2);
        drop((port, worker));
    });
}

/// One publishes again and again: of messages in a queue of one, the last one arrives.
#[test]
fn the_newest_message_arrives() {
    Model::new(300).preemptions(2).check(|| {
        let (port, worker) = subscription(1);
        let publisher = spawn({
            let port = port.clone();
            move || {
                (1..=2).for_each(|message| port.publish(message));
                port
            }
        });
        let worker = spawn(move || worker.run_until(2));
        drop((publisher.join().unwrap(), worker.join().unwrap(), port));
    });
}

/// A publisher is suspended before its token, in a queue of one: the message that overwrites its
/// own arrives.
#[test]
fn a_message_that_overwrites_one_without_a_token_arrives() {
    Model::new(50).preemptions(3).needs("inbox.attention").check(|| {
        let (port, worker) = subscription(1);
        port.queue_only(1);
        let publisher = spawn({
            let port = port.clone();
            move || {
                port.publish(2);
                port
            }
        });
        let worker = spawn(move || worker.run_until(2));
        drop((publisher.join().unwrap(), worker.join().unwrap(), port));
    });
}

/// The same in a deeper queue: its token leads to the message before, and it arrives without one.
#[test]
fn a_message_behind_one_without_a_token_arrives() {
    Model::new(30).preemptions(3).needs("inbox.look_again").check(|| {
        let (port, worker) = subscription(2);
        port.queue_only(1);
        let publisher = spawn({
            let port = port.clone();
            move || {
                port.publish(2);
                port
            }
        });
        let worker = spawn(move || worker.run_until(2));
        let (port_of, worker) = (publisher.join().unwrap(), worker.join().unwrap());
        assert_eq!(worker.taken, [1, 2]);
        drop((port_of, worker, port));
    });
}

/// A publisher is suspended between its token and its mark.
#[test]
fn a_message_that_overwrites_one_without_a_mark_arrives() {
    Model::new(50).preemptions(3).check(|| {
        let (port, worker) = subscription(1);
        port.queue_only(1);
        port.ready.push_unmarked();
        let publisher = spawn({
            let port = port.clone();
            move || {
                port.publish(2);
                port
            }
        });
        let worker = spawn(move || worker.run_until(2));
        drop((publisher.join().unwrap(), worker.join().unwrap(), port));
    });
}

/// The suspended publisher goes on: its late token, for which the ring may have no place, leads to
/// nothing or to the next message, and afterwards all goes on as before.
#[test]
fn a_late_token_does_no_harm() {
    Model::new(1_000).preemptions(1).check(|| {
        let (port, worker) = subscription(1);
        port.queue_only(1);
        let late = spawn({
            let port = port.clone();
            move || {
                port.ready.announce();
                port
            }
        });
        let publisher = spawn({
            let port = port.clone();
            move || {
                port.publish(2);
                port.publish(3);
                port
            }
        });
        let worker = spawn(move || worker.run_until(3));
        drop((late.join().unwrap(), publisher.join().unwrap()));
        let mut worker = worker.join().unwrap();
        worker.drain();
        for message in 4..7 {
            port.publish(message);
            assert_eq!(worker.drain().last(), Some(&message));
        }
        assert!(worker.taken.is_sorted_by(|a, b| a < b), "{:?}", worker.taken);
        drop((worker, port));
    });
}

/// A thread is suspended between giving a notice and its token: who gives it, too, is heard.
#[test]
fn a_notice_that_another_thread_gave_without_a_token_is_taken() {
    Model::new(20).preemptions(3).needs("inbox.attention").check(|| {
        let mut inbox = Inbox::new(&[1], 1);
        let ready = inbox.announcer(0, 0);
        let notice = loom::sync::Arc::new(Notice::given());
        let given = notice.clone();
        let giver = spawn(move || {
            notify(&given, || Some(&ready));
            ready
        });
        let worker = spawn(move || {
            inbox.set().register_sleeper();
            let pending = || usize::from(notice.is_given());
            let mut is_taken = false;
            while !is_taken {
                if inbox.set().next(0).is_none() {
                    inbox.set().sleep(Duration::MAX);
                    continue;
                }
                is_taken = inbox.next(0, |_| pending()).is_some() && notice.take();
                inbox.clear_if_idle(0);
            }
            inbox
        });
        drop((giver.join().unwrap(), worker.join().unwrap()));
    });
}
