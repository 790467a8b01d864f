//! QoS profiles: the one that an endpoint asks for, settled, and the form that other processes see.

use crate::bindings::*;
use crate::ffi::{array, code, given};
use ringspin_process_protocol::{Entity, Kind, NEVER, Qos};
use std::ffi::c_char;

/// `RMW_DURATION_INFINITE`, in nanoseconds.
const INFINITE: u64 = i64::MAX as u64;
/// `RMW_QOS_DEADLINE_BEST_AVAILABLE`, in nanoseconds; of a lease as well.
const BEST_AVAILABLE: u64 = INFINITE - 1;

fn given_nanos(time: rmw_time_t) -> u64 {
    time.sec.saturating_mul(1_000_000_000).saturating_add(time.nsec)
}

fn nanos(time: rmw_time_t) -> u64 {
    match given_nanos(time) {
        0 | BEST_AVAILABLE.. => NEVER,
        nanos => nanos,
    }
}

fn to_time(nanos: u64) -> rmw_time_t {
    let nanos = nanos.min(INFINITE);
    rmw_time_t { sec: nanos / 1_000_000_000, nsec: nanos % 1_000_000_000 }
}

/// The profile with its best available policies, where these other endpoints have the topic: a
/// subscription requests the most that all publishers offer, and a publisher offers the most.
pub(crate) fn choose_best<'a>(
    mut profile: rmw_qos_profile_t,
    kind: Kind,
    others: impl Iterator<Item = &'a Entity>,
) -> rmw_qos_profile_t {
    let other_kind = match kind {
        Kind::Publisher => Kind::Subscription,
        Kind::Subscription => Kind::Publisher,
        _ => return profile, // those of services are settled
    };
    let others: Vec<Qos> =
        others.filter(|other| other.kind == other_kind).map(|other| other.qos).collect();
    let is_publisher = kind == Kind::Publisher;
    let all = |is_met: fn(&Qos) -> bool| is_publisher || others.iter().all(is_met);
    if profile.reliability == RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE {
        profile.reliability = match all(|qos| qos.is_reliable) {
            true => RMW_QOS_POLICY_RELIABILITY_RELIABLE,
            false => RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
        };
    }
    if profile.durability == RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE {
        profile.durability = match all(|qos| qos.is_transient_local) {
            true => RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
            false => RMW_QOS_POLICY_DURABILITY_VOLATILE,
        };
    }
    if profile.liveliness == RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE {
        let is_manual = match is_publisher {
            true => others.iter().any(|qos| qos.is_manual),
            false => others.iter().all(|qos| qos.is_manual),
        };
        profile.liveliness = match is_manual {
            true => RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
            false => RMW_QOS_POLICY_LIVELINESS_AUTOMATIC,
        };
    }
    // A publisher keeps the shortest time that is requested; a subscription requests the longest
    // one that is offered.
    let limit = |of: fn(&Qos) -> u64| {
        let limits = others.iter().map(of).filter(|nanos| *nanos != NEVER);
        let limit = if is_publisher { limits.min() } else { limits.max() };
        to_time(limit.unwrap_or(NEVER))
    };
    if given_nanos(profile.deadline) == BEST_AVAILABLE {
        profile.deadline = limit(|qos| qos.deadline);
    }
    if given_nanos(profile.liveliness_lease_duration) == BEST_AVAILABLE {
        profile.liveliness_lease_duration = limit(|qos| qos.lease);
    }
    profile
}

/// The profile without values that the middleware chooses: reliable, volatile, the last message.
pub(crate) fn settle(mut profile: rmw_qos_profile_t) -> rmw_qos_profile_t {
    if profile.reliability != RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT {
        profile.reliability = RMW_QOS_POLICY_RELIABILITY_RELIABLE;
    }
    if profile.durability != RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL {
        profile.durability = RMW_QOS_POLICY_DURABILITY_VOLATILE;
    }
    if profile.history != RMW_QOS_POLICY_HISTORY_KEEP_ALL {
        profile.history = RMW_QOS_POLICY_HISTORY_KEEP_LAST;
        profile.depth = profile.depth.max(1);
    }
    if profile.liveliness != RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC {
        profile.liveliness = RMW_QOS_POLICY_LIVELINESS_AUTOMATIC;
    }
    let [deadline, lifespan, lease] =
        [profile.deadline, profile.lifespan, profile.liveliness_lease_duration].map(nanos);
    (profile.deadline, profile.lifespan) = (to_time(deadline), to_time(lifespan));
    profile.liveliness_lease_duration = to_time(lease);
    profile
}

