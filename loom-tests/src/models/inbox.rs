//! Messages on the way to a worker that sleeps: queue, token, ready set, and the worker's pops,
//! looks and sleep.
//!
//! A publisher that is suspended for good has made the first steps and does not go on: a message of
//! another thread has to arrive all the same. One that does not leaves the worker asleep, which
//! loom reports as a deadlock.

use super::join;
use crate::inbox::{Announce, Announcer, Inbox};
use crate::model::Model;
use crate::worker::{Events, Port, Step, Worker, publisher, subscriptions, work};
use loom::thread::spawn;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

/// A subscription with a queue of `depth`, whose publishers each publish their messages while its
/// worker works and sleeps until it has taken all of `awaited`. One more publisher was suspended
/// before, after step `suspended` of its message 1.
struct Race<const N: usize> {
    depth: usize,
    suspended: Option<Step>,
    publishers: [&'static [u32]; N],
    awaited: &'static [u32],
}

impl<const N: usize> Race<N> {
    /// Returns the worker at the end, and the port.
    fn run(&self) -> (Worker, Vec<Port>) {
        let (ports, worker) = subscriptions(1, 1, self.depth);
        if let Some(step) = self.suspended {
            ports[0].publish_until(1, step);
        }
        let publishers =
            self.publishers.map(|messages| publisher(&ports, messages.iter().copied()));
        let awaited = self.awaited;
        let worker = spawn(move || awaited.iter().fold(worker, |w, n| w.run_until(*n)));
        drop(join(publishers));
        (worker.join().expect("loom reports a thread's panic itself"), ports)
    }

    /// Runs it, and drops what is left in order.
    fn taken(&self) -> Vec<u32> {
        let (mut worker, ports) = self.run();
        worker.drain();
        let taken = worker.taken()[0].clone();
        drop((worker, ports));
        taken
    }
}

#[test]
fn every_message_arrives() {
    let model = Model::new(1_000).preemptions(2).needs("inbox.second_look");
    model.needs("inbox.announced").needs("inbox.cleared").check(|| {
        let race = Race { depth: 2, suspended: None, publishers: [&[1, 2]], awaited: &[2] };
        assert_eq!(race.taken(), [1, 2]);
    });
}

const TWO_PUBLISHERS: Race<2> =
    Race { depth: 2, suspended: None, publishers: [&[1], &[2]], awaited: &[1, 2] };

#[test]
fn every_message_of_two_publishers_arrives() {
    Model::new(20).preemptions(0).check(|| assert_eq!(TWO_PUBLISHERS.taken().len(), 2));
}

#[test]
#[ignore = "slow: a preemption beside two publishers and a worker"]
fn slow_every_message_of_two_publishers_arrives() {
    Model::new(1_000).preemptions(1).check(|| assert_eq!(TWO_PUBLISHERS.taken().len(), 2));
}

#[test]
fn newest_message_arrives_in_a_queue_of_one() {
    Model::new(300).preemptions(2).check(|| {
        let race = Race { depth: 1, suspended: None, publishers: [&[1, 2]], awaited: &[2] };
        race.taken();
    });
}

#[test]
fn message_arrives_that_overwrites_one_without_a_token() {
    Model::new(50).preemptions(3).needs("inbox.attention").check(|| {
        let suspended = Some(Step::Queued);
        Race { depth: 1, suspended, publishers: [&[2]], awaited: &[2] }.taken();
    });
}

/// The token of the second message leads to the first one, and the second one arrives without.
#[test]
fn message_arrives_behind_one_without_a_token() {
    Model::new(30).preemptions(3).needs("inbox.look_again").check(|| {
        let suspended = Some(Step::Queued);
        let race = Race { depth: 2, suspended, publishers: [&[2]], awaited: &[2] };
        assert_eq!(race.taken(), [1, 2]);
    });
}

#[test]
fn message_arrives_that_overwrites_one_without_a_mark() {
    Model::new(50).preemptions(3).check(|| {
        let suspended = Some(Step::TokenPushed);
        Race { depth: 1, suspended, publishers: [&[2]], awaited: &[2] }.taken();
    });
}

/// The suspended publisher goes on: its late token, for which the ring may have no place, leads to
/// nothing or to the next message, and the messages after it arrive in order.
#[test]
fn late_token_disturbs_no_message() {
    Model::new(1_000).preemptions(1).check(|| {
        let (ports, worker) = subscriptions(1, 1, 1);
        ports[0].publish_until(1, Step::Queued);
        let late = spawn({
            let port = ports[0].clone();
            move || {
                port.announce();
                vec![port]
            }
        });
        let publisher = publisher(&ports, [2, 3]);
        let worker = spawn(move || worker.run_until(3));
        drop(join([late, publisher]));
        let mut worker = worker.join().unwrap();
        worker.drain();
        for message in 4..7 {
            ports[0].publish(message);
            worker.drain();
            assert_eq!(worker.taken()[0].last(), Some(&message));
        }
        let taken = &worker.taken()[0];
        assert!(taken.is_sorted_by(|a, b| a < b), "{taken:?}");
        drop((worker, ports));
    });
}

/// The number of pending events, by token.
struct Counted(Vec<AtomicUsize>);

impl Events for Arc<Counted> {
    fn pending(&self, token: u32) -> usize {
        self.0[token as usize].load(SeqCst)
    }

