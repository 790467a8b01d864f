//! Quality of service, as r2r has it.

use ringspin::QoS;
use ringspin::qos::{Durability, History, Liveliness, Reliability};
use std::time::Duration;

/// How many messages are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryPolicy {
    /// All, up to [`KEEP_ALL_MAX`]; then publishing fails.
    KeepAll,
    /// The newest ones.
    KeepLast,
    /// Treated as [`KeepLast`](Self::KeepLast).
    SystemDefault,
    /// Treated as [`KeepLast`](Self::KeepLast).
    Unknown,
}

/// Whether messages are sent again that were lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReliabilityPolicy {
    /// No.
    BestEffort,
    /// Yes.
    Reliable,
    /// Treated as [`Reliable`](Self::Reliable).
    SystemDefault,
    /// Treated as [`Reliable`](Self::Reliable).
    BestAvailable,
    /// Treated as [`Reliable`](Self::Reliable).
    Unknown,
}

/// Whether subscriptions that come later get earlier messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DurabilityPolicy {
    /// Yes, as many as the publisher keeps.
    TransientLocal,
    /// No.
    Volatile,
    /// Treated as [`Volatile`](Self::Volatile).
    SystemDefault,
    /// Treated as [`Volatile`](Self::Volatile).
    BestAvailable,
    /// Treated as [`Volatile`](Self::Volatile).
    Unknown,
}

/// The origin of signs of life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LivelinessPolicy {
    /// The middleware.
    Automatic,
    /// Treated as [`Automatic`](Self::Automatic): ROS 2 does not have it any more.
    ManualByNode,
    /// The application, by publishing.
    ManualByTopic,
    /// Treated as [`Automatic`](Self::Automatic).
    SystemDefault,
    /// Treated as [`Automatic`](Self::Automatic).
    BestAvailable,
    /// Treated as [`Automatic`](Self::Automatic).
    Unknown,
}

/// Messages that [`HistoryPolicy::KeepAll`] keeps.
pub const KEEP_ALL_MAX: usize = 5000;

/// Quality of service of a publisher, subscription, service or client. Durations of zero are
/// "none".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QosProfile {
    /// How many messages are kept.
    pub history: HistoryPolicy,
    /// The number of messages for [`HistoryPolicy::KeepLast`]; zero is one.
    pub depth: usize,
    /// Whether messages are sent again that were lost.
    pub reliability: ReliabilityPolicy,
    /// Whether subscriptions that come later get earlier messages.
    pub durability: DurabilityPolicy,
    /// The longest time between two messages.
    pub deadline: Duration,
    /// The longest age of a message that is delivered.
    pub lifespan: Duration,
    /// The origin of signs of life.
    pub liveliness: LivelinessPolicy,
    /// The longest time between two signs of life.
    pub liveliness_lease_duration: Duration,
    /// Not used: names are always those of ROS.
    pub avoid_ros_namespace_conventions: bool,
}

impl QosProfile {
    /// ROS 2's profile for sensor data: keep the last 5, best effort.
    pub const fn sensor_data() -> Self {
        Self::system_default().keep_last(5).best_effort().volatile()
    }

    /// ROS 2's profile for parameter services: keep the last 1000.
    pub const fn parameters() -> Self {
        Self::default().keep_last(1000)
    }

    /// ROS 2's profile for most topics: keep the last 10, reliable.
    #[allow(clippy::should_implement_trait)]
    pub const fn default() -> Self {
        Self::system_default().keep_last(10).reliable().volatile()
    }

    /// ROS 2's profile for services: keep the last 10, reliable.
    pub const fn services_default() -> Self {
        Self::default()
    }

    /// ROS 2's profile for the topic of parameter events: keep the last 1000.
    pub const fn parameter_events() -> Self {
        Self::default().keep_last(1000)
    }

    /// The middleware's defaults.
    pub const fn system_default() -> Self {
        Self {
            history: HistoryPolicy::SystemDefault,
            depth: 0,
            reliability: ReliabilityPolicy::SystemDefault,
            durability: DurabilityPolicy::SystemDefault,
            deadline: Duration::ZERO,
            lifespan: Duration::ZERO,
            liveliness: LivelinessPolicy::SystemDefault,
            liveliness_lease_duration: Duration::ZERO,
            avoid_ros_namespace_conventions: false,
        }
    }