/// A settled profile as other processes see it.
pub(crate) fn shared(profile: &rmw_qos_profile_t) -> Qos {
    let keeps_all = profile.history == RMW_QOS_POLICY_HISTORY_KEEP_ALL;
    Qos {
        depth: (!keeps_all).then(|| u32::try_from(profile.depth).unwrap_or(u32::MAX)),
        is_reliable: profile.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE,
        is_transient_local: profile.durability == RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
        deadline: nanos(profile.deadline),
        lifespan: nanos(profile.lifespan),
        is_manual: profile.liveliness == RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
        lease: nanos(profile.liveliness_lease_duration),
    }
}

/// The profile of an endpoint of any process.
pub(crate) fn profile(qos: &Qos) -> rmw_qos_profile_t {
    rmw_qos_profile_t {
        history: match qos.depth {
            Some(_) => RMW_QOS_POLICY_HISTORY_KEEP_LAST,
            None => RMW_QOS_POLICY_HISTORY_KEEP_ALL,
        },
        depth: qos.depth.unwrap_or(0) as usize,
        reliability: match qos.is_reliable {
            true => RMW_QOS_POLICY_RELIABILITY_RELIABLE,
            false => RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
        },
        durability: match qos.is_transient_local {
            true => RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
            false => RMW_QOS_POLICY_DURABILITY_VOLATILE,
        },
        deadline: to_time(qos.deadline),
        lifespan: to_time(qos.lifespan),
        liveliness: match qos.is_manual {
            true => RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
            false => RMW_QOS_POLICY_LIVELINESS_AUTOMATIC,
        },
        liveliness_lease_duration: to_time(qos.lease),
        avoid_ros_namespace_conventions: false,
    }
}

/// Whether the policies that an application leaves to the middleware are these: reliability,
/// durability and liveliness.
fn are_open(profile: &rmw_qos_profile_t) -> [bool; 3] {
    [
        matches!(
            profile.reliability,
            RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT | RMW_QOS_POLICY_RELIABILITY_UNKNOWN
        ),
        matches!(
            profile.durability,
            RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT | RMW_QOS_POLICY_DURABILITY_UNKNOWN
        ),
        matches!(
            profile.liveliness,
            RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT | RMW_QOS_POLICY_LIVELINESS_UNKNOWN
        ),
    ]
}

/// The profile with the least that any middleware may choose.
fn weakest(profile: &rmw_qos_profile_t) -> Qos {
    let ([reliability, durability, liveliness], qos) =
        (are_open(profile), shared(&settle(*profile)));
    Qos {
        is_reliable: qos.is_reliable && !reliability,
        is_transient_local: qos.is_transient_local && !durability,
        is_manual: qos.is_manual && !liveliness,
        ..qos
    }
}

/// The profile with the most that any middleware may choose.
fn strongest(profile: &rmw_qos_profile_t) -> Qos {
    let ([reliability, durability, liveliness], qos) =
        (are_open(profile), shared(&settle(*profile)));
    Qos {
        is_reliable: qos.is_reliable || reliability,
        is_transient_local: qos.is_transient_local || durability,
        is_manual: qos.is_manual || liveliness,
        ..qos
    }
}

