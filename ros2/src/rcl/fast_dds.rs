//! Settings of Fast DDS, ROS 2's usual middleware, that ROS has no names for.
//!
//! A context gives them to Fast DDS when its first node is created, unless the user has configured
//! it with another profile (`FASTRTPS_DEFAULT_PROFILES_FILE`, `FASTDDS_DEFAULT_PROFILES_FILE`, or
//! `DEFAULT_FASTRTPS_PROFILES.xml` in the working directory): then that profile holds, and nothing
//! here does.
//!
//! Beside the settings of a [`Profile`]:
//!
//! * Readers and writers keep as many messages as the depth of their topic; on its own Fast DDS
//!   keeps at most 5000, and drops the rest without a word.
//! * Contexts of one process tell each other of their ends over the transport, not by direct calls.
//!   With direct calls (`intraprocess_delivery` `FULL`, the default of Fast DDS) two contexts
//!   deadlock when one of them is destroyed while the other one discovers a peer (Fast DDS issues
//!   6193 and 6502). Messages within the process are still delivered directly.
//!
//! Fast DDS gets the settings within the process: an environment variable can no longer be set
//! where LTTng, which rcl brings, has started threads before `main`.

use super::error::is_ok;
use super::ffi;
use super::ffi::rmw_automatic_discovery_range_e as Range;
use super::owned::Owned;
use super::qos::middleware;
use libloading::Library;
use std::env;
use std::ffi::{c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

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
    /// that ignore them ([`Locals::Ignore`](crate::rcl::Locals)), and their histories do not fill
    /// with messages to skip, which would overwrite those from elsewhere.
    pub ignore_local_endpoints: bool,
}

/// Whether Fast DDS is the middleware of this program.
pub(crate) fn is_used() -> bool {
    middleware().contains("fastrtps")
}

/// The first twelve bytes of the identity of each publisher of a context.
pub(super) struct Participant([u8; 12]);

impl Participant {
    /// The participant that `publisher` belongs to; `None` without Fast DDS.
    pub(super) fn of(publisher: &Owned<ffi::rcl_publisher_t>) -> Option<Self> {
        if !is_used() {
            return None;
        }
        // SAFETY: an identity is a pointer, which may be null, and bytes.
        let mut identity: ffi::rmw_gid_t = unsafe { std::mem::zeroed() };
        // SAFETY: the publisher is initialized, and the identity outlives the call.
        let code = unsafe {
            let publisher = ffi::rcl_publisher_get_rmw_handle(publisher.pointer());
            ffi::rmw_get_gid_for_publisher(publisher, &mut identity)
        };
        identity.data.first_chunk().copied().filter(|_| is_ok(code)).map(Self)
    }

    /// Whether it has the publisher with this identity.
    pub(super) fn has(&self, publisher: [u8; 16]) -> bool {
        publisher.starts_with(&self.0)
    }
}

/// Whether the user has given it a profile.
pub(crate) fn is_configured() -> bool {
    ["FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"]
        .iter()
        .any(|name| env::var_os(name).is_some_and(|file| !file.is_empty()))
        || Path::new("DEFAULT_FASTRTPS_PROFILES.xml").is_file()
}

/// Whether the user has chosen the transports by `FASTDDS_BUILTIN_TRANSPORTS`.
fn chooses_transports() -> bool {
    env::var_os("FASTDDS_BUILTIN_TRANSPORTS").is_some_and(|name| !name.is_empty())
}

/// The transports of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transports {
    /// Those that Fast DDS, rmw and the environment choose: UDP and shared memory.
    Given,
    /// UDP only.
    Udp {
        /// Whether packets stay on this machine.
        local: bool,
    },
}

/// Limit of the participants of this machine to which one that is confined to it announces itself
/// one by one; as in rmw_fastrtps.
const LOCAL_PEERS: usize = 32;

