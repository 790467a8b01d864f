//! System calls that a program makes by itself, as rustix does: each becomes a call of the function
//! of libc that is defined here for it; all others are passed on to the kernel.
//!
//! `errno` stays the program's, which does not expect a change of it by an instruction.

use super::{
    children, clock, descriptors, errno, fail, files, futex, names, pipes, signals, sockets,
};
use crate::{os, output};
use libc::{c_int, c_long};
use std::ptr;

/// Makes a system call in the world of the calling thread; a failure is the negative of its error.
///
/// # Safety
/// The caller keeps the rules of the system call.
pub(super) unsafe fn call(number: c_long, arguments: [c_long; 6]) -> c_long {
    let kept = errno();
    // SAFETY: the caller's promise.
    let result = match unsafe { simulate(number, arguments) } {
        Some(-1) => -c_long::from(errno()),
        Some(result) => result,
        // SAFETY: the caller's promise.
        None => unsafe { os::syscall(number, arguments) },
    };
    fail(kept);
    result
}

/// A place that an argument names.
fn to<T>(argument: c_long) -> *mut T {
    ptr::with_exposed_provenance_mut(argument as usize)
}

/// Calls the function of libc for a system call; `None` if there is none here.
///
/// # Safety
/// The caller keeps the rules of the system call.
unsafe fn simulate(number: c_long, arguments: [c_long; 6]) -> Option<c_long> {
    // SAFETY: as before.
    let other = unsafe {
        let other = transfer(number, arguments).or_else(|| time(number, arguments));
        other.or_else(|| socket(number, arguments))
    };
    if other.is_some() {
        return other;
    }
    let [a, b, c, d, e, f] = arguments;
    let (number_of, flags) = (a as c_int, b as c_int);
    // SAFETY: the arguments are those of the function.
    let result = unsafe {
        match number {
            libc::SYS_sched_yield => clock::sched_yield(),
            libc::SYS_epoll_wait => names::epoll_wait(number_of, to(b), c as _, d as _),
            libc::SYS_epoll_pwait => {
                descriptors::epoll_pwait(number_of, to(b), c as _, d as _, to(e))
            }
            libc::SYS_epoll_pwait2 => {
                descriptors::epoll_pwait2(number_of, to(b), c as _, to(d), to(e))
            }
            libc::SYS_poll => descriptors::poll(to(a), b as _, c as _),
            libc::SYS_ppoll => descriptors::ppoll(to(a), b as _, to(c), to(d)),
            libc::SYS_select => descriptors::select(number_of, to(b), to(c), to(d), to(e)),
            libc::SYS_pselect6 => {
                descriptors::pselect(number_of, to(b), to(c), to(d), to(e), to(f))
            }
            libc::SYS_eventfd2 => descriptors::eventfd(a as _, flags),
            libc::SYS_timerfd_create => descriptors::timerfd_create(number_of, flags),
            libc::SYS_timerfd_settime => {
                descriptors::timerfd_settime(number_of, flags, to(c), to(d))
            }
            libc::SYS_timerfd_gettime => descriptors::timerfd_gettime(number_of, to(b)),
            libc::SYS_open => files::open(to(a), flags, c as _),
            libc::SYS_openat => files::openat(number_of, to(b), c as _, d as _),
            libc::SYS_close => descriptors::close(number_of),
            libc::SYS_flock => descriptors::flock(number_of, flags),
            libc::SYS_pipe => names::pipe(to(a)),
            libc::SYS_pipe2 => pipes::pipe2(to(a), flags),
            libc::SYS_dup => pipes::dup(number_of),
            libc::SYS_dup2 => pipes::dup2(number_of, flags),
            libc::SYS_dup3 => pipes::dup3(number_of, flags, c as _),
            libc::SYS_fcntl => pipes::fcntl(number_of, flags, c),
            libc::SYS_fork => children::fork(),
            libc::SYS_sched_setaffinity => 0, // threads stay on their core
            libc::SYS_rt_sigtimedwait => signals::sigtimedwait(to(a), to(b), to(c)),
            libc::SYS_kill => signals::kill(number_of, flags),
            libc::SYS_futex
            | libc::SYS_getrandom
            | libc::SYS_gettid
            | libc::SYS_getpid
            | libc::SYS_io_uring_setup => return Some(futex::syscall(number, a, b, c, d, e, f)),
            libc::SYS_clone if a & c_long::from(libc::CLONE_VM) == 0 => return None,
            libc::SYS_clone | libc::SYS_clone3 | libc::SYS_vfork | libc::SYS_rt_sigreturn => {
                output::die(&format!(
                    "the system call {number} by an instruction of the program cannot be made \
                     under simulated time: call libc, or run with RINGSPIN_THREADS=real"
                ))
            }
            _ => return None,
        }
    };
    Some(result.into())
}

