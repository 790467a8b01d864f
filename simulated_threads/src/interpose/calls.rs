//! System calls that a program makes by itself, as rustix does: each becomes a call of the function
//! of libc that is defined here for it; all others are passed on to the kernel.
//!
//! `errno` stays the program's, which does not expect a change of it by an instruction.

use super::{
    children, clock, descriptors, errno, fail, file_locks, files, futex, names, pipes,
    signal_timers, signals, sockets,
};
use crate::{os, output};
use libc::c_long;

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

/// Calls the function of libc for a system call; `None` if there is none here.
///
/// # Safety
/// The caller keeps the rules of the system call.
unsafe fn simulate(number: c_long, arguments: [c_long; 6]) -> Option<c_long> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the caller's promise.
    unsafe {
        match number {
            libc::SYS_sched_setaffinity => Some(0), // threads stay on their core
            libc::SYS_clock_nanosleep => {
                let error = clock::clock_nanosleep(a as _, b as _, c as _, d as _);
                Some(-c_long::from(error))
            }
            libc::SYS_futex
            | libc::SYS_getrandom
            | libc::SYS_gettid
            | libc::SYS_getpid
            | libc::SYS_io_uring_setup => Some(futex::syscall(number, a, b, c, d, e, f)),
            libc::SYS_timer_create => {
                output::refuse(
                    "the system call `timer_create`",
                    "its signals would come in real time",
                    "call libc's function",
                );
                Some(-c_long::from(libc::ENOSYS))
            }
            libc::SYS_clone if a & c_long::from(libc::CLONE_VM) == 0 => None,
            libc::SYS_clone | libc::SYS_clone3 | libc::SYS_vfork | libc::SYS_rt_sigreturn => {
                output::die(&format!(
                    "the system call {number} by an instruction of the program cannot be made \
                     under simulated time: call libc, or run with RINGSPIN_THREADS=real"
                ))
            }
            _ => call_function(number, arguments),
        }
    }
}

/// Calls the function that is listed for a system call, with the arguments after it.
macro_rules! call_listed {
    ($number:ident: $($call:ident => $module:ident::$function:ident($($argument:ident)*);)*) => {
        match $number {
            // SAFETY: the caller keeps the rules of the system call, which are the function's.
            $(libc::$call => Some(unsafe { $module::$function($($argument as _),*) } as c_long),)*
            _ => None,
        }
    };
}

/// Calls a function of libc that has the arguments and the result of its system call.
///
/// # Safety
/// The caller keeps the rules of the system call.
unsafe fn call_function(number: c_long, [a, b, c, d, e, f]: [c_long; 6]) -> Option<c_long> {
    call_listed! { number:
        SYS_sched_yield => clock::sched_yield();
        SYS_clock_gettime => clock::clock_gettime(a b);
        SYS_gettimeofday => clock::gettimeofday(a b);
        SYS_time => clock::time(a);
        SYS_nanosleep => clock::nanosleep(a b);
        SYS_times => clock::times(a);
        SYS_getrusage => clock::getrusage(a b);
        SYS_alarm => signal_timers::alarm(a);
        SYS_getitimer => signal_timers::getitimer(a b);
        SYS_setitimer => signal_timers::setitimer(a b c);
        SYS_pause => signal_timers::pause();
        SYS_epoll_wait => names::epoll_wait(a b c d);
        SYS_epoll_pwait => descriptors::epoll_pwait(a b c d e);
        SYS_epoll_pwait2 => descriptors::epoll_pwait2(a b c d e);
        SYS_poll => descriptors::poll(a b c);
        SYS_ppoll => descriptors::ppoll(a b c d);
        SYS_select => descriptors::select(a b c d e);
        SYS_pselect6 => descriptors::pselect(a b c d e f);
        SYS_eventfd2 => descriptors::eventfd(a b);
        SYS_timerfd_create => descriptors::timerfd_create(a b);
        SYS_timerfd_settime => descriptors::timerfd_settime(a b c d);
        SYS_timerfd_gettime => descriptors::timerfd_gettime(a b);
        SYS_open => files::open(a b c);
        SYS_openat => files::openat(a b c d);
        SYS_close => descriptors::close(a);
        SYS_flock => file_locks::flock(a b);
        SYS_pipe => names::pipe(a);
        SYS_pipe2 => pipes::pipe2(a b);
        SYS_dup => pipes::dup(a);
        SYS_dup2 => pipes::dup2(a b);
        SYS_dup3 => pipes::dup3(a b c);
        SYS_fcntl => pipes::fcntl(a b c);
        SYS_read => pipes::read(a b c);
        SYS_readv => pipes::readv(a b c);
        SYS_write => pipes::write(a b c);
        SYS_writev => pipes::writev(a b c);
        SYS_recvfrom => pipes::recvfrom(a b c d e f);
        SYS_recvmsg => pipes::recvmsg(a b c);
        SYS_sendto => sockets::sendto(a b c d e f);
        SYS_sendmsg => pipes::sendmsg(a b c);
        SYS_socket => descriptors::socket(a b c);
        SYS_socketpair => pipes::socketpair(a b c d);
        SYS_bind => sockets::bind(a b c);
        SYS_listen => sockets::listen(a b);
        SYS_connect => sockets::connect(a b c);
        SYS_accept => names::accept(a b c);
        SYS_accept4 => sockets::accept4(a b c d);
        SYS_shutdown => sockets::shutdown(a b);
        SYS_getsockname => sockets::getsockname(a b c);
        SYS_getpeername => sockets::getpeername(a b c);
        SYS_setsockopt => sockets::setsockopt(a b c d e);
        SYS_getsockopt => sockets::getsockopt(a b c d e);
        SYS_fork => children::fork();
        SYS_rt_sigtimedwait => signals::sigtimedwait(a b c);
        SYS_kill => signals::kill(a b);
    }
}
