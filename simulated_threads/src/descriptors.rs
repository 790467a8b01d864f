//! Descriptors that threads wait for, and timers that are descriptors.
//!
//! Pipes, sockets of the loopback interface, named pipes, eventfds and timers that a world creates
//! are *own* descriptors: the threads of the process are at their other ends, or another process
//! that takes turns. A blocking call on one of them is a wait in the world. The functions that read
//! and write look an own descriptor up without the lock of the world, because a signal handler may
//! call them on a thread that holds it.

use crate::os;
use crate::wait::{NEVER, Nanos};
use libc::{c_int, c_long, pollfd, sockaddr_un, socklen_t};
use std::collections::{BTreeMap, VecDeque};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// A bit for each descriptor. Relaxed everywhere: the threads of a world take turns, which
/// synchronise.
struct Bits([AtomicU64; 64]);

/// The descriptors that have bits are below it.
pub(crate) const COUNT: u32 = 64 * 64;

static OWN: Bits = Bits::new();
/// Sockets of the loopback interface, and those of them for IPv6.
static SOCKETS: Bits = Bits::new();
static V6: Bits = Bits::new();
/// Named pipes, Unix sockets, and descriptors that a child or a message has passed on.
static SHARED: Bits = Bits::new();

/// Whether the process uses sockets of the loopback interface, or named pipes.
#[derive(Clone, Copy)]
enum Uses {
    None,
    Wanted,
    Allowed,
}

static USES: AtomicU8 = AtomicU8::new(Uses::None as u8);

/// Whether one of them was used since the last rest of the process, so that another process may be
/// able to continue.
static TOUCHED: AtomicBool = AtomicBool::new(false);

impl Bits {
    const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; 64])
    }

    /// The word and the bit of a descriptor; `None` of one that is too great.
    fn of(&self, descriptor: c_int) -> Option<(&AtomicU64, u64)> {
        let number = usize::try_from(descriptor).ok()?;
        Some((self.0.get(number / 64)?, 1 << (number % 64)))
    }

    fn set(&self, descriptor: c_int, value: bool) {
        match self.of(descriptor) {
            Some((word, bit)) if value => _ = word.fetch_or(bit, Ordering::Relaxed),
            Some((word, bit)) => _ = word.fetch_and(!bit, Ordering::Relaxed),
            None => {}
        }
    }

    fn has(&self, descriptor: c_int) -> bool {
        self.of(descriptor).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }

    /// The descriptors with a bit.
    fn all(&self) -> impl Iterator<Item = c_int> {
        let words = self.0.iter().zip((0..).step_by(64));
        let words = words.map(|(word, first)| (word.load(Ordering::Relaxed), first));
        let bits = |(word, first): (u64, c_int)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| first + bit)
        };
        words.filter(|(word, _)| *word != 0).flat_map(bits)
    }
}

/// A descriptor was created whose other end is in this process, or in a child.
pub(crate) fn add_own(descriptor: c_int) {
    OWN.set(descriptor, true);
}

/// Whether a blocking call on the descriptor is a wait in the world.
pub(crate) fn is_own(descriptor: c_int) -> bool {
    OWN.has(descriptor)
}

/// The version of the protocol of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

/// A socket of the loopback interface was created.
pub(crate) fn add_socket(descriptor: c_int, family: Family) {
    add_own(descriptor);
    SOCKETS.set(descriptor, true);
    V6.set(descriptor, family == Family::V6);
}

/// The family of a socket of the loopback interface; `None` of another descriptor.
pub(crate) fn family(descriptor: c_int) -> Option<Family> {
    let family = if V6.has(descriptor) { Family::V6 } else { Family::V4 };
    SOCKETS.has(descriptor).then_some(family)
}

/// A descriptor of which another process of the run may have the other end: of a named pipe or a
/// Unix socket, or one that was passed on.
pub(crate) fn add_shared(descriptor: c_int) {
    add_own(descriptor);
    SHARED.set(descriptor, true);
}

/// The environment variable with the pipes that a child shares with its parent.
pub(crate) const PIPES: &str = "RINGSPIN_PIPES";