    fn handle(&mut self, token: u32) -> bool {
        let before = self.0[token as usize].fetch_sub(1, SeqCst);
        assert!(before > 0, "an event is dispatched twice");
        before > 1
    }
}

impl Counted {
    fn announce(&self, announcer: &Announcer) {
        self.0[announcer.token() as usize].fetch_add(1, SeqCst);
        announcer.announce();
    }
}

/// The worker, which does not know ring and token before their event comes, dispatches it.
#[test]
fn event_of_a_ring_that_is_not_adopted_arrives() {
    Model::new(40).preemptions(2).check(|| {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let events = Arc::new(Counted(vec![AtomicUsize::new(0)]));
        let creator = spawn({
            let events = events.clone();
            move || {
                let ring = registrar.add_ring(0, None);
                let announcer = registrar.add_token(ring, 1);
                events.announce(&announcer);
                announcer
            }
        });
        let worker = spawn(move || {
            let mut handled = Handled { events, count: 0 };
            work(&mut inbox, &mut handled, |handled| handled.count == 1);
            inbox
        });
        drop((creator.join().unwrap(), worker.join().unwrap()));
    });
}

/// The ring grows for a second token while events of the first one are announced and dispatched:
/// each arrives, and the worker may sleep in between.
#[test]
fn events_arrive_while_the_ring_grows_for_another_token() {
    Model::new(50).preemptions(1).check(|| {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let ring = registrar.add_ring(1, None);
        let first = registrar.add_token(ring, 1);
        inbox.adopt();
        let events = Arc::new(Counted(vec![AtomicUsize::new(0), AtomicUsize::new(0)]));
        let publisher = spawn({
            let events = events.clone();
            move || {
                events.announce(&first);
                first
            }
        });
        let creator = spawn({
            let events = events.clone();
            move || {
                let second = registrar.add_token(ring, 2);
                events.announce(&second);
                second
            }
        });
        let worker = spawn(move || {
            let mut handled = Handled { events, count: 0 };
            work(&mut inbox, &mut handled, |handled| handled.count == 2);
            inbox
        });
        let joined = (publisher.join().unwrap(), creator.join().unwrap());
        drop((joined, worker.join().unwrap()));
    });
}

/// Events, with the number of those that were handled.
struct Handled {
    events: Arc<Counted>,
    count: usize,
}

impl Events for Handled {
    fn pending(&self, token: u32) -> usize {
        self.events.pending(token)
    }

    fn handle(&mut self, token: u32) -> bool {
        self.count += 1;
        self.events.handle(token)
    }
}
