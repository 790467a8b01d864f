//! The part of a node that its ends share.

use crate::context::Shared;
use crate::error::{Error, Result};
use crate::link::Activity;
use crate::lock;
use crate::log::report;
use futures::channel::oneshot;
use ringspin_adapter::Type;
use std::sync::{Arc, Mutex};

/// The part of a node that its ends share.
pub(crate) struct NodeShared {
    pub(crate) context: Arc<Shared>,
    pub(crate) node: ringspin::Node<()>,
    pub(crate) activity: Arc<Activity>,
    pub(crate) conditions: Mutex<Vec<Condition>>,
}

/// A condition, which fails when it can no longer hold, and the end of the channel that waits.
pub(crate) type Condition = (Box<dyn Fn() -> Result<bool> + Send>, oneshot::Sender<()>);

impl NodeShared {
    /// Notifies `waiter` once `holds` does, or drops it when that fails.
    pub(crate) fn when(
        &self,
        holds: Box<dyn Fn() -> Result<bool> + Send>,
        waiter: oneshot::Sender<()>,
    ) {
        lock(&self.conditions).push((holds, waiter));
        self.look();
    }

    /// Notifies those whose conditions hold, or have failed; true if others are left.
    pub(crate) fn look(&self) -> bool {
        let mut ended = Vec::new();
        let mut conditions = lock(&self.conditions);
        for (holds, waiter) in std::mem::take(&mut *conditions) {
            match holds() {
                Ok(false) => conditions.push((holds, waiter)),
                result => ended.push((result, waiter)),
            }
        }
        let is_waiting = !conditions.is_empty();
        drop(conditions);
        for (result, waiter) in ended {
            // The receiver may be gone.
            let _ = result.is_ok_and(|_| waiter.send(()).is_ok());
            self.activity.happened();
        }
        is_waiting
    }

    /// Notes the ROS type of a topic or service; returns its resolved name.
    pub(crate) fn set_type(&self, name: &str, ros_type: Type) -> Result<String> {
        let (resolved, invalid) = match ros_type {
            Type::Topic(_) => {
                (self.node.resolve_topic_name(name), Error::RCL_RET_TOPIC_NAME_INVALID)
            }
            Type::Service(_) => {
                (self.node.resolve_service_name(name), Error::RCL_RET_SERVICE_NAME_INVALID)
            }
        };
        let name = resolved.map_err(|reason| invalid_name(&reason, invalid))?;
        self.context.set_type(&name, ros_type).map_err(Error::other)?;
        Ok(name)
    }
}

/// The error for an invalid name, with the reason in the log.
pub(crate) fn invalid_name(reason: &ringspin::Error, error: Error) -> Error {
    report(reason);
    error
}

/// A client whose server can be waited for; see
/// [`Node::is_available`](crate::Node::is_available).
pub trait IsAvailablePollable {
    /// Notifies `sender` when there is a server.
    ///
    /// # Errors
    /// [`Error::RCL_RET_CLIENT_INVALID`] once the node is destroyed.
    fn register_poll_available(&self, sender: oneshot::Sender<()>) -> Result<()>;
}
