//! Compatibility of offered and requested QoS between publishers and subscriptions of a topic.

use super::{Durability, Liveliness, QoS, Reliability};
use std::cmp::Ordering;
use std::fmt;
use std::time::Duration;

/// A policy that both ends of a topic have to agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QosPolicy {
    /// Whether messages may get lost.
    Reliability,
    /// Whether messages are kept for late joiners.
    Durability,
    /// The longest time between messages.
    Deadline,
    /// The kind of liveliness.
    Liveliness,
    /// The longest time between signs of life.
    LeaseDuration,
}

impl fmt::Display for QosPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reliability => "reliability",
            Self::Durability => "durability",
            Self::Deadline => "deadline",
            Self::Liveliness => "liveliness",
            Self::LeaseDuration => "lease duration",
        })
    }
}

/// The first policy of which a publisher offers less than a subscription requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatibility {
    /// The policy.
    pub policy: QosPolicy,
    /// The policy that the publisher offers, in words.
    pub offered: String,
    /// The policy that the subscription requests, in words.
    pub requested: String,
}

/// An incompatible peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompatiblePeer {
    /// The fully qualified name of its node; `None` if its node is not known yet.
    pub node: Option<String>,
    /// The incompatible policy and its values.
    pub incompatibility: Incompatibility,
}

impl fmt::Display for IncompatiblePeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Incompatibility { policy, offered, requested } = &self.incompatibility;
        match &self.node {
            Some(node) => write!(f, "node {node}")?,
            None => f.write_str("a node that is not known yet")?,
        }
        write!(f, ": {policy} offered {offered}, requested {requested}")
    }
}

impl QoS {
    /// The reason why a publisher that offers `self` is incompatible with a subscription that
    /// requests `requested`, by the rules of ROS 2; `None` if both are compatible.
    ///
    /// A publisher has to offer at least the requested policy: reliable is more than best effort,
    /// transient local more than volatile, a deadline or lease more than none, a shorter one more
    /// than a longer one, and manual liveliness more than automatic. History, depth and lifespan
    /// are each end's own affair.
    pub fn incompatibility(&self, requested: &QoS) -> Option<Incompatibility> {
        let differ = |policy, offered: &dyn fmt::Display, requested: &dyn fmt::Display| {
            let (offered, requested) = (offered.to_string(), requested.to_string());
            Some(Incompatibility { policy, offered, requested })
        };
        let (offered, limit) = (self, Limit);
        if offered.reliability < requested.reliability {
            return differ(QosPolicy::Reliability, &offered.reliability, &requested.reliability);
        }
        if offered.durability < requested.durability {
            return differ(QosPolicy::Durability, &offered.durability, &requested.durability);
        }
        if limit(offered.deadline) > limit(requested.deadline) {
            return differ(
                QosPolicy::Deadline,
                &limit(offered.deadline),
                &limit(requested.deadline),
            );
        }
        if offered.liveliness < requested.liveliness {
            return differ(QosPolicy::Liveliness, &offered.liveliness, &requested.liveliness);
        }
        if limit(offered.lease) > limit(requested.lease) {
            return differ(
                QosPolicy::LeaseDuration,
                &limit(offered.lease),
                &limit(requested.lease),
            );
        }
        None
    }
}

/// A longest time, which may be unlimited.
#[derive(PartialEq)]
struct Limit(Option<Duration>);

impl PartialOrd for Limit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let of = |limit: &Self| limit.0.unwrap_or(Duration::MAX);
        of(self).partial_cmp(&of(other))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(limit) => write!(f, "{limit:?}"),
            None => f.write_str("unlimited"),
        }
    }
}

impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BestEffort => "best effort",
            Self::Reliable => "reliable",
        })
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Volatile => "volatile",
            Self::TransientLocal => "transient local",
        })
    }
}

