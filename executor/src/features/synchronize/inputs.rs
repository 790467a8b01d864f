//! The inputs of a synchronized subscription, and the queues behind them.
//!
//! Publishers write the queue of the subscription; the event loop takes one message from there for
//! each event, appends it to the kept ones, and lends these to the callback. Only the loop touches
//! the kept messages, so they need no lock. There are two queues for each input because two rules
//! apply: the QoS decides about messages that wait for their event, and the policy about messages
//! that wait for a set. The pool of the topic has slots for both, so keeping allocates nothing.
//! [`AnyQueue`] erases the type, so that combinations of types share the code that does not need
//! it.

use super::matcher::{Positions, Removal};
use crate::base::error::Result;
use crate::base::event::EventId;
use crate::base::qos::QoS;
use crate::base::time::Time;
use crate::delivery::context::Context;
use crate::delivery::control::CallbackCounters;
use crate::delivery::message::Message;
use crate::delivery::topic::{Remains, SubscriptionReceiver};
use crate::features::endpoints::{Connector, MessageSource};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;

/// The role of an input in a [`Latest`](crate::Latest) subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Waited for, and used up by a call.
    Required,
    /// Not waited for, and used up by a call.
    Optional,
    /// Waited for until there is one, and kept.
    Cached,
}

/// The role of an input as a type, because it decides the argument of the callback: [`Required`],
/// [`Optional`] or [`Cached`].
pub trait Kind: Send + Sync + 'static {
    /// The callback's argument: a message, or an `Option` of one.
    type Item<'a, M: 'static>;
    #[doc(hidden)]
    const ROLE: Role;
    #[doc(hidden)]
    fn item<M: 'static>(message: Option<&Message<M>>) -> Self::Item<'_, M>;
}

/// The kind of an input that every call gets a message of; see [`Input::new`].
#[derive(Clone, Copy, Debug)]
pub struct Required;

/// The kind of an input that is not waited for; see [`Input::optional`].
#[derive(Clone, Copy, Debug)]
pub struct Optional;

/// The kind of an input that keeps its message; see [`Input::cached`].
#[derive(Clone, Copy, Debug)]
pub struct Cached;

impl Kind for Required {
    type Item<'a, M: 'static> = &'a Message<M>;
    const ROLE: Role = Role::Required;

    fn item<M: 'static>(message: Option<&Message<M>>) -> Self::Item<'_, M> {
        message.expect("a set has a message of each input that is not optional")
    }
}

impl Kind for Optional {
    type Item<'a, M: 'static> = Option<&'a Message<M>>;
    const ROLE: Role = Role::Optional;

    fn item<M: 'static>(message: Option<&Message<M>>) -> Self::Item<'_, M> {
        message
    }
}

impl Kind for Cached {
    type Item<'a, M: 'static> = &'a Message<M>;
    const ROLE: Role = Role::Cached;

    fn item<M: 'static>(message: Option<&Message<M>>) -> Self::Item<'_, M> {
        message.expect("a set has a message of each input that is not optional")
    }
}

/// One input of a synchronized subscription: messages of type `M` on a topic.
#[derive(Debug)]
pub struct Input<M, K = Required> {
    pub(crate) topic: String,
    pub(crate) qos: QoS,
    of: PhantomData<fn(M) -> K>,
}

impl<M> Input<M> {
    /// The messages of `topic`. The quality of service concerns the way up to the synchronizer,
    /// which has its own queue behind that.
    pub fn new(topic: &str, qos: QoS) -> Self {
        Self { topic: topic.into(), qos, of: PhantomData }
    }

    /// Does not wait for this input: the callback gets an `Option`. For [`Latest`](crate::Latest).
    #[must_use]
    pub fn optional(self) -> Input<M, Optional> {
        Input { topic: self.topic, qos: self.qos, of: PhantomData }
    }

    /// Keeps this input's latest message, to be handed over again and again, and does not call for
    /// it. For [`Latest`](crate::Latest).
    #[must_use]
    pub fn cached(self) -> Input<M, Cached> {
        Input { topic: self.topic, qos: self.qos, of: PhantomData }
    }
}

