//! A worker that dispatches events and sleeps, by the calls of its inbox that
//! `executor/src/running/worker.rs` makes, and the subscriptions that most models give it.

use crate::inbox::{Announce, Announcer, Inbox, push};
use crate::keep_last::{Consumer, Producer, Pushed, queue};
use crate::pool::Pool;
use crate::ready_set::ReadySet;
use crate::sync::Arc;
use loom::thread::{JoinHandle, spawn};
use std::time::Duration;

/// The events of a worker.
pub(crate) trait Events {
    /// The number of pending events of `token`, at least: one, if any is.
    fn pending(&self, token: u32) -> usize;

    /// Handles the next event of `token`, if there is one. Returns whether another may be pending.
    fn handle(&mut self, token: u32) -> bool;
}

/// An inbox with so many `rings`, each of which has exactly the places that `each` tokens need, of
/// each of which up to `events` may be pending; and the announcers of the tokens.
pub(crate) fn inbox(rings: usize, each: usize, events: usize) -> (Inbox, Vec<Announcer>) {
    let mut inbox = Inbox::with_room(rings, rings * each);
    let registrar = inbox.registrar();
    let announcer = |n: usize| {
        if n.is_multiple_of(each) {
            registrar.add_ring(each * events, None);
        }
        registrar.add_token((n / each) as u32, events)
    };
    let announcers = (0..rings * each).map(announcer).collect();
    inbox.adopt();
    (inbox, announcers)
}

/// Dispatches one event of ring `index`, if there is one.
fn dispatch(inbox: &mut Inbox, index: usize, events: &mut impl Events) {
    if let Some(turn) = inbox.next(index, |token| events.pending(token)) {
        let token = turn.token();
        if events.handle(token) && !inbox.is_noted(token) {
            inbox.look_again(token, |token| events.pending(token));
        }
    }
    inbox.rest(index);
}

/// Works and sleeps until `events` are as `is_done` says. An event that is lost leaves the worker
/// asleep, which the checker reports as a deadlock.
pub(crate) fn work<E: Events>(inbox: &mut Inbox, events: &mut E, is_done: impl Fn(&E) -> bool) {
    inbox.set().register_sleeper();
    let mut start = 0;
    while !is_done(events) {
        if inbox.is_at_rest() {
            inbox.sleep(Duration::MAX);
        } else if let Some(index) = inbox.set().next(start) {
            dispatch(inbox, index, events);
            start = index + 1;
        }
    }
}

/// A publisher's end of a subscription.
#[derive(Clone)]
pub(crate) struct Port {
    pool: Pool<u32>,
    queue: Producer<u32>,
    ready: Announcer,
    set: Arc<ReadySet>,
}

/// The step after which a publisher is suspended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Queued,
    TokenPushed,
    MarkSet,
}

impl Port {
    pub(crate) fn publish(&self, message: u32) {
        drop(push(&self.queue, self.pool.insert(message), &self.ready));
    }

    /// Publishes up to `step`. True if the token of the message is left out.
    pub(crate) fn publish_until(&self, message: u32, step: Step) -> bool {
        if let Pushed::Overwrote(_) = self.queue.push(self.pool.insert(message)) {
            return false; // the next step is a reminder, and no token
        }
        if step != Step::Queued {
            self.ready.push_unmarked();
        }
        if step == Step::MarkSet {
            self.set.set_mark(0);
        }
        step == Step::Queued
    }

    /// Goes on after [`Step::Queued`].
    pub(crate) fn announce(&self) {
        self.ready.announce();
    }
}

/// Spawns a publisher of `messages`, each to all of `ports`, which it returns.
pub(crate) fn publisher(
    ports: &[Port],
    messages: impl IntoIterator<Item = u32> + Send + 'static,
) -> JoinHandle<Vec<Port>> {
    let ports = ports.to_vec();
    spawn(move || {
        for message in messages {
            ports.iter().for_each(|port| port.publish(message));
        }
        ports
    })
}

/// The worker of some subscriptions.
pub(crate) struct Worker {
    inbox: Inbox,
    queues: Queues,
}

struct Queues {
    queues: Vec<Consumer<u32>>,
    /// By token.
    taken: Vec<Vec<u32>>,
}

impl Events for Queues {
    fn pending(&self, token: u32) -> usize {
        self.queues[token as usize].waiting()
    }

    fn handle(&mut self, token: u32) -> bool {
        let queue = &mut self.queues[token as usize];
        self.taken[token as usize].extend(queue.take().map(|message| *message));
        !queue.is_empty()
    }
}

/// Subscriptions with queues of `depth`, `each` for every one of `loops`. The ready rings have
/// exactly the places that the queues need.
pub(crate) fn subscriptions(loops: usize, each: usize, depth: usize) -> (Vec<Port>, Worker) {
    let (inbox, announcers) = inbox(loops, each, depth);
    let subscription = |ready: Announcer| {
        let pool = Pool::new();
        pool.reserve(depth + 2);
        let (producer, consumer) = queue(&pool, depth);
        let set = inbox.set().clone();
        (Port { pool, queue: producer, ready, set }, consumer)
    };
    let (ports, queues) = announcers.into_iter().map(subscription).unzip();
    let taken = vec![Vec::new(); each * loops];
    (ports, Worker { inbox, queues: Queues { queues, taken } })
}

impl Worker {
    /// Works and sleeps until each subscription has brought `message`.
    pub(crate) fn run_until(mut self, message: u32) -> Self {
        let is_done = |queues: &Queues| queues.taken.iter().all(|taken| taken.contains(&message));
        work(&mut self.inbox, &mut self.queues, is_done);
        self
    }

    /// Works until it would sleep.
    pub(crate) fn drain(&mut self) {
        while !self.inbox.is_at_rest() {
            if let Some(index) = self.inbox.set().next(0) {
                dispatch(&mut self.inbox, index, &mut self.queues);
            }
        }
    }

    /// The messages that were taken, by token.
    pub(crate) fn taken(&self) -> &[Vec<u32>] {
        &self.queues.taken
    }
}