/// The addresses to which a participant that is confined to this machine announces itself: the
/// default, and the one on which confined participants of rmw_fastrtps listen, which join no
/// multicast group. Without the second they discover it by their periodic answer only, up to three
/// seconds later.
const LOCAL_DISCOVERY: &str = "<builtin><initialPeersList>\
     <locator><udpv4><address>239.255.0.1</address></udpv4></locator>\
     <locator><udpv4><address>127.0.0.1</address></udpv4></locator>\
     </initialPeersList></builtin>";

/// Settings of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) profile: Profile,
    transports: Transports,
}

impl Settings {
    /// The settings as a profile of Fast DDS. Names of profiles are unique in a process, so
    /// `number` is another one each time.
    fn xml(self, number: usize) -> String {
        let transports = match self.transports {
            Transports::Given => [String::new(), String::new()],
            Transports::Udp { local } => [
                format!(
                    "<transport_descriptors><transport_descriptor>\
                     <transport_id>ringspin_udp_{number}</transport_id><type>UDPv4</type>\
                     <maxInitialPeersRange>{LOCAL_PEERS}</maxInitialPeersRange>\
                     <TTL>{}</TTL></transport_descriptor></transport_descriptors>",
                    u8::from(!local)
                ),
                format!(
                    "<userTransports><transport_id>ringspin_udp_{number}</transport_id>\
                     </userTransports><useBuiltinTransports>false</useBuiltinTransports>{}",
                    if local { LOCAL_DISCOVERY } else { "" }
                ),
            ],
        };
        let limits = "<topic><resourceLimitsQos><max_samples>0</max_samples>\
            <max_instances>0</max_instances>\
            <max_samples_per_instance>0</max_samples_per_instance></resourceLimitsQos></topic>";
        let [descriptors, choice] = transports;
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
             <dds xmlns=\"http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles\"><profiles>\
             {descriptors}\
             <participant profile_name=\"ringspin_participant_{number}\" \
             is_default_profile=\"true\"><rtps>\
             {choice}\
             <propertiesPolicy><properties><property>\
             <name>fastdds.ignore_local_endpoints</name><value>{}</value>\
             </property></properties></propertiesPolicy>\
             </rtps></participant>\
             <data_writer profile_name=\"ringspin_writer_{number}\" \
             is_default_profile=\"true\">{limits}</data_writer>\
             <data_reader profile_name=\"ringspin_reader_{number}\" \
             is_default_profile=\"true\">{limits}</data_reader>\
             </profiles>\
             <library_settings><intraprocess_delivery>USER_DATA_ONLY</intraprocess_delivery>\
             </library_settings></dds>",
            self.profile.ignore_local_endpoints
        )
    }
}

type GetFactory = unsafe extern "C" fn() -> *mut c_void;
type LoadProfiles = unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> u32;
type SetDefault = unsafe extern "C" fn(*mut c_void, *const c_void) -> u32;

/// The functions of Fast DDS's factory of participants that take profiles.
struct Factory {
    get: GetFactory,
    load: LoadProfiles,
    set_default: SetDefault,
    /// Asks `set_default` for the settings of the default profile.
    from_profile: usize,
}

