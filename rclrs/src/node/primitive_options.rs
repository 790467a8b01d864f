//! Options that publishers, subscriptions, services and clients have in common.
//!
//! An option that the application does not set is left to the default profile of the primitive,
//! which is known only when the options are used.

use crate::qos::{
    QoSDurabilityPolicy, QoSDuration, QoSHistoryPolicy, QoSLivelinessPolicy, QoSProfile,
    QoSReliabilityPolicy,
};
use std::borrow::Borrow;
use std::time::Duration;

/// The name of a primitive, and the policies that differ from its default profile.
///
/// ```
/// # use rclrs::{IntoPrimitiveOptions, QoSHistoryPolicy};
/// let options = "scan".keep_last(3).best_effort();
/// assert_eq!(options.history, Some(QoSHistoryPolicy::KeepLast { depth: 3 }));
/// assert_eq!(options.durability, None);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PrimitiveOptions<'a> {
    /// The name of the topic or service, before remapping.
    pub name: &'a str,
    /// Replaces [`QoSProfile::history`].
    pub history: Option<QoSHistoryPolicy>,
    /// Replaces [`QoSProfile::reliability`].
    pub reliability: Option<QoSReliabilityPolicy>,
    /// Replaces [`QoSProfile::durability`].
    pub durability: Option<QoSDurabilityPolicy>,
    /// Replaces [`QoSProfile::deadline`].
    pub deadline: Option<QoSDuration>,
    /// Replaces [`QoSProfile::lifespan`].
    pub lifespan: Option<QoSDuration>,
    /// Replaces [`QoSProfile::liveliness`].
    pub liveliness: Option<QoSLivelinessPolicy>,
    /// Replaces [`QoSProfile::liveliness_lease`].
    pub liveliness_lease: Option<QoSDuration>,
    /// Replaces [`QoSProfile::avoid_ros_namespace_conventions`].
    pub avoid_ros_namespace_conventions: Option<bool>,
}

impl<'a> PrimitiveOptions<'a> {
    /// Creates options with a name and the default profile.
    pub fn new(name: &'a str) -> Self {
        Self {
            name,
            history: None,
            reliability: None,
            durability: None,
            deadline: None,
            lifespan: None,
            liveliness: None,
            liveliness_lease: None,
            avoid_ros_namespace_conventions: None,
        }
    }

    /// Replaces the policies of `qos` that are set here.
    pub fn apply_to(&self, qos: &mut QoSProfile) {
        let avoid = self.avoid_ros_namespace_conventions;
        *qos = QoSProfile {
            history: self.history.unwrap_or(qos.history),
            reliability: self.reliability.unwrap_or(qos.reliability),
            durability: self.durability.unwrap_or(qos.durability),
            deadline: self.deadline.unwrap_or(qos.deadline),
            lifespan: self.lifespan.unwrap_or(qos.lifespan),
            liveliness: self.liveliness.unwrap_or(qos.liveliness),
            liveliness_lease: self.liveliness_lease.unwrap_or(qos.liveliness_lease),
            avoid_ros_namespace_conventions: avoid.unwrap_or(qos.avoid_ros_namespace_conventions),
        };
    }
}

