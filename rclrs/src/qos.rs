//! Quality of service: the profiles of rclrs, and their meaning for the graph.
//!
//! Policies of the system and best-available ones are resolved here, when an end is created; the
//! graph has neither.

use ringspin::QoS;
use ringspin::qos::{Durability, History, Liveliness, Reliability};
use std::time::Duration;

/// Limit of the messages of [`QoSHistoryPolicy::KeepAll`]; beyond, publishing fails.
const KEEP_ALL_MAX: usize = 5000;

/// Requests that may wait at a service, and calls of a client that may be unanswered, unless the
/// options have a greater depth. In rclrs a client has no limit, and ROS 2 overwrites requests and
/// responses beyond the depth.
const CALLS_MIN: usize = 1000;

/// The number of messages that are kept.
///
/// It is that of the newest messages in the queue of a subscription, and of those that a
/// transient-local publisher keeps for later subscriptions. All combinations are compatible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QoSHistoryPolicy {
    /// Treated as [`KeepLast`](Self::KeepLast).
    SystemDefault {
        /// The number of messages; zero is treated as one.
        depth: u32,
    },
    /// Keeps the newest messages.
    KeepLast {
        /// The number of messages; zero is treated as one.
        depth: u32,
    },
    /// Keeps all messages, at most 5000; then publishing fails.
    KeepAll,
}

/// Whether messages that are lost in transit are sent again.
///
/// A best-effort publisher is not compatible with a reliable subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QoSReliabilityPolicy {
    /// Treated as [`Reliable`](Self::Reliable).
    SystemDefault = 0,
    /// Lost messages are sent again.
    Reliable = 1,
    /// Messages may be lost.
    BestEffort = 2,
    /// Of a subscription: best effort if a publisher of the topic in this process is, else
    /// reliable. Of other primitives: reliable.
    BestAvailable = 4,
}

/// Whether a publisher keeps messages for later subscriptions.
///
/// A volatile publisher is not compatible with a transient-local subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QoSDurabilityPolicy {
    /// Treated as [`Volatile`](Self::Volatile).
    SystemDefault = 0,
    /// A publisher keeps as many messages as its history policy says; a subscription gets them.
    TransientLocal = 1,
    /// No message is kept.
    Volatile = 2,
    /// Of a publisher: transient-local. Of a subscription: transient-local if the topic has
    /// publishers in this process and all are. Else volatile.
    BestAvailable = 4,
}

/// The way in which a publisher shows that it is alive.
///
/// An automatic publisher is not compatible with a subscription that requests a manual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QoSLivelinessPolicy {
    /// Treated as [`Automatic`](Self::Automatic).
    SystemDefault = 0,
    /// It is alive while its node runs.
    Automatic = 1,
    /// It is alive while it publishes within its lease.
    ManualByTopic = 3,
    /// Of a subscription: manual if the topic has publishers in this process and all are. Else
    /// automatic.
    BestAvailable = 5,
}

/// A duration of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QoSDuration {
    /// Treated as [`Infinite`](Self::Infinite).
    SystemDefault,
    /// No limit.
    Infinite,
    /// A limit; zero is treated as one nanosecond.
    Custom(Duration),
}

/// Quality of service of a publisher, subscription, service or client.
///
/// Messages are delivered between a publisher and a subscription with compatible profiles.
///
/// ```
/// # use rclrs::{QOS_PROFILE_SENSOR_DATA, QoSHistoryPolicy, QoSProfile};
/// let history = QoSHistoryPolicy::KeepLast { depth: 3 };
/// let lidar = QoSProfile { history, ..QOS_PROFILE_SENSOR_DATA };
/// assert_eq!(lidar, QoSProfile::sensor_data_default().keep_last(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QoSProfile {
    /// The number of messages that are kept.
    pub history: QoSHistoryPolicy,
    /// Whether lost messages are sent again.
    pub reliability: QoSReliabilityPolicy,
    /// Whether a publisher keeps messages for later subscriptions.
    pub durability: QoSDurabilityPolicy,
    /// The longest time between two messages.
    pub deadline: QoSDuration,
    /// The longest age of a message that is delivered.
    pub lifespan: QoSDuration,
    /// The way in which a publisher shows that it is alive.
    pub liveliness: QoSLivelinessPolicy,
    /// The longest time between two signs of life.
    pub liveliness_lease: QoSDuration,
    /// Has no effect: names follow the conventions of ROS.
    pub avoid_ros_namespace_conventions: bool,
}