impl Factory {
    /// The factory of the Fast DDS in this process; `None` for another middleware, or a Fast DDS
    /// without these functions.
    fn find() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Factory>> = OnceLock::new();
        FOUND.get_or_init(Self::look_up).as_ref()
    }

    fn look_up() -> Option<Self> {
        let path = library_path()?;
        // SAFETY: the library is loaded already, so nothing runs; the names are those of the public
        // functions `DomainParticipantFactory::{get_instance, load_XML_profiles_string,
        // set_default_participant_qos}` and of the constant `PARTICIPANT_QOS_DEFAULT`, mangled with
        // their parameters, which are the same in Fast DDS 2 and 3. The result is one 32-bit
        // number.
        unsafe {
            let library = Library::new(path).ok()?;
            let factory = "_ZN8eprosima7fastdds3dds24DomainParticipantFactory";
            let name = |rest: &str| format!("{factory}{rest}");
            let get = *library.get::<GetFactory>(name("12get_instanceEv").as_bytes()).ok()?;
            let load = name("24load_XML_profiles_stringEPKcm");
            let load = *library.get::<LoadProfiles>(load.as_bytes()).ok()?;
            let set = name("27set_default_participant_qosERKNS1_20DomainParticipantQosE");
            let set_default = *library.get::<SetDefault>(set.as_bytes()).ok()?;
            let constant = b"_ZN8eprosima7fastdds3dds23PARTICIPANT_QOS_DEFAULTE";
            let from_profile = *library.get::<*const c_void>(constant).ok()? as usize;
            std::mem::forget(library); // It stays as long as the process.
            Some(Self { get, load, set_default, from_profile })
        }
    }

    /// Makes `xml` the default of participants, writers and readers that are created from now on.
    fn set(&self, xml: &str) -> bool {
        // SAFETY: the functions are those of the factory, which lives as long as the process; the
        // text and the constant outlive the calls. The caller has the lock for entities, so that
        // no participant is created at the same time by this crate.
        unsafe {
            let factory = (self.get)();
            (self.load)(factory, xml.as_ptr().cast(), xml.len()) == 0
                && (self.set_default)(factory, self.from_profile as *const c_void) == 0
        }
    }
}

/// The file of the Fast DDS that is loaded.
fn library_path() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    let is_fast_dds = |path: &&str| {
        path.rsplit('/').next().is_some_and(|file| {
            file.starts_with("libfastrtps.so") || file.starts_with("libfastdds.so")
        })
    };
    paths.into_iter().find(is_fast_dds).map(PathBuf::from)
}

/// Whether Fast DDS takes settings from this crate: it is the middleware, has the functions, and
/// the user has not configured it. To be asked after `rcl_init`, which loads it.
pub(super) fn is_settable() -> bool {
    is_used() && !is_configured() && Factory::find().is_some()
}

/// Decides the settings of Fast DDS for `context`; `None` where it takes none.
///
/// For a context that is confined to this machine, rmw_fastrtps adds shared memory itself,
/// regardless of the profile. Without shared memory such a context gets the default range instead,
/// and packets that do not leave the machine, which is rmw's own way to confine it.
///
/// # Safety
/// `context` is initialized, has no node, and is not used by another thread.
pub(super) unsafe fn settle(
    context: *mut ffi::rcl_context_t,
    profile: Profile,
) -> Option<Settings> {
    if !is_settable() {
        return None;
    }
    if profile.shared_memory || chooses_transports() {
        return Some(Settings { profile, transports: Transports::Given });
    }
    // SAFETY: as the caller promises; the rmw context is a part of the context.
    let range = unsafe {
        let rmw = ffi::rcl_context_get_rmw_context(context).as_mut()?;
        &mut rmw.options.discovery_options.automatic_discovery_range
    };
    let local = *range == Range::RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
    if local {
        *range = Range::RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET;
    }
    Some(Settings { profile, transports: Transports::Udp { local } })
}

/// Gives Fast DDS the settings for a participant that the next node may create. The caller has the
/// lock for entities.
pub(super) fn apply(settings: Settings) {
    static APPLIED: Mutex<Option<(Settings, usize)>> = Mutex::new(None);
    let Some(factory) = Factory::find() else { return };
    let mut applied = APPLIED.lock().unwrap_or_else(PoisonError::into_inner);
    let number = match *applied {
        Some((last, _)) if last == settings => return,
        Some((_, number)) => number + 1,
        None => 0,
    };
    *applied = Some((settings, number));
    if !factory.set(&settings.xml(number)) {
        tracing::warn!(
            "failed to give Fast DDS its settings: it refused the profile; set \
             FASTRTPS_DEFAULT_PROFILES_FILE to a profile of your own"
        );
    }
}
