//! Programs that wait as C code does: by glibc's locks and by descriptors.

use crate::{MILLI, Program, log};
use libc::{c_int, c_void, pthread_t, timespec};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

pub(crate) const PROGRAMS: &[Program] = &[
    ("trylock-loop", trylock_loop),
    ("c-mutex", mutex),
    ("c-greedy", greedy),
    ("c-condition", condition),
    ("c-condition-clocks", condition_clocks),
    ("c-rwlock", rwlock),
    ("c-readers", readers),
    ("c-semaphore", semaphore),
    ("c-barrier", barrier),
    ("c-once", once),
    ("c-spin", spin),
    ("c-join", join),
    ("c11", c11),
    ("c-poll", poll),
    ("c-select", select),
    ("c-counters", counters),
    ("c-sleep", sleep),
    ("c-random", random),
    ("c-cancel", cancel),
];

unsafe extern "C" {
    fn arc4random() -> u32;
    fn arc4random_uniform(bound: u32) -> u32;
    fn arc4random_buf(bytes: *mut c_void, count: usize);
    fn pthread_barrier_init(barrier: *mut [u64; 4], attributes: *const c_void, n: u32) -> c_int;
    fn pthread_barrier_wait(barrier: *mut [u64; 4]) -> c_int;
    fn pthread_barrier_destroy(barrier: *mut [u64; 4]) -> c_int;
    fn pthread_once(control: *mut c_int, routine: extern "C" fn()) -> c_int;
    fn pthread_mutex_clocklock(
        m: *mut libc::pthread_mutex_t,
        c: c_int,
        t: *const timespec,
    ) -> c_int;
    fn pthread_cond_clockwait(
        condition: *mut libc::pthread_cond_t,
        mutex: *mut libc::pthread_mutex_t,
        clock: c_int,
        time: *const timespec,
    ) -> c_int;
    fn pthread_rwlock_timedrdlock(lock: *mut libc::pthread_rwlock_t, t: *const timespec) -> c_int;
    fn pthread_rwlock_timedwrlock(lock: *mut libc::pthread_rwlock_t, t: *const timespec) -> c_int;
    fn pthread_rwlock_clockrdlock(
        lock: *mut libc::pthread_rwlock_t,
        clock: c_int,
        time: *const timespec,
    ) -> c_int;
    fn pthread_rwlock_clockwrlock(
        lock: *mut libc::pthread_rwlock_t,
        clock: c_int,
        time: *const timespec,
    ) -> c_int;
    fn sem_clockwait(semaphore: *mut libc::sem_t, clock: c_int, time: *const timespec) -> c_int;
    fn __poll_chk(all: *mut libc::pollfd, n: libc::nfds_t, millis: c_int, bytes: usize) -> c_int;
    fn __ppoll_chk(
        all: *mut libc::pollfd,
        count: libc::nfds_t,
        timeout: *const timespec,
        signals: *const libc::sigset_t,
        bytes: usize,
    ) -> c_int;
    fn __read_chk(descriptor: c_int, place: *mut c_void, count: usize, bytes: usize) -> isize;
    fn pthread_clockjoin_np(
        t: pthread_t,
        r: *mut *mut c_void,
        c: c_int,
        a: *const timespec,
    ) -> c_int;
}

/// A static that C functions change.
pub(crate) struct Shared<T>(UnsafeCell<T>);

// SAFETY: only functions of libc that threads may call at the same time get its address.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub(crate) fn get(&self) -> *mut T {
        self.0.get()
    }
}

/// The reading of `clock` after so many milliseconds.
pub(crate) fn after(clock: c_int, millis: i64) -> timespec {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the time.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    let nanos = time.tv_nsec + millis * 1_000_000;
    timespec { tv_sec: time.tv_sec + nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 }
}

