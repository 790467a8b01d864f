//! Streams of C on descriptors of other processes of the run, and commands of the shell.
//!
//! A stream of libc reads and writes by calls within libc, which would keep the turn until another
//! process has written or read. So a program gets streams that call the functions here: in the
//! place of its standard ones before `main`, and of `fopen`, `fdopen` and `popen`.

use super::children::{NO_CHILD, posix_spawn, wait4};
use super::{descriptors, errno, fail, interpose, pipes, traps};
use crate::descriptors::is_shared;
use libc::{FILE, c_char, c_int, c_void, pid_t, size_t, ssize_t};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// Where glibc has the descriptor of a stream, on 64-bit machines: it is a part of its interface,
/// since macros of older programs have used it.
const DESCRIPTOR: usize = 112;

/// The processes of the streams of [`popen`], which are known by their addresses.
static COMMANDS: Mutex<Vec<(usize, pid_t)>> = Mutex::new(Vec::new());

/// The functions of a stream, as glibc's `cookie_io_functions_t`. The cookie is its descriptor.
#[repr(C)]
struct Functions {
    read: unsafe extern "C-unwind" fn(*mut c_void, *mut c_char, size_t) -> ssize_t,
    write: unsafe extern "C-unwind" fn(*mut c_void, *const c_char, size_t) -> ssize_t,
    seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    close: unsafe extern "C-unwind" fn(*mut c_void) -> c_int,
}

unsafe extern "C" {
    static mut stdin: *mut FILE;
    static mut stdout: *mut FILE;
    static mut stderr: *mut FILE;
    static environ: *const *mut c_char;
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut FILE;
}

unsafe extern "C-unwind" fn read(
    cookie: *mut c_void,
    place: *mut c_char,
    count: size_t,
) -> ssize_t {
    // SAFETY: the stream passes so many bytes.
    unsafe { pipes::read(cookie.addr() as c_int, place.cast(), count) }
}

unsafe extern "C-unwind" fn write(
    cookie: *mut c_void,
    bytes: *const c_char,
    count: size_t,
) -> ssize_t {
    // SAFETY: the stream passes so many bytes. It takes zero for a failure.
    unsafe { pipes::write(cookie.addr() as c_int, bytes.cast(), count) }.max(0)
}

unsafe extern "C-unwind" fn close(cookie: *mut c_void) -> c_int {
    // SAFETY: takes a number.
    unsafe { descriptors::close(cookie.addr() as c_int) }
}

/// A stream on a descriptor, which calls the functions here; null if there is no memory.
///
/// # Safety
/// A text of letters that `fopen` has.
pub(super) unsafe fn open(descriptor: c_int, mode: *const c_char) -> *mut FILE {
    let functions = Functions { read, write, seek: None, close };
    let cookie = ptr::without_provenance_mut(descriptor as usize);
    // SAFETY: the functions take the cookie; the stream has its descriptor where glibc has it.
    unsafe {
        let stream = fopencookie(cookie, mode, functions);
        if !stream.is_null() {
            stream.byte_add(DESCRIPTOR).cast::<c_int>().write(descriptor);
        }
        stream
    }
}

/// Replaces the standard streams that are pipes of other processes. Called before `main`.
pub(crate) fn replace_streams() {
    // SAFETY: no other thread runs.
    unsafe {
        if is_shared(libc::STDIN_FILENO) {
            stdin = open(libc::STDIN_FILENO, c"r".as_ptr());
        }
        if is_shared(libc::STDOUT_FILENO) {
            stdout = open(libc::STDOUT_FILENO, c"w".as_ptr());
        }
        if is_shared(libc::STDERR_FILENO) {
            stderr = open(libc::STDERR_FILENO, c"w".as_ptr());
            libc::setvbuf(stderr, ptr::null_mut(), libc::_IONBF, 0);
        }
    }
}

/// Starts a shell with a command; `ends` are a descriptor and the number that it has in the shell.
/// `None` if that fails.
///
/// # Safety
/// The command is a text.
unsafe fn start(command: *const c_char, ends: Option<[c_int; 2]>) -> Option<pid_t> {
    let arguments =
        [c"sh".as_ptr(), c"-c".as_ptr(), command, ptr::null()].map(<*const c_char>::cast_mut);
    let (mut child, mut actions) = (0, MaybeUninit::uninit());
    // SAFETY: places that live until the calls return, and lists that end with null.
    let error = unsafe {
        libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
        if let Some([end, number]) = ends {
            libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), end, number);
        }
        let (path, actions) = (c"/bin/sh".as_ptr(), actions.as_mut_ptr());
        let arguments = arguments.as_ptr();
        let error = posix_spawn(&raw mut child, path, actions, ptr::null(), arguments, environ);
        libc::posix_spawn_file_actions_destroy(actions);
        error
    };
    if error != 0 {
        fail(error);
    }
    (error == 0).then_some(child)
}

/// Waits for a child; returns its status.
fn status_of(child: pid_t) -> c_int {
    let mut status = -1;
    // SAFETY: a place for the status, and none for its resources.
    while unsafe { wait4(child, &raw mut status, 0, ptr::null_mut()) } < 0 && errno() == libc::EINTR
    {
    }
    status
}

/// Starts a shell with a command, and a stream to its standard input or from its output.
///
/// # Safety
/// The command and the kind are texts.
unsafe fn start_with_stream(command: *const c_char, kind: *const c_char) -> *mut FILE {
    let mut ends = [-1; 2];
    // SAFETY: the caller's promise, and places for numbers.
    unsafe {
        if pipes::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return ptr::null_mut();
        }
        let (own, [end, number]) = match *kind as u8 {
            b'r' => (ends[0], [ends[1], libc::STDOUT_FILENO]),
            _ => (ends[1], [ends[0], libc::STDIN_FILENO]),
        };
        let child = start(command, Some([end, number]));
        descriptors::close(end);
        let Some(child) = child else {
            descriptors::close(own);
            return ptr::null_mut();
        };
        let stream = open(own, kind);
        COMMANDS.lock().unwrap_or_else(PoisonError::into_inner).push((stream.addr(), child));
        stream
    }
}

interpose! {
    /// A stream on a descriptor.
    fn fdopen(descriptor: c_int, mode: *const c_char) -> *mut FILE = before |_, _| {
        if is_shared(descriptor) {
            // SAFETY: the caller's promise.
            return unsafe { open(descriptor, mode) };
        }
    }

    /// Runs a command of the shell: outside of a run of processes in real time.
    fn system(command: *const c_char) -> c_int = before |world, _| {
        if world.coordinator().is_some() && !command.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { start(command, None) }.map_or(-1, status_of);
        }
        traps::release();
    } after |world, _, _| {
        traps::catch();
        world.add_child(NO_CHILD);
    }

    /// Runs a command of the shell with a pipe: outside of a run of processes in real time.
    fn popen(command: *const c_char, kind: *const c_char) -> *mut FILE = before |world, _| {
        if world.coordinator().is_some() {
            // SAFETY: the caller's promise.
            return unsafe { start_with_stream(command, kind) };
        }
        traps::release();
    } after |world, _, _| {
        traps::catch();
        world.add_child(NO_CHILD);
    }

    /// Ends a command with a pipe; returns its status.
    fn pclose(stream: *mut FILE) -> c_int = before |_, _| {
        let mut commands = COMMANDS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = commands.iter().position(|(of, _)| *of == stream.addr()) {
            let (_, child) = commands.swap_remove(at);
            drop(commands);
            // SAFETY: the stream was opened here.
            unsafe { libc::fclose(stream) };
            return status_of(child);
        }
    }
}
