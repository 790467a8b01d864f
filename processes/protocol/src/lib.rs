//! The messages between the processes of a deterministic run and their coordinator.
//!
//! Each process has a Unix socket to the coordinator. The two take turns: while a process runs, the
//! coordinator reads; once all threads of the process wait, it sends one *turn*, which ends with
//! [`Up::Rest`], and reads until the coordinator sends one, which ends with [`Down::Go`]. The
//! coordinator may send several turns at once; the process takes one after the other, and sends its
//! frames of all of them with the last one. On the socket, frames that are sent at once follow
//! their length in bytes (`u64`, little-endian), in the format of `postcard`. Frames have no
//! version: both ends are built from one source, which a [`Place`] tells.

#![forbid(unsafe_code)]

mod durations;
mod memory;

pub use durations::{Callback, CallbackDuration, Computing, DURATIONS, Durations};
pub use memory::{Lease, Payload, SHARED_FROM, SharedMemory};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// The environment variable with which a process finds the coordinator: a [`Place`].
pub const VARIABLE: &str = "RINGSPIN_COORDINATOR";

/// The environment variable of a process that tells which files it opens.
pub const OPENED: &str = "RINGSPIN_OPENED";

/// The longest turn that is accepted, in bytes: a greater number is no length.
pub const TURN_MAX: u64 = 4 << 30;

/// The name, among those of abstract Unix sockets, of the one to which children connect. The
/// coordinator is this process of the operating system. A child sends its number in the run first,
/// in four bytes, little-endian.
pub fn listener(coordinator: u32) -> String {
    format!("ringspin/{coordinator}/children")
}

/// No deadline, in nanoseconds.
pub const NEVER: u64 = u64::MAX;

/// A hash of the source of the frames, which a change of them changes (FNV-1a).
const SOURCE: u32 = {
    let hash = hash_after(0x811c_9dc5, include_bytes!("lib.rs"));
    hash_after(hash, include_bytes!("memory.rs"))
};

const fn hash_after(mut hash: u32, bytes: &[u8]) -> u32 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

/// The place of a process in a run.
///
/// ```
/// use ringspin_process_protocol::Place;
/// let (start, coordinator) = (2_000_000_000, 4711);
/// let (socket, memory, process, parent, owner) = (700, -1, 3, None, None);
/// let place = Place { socket, memory, process, start, coordinator, parent, owner };
/// assert!(place.to_string().ends_with(" 700 -1 3 2000000000 0000004711 -"));
/// assert_eq!(Place::parse(&place.to_string()), Some(place));
/// assert_eq!(Place::parse("0 700 -1 3 2000000000 4711 -"), None); // of another build
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of its end of the socket; -1 if it connects to the coordinator by itself.
    pub socket: i32,
    /// The number of the file of the [`SharedMemory`]; -1 if there is none.
    pub memory: i32,
    /// Its number, in the order of the system.
    pub process: u32,
    /// The simulated time at which it starts, in nanoseconds since 1970.
    pub start: u64,
    /// The operating system's number of the coordinator.
    pub coordinator: u32,
    /// The process of the run that has started it, if it is a child.
    pub parent: Option<u32>,
    /// The operating system's number of the process, once it has begun: a child inherits the
    /// variable, and is another process.
    pub owner: Option<u32>,
}

impl Place {
    /// Reads the value of [`VARIABLE`]; `None` if it is none, or one of another build.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        words.next().filter(|source| source.parse() == Ok(SOURCE))?;
        let place = Self {
            socket: words.next()?.parse().ok()?,
            memory: words.next()?.parse().ok()?,
            process: words.next()?.parse().ok()?,
            start: words.next()?.parse().ok()?,
            coordinator: words.next()?.parse().ok()?,
            parent: match words.next()? {
                "-" => None,
                number => Some(number.parse().ok()?),
            },
            owner: words.next().map(str::parse).transpose().ok()?,
        };
        words.next().is_none().then_some(place)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { socket, memory, process, start, coordinator, parent, owner } = *self;
        let parent = parent.map_or("-".into(), |parent| parent.to_string());
        write!(f, "{SOURCE} {socket} {memory} {process} {start} {coordinator:010} {parent}")?;
        owner.map_or(Ok(()), |owner| write!(f, " {owner:010}"))
    }
}

/// Identifies a node or endpoint among all processes of a run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Gid {
    /// The process.
    pub process: u32,
    /// Its number there, from one, in order of creation.
    pub number: u32,
}

impl Gid {
    /// The bytes that programs see as the identifier.
    pub fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(b"RING");
        bytes[4..8].copy_from_slice(&self.process.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }

    /// The identifier with these [bytes](Self::bytes).
    pub fn from_bytes(bytes: &[u8; 16]) -> Self {
        let word = |at| u32::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
        Self { process: word(4), number: word(8) }
    }
}