/// Threads that hold locks for all the time let another one have them.
fn greedy() {
    static MUTEX: Shared<libc::pthread_mutex_t> = Shared::new(libc::PTHREAD_MUTEX_INITIALIZER);
    static LOCK: Shared<libc::pthread_rwlock_t> = Shared::new(libc::PTHREAD_RWLOCK_INITIALIZER);
    static SPIN: Shared<c_int> = Shared::new(0);
    static SEMAPHORE: Shared<[u64; 4]> = Shared::new([0; 4]);
    // SAFETY: locks that live as long as the process, and are released by the thread that has them.
    unsafe {
        libc::pthread_spin_init(SPIN.get().cast(), 0);
        libc::sem_init(SEMAPHORE.get().cast(), 0, 1);
    }
    type Call = fn() -> c_int;
    // SAFETY: as above, for each.
    let locks: [(&str, Call, Call); 4] = unsafe {
        [
            (
                "mutex",
                || libc::pthread_mutex_lock(MUTEX.get()),
                || libc::pthread_mutex_unlock(MUTEX.get()),
            ),
            (
                "rwlock",
                || libc::pthread_rwlock_wrlock(LOCK.get()),
                || libc::pthread_rwlock_unlock(LOCK.get()),
            ),
            (
                "spin",
                || libc::pthread_spin_lock(SPIN.get().cast()),
                || libc::pthread_spin_unlock(SPIN.get().cast()),
            ),
            (
                "semaphore",
                || libc::sem_wait(SEMAPHORE.get().cast()),
                || libc::sem_post(SEMAPHORE.get().cast()),
            ),
        ]
    };
    for (name, lock, unlock) in locks {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    lock();
                    thread::sleep(MILLI);
                    unlock();
                }
            });
            thread::sleep(MILLI / 2);
            lock();
            is_over.store(true, Ordering::SeqCst);
            unlock();
            log(name);
        });
    }
}

fn mutex() {
    static MUTEX: Shared<libc::pthread_mutex_t> = Shared::new(libc::PTHREAD_MUTEX_INITIALIZER);
    thread::scope(|scope| {
        for n in 0..4 {
            // SAFETY: a mutex that lives as long as the process.
            scope.spawn(move || unsafe {
                for _ in 0..5 {
                    libc::pthread_mutex_lock(MUTEX.get());
                    thread::sleep(3 * MILLI);
                    log(format!("{n} has it"));
                    libc::pthread_mutex_unlock(MUTEX.get());
                    let real = after(libc::CLOCK_REALTIME, 2);
                    let late = libc::pthread_mutex_timedlock(MUTEX.get(), &raw const real);
                    let monotonic = after(libc::CLOCK_MONOTONIC, n);
                    let later = pthread_mutex_clocklock(
                        MUTEX.get(),
                        libc::CLOCK_MONOTONIC,
                        &raw const monotonic,
                    );
                    log(format!(
                        "{n}: {late} {later} {}",
                        libc::pthread_mutex_trylock(MUTEX.get())
                    ));
                    if late == 0 || later == 0 {
                        libc::pthread_mutex_unlock(MUTEX.get());
                    }
                }
            });
        }
    });
}

static MUTEX: Shared<libc::pthread_mutex_t> = Shared::new(libc::PTHREAD_MUTEX_INITIALIZER);
static CONDITION: Shared<libc::pthread_cond_t> = Shared::new(libc::PTHREAD_COND_INITIALIZER);

fn condition() {
    thread::scope(|scope| {
        for n in 0..4 {
            // SAFETY: both live as long as the process.
            scope.spawn(move || unsafe {
                libc::pthread_mutex_lock(MUTEX.get());
                for _ in 0..3 {
                    let result = libc::pthread_cond_wait(CONDITION.get(), MUTEX.get());
                    log(format!("{n} woken: {result}"));
                }
                for _ in 0..3 {
                    let time = after(libc::CLOCK_REALTIME, n + 1);
                    let result =
                        libc::pthread_cond_timedwait(CONDITION.get(), MUTEX.get(), &raw const time);
                    log(format!("{n} woken or late: {result}"));
                }
                libc::pthread_mutex_unlock(MUTEX.get());
            });
        }
        for n in 0..12 {
            thread::sleep(MILLI);
            // SAFETY: it lives as long as the process.
            unsafe {
                match n % 4 {
                    3 => libc::pthread_cond_broadcast(CONDITION.get()),
                    _ => libc::pthread_cond_signal(CONDITION.get()),
                }
            };
        }
        thread::sleep(MILLI);
        // SAFETY: it lives as long as the process.
        (0..9).for_each(|_| unsafe {
            libc::pthread_cond_broadcast(CONDITION.get());
        });
    });
}

