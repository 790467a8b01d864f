//! The ends of a topic: each new one has to fit all that are there.

use super::{CreateError, Draft};
use crate::notifier::Notifier;
use crate::qos::QoS;
use crate::qos::pulse::Vitals;
use std::sync::Arc;

/// Which nodes offer and request what on a topic.
#[derive(Default)]
pub(super) struct Ends {
    offered: Vec<(String, QoS)>,
    requested: Vec<(String, QoS)>,
    vitals: Arc<Vitals>,
}

impl Draft {
    /// Takes down that `node` publishes on `topic`, which exists. Linear in the number of its
    /// subscriptions.
    pub(crate) fn offer(&mut self, topic: &str, node: &str, qos: QoS) -> Result<(), CreateError> {
        let ends = self.ends(topic);
        for (subscription, requested) in &ends.requested {
            check_pair(topic, (node, &qos), (subscription, requested))?;
        }
        ends.offered.push((node.into(), qos));
        Ok(())
    }

    /// Takes down that `node` subscribes to `topic`, which exists. Linear in the number of its
    /// publishers.
    pub(crate) fn request(&mut self, topic: &str, node: &str, qos: QoS) -> Result<(), CreateError> {
        let ends = self.ends(topic);
        for (publisher, offered) in &ends.offered {
            check_pair(topic, (publisher, offered), (node, &qos))?;
        }
        ends.requested.push((node.into(), qos));
        Ok(())
    }

    /// The signs of life on `topic`, which exists.
    pub(crate) fn vitals(&mut self, topic: &str) -> Arc<Vitals> {
        self.ends(topic).vitals.clone()
    }

    /// The pairs of a node and a watcher of the liveliness of one of its publishers. Nothing is
    /// added to the ends any more.
    pub(crate) fn freeze_ends(&self) -> Vec<(usize, Arc<Notifier>)> {
        let mut watchers = Vec::new();
        for topic in self.topics.values() {
            let vitals = &topic.ends.vitals;
            vitals.freeze();
            for watcher in vitals.watchers() {
                let pulses = vitals.pulses().iter();
                watchers.extend(pulses.map(|pulse| (pulse.node_index, watcher.clone())));
            }
        }
        watchers
    }

    fn ends(&mut self, topic: &str) -> &mut Ends {
        &mut self.topics.get_mut(topic).expect("the topic was just created").ends
    }
}

fn check_pair(
    topic: &str,
    (publisher, offered): (&str, &QoS),
    (subscription, requested): (&str, &QoS),
) -> Result<(), CreateError> {
    match offered.incompatibility(requested) {
        None => Ok(()),
        Some(incompatibility) => Err(CreateError::Incompatible {
            topic: topic.into(),
            publisher: publisher.into(),
            subscription: subscription.into(),
            incompatibility: Box::new(incompatibility),
        }),
    }
}