/// A kind of [`Entity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names of ROS 2")]
pub enum Kind {
    Node,
    Publisher,
    Subscription,
    Client,
    Service,
}

/// The settled QoS of an endpoint: durations in nanoseconds, [`NEVER`] if unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qos {
    /// The number of messages that are kept; `None` for all.
    pub depth: Option<u32>,
    /// Reliable rather than best effort.
    pub is_reliable: bool,
    /// Transient local rather than volatile.
    pub is_transient_local: bool,
    /// The longest time between two messages.
    pub deadline: u64,
    /// How long a message is of use.
    pub lifespan: u64,
    /// Liveliness by topic rather than automatic.
    pub is_manual: bool,
    /// The longest time without a sign of life.
    pub lease: u64,
}

impl Default for Qos {
    /// Reliable, volatile, the last message, no limits of time.
    fn default() -> Self {
        Self {
            depth: Some(1),
            is_reliable: true,
            is_transient_local: false,
            deadline: NEVER,
            lifespan: NEVER,
            is_manual: false,
            lease: NEVER,
        }
    }
}

/// A policy by which a publisher offers less than a subscription requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of ROS 2")]
pub enum Incompatible {
    Reliability,
    Durability,
    Deadline,
    Liveliness,
}

impl Qos {
    /// The first policy by which this offer of a publisher is less than a subscription `requests`;
    /// `None` if they are compatible, by the rules of DDS.
    pub fn offers_less_than(&self, requests: &Self) -> Option<Incompatible> {
        if !self.is_reliable && requests.is_reliable {
            Some(Incompatible::Reliability)
        } else if !self.is_transient_local && requests.is_transient_local {
            Some(Incompatible::Durability)
        } else if self.deadline > requests.deadline {
            Some(Incompatible::Deadline)
        } else if (!self.is_manual && requests.is_manual) || self.lease > requests.lease {
            Some(Incompatible::Liveliness)
        } else {
            None
        }
    }
}

/// A node, or an endpoint of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Its identifier.
    pub gid: Gid,
    /// Its kind.
    pub kind: Kind,
    /// The name of its node, without the namespace.
    pub node: String,
    /// The namespace of its node.
    pub namespace: String,
    /// The fully qualified topic or service; empty for a node.
    pub name: String,
    /// Its type, such as `std_msgs/msg/String`; empty for a node.
    pub type_name: String,
    /// The version and the 32 bytes of the type's hash; empty for a node.
    #[serde(with = "serde_bytes")]
    pub type_hash: Vec<u8>,
    /// Its QoS.
    pub qos: Qos,
    /// Whether it is a subscription that ignores publishers of its process.
    pub ignores_own: bool,
}

impl Entity {
    /// Whether this is a publisher, and that a subscription, of one topic and type.
    pub fn meets(&self, subscription: &Self) -> bool {
        let is_ignored = subscription.ignores_own && self.gid.process == subscription.gid.process;
        !is_ignored
            && self.kind == Kind::Publisher
            && subscription.kind == Kind::Subscription
            && self.name == subscription.name
            && self.type_name == subscription.type_name
    }

    /// Whether the messages of this publisher reach that subscription.
    pub fn reaches(&self, subscription: &Self) -> bool {
        self.meets(subscription) && self.qos.offers_less_than(&subscription.qos).is_none()
    }
}

/// A message, request or response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The publisher, client or service.
    pub from: Gid,
    /// Its number there, from one; of a response, the number of the request.
    pub number: i64,
    /// The simulated time at which it was sent, in nanoseconds since 1970.
    pub sent: u64,
    /// Its contents as CDR, with the four bytes before them.
    pub payload: Payload,
}

/// The sockets of a process on the loopback interface, which processes of the run share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sockets {
    /// Whether it has some.
    pub has_any: bool,
    /// Whether one was used in the turn, so that another process may be able to continue.
    pub were_used: bool,
}