/// A name, or options: sets policies of a primitive.
pub trait IntoPrimitiveOptions<'a>: Sized {
    /// Returns the options; those of a name have the default profile.
    fn into_primitive_options(self) -> PrimitiveOptions<'a>;

    /// Sets all policies. [`QoSProfile::avoid_ros_namespace_conventions`] is set only if it is
    /// true.
    fn qos(self, profile: QoSProfile) -> PrimitiveOptions<'a> {
        let options = self.into_primitive_options();
        let avoid = profile.avoid_ros_namespace_conventions.then_some(true);
        PrimitiveOptions {
            name: options.name,
            history: Some(profile.history),
            reliability: Some(profile.reliability),
            durability: Some(profile.durability),
            deadline: Some(profile.deadline),
            lifespan: Some(profile.lifespan),
            liveliness: Some(profile.liveliness),
            liveliness_lease: Some(profile.liveliness_lease),
            avoid_ros_namespace_conventions: avoid.or(options.avoid_ros_namespace_conventions),
        }
    }

    /// Sets the profile [`QoSProfile::topics_default`].
    fn topics_qos(self) -> PrimitiveOptions<'a> {
        self.qos(QoSProfile::topics_default())
    }

    /// Sets the profile [`QoSProfile::sensor_data_default`].
    fn sensor_data_qos(self) -> PrimitiveOptions<'a> {
        self.qos(QoSProfile::sensor_data_default())
    }

    /// Sets the profile [`QoSProfile::services_default`].
    fn services_qos(self) -> PrimitiveOptions<'a> {
        self.qos(QoSProfile::services_default())
    }

    /// Sets the profile [`QoSProfile::system_default`].
    fn system_qos(self) -> PrimitiveOptions<'a> {
        self.qos(QoSProfile::system_default())
    }

    /// Sets the history policy.
    fn history(self, history: QoSHistoryPolicy) -> PrimitiveOptions<'a> {
        PrimitiveOptions { history: Some(history), ..self.into_primitive_options() }
    }

    /// Keeps the newest `depth` messages.
    fn keep_last(self, depth: u32) -> PrimitiveOptions<'a> {
        self.history(QoSHistoryPolicy::KeepLast { depth })
    }

    /// Keeps all messages: see [`QoSHistoryPolicy::KeepAll`].
    fn keep_all(self) -> PrimitiveOptions<'a> {
        self.history(QoSHistoryPolicy::KeepAll)
    }

    /// Sets the reliability policy.
    fn reliability(self, reliability: QoSReliabilityPolicy) -> PrimitiveOptions<'a> {
        PrimitiveOptions { reliability: Some(reliability), ..self.into_primitive_options() }
    }

    /// Sets [`QoSReliabilityPolicy::Reliable`].
    fn reliable(self) -> PrimitiveOptions<'a> {
        self.reliability(QoSReliabilityPolicy::Reliable)
    }

    /// Sets [`QoSReliabilityPolicy::BestEffort`].
    fn best_effort(self) -> PrimitiveOptions<'a> {
        self.reliability(QoSReliabilityPolicy::BestEffort)
    }

    /// Sets the durability policy.
    fn durability(self, durability: QoSDurabilityPolicy) -> PrimitiveOptions<'a> {
        PrimitiveOptions { durability: Some(durability), ..self.into_primitive_options() }
    }

    /// Sets [`QoSDurabilityPolicy::Volatile`].
    fn volatile(self) -> PrimitiveOptions<'a> {
        self.durability(QoSDurabilityPolicy::Volatile)
    }

    /// Sets [`QoSDurabilityPolicy::TransientLocal`].
    fn transient_local(self) -> PrimitiveOptions<'a> {
        self.durability(QoSDurabilityPolicy::TransientLocal)
    }

    /// Sets the longest age of a message that is delivered.
    fn lifespan(self, lifespan: QoSDuration) -> PrimitiveOptions<'a> {
        PrimitiveOptions { lifespan: Some(lifespan), ..self.into_primitive_options() }
    }

    /// Sets a finite [lifespan](Self::lifespan).
    fn lifespan_duration(self, duration: Duration) -> PrimitiveOptions<'a> {
        self.lifespan(QoSDuration::Custom(duration))
    }

    /// Removes the limit of the [lifespan](Self::lifespan).
    fn infinite_lifespan(self) -> PrimitiveOptions<'a> {
        self.lifespan(QoSDuration::Infinite)
    }

    /// Sets the longest time between two messages.
    fn deadline(self, deadline: QoSDuration) -> PrimitiveOptions<'a> {
        PrimitiveOptions { deadline: Some(deadline), ..self.into_primitive_options() }
    }

    /// Sets a finite [deadline](Self::deadline).
    fn deadline_duration(self, duration: Duration) -> PrimitiveOptions<'a> {
        self.deadline(QoSDuration::Custom(duration))
    }

    /// Removes the [deadline](Self::deadline).
    fn no_deadline(self) -> PrimitiveOptions<'a> {
        self.deadline(QoSDuration::Infinite)
    }

    /// Sets the liveliness policy.
    fn liveliness(self, liveliness: QoSLivelinessPolicy) -> PrimitiveOptions<'a> {
        PrimitiveOptions { liveliness: Some(liveliness), ..self.into_primitive_options() }
    }

    /// Sets [`QoSLivelinessPolicy::Automatic`].
    fn liveliness_automatic(self) -> PrimitiveOptions<'a> {
        self.liveliness(QoSLivelinessPolicy::Automatic)
    }

    /// Sets [`QoSLivelinessPolicy::ManualByTopic`].
    fn liveliness_manual(self) -> PrimitiveOptions<'a> {
        self.liveliness(QoSLivelinessPolicy::ManualByTopic)
    }

    /// Sets the longest time between two signs of life.
    fn liveliness_lease(self, lease: QoSDuration) -> PrimitiveOptions<'a> {
        PrimitiveOptions { liveliness_lease: Some(lease), ..self.into_primitive_options() }
    }

    /// Sets a finite [lease](Self::liveliness_lease).
    fn liveliness_lease_duration(self, duration: Duration) -> PrimitiveOptions<'a> {
        self.liveliness_lease(QoSDuration::Custom(duration))
    }

    /// Sets [`QoSProfile::avoid_ros_namespace_conventions`], which has no effect.
    fn avoid_ros_namespace_conventions(self) -> PrimitiveOptions<'a> {
        let avoid_ros_namespace_conventions = Some(true);
        PrimitiveOptions { avoid_ros_namespace_conventions, ..self.into_primitive_options() }
    }
}

impl<'a> IntoPrimitiveOptions<'a> for PrimitiveOptions<'a> {
    fn into_primitive_options(self) -> PrimitiveOptions<'a> {
        self
    }
}

impl<'a> IntoPrimitiveOptions<'a> for &'a str {
    fn into_primitive_options(self) -> PrimitiveOptions<'a> {
        PrimitiveOptions::new(self)
    }
}

impl<'a, T: Borrow<str>> IntoPrimitiveOptions<'a> for &'a T {
    fn into_primitive_options(self) -> PrimitiveOptions<'a> {
        PrimitiveOptions::new(self.borrow())
    }
}