fn condition_clocks() {
    // SAFETY: all live until they are destroyed; no other thread has them.
    unsafe {
        let mut attributes: libc::pthread_condattr_t = std::mem::zeroed();
        libc::pthread_condattr_init(&raw mut attributes);
        libc::pthread_condattr_setclock(&raw mut attributes, libc::CLOCK_MONOTONIC);
        let mut condition: libc::pthread_cond_t = std::mem::zeroed();
        libc::pthread_cond_init(&raw mut condition, &raw const attributes);
        libc::pthread_mutex_lock(MUTEX.get());
        let time = after(libc::CLOCK_MONOTONIC, 5);
        let result = libc::pthread_cond_timedwait(&raw mut condition, MUTEX.get(), &raw const time);
        log(result);
        for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            let time = after(clock, 5);
            let condition = &raw mut condition;
            log(pthread_cond_clockwait(condition, MUTEX.get(), clock, &raw const time));
        }
        libc::pthread_cond_destroy(&raw mut condition);
        // Another one in its place, with the usual clock.
        condition = libc::PTHREAD_COND_INITIALIZER;
        let time = after(libc::CLOCK_REALTIME, 5);
        log(libc::pthread_cond_timedwait(&raw mut condition, MUTEX.get(), &raw const time));
        libc::pthread_mutex_unlock(MUTEX.get());
    }
}

fn rwlock() {
    static LOCK: Shared<libc::pthread_rwlock_t> = Shared::new(libc::PTHREAD_RWLOCK_INITIALIZER);
    thread::scope(|scope| {
        for n in 0..6 {
            // SAFETY: a lock that lives as long as the process.
            scope.spawn(move || unsafe {
                for k in 0..4 {
                    match n {
                        0 | 1 => libc::pthread_rwlock_wrlock(LOCK.get()),
                        _ => libc::pthread_rwlock_rdlock(LOCK.get()),
                    };
                    log(format!("{n} has it"));
                    thread::sleep((5 * n % 3) * MILLI);
                    libc::pthread_rwlock_unlock(LOCK.get());
                    let real = after(libc::CLOCK_REALTIME, 1);
                    let time = after(libc::CLOCK_MONOTONIC, 1);
                    let (time, clock) = (&raw const time, libc::CLOCK_MONOTONIC);
                    let result = match (n + k) % 4 {
                        0 => pthread_rwlock_timedrdlock(LOCK.get(), &raw const real),
                        1 => pthread_rwlock_timedwrlock(LOCK.get(), &raw const real),
                        2 => pthread_rwlock_clockrdlock(LOCK.get(), clock, time),
                        _ => pthread_rwlock_clockwrlock(LOCK.get(), clock, time),
                    };
                    log(format!("{n}, {k}: {result}"));
                    if result == 0 {
                        thread::sleep(2 * MILLI);
                        libc::pthread_rwlock_unlock(LOCK.get());
                    }
                }
            });
        }
    });
}

/// Readers that wait for a writer all continue when it unlocks.
fn readers() {
    static LOCK: Shared<libc::pthread_rwlock_t> = Shared::new(libc::PTHREAD_RWLOCK_INITIALIZER);
    // SAFETY: a lock that lives as long as the process.
    unsafe { libc::pthread_rwlock_wrlock(LOCK.get()) };
    thread::scope(|scope| {
        for n in 0..3 {
            // SAFETY: as before.
            scope.spawn(move || unsafe {
                let real = after(libc::CLOCK_REALTIME, 1);
                log(pthread_rwlock_timedrdlock(LOCK.get(), &raw const real));
                let (time, clock) = (after(libc::CLOCK_MONOTONIC, 1), libc::CLOCK_MONOTONIC);
                log(pthread_rwlock_clockrdlock(LOCK.get(), clock, &raw const time));
                libc::pthread_rwlock_rdlock(LOCK.get());
                log(format!("{n} reads"));
                thread::sleep(2 * MILLI);
                libc::pthread_rwlock_unlock(LOCK.get());
            });
        }
        thread::sleep(3 * MILLI);
        // SAFETY: as before; this thread has it.
        unsafe { libc::pthread_rwlock_unlock(LOCK.get()) };
    });
}