/// From a process to the coordinator. Before a deadline that it passes alone, a process says
/// nothing; everything that it says happens at the time of the next `Rest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Up {
    /// A node or endpoint appears.
    Add(Entity),
    /// It disappears.
    Remove(Gid),
    /// A publisher says that it lives.
    Assert(Gid),
    /// A publisher sends a message to subscriptions of all processes. Those of the same process
    /// have it already.
    Publish(Sample),
    /// A client calls the service of this name. `to` is the one of the same process that has the
    /// request already.
    Request {
        /// The service.
        name: String,
        /// The service of the same process.
        to: Option<Gid>,
        /// The request.
        sample: Sample,
    },
    /// A service answers this client. One of the same process has the response already.
    Response {
        /// The client.
        to: Gid,
        /// The response.
        sample: Sample,
    },
    /// A callback computes on a core for so many nanoseconds; a core of another speed takes another
    /// time.
    Compute {
        /// A number that no other one of the process has.
        number: u32,
        /// The time that it takes.
        nanos: u64,
    },
    /// A callback has computed for so many nanoseconds of real time.
    Computed {
        /// The callback, as durations name it.
        callback: String,
        /// The time of the processor for its thread.
        nanos: u64,
    },
    /// The program has opened this file for reading.
    Opened(PathBuf),
    /// A thread is about to create a child process: [`Down::Child`] comes.
    Fork,
    /// The child with this number was created, or not: it connects to the coordinator.
    Created {
        /// The number.
        process: u32,
        /// Whether it exists.
        exists: bool,
    },
    /// A program begins that wants to know all nodes and endpoints, as a process of the run that
    /// had another one before.
    Begin,
    /// A signal for another process.
    Signal {
        /// The process.
        to: u32,
        /// The number of the signal.
        signal: i32,
        /// Whether all processes of its group get it.
        is_for_group: bool,
    },
    /// All threads wait: the turn ends.
    Rest {
        /// The simulated time of the process.
        now: u64,
        /// The earliest time for which a thread waits.
        deadline: Option<u64>,
        /// How often threads took turns.
        switches: u64,
        /// A digest of which thread ran when.
        digest: u64,
        /// Whether the pipes of its output have something to read.
        has_output: bool,
        /// Its sockets.
        sockets: Sockets,
    },
    /// The process ends: the turn ends, and no other one follows.
    End {
        /// The simulated time of the process.
        now: u64,
    },
}

impl Up {
    /// The process in the name of which it is sent; `None` if it names none.
    pub fn process(&self) -> Option<u32> {
        match self {
            Self::Add(entity) => Some(entity.gid.process),
            Self::Remove(gid) | Self::Assert(gid) => Some(gid.process),
            Self::Publish(sample)
            | Self::Request { sample, .. }
            | Self::Response { sample, .. } => Some(sample.from.process),
            _ => None,
        }
    }

    /// Its contents, if it has some.
    pub fn payload_mut(&mut self) -> Option<&mut Payload> {
        match self {
            Self::Publish(sample)
            | Self::Request { sample, .. }
            | Self::Response { sample, .. } => Some(&mut sample.payload),
            _ => None,
        }
    }
}

/// From the coordinator to a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Down {
    /// A node or endpoint of another process appears.
    Add(Entity),
    /// It disappears.
    Remove(Gid),
    /// A publisher says that it lives.
    Assert(Gid),
    /// A message arrives at these endpoints of the process; a request or response at one.
    Deliver {
        /// The numbers of the endpoints.
        to: Vec<u32>,
        /// The message.
        sample: Sample,
    },
    /// The core has ended the [`Up::Compute`] of this number.
    Computed(u32),
    /// Another process has used a socket: one of this process may be ready.
    Look,
    /// The number of a child of the process.
    Child(u32),
    /// The child of this number has ended.
    Ended(u32),
    /// Another process sends this signal.
    Signal(i32),
    /// Output of the process is read before its turn ends: comes alone, and ends no turn.
    Reading,
    /// The process takes the next one of its turns: comes alone.
    Continue,
    /// Until when the process may pass deadlines alone after its turn, which it got ahead: comes
    /// alone, and ends no turn.
    Until(u64),
    /// The process continues: the turn ends.
    Go {
        /// The simulated time.
        now: u64,
        /// Until then, exclusive, nothing happens to the process: it may pass deadlines alone
        /// unless it has something to say. `None` if this is not known: [`Until`](Self::Until)
        /// comes, and the process waits for it at the end of the turn.
        until: Option<u64>,
    },
}

/// A turn that is being written: its length, which is set at the end, and its frames.
#[derive(Debug)]
pub struct Turn(Vec<u8>);

const LENGTH_BYTES: usize = size_of::<u64>();

impl Default for Turn {
    /// No frames.
    fn default() -> Self {
        Self(vec![0; LENGTH_BYTES])
    }
}

impl Turn {
    /// Whether it has no frame.
    pub fn is_empty(&self) -> bool {
        self.0.len() == LENGTH_BYTES
    }

    /// Adds a frame: an [`Up`] or a [`Down`].
    pub fn push(&mut self, frame: &impl Serialize) {
        let bytes = std::mem::take(&mut self.0);
        self.0 = postcard::to_extend(frame, bytes).expect("frames have no maps of unknown size");
    }

    /// The bytes of its frames.
    fn frames(&self) -> &[u8] {
        &self.0[LENGTH_BYTES..]
    }

