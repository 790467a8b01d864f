//! Guard conditions: triggers from outside of the graph that make a callback run.
//!
//! Any thread counts a trigger, with release, and then notifies. The event loop takes the notice
//! first and reads the count, with acquire, afterwards: a trigger that it does not see makes
//! another event, and the callback sees the work before each trigger that it answers. The count is
//! there beside the notice so that triggers which one call answers together are counted. With a
//! token for each trigger the ready ring would need a bound on triggers, and a thread beyond it
//! would have to be refused.

use crate::base::departure::Registration;
use crate::base::error::Result;
use crate::base::event::{EventId, SourceId};
use crate::base::observed;
use crate::delivery::context::Context;
use crate::delivery::control::CallbackCounters;
use crate::delivery::ready::Notifier;
use crate::running::event_loop::{CallbackResult, Entity, Outcome};
use crate::running::graph::{CallbackSpec, EventSource};
use crate::running::node::Node;
use ringspin_ringbuf::Counter;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// Triggers a callback from any thread, for example of another library. Cheap to clone.
#[derive(Clone, Debug)]
pub struct GuardCondition(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    triggers: Counter,
    notifier: Arc<Notifier>,
    registration: OnceLock<Registration>,
}

impl GuardCondition {
    /// Ends the guard condition: its callback is dropped at the next pause of its event loop, and
    /// triggers have no effect any more. From any thread, and in its own callback. Dropping the
    /// handle does not end the guard condition.
    pub fn destroy(&self) {
        if let Some(registration) = self.0.registration.get() {
            registration.destroy();
        }
    }

    /// Triggers one more call of the callback, unless a call is pending already: triggers between
    /// two calls are counted as coalesced, never lost. Before the executor starts, it is called at
    /// the start. The call sees all writes that its callers made before `trigger`. Lock-free; a
    /// system call only to wake a worker that sleeps.
    #[inline]
    pub fn trigger(&self) {
        self.0.triggers.happen();
        self.0.notifier.notify();
    }
}

struct GuardEntity<F, R> {
    shared: Arc<Shared>,
    source: SourceId,
    answered: u64,
    counters: Arc<CallbackCounters>,
    /// `None` once it is retired.
    callback: Option<F>,
    result: PhantomData<fn() -> R>,
}

impl<S, F, R> Entity<S> for GuardEntity<F, R>
where
    F: FnMut(&mut S, &mut Context<'_>) -> R + Send,
    R: CallbackResult,
{
    fn dispatch(&mut self, _port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        self.shared.notifier.take();
        let triggers = observed::reading(|| self.shared.triggers.happened());
        if triggers == self.answered {
            return Outcome::Nothing; // the first event, without a trigger before the start
        }
        let Some(callback) = &mut self.callback else {
            return Outcome::Nothing;
        };
        self.counters.coalesced.add_by_owner(triggers - self.answered - 1);
        self.answered = triggers;
        cx.begin(EventId { source: self.source, sequence: triggers - 1 });
        Outcome::from(callback(state, cx).into_result())
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        let is_given = self.shared.notifier.take();
        self.answered = self.shared.triggers.happened();
        is_given.then_some(EventId::NONE)
    }

    fn retire(&mut self) {
        self.callback = None;
    }
}

impl GuardCondition {
    pub(crate) fn create<S, F, R>(node: &Node<S>, name: &str, callback: F) -> Result<GuardCondition>
    where
        S: Send + 'static,
        F: FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let name = format!("guard condition {name}");
        let mut builder = node.builder(&name)?;
        let shared = Arc::<Shared>::default();
        let counters = Arc::<CallbackCounters>::default();
        let spec = CallbackSpec::new(
            builder.next_target(node.event_loop()),
            EventSource::Notifier(shared.notifier.clone()),
            counters.clone(),
        );
        let source = builder.next_source();
        let id = builder.add_callback(node.event_loop(), name, spec);
        shared.registration.get_or_init(|| node.handle.graph.registration(id));
        let guard = GuardCondition(shared.clone());
        let result = PhantomData;
        let callback = Some(callback);
        let entity = GuardEntity { shared, source, answered: 0, counters, callback, result };
        builder.add_entity::<S>(node.event_loop(), Box::new(entity));
        Ok(guard)
    }
}
