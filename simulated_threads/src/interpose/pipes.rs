//! Pipes and sockets: creation of pairs, duplicates, reading and writing.
//!
//! A blocking call on a descriptor with both ends in the process would keep the turn for ever. So
//! the thread waits in the world until the descriptor is ready, and then calls libc, which returns
//! at once: it reads what is there, and writes no more at a time than a ready descriptor takes.

use super::descriptors::wait;
use super::{clock, errno, fail, file_locks, interpose, sockets, unix_sockets};
use crate::descriptors::{add_own, family, is_own, touch};
use crate::os;
use crate::wait::{NEVER, Nanos, Slot, Woken};
use crate::world::World;
use libc::{
    c_int, c_long, c_short, c_void, iovec, msghdr, pollfd, size_t, sockaddr, socklen_t, ssize_t,
    timespec, timeval,
};

/// How many bytes a ready pipe or stream takes without a wait: `PIPE_BUF`.
const CHUNK: usize = 4096;

/// Whether a call on the descriptor is a wait in the world.
fn waits(descriptor: c_int) -> bool {
    // SAFETY: asks for flags.
    is_own(descriptor) && unsafe { libc::fcntl(descriptor, libc::F_GETFL) & libc::O_NONBLOCK == 0 }
}

/// An option of a socket; `None` of another descriptor.
pub(super) fn option<T>(descriptor: c_int, name: c_int, mut value: T) -> Option<T> {
    let mut size = size_of::<T>() as socklen_t;
    // SAFETY: a place of this size for the option.
    let result = unsafe {
        let place = (&raw mut value).cast();
        libc::getsockopt(descriptor, libc::SOL_SOCKET, name, place, &raw mut size)
    };
    (result == 0).then_some(value)
}

/// The deadline of a call, by the timeout that the program has set for the socket.
fn deadline(world: &World, descriptor: c_int, events: c_short) -> Nanos {
    let name = if events == libc::POLLIN { libc::SO_RCVTIMEO } else { libc::SO_SNDTIMEO };
    let none = timeval { tv_sec: 0, tv_usec: 0 };
    match option(descriptor, name, none) {
        None | Some(timeval { tv_sec: 0, tv_usec: 0 }) => NEVER,
        Some(timeval { tv_sec, tv_usec }) => {
            clock::after(world.now(), timespec { tv_sec, tv_nsec: tv_usec * 1000 }).unwrap_or(NEVER)
        }
    }
}

/// Waits until the descriptor is ready; false at the deadline and after a signal. Otherwise `errno`
/// stays the program's.
fn is_ready((world, me): (&World, Slot), descriptor: c_int, events: c_short) -> bool {
    let errno = errno();
    let deadline = deadline(world, descriptor, events);
    let mut asked = [pollfd { fd: descriptor, events, revents: 0 }];
    while os::poll(&mut asked) == 0 {
        if deadline <= world.now() {
            fail(libc::EAGAIN);
            return false;
        }
        let woken = wait(world, me, asked.to_vec(), deadline);
        if woken == (Woken::Interrupted { restarts: false }) {
            fail(libc::EINTR);
            return false;
        }
    }
    fail(errno);
    true
}

/// Whether a call that reads is to fail at its deadline.
pub(super) fn times_out(caller: (&World, Slot), descriptor: c_int, events: c_short) -> bool {
    waits(descriptor) && !is_ready(caller, descriptor, events)
}

/// Writes `count` bytes by calls of `write`, which takes the position of the first byte and a
/// number. A message is not divided.
fn write_all(
    caller: (&World, Slot),
    descriptor: c_int,
    count: size_t,
    write: impl Fn(usize, usize) -> ssize_t,
) -> ssize_t {
    let kind = option(descriptor, libc::SO_TYPE, libc::SOCK_STREAM);
    let max = if kind.unwrap_or(libc::SOCK_STREAM) == libc::SOCK_STREAM { CHUNK } else { count };
    let mut written = 0;
    loop {
        let result = match is_ready(caller, descriptor, libc::POLLOUT) {
            true => write(written, (count - written).min(max)),
            false => -1,
        };
        if result < 0 && written == 0 {
            return result;
        }
        written += usize::try_from(result).unwrap_or(0);
        touch(descriptor);
        if result <= 0 || written == count {
            return written as ssize_t;
        }
    }
}

