//! Named pipes between processes of a run, and between the threads of one of them.
//!
//! The kernel's `open` waits until the other end is opened, which no other process of the run does
//! meanwhile. So the thread opens its end at once, and waits in the world for the other one. After
//! that the pipe is like any other: data has arrived when a call returns.

use super::{descriptors, errno, fail, sockets};
use crate::descriptors::{add_shared, touch};
use crate::original::original;
use crate::wait::{NEVER, Slot, Wait, Woken};
use crate::world::World;
use crate::{coordinator, os};
use libc::{c_char, c_int, c_long, mode_t};
use std::mem::zeroed;

/// Whether a file is a named pipe.
///
/// # Safety
/// A path, which ends with a zero.
unsafe fn is_named_pipe(folder: c_int, path: *const c_char) -> bool {
    let errno = errno();
    // SAFETY: a place for numbers, and the caller's promise.
    let mode = unsafe {
        let mut status: libc::stat = zeroed();
        let is_known = libc::fstatat(folder, path, &raw mut status, 0) == 0;
        is_known.then_some(status.st_mode)
    };
    fail(errno);
    mode.is_some_and(|mode| mode & libc::S_IFMT == libc::S_IFIFO)
}

/// Whether a process has the end open that writes, or had since this one was opened.
fn has_writer(descriptor: c_int) -> bool {
    let mut asked = [libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 }];
    if os::poll(&mut asked) != 0 {
        return true;
    }
    // A writer that has said nothing: copying tells it apart, and takes no data away.
    let mut ends: [c_int; 2] = [-1; 2];
    // SAFETY: a place for two numbers.
    if unsafe { os::syscall(libc::SYS_pipe2, [ends.as_mut_ptr() as c_long, 0, 0, 0, 0, 0]) } < 0 {
        return true;
    }
    let flags = c_long::from(libc::SPLICE_F_NONBLOCK);
    let arguments = [descriptor.into(), ends[1].into(), 1, flags, 0, 0];
    // SAFETY: takes numbers.
    let copied = unsafe { os::syscall(libc::SYS_tee, arguments) };
    ends.into_iter().for_each(os::close);
    copied != 0
}

/// Waits until another thread or process has opened a named pipe, or a signal comes.
fn wait((world, me): (&World, Slot)) -> Result<(), c_int> {
    match world.wait(me, Wait::Process, NEVER) {
        Woken::Interrupted { restarts: false } => Err(libc::EINTR),
        _ => Ok(()),
    }
}

/// Opens a named pipe; `None` if the file is none, or the program is in no run.
///
/// # Safety
/// The caller keeps the rules of `openat`.
pub(super) unsafe fn open(
    caller: (&World, Slot),
    (folder, path, flags): (c_int, *const c_char, c_int),
) -> Option<c_int> {
    // SAFETY: the caller's promise.
    let is_own = coordinator::get().is_some()
        && flags & libc::O_PATH == 0
        && unsafe { is_named_pipe(folder, path) };
    if !is_own {
        return None;
    }
    let (world, me) = caller;
    sockets::wait_for_turn(world, me);
    let open = original!(openat: fn(c_int, *const c_char, c_int, mode_t) -> c_int);
    let waits = flags & libc::O_NONBLOCK == 0;
    let descriptor = loop {
        // SAFETY: the caller's promise; the file is there, so no mode is asked for.
        let descriptor = unsafe { open(folder, path, flags | libc::O_NONBLOCK, 0) };
        if descriptor >= 0 {
            break descriptor;
        }
        if !waits || errno() != libc::ENXIO {
            return Some(-1);
        }
        if let Err(error) = wait(caller) {
            return Some(fail(error));
        }
    };
    add_shared(descriptor);
    touch(descriptor);
    world.state().wake(Wait::Process, usize::MAX);
    if waits {
        while flags & libc::O_ACCMODE == libc::O_RDONLY && !has_writer(descriptor) {
            if let Err(error) = wait(caller) {
                // SAFETY: the descriptor was just opened.
                unsafe { descriptors::close(descriptor) };
                return Some(fail(error));
            }
        }
        // SAFETY: takes numbers.
        unsafe {
            let now = libc::fcntl(descriptor, libc::F_GETFL);
            libc::fcntl(descriptor, libc::F_SETFL, now & !libc::O_NONBLOCK);
        }
    }
    Some(descriptor)
}