    /// Writes it, and empties it.
    ///
    /// # Errors
    /// The stream's.
    pub fn send(&mut self, mut stream: impl Write) -> io::Result<()> {
        let length = (self.0.len() - LENGTH_BYTES) as u64;
        self.0[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        let sent = stream.write_all(&self.0);
        self.0.truncate(LENGTH_BYTES);
        sent
    }
}

/// A turn could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The stream has ended or failed.
    #[error("the connection has ended: {0}")]
    Stream(#[from] io::Error),
    /// It has bytes that are no turn.
    #[error("the bytes are no turn: {0}")]
    Rubbish(String),
}

/// Reads the frames of a turn, and of the next one if its bytes are there already.
///
/// # Errors
/// [`ReadError`].
pub fn receive<T: DeserializeOwned>(mut stream: impl Read) -> Result<Vec<T>, ReadError> {
    // Most turns come in one piece.
    let mut bytes = vec![0; 4096];
    let count = loop {
        match stream.read(&mut bytes) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(count) => break count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    };
    bytes.truncate(count);
    let (mut frames, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        read_up_to(at + LENGTH_BYTES, &mut bytes, &mut stream)?;
        let length = u64::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
        if length > TURN_MAX {
            return Err(ReadError::Rubbish(format!("a length of {length} bytes")));
        }
        let begin = at + LENGTH_BYTES;
        at = begin + length as usize;
        read_up_to(at, &mut bytes, &mut stream)?;
        read_frames(&bytes[begin..at], &mut frames)?;
    }
    Ok(frames)
}

fn read_frames<T: DeserializeOwned>(
    mut bytes: &[u8],
    frames: &mut Vec<T>,
) -> Result<(), ReadError> {
    while !bytes.is_empty() {
        let (frame, next) = postcard::take_from_bytes(bytes)
            .map_err(|error| ReadError::Rubbish(format!("frame {}: {error}", frames.len())))?;
        frames.push(frame);
        bytes = next;
    }
    Ok(())
}

/// Reads until there are so many bytes.
fn read_up_to(count: usize, bytes: &mut Vec<u8>, stream: impl Read) -> io::Result<()> {
    let missing = count.saturating_sub(bytes.len()) as u64;
    match stream.take(missing).read_to_end(bytes)? as u64 == missing {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_read_as_they_were_written_and_rubbish_is_an_error() {
        let gid = Gid { process: 1, number: 2 };
        assert_eq!(Gid::from_bytes(&gid.bytes()), gid);
        let sample =
            Sample { from: gid, number: -1, sent: NEVER, payload: Payload::Bytes(vec![0, 1, 255]) };
        let frames =
            [Down::Deliver { to: vec![7, 8], sample }, Down::Go { now: 1, until: Some(NEVER) }];
        let (mut turn, mut bytes) = (Turn::default(), Vec::new());
        frames.iter().for_each(|frame| turn.push(frame));
        turn.send(&mut bytes).unwrap();
        assert!(turn.is_empty());
        assert_eq!(receive::<Down>(&bytes[..]).unwrap(), frames);

        assert!(matches!(receive::<Down>(&bytes[..bytes.len() - 1]), Err(ReadError::Stream(_))));
        let large =
            Sample { from: gid, number: 1, sent: 0, payload: Payload::Bytes(vec![7; 100_000]) };
        let (mut turn, mut many) = (Turn::default(), Vec::new());
        turn.push(&Up::Publish(large.clone()));
        turn.send(&mut many).unwrap();
        assert_eq!(receive::<Up>(&many[..]).unwrap(), [Up::Publish(large)]);
        let two = [&bytes[..], &bytes[..]].concat();
        assert_eq!(receive::<Down>(&two[..]).unwrap(), [&frames[..], &frames[..]].concat());
        assert!(matches!(receive::<Down>(&[255; 99][..]), Err(ReadError::Rubbish(_))));
        bytes[8] = 99;
        let error = receive::<Down>(&bytes[..]).unwrap_err().to_string();
        assert!(error.contains("frame 0"), "{error}");
    }

    #[test]
    fn qos_is_compatible_by_the_rules_of_dds() {
        let strict = Qos {
            is_transient_local: true,
            deadline: 5,
            is_manual: true,
            lease: 5,
            ..Qos::default()
        };
        assert_eq!(strict.offers_less_than(&Qos::default()), None);
        let lacks = |offer: Qos| offer.offers_less_than(&strict);
        assert_eq!(lacks(strict), None);
        assert_eq!(lacks(Qos { is_reliable: false, ..strict }), Some(Incompatible::Reliability));
        let volatile = Qos { is_transient_local: false, ..strict };
        assert_eq!(lacks(volatile), Some(Incompatible::Durability));
        assert_eq!(lacks(Qos { deadline: 6, ..strict }), Some(Incompatible::Deadline));
        assert_eq!(lacks(Qos { lease: 6, ..strict }), Some(Incompatible::Liveliness));
        assert_eq!(lacks(Qos { is_manual: false, ..strict }), Some(Incompatible::Liveliness));
    }
}