/// A call that does not wait has this result: if nothing was ready, the thread may try again in a
/// loop, so that counts as a yield.
fn tried((world, me): (&World, Slot), descriptor: c_int, result: ssize_t) {
    if result >= 0 {
        touch(descriptor);
    }
    if result < 0 && errno() == libc::EAGAIN {
        world.pause(me);
        fail(libc::EAGAIN);
    }
}

/// Sends bytes of a socket for datagrams of the loopback interface to its peer; `None` for another
/// descriptor.
///
/// # Safety
/// So many bytes.
unsafe fn datagram(
    world: &World,
    descriptor: c_int,
    bytes: (*const c_void, size_t),
) -> Option<ssize_t> {
    // SAFETY: the caller's promise.
    unsafe { sockets::send_bytes(world, descriptor, bytes, (std::ptr::null(), 0)) }
}

/// A descriptor was duplicated, unless that failed.
fn duplicated(world: &World, descriptor: c_int, duplicate: c_int) {
    if duplicate >= 0 && (is_own(descriptor) || is_own(duplicate)) {
        world.with_descriptors(|all, _| all.duplicate(descriptor, duplicate));
    }
}

/// Two descriptors were created, unless that failed.
///
/// # Safety
/// `ends` points to both if there is no error.
unsafe fn add_ends(error: c_int, ends: *const c_int) {
    if error == 0 {
        // SAFETY: the caller's promise.
        unsafe { [*ends, *ends.add(1)] }.into_iter().for_each(add_own);
    }
}

