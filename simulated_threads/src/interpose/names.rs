//! Second names: functions of libc that are others of this crate under another name, or with some
//! of their arguments fixed.
//!
//! They are those for large files, the short forms of POSIX, those of code that is compiled with
//! `_FORTIFY_SOURCE`, and those of C11. glibc calls the other function past the definition of this
//! crate.

use super::c11::outcome;
use super::interpose;
use super::{
    children, clock, descriptors, file_locks, files, locks, machine, pipes, random, signals,
    sockets, thread,
};
use libc::{
    CLOCK_REALTIME, FILE, c_char, c_int, c_long, c_uint, c_void, epoll_event, mode_t, nfds_t,
    off_t, pid_t, pollfd, pthread_cond_t, pthread_mutex_t, pthread_rwlock_t, pthread_t, rusage,
    sem_t, siginfo_t, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec,
};
use std::ptr::{null, null_mut};

/// Defines functions of libc, each by the call that a thread of a world makes instead.
macro_rules! second_names {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $call:expr;)*) => {
        interpose! {$(
            /// A second name of another function of this crate.
            fn $name($($argument: $type),*) $(-> $result)? = |_, _| {
                // SAFETY: the other function has the rules of this one.
                unsafe { $call }
            }
        )*}
    };
}

second_names! {
    open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int =
        files::open(path, flags, mode);
    openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int =
        files::openat(folder, path, flags, mode);
    __open_2(path: *const c_char, flags: c_int) -> c_int = files::open(path, flags, 0);
    __open64_2(path: *const c_char, flags: c_int) -> c_int = files::open(path, flags, 0);
    __openat_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int =
        files::openat(folder, path, flags, 0);
    __openat64_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int =
        files::openat(folder, path, flags, 0);
    fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE = files::fopen(path, mode);
    fcntl64(descriptor: c_int, command: c_int, a: c_long) -> c_int =
        pipes::fcntl(descriptor, command, a);

    lockf64(descriptor: c_int, operation: c_int, length: off_t) -> c_int =
        file_locks::lockf(descriptor, operation, length);

    pipe(ends: *mut c_int) -> c_int = pipes::pipe2(ends, 0);
    recv(descriptor: c_int, bytes: *mut c_void, count: size_t, flags: c_int) -> ssize_t =
        pipes::recvfrom(descriptor, bytes, count, flags, null_mut(), null_mut());
    accept(descriptor: c_int, address: *mut sockaddr, size: *mut socklen_t) -> c_int =
        sockets::accept4(descriptor, address, size, 0);
    epoll_wait(epoll: c_int, events: *mut epoll_event, max: c_int, millis: c_int) -> c_int =
        descriptors::epoll_pwait(epoll, events, max, millis, null());
    __poll_chk(all: *mut pollfd, count: nfds_t, millis: c_int, bytes: size_t) -> c_int =
        descriptors::poll(all, count, millis);
    __ppoll_chk(
        all: *mut pollfd, count: nfds_t, timeout: *const timespec, signals: *const sigset_t,
        bytes: size_t
    ) -> c_int = descriptors::ppoll(all, count, timeout, signals);
    closefrom(first: c_int) = {
        children::close_range(first.max(0) as c_uint, c_uint::MAX, 0);
    };

    _Exit(status: c_int) = children::_exit(status);
    execv(path: *const c_char, arguments: *const *const c_char) -> c_int =
        children::execve(path, arguments, children::environ);
    execvp(file: *const c_char, arguments: *const *const c_char) -> c_int =
        children::execvpe(file, arguments, children::environ);
    wait(status: *mut c_int) -> pid_t = children::wait4(-1, status, 0, null_mut());
    waitpid(child: pid_t, status: *mut c_int, options: c_int) -> pid_t =
        children::wait4(child, status, options, null_mut());
    wait3(status: *mut c_int, options: c_int, used: *mut rusage) -> pid_t =
        children::wait4(-1, status, options, used);
    getpgrp() -> pid_t = machine::getpgid(0);
    killpg(group: pid_t, signal: c_int) -> c_int = signals::kill(-group, signal);
    sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int =
        signals::sigtimedwait(set, info, null());

    arc4random_buf(bytes: *mut c_void, count: size_t) = {
        random::getrandom(bytes, count, 0);
    };
    getentropy(bytes: *mut c_void, count: size_t) -> c_int = {
        random::getrandom(bytes, count, 0);
        0
    };
    mkstemp(template: *mut c_char) -> c_int = random::mkostemps(template, 0, 0);
    mkstemp64(template: *mut c_char) -> c_int = random::mkostemps(template, 0, 0);
    mkostemp(template: *mut c_char, flags: c_int) -> c_int = random::mkostemps(template, 0, flags);
    mkostemp64(template: *mut c_char, flags: c_int) -> c_int =
        random::mkostemps(template, 0, flags);
    mkstemps(template: *mut c_char, suffix: c_int) -> c_int =
        random::mkostemps(template, suffix, 0);
    mkstemps64(template: *mut c_char, suffix: c_int) -> c_int =
        random::mkostemps(template, suffix, 0);
    mkostemps64(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int =
        random::mkostemps(template, suffix, flags);

    pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, time: *const timespec) -> c_int =
        locks::pthread_mutex_clocklock(mutex, CLOCK_REALTIME, time);
    pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, time: *const timespec) -> c_int =
        locks::pthread_rwlock_clockrdlock(lock, CLOCK_REALTIME, time);
    pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, time: *const timespec) -> c_int =
        locks::pthread_rwlock_clockwrlock(lock, CLOCK_REALTIME, time);
    sem_timedwait(semaphore: *mut sem_t, time: *const timespec) -> c_int =
        locks::sem_clockwait(semaphore, CLOCK_REALTIME, time);
    pthread_timedjoin_np(
        thread: pthread_t, result: *mut *mut c_void, time: *const timespec
    ) -> c_int = thread::pthread_clockjoin_np(thread, result, CLOCK_REALTIME, time);

    call_once(control: *mut c_int, routine: extern "C" fn()) = {
        thread::pthread_once(control, routine);
    };
    thrd_yield() = {
        clock::sched_yield();
    };
    mtx_lock(mutex: *mut pthread_mutex_t) -> c_int = outcome(locks::pthread_mutex_lock(mutex));
    mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int =
        outcome(locks::pthread_mutex_trylock(mutex));
    mtx_timedlock(mutex: *mut pthread_mutex_t, time: *const timespec) -> c_int =
        outcome(locks::pthread_mutex_clocklock(mutex, CLOCK_REALTIME, time));
    mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int = outcome(locks::pthread_mutex_unlock(mutex));
    cnd_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int =
        outcome(locks::pthread_cond_wait(condition, mutex));
    cnd_timedwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, time: *const timespec
    ) -> c_int = outcome(locks::pthread_cond_timedwait(condition, mutex, time));
    cnd_signal(condition: *mut pthread_cond_t) -> c_int =
        outcome(locks::pthread_cond_signal(condition));
    cnd_broadcast(condition: *mut pthread_cond_t) -> c_int =
        outcome(locks::pthread_cond_broadcast(condition));
}
