//! Watches worlds in real time: a thread that waits or works where no world sees it is named.
//!
//! One thread outside of all worlds looks ten times a second. It reads two words that the running
//! thread of a world writes, its number and the count of steps, and takes no lock of a world, so it
//! changes no order. If the count stands while a thread has the turn, it asks the operating system
//! whether that thread waits there or works, and after the limit ends the process with a report.
//! Simulated time cannot find such a thread, because it does not pass while one has the turn. After
//! its start the watchdog allocates nothing, because that would move the program's allocations.

use crate::turn::Turn;
use crate::world::World;
use crate::{backtrace, os, output};
use ringspin_executor::Time;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

/// How often the watchdog looks.
const INTERVAL: Duration = Duration::from_millis(100);

/// The worlds that are watched, with the steps of the last look and the time since.
static WATCHED: Mutex<Vec<(&'static World, u64, Duration)>> = Mutex::new(Vec::new());

/// Watches `world` until it is over. Called from outside of worlds.
pub(crate) fn watch(world: &'static World) {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let has_begun = Arc::new(Turn::default());
        let begun = has_begun.clone();
        let watchdog = thread::Builder::new().name("ringspin-watch".into());
        match watchdog.spawn(move || watch_all(&begun)) {
            // It allocates nothing later: that would move the program's allocations.
            Ok(_) => has_begun.wait(),
            Err(error) => {
                output::say(&format!("failed to start the thread that watches others: {error}"));
            }
        }
    });
    with_watched(|worlds| worlds.push((world, world.steps.get(), Duration::ZERO)));
}

fn with_watched<R>(with: impl FnOnce(&mut Vec<(&'static World, u64, Duration)>) -> R) -> R {
    with(&mut WATCHED.lock().unwrap_or_else(PoisonError::into_inner))
}

fn watch_all(begun: &Turn) {
    os::block_signals(); // they are for threads of the program
    begun.give();
    loop {
        os::sleep(INTERVAL);
        with_watched(|worlds| {
            worlds.retain(|(world, ..)| !world.is_over.is_raised());
            for (world, steps, since) in worlds {
                let (thread, now) = (world.running(), world.steps.get());
                let stays = thread != 0 && now == *steps;
                *since = if stays { *since + INTERVAL } else { Duration::ZERO };
                *steps = now;
                look_at(world, thread, *since);
            }
        });
    }
}

/// Ends the process if this thread of `world`, which runs, is not to be waited for any longer.
fn look_at(world: &World, thread: i32, since: Duration) {
    let limits = &world.settings;
    if since < limits.blocked_max.min(limits.busy_max) {
        return;
    }
    let call = os::system_call(thread);
    let limit = match call {
        // A child may compute, and a disk may be slow.
        Some((libc::SYS_wait4 | libc::SYS_waitid, _)) => limits.busy_max,
        Some(_) if !os::waits_for_disk(thread) => limits.blocked_max,
        _ => limits.busy_max,
    };
    if since < limit || call.is_some_and(is_output) {
        return;
    }
    let what = match call {
        None => format!(
            "has run for {limit:?} without a call that the simulation sees: a loop that waits for \
             another thread must yield (`std::thread::yield_now`) or sleep; for a longer \
             computation set RINGSPIN_BUSY_MAX_MS",
        ),
        Some((call, _)) => format!("waits in {}", describe(call)),
    };
    output::say(&format!(
        "at {} of simulated time, thread {:?} {what}",
        Time::from_nanos(world.now()),
        os::thread_name(thread),
    ));
    backtrace::print_of(thread);
    world.end_trace();
    output::die("the run ends here, because no other thread can continue");
}

/// Whether a call, with its first argument, writes to the standard output or error: the reader may
/// be as slow as it is.
fn is_output((call, descriptor): (i64, u64)) -> bool {
    matches!(call, libc::SYS_write | libc::SYS_writev) && matches!(descriptor, 1 | 2)
}

/// A call of the operating system, and the way out.
fn describe(call: i64) -> String {
    let (name, way_out) = match call {
        libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 => (
            "`read`",
            "a pipe, a terminal or a socket is not under simulated control: read it before the \
             run, or give the program its input as a file",
        ),
        libc::SYS_openat => (
            "`open`: a named pipe waits for its other end",
            "it is under simulated control between processes of `ringspin run` only: use a pipe, \
             or a socket of the loopback interface",
        ),
        libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_connect => (
            "a socket's call",
            "sockets are not under simulated control: replace the other end by a node \
             or a thread of this program",
        ),
        libc::SYS_wait4 | libc::SYS_waitid => (
            "a wait for a child process",
            "child processes are not under simulated control: start them before the run, or call \
             their work as a function",
        ),
        libc::SYS_futex => (
            "a futex that the simulation does not see",
            "either a raw system call (build with RUSTFLAGS=\"--cfg rustix_use_libc\" if it is \
             rustix), or a lock inside of libc or of a library that does not call it by its name",
        ),
        libc::SYS_epoll_pwait | libc::SYS_ppoll | libc::SYS_pselect6 => (
            "a wait for descriptors by a raw system call",
            "build with RUSTFLAGS=\"--cfg rustix_use_libc\" if it is rustix",
        ),
        libc::SYS_msgrcv | libc::SYS_msgsnd | libc::SYS_semop | libc::SYS_semtimedop => (
            "a queue or a semaphore of System V",
            "they are not under simulated control: use a pipe, or a semaphore of POSIX",
        ),
        libc::SYS_io_uring_enter => (
            "io_uring",
            "it is not under simulated control: choose the library's implementation on epoll",
        ),
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => {
            ("a sleep by a raw system call", "call libc's function, or `std::thread::sleep`")
        }
        _ => ("a call of the operating system", "see `ausyscall` or the kernel's table for it"),
    };
    format!("{name} (system call {call}), which no simulated time ends: {way_out}")
}