/// `rmw_qos_profile_system_default`: the middleware decides.
pub const QOS_PROFILE_SYSTEM_DEFAULT: QoSProfile = QoSProfile {
    history: QoSHistoryPolicy::SystemDefault { depth: 0 },
    reliability: QoSReliabilityPolicy::SystemDefault,
    durability: QoSDurabilityPolicy::SystemDefault,
    deadline: QoSDuration::SystemDefault,
    lifespan: QoSDuration::SystemDefault,
    liveliness: QoSLivelinessPolicy::SystemDefault,
    liveliness_lease: QoSDuration::SystemDefault,
    avoid_ros_namespace_conventions: false,
};

/// `rmw_qos_profile_default`, for topics: keeps the last 10, reliable.
pub const QOS_PROFILE_DEFAULT: QoSProfile = QoSProfile {
    history: QoSHistoryPolicy::KeepLast { depth: 10 },
    reliability: QoSReliabilityPolicy::Reliable,
    durability: QoSDurabilityPolicy::Volatile,
    ..QOS_PROFILE_SYSTEM_DEFAULT
};

/// `rmw_qos_profile_sensor_data`: keeps the last 5, best effort.
pub const QOS_PROFILE_SENSOR_DATA: QoSProfile = QoSProfile {
    history: QoSHistoryPolicy::KeepLast { depth: 5 },
    reliability: QoSReliabilityPolicy::BestEffort,
    ..QOS_PROFILE_DEFAULT
};

/// The profile of `/clock`: keeps the last message, best effort.
pub const QOS_PROFILE_CLOCK: QoSProfile =
    QoSProfile { history: QoSHistoryPolicy::KeepLast { depth: 1 }, ..QOS_PROFILE_SENSOR_DATA };

/// `rmw_qos_profile_parameters`, for the services of parameters: keeps the last 1000.
pub const QOS_PROFILE_PARAMETERS: QoSProfile =
    QoSProfile { history: QoSHistoryPolicy::KeepLast { depth: 1000 }, ..QOS_PROFILE_DEFAULT };

/// `rmw_qos_profile_services_default`: keeps the last 10, reliable.
pub const QOS_PROFILE_SERVICES_DEFAULT: QoSProfile = QOS_PROFILE_DEFAULT;

/// The profile of parameter events: keeps all, reliable.
pub const QOS_PROFILE_PARAMETER_EVENTS: QoSProfile =
    QoSProfile { history: QoSHistoryPolicy::KeepAll, ..QOS_PROFILE_DEFAULT };

/// `rcl_action_qos_profile_status_default`: keeps the last message for later subscriptions.
pub const QOS_PROFILE_ACTION_STATUS_DEFAULT: QoSProfile = QoSProfile {
    history: QoSHistoryPolicy::KeepLast { depth: 1 },
    durability: QoSDurabilityPolicy::TransientLocal,
    ..QOS_PROFILE_DEFAULT
};

impl QoSProfile {
    /// Returns the profile of topics, [`QOS_PROFILE_DEFAULT`].
    pub fn topics_default() -> Self {
        QOS_PROFILE_DEFAULT
    }

    /// Returns the profile of sensor data, [`QOS_PROFILE_SENSOR_DATA`].
    pub fn sensor_data_default() -> Self {
        QOS_PROFILE_SENSOR_DATA
    }

    /// Returns the profile of services, [`QOS_PROFILE_SERVICES_DEFAULT`].
    pub fn services_default() -> Self {
        QOS_PROFILE_SERVICES_DEFAULT
    }

    /// Returns the profile of the services of parameters, [`QOS_PROFILE_PARAMETERS`].
    pub fn parameter_services_default() -> Self {
        QOS_PROFILE_PARAMETERS
    }

    /// Returns the profile of parameter events, [`QOS_PROFILE_PARAMETER_EVENTS`].
    pub fn parameter_events_default() -> Self {
        QOS_PROFILE_PARAMETER_EVENTS
    }