fn semaphore() {
    let semaphore = Shared::new([0u64; 4]);
    let get = || semaphore.get().cast::<libc::sem_t>();
    // SAFETY: as long as a semaphore, and alive until the threads end.
    unsafe { libc::sem_init(get(), 0, 1) };
    thread::scope(|scope| {
        for n in 0..5 {
            let semaphore = &semaphore;
            // SAFETY: a semaphore.
            scope.spawn(move || unsafe {
                let get = || semaphore.get().cast::<libc::sem_t>();
                let real = after(libc::CLOCK_REALTIME, n);
                let monotonic = after(libc::CLOCK_MONOTONIC, n + 1);
                log(format!("{n}: {}", libc::sem_timedwait(get(), &raw const real)));
                let clock = libc::CLOCK_MONOTONIC;
                log(format!("{n}: {}", sem_clockwait(get(), clock, &raw const monotonic)));
                libc::sem_wait(get());
            });
        }
        for _ in 0..15 {
            thread::sleep(MILLI);
            // SAFETY: a semaphore.
            unsafe { libc::sem_post(get()) };
        }
    });
    // SAFETY: a semaphore that no thread has.
    unsafe { libc::sem_destroy(get()) };
}

fn barrier() {
    static BARRIER: Shared<[u64; 4]> = Shared::new([0; 4]);
    // SAFETY: as long as a barrier, and alive as long as the process.
    unsafe { pthread_barrier_init(BARRIER.get(), ptr::null(), 6) };
    thread::scope(|scope| {
        for n in 0..6 {
            scope.spawn(move || {
                for _ in 0..4 {
                    thread::sleep(n % 3 * MILLI);
                    // SAFETY: a barrier.
                    let result = unsafe { pthread_barrier_wait(BARRIER.get()) };
                    log(format!("{n} passes: {result}"));
                }
            });
        }
    });
    // SAFETY: a barrier for which no thread waits.
    log(unsafe { pthread_barrier_destroy(BARRIER.get()) });
}

fn once() {
    static ONCE: Shared<c_int> = Shared::new(0);
    extern "C" fn first() {
        thread::sleep(3 * MILLI);
        log("once");
    }
    thread::scope(|scope| {
        for n in 0..4 {
            scope.spawn(move || {
                thread::sleep(n * MILLI);
                // SAFETY: a control that lives as long as the process.
                log(unsafe { pthread_once(ONCE.get(), first) });
            });
        }
    });
}

fn spin() {
    static LOCK: Shared<c_int> = Shared::new(1); // not locked, on x86-64; set below
    // SAFETY: a lock that lives as long as the process.
    unsafe { libc::pthread_spin_init(LOCK.get().cast(), 0) };
    thread::scope(|scope| {
        for n in 0..3 {
            // SAFETY: a lock that lives as long as the process.
            scope.spawn(move || unsafe {
                libc::pthread_spin_lock(LOCK.get().cast());
                thread::sleep(2 * MILLI);
                log(n);
                libc::pthread_spin_unlock(LOCK.get().cast());
            });
        }
    });
}

extern "C" fn sleeper(millis: *mut c_void) -> *mut c_void {
    thread::sleep(Duration::from_millis(millis.addr() as u64));
    log("slept");
    millis
}