impl fmt::Display for Liveliness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Automatic => "automatic",
            Self::ManualByTopic => "manual by topic",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Durability::{TransientLocal, Volatile};
    use Liveliness::{Automatic, ManualByTopic};
    use Reliability::{BestEffort, Reliable};

    const MS: Duration = Duration::from_millis(1);

    // The tables of the ROS 2 documentation ("Quality of Service settings", section "QoS
    // compatibilities"), line by line: publisher, subscription, compatible.
    const RELIABILITY: [(Reliability, Reliability, bool); 4] = [
        (BestEffort, BestEffort, true),
        (BestEffort, Reliable, false),
        (Reliable, BestEffort, true),
        (Reliable, Reliable, true),
    ];
    const DURABILITY: [(Durability, Durability, bool); 4] = [
        (Volatile, Volatile, true),
        (Volatile, TransientLocal, false),
        (TransientLocal, Volatile, true),
        (TransientLocal, TransientLocal, true),
    ];
    const LIVELINESS: [(Liveliness, Liveliness, bool); 4] = [
        (Automatic, Automatic, true),
        (Automatic, ManualByTopic, false),
        (ManualByTopic, Automatic, true),
        (ManualByTopic, ManualByTopic, true),
    ];
    // Of deadline and of lease duration, with x = 2 ms; y is once longer and once shorter.
    const LIMIT: [(Option<Duration>, Option<Duration>, bool); 6] = [
        (None, None, true),
        (None, Some(X), false),
        (Some(X), None, true),
        (Some(X), Some(X), true),
        (Some(X), Some(Duration::from_millis(3)), true),
        (Some(X), Some(MS), false),
    ];
    const X: Duration = Duration::from_millis(2);

    fn pair(case: &mut impl FnMut(QoS, QoS, Option<QosPolicy>)) {
        for (r_offered, r_requested, r_fits) in RELIABILITY {
            for (d_offered, d_requested, d_fits) in DURABILITY {
                for (p_offered, p_requested, p_fits) in LIMIT {
                    for (l_offered, l_requested, l_fits) in LIVELINESS {
                        for (t_offered, t_requested, t_fits) in LIMIT {
                            let qos = |reliability, durability, deadline, liveliness, lease| {
                                let base = QoS::keep_last(1);
                                let base = QoS { reliability, durability, deadline, ..base };
                                QoS { liveliness, lease, ..base }
                            };
                            let offered =
                                qos(r_offered, d_offered, p_offered, l_offered, t_offered);
                            let requested = qos(
                                r_requested,
                                d_requested,
                                p_requested,
                                l_requested,
                                t_requested,
                            );
                            let fits = [
                                (r_fits, QosPolicy::Reliability),
                                (d_fits, QosPolicy::Durability),
                                (p_fits, QosPolicy::Deadline),
                                (l_fits, QosPolicy::Liveliness),
                                (t_fits, QosPolicy::LeaseDuration),
                            ];
                            let first = fits.into_iter().find(|(fits, _)| !fits);
                            case(offered, requested, first.map(|(_, policy)| policy));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn pairs_fit_as_the_tables_of_ros_2_say() {
        let mut pairs = 0;
        pair(&mut |offered, requested, expected| {
            pairs += 1;
            let found = offered.incompatibility(&requested);
            assert_eq!(found.map(|i| i.policy), expected, "{offered:?} for {requested:?}");
        });
        assert_eq!(pairs, 4 * 4 * 6 * 4 * 6);
    }

    #[test]
    fn history_depth_and_lifespan_are_not_compared() {
        let offered = QoS::keep_last(1).lifespan(X);
        for requested in [QoS::keep_all(100), QoS::keep_last(5).lifespan(MS)] {
            assert_eq!(offered.incompatibility(&requested), None);
            assert_eq!(requested.incompatibility(&offered), None);
        }
    }

    #[test]
    fn both_values_are_in_words() {
        let requested = QoS::default().deadline(X);
        let found = QoS::default().deadline(3 * MS).incompatibility(&requested).unwrap();
        let (offered, requested) = ("3ms".into(), "2ms".into());
        assert_eq!(found, Incompatibility { policy: QosPolicy::Deadline, offered, requested });
    }
}