/// An input's messages: those that wait for the callback, and those that wait for a set.
pub struct Queue<M> {
    receiver: SubscriptionReceiver<M>,
    kept: VecDeque<Message<M>>,
    counters: Arc<CallbackCounters>,
}

impl<M: Send + Sync + 'static> Queue<M> {
    /// Subscribes the next input, of which `capacity` messages are kept.
    fn new(
        connector: &mut Connector<'_>,
        source: MessageSource<M>,
        qos: QoS,
        capacity: usize,
    ) -> Self {
        let (id, counters) = connector.add("synchronized subscription", &source, qos);
        let (topic, remote) = source;
        let receiver = topic.subscribe((id, qos), capacity, counters.clone(), remote, None);
        // One more, for a moment: it is kept before another one is given up.
        Self { receiver, kept: VecDeque::with_capacity(capacity + 1), counters }
    }
}

/// A queue with its message type erased.
pub trait AnyQueue: Send {
    /// Takes the next message from the topic, begins its dispatch and keeps it; false if there was
    /// none.
    fn take(&mut self, cx: &mut Context<'_>) -> bool;
    /// Takes the next message from the topic and drops it; its identity, if there was one.
    fn discard(&mut self) -> Option<EventId>;
    fn clear(&mut self);
    /// Ends the middleware's part of an input that was destroyed.
    fn disconnect(&mut self);
    /// Drops the messages that wait in the topic, and returns their number.
    fn drain(&mut self) -> u64;
    fn remove(&mut self, position: usize, removal: Removal);
    /// Counts a message with an irregular stamp; true for the first one.
    fn count_irregular(&mut self) -> bool;
}

impl<M: Send + Sync + 'static> AnyQueue for Queue<M> {
    #[inline]
    fn take(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(message) = self.receiver.take_next_to_keep(cx) else { return false };
        cx.begin_with(&message);
        self.kept.push_back(message);
        true
    }

    fn discard(&mut self) -> Option<EventId> {
        self.receiver.take_unheld().map(|message| message.id())
    }

    fn clear(&mut self) {
        self.kept.clear();
    }

    fn disconnect(&mut self) {
        self.receiver.detach();
    }

    fn drain(&mut self) -> u64 {
        self.receiver.drain(0)
    }

    #[inline]
    fn remove(&mut self, position: usize, removal: Removal) {
        if removal == Removal::Unmatched {
            self.counters.unmatched.add_by_owner(1);
        }
        self.kept.remove(position);
    }

    fn count_irregular(&mut self) -> bool {
        self.counters.irregular.add_by_owner(1);
        self.counters.irregular.get() == 1
    }
}

/// A message with a stamp of its time, like the stamp in the header of ROS 2 messages.
///
/// ```
/// use ringspin_executor::{Stamped, Time};
/// struct Scan { stamp: Time, ranges: Vec<f32> }
/// impl Stamped for Scan {
///     fn stamp(&self) -> Time {
///         self.stamp
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "messages of type `{Self}` bring no stamp",
    note = "implement `Stamped` for it, or join by arrival with `Latest`"
)]
pub trait Stamped {
    /// The message's time. It has to be the same at each call.
    fn stamp(&self) -> Time;
}

impl Stamped for Time {
    fn stamp(&self) -> Time {
        *self
    }
}

/// A tuple of 2 to 9 [`Input`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of 2 to 9 inputs",
    note = "write `(Input::<A>::new(..), Input::<B>::new(..))`"
)]
pub trait Inputs: private::Inputs {}

/// A tuple of 2 to 9 [`Input`]s with messages that are [`Stamped`], neither optional nor cached.
///
/// Inputs that a policy cannot handle do not compile:
///
/// ```compile_fail,E0277
/// # use ringspin_executor::{ExactTime, Graph, Input, QoS, Time};
/// # let node = Graph::new().create_node("join", ()).unwrap();
/// let input = |topic| Input::<Time>::new(topic, QoS::default());
/// let inputs = (input("a"), input("b").optional());
/// node.create_synchronized_subscription(inputs, ExactTime::new(1), |_, _, _| ()).unwrap();
/// ```
pub trait StampedInputs: Inputs + private::StampedInputs {}

