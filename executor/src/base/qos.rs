//! Quality of service, as in ROS 2: a publisher offers it, a subscription requests it, and the
//! graph compares both when an end is created.

mod compatibility;

use std::time::Duration;

pub use compatibility::{Incompatibility, IncompatiblePeer, QosPolicy};

/// The limit of the messages that wait for a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// Keeps the newest messages; each further one overwrites the oldest and is counted.
    KeepLast,
    /// Keeps every message up to its depth; beyond, `publish` hands the message back.
    KeepAll,
}

/// Whether messages may be lost in transit. Within the process none is lost under either policy;
/// but both ends have to be compatible, as over a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reliability {
    /// A message may be lost.
    BestEffort,
    /// Every message arrives.
    Reliable,
}

/// Whether a publisher keeps messages for subscriptions that are not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// A subscription that is created after a message was published does not get it.
    Volatile,
    /// The publisher keeps its newest messages, as many as its depth says, for later subscriptions.
    TransientLocal,
}

/// The way in which a publisher shows that it is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Liveliness {
    /// It is alive while its node runs.
    Automatic,
    /// It is alive while it publishes, or calls `assert_liveliness`, within its lease.
    ManualByTopic,
}

/// The quality of service of a publisher or subscription.
///
/// A publisher offers, a subscription requests, and a publisher that offers less than a
/// subscription of its topic requests is an error while the graph is built. See
/// [`incompatibility`](Self::incompatibility) for the rules.
///
/// | policy | publisher | subscription |
/// |---|---|---|
/// | history and depth | messages that a transient-local one keeps | messages that may wait |
/// | reliability | compared only: in the process every delivery is reliable | |
/// | durability | keeps messages for later subscriptions | gets those, too |
/// | deadline | promises a message at least so often | is told when none came |
/// | lifespan | of its messages: older ones are not delivered | ignored |
/// | liveliness and lease | how it shows that it is alive | is told of changes |
/// | held | loans at the same time | messages that the user keeps |
/// | message times | ignored | records when messages were published and received |
///
/// A duration of zero means "none", as it does in ROS 2, and so does one of over 584 years.
///
/// ```
/// # use ringspin_executor::{Durability, QoS};
/// # use std::time::Duration;
/// const MAP: QoS = QoS::keep_last(1).transient_local();
/// const IMU: QoS = QoS::sensor_data().deadline(Duration::from_millis(20));
/// assert_eq!(MAP.durability(), Durability::TransientLocal);
/// assert!(MAP.incompatibility(&QoS::default()).is_none());
/// assert!(QoS::default().incompatibility(&IMU).is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QoS {
    history: History,
    depth: usize,
    reliability: Reliability,
    durability: Durability,
    deadline: Option<Duration>,
    lifespan: Option<Duration>,
    liveliness: Liveliness,
    lease: Option<Duration>,
    held: usize,
    message_times: bool,
}

/// Messages that a subscription may keep, and loans of a publisher, unless they are declared.
const HELD_MAX: usize = 16;

impl QoS {
    /// Keeps the newest `depth` messages; reliable and volatile.
    pub const fn keep_last(depth: usize) -> Self {
        Self {
            history: History::KeepLast,
            depth,
            reliability: Reliability::Reliable,
            durability: Durability::Volatile,
            deadline: None,
            lifespan: None,
            liveliness: Liveliness::Automatic,
            lease: None,
            held: HELD_MAX,
            message_times: false,
        }
    }

    /// Keeps all messages, at most `limit`: when they are used up, `publish` fails and hands the
    /// message back. Reliable and volatile.
    pub const fn keep_all(limit: usize) -> Self {
        Self { history: History::KeepAll, ..Self::keep_last(limit) }
    }

    /// ROS 2's profile for sensor data: keep the last 5, best effort.
    pub const fn sensor_data() -> Self {
        Self::keep_last(5).best_effort()
    }

    /// ROS 2's profile for services and clients: ten requests may wait, ten calls be unanswered.
    /// Services never overwrite a request; they ignore the history policy.
    pub const fn services() -> Self {
        Self::keep_last(10)
    }

