//! Settings of Fast DDS, ROS 2's usual middleware, that ROS has no names for.
//!
//! A context gives them to Fast DDS when its first node is created, unless the user has configured
//! it with a profile of their own (`FASTRTPS_DEFAULT_PROFILES_FILE`,
//! `FASTDDS_DEFAULT_PROFILES_FILE`, or `DEFAULT_FASTRTPS_PROFILES.xml` in the working directory):
//! then that profile holds, and nothing here does.
//!
//! Beside the settings of a [`Profile`]:
//!
//! * Readers and writers keep as many messages as the depth of their topic; on its own Fast DDS
//!   keeps at most 5000, and drops the rest without a word.
//! * Contexts of one process tell each other of their ends over the transport, not by direct calls.
//!   With direct calls (`intraprocess_delivery` `FULL`, the default of Fast DDS) two contexts
//!   deadlock when one of them is destroyed while the other one discovers a peer (Fast DDS issues
//!   6193 and 6502). Messages within the process are still delivered directly.

use crate::rcl::middleware;
use std::env;
use std::path::Path;

/// Settings of one context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Whether Fast DDS uses shared memory beside UDP. Off, unlike in Fast DDS itself.
    ///
    /// In Fast DDS 2.14 a peer that is killed while it sends leaves the mutex of the receiver's
    /// shared-memory port locked. A receiver that is destroyed within the next second crashes: one
    /// thread waits for that mutex while another one unmaps it. Senders can hang, and peers that
    /// start later can stay unseen. Over UDP none of this exists, and large messages are not
    /// slower: with the default segment of 512 kB a message of 6 MB takes 58 ms by shared memory
    /// and 41 ms by UDP.
    ///
    /// The environment variable `FASTDDS_BUILTIN_TRANSPORTS` overrules this where it is set:
    /// `DEFAULT` brings shared memory back.
    pub shared_memory: bool,
    /// Whether publishers and subscriptions, services and clients of one context are left
    /// unconnected by Fast DDS.
    ///
    /// For a program that connects them itself. Publishers then do not serialize for subscriptions
    /// that ignore them ([`Locals::Ignore`](crate::rcl::Locals)), whose histories would fill with
    /// messages to skip, and lose those from elsewhere.
    pub ignore_local_endpoints: bool,
}

/// Whether Fast DDS is the middleware of this program.
pub fn is_used() -> bool {
    middleware().contains("fastrtps")
}

/// Whether the user has given it a profile.
pub fn is_configured() -> bool {
    ["FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"]
        .iter()
        .any(|name| env::var_os(name).is_some_and(|file| !file.is_empty()))
        || Path::new("DEFAULT_FASTRTPS_PROFILES.xml").is_file()
}

/// Whether the user has chosen the transports by `FASTDDS_BUILTIN_TRANSPORTS`.
pub(crate) fn chooses_transports() -> bool {
    env::var_os("FASTDDS_BUILTIN_TRANSPORTS").is_some_and(|name| !name.is_empty())
}
