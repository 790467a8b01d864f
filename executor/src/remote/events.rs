//! What a middleware reports of an end of the graph besides messages: peers that come and go, do
//! not fit or lose their lives, and messages that did not make it.

use super::RemoteNotifier;
use crate::escape::BoxError;
use crate::qos::{IncompatiblePeer, QosPolicy};

/// Watches what happens to one publisher or subscription beyond the process.
///
/// Deadlines are not reported: the graph knows what is published in the process, and hears of
/// each message that comes, so it counts both itself and nothing twice. So does a publisher for its
/// own liveliness.
pub trait RemoteEvents: Send + Sync {
    /// Whether what it reports covers ends of this process, too. If not, the graph adds those.
    fn includes_locals(&self) -> bool;

    /// Watches for events of `kind`, each of which is announced to `remote_notifier`. `None` if the
    /// middleware does not have them.
    ///
    /// # Errors
    /// Why it cannot; the publisher or subscription stays without them.
    fn watch(
        &self,
        kind: RemoteEventKind,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteEvent>>, BoxError>;
}

/// One kind of event of one publisher or subscription.
pub trait RemoteEvent: Send {
    /// How things are, if that has changed since it was taken last.
    ///
    /// # Errors
    /// Why it cannot.
    fn take(&mut self) -> Result<Option<RemoteStatus>, BoxError>;
}

/// What a middleware may report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemoteEventKind {
    /// Publishers that a subscription hears came to life, or lost it.
    LivelinessChanged,
    /// A peer does not fit.
    IncompatibleQos,
    /// Messages to a subscription were lost.
    MessageLost,
    /// A peer came or went.
    Matched,
}

/// How things are: counts since the end was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteStatus {
    /// Publishers that a subscription hears.
    Liveliness {
        /// Those that are alive.
        alive: u64,
        /// Those that are there without a sign of life.
        not_alive: u64,
    },
    /// Peers that do not fit.
    IncompatibleQos {
        /// How many there ever were.
        total: u64,
        /// The policy that did not fit, of the last one, if it has a name here.
        last_policy: Option<QosPolicy>,
        /// The last one, if it is known.
        last_peer: Option<IncompatiblePeer>,
    },
    /// Messages that were lost.
    MessageLost {
        /// How many.
        total: u64,
    },
    /// Peers that fit.
    Matched {
        /// How many there ever were.
        total: u64,
        /// How many there are.
        current: u64,
    },
}

/// The reports of one kind of event, for the condition that they belong to.
pub(crate) struct Reports {
    event: Box<dyn RemoteEvent>,
    /// Of the event, for errors.
    name: String,
}

impl Reports {
    pub(crate) fn new(event: Box<dyn RemoteEvent>, name: &str) -> Self {
        Self { event, name: name.into() }
    }

    /// How things are, if that has changed.
    pub(crate) fn newest(&mut self) -> Option<RemoteStatus> {
        self.event.take().unwrap_or_else(|error| {
            tracing::error!(name = self.name, %error, "cannot take an event");
            None
        })
    }
}
