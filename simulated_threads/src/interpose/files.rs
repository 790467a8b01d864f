//! Files that are opened for reading: the report lists them with hashes of their contents, which
//! are inputs that no world controls.
//!
//! libc's own calls (`getaddrinfo`, `tzset`) do not come by here. Files without a size, such as
//! those in `/proc`, have no content that could be read twice, and are not listed.

use super::{errno, fail, interpose, named_pipes};
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

interpose! {
    /// Opens a file. libc declares it with variable arguments: see `syscall`.
    fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int = before |world, me| {
        // SAFETY: the caller's promise.
        let opened = unsafe { named_pipes::open((world, me), (AT_FDCWD, path, flags)) };
        if let Some(result) = opened {
            return result;
        }
    } after |world, _, result| {
        opened(world, result);
    }

    /// Opens a file, as `open` does.
    fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int = before |world, me| {
        // SAFETY: the caller's promise.
        let opened = unsafe { named_pipes::open((world, me), (AT_FDCWD, path, flags)) };
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
        let opened = unsafe { named_pipes::open((world, me), (folder, path, flags)) };
        if let Some(result) = opened {
            return result;
        }
    } after |world, _, result| {
        opened(world, result);
    }

    /// Opens a file in a folder, as `openat` does.
    fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        = before |world, me| {
        // SAFETY: the caller's promise.
        let opened = unsafe { named_pipes::open((world, me), (folder, path, flags)) };
        if let Some(result) = opened {
            return result;
        }
    } after |world, _, result| {
        opened(world, result);
    }

    /// Opens a file as a stream.
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE = before |world, me| {
        // SAFETY: the caller's promise.
        let opened = unsafe { named_pipes::open_stream((world, me), path, mode) };
        if let Some(result) = opened {
            return result;
        }
    } after |world, _, result| {
        opened_stream(world, result);
    }

    /// Opens a file as a stream, as `fopen` does.
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE = before |world, me| {
        // SAFETY: the caller's promise.
        let opened = unsafe { named_pipes::open_stream((world, me), path, mode) };
        if let Some(result) = opened {
            return result;
        }
    } after |world, _, result| {
        opened_stream(world, result);
    }
}