    /// Nothing is known.
    pub const fn unknown() -> Self {
        Self::system_default()
            .history(HistoryPolicy::Unknown)
            .reliability(ReliabilityPolicy::Unknown)
            .durability(DurabilityPolicy::Unknown)
            .liveliness(LivelinessPolicy::Unknown)
    }

    /// Keeps the newest `depth` messages.
    #[must_use]
    pub const fn keep_last(self, depth: usize) -> Self {
        Self { history: HistoryPolicy::KeepLast, depth, ..self }
    }

    /// Keeps all messages.
    #[must_use]
    pub const fn keep_all(self) -> Self {
        Self { history: HistoryPolicy::KeepAll, depth: 0, ..self }
    }

    /// Reliable.
    #[must_use]
    pub const fn reliable(self) -> Self {
        self.reliability(ReliabilityPolicy::Reliable)
    }

    /// Best effort.
    #[must_use]
    pub const fn best_effort(self) -> Self {
        self.reliability(ReliabilityPolicy::BestEffort)
    }

    /// Volatile.
    #[must_use]
    pub const fn volatile(self) -> Self {
        self.durability(DurabilityPolicy::Volatile)
    }

    /// Transient-local.
    #[must_use]
    pub const fn transient_local(self) -> Self {
        self.durability(DurabilityPolicy::TransientLocal)
    }
}

macro_rules! setters {
    ($($field:ident: $ty:ty),* $(,)?) => {
        impl QosProfile {
            $(
                #[doc = concat!("The same profile with another `", stringify!($field), "`.")]
                #[must_use]
                pub const fn $field(self, $field: $ty) -> Self {
                    Self { $field, ..self }
                }
            )*
        }
    };
}

setters! {
    history: HistoryPolicy,
    reliability: ReliabilityPolicy,
    durability: DurabilityPolicy,
    deadline: Duration,
    lifespan: Duration,
    liveliness: LivelinessPolicy,
    liveliness_lease_duration: Duration,
    avoid_ros_namespace_conventions: bool,
}

impl From<&QosProfile> for QoS {
    fn from(profile: &QosProfile) -> Self {
        let qos = match profile.history {
            HistoryPolicy::KeepAll => Self::keep_all(KEEP_ALL_MAX),
            _ => Self::keep_last(profile.depth.max(1)),
        };
        let qos = match profile.reliability {
            ReliabilityPolicy::BestEffort => qos.best_effort(),
            _ => qos.reliable(),
        };
        let qos = match profile.durability {
            DurabilityPolicy::TransientLocal => qos.transient_local(),
            _ => qos.volatile(),
        };
        let lease = profile.liveliness_lease_duration;
        let qos = match profile.liveliness {
            LivelinessPolicy::ManualByTopic => qos.liveliness_manual_by_topic(lease),
            _ => qos.liveliness_lease_duration(lease),
        };
        qos.deadline(profile.deadline).lifespan(profile.lifespan)
    }
}

impl From<QoS> for QosProfile {
    fn from(qos: QoS) -> Self {
        let history = match qos.history() {
            History::KeepLast => HistoryPolicy::KeepLast,
            History::KeepAll => HistoryPolicy::KeepAll,
        };
        let reliability = match qos.reliability() {
            Reliability::Reliable => ReliabilityPolicy::Reliable,
            Reliability::BestEffort => ReliabilityPolicy::BestEffort,
        };
        let durability = match qos.durability() {
            Durability::Volatile => DurabilityPolicy::Volatile,
            Durability::TransientLocal => DurabilityPolicy::TransientLocal,
        };
        let liveliness = match qos.liveliness() {
            Liveliness::Automatic => LivelinessPolicy::Automatic,
            Liveliness::ManualByTopic => LivelinessPolicy::ManualByTopic,
        };
        Self {
            history,
            depth: qos.depth(),
            reliability,
            durability,
            deadline: qos.deadline_period().unwrap_or_default(),
            lifespan: qos.lifespan_age().unwrap_or_default(),
            liveliness,
            liveliness_lease_duration: qos.lease().unwrap_or_default(),
            avoid_ros_namespace_conventions: false,
        }
    }
}
