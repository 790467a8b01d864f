//! Conversion of the quality of service to and from rmw.

use super::entity::{Entity, copied};
use super::fast_dds;
use super::ffi;
use super::ffi::rmw_qos_durability_policy_e as RmwDurability;
use super::ffi::rmw_qos_history_policy_e as RmwHistory;
use super::ffi::rmw_qos_liveliness_policy_e as RmwLiveliness;
use super::ffi::rmw_qos_reliability_policy_e as RmwReliability;
use super::ffi::{rmw_qos_profile_t, rmw_time_s};
use ringspin_executor::{Durability, History, Liveliness, QoS, Reliability};
use std::time::Duration;

/// Converts `qos` to rmw's struct. No limit of time is zero there, as in ROS 2.
pub(super) fn to_rmw(qos: &QoS) -> rmw_qos_profile_t {
    rmw_qos_profile_t {
        history: match qos.history() {
            History::KeepLast => RmwHistory::RMW_QOS_POLICY_HISTORY_KEEP_LAST,
            History::KeepAll => RmwHistory::RMW_QOS_POLICY_HISTORY_KEEP_ALL,
        },
        depth: qos.depth().max(1), // Zero is "as the middleware likes".
        reliability: match qos.reliability() {
            Reliability::Reliable => RmwReliability::RMW_QOS_POLICY_RELIABILITY_RELIABLE,
            Reliability::BestEffort => RmwReliability::RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
        },
        durability: match qos.durability() {
            Durability::Volatile => RmwDurability::RMW_QOS_POLICY_DURABILITY_VOLATILE,
            Durability::TransientLocal => RmwDurability::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
        },
        deadline: to_time(qos.deadline_period()),
        lifespan: to_time(qos.lifespan_age()),
        liveliness: match qos.liveliness() {
            Liveliness::Automatic => RmwLiveliness::RMW_QOS_POLICY_LIVELINESS_AUTOMATIC,
            Liveliness::ManualByTopic => RmwLiveliness::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
        },
        liveliness_lease_duration: to_time(qos.lease()),
        avoid_ros_namespace_conventions: false,
    }
}

/// Converts rmw's struct. Settings that a peer does not tell (Fast DDS tells neither history nor
/// depth) come out as keep last, and a depth of zero; "manual by node" as "manual by topic".
pub(super) fn from_rmw(rmw: &rmw_qos_profile_t) -> QoS {
    let mut qos = match rmw.history {
        RmwHistory::RMW_QOS_POLICY_HISTORY_KEEP_ALL => QoS::keep_all(rmw.depth),
        _ => QoS::keep_last(rmw.depth),
    };
    if rmw.reliability == RmwReliability::RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT {
        qos = qos.best_effort();
    }
    if rmw.durability == RmwDurability::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL {
        qos = qos.transient_local();
    }
    let lease = from_time(&rmw.liveliness_lease_duration);
    qos = match rmw.liveliness {
        RmwLiveliness::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC
        | RmwLiveliness::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE => {
            qos.liveliness_manual_by_topic(lease)
        }
        _ => qos.liveliness_lease_duration(lease),
    };
    qos.deadline(from_time(&rmw.deadline)).lifespan(from_time(&rmw.lifespan))
}

/// Warns where Fast DDS will keep fewer messages than `qos` asks for: it does not.
pub(super) fn check_depth(qos: &QoS, entity: &Entity) {
    const LIMIT: usize = 5000; // `max_samples` of its resource limits, by default.
    let is_limited = fast_dds::is_used() && !fast_dds::is_configured() && !fast_dds::is_settable();
    if qos.depth() > LIMIT && is_limited {
        tracing::warn!(
            "{} has a depth of {}, but this Fast DDS keeps {LIMIT} messages and drops the rest: \
             name a profile with more `max_samples` in FASTRTPS_DEFAULT_PROFILES_FILE",
            entity.text(),
            qos.depth(),
        );
    }
}

/// The middleware's name, such as `rmw_fastrtps_cpp`.
pub fn middleware() -> String {
    // SAFETY: the function returns a static string that ends with NUL.
    unsafe { copied(ffi::rmw_get_implementation_identifier()) }
}

fn to_time(limit: Option<Duration>) -> rmw_time_s {
    let limit = limit.unwrap_or(Duration::ZERO);
    rmw_time_s { sec: limit.as_secs(), nsec: limit.subsec_nanos().into() }
}

/// rmw's "infinite", the most nanoseconds that 63 bits hold, becomes zero: both are no limit.
fn from_time(time: &rmw_time_s) -> Duration {
    let limit = Duration::from_secs(time.sec).saturating_add(Duration::from_nanos(time.nsec));
    if limit.as_nanos() >= i64::MAX as u128 { Duration::ZERO } else { limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_comes_back_as_it_went() {
        const MS: Duration = Duration::from_millis(1);
        let profiles = [
            QoS::default(),
            QoS::sensor_data(),
            QoS::rosout(),
            QoS::keep_all(7),
            QoS::keep_last(3).deadline(2 * MS).lifespan(3001 * MS),
            QoS::keep_last(1).transient_local().liveliness_manual_by_topic(1500 * MS),
            QoS::keep_last(1).liveliness_lease_duration(5 * MS),
        ];
        for qos in profiles {
            assert_eq!(from_rmw(&to_rmw(&qos)), qos);
        }
    }

    #[test]
    fn infinite_is_no_limit_and_nothing_said_is_the_default() {
        let mut rmw = to_rmw(&QoS::default());
        rmw.deadline = rmw_time_s { sec: 9_223_372_036, nsec: 854_775_807 };
        rmw.lifespan = rmw_time_s { sec: u64::MAX, nsec: u64::MAX };
        assert_eq!(from_rmw(&rmw), QoS::default());
        rmw.history = RmwHistory::RMW_QOS_POLICY_HISTORY_UNKNOWN;
        rmw.depth = 0;
        assert_eq!(from_rmw(&rmw), QoS::keep_last(0));
        assert_eq!(to_rmw(&QoS::keep_last(0)).depth, 1);
    }
}
