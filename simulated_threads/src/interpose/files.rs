//! Files that are opened for reading: the report lists them with hashes of their contents, which
//! are inputs that no world controls.
//!
//! libc's own calls (`getaddrinfo`, `tzset`) do not come by here. Files without a size, such as
//! those in `/proc`, have no content that could be read twice, and are not listed.

use super::{errno, fail, interpose, named_pipes, random, streams};
use crate::wait::Slot;
use crate::world::World;
use libc::{AT_FDCWD, FILE, c_char, c_int, mode_t};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

/// A descriptor was opened, unless that failed.
fn opened(world: &World, descriptor: c_int) {
    if descriptor < 0 || !world.is_alone {
        return;
    }
    let errno = errno();
    // SAFETY: asks for flags.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    if flags & libc::O_ACCMODE != libc::O_WRONLY && flags & libc::O_PATH == 0 {
        // SAFETY: the descriptor is open until this returns, and the file does not close it.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
        world.note_file(&file);
    }
    fail(errno);
}

/// A stream was opened, unless that failed.
fn opened_stream(world: &World, stream: *mut FILE) {
    if !stream.is_null() {
        // SAFETY: the stream was just opened.
        opened(world, unsafe { libc::fileno(stream) });
    }
}

/// Opens a file that is simulated: random bytes or a named pipe; `None` of another file.
///
/// # Safety
/// The caller keeps the rules of `openat`.
unsafe fn open_simulated(
    (world, me): (&World, Slot),
    (folder, path, flags): (c_int, *const c_char, c_int),
) -> Option<c_int> {
    // SAFETY: the caller's promise.
    unsafe {
        random::open_device(world, path, flags)
            .or_else(|| named_pipes::open((world, me), (folder, path, flags)))
    }
}

/// Opens a simulated file as a stream, as `fopen` does; `None` of another file.
///
/// # Safety
/// The caller keeps the rules of `fopen`.
unsafe fn open_stream(
    caller: (&World, Slot),
    path: *const c_char,
    mode: *const c_char,
) -> Option<*mut libc::FILE> {
    // SAFETY: the caller passes a text.
    let text = unsafe { std::ffi::CStr::from_ptr(mode) }.to_bytes();
    let has = |letter| text.contains(&letter);
    let mut flags = match text.first() {
        _ if has(b'+') => libc::O_RDWR,
        Some(b'r') => libc::O_RDONLY,
        _ => libc::O_WRONLY,
    };
    flags |= if has(b'e') { libc::O_CLOEXEC } else { 0 };
    // SAFETY: the caller's promise.
    let descriptor = unsafe { open_simulated(caller, (AT_FDCWD, path, flags)) }?;
    if descriptor < 0 {
        return Some(std::ptr::null_mut());
    }
    // SAFETY: the caller's promise, and the descriptor was just opened.
    Some(unsafe { streams::fdopen(descriptor, mode) })
}

interpose! {
    /// Opens a file. libc declares it with variable arguments: see `syscall`.
    fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int = before |world, me| {
        // SAFETY: the caller's promise.
        let opened = unsafe { open_simulated((world, me), (AT_FDCWD, path, flags)) };
        if let Some(result) = opened {
            return result;
        }
    } after |world, _, result| {
        opened(world, result);
    }

    /// Opens a file in a folder. libc declares it with variable arguments: see `syscall`.
    fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        = before |world, me| {
        // SAFETY: the caller's promise.
        let opened = unsafe { open_simulated((world, me), (folder, path, flags)) };
        if let Some(result) = opened {
            return result;
        }
    } after |world, _, result| {
        opened(world, result);
    }

    /// Opens a file as a stream.
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE = before |world, me| {
        // SAFETY: the caller's promise.
        let opened = unsafe { open_stream((world, me), path, mode) };
        if let Some(result) = opened {
            return result;
        }
    } after |world, _, result| {
        opened_stream(world, result);
    }
}
