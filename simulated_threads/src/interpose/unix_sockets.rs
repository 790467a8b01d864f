//! Unix sockets for streams, between the threads of a program and between the processes of a run.
//!
//! A path is a part of an abstract name that only processes of the run have, and the file is there
//! for programs that look for it. So a process connects to others of its run alone, and a path
//! beyond it has no listener.

use super::pipes::{option, times_out};
use super::{errno, fail, sockets};
use crate::descriptors::{self, add_shared, is_shared, touch};
use crate::original::original;
use crate::wait::Slot;
use crate::world::World;
use libc::{c_int, msghdr, sockaddr, sockaddr_un, socklen_t};
use std::ffi::{CString, OsStr};
use std::mem::{offset_of, zeroed};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const PATH: usize = offset_of!(sockaddr_un, sun_path);

/// Whether the descriptor is a Unix socket that the program has created as such.
pub(super) fn is_own(descriptor: c_int) -> bool {
    is_shared(descriptor)
        && descriptors::family(descriptor).is_none()
        && option(descriptor, libc::SO_DOMAIN, 0) == Some(libc::AF_UNIX)
}

/// Creates a Unix socket for a stream; `None` if it is for something else.
pub(super) fn create(domain: c_int, kind: c_int, protocol: c_int) -> Option<c_int> {
    if (domain, kind & 0xf, protocol) != (libc::AF_UNIX, libc::SOCK_STREAM, 0) {
        return None;
    }
    let socket = original!(socket: fn(c_int, c_int, c_int) -> c_int);
    // SAFETY: takes numbers.
    let descriptor = unsafe { socket(domain, kind, protocol) };
    add_shared(descriptor);
    Some(descriptor)
}

/// The begin of the names of the run.
fn prefix() -> Vec<u8> {
    format!("\0ringspin/{}/unix", sockets::network()).into_bytes()
}

/// The path of an address, absolute; an abstract name begins with a zero.
///
/// # Safety
/// It is the address of a socket, of so many bytes.
unsafe fn path_of(address: *const sockaddr, size: socklen_t) -> Option<Vec<u8>> {
    // SAFETY: the caller's promise.
    let bytes = unsafe {
        if c_int::from((*address).sa_family) != libc::AF_UNIX || size as usize <= PATH {
            return None;
        }
        std::slice::from_raw_parts(address.cast::<u8>().add(PATH), size as usize - PATH)
    };
    match bytes.split(|byte| *byte == 0).next().filter(|path| !path.is_empty()) {
        None => Some(bytes.to_vec()),
        Some(path) => {
            let path = std::path::absolute(OsStr::from_bytes(path)).ok()?;
            Some(path.as_os_str().as_bytes().to_vec())
        }
    }
}

/// The name of a path in the run; `None` if it is too long.
fn name_of(path: &[u8]) -> Option<(sockaddr_un, socklen_t)> {
    let name = [prefix(), path.to_vec()].concat();
    // SAFETY: an address of numbers.
    let mut address: sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as _;
    let places = address.sun_path.iter_mut();
    places.zip(&name).for_each(|(place, byte)| *place = *byte as _);
    (name.len() <= address.sun_path.len()).then_some((address, (PATH + name.len()) as socklen_t))
}

/// Calls `call` with the address in the run of this one, after the first turn of the process.
///
/// # Safety
/// It is the address of a socket, of so many bytes.
unsafe fn with_name(
    caller: (&World, Slot),
    (address, size): (*const sockaddr, socklen_t),
    call: impl FnOnce(Vec<u8>, *const sockaddr, socklen_t) -> c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let Some(path) = (unsafe { path_of(address, size) }) else { return fail(libc::EINVAL) };
    let Some((name, size)) = name_of(&path) else { return fail(libc::ENAMETOOLONG) };
    sockets::wait_for_turn(caller.0, caller.1);
    call(path, (&raw const name).cast(), size)
}