/// The part of the traits above that only this crate implements and calls.
pub(crate) mod private {
    use super::*;

    pub trait Inputs: Send + Sized + 'static {
        const ROLES: &'static [Role];
        /// A tuple of [`Queue`]s.
        type Queues: Send + 'static;
        type Latest<'a>;
        fn connect(self, connector: &mut Connector<'_>, capacity: usize) -> Result<Self::Queues>;
        fn queue(queues: &mut Self::Queues, input: usize) -> &mut dyn AnyQueue;
        fn latest(queues: &Self::Queues) -> Self::Latest<'_>;
    }

    pub trait StampedInputs: Inputs {
        type Set<'a>;
        fn set<'a>(queues: &'a Self::Queues, at: &Positions) -> Self::Set<'a>;
        /// The stamp of the newest message of `input`, which has one.
        fn newest_stamp(queues: &Self::Queues, input: usize) -> Time;
    }
}

/// Implements the traits for the tuple of the inputs with these message types, kinds and indices.
///
/// Rust has no generics over tuples of different types, so each length needs its implementations;
/// they differ in nothing else. Everything that does not depend on the types is behind [`AnyQueue`]
/// and not in here.
macro_rules! inputs {
    ($($M:ident $K:ident $n:tt),+) => {
        impl<$($M, $K),+> private::Inputs for ($(Input<$M, $K>,)+)
        where
            $($M: Send + Sync + 'static, $K: Kind,)+
        {
            const ROLES: &'static [Role] = &[$($K::ROLE),+];
            type Queues = ($(Queue<$M>,)+);
            type Latest<'a> = ($($K::Item<'a, $M>,)+);

            fn connect(
                self,
                connector: &mut Connector<'_>,
                capacity: usize,
            ) -> Result<Self::Queues> {
                // All names and types are checked before the first subscription.
                let sources = ($(connector.resolve::<$M>(&self.$n.topic, self.$n.qos)?,)+);
                Ok(($(Queue::new(connector, sources.$n, self.$n.qos, capacity),)+))
            }

            #[inline]
            fn queue(queues: &mut Self::Queues, input: usize) -> &mut dyn AnyQueue {
                match input {
                    $($n => &mut queues.$n,)+
                    _ => unreachable!("inputs are numbered as ports"),
                }
            }

            fn latest(queues: &Self::Queues) -> Self::Latest<'_> {
                ($($K::item(queues.$n.kept.front()),)+)
            }
        }

        impl<$($M, $K),+> Inputs for ($(Input<$M, $K>,)+)
        where
            $($M: Send + Sync + 'static, $K: Kind,)+
        {
        }

        impl<$($M: Stamped + Send + Sync + 'static),+> private::StampedInputs for ($(Input<$M>,)+) {
            type Set<'a> = ($(&'a Message<$M>,)+);

            #[inline]
            fn set<'a>(queues: &'a Self::Queues, at: &Positions) -> Self::Set<'a> {
                ($(&queues.$n.kept[at[$n]],)+)
            }

            #[inline]
            fn newest_stamp(queues: &Self::Queues, input: usize) -> Time {
                match input {
                    $($n => queues.$n.kept.back().map(|message| message.stamp()),)+
                    _ => None,
                }
                .expect("the input has a message")
            }
        }

        impl<$($M: Stamped + Send + Sync + 'static),+> StampedInputs for ($(Input<$M>,)+) {}
    };
}

inputs!(A KA 0, B KB 1);
inputs!(A KA 0, B KB 1, C KC 2);
inputs!(A KA 0, B KB 1, C KC 2, D KD 3);
inputs!(A KA 0, B KB 1, C KC 2, D KD 3, E KE 4);
inputs!(A KA 0, B KB 1, C KC 2, D KD 3, E KE 4, F KF 5);
inputs!(A KA 0, B KB 1, C KC 2, D KD 3, E KE 4, F KF 5, G KG 6);
inputs!(A KA 0, B KB 1, C KC 2, D KD 3, E KE 4, F KF 5, G KG 6, H KH 7);
inputs!(A KA 0, B KB 1, C KC 2, D KD 3, E KE 4, F KF 5, G KG 6, H KH 7, J KJ 8);
