//! Sockets of IPv4 and IPv6 on the loopback interface, between the threads of a program and between
//! the processes of a run.
//!
//! Each one is a Unix socket here, and its port a part of an abstract name that only processes of
//! the run have. Data has arrived there when the call returns, while the kernel delivers packets a
//! moment later under load. Nothing beyond the loopback interface can be reached: that
//! would come at times that no other run repeats.

use super::pipes::{option, times_out};
use super::{errno, fail, interpose, unix_sockets};
use crate::descriptors::{self, Datagram, Family, family};
use crate::original::original;
use crate::wait::{NEVER, Slot, Wait};
use crate::world::World;
use crate::{coordinator, os, output};
use libc::{
    c_int, c_void, msghdr, size_t, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage,
    sockaddr_un, socklen_t, ssize_t,
};
use std::mem::{offset_of, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The first port that is given to a socket without one, as the kernel has it.
const FIRST_PORT: u16 = 32_768;

/// How long a thread waits while the queue of a listener is full, and how often.
const PATIENCE: u64 = 10_000;
const ATTEMPTS: u32 = 100;

const PATH: usize = offset_of!(sockaddr_un, sun_path);

/// The address of a Unix socket.
struct Name(sockaddr_un, socklen_t);

impl Name {
    /// No name, with room for one.
    fn empty() -> Self {
        // SAFETY: an address of numbers.
        Self(unsafe { zeroed() }, size_of::<sockaddr_un>() as socklen_t)
    }

    /// The name of a port in the run, for these versions of the protocol.
    fn of(descriptor: c_int, version: &str, port: u16) -> Self {
        let kind = if is_stream(descriptor) { "tcp" } else { "udp" };
        let text = format!("\0ringspin/{}/{kind}{version}/{port}", network());
        let mut name = Self::empty();
        name.0.sun_family = libc::AF_UNIX as _;
        let places = name.0.sun_path.iter_mut();
        places.zip(text.bytes()).for_each(|(place, byte)| *place = byte as _);
        name.1 = (PATH + text.len()) as socklen_t;
        name
    }

    /// The port of a name; zero without one.
    fn port(&self) -> u16 {
        let count = (self.1 as usize).saturating_sub(PATH).min(self.0.sun_path.len());
        let digits = self.0.sun_path[..count].iter().rev().map(|byte| *byte as u8);
        let digits = digits.take_while(u8::is_ascii_digit).zip([1u32, 10, 100, 1_000, 10_000]);
        digits.map(|(digit, value)| u32::from(digit - b'0') * value).sum::<u32>() as u16
    }

    fn address(&self) -> (*const sockaddr, socklen_t) {
        ((&raw const self.0).cast(), self.1)
    }

    fn place(&mut self) -> (*mut sockaddr, *mut socklen_t) {
        ((&raw mut self.0).cast(), &raw mut self.1)
    }
}

/// The number of the run, or of the program that is alone.
pub(super) fn network() -> u32 {
    coordinator::network().unwrap_or(os::this_process() as u32)
}

fn is_stream(descriptor: c_int) -> bool {
    option(descriptor, libc::SO_TYPE, libc::SOCK_STREAM) == Some(libc::SOCK_STREAM)
}

/// The version of the protocol in names of ports.
fn version(family: Family) -> &'static str {
    if family == Family::V6 { "6" } else { "4" }
}

/// The versions in the name of a port where streams of both arrive.
const BOTH: &str = "46";

/// A port on the loopback interface.
struct Port {
    /// Of the address: that of a socket for IPv6 may be one of IPv4.
    family: Family,
    /// Whether the address is that of all interfaces.
    is_any: bool,
    number: u16,
}

impl Port {
    fn new(host: IpAddr, number: u16) -> Result<Self, String> {
        let host = host.to_canonical();
        let family = if host.is_ipv6() { Family::V6 } else { Family::V4 };
        let is_any = host.is_unspecified();
        match host.is_loopback() || is_any {
            true => Ok(Self { family, is_any, number }),
            false => Err(SocketAddr::new(host, number).to_string()),
        }
    }

    /// The versions in its name, as the address of a socket that others connect to.
    fn versions(&self, world: &World, descriptor: c_int) -> &'static str {
        let option = (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY);
        let is_only = || world.with_descriptors(|all, _| all.option(descriptor, option)) != 0;
        match self.family {
            Family::V6 if self.is_any && is_stream(descriptor) && !is_only() => BOTH,
            family => version(family),
        }
    }
}

