//! Collectors of a topic's messages, for tests and inputs.

use crate::context::Context;
use crate::graph::CreateSubscriptionError;
use crate::lock::lock;
use crate::message::Message;
use crate::node::Node;
use crate::qos::QoS;
use crate::time::Time;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A queue that keeps the messages of a topic until they are taken; cheap to clone.
pub struct Collector<M>(Arc<Mutex<VecDeque<Received<M>>>>);

/// A message and the time of its reception.
type Received<M> = (Time, Message<M>);

impl<M> Collector<M> {
    /// The oldest message and the time of its reception.
    pub fn pop(&self) -> Option<(Time, Message<M>)> {
        lock(&self.0).pop_front()
    }

    /// All messages, oldest first, with the times at which they were received.
    pub fn take(&self) -> Vec<(Time, Message<M>)> {
        lock(&self.0).drain(..).collect()
    }

    /// The number of waiting messages.
    pub fn len(&self) -> usize {
        lock(&self.0).len()
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<M: Clone> Collector<M> {
    /// Copies of all messages, oldest first, which are taken.
    pub fn values(&self) -> Vec<M> {
        self.take().into_iter().map(|(_, message)| M::clone(&message)).collect()
    }
}

impl<M> Clone for Collector<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> fmt::Debug for Collector<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("len", &self.len()).finish()
    }
}

impl<S: Send + 'static> Node<S> {
    /// Subscribes to `topic` and keeps all messages until the collector's holder takes them. It has
    /// no bound of its own, as [`QoS::held`] with `usize::MAX`: take them now and then.
    ///
    /// # Errors
    /// The errors of [`create_subscription`](Self::create_subscription).
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// let probe = graph.create_node("probe", ())?;
    /// let commands = probe.create_collector::<f64>("cmd", QoS::keep_last(100))?;
    /// assert_eq!(commands.values(), []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_collector<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        qos: QoS,
    ) -> Result<Collector<M>, CreateSubscriptionError> {
        let collector = Collector(Arc::default());
        let collected = collector.0.clone();
        self.create_subscription(
            topic,
            qos.held(usize::MAX),
            move |_, message: &Message<M>, cx: &mut Context<'_>| {
                lock(&collected).push_back((cx.now(), message.clone()));
            },
        )?;
        Ok(collector)
    }
}