fn join() {
    let create = |millis: usize| {
        let mut thread = 0;
        let argument = ptr::without_provenance_mut(millis);
        // SAFETY: a place for the handle; the argument is a number.
        unsafe { libc::pthread_create(&raw mut thread, ptr::null(), sleeper, argument) };
        thread
    };
    let mut result = ptr::null_mut();
    let place = &raw mut result;
    let (first, second, third) = (create(5), create(9), create(13));
    // SAFETY: each thread is joined once; the rest fails.
    unsafe {
        log(libc::pthread_tryjoin_np(first, place));
        thread::sleep(6 * MILLI);
        log(libc::pthread_tryjoin_np(first, place));
        log(result.addr());
        let time = after(libc::CLOCK_REALTIME, 1);
        log(libc::pthread_timedjoin_np(second, place, &raw const time));
        let time = after(libc::CLOCK_REALTIME, 100);
        log(libc::pthread_timedjoin_np(second, place, &raw const time));
        let time = after(libc::CLOCK_MONOTONIC, 1);
        log(pthread_clockjoin_np(third, place, libc::CLOCK_MONOTONIC, &raw const time));
        log(libc::pthread_join(third, place));
        let detached = create(3);
        libc::pthread_detach(detached);
    }
    thread::sleep(10 * MILLI);
}

unsafe extern "C" {
    fn thrd_create(
        thread: *mut pthread_t,
        routine: extern "C" fn(*mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn thrd_join(thread: pthread_t, result: *mut c_int) -> c_int;
    fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int;
    fn thrd_yield();
    fn call_once(control: *mut c_int, routine: extern "C" fn());
    fn mtx_lock(mutex: *mut libc::pthread_mutex_t) -> c_int;
    fn mtx_timedlock(mutex: *mut libc::pthread_mutex_t, time: *const timespec) -> c_int;
    fn mtx_unlock(mutex: *mut libc::pthread_mutex_t) -> c_int;
    fn cnd_wait(c: *mut libc::pthread_cond_t, mutex: *mut libc::pthread_mutex_t) -> c_int;
    fn cnd_timedwait(
        condition: *mut libc::pthread_cond_t,
        mutex: *mut libc::pthread_mutex_t,
        time: *const timespec,
    ) -> c_int;
    fn cnd_signal(condition: *mut libc::pthread_cond_t) -> c_int;
    fn cnd_broadcast(condition: *mut libc::pthread_cond_t) -> c_int;
}

/// The functions of C11; the threads share a mutex and a condition variable.
fn c11() {
    static ONCE: Shared<c_int> = Shared::new(0);
    const SHORT: timespec = timespec { tv_sec: 0, tv_nsec: 2_000_000 };
    extern "C" fn first() {
        // SAFETY: a time.
        log(unsafe { thrd_sleep(&SHORT, ptr::null_mut()) });
    }
    extern "C" fn work(n: *mut c_void) -> c_int {
        let n = n.addr() as c_int;
        // SAFETY: the shared data lives as long as the process.
        unsafe {
            call_once(ONCE.get(), first);
            if n == 1 {
                thrd_yield();
            }
            log(format!("{n} begins"));
            mtx_lock(MUTEX.get());
            thrd_sleep(&SHORT, ptr::null_mut());
            log(format!("{n} woken: {}", cnd_wait(CONDITION.get(), MUTEX.get())));
            let time = after(libc::CLOCK_REALTIME, 1);
            log(cnd_timedwait(CONDITION.get(), MUTEX.get(), &raw const time));
            thrd_sleep(&SHORT, ptr::null_mut());
            log(format!("{n} ends: {}", mtx_unlock(MUTEX.get())));
        }
        -n
    }
    // SAFETY: as above; each thread is joined once.
    unsafe {
        let threads = [1, 2, 3].map(|n: usize| {
            let mut thread = 0;
            log(thrd_create(&raw mut thread, work, ptr::without_provenance_mut(n)));
            thread
        });
        let bad = timespec { tv_sec: 0, tv_nsec: -1 };
        log(thrd_sleep(&raw const bad, ptr::null_mut()));
        thrd_sleep(&timespec { tv_sec: 0, tv_nsec: 5_500_000 }, ptr::null_mut());
        let time = after(libc::CLOCK_REALTIME, 1);
        log(mtx_timedlock(MUTEX.get(), &raw const time));
        thrd_sleep(&SHORT, ptr::null_mut());
        log(cnd_signal(CONDITION.get()));
        thrd_sleep(&SHORT, ptr::null_mut());
        log(cnd_broadcast(CONDITION.get()));
        for thread in threads {
            let mut result = 0;
            let error = thrd_join(thread, &raw mut result);
            log(format!("{error} {result}"));
        }
    }
}

fn pipe() -> (c_int, c_int) {
    let mut ends = [0; 2];
    // SAFETY: two places.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    (ends[0], ends[1])
}

fn write_later(descriptor: c_int, millis: u64) {
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(millis));
        log("writes");
        // SAFETY: eight bytes.
        unsafe { libc::write(descriptor, (&raw const millis).cast(), 8) };
    });
}