/// The port of an address on the loopback interface, or of any interface; otherwise the address as
/// text.
///
/// # Safety
/// It is the address of a socket, of so many bytes.
unsafe fn port_of(address: *const sockaddr, size: socklen_t) -> Result<Port, String> {
    // SAFETY: the caller's promise.
    unsafe {
        match c_int::from((*address).sa_family) {
            libc::AF_INET if size as usize >= size_of::<sockaddr_in>() => {
                let address = address.cast::<sockaddr_in>().read_unaligned();
                let host = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
                Port::new(host.into(), u16::from_be(address.sin_port))
            }
            libc::AF_INET6 if size as usize >= size_of::<sockaddr_in6>() => {
                let address = address.cast::<sockaddr_in6>().read_unaligned();
                let host = Ipv6Addr::from(address.sin6_addr.s6_addr);
                Port::new(host.into(), u16::from_be(address.sin6_port))
            }
            family => Err(format!("an address of family {family}")),
        }
    }
}

/// Writes the address of a port; that of no port is the unspecified one.
///
/// # Safety
/// A place for an address of so many bytes, or null.
unsafe fn write_address(family: Family, port: u16, to: *mut sockaddr, size: *mut socklen_t) {
    if to.is_null() || size.is_null() {
        return;
    }
    // SAFETY: addresses of numbers, and the caller's promise for the place.
    unsafe {
        let mut storage: sockaddr_storage = zeroed();
        let full = match family {
            Family::V6 => {
                let address = &mut *(&raw mut storage).cast::<sockaddr_in6>();
                address.sin6_family = libc::AF_INET6 as _;
                address.sin6_port = port.to_be();
                address.sin6_addr.s6_addr[15] = u8::from(port != 0);
                size_of::<sockaddr_in6>()
            }
            Family::V4 => {
                let address = &mut *(&raw mut storage).cast::<sockaddr_in>();
                address.sin_family = libc::AF_INET as _;
                address.sin_port = port.to_be();
                address.sin_addr.s_addr = if port == 0 { 0 } else { 0x7f00_0001_u32.to_be() };
                size_of::<sockaddr_in>()
            }
        };
        let count = full.min(*size as usize);
        (&raw const storage).cast::<u8>().copy_to_nonoverlapping(to.cast(), count);
        *size = full as socklen_t;
    }
}

/// Waits until the process may do something that others see. Programs of a run start at the same
/// time, until all threads of each wait: so the first one waits for a turn.
pub(super) fn wait_for_turn(world: &World, me: Slot) {
    while coordinator::get().is_some() && !descriptors::may_use_sockets() {
        world.wait(me, Wait::Process, NEVER);
    }
}

/// Creates a socket for the loopback interface; `None` if it is for something else.
pub(super) fn create(
    (world, me): (&World, Slot),
    [domain, kind, protocol]: [c_int; 3],
) -> Option<c_int> {
    let family = match domain {
        libc::AF_INET => Family::V4,
        libc::AF_INET6 => Family::V6,
        _ => return None,
    };
    match (kind & 0xf, protocol) {
        (libc::SOCK_STREAM, 0 | libc::IPPROTO_TCP) | (libc::SOCK_DGRAM, 0 | libc::IPPROTO_UDP) => {}
        _ => return None,
    }
    wait_for_turn(world, me);
    let socket = original!(socket: fn(c_int, c_int, c_int) -> c_int);
    // SAFETY: takes numbers.
    let descriptor = unsafe { socket(libc::AF_UNIX, kind, 0) };
    descriptors::add_socket(descriptor, family);
    Some(descriptor)
}

/// Gives the socket this port; zero is any.
fn bind_to(descriptor: c_int, version: &str, port: u16) -> c_int {
    let bind = original!(bind: fn(c_int, *const sockaddr, socklen_t) -> c_int);
    let ports = if port == 0 { FIRST_PORT..=u16::MAX } else { port..=port };
    for port in ports {
        let name = Name::of(descriptor, version, port);
        let (address, size) = name.address();
        // SAFETY: an address of this size.
        let result = unsafe { bind(descriptor, address, size) };
        if result == 0 || errno() != libc::EADDRINUSE {
            return result;
        }
    }
    fail(libc::EADDRINUSE)
}

/// The port of the socket; zero if it has none.
fn own_port(descriptor: c_int) -> u16 {
    let get = original!(getsockname: fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int);
    let mut name = Name::empty();
    let (address, size) = name.place();
    // SAFETY: a place for an address.
    if unsafe { get(descriptor, address, size) } == 0 { name.port() } else { 0 }
}