/// Creates, connects or asks a socket, if the system call does.
///
/// # Safety
/// The caller keeps the rules of the system call.
unsafe fn socket(number: c_long, [a, b, c, d, e, _]: [c_long; 6]) -> Option<c_long> {
    let (number_of, flags) = (a as c_int, b as c_int);
    // SAFETY: the arguments are those of the function.
    let result = unsafe {
        match number {
            libc::SYS_socket => descriptors::socket(number_of, flags, c as _),
            libc::SYS_socketpair => pipes::socketpair(number_of, flags, c as _, to(d)),
            libc::SYS_bind => sockets::bind(number_of, to(b), c as _),
            libc::SYS_listen => sockets::listen(number_of, flags),
            libc::SYS_connect => sockets::connect(number_of, to(b), c as _),
            libc::SYS_accept => names::accept(number_of, to(b), to(c)),
            libc::SYS_accept4 => sockets::accept4(number_of, to(b), to(c), d as _),
            libc::SYS_shutdown => sockets::shutdown(number_of, flags),
            libc::SYS_getsockname => sockets::getsockname(number_of, to(b), to(c)),
            libc::SYS_getpeername => sockets::getpeername(number_of, to(b), to(c)),
            libc::SYS_setsockopt => sockets::setsockopt(number_of, flags, c as _, to(d), e as _),
            libc::SYS_getsockopt => sockets::getsockopt(number_of, flags, c as _, to(d), to(e)),
            _ => return None,
        }
    };
    Some(result.into())
}

/// Reads a clock, sleeps or sets a timer, if the system call does.
///
/// # Safety
/// The caller keeps the rules of the system call.
unsafe fn time(number: c_long, [a, b, c, d, ..]: [c_long; 6]) -> Option<c_long> {
    let (number_of, flags) = (a as c_int, b as c_int);
    // SAFETY: the arguments are those of the function.
    let result = unsafe {
        match number {
            libc::SYS_clock_gettime => clock::clock_gettime(number_of, to(b)),
            libc::SYS_gettimeofday => clock::gettimeofday(to(a), to(b)),
            libc::SYS_time => return Some(clock::time(to(a))),
            libc::SYS_nanosleep => clock::nanosleep(to(a), to(b)),
            libc::SYS_clock_nanosleep => -clock::clock_nanosleep(number_of, flags, to(c), to(d)),
            libc::SYS_times => return Some(clock::times(to(a))),
            libc::SYS_getrusage => clock::getrusage(number_of, to(b)),
            libc::SYS_setitimer => clock::setitimer(number_of, to(b), to(c)),
            libc::SYS_timer_create => clock::timer_create(number_of, to(b), to(c)),
            _ => return None,
        }
    };
    Some(result.into())
}

/// Reads or writes, if the system call does.
///
/// # Safety
/// The caller keeps the rules of the system call.
unsafe fn transfer(number: c_long, [a, b, c, d, e, f]: [c_long; 6]) -> Option<c_long> {
    let (descriptor, count) = (a as c_int, c as usize);
    // SAFETY: the arguments are those of the function.
    let result = unsafe {
        match number {
            libc::SYS_read => pipes::read(descriptor, to(b), count),
            libc::SYS_readv => pipes::readv(descriptor, to(b), c as _),
            libc::SYS_write => pipes::write(descriptor, to(b), count),
            libc::SYS_writev => pipes::writev(descriptor, to(b), c as _),
            libc::SYS_recvfrom => pipes::recvfrom(descriptor, to(b), count, d as _, to(e), to(f)),
            libc::SYS_recvmsg => pipes::recvmsg(descriptor, to(b), c as _),
            libc::SYS_sendto => sockets::sendto(descriptor, to(b), count, d as _, to(e), f as _),
            libc::SYS_sendmsg => pipes::sendmsg(descriptor, to(b), c as _),
            _ => return None,
        }
    };
    Some(result as c_long)
}
