//! The parts of an entity: everything that a new kind of callback is made of.
//!
//! An entity is the receiving end of events in an event loop: a subscription, a timer, a server, a
//! client, a task. To add one:
//!
//! 1. Implement [`Entity`]. `dispatch` takes one item, calls `Context::begin` with its identity,
//!    and runs the callback; without an item it returns [`Outcome::Nothing`]. `discard` drops one
//!    item of a node that is out of service; `retire` drops everything of the user.
//! 2. Choose the [`EventSource`], which says how many events can be ready at once: a queue of
//!    messages (a [`SubscriptionReceiver`] of a topic of its own), a timer, or a [`Notifier`],
//!    which is one token however often it is notified.
//! 3. Take a [`Target`] from `GraphBuilder::next_target`, one port for each input, and add a
//!    [`CallbackSpec`] for each port by `GraphBuilder::add_callback`. The name of the callback
//!    enters the digest.
//! 4. Add the entity to the body of its loop, in an `impl Node` beside it. State that the feature
//!    needs while the graph is built is a `GraphBuilder::feature` of a type of its own.
//!
//! A feature imports the core; no module of the core imports a feature (tests/cycles.rs).

pub(crate) use crate::event_loop::{Entity, Outcome, Target};
pub(crate) use crate::graph::{CallbackSpec, EventSource};
pub(crate) use crate::notifier::Notifier;
pub(crate) use crate::topic::SubscriptionReceiver;