/// Refuses an address that no program of the run can have.
pub(super) fn beyond(address: &str, error: c_int) -> c_int {
    output::refuse(
        &format!("a socket to {address}"),
        "from beyond the run, data arrives at times that no other run repeats",
        "allow all sockets with RINGSPIN_SOCKETS=allow",
    );
    fail(error)
}

/// Connects a stream: the caller waits while the queue of the other end is full.
pub(super) fn connect_stream(
    (world, me): (&World, Slot),
    descriptor: c_int,
    (address, size): (*const sockaddr, socklen_t),
) -> c_int {
    let connect = original!(connect: fn(c_int, *const sockaddr, socklen_t) -> c_int);
    // SAFETY: takes numbers.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    let set = |flags: c_int| {
        // SAFETY: takes numbers.
        unsafe { libc::fcntl(descriptor, libc::F_SETFL, flags) }
    };
    set(flags | libc::O_NONBLOCK);
    let mut attempts = 0;
    let result = loop {
        // SAFETY: an address of this size.
        let result = unsafe { connect(descriptor, address, size) };
        if result == 0 || errno() != libc::EAGAIN || attempts == ATTEMPTS {
            break result;
        }
        attempts += 1;
        world.wait(me, Wait::Sleep, world.now() + PATIENCE);
    };
    let error = errno();
    set(flags);
    fail(if error == libc::EAGAIN { libc::ETIMEDOUT } else { error });
    result
}

/// The name to which the socket sends: that of this address, or of its peer.
///
/// # Safety
/// An address of so many bytes, or null.
unsafe fn receiver(
    world: &World,
    descriptor: c_int,
    family: Family,
    (to, size): (*const sockaddr, socklen_t),
) -> Result<Name, c_int> {
    let (to_family, port) = if to.is_null() {
        let peer = world.with_descriptors(|all, _| all.peer(descriptor));
        peer.ok_or(libc::EDESTADDRREQ)?
    } else {
        // SAFETY: the caller's promise.
        let port = unsafe { port_of(to, size) }.map_err(|address| {
            beyond(&address, libc::ENETUNREACH);
            libc::ENETUNREACH
        })?;
        (port.family, port.number)
    };
    if own_port(descriptor) == 0 {
        bind_to(descriptor, version(family), 0); // the receiver may answer
    }
    Ok(Name::of(descriptor, version(to_family), port))
}

/// Sends a datagram of a socket of the loopback interface; `None` if it is no such socket.
///
/// # Safety
/// A message, with an address or null.
pub(super) unsafe fn send_message(
    world: &World,
    descriptor: c_int,
    message: *const msghdr,
) -> Option<ssize_t> {
    let family = family(descriptor)?;
    if is_stream(descriptor) {
        return None;
    }
    // SAFETY: the caller's promise.
    let message = unsafe { *message };
    let to = (message.msg_name.cast_const().cast(), message.msg_namelen);
    // SAFETY: the caller's promise.
    let name = match unsafe { receiver(world, descriptor, family, to) } {
        Ok(name) => name,
        Err(error) => return Some(fail(error) as ssize_t),
    };
    let parts = match message.msg_iovlen {
        0 => &[],
        // SAFETY: the caller's promise: so many parts.
        count => unsafe { std::slice::from_raw_parts(message.msg_iov, count) },
    };
    let mut bytes = Vec::new();
    for part in parts.iter().filter(|part| part.iov_len > 0) {
        // SAFETY: the caller's promise.
        bytes.extend_from_slice(unsafe {
            std::slice::from_raw_parts(part.iov_base.cast_const().cast(), part.iov_len)
        });
    }
    let count = bytes.len() as ssize_t;
    let sent = world
        .with_descriptors(|all, _| all.send(Datagram { descriptor, to: (name.0, name.1), bytes }));
    Some(if sent < 0 { fail(-sent) as ssize_t } else { count })
}

/// Sends a datagram of so many bytes, as [`send_message`] does.
///
/// # Safety
/// So many bytes, and an address or null.
pub(super) unsafe fn send_bytes(
    world: &World,
    descriptor: c_int,
    (bytes, count): (*const c_void, size_t),
    (to, size): (*const sockaddr, socklen_t),
) -> Option<ssize_t> {
    family(descriptor)?;
    let mut part = libc::iovec { iov_base: bytes.cast_mut(), iov_len: count };
    // SAFETY: a message of numbers and addresses.
    let mut message: msghdr = unsafe { zeroed() };
    (message.msg_name, message.msg_namelen) = (to.cast_mut().cast(), size);
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    // SAFETY: the caller's promise.
    unsafe { send_message(world, descriptor, &raw const message) }
}

