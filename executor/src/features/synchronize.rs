//! Synchronized subscriptions: one callback for the messages of several topics that belong
//! together.
//!
//! A synchronizer is one entity of its event loop with a port for each input. Each input is a
//! callback in the graph, so each arrival is an event with an identity, even if it completes no
//! set. The event loop writes and reads the queues of the inputs, so there is no lock. A policy
//! decides by stamps and numbers alone, through its `Matcher`, which a test can drive without a
//! graph.

mod approximate_time;
mod exact_time;
mod inputs;
mod latest;
mod matcher;
mod policy;
#[cfg(test)]
mod tests;
mod trigger;

use crate::base::error::Result;
use crate::base::event::EventId;
pub use approximate_time::ApproximateTime;
pub use exact_time::ExactTime;
pub use inputs::{Cached, Input, Inputs, Kind, Optional, Required, Stamped, StampedInputs};
pub use latest::Latest;
pub use policy::Policy;
pub use trigger::{New, Trigger};

use crate::base::departure::Registration;
use crate::base::escape::catch_panic;
use crate::delivery::context::Context;
use crate::delivery::topic::Remains;
use crate::features::endpoints::Connector;
use crate::running::event_loop::{CallbackResult, Entity, Outcome};
use crate::running::node::Node;
use matcher::{Arrival, Matcher};
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::sync::Arc;

impl SynchronizedSubscription {
    pub(crate) fn create<S, I, P, F, R>(
        node: &Node<S>,
        inputs: I,
        policy: P,
        callback: F,
    ) -> Result<SynchronizedSubscription>
    where
        S: Send + 'static,
        I: Inputs,
        P: Policy<I>,
        F: for<'a> FnMut(&mut S, P::Set<'a>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let capacity = policy.capacity();
        let matcher = policy.matcher().map_err(|error| {
            let node = node.full_name();
            let failed = format!("failed to create a synchronized subscription of node {node}");
            error.reworded(|text| format!("{failed}: {text}")).in_node(node)
        })?;
        let mut builder = node.builder("a synchronized subscription")?;
        let mut connector = Connector::new(&node.handle, &mut builder);
        let queues = inputs.connect(&mut connector, capacity)?;
        let first = connector.first.expect("there are two inputs at least");
        builder.add_entity::<S>(
            node.event_loop(),
            Box::new(Synchronizer::<I, P, F, R> {
                queues,
                matching: Some(Matching { matcher, callback }),
                result: PhantomData,
            }),
        );
        drop(builder);
        Ok(SynchronizedSubscription(Arc::new(node.handle.graph.registration(first))))
    }
}

/// A synchronized subscription. It belongs to its node: dropping this handle, or all clones of it,
/// changes nothing.
#[derive(Clone, Debug)]
pub struct SynchronizedSubscription(Arc<Registration>);

impl SynchronizedSubscription {
    /// Ends all of its inputs: messages that wait for their events are dropped and counted as
    /// [`discarded`](crate::CallbackStatistics::discarded), and messages that it keeps for a set
    /// are dropped. Its callback is dropped at the next pause of its event loop, a call that runs
    /// finishes. From any thread, and in its own callback. Further calls have no effect.
    pub fn destroy(&self) {
        self.0.destroy();
    }
}

struct Synchronizer<I: Inputs, P: Policy<I>, F, R> {
    queues: I::Queues,
    /// `None` once it is retired.
    matching: Option<Matching<P::Matcher, F>>,
    result: PhantomData<fn() -> R>,
}

/// The decision which messages belong together, and the callback for those that do.
struct Matching<M, F> {
    matcher: M,
    callback: F,
}

/// Removes the messages of the last set, if that was not done.
fn finish<I: Inputs>(matcher: &mut impl Matcher, queues: &mut I::Queues) {
    matcher.finish(&mut |input, position, outcome| {
        I::queue(queues, input).remove(position, outcome);
    });
}

impl<I: Inputs, P: Policy<I>, F, R> Synchronizer<I, P, F, R> {
    #[cold]
    fn irregular(queues: &mut I::Queues, port: usize, cx: &Context<'_>) {
        if I::queue(queues, port).count_irregular() {
            tracing::warn!(
                node = cx.node(),
                input = port,
                event = ?cx.event(),
                "a stamp is before that of the message before it, or closer to it than the lower \
                 bound says; further ones are only counted"
            );
        }
    }
}

impl<S, I, P, F, R> Entity<S> for Synchronizer<I, P, F, R>
where
    I: Inputs,
    P: Policy<I>,
    F: for<'a> FnMut(&mut S, P::Set<'a>, &mut Context<'_>) -> R + Send,
    R: CallbackResult,
{
    fn dispatch(&mut self, port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let Some(Matching { matcher, callback }) = &mut self.matching else {
            return Outcome::Nothing;
        };
        let queues = &mut self.queues;
        finish::<I>(matcher, queues); // the callback may have panicked
        if !I::queue(queues, port).take(cx) {
            return Outcome::Nothing;
        }
        if matcher.arrive(port, P::stamp(queues, port)) == Arrival::Irregular {
            Self::irregular(queues, port, cx);
        }
        loop {
            let set = matcher.next(&mut |input, position, outcome| {
                I::queue(queues, input).remove(position, outcome);
            });
            let Some(at) = set else { return Outcome::Done };
            let set = P::set(queues, &at);
            let result = callback(state, set, cx).into_result();
            finish::<I>(matcher, queues);
            if result.is_err() {
                return Outcome::from(result);
            }
        }
    }

    fn discard(&mut self, port: usize) -> Option<EventId> {
        I::queue(&mut self.queues, port).discard()
    }

    fn retire(&mut self) {
        let matching = self.matching.take();
        let mut result = catch_panic(|| drop(matching));
        for port in 0..I::ROLES.len() {
            let queue = I::queue(&mut self.queues, port);
            result = result.and(catch_panic(|| queue.clear()));
        }
        if let Err(panic) = result {
            resume_unwind(Box::new(panic));
        }
    }

    fn remains(mut self: Box<Self>) -> Option<Box<dyn Remains>> {
        (0..I::ROLES.len()).for_each(|port| I::queue(&mut self.queues, port).disconnect());
        Some(Box::new(Inputless::<I>(self.queues)))
    }
}

/// The queues of a destroyed synchronizer.
struct Inputless<I: Inputs>(I::Queues);

impl<I: Inputs> Remains for Inputless<I> {
    fn drain(&mut self, port: usize) -> u64 {
        I::queue(&mut self.0, port).drain()
    }
}