interpose! {
    /// Creates a pipe.
    fn pipe2(ends: *mut c_int, flags: c_int) -> c_int = after |_, _, error| {
        // SAFETY: libc has filled the caller's place.
        unsafe { add_ends(error, ends) };
    }

    /// Creates a pair of sockets.
    fn socketpair(
        domain: c_int,
        kind: c_int,
        protocol: c_int,
        ends: *mut c_int,
    ) -> c_int = after |_, _, error| {
        // SAFETY: libc has filled the caller's place.
        unsafe { add_ends(error, ends) };
    }

    /// Duplicates a descriptor.
    fn dup(descriptor: c_int) -> c_int = after |world, _, duplicate| {
        duplicated(world, descriptor, duplicate);
    }

    /// Duplicates a descriptor.
    fn dup2(descriptor: c_int, number: c_int) -> c_int = after |world, _, duplicate| {
        duplicated(world, descriptor, duplicate);
    }

    /// Duplicates a descriptor.
    fn dup3(descriptor: c_int, number: c_int, flags: c_int) -> c_int = after |world, _, duplicate| {
        duplicated(world, descriptor, duplicate);
    }

    /// Changes a descriptor, or duplicates it.
    ///
    /// libc declares it with variable arguments: see `syscall`.
    fn fcntl(descriptor: c_int, command: c_int, a: c_long) -> c_int = before |world, me, fcntl| {
        let (tried, waits) = match command {
            libc::F_SETLKW => (libc::F_SETLK, true),
            libc::F_OFD_SETLKW => (libc::F_OFD_SETLK, true),
            other => (other, false),
        };
        if matches!(tried, libc::F_SETLK | libc::F_OFD_SETLK) {
            // SAFETY: the caller's promise.
            let attempt = || unsafe { fcntl(descriptor, tried, a) };
            return file_locks::change((world, me), waits, attempt);
        }
    } after |world, _, result| {
        if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
            duplicated(world, descriptor, result);
        }
    }

    /// Reads. From a descriptor of elsewhere, data comes at times that no other run repeats.
    fn read(descriptor: c_int, bytes: *mut c_void, count: size_t) -> ssize_t = before |world, me| {
        if times_out((world, me), descriptor, libc::POLLIN) {
            return -1;
        }
    } after |world, me, result| {
        tried((world, me), descriptor, result);
    }

    /// Reads into several places.
    fn readv(
        descriptor: c_int,
        places: *const iovec,
        count: c_int,
    ) -> ssize_t = before |world, me| {
        if times_out((world, me), descriptor, libc::POLLIN) {
            return -1;
        }
    } after |world, me, result| {
        tried((world, me), descriptor, result);
    }

    /// Reads, as a function compiled with `_FORTIFY_SOURCE` does. The original checks the size.
    fn __read_chk(
        descriptor: c_int,
        place: *mut c_void,
        count: size_t,
        bytes: size_t,
    ) -> ssize_t = before |world, me| {
        if times_out((world, me), descriptor, libc::POLLIN) {
            return -1;
        }
    } after |world, me, result| {
        tried((world, me), descriptor, result);
    }

    /// Receives from a socket.
    fn recvfrom(
        descriptor: c_int,
        bytes: *mut c_void,
        count: size_t,
        flags: c_int,
        from: *mut sockaddr,
        size: *mut socklen_t,
    ) -> ssize_t = before |world, me| {
        if flags & libc::MSG_DONTWAIT == 0 && times_out((world, me), descriptor, libc::POLLIN) {
            return -1;
        }
        if !from.is_null() && family(descriptor).is_some() {
            let mut part = iovec { iov_base: bytes, iov_len: count };
            // SAFETY: a message of numbers and addresses.
            let mut message: msghdr = unsafe { std::mem::zeroed() };
            (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
            message.msg_name = from.cast();
            // SAFETY: the caller passes the size of its place.
            message.msg_namelen = unsafe { *size };
            // SAFETY: the caller passes so many bytes, and a place for an address.
            let result = unsafe { recvmsg(descriptor, &raw mut message, flags) };
            if result >= 0 {
                // SAFETY: as before.
                unsafe { *size = message.msg_namelen };
            }
            return result;
        }
    } after |world, me, result| {
        tried((world, me), descriptor, result);
    }

    /// Receives from a socket.
    fn recvmsg(
        descriptor: c_int,
        message: *mut msghdr,
        flags: c_int,
    ) -> ssize_t = before |world, me| {
        if flags & libc::MSG_DONTWAIT == 0 && times_out((world, me), descriptor, libc::POLLIN) {
            return -1;
        }
        // SAFETY: the caller's promise.
        if let Some(result) = unsafe { sockets::receive(descriptor, message, flags) } {
            tried((world, me), descriptor, result);
            return result;
        }
    } after |world, me, result| {
        if result >= 0 {
            // SAFETY: the call has filled the message.
            unsafe { unix_sockets::share_passed(message, true) };
        }
        tried((world, me), descriptor, result);
    }

    /// Writes.
    fn write(
        descriptor: c_int,
        bytes: *const c_void,
        count: size_t,
    ) -> ssize_t = before |world, me, write| {
        // SAFETY: the caller passes so many bytes.
        if let Some(sent) = unsafe { datagram(world, descriptor, (bytes, count)) } {
            return sent;
        }
        if waits(descriptor) {
            // SAFETY: the caller passes so many bytes, of which this is a part.
            let part = |at, count| unsafe { write(descriptor, bytes.byte_add(at), count) };
            return write_all((world, me), descriptor, count, part);
        }
    } after |world, me, result| {
        tried((world, me), descriptor, result);
    }

    /// Writes from several places.
    fn writev(
        descriptor: c_int,
        places: *const iovec,
        count: c_int,
    ) -> ssize_t = before |world, me| {
        if times_out((world, me), descriptor, libc::POLLOUT) {
            return -1;
        }
    } after |world, me, result| {
        tried((world, me), descriptor, result);
    }

    /// Sends to a socket.
    fn send(
        descriptor: c_int,
        bytes: *const c_void,
        count: size_t,
        flags: c_int,
    ) -> ssize_t = before |world, me, send| {
        // SAFETY: the caller passes so many bytes.
        if let Some(sent) = unsafe { datagram(world, descriptor, (bytes, count)) } {
            return sent;
        }
        if flags & libc::MSG_DONTWAIT == 0 && waits(descriptor) {
            // SAFETY: the caller passes so many bytes, of which this is a part.
            let part = |at, count| unsafe { send(descriptor, bytes.byte_add(at), count, flags) };
            return write_all((world, me), descriptor, count, part);
        }
    } after |world, me, result| {
        tried((world, me), descriptor, result);
    }

    /// Sends to a socket.
    fn sendmsg(
        descriptor: c_int,
        message: *const msghdr,
        flags: c_int,
    ) -> ssize_t = before |world, me| {
        // SAFETY: the caller's promise.
        let sent = unsafe {
            unix_sockets::share_passed(message, false);
            sockets::send_message(world, descriptor, message)
        };
        if let Some(sent) = sent {
            return sent;
        }
        if flags & libc::MSG_DONTWAIT == 0 && times_out((world, me), descriptor, libc::POLLOUT) {
            return -1;
        }
    } after |world, me, result| {
        tried((world, me), descriptor, result);
    }
}