/// Whether other processes have the descriptor, too: of a named pipe, or one shared with a child.
pub(crate) fn is_shared(descriptor: c_int) -> bool {
    SHARED.has(descriptor)
}

/// Own descriptors are those of other processes as well from now on: of a child.
pub(crate) fn share() {
    OWN.all().for_each(|descriptor| SHARED.set(descriptor, true));
}

/// The device and the number of the file, pipe or socket of a descriptor, as text.
fn identity(descriptor: c_int) -> Option<String> {
    let data = std::fs::metadata(format!("/proc/self/fd/{descriptor}")).ok()?;
    // Of one length: a longer one would move what the program allocates.
    Some(format!("{:010}.{:020}", data.dev(), data.ino()))
}

/// The pipes that a child shares with this process.
pub(crate) fn shared() -> String {
    OWN.all().filter_map(identity).collect::<Vec<_>>().join(",")
}

/// Adds the pipes that the process shares with its parent, and the named ones that a shell has
/// opened as its standard input or output.
pub(crate) fn add_inherited() {
    let shared = std::env::var(PIPES).unwrap_or_default();
    let shared: Vec<_> = shared.split(',').filter(|one| !one.is_empty()).collect();
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open = open.filter(|_| !shared.is_empty());
    let open: Vec<c_int> =
        open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open {
        if identity(descriptor).is_some_and(|identity| shared.contains(&&*identity)) {
            add_shared(descriptor);
            may_use_sockets();
        }
    }
    for descriptor in 0..=2 {
        let target = std::fs::read_link(format!("/proc/self/fd/{descriptor}"));
        let is_named_pipe = |path: &PathBuf| {
            path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
                && path.is_absolute()
        };
        if target.is_ok_and(|path| is_named_pipe(&path)) {
            add_shared(descriptor);
            may_use_sockets();
        }
    }
}

/// Something happened to a socket of the loopback interface or a named pipe, if the descriptor is
/// one.
pub(crate) fn touch(descriptor: c_int) {
    if SOCKETS.has(descriptor) || SHARED.has(descriptor) {
        TOUCHED.store(true, Ordering::Relaxed);
    }
}

/// Locks of files have changed, for which other processes may wait.
pub(crate) fn note_files() {
    TOUCHED.store(true, Ordering::Relaxed);
}

/// Whether the process may have sockets of the loopback interface and named pipes: once the
/// coordinator knows that it wants some, and has given it a turn.
pub(crate) fn may_use_sockets() -> bool {
    if USES.load(Ordering::Relaxed) == Uses::None as u8 {
        USES.store(Uses::Wanted as u8, Ordering::Relaxed);
        TOUCHED.store(true, Ordering::Relaxed);
    }
    USES.load(Ordering::Relaxed) == Uses::Allowed as u8
}

/// Whether the process uses sockets, and whether it used one since the last call: the coordinator
/// is told.
pub(crate) fn sockets() -> (bool, bool) {
    let is_used = USES.load(Ordering::Relaxed) != Uses::None as u8;
    let was_written = are_pipes_changed();
    (is_used, TOUCHED.swap(false, Ordering::Relaxed) || was_written)
}

/// Whether there is more or less in the named pipes than at the last call. The streams of C write
/// and close by calls within libc, which do not come by here.
fn are_pipes_changed() -> bool {
    static LEVEL: AtomicU64 = AtomicU64::new(0);
    let mut level = 0;
    for descriptor in SHARED.all() {
        match os::unread(descriptor) {
            Some(count) => level += count,
            None => {
                SHARED.set(descriptor, false);
                OWN.set(descriptor, false);
                level += 1;
            }
        }
    }
    LEVEL.swap(level, Ordering::Relaxed) != level
}

/// The coordinator has given the process a turn, and knew whether it uses sockets.
pub(crate) fn allow_sockets(were_wanted: bool) {
    if were_wanted {
        USES.store(Uses::Allowed as u8, Ordering::Relaxed);
    }
}