fn poll() {
    let (read, write) = pipe();
    let mut asked = libc::pollfd { fd: read, events: libc::POLLIN, revents: 0 };
    let timeout = timespec { tv_sec: 0, tv_nsec: 3_000_000 };
    // SAFETY: one descriptor.
    unsafe {
        log(libc::poll(&raw mut asked, 1, 2));
        log(libc::ppoll(&raw mut asked, 1, &raw const timeout, ptr::null()));
        write_later(write, 7);
        log(libc::poll(&raw mut asked, 1, -1));
        log(asked.revents);
        log(libc::poll(ptr::null_mut(), 0, 4));
        log(__poll_chk(ptr::null_mut(), 0, 3, 0));
        log(__ppoll_chk(ptr::null_mut(), 0, &raw const timeout, ptr::null(), 0));
    }
    // A thread that is always ready does not keep another one from its descriptor.
    let (read, write) = pipe();
    let is_seen = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut asked = libc::pollfd { fd: read, events: libc::POLLIN, revents: 0 };
            // SAFETY: one descriptor.
            unsafe { libc::poll(&raw mut asked, 1, -1) };
            is_seen.store(true, Ordering::SeqCst);
        });
        thread::yield_now();
        // SAFETY: one byte.
        unsafe { libc::write(write, c"x".as_ptr().cast(), 1) };
        while !is_seen.load(Ordering::SeqCst) {
            thread::yield_now();
        }
    });
    log("seen");
}

fn select() {
    let (read, write) = pipe();
    // SAFETY: plain data; the sets and times live until the calls return.
    unsafe {
        let mut set: libc::fd_set = std::mem::zeroed();
        let none = ptr::null_mut();
        let mut ask = |millis: i64| {
            libc::FD_ZERO(&raw mut set);
            libc::FD_SET(read, &raw mut set);
            let mut timeout = libc::timeval { tv_sec: 0, tv_usec: millis * 1000 };
            let ready = libc::select(read + 1, &raw mut set, none, none, &raw mut timeout);
            log(format!("{ready} {}", libc::FD_ISSET(read, &raw const set)));
        };
        ask(5);
        write_later(write, 3);
        ask(10);
        libc::FD_ZERO(&raw mut set);
        libc::FD_SET(write, &raw mut set);
        log(libc::select(write + 1, none, &raw mut set, none, ptr::null_mut()));
        let timeout = timespec { tv_sec: 0, tv_nsec: 3_000_000 };
        log(libc::pselect(0, none, none, none, &raw const timeout, ptr::null()));
    }
}