    /// Returns the profile of the middleware, [`QOS_PROFILE_SYSTEM_DEFAULT`].
    pub fn system_default() -> Self {
        QOS_PROFILE_SYSTEM_DEFAULT
    }

    /// Returns the profile of action status topics, [`QOS_PROFILE_ACTION_STATUS_DEFAULT`].
    pub fn action_status_default() -> Self {
        QOS_PROFILE_ACTION_STATUS_DEFAULT
    }

    /// Returns a profile with best-available policies, which keeps the last 10 messages. They are
    /// chosen when the primitive is created: publishers that are created later may be incompatible.
    pub fn best_available() -> Self {
        Self {
            reliability: QoSReliabilityPolicy::BestAvailable,
            durability: QoSDurabilityPolicy::BestAvailable,
            deadline: QoSDuration::Infinite,
            liveliness: QoSLivelinessPolicy::BestAvailable,
            liveliness_lease: QoSDuration::Infinite,
            ..QOS_PROFILE_DEFAULT
        }
    }

    /// Keeps the newest `depth` messages.
    pub fn keep_last(self, depth: u32) -> Self {
        Self { history: QoSHistoryPolicy::KeepLast { depth }, ..self }
    }

    /// Keeps all messages: see [`QoSHistoryPolicy::KeepAll`].
    pub fn keep_all(self) -> Self {
        Self { history: QoSHistoryPolicy::KeepAll, ..self }
    }

    /// Sets [`QoSReliabilityPolicy::Reliable`].
    pub fn reliable(self) -> Self {
        Self { reliability: QoSReliabilityPolicy::Reliable, ..self }
    }

    /// Sets [`QoSReliabilityPolicy::BestEffort`].
    pub fn best_effort(self) -> Self {
        Self { reliability: QoSReliabilityPolicy::BestEffort, ..self }
    }

    /// Sets [`QoSDurabilityPolicy::Volatile`].
    pub fn volatile(self) -> Self {
        Self { durability: QoSDurabilityPolicy::Volatile, ..self }
    }

    /// Sets [`QoSDurabilityPolicy::TransientLocal`].
    pub fn transient_local(self) -> Self {
        Self { durability: QoSDurabilityPolicy::TransientLocal, ..self }
    }

    /// Sets the longest time between two messages.
    pub fn deadline_duration(self, deadline: Duration) -> Self {
        Self { deadline: QoSDuration::Custom(deadline), ..self }
    }

    /// Sets the longest time between two signs of life.
    pub fn liveliness_lease_duration(self, lease_duration: Duration) -> Self {
        Self { liveliness_lease: QoSDuration::Custom(lease_duration), ..self }
    }

    /// Sets the longest age of a message that is delivered.
    pub fn lifespan_duration(self, lifespan: Duration) -> Self {
        Self { lifespan: QoSDuration::Custom(lifespan), ..self }
    }

    /// Returns the policies for a publisher.
    pub(crate) fn for_publisher(self) -> QoS {
        let best = (Reliability::Reliable, Durability::TransientLocal, Liveliness::Automatic);
        self.resolved(self.history.kept(), best)
    }

    /// Returns the policies for a service or client. All requests and responses are kept: as many
    /// as the depth says, at least [`CALLS_MIN`].
    pub(crate) fn for_service(self) -> QoS {
        let best = (Reliability::Reliable, Durability::Volatile, Liveliness::Automatic);
        let depth = self.history.kept().depth().max(CALLS_MIN);
        self.resolved(QoS::keep_all(depth), best)
    }

    /// Returns the policies for a subscription of a topic on which publishers offer `offered`, as
    /// [`Graph::offered_qos`](ringspin::Graph::offered_qos) lists them. As in rmw, a best-available
    /// policy is the highest one that all of them offer. Without any publisher it is that of
    /// [`QOS_PROFILE_DEFAULT`], which default publishers match.
    pub(crate) fn for_subscription(self, offered: &[(String, QoS)]) -> QoS {
        let offered = || offered.iter().map(|(_, qos)| qos);
        let reliability = offered().map(QoS::reliability).min();
        let durability = offered().map(QoS::durability).min();
        let is_manual = |qos: &QoS| qos.liveliness() == Liveliness::ManualByTopic;
        let all_are_manual = offered().next().is_some() && offered().all(is_manual);
        let liveliness =
            if all_are_manual { Liveliness::ManualByTopic } else { Liveliness::Automatic };
        let best = (
            reliability.unwrap_or(Reliability::Reliable),
            durability.unwrap_or(Durability::Volatile),
            liveliness,
        );
        self.resolved(self.history.kept(), best)
    }

