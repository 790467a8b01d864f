//! Tokens that are shared by messages of this process and of others.

use super::*;
use crate::base::directory::Directory;
use crate::base::escape::BoxError;
use crate::base::event::SourceId;
use crate::delivery::remote::{RemoteNotifier, RemoteSubscription};
use proptest::prelude::*;
use ringspin_ringbuf::Inbox;
use std::any::Any;
use std::collections::VecDeque;

/// The messages that a middleware holds: the newest few, or all.
#[derive(Clone, Default)]
struct Outside(Arc<Mutex<VecDeque<u32>>>);

impl RemoteSubscription for Outside {
    fn take(&mut self, into: &mut dyn Any) -> Result<bool, BoxError> {
        let taken = lock(&self.0).pop_front();
        *into.downcast_mut().expect("the type that was subscribed to") = taken;
        Ok(taken.is_some())
    }
}

/// A subscription with both sources, and a ready ring with the places that it needs.
struct Both {
    topic: Arc<Topic<u32>>,
    receiver: SubscriptionReceiver<u32>,
    outside: Outside,
    remote_notifier: RemoteNotifier,
    inbox: Inbox,
    counters: Arc<CallbackCounters>,
    depth: usize,
}

/// Messages from outside are above.
const OUTSIDE: u32 = 1_000;

impl Both {
    /// Started, with one more place in the ready ring than its queue has: a power of two, so that
    /// not one too many is there.
    fn new(depth: usize) -> Self {
        assert!((depth + 1).is_power_of_two());
        let topic = Arc::new(Topic::new(
            "topic".into(),
            Arc::default(),
            ChangedTopics::default(),
            &Arc::default(),
            None,
        ));
        let (outside, remote_notifier) = (Outside::default(), RemoteNotifier::default());
        let subscription = Box::new(outside.clone());
        let remote = Remote::messages("topic", SourceId(7), subscription, remote_notifier.clone());
        let notifier = remote.notifier().clone();
        let counters = Arc::<CallbackCounters>::default();
        let qos = QoS::keep_last(depth);
        let receiver =
            topic.subscribe((CallbackId(0), qos), 0, counters.clone(), Some(remote), None);
        let mut inbox = Inbox::with_room(1, 1);
        inbox.registrar().add_ring(depth + 1, None);
        let ready = Ready::alone(inbox.registrar().add_token(0, depth));
        inbox.adopt();
        topic.connect(Connections {
            ready: &|_| ready.clone(),
            sim_network: None,
            directory: &Directory::default(),
            clock: &NodeClock::default(),
            stamps: None,
        });
        notifier.connect(ready);
        notifier.start();
        Self { topic, receiver, outside, remote_notifier, inbox, counters, depth }
    }

    fn publish(&self, n: u32) {
        let envelope = Envelope::lasting(EventId::default(), n);
        let ports = self.topic.ports.load();
        let (last, others) = ports.split_last().unwrap();
        deliver(self.topic.pool.insert(envelope), last, others);
    }

    /// Delivers `n` from outside, where the newest `depth` are kept.
    fn bring(&self, n: u32) {
        let mut outside = lock(&self.outside.0);
        if outside.len() == self.depth {
            outside.pop_front();
        }
        outside.push_back(n);
        drop(outside);
        self.remote_notifier.announce(1);
    }

    /// Dispatches the next token and returns the result; `None` if there is none.
    fn dispatch(&mut self) -> Option<Option<u32>> {
        self.inbox.pop(0)?;
        Some(self.receiver.take().map(|message| *message))
    }

    fn drain(&mut self) -> Vec<u32> {
        let mut taken = Vec::new();
        while let Some(message) = self.dispatch() {
            taken.extend(message);
        }
        taken
    }
}

#[test]
fn both_sources_are_taken_in_turns() {
    let mut both = Both::new(7);
    (0..7).for_each(|n| both.publish(n));
    (0..7).for_each(|n| both.bring(OUTSIDE + n));
    let turns: Vec<u32> = (0..7).flat_map(|n| [n, OUTSIDE + n]).collect();
    assert_eq!(both.drain(), turns);
}

#[test]
fn single_source_does_not_wait_and_a_new_source_is_next() {
    let mut both = Both::new(7);
    assert_eq!(both.drain(), [], "the first notice is about nothing");
    (0..4).for_each(|n| both.bring(OUTSIDE + n));
    assert_eq!([both.dispatch(), both.dispatch()], [0, 1].map(|n| Some(Some(OUTSIDE + n))));
    both.publish(0);
    assert_eq!(both.dispatch(), Some(Some(0)), "after one from outside it is the turn of this one");
    both.publish(1);
    assert_eq!(both.drain(), [OUTSIDE + 2, 1, OUTSIDE + 3]);
    (2..5).for_each(|n| both.publish(n));
    assert_eq!([both.dispatch(), both.dispatch()], [2, 3].map(|n| Some(Some(n))));
    both.bring(OUTSIDE + 4);
    assert_eq!(both.drain(), [OUTSIDE + 4, 4]);
    assert_eq!(both.dispatch(), None, "no token is left");
}

proptest! {
    /// For all orders of arrival: no message is left without a token, none comes twice, each source
    /// keeps its order, missing messages are counted, and the ready ring never overflows (a token
    /// would be missing).
    #[test]
    fn nothing_is_left_and_nothing_comes_twice(steps in prop::collection::vec(0u8..3, 0..200)) {
        let mut both = Both::new(3);
        let (mut inner, mut outer) = (0, OUTSIDE);
        let mut taken = Vec::new();
        for step in steps {
            match step {
                0 => {
                    both.publish(inner);
                    inner += 1;
                }
                1 => {
                    both.bring(outer);
                    outer += 1;
                }
                _ => taken.extend(both.dispatch().flatten()),
            }
        }
        taken.extend(both.drain());
        prop_assert!(lock(&both.outside.0).is_empty());
        let (inside, outside): (Vec<u32>, Vec<u32>) = taken.iter().partition(|n| **n < OUTSIDE);
        for (of, sent) in [(inside, 0..inner), (outside, OUTSIDE..outer)] {
            prop_assert!(of.is_sorted_by(|a, b| a < b), "{of:?}");
            prop_assert_eq!(of.last().copied(), sent.last());
        }
        let sent = u64::from(inner + outer - OUTSIDE);
        prop_assert_eq!(taken.len() as u64 + both.counters.overwritten.get(), sent);
    }
}