/// The descriptors of a world that threads wait for, and its timers.
#[derive(Default)]
pub(crate) struct Descriptors {
    /// By number of the thread that waits.
    awaited: BTreeMap<u64, Vec<pollfd>>,
    timers: Vec<Timer>,
    /// The ports to which sockets for datagrams are connected.
    peers: BTreeMap<c_int, (Family, u16)>,
    /// Datagrams for which the kernel has no room yet, oldest first.
    unsent: VecDeque<Datagram>,
    /// The options of protocols that the program has set, by descriptor.
    options: BTreeMap<c_int, BTreeMap<(c_int, c_int), c_int>>,
    /// Sockets that the program has closed, and that have some.
    closed: Vec<c_int>,
}

/// A datagram of a socket of the loopback interface.
pub(crate) struct Datagram {
    pub(crate) descriptor: c_int,
    pub(crate) to: (sockaddr_un, socklen_t),
    pub(crate) bytes: Vec<u8>,
}

/// The longest datagram, as UDP has it.
const DATAGRAM_MAX: usize = 65_507;

/// How many bytes wait for a receiver at most, as in the kernel's queue of a socket; further
/// datagrams are lost.
const UNSENT_MAX: usize = 212_992;

impl Datagram {
    /// Sends it; a failure is the negative of its error.
    fn send(&self) -> c_long {
        let (to, size) = &self.to;
        let bytes = (self.bytes.as_ptr() as c_long, self.bytes.len() as c_long);
        let to = (&raw const *to as c_long, c_long::from(*size));
        let arguments =
            [self.descriptor.into(), bytes.0, bytes.1, libc::MSG_DONTWAIT.into(), to.0, to.1];
        // SAFETY: so many bytes, and an address of this size.
        unsafe { os::syscall(libc::SYS_sendto, arguments) }
    }

    fn has_way_of(&self, other: &Self) -> bool {
        self.descriptor == other.descriptor && self.to.0.sun_path == other.to.0.sun_path
    }
}

/// A timerfd, which is an eventfd here: both tell their reader a count.
pub(crate) struct Timer {
    /// The first one, and its duplicates.
    descriptors: Vec<c_int>,
    /// Its next expiry; [`NEVER`] until it is set.
    pub(crate) deadline: Nanos,
    /// Zero if it expires once.
    pub(crate) interval: Nanos,
    /// Whether its clock is the one of the calendar.
    pub(crate) is_real: bool,
}

impl Descriptors {
    /// The thread with this number waits for any of these.
    pub(crate) fn wait(&mut self, thread: u64, descriptors: Vec<pollfd>) {
        self.awaited.insert(thread, descriptors);
    }

    /// The thread with this number waits no longer.
    pub(crate) fn end_wait(&mut self, thread: u64) {
        self.awaited.remove(&thread);
    }

    /// Whether a descriptor is ready for which the thread waits.
    pub(crate) fn is_ready(&mut self, thread: u64) -> bool {
        self.awaited.get_mut(&thread).is_some_and(|descriptors| os::poll(descriptors) != 0)
    }

    /// A socket for datagrams is connected to this port.
    pub(crate) fn set_peer(&mut self, descriptor: c_int, port: (Family, u16)) {
        self.peers.insert(descriptor, port);
    }

    /// The port to which a socket for datagrams is connected.
    pub(crate) fn peer(&self, descriptor: c_int) -> Option<(Family, u16)> {
        self.peers.get(&descriptor).copied()
    }

    /// Sends a datagram, or keeps it until there is room; with no receiver it is lost. A failure is
    /// the negative of its error.
    pub(crate) fn send(&mut self, datagram: Datagram) -> c_int {
        if datagram.bytes.len() > DATAGRAM_MAX {
            return -libc::EMSGSIZE;
        }
        let waits = self.unsent.iter().any(|earlier| earlier.has_way_of(&datagram));
        let result = if waits { -c_long::from(libc::EAGAIN) } else { datagram.send() };
        match -result as c_int {
            libc::EAGAIN => {
                let size: usize = self.unsent.iter().map(|datagram| datagram.bytes.len()).sum();
                if size + datagram.bytes.len() <= UNSENT_MAX {
                    self.unsent.push_back(datagram);
                }
                0
            }
            libc::ECONNREFUSED => 0,
            error @ 1.. => -error,
            _ => {
                TOUCHED.store(true, Ordering::Relaxed);
                0
            }
        }
    }

