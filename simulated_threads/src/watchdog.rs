//! Watches worlds in real time: a thread that waits or works where no world sees it is named.

use crate::os;
use crate::report::Seconds;
use crate::world::World;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a thread may be in a call of the operating system that no world sees.
const BLOCKED_MAX: Duration = Duration::from_secs(3);

/// How long a thread may run between two calls that a world sees.
const BUSY_MAX: Duration = Duration::from_secs(60);

/// How often the watchdog looks.
const INTERVAL: Duration = Duration::from_millis(250);

/// The worlds that are watched, with the steps of the last look and the time since.
static WATCHED: Mutex<Vec<(&'static World, u64, Duration)>> = Mutex::new(Vec::new());

/// Watches `world` until it is over. Called from outside of worlds.
pub(crate) fn watch(world: &'static World) {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let watchdog = thread::Builder::new().name("ringspin-watch".into());
        if let Err(error) = watchdog.spawn(watch_all) {
            os::say(&format!("no thread that watches simulated threads: {error}"));
        }
    });
    with_watched(|worlds| worlds.push((world, world.steps(), Duration::ZERO)));
}

fn with_watched<R>(with: impl FnOnce(&mut Vec<(&'static World, u64, Duration)>) -> R) -> R {
    with(&mut WATCHED.lock().unwrap_or_else(PoisonError::into_inner))
}

fn watch_all() {
    loop {
        os::sleep(INTERVAL);
        let suspects = with_watched(|worlds| {
            worlds.retain(|(world, ..)| !world.is_over());
            let mut suspects = Vec::new();
            for (world, steps, since) in worlds {
                let now = world.steps();
                *since = if now == *steps { *since + INTERVAL } else { Duration::ZERO };
                *steps = now;
                suspects.push((*world, *since));
            }
            suspects
        });
        suspects.into_iter().for_each(|(world, since)| look_at(world, since));
    }
}

/// Ends the process if the running thread of `world` is not to be waited for any longer.
fn look_at(world: &World, since: Duration) {
    if since < BLOCKED_MAX {
        return;
    }
    let thread = world.running();
    let call = os::system_call(thread);
    if call.is_none() && since < BUSY_MAX {
        return;
    }
    let what = match call {
        None => format!(
            "has run for {} s without a call that the simulation sees: a loop that waits for \
             another thread must yield (`std::thread::yield_now`) or sleep",
            BUSY_MAX.as_secs()
        ),
        Some(call) => format!("waits in {}", describe(call)),
    };
    os::say(&format!(
        "at {} of simulated time, thread {:?} {what}",
        Seconds(world.now()),
        os::thread_name(thread),
    ));
    os::print_backtrace_of(thread);
    os::die("the run ends here, because no other thread can go on");
}

/// A call of the operating system, and what to do about it.
fn describe(call: i64) -> String {
    let (name, way_out) = match call {
        libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 => (
            "`read`",
            "a pipe, a terminal or a socket is not under simulated control: read it before the \
             run, or give the program its input as a file",
        ),
        libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_connect => (
            "a socket's call",
            "sockets are not under simulated control: replace what is at the other end by a node \
             or a thread of this program",
        ),
        libc::SYS_wait4 | libc::SYS_waitid => (
            "a wait for a child process",
            "child processes are not under simulated control: start them before the run, or call \
             what they do as a function",
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