/// Blocking reads of an eventfd and of a timer.
fn counters() {
    let mut count = 0u64;
    let place: *mut c_void = (&raw mut count).cast();
    // SAFETY: each read has eight bytes.
    unsafe {
        let event = libc::eventfd(0, 0);
        write_later(event, 5);
        log(libc::read(event, place, 8));
        write_later(event, 1);
        log(__read_chk(event, place, 8, 8));
        let timer = libc::timerfd_create(libc::CLOCK_MONOTONIC, 0);
        let period = timespec { tv_sec: 0, tv_nsec: 4_000_000 };
        let setting = libc::itimerspec { it_interval: period, it_value: period };
        libc::timerfd_settime(timer, 0, &raw const setting, ptr::null_mut());
        for _ in 0..3 {
            libc::read(timer, place, 8);
            log(place.cast::<u64>().read());
            thread::sleep(6 * MILLI);
        }
        let mut left: libc::itimerspec = std::mem::zeroed();
        libc::timerfd_gettime(timer, &raw mut left);
        log(left.it_value.tv_nsec);
        libc::close(timer);
    }
}

fn sleep() {
    let time = timespec { tv_sec: 0, tv_nsec: 1_500_000 };
    let bad = timespec { tv_sec: 0, tv_nsec: 1_500_000_000 };
    // SAFETY: the times live until the calls return.
    unsafe {
        log(libc::usleep(1500));
        log(libc::sleep(2));
        log(libc::nanosleep(&raw const time, ptr::null_mut()));
        log(libc::nanosleep(&raw const bad, ptr::null_mut()));
        for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            log(libc::clock_nanosleep(clock, 0, &raw const time, ptr::null_mut()));
            let until = after(clock, 5);
            let absolute = libc::TIMER_ABSTIME;
            log(libc::clock_nanosleep(clock, absolute, &raw const until, ptr::null_mut()));
        }
        let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
        libc::gettimeofday(&raw mut now, ptr::null_mut());
        log(format!("{} {} {}", now.tv_sec, now.tv_usec, libc::time(ptr::null_mut())));
    }
}

fn random() {
    let mut bytes = [0u8; 20];
    // SAFETY: as many bytes as the array has.
    unsafe {
        libc::getrandom(bytes.as_mut_ptr().cast(), 20, 0);
        log(format!("{bytes:?}"));
        libc::getentropy(bytes.as_mut_ptr().cast(), 20);
    }
    log(format!("{bytes:?}"));
    // SAFETY: as many bytes as the array has.
    unsafe {
        arc4random_buf(bytes.as_mut_ptr().cast(), 20);
        log(format!("{bytes:?} {} {}", arc4random(), arc4random_uniform(10)));
        // std's, which calls the system call.
        libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), 20, 0);
    }
    log(format!("{bytes:?}"));
    let device = std::fs::File::open("/dev/urandom");
    device.and_then(|mut device| std::io::Read::read_exact(&mut device, &mut bytes)).unwrap();
    log(format!("{bytes:?}"));
    temporary_files();
}

/// The names that libc draws, also if there is a file of that name already.
fn temporary_files() {
    // The number of the process is that of other runs; its real one is not.
    let own = std::fs::read_link("/proc/self").unwrap();
    let folder = std::env::temp_dir().join(format!("ringspin-c-random-{}", own.display()));
    let folder = folder.to_str().unwrap();
    std::fs::create_dir(folder).unwrap();
    let name = |template: &str| std::ffi::CString::new(format!("{folder}/{template}")).unwrap();
    let [first, second, wrong] = ["XXXXXX", "data-XXXXXX.csv", "X"].map(|name_of| {
        let text = name(name_of).into_raw();
        // SAFETY: a text that the function may change, and which is taken back.
        unsafe {
            match name_of {
                "data-XXXXXX.csv" => assert!(libc::mkstemps(text, 4) >= 0),
                _ => assert_eq!(libc::mkdtemp(text).is_null(), name_of == "X"),
            }
            std::ffi::CString::from_raw(text).into_string().unwrap().split_off(folder.len())
        }
    });
    log(format!("{first} {second} {wrong}"));
    assert!(std::fs::metadata(format!("{folder}{first}")).unwrap().is_dir());
    assert!(std::fs::metadata(format!("{folder}{second}")).unwrap().is_file());
    std::fs::remove_dir_all(folder).unwrap();
}