    /// Sends the kept datagrams for which there is room by now.
    pub(crate) fn send_unsent(&mut self) {
        for datagram in std::mem::take(&mut self.unsent) {
            self.send(datagram);
        }
        let unsent = &self.unsent;
        self.closed.retain(|descriptor| {
            let is_used = unsent.iter().any(|datagram| datagram.descriptor == *descriptor);
            if !is_used {
                os::close(*descriptor);
            }
            is_used
        });
    }

    /// Keeps a socket that the program closes until its datagrams are sent.
    fn keep_unsent(&mut self, descriptor: c_int) {
        let is_kept = |datagram: &&mut Datagram| datagram.descriptor == descriptor;
        let mut kept = self.unsent.iter_mut().filter(is_kept).peekable();
        if kept.peek().is_some() {
            let duplicate = os::duplicate(descriptor);
            kept.for_each(|datagram| datagram.descriptor = duplicate);
            self.closed.push(duplicate);
        }
    }

    /// A timerfd was created.
    pub(crate) fn add_timer(&mut self, descriptor: c_int, is_real: bool) {
        let descriptors = vec![descriptor];
        self.timers.push(Timer { descriptors, deadline: NEVER, interval: 0, is_real });
        add_own(descriptor);
    }

    /// The timer of this descriptor.
    pub(crate) fn timer(&mut self, descriptor: c_int) -> Option<&mut Timer> {
        self.timers.iter_mut().find(|timer| timer.descriptors.contains(&descriptor))
    }

    /// A descriptor was duplicated; the number of the duplicate may be that of one that was closed.
    pub(crate) fn duplicate(&mut self, descriptor: c_int, duplicate: c_int) {
        if duplicate == descriptor {
            return;
        }
        self.close(duplicate);
        if is_own(descriptor) {
            add_own(duplicate);
        }
        if let Some(family) = family(descriptor) {
            add_socket(duplicate, family);
        }
        SHARED.set(duplicate, SHARED.has(descriptor));
        if let Some(port) = self.peer(descriptor) {
            self.set_peer(duplicate, port);
        }
        if let Some(timer) = self.timer(descriptor) {
            timer.descriptors.push(duplicate);
        }
    }

    /// The program sets an option of a socket, which has no effect.
    pub(crate) fn set_option(&mut self, socket: c_int, option: (c_int, c_int), value: c_int) {
        self.options.entry(socket).or_default().insert(option, value);
    }

    /// An option that the program has set; zero unless it has.
    pub(crate) fn option(&self, socket: c_int, option: (c_int, c_int)) -> c_int {
        self.options.get(&socket).and_then(|of| of.get(&option)).copied().unwrap_or(0)
    }

    /// A descriptor was closed.
    pub(crate) fn close(&mut self, descriptor: c_int) {
        self.keep_unsent(descriptor);
        touch(descriptor);
        [&OWN, &SOCKETS, &V6, &SHARED].into_iter().for_each(|bits| bits.set(descriptor, false));
        self.peers.remove(&descriptor);
        self.options.remove(&descriptor);
        self.timers.iter_mut().for_each(|timer| timer.descriptors.retain(|own| *own != descriptor));
        self.timers.retain(|timer| !timer.descriptors.is_empty());
    }

    /// When the next timer expires.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.timers.iter().map(|timer| timer.deadline).filter(|time| *time != NEVER).min()
    }

    /// Lets the timers expire that are due.
    pub(crate) fn expire(&mut self, now: Nanos) {
        for timer in self.timers.iter_mut().filter(|timer| timer.deadline <= now) {
            let missed = (now - timer.deadline).checked_div(timer.interval).unwrap_or(0);
            os::write(timer.descriptors[0], &(1 + missed).to_ne_bytes());
            timer.deadline = match timer.interval {
                0 => NEVER,
                interval => timer.deadline + (1 + missed) * interval,
            };
        }
    }
}
