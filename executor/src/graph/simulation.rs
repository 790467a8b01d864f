//! The parts of a graph that only simulated time has: inputs, and interceptors of messages.

use super::{AddInputError, FrozenError, Graph, GraphBuilder, InterceptError};
use crate::input::{ExternalInput, NamedInput};
use crate::message::Message;
use crate::name;
use crate::sim_network::InFlight;
use crate::topic::{BY_VALUE_MAX, Verdict};

impl GraphBuilder {
    pub(crate) fn add_input(&mut self, input: NamedInput) -> Result<(), AddInputError> {
        let name = &input.name;
        if self.frozen {
            return Err(FrozenError { what: format!("input {name:?}") }.into());
        }
        if self.inputs.iter().any(|other| other.name == *name) {
            return Err(AddInputError::Duplicate { name: name.clone() });
        }
        self.version += 1;
        self.inputs.push(input);
        Ok(())
    }
}

impl Graph {
    /// Adds an input, which delivers its items in simulated time. Inputs with items at the same
    /// time deliver in the order in which they were added.
    ///
    /// A graph with such an input cannot be run live; add it by
    /// [`Node::create_input`](crate::Node::create_input), or publish from a thread.
    ///
    /// # Errors
    /// [`AddInputError`] for a name that another input has, or an executor that is gone.
    pub fn add_input(
        &self,
        name: &str,
        input: impl ExternalInput + 'static,
    ) -> Result<(), AddInputError> {
        let input = NamedInput { name: name.into(), input: Box::new(input), live: None };
        self.builder().add_input(input)
    }

    /// Calls `interceptor` for each message to each subscription of `topic`, to decide about the
    /// message: for tests that lose, change or delay messages in flight. It is called when the
    /// message is published, once for each subscription.
    ///
    /// Only simulated time has messages in flight: a graph with an interceptor cannot be run live.
    ///
    /// # Errors
    /// [`InterceptError`] for an invalid name, another message type on the topic, a topic that has
    /// an interceptor, or an executor that is gone.
    ///
    /// # Compile-time errors
    /// Messages of more than [`BY_VALUE_MAX`] bytes cannot be intercepted.
    ///
    /// ```
    /// use ringspin_executor::{Graph, Message, Verdict};
    /// # let graph = Graph::new();
    /// // Every third scan is lost.
    /// graph.intercept("scan", |_: &Message<Vec<f32>>, in_flight| {
    ///     if in_flight.event.sequence % 3 == 2 { Verdict::Drop } else { Verdict::Pass }
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn intercept<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        interceptor: impl FnMut(&Message<M>, &InFlight) -> Verdict<M> + Send + 'static,
    ) -> Result<(), InterceptError> {
        const {
            assert!(
                size_of::<M>() <= BY_VALUE_MAX,
                "messages of more than 64 KiB cannot be intercepted: a verdict may replace a \
                 message by value; put the data into a `Vec` or `Box`"
            );
        }
        let by = "an interceptor";
        let name = name::expand_topic(topic, "/", "interceptor")?;
        let mut builder = self.builder();
        if builder.frozen {
            return Err(FrozenError { what: format!("an interceptor of topic {name}") }.into());
        }
        let topic = builder.topic::<M>(&name, by)?;
        if !topic.intercept(Box::new(interceptor)) {
            return Err(InterceptError::Duplicate { topic: name });
        }
        Ok(())
    }
}
