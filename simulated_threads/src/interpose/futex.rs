//! `syscall`, through which Rust's standard library, parking_lot and others wait for futexes.
//!
//! A wait compares the word on the thread that has the turn and then waits in the world. No other
//! thread of the world runs in between, so comparison and wait are one step, as in the kernel. A
//! wake-up takes the threads of the world in the order of their waits; the kernel is asked only if
//! none waits here and other threads exist outside. A wait in the kernel would keep the turn, and
//! the world would stand still.

use super::{clock, fail, nanos};
use crate::copies;
use crate::current::{Inside, current};
use crate::original::original;
use crate::output;
use crate::wait::{NEVER, Nanos, Slot, Wait, Woken};
use crate::world::World;
use libc::{c_int, c_long, clockid_t, timespec};
use std::sync::atomic::{AtomicU32, Ordering};

/// Calls the kernel, but for futexes, random numbers, the numbers of thread and process, and
/// `io_uring`.
///
/// libc declares it with variable arguments. On the architectures that are covered, x86-64 and
/// AArch64 of Linux, those of integer type are passed as named ones are.
///
/// # Safety
/// The caller keeps the rules of the function of this name in libc.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    if let Some((world, me)) = current() {
        let _inside = Inside::enter();
        match number {
            libc::SYS_futex => {
                let (word, operation) = (a as *const AtomicU32, b as c_int);
                // SAFETY: the caller passes the arguments of the operation.
                let done = unsafe { futex(world, me, word, operation, c, d as *const timespec) };
                if let Some(result) = done {
                    return result;
                }
            }
            libc::SYS_getrandom => {
                // SAFETY: the caller passes a buffer of this length.
                unsafe { super::random::fill(world, a as *mut _, b as usize) };
                return b;
            }
            libc::SYS_gettid => return super::machine::thread_id(world, me),
            libc::SYS_getpid => return super::machine::process_id(world).into(),
            libc::SYS_io_uring_setup => {
                output::refuse(
                    "io_uring",
                    "its operations complete at times that no other run repeats",
                    "choose the library's implementation on epoll",
                );
                return fail(libc::ENOSYS).into();
            }
            _ => {}
        }
    }
    if number == copies::NUMBER {
        return (&raw const copies::OWN).expose_provenance() as c_long;
    }
    let syscall = original!(
        syscall: fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long
    );
    // SAFETY: the caller's promise.
    unsafe { syscall(number, a, b, c, d, e, f) }
}

/// Waits for a futex or wakes those that do; `None` for an operation that the kernel does.
///
/// # Safety
/// The caller keeps the rules of the system call.
unsafe fn futex(
    world: &World,
    me: Slot,
    word: *const AtomicU32,
    operation: c_int,
    value: c_long,
    timeout: *const timespec,
) -> Option<c_long> {
    let clock = match operation & libc::FUTEX_CLOCK_REALTIME {
        0 => libc::CLOCK_MONOTONIC,
        _ => libc::CLOCK_REALTIME,
    };
    match operation & libc::FUTEX_CMD_MASK {
        command @ (libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) => {
            // SAFETY: the caller passes a word, and a time or null.
            let (word, timeout) = unsafe { (&*word, timeout.as_ref()) };
            if word.load(Ordering::SeqCst) != value as u32 {
                return Some(fail(libc::EAGAIN).into());
            }
            let is_absolute = command == libc::FUTEX_WAIT_BITSET;
            let Some(deadline) = deadline(world, timeout, is_absolute.then_some(clock)) else {
                return Some(fail(libc::EINVAL).into());
            };
            Some(match world.wait_for_futex(me, word, value as u32, deadline) {
                Woken::TimedOut => fail(libc::ETIMEDOUT).into(),
                Woken::Interrupted { restarts: false } => fail(libc::EINTR).into(),
                _ => 0,
            })
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            let count = usize::try_from(value).unwrap_or(0);
            // SAFETY: the caller passes a word.
            let value = unsafe { &*word }.load(Ordering::SeqCst);
            let woken = world.release(me, Wait::Futex(word.addr()), count, value) as c_long;
            world.pass(me);
            // Threads outside of the world may wait as well.
            (woken > 0 || world.is_alone).then_some(woken)
        }
        _ => None,
    }
}

/// When a wait ends: after a duration, or at a time of `clock`; `None` of a bad one.
fn deadline(world: &World, timeout: Option<&timespec>, clock: Option<clockid_t>) -> Option<Nanos> {
    match (timeout, clock) {
        (None, _) => Some(NEVER),
        (Some(&time), Some(clock)) => Some(clock::to_world(clock, nanos(time)?)),
        (Some(&time), None) => clock::after(world.now(), time),
    }
}