/// Gives the socket an address, and makes the file of it.
///
/// # Safety
/// It is the address of a socket, of so many bytes.
pub(super) unsafe fn bind(
    caller: (&World, Slot),
    descriptor: c_int,
    address: (*const sockaddr, socklen_t),
) -> c_int {
    let bind = original!(bind: fn(c_int, *const sockaddr, socklen_t) -> c_int);
    // SAFETY: the caller's promise; a path without a zero.
    unsafe {
        with_name(caller, address, |path, name, size| {
            let is_abstract = path[0] == 0;
            let path = CString::new(path).unwrap_or_default();
            if !is_abstract && libc::mknod(path.as_ptr(), libc::S_IFSOCK | 0o777, 0) != 0 {
                let error = errno();
                return fail(if error == libc::EEXIST { libc::EADDRINUSE } else { error });
            }
            bind(descriptor, name, size)
        })
    }
}

/// Connects the socket.
///
/// # Safety
/// It is the address of a socket, of so many bytes.
pub(super) unsafe fn connect(
    caller: (&World, Slot),
    descriptor: c_int,
    address: (*const sockaddr, socklen_t),
) -> c_int {
    // A program that no process of the run has is not waited for: tracing looks for its daemon.
    // SAFETY: the caller's promise.
    if let Some(path) = unsafe { path_of(address.0, address.1) }
        && path[0] != 0
        && !Path::new(OsStr::from_bytes(&path)).exists()
    {
        return fail(libc::ENOENT);
    }
    // SAFETY: the caller's promise.
    let result = unsafe {
        with_name(caller, address, |path, name, size| {
            let result = sockets::connect_stream(caller, descriptor, (name, size));
            if result != 0 && errno() == libc::ECONNREFUSED {
                sockets::beyond(&String::from_utf8_lossy(&path), libc::ECONNREFUSED);
            }
            result
        })
    };
    touch(descriptor);
    result
}

/// Accepts a connection, from a socket without a name.
///
/// # Safety
/// A place for an address of so many bytes, or null.
pub(super) unsafe fn accept(
    caller: (&World, Slot),
    descriptor: c_int,
    (to, size): (*mut sockaddr, *mut socklen_t),
    flags: c_int,
) -> c_int {
    let accept = original!(accept4: fn(c_int, *mut sockaddr, *mut socklen_t, c_int) -> c_int);
    if times_out(caller, descriptor, libc::POLLIN) {
        return -1;
    }
    // SAFETY: the caller's promise.
    let accepted = unsafe { accept(descriptor, to, size, flags) };
    if accepted >= 0 {
        add_shared(accepted);
        touch(descriptor);
    }
    accepted
}

/// Writes the path that an address of the run has, which a call has told.
///
/// # Safety
/// A place with an address of so many bytes; the kernel may have told a longer one.
pub(super) unsafe fn write_path(address: *mut sockaddr, size: *mut socklen_t) {
    // SAFETY: the caller's promise. An address of the run has one byte at least.
    unsafe {
        let (length, prefix) = (*size as usize, prefix());
        let begin = address.cast::<u8>().add(PATH);
        if length <= PATH + prefix.len()
            || length > size_of::<sockaddr_un>()
            || std::slice::from_raw_parts(begin, prefix.len()) != prefix
        {
            return;
        }
        let count = length - PATH - prefix.len();
        begin.copy_from(begin.add(prefix.len()), count);
        begin.add(count).write_bytes(0, prefix.len());
        let has_end = *begin != 0; // the name of no file has none
        *size = (PATH + count + usize::from(has_end)) as socklen_t;
    }
}

/// Pipes and sockets that are sent with a message, or `are_received`, are those of other processes
/// as well.
///
/// # Safety
/// A message that was sent or received.
pub(super) unsafe fn share_passed(message: *const msghdr, are_received: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            let header = &*control;
            if (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let data = libc::CMSG_DATA(control).cast::<c_int>();
                let count = (header.cmsg_len as usize - libc::CMSG_LEN(0) as usize) / 4;
                for n in 0..count {
                    let descriptor = data.add(n).read_unaligned();
                    if is_pipe(descriptor) && (are_received || descriptors::is_own(descriptor)) {
                        add_shared(descriptor);
                    }
                }
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
}

/// Whether the descriptor is a pipe or a socket.
fn is_pipe(descriptor: c_int) -> bool {
    // SAFETY: a place for numbers.
    let kind = unsafe {
        let mut status: libc::stat = zeroed();
        libc::fstat(descriptor, &raw mut status);
        status.st_mode & libc::S_IFMT
    };
    matches!(kind, libc::S_IFIFO | libc::S_IFSOCK)
}
