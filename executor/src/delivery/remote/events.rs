//! Reports of a middleware about an end of the graph besides messages: peers that come and go, are
//! incompatible or not alive any more, and lost messages.

use super::RemoteNotifier;
use crate::base::escape::BoxError;
use crate::base::qos::{IncompatiblePeer, QosPolicy};

/// The source of the QoS events of one publisher or subscription beyond the process.
///
/// Deadlines are not reported: the graph sees each message that is published in the process or
/// arrives from outside, so it counts both itself, and none twice. The same holds for a publisher's
/// own liveliness.
pub trait RemoteEvents: Send + Sync {
    /// Whether its reports cover ends of this process, too. If not, the graph adds those.
    fn includes_locals(&self) -> bool;

    /// Watches for events of `kind`, each of which is announced to `remote_notifier`. `None` if the
    /// middleware does not have them.
    ///
    /// # Errors
    /// The reason of a failure; the publisher or subscription has no such events then.
    fn watch(
        &self,
        kind: RemoteEventKind,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteEvent>>, BoxError>;
}

/// One kind of event of one publisher or subscription.
pub trait RemoteEvent: Send {
    /// The present counts, if they have changed since the last call.
    ///
    /// # Errors
    /// The reason of a failure.
    fn take(&mut self) -> Result<Option<RemoteStatus>, BoxError>;
}

/// The kind of a middleware's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemoteEventKind {
    /// Matched publishers of a subscription became alive, or are not alive any more.
    LivelinessChanged,
    /// A peer is incompatible.
    IncompatibleQos,
    /// Messages to a subscription were lost.
    MessageLost,
    /// A peer came or went.
    Matched,
}

/// Counts since the end was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteStatus {
    /// Matched publishers of a subscription.
    Liveliness {
        /// Publishers that are alive.
        alive: u64,
        /// Publishers that are matched and not alive.
        not_alive: u64,
    },
    /// Incompatible peers.
    IncompatibleQos {
        /// The number since the start.
        total: u64,
        /// The incompatible policy of the last one, if it has a name here.
        last_policy: Option<QosPolicy>,
        /// The last one, if it is known.
        last_peer: Option<IncompatiblePeer>,
    },
    /// Messages that were lost.
    MessageLost {
        /// The number since the start.
        total: u64,
    },
    /// Matched peers.
    Matched {
        /// The number since the start.
        total: u64,
        /// The present number.
        current: u64,
    },
}

/// The reports of one kind of event, for the condition that they belong to.
pub(crate) struct Reports {
    event: Box<dyn RemoteEvent>,
    /// The name of the event, for errors.
    name: String,
}

impl Reports {
    pub(crate) fn new(event: Box<dyn RemoteEvent>, name: &str) -> Self {
        Self { event, name: name.into() }
    }

    /// The present counts, if they have changed.
    pub(crate) fn newest(&mut self) -> Option<RemoteStatus> {
        self.event.take().unwrap_or_else(|error| {
            tracing::error!(
                name = self.name,
                %error,
                "failed to take a QoS event of the middleware"
            );
            None
        })
    }
}