/// Whether a publisher and a subscription with these profiles would exchange messages. A policy
/// that is left to the middleware is a warning where another middleware may choose otherwise.
#[unsafe(no_mangle)]
extern "C" fn rmw_qos_profile_check_compatible(
    publisher: rmw_qos_profile_t,
    subscription: rmw_qos_profile_t,
    compatibility: Option<&mut rmw_qos_compatibility_type_t>,
    reason: *mut c_char,
    reason_bytes: usize,
) -> rmw_ret_t {
    let [offer, request] = [publisher, subscription].map(|profile| shared(&settle(profile)));
    let (least, most) = (weakest(&publisher), strongest(&subscription));
    let (result, text) = match (offer.offers_less_than(&request), least.offers_less_than(&most)) {
        (Some(policy), _) => {
            (RMW_QOS_COMPATIBILITY_ERROR, format!("ERROR: the publisher offers less: {policy:?};"))
        }
        (None, Some(policy)) => {
            let text = format!("WARNING: the publisher may offer less: {policy:?};");
            (RMW_QOS_COMPATIBILITY_WARNING, text)
        }
        (None, None) => (RMW_QOS_COMPATIBILITY_OK, String::new()),
    };
    // SAFETY: the caller passes a place for so many characters, or null.
    let place = unsafe { array(reason.cast::<u8>(), reason_bytes) };
    if let Some(room) = place.len().checked_sub(1) {
        let count = text.len().min(room);
        place[..count].copy_from_slice(&text.as_bytes()[..count]);
        place[count] = 0;
    }
    code(given(compatibility, "the compatibility").map(|place| *place = result))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compatibility of a publisher and a subscription, and its reason.
    fn check(publisher: rmw_qos_profile_t, subscription: rmw_qos_profile_t) -> (u32, String) {
        let (mut result, mut text) = (RMW_QOS_COMPATIBILITY_OK, [0u8; 100]);
        let place = text.as_mut_ptr().cast();
        let code = rmw_qos_profile_check_compatible(
            publisher,
            subscription,
            Some(&mut result),
            place,
            text.len(),
        );
        assert_eq!(code, 0);
        let end = text.iter().position(|byte| *byte == 0).unwrap();
        (result, String::from_utf8(text[..end].to_vec()).unwrap())
    }

    #[test]
    fn policies_that_are_left_to_the_middleware_are_warnings() {
        let given = profile(&Qos::default());
        let best_effort =
            rmw_qos_profile_t { reliability: RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT, ..given };
        let open =
            rmw_qos_profile_t { reliability: RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT, ..given };
        assert_eq!(check(given, given), (RMW_QOS_COMPATIBILITY_OK, String::new()));
        assert_eq!(check(given, best_effort).0, RMW_QOS_COMPATIBILITY_OK);
        let error = "ERROR: the publisher offers less: Reliability;".to_owned();
        assert_eq!(check(best_effort, given), (RMW_QOS_COMPATIBILITY_ERROR, error));
        let warning = "WARNING: the publisher may offer less: Reliability;".to_owned();
        assert_eq!(check(open, given), (RMW_QOS_COMPATIBILITY_WARNING, warning.clone()));
        assert_eq!(check(open, open), (RMW_QOS_COMPATIBILITY_WARNING, warning));
        assert_eq!(check(open, best_effort).0, RMW_QOS_COMPATIBILITY_OK);
        assert_eq!(check(given, open).0, RMW_QOS_COMPATIBILITY_OK);
    }

    #[test]
    fn best_available_policies_are_those_of_the_other_endpoints() {
        let best = rmw_qos_profile_t {
            reliability: RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE,
            durability: RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE,
            liveliness: RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE,
            deadline: to_time(BEST_AVAILABLE),
            liveliness_lease_duration: to_time(BEST_AVAILABLE),
            ..profile(&Qos::default())
        };
        let others = |kind, all: &[Qos]| {
            let of = |qos: &Qos| Entity {
                gid: ringspin_process_protocol::Gid { process: 1, number: 1 },
                kind,
                node: String::new(),
                namespace: String::new(),
                name: "/t".into(),
                type_name: String::new(),
                type_hash: Vec::new(),
                qos: *qos,
                ignores_own: false,
            };
            all.iter().map(of).collect::<Vec<_>>()
        };
        let choose =
            |kind, others: &[Entity]| shared(&settle(choose_best(best, kind, others.iter())));
        let reliable = Qos { is_transient_local: true, deadline: 5, ..Qos::default() };
        let best_effort = Qos { is_reliable: false, deadline: 7, lease: 9, ..Qos::default() };
        let most = Qos { is_transient_local: true, ..Qos::default() };

        assert_eq!(choose(Kind::Publisher, &[]), most);
        let requests = others(Kind::Subscription, &[reliable, best_effort]);
        let offer = choose(Kind::Publisher, &requests);
        assert_eq!(offer, Qos { deadline: 5, lease: 9, ..most });

        let offers = others(Kind::Publisher, &[reliable]);
        assert_eq!(choose(Kind::Subscription, &offers), Qos { deadline: 5, ..most });
        let offers = others(Kind::Publisher, &[reliable, best_effort]);
        assert_eq!(choose(Kind::Subscription, &offers), best_effort);
        assert_eq!(choose(Kind::Subscription, &requests), Qos { is_manual: true, ..most });
    }
}