/// A loop that tries to lock a mutex until another thread has released it.
fn trylock_loop() {
    let mutex = Shared::new(libc::PTHREAD_MUTEX_INITIALIZER);
    thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: a mutex that outlives the thread, and is held by it.
            unsafe {
                libc::pthread_mutex_lock(mutex.get());
                thread::sleep(100 * MILLI);
                libc::pthread_mutex_unlock(mutex.get());
            }
        });
        thread::sleep(MILLI);
        // SAFETY: a mutex.
        while unsafe { libc::pthread_mutex_trylock(mutex.get()) } != 0 {}
    });
    log("locked");
}

type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// Functions in which the end of a thread may unwind its frames.
mod unwinding {
    use super::{Routine, c_int, c_void, pthread_t};

    unsafe extern "C-unwind" {
        pub(super) fn pthread_cond_wait(
            condition: *mut libc::pthread_cond_t,
            mutex: *mut libc::pthread_mutex_t,
        ) -> c_int;
        pub(super) fn sem_wait(semaphore: *mut libc::sem_t) -> c_int;
        pub(super) fn read(descriptor: c_int, place: *mut c_void, count: usize) -> isize;
        pub(super) fn usleep(micros: u32) -> c_int;
        pub(super) fn pthread_exit(result: *mut c_void) -> !;
        pub(super) fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
        pub(super) fn pthread_create(
            thread: *mut pthread_t,
            attributes: *const c_void,
            routine: Routine,
            argument: *mut c_void,
        ) -> c_int;
    }
}

/// Threads that another one ends while they wait, one that cannot be ended, and one that ends by
/// itself.
fn cancel() {
    use unwinding::*;
    static SEMAPHORE: Shared<[u64; 4]> = Shared::new([0; 4]);
    unsafe extern "C-unwind" fn condition(_: *mut c_void) -> *mut c_void {
        // SAFETY: both live as long as the process.
        unsafe {
            libc::pthread_mutex_lock(MUTEX.get());
            pthread_cond_wait(CONDITION.get(), MUTEX.get());
        }
        ptr::null_mut()
    }
    unsafe extern "C-unwind" fn semaphore(_: *mut c_void) -> *mut c_void {
        // SAFETY: it lives as long as the process.
        unsafe { sem_wait(SEMAPHORE.get().cast()) };
        ptr::null_mut()
    }
    unsafe extern "C-unwind" fn reader(end: *mut c_void) -> *mut c_void {
        let mut place = 0u8;
        // SAFETY: a place for one byte.
        unsafe { read(end.addr() as c_int, (&raw mut place).cast(), 1) };
        ptr::null_mut()
    }
    unsafe extern "C-unwind" fn sleeper(_: *mut c_void) -> *mut c_void {
        // SAFETY: takes a number.
        unsafe { usleep(9000) };
        ptr::null_mut()
    }
    unsafe extern "C-unwind" fn late(_: *mut c_void) -> *mut c_void {
        // SAFETY: take numbers and a place.
        unsafe {
            let mut old = 0;
            pthread_setcancelstate(1, &raw mut old);
            usleep(4000);
            pthread_setcancelstate(0, &raw mut old);
            usleep(0);
            usleep(4000);
        }
        ptr::null_mut()
    }
    unsafe extern "C-unwind" fn exit(_: *mut c_void) -> *mut c_void {
        // SAFETY: the result is a number.
        unsafe { pthread_exit(ptr::without_provenance_mut(7)) }
    }
    let routines: [Routine; 6] = [condition, semaphore, reader, sleeper, late, exit];
    let end = ptr::without_provenance_mut(pipe().0 as usize);
    for routine in routines {
        let (mut thread, mut result) = (0, ptr::null_mut());
        // SAFETY: places for the thread and its result; each is joined once.
        unsafe {
            pthread_create(&raw mut thread, ptr::null(), routine, end);
            libc::usleep(1000);
            libc::pthread_cancel(thread);
            libc::pthread_join(thread, &raw mut result);
        }
        log(result.addr() as isize);
    }
    // SAFETY: a mutex. The first thread had it again when it ended.
    log(unsafe { libc::pthread_mutex_trylock(MUTEX.get()) });
}