/// Receives from a socket of the loopback interface, with the address of the sender; `None` if it
/// is no such socket. The caller has waited.
///
/// # Safety
/// A message, with a place for an address or null.
pub(super) unsafe fn receive(
    descriptor: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> Option<ssize_t> {
    let family = family(descriptor)?;
    let receive = original!(recvmsg: fn(c_int, *mut msghdr, c_int) -> ssize_t);
    // SAFETY: the caller's promise.
    unsafe {
        let (to, mut room) = ((*message).msg_name, (*message).msg_namelen);
        let mut name = Name::empty();
        ((*message).msg_name, (*message).msg_namelen) = (name.place().0.cast(), name.1);
        let result = receive(descriptor, message, flags);
        name.1 = (*message).msg_namelen;
        if result >= 0 && !is_stream(descriptor) {
            write_address(family, name.port(), to.cast(), &raw mut room);
        } else {
            room = 0;
        }
        ((*message).msg_name, (*message).msg_namelen) = (to, room);
        if result >= 0 {
            descriptors::touch(descriptor);
        }
        Some(result)
    }
}

/// Accepts a connection.
///
/// # Safety
/// A place for an address of so many bytes, or null.
unsafe fn accept_with(
    caller: (&World, Slot),
    family: Family,
    descriptor: c_int,
    (to, size): (*mut sockaddr, *mut socklen_t),
    flags: c_int,
) -> c_int {
    let accept = original!(accept4: fn(c_int, *mut sockaddr, *mut socklen_t, c_int) -> c_int);
    if times_out(caller, descriptor, libc::POLLIN) {
        return -1;
    }
    let mut name = Name::empty();
    let (address, length) = name.place();
    // SAFETY: a place for an address.
    let accepted = unsafe { accept(descriptor, address, length, flags) };
    if accepted >= 0 {
        descriptors::add_socket(accepted, family);
        descriptors::touch(descriptor);
        // SAFETY: the caller's promise.
        unsafe { write_address(family, name.port(), to, size) };
    }
    accepted
}

interpose! {
    /// Gives a socket an address.
    fn bind(
        descriptor: c_int,
        address: *const sockaddr,
        size: socklen_t,
    ) -> c_int = before |world, me| {
        if unix_sockets::is_own(descriptor) {
            // SAFETY: the caller passes an address of this size.
            return unsafe { unix_sockets::bind((world, me), descriptor, (address, size)) };
        }
        if family(descriptor).is_some() {
            // SAFETY: the caller passes an address of this size.
            return match unsafe { port_of(address, size) } {
                Ok(port) => bind_to(descriptor, port.versions(world, descriptor), port.number),
                Err(address) => beyond(&address, libc::EADDRNOTAVAIL),
            };
        }
    }

    /// Lets others connect to a socket.
    fn listen(descriptor: c_int, count: c_int) -> c_int = before |_, _| {
        if let Some(family) = family(descriptor).filter(|_| own_port(descriptor) == 0) {
            bind_to(descriptor, version(family), 0);
        }
    }

    /// Connects a socket.
    fn connect(
        descriptor: c_int,
        address: *const sockaddr,
        size: socklen_t,
    ) -> c_int = before |world, me| {
        if unix_sockets::is_own(descriptor) {
            // SAFETY: the caller passes an address of this size.
            return unsafe { unix_sockets::connect((world, me), descriptor, (address, size)) };
        }
        if let Some(family) = family(descriptor) {
            // SAFETY: the caller passes an address of this size.
            let port = match unsafe { port_of(address, size) } {
                Ok(port) => port,
                Err(address) => return beyond(&address, libc::ENETUNREACH),
            };
            if own_port(descriptor) == 0 {
                bind_to(descriptor, version(family), 0);
            }
            if !is_stream(descriptor) {
                let peer = (port.family, port.number);
                world.with_descriptors(|all, _| all.set_peer(descriptor, peer));
                return 0;
            }
            let mut result = -1;
            for version in [version(port.family), BOTH] {
                let name = Name::of(descriptor, version, port.number);
                result = connect_stream((world, me), descriptor, name.address());
                if result == 0 || errno() != libc::ECONNREFUSED {
                    break;
                }
            }
            descriptors::touch(descriptor);
            return result;
        }
    }

    /// Accepts a connection.
    fn accept4(
        descriptor: c_int,
        address: *mut sockaddr,
        size: *mut socklen_t,
        flags: c_int,
    ) -> c_int = before |world, me| {
        if unix_sockets::is_own(descriptor) {
            // SAFETY: the caller's promise.
            return unsafe {
                unix_sockets::accept((world, me), descriptor, (address, size), flags)
            };
        }
        if let Some(family) = family(descriptor) {
            // SAFETY: the caller's promise.
            return unsafe {
                accept_with((world, me), family, descriptor, (address, size), flags)
            };
        }
    }

    /// Closes one direction of a connection.
    fn shutdown(descriptor: c_int, how: c_int) -> c_int = after |_, _, _| {
        descriptors::touch(descriptor);
    }

    /// Tells the address of a socket.
    fn getsockname(
        descriptor: c_int,
        address: *mut sockaddr,
        size: *mut socklen_t,
    ) -> c_int = before |_, _| {
        if let Some(family) = family(descriptor) {
            // SAFETY: the caller's promise.
            unsafe { write_address(family, own_port(descriptor), address, size) };
            return 0;
        }
    } after |_, _, result| {
        if result == 0 && unix_sockets::is_own(descriptor) {
            // SAFETY: the call has filled the place.
            unsafe { unix_sockets::write_path(address, size) };
        }
    }

    /// Tells the address of the other end.
    fn getpeername(
        descriptor: c_int,
        address: *mut sockaddr,
        size: *mut socklen_t,
    ) -> c_int = before |world, _, get| {
        if let Some(family) = family(descriptor) {
            let mut name = Name::empty();
            let (place, length) = name.place();
            // SAFETY: a place for an address.
            let port = match unsafe { get(descriptor, place, length) } {
                0 => Some(name.port()),
                _ => world.with_descriptors(|all, _| all.peer(descriptor)).map(|(_, port)| port),
            };
            let Some(port) = port else { return fail(libc::ENOTCONN) };
            // SAFETY: the caller's promise.
            unsafe { write_address(family, port, address, size) };
            return 0;
        }
    } after |_, _, result| {
        if result == 0 && unix_sockets::is_own(descriptor) {
            // SAFETY: the call has filled the place.
            unsafe { unix_sockets::write_path(address, size) };
        }
    }

    /// Sets an option. Those of protocols have no effect on the loopback interface, but are kept.
    fn setsockopt(
        descriptor: c_int,
        level: c_int,
        name: c_int,
        value: *const c_void,
        size: socklen_t,
    ) -> c_int = before |world, _| {
        if family(descriptor).is_some()
            && (level != libc::SOL_SOCKET || name == libc::SO_REUSEPORT)
        {
            if size as usize >= size_of::<c_int>() {
                // SAFETY: the caller passes a value of this size.
                let value = unsafe { value.cast::<c_int>().read_unaligned() };
                world.with_descriptors(|all, _| all.set_option(descriptor, (level, name), value));
            }
            return 0;
        }
    }

    /// Tells an option. Those of protocols are zero until the program sets them.
    fn getsockopt(
        descriptor: c_int,
        level: c_int,
        name: c_int,
        value: *mut c_void,
        size: *mut socklen_t,
    ) -> c_int = before |world, _| {
        if let Some(family) = family(descriptor) {
            const NONE: c_int = c_int::MIN; // the kernel tells it
            let told = match (level, name) {
                (libc::SOL_SOCKET, libc::SO_DOMAIN) if family == Family::V6 => libc::AF_INET6,
                (libc::SOL_SOCKET, libc::SO_DOMAIN) => libc::AF_INET,
                (libc::SOL_SOCKET, libc::SO_PROTOCOL) if is_stream(descriptor) => libc::IPPROTO_TCP,
                (libc::SOL_SOCKET, libc::SO_PROTOCOL) => libc::IPPROTO_UDP,
                (libc::SOL_SOCKET, name) if name != libc::SO_REUSEPORT => NONE,
                _ => world.with_descriptors(|all, _| all.option(descriptor, (level, name))),
            };
            if told != NONE {
                // SAFETY: the caller passes a place of this size.
                unsafe {
                    let count = size_of::<c_int>().min(*size as usize);
                    (&raw const told).cast::<u8>().copy_to_nonoverlapping(value.cast(), count);
                    *size = count as socklen_t;
                }
                return 0;
            }
        }
    }

    /// Sends to an address.
    fn sendto(
        descriptor: c_int,
        bytes: *const c_void,
        count: size_t,
        flags: c_int,
        to: *const sockaddr,
        size: socklen_t,
    ) -> ssize_t = before |world, _| {
        // SAFETY: the caller's promise.
        let sent = unsafe { send_bytes(world, descriptor, (bytes, count), (to, size)) };
        if let Some(sent) = sent {
            return sent;
        }
        if to.is_null() || family(descriptor).is_some() {
            // SAFETY: the caller's promise.
            return unsafe { super::pipes::send(descriptor, bytes, count, flags) };
        }
    }
}