    /// ROS 2's profile for parameter services: keep the last 1000.
    pub const fn parameters() -> Self {
        Self::keep_last(1000)
    }

    /// ROS 2's profile for the topic of parameter events: keep the last 1000.
    pub const fn parameter_events() -> Self {
        Self::keep_last(1000)
    }

    /// ROS 2's profile for log messages: keep the last 1000, for late joiners too, ten seconds
    /// long.
    pub const fn rosout() -> Self {
        Self::keep_last(1000).transient_local().lifespan(Duration::from_secs(10))
    }

    /// ROS 2's profile for the clock topic: keep the last one, best effort.
    pub const fn clock() -> Self {
        Self::keep_last(1).best_effort()
    }

    /// ROS 2's profile for the status topic of an action: keep the last one, for late joiners too.
    pub const fn action_status() -> Self {
        Self::keep_last(1).transient_local()
    }

    /// Keeps all messages, at most as many as the depth says.
    pub(crate) const fn all_kept(mut self) -> Self {
        self.history = History::KeepAll;
        self
    }

    /// Sets [`Reliability::Reliable`], the default.
    #[must_use]
    pub const fn reliable(mut self) -> Self {
        self.reliability = Reliability::Reliable;
        self
    }

    /// Sets [`Reliability::BestEffort`].
    #[must_use]
    pub const fn best_effort(mut self) -> Self {
        self.reliability = Reliability::BestEffort;
        self
    }

    /// Sets [`Durability::Volatile`], the default.
    #[must_use]
    pub const fn volatile(mut self) -> Self {
        self.durability = Durability::Volatile;
        self
    }

    /// Sets [`Durability::TransientLocal`].
    #[must_use]
    pub const fn transient_local(mut self) -> Self {
        self.durability = Durability::TransientLocal;
        self
    }

    /// Sets the deadline: at most `period` between two messages.
    #[must_use]
    pub const fn deadline(mut self, period: Duration) -> Self {
        self.deadline = finite(period);
        self
    }

    /// Sets the lifespan: messages older than `age` are not delivered.
    #[must_use]
    pub const fn lifespan(mut self, age: Duration) -> Self {
        self.lifespan = finite(age);
        self
    }

    /// Sets [`Liveliness::Automatic`], the default.
    #[must_use]
    pub const fn liveliness_automatic(mut self) -> Self {
        self.liveliness = Liveliness::Automatic;
        self
    }

    /// Sets [`Liveliness::ManualByTopic`]: a sign of life at least once in `lease`.
    #[must_use]
    pub const fn liveliness_manual_by_topic(mut self, lease: Duration) -> Self {
        self.liveliness = Liveliness::ManualByTopic;
        self.liveliness_lease_duration(lease)
    }

    /// Sets the lease: at most `lease` between two signs of life.
    #[must_use]
    pub const fn liveliness_lease_duration(mut self, lease: Duration) -> Self {
        self.lease = finite(lease);
        self
    }

    /// Sets the number of messages that may be held at the same time, 16 unless declared: for a
    /// subscription, clones that the user keeps when the callback has returned; for a publisher,
    /// loans. Both ends of a topic add to its slots, which are allocated with them. When
    /// subscriptions hold more than they declared and no slot is left, publishing fails with
    /// [`PublishError::NoSlot`](crate::PublishError::NoSlot).
    ///
    /// `usize::MAX` is no limit: the topic's pool then grows while the executor runs, which
    /// allocates, up to 2^24 messages. This policy does not leave the process.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, Message, QoS};
    /// # let graph = Graph::new();
    /// let node = graph.create_node("recorder", Vec::new())?;
    /// let qos = QoS::keep_last(10).held(1_000);
    /// node.create_subscription("scan", qos, |scans, scan: &Message<Vec<f32>>, _| {
    ///     if scans.len() == 1_000 {
    ///         scans.clear();
    ///     }
    ///     scans.push(scan.clone());
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[must_use]
    pub const fn held(mut self, messages: usize) -> Self {
        self.held = messages;
        self
    }

    /// The number of messages or loans that may be held at the same time.
    pub const fn held_max(&self) -> usize {
        self.held
    }

