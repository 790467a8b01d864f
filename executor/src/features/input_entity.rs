//! Inputs of nodes: the creator of the node adds an input while the graph is built. In
//! deterministic mode the executor calls it between the events, as one of
//! [`Graph::add_input`](crate::Graph::add_input). In the live modes the node's event loop takes it
//! at its first event and calls it from then on, each time at the due time of the next item, so
//! that no other thread is needed.

use crate::base::error::Result;
use crate::base::escape::BoxError;
use crate::base::event::{EventId, SourceId};
use crate::base::lock::lock;
use crate::delivery::context::Context;
use crate::delivery::input::{Delivery, ExternalInput, LiveEntry, NamedInput};
use crate::running::event_loop::{Entity, Outcome};
use crate::running::graph::CallbackSpec;
use crate::running::node::Node;
use std::sync::Arc;
use std::time::Duration;

/// The number of items that one event delivers at most: other loops of the core wait meanwhile.
const ITEMS_MAX: usize = 64;

/// The pause before an item that was not taken is offered again.
const RETRY: Duration = Duration::from_millis(1);

/// Calls an input in the live modes; idle in simulated time.
struct InputEntity {
    entry: LiveEntry,
    /// `None` until the first event, and once it is retired.
    input: Option<Box<dyn ExternalInput>>,
    source: SourceId,
    events: u64,
}

impl InputEntity {
    /// Delivers the items that are due, and sets the timer to the time of the next item.
    fn deliver(&mut self, cx: &Context<'_>) -> Result<(), BoxError> {
        if let Some(mut input) = lock(&self.entry.input).take() {
            input.start_live(cx.now());
            self.input = Some(input);
        }
        let (Some(input), timer) = (&mut self.input, &self.entry.timer) else { return Ok(()) };
        for _ in 0..ITEMS_MAX {
            let Some(time) = input.next_time() else { return Ok(()) };
            let now = cx.now();
            if time > now {
                timer.start_at(time);
                return Ok(());
            }
            if input.deliver(now)? == Delivery::Again {
                timer.start_at(now + RETRY);
                return Ok(());
            }
        }
        timer.start_at(cx.now());
        Ok(())
    }
}

impl<S> Entity<S> for InputEntity {
    fn dispatch(&mut self, _port: usize, _state: &mut S, cx: &mut Context<'_>) -> Outcome {
        cx.begin(EventId { source: self.source, sequence: self.events });
        self.events += 1;
        Outcome::from(self.deliver(cx))
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        self.events += 1;
        Some(EventId::NONE)
    }

    fn retire(&mut self) {
        drop(lock(&self.entry.input).take());
        self.input = None;
    }
}

pub(crate) fn add_input<S: Send + 'static>(
    node: &Node<S>,
    name: &str,
    input: impl ExternalInput + 'static,
) -> Result<()> {
    let callback = format!("input {name}");
    let mut builder = node.handle.unfrozen(&callback)?;
    let timer = node.handle.new_idle_timer(&builder, &callback);
    let entry = LiveEntry { input: Arc::default(), timer: timer.clone() };
    let (name, input) = (name.into(), Box::new(input));
    builder.add_input(NamedInput { name, input, live: Some(entry.clone()) })?;
    let source = builder.next_source();
    let target = builder.next_target(node.event_loop());
    builder.add_callback(node.event_loop(), callback, CallbackSpec::of_timer(target, &timer));
    let entity = InputEntity { entry, input: None, source, events: 0 };
    builder.add_entity::<S>(node.event_loop(), Box::new(entity));
    Ok(())
}