    /// Returns the profile with the policies of the graph.
    pub(crate) fn of_graph(qos: QoS) -> Self {
        let limit =
            |time: Option<Duration>| time.map_or(QoSDuration::Infinite, QoSDuration::Custom);
        Self {
            history: match qos.history() {
                History::KeepLast => QoSHistoryPolicy::KeepLast { depth: qos.depth() as u32 },
                History::KeepAll => QoSHistoryPolicy::KeepAll,
            },
            reliability: match qos.reliability() {
                Reliability::Reliable => QoSReliabilityPolicy::Reliable,
                Reliability::BestEffort => QoSReliabilityPolicy::BestEffort,
            },
            durability: match qos.durability() {
                Durability::Volatile => QoSDurabilityPolicy::Volatile,
                Durability::TransientLocal => QoSDurabilityPolicy::TransientLocal,
            },
            deadline: limit(qos.deadline_period()),
            lifespan: limit(qos.lifespan_age()),
            liveliness: match qos.liveliness() {
                Liveliness::Automatic => QoSLivelinessPolicy::Automatic,
                Liveliness::ManualByTopic => QoSLivelinessPolicy::ManualByTopic,
            },
            liveliness_lease: limit(qos.lease()),
            avoid_ros_namespace_conventions: false,
        }
    }

    /// Returns the policies with the history of `kept`, and `best` instead of the best-available
    /// ones.
    fn resolved(self, kept: QoS, best: (Reliability, Durability, Liveliness)) -> QoS {
        let reliability = match self.reliability {
            QoSReliabilityPolicy::BestAvailable => best.0,
            QoSReliabilityPolicy::BestEffort => Reliability::BestEffort,
            QoSReliabilityPolicy::SystemDefault | QoSReliabilityPolicy::Reliable => {
                Reliability::Reliable
            }
        };
        let durability = match self.durability {
            QoSDurabilityPolicy::BestAvailable => best.1,
            QoSDurabilityPolicy::TransientLocal => Durability::TransientLocal,
            QoSDurabilityPolicy::SystemDefault | QoSDurabilityPolicy::Volatile => {
                Durability::Volatile
            }
        };
        let liveliness = match self.liveliness {
            QoSLivelinessPolicy::BestAvailable => best.2,
            QoSLivelinessPolicy::ManualByTopic => Liveliness::ManualByTopic,
            QoSLivelinessPolicy::SystemDefault | QoSLivelinessPolicy::Automatic => {
                Liveliness::Automatic
            }
        };
        let qos = match reliability {
            Reliability::BestEffort => kept.best_effort(),
            Reliability::Reliable => kept.reliable(),
        };
        let qos = match durability {
            Durability::Volatile => qos.volatile(),
            Durability::TransientLocal => qos.transient_local(),
        };
        let lease = self.liveliness_lease.limit();
        let qos = match liveliness {
            Liveliness::Automatic => qos.liveliness_lease_duration(lease),
            Liveliness::ManualByTopic => qos.liveliness_manual_by_topic(lease),
        };
        qos.deadline(self.deadline.limit()).lifespan(self.lifespan.limit())
    }
}

impl Default for QoSProfile {
    /// Returns [`QOS_PROFILE_DEFAULT`].
    fn default() -> Self {
        QOS_PROFILE_DEFAULT
    }
}

impl QoSHistoryPolicy {
    fn kept(self) -> QoS {
        match self {
            Self::KeepAll => QoS::keep_all(KEEP_ALL_MAX),
            Self::KeepLast { depth } | Self::SystemDefault { depth } => {
                QoS::keep_last(usize::try_from(depth.max(1)).unwrap_or(usize::MAX))
            }
        }
    }
}

impl QoSDuration {
    /// The duration as the graph has it: zero is no limit.
    fn limit(self) -> Duration {
        match self {
            Self::SystemDefault | Self::Infinite => Duration::ZERO,
            Self::Custom(duration) => duration.max(Duration::from_nanos(1)),
        }
    }
}