    /// Records publication and reception times of each message, for
    /// [`Message::times`](crate::Message::times). Delivery to this subscription then also reads the
    /// clock; others pay nothing. This policy does not leave the process.
    #[must_use]
    pub const fn message_times(mut self) -> Self {
        self.message_times = true;
        self
    }

    /// Whether publication and reception times are recorded.
    pub const fn has_message_times(&self) -> bool {
        self.message_times
    }

    /// The history policy.
    pub const fn history(&self) -> History {
        self.history
    }

    /// The number of messages that are kept.
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The reliability policy.
    pub const fn reliability(&self) -> Reliability {
        self.reliability
    }

    /// The durability policy.
    pub const fn durability(&self) -> Durability {
        self.durability
    }

    /// The longest time between two messages; `None` if there is no limit.
    pub const fn deadline_period(&self) -> Option<Duration> {
        self.deadline
    }

    /// The longest age of a message; `None` if there is no limit.
    pub const fn lifespan_age(&self) -> Option<Duration> {
        self.lifespan
    }

    /// The liveliness policy.
    pub const fn liveliness(&self) -> Liveliness {
        self.liveliness
    }

    /// The longest time between two signs of life; `None` if there is no limit.
    pub const fn lease(&self) -> Option<Duration> {
        self.lease
    }

    pub(crate) const fn is_transient_local(&self) -> bool {
        matches!(self.durability, Durability::TransientLocal)
    }
}

impl Default for QoS {
    /// ROS 2's default profile: keep the last 10; reliable and volatile.
    fn default() -> Self {
        Self::keep_last(10)
    }
}

/// `None` for a duration without a limit: zero, as in ROS 2, and more nanoseconds than 64 bits
/// hold.
const fn finite(duration: Duration) -> Option<Duration> {
    match duration.as_nanos() {
        0 => None,
        ns if ns >= u64::MAX as u128 => None,
        _ => Some(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_the_values_of_rmw() {
        use Durability::{TransientLocal, Volatile};
        use Reliability::{BestEffort, Reliable};
        let profiles = [
            (QoS::default(), 10, Reliable, Volatile, None),
            (QoS::sensor_data(), 5, BestEffort, Volatile, None),
            (QoS::services(), 10, Reliable, Volatile, None),
            (QoS::parameters(), 1000, Reliable, Volatile, None),
            (QoS::parameter_events(), 1000, Reliable, Volatile, None),
            (QoS::rosout(), 1000, Reliable, TransientLocal, Some(Duration::from_secs(10))),
            (QoS::clock(), 1, BestEffort, Volatile, None),
            (QoS::action_status(), 1, Reliable, TransientLocal, None),
        ];
        for (qos, depth, reliability, durability, lifespan) in profiles {
            assert_eq!((qos.history(), qos.depth()), (History::KeepLast, depth));
            assert_eq!((qos.reliability(), qos.durability()), (reliability, durability));
            assert_eq!((qos.deadline_period(), qos.lifespan_age()), (None, lifespan));
            assert_eq!((qos.liveliness(), qos.lease()), (Liveliness::Automatic, None));
        }
    }

    #[test]
    fn every_policy_can_be_set_and_set_back() {
        const MS: Duration = Duration::from_millis(1);
        let qos = QoS::keep_all(3).best_effort().transient_local().deadline(MS).lifespan(2 * MS);
        let qos = qos.liveliness_manual_by_topic(3 * MS);
        assert_eq!((qos.history(), qos.depth()), (History::KeepAll, 3));
        assert_eq!(qos.reliability(), Reliability::BestEffort);
        assert!(qos.is_transient_local());
        assert_eq!((qos.deadline_period(), qos.lifespan_age()), (Some(MS), Some(2 * MS)));
        assert_eq!((qos.liveliness(), qos.lease()), (Liveliness::ManualByTopic, Some(3 * MS)));
        let zero = Duration::ZERO;
        let back = qos.reliable().volatile().deadline(zero).lifespan(Duration::MAX);
        assert_eq!(back.liveliness_automatic().liveliness_lease_duration(zero), QoS::keep_all(3));
    }
}
