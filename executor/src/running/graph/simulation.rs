//! The parts of a graph that only simulated time has: inputs, and interceptors of messages. They
//! are added before the freeze; a live freeze refuses a graph that has some.

use super::{Graph, GraphBuilder, too_late};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::name;
use crate::delivery::input::{ExternalInput, NamedInput};
use crate::delivery::message::Message;
use crate::delivery::sim_network::InFlight;
use crate::delivery::topic::{BY_VALUE_MAX, Verdict};

impl GraphBuilder {
    pub(crate) fn add_input(&mut self, input: NamedInput) -> Result<()> {
        let name = &input.name;
        if self.frozen {
            return Err(too_late(&format!("input {name:?}")));
        }
        if self.inputs.iter().any(|other| other.name == *name) {
            let text = format!(
                "failed to add input {name:?}: there is one of this name; give one another name"
            );
            return Err(Error::new(ErrorKind::AlreadyExists, text));
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
    /// Fails for a name that another input has, or an executor that was dropped.
    pub fn add_input(&self, name: &str, input: impl ExternalInput + 'static) -> Result<()> {
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
    /// Fails for an invalid name, another message type on the topic, a topic that has an
    /// interceptor, or an executor that was dropped.
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
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn intercept<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        interceptor: impl FnMut(&Message<M>, &InFlight) -> Verdict<M> + Send + 'static,
    ) -> Result<()> {
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
            return Err(too_late(&format!("an interceptor of topic {name}")).on_topic(name));
        }
        let topic = builder.topic::<M>(&name, by)?;
        if !topic.intercept(Box::new(interceptor)) {
            let text = format!(
                "failed to intercept topic {name}: it has an interceptor; let that one decide \
                 about all messages"
            );
            return Err(Error::new(ErrorKind::AlreadyExists, text).on_topic(name));
        }
        Ok(())
    }
}
