//! Programs that call the kernel, or functions of libc that few libraries call.

use crate::c::after;
use crate::{MILLI, Program, log};
use libc::{c_int, c_void, cpu_set_t, itimerspec, itimerval, pthread_key_t, timespec};
use std::cell::RefCell;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Instant;

pub(crate) const PROGRAMS: &[Program] = &[
    ("futex", futex),
    ("numbers", numbers),
    ("affinity", affinity),
    ("errno", errno),
    ("keys", keys),
    ("timers", timers),
    ("clocks", clocks),
    ("epoll", epoll),
];

/// The result of a call, or its error.
fn outcome(result: i64) -> String {
    // SAFETY: the address of this thread's own `errno`.
    let error = unsafe { *libc::__errno_location() };
    if result < 0 { format!("error {error}") } else { format!("{result}") }
}

/// Waits for futexes: with another value than the futex has, for a duration, until times of both
/// clocks, and until a wake-up.
fn futex() {
    static WORD: AtomicU32 = AtomicU32::new(5);
    let call = |operation: c_int, value: u32, time: Option<timespec>| {
        let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
        let (word, unused) = (WORD.as_ptr(), ptr::null::<u32>());
        // SAFETY: the word lives as long as the process, and the time until the call returns.
        let result = unsafe {
            libc::syscall(libc::SYS_futex, word, operation, value, time, unused, u32::MAX)
        };
        log(outcome(result));
    };
    let short = timespec { tv_sec: 0, tv_nsec: 3_000_000 };
    call(libc::FUTEX_WAIT, 4, Some(short));
    call(libc::FUTEX_WAIT, 5, Some(short));
    call(libc::FUTEX_WAIT, 5, Some(timespec { tv_nsec: -1, ..short }));
    call(libc::FUTEX_WAIT_BITSET, 5, Some(after(libc::CLOCK_MONOTONIC, 5)));
    let real = libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME;
    call(real, 5, Some(after(libc::CLOCK_REALTIME, 5)));
    let waker = thread::spawn(move || {
        thread::sleep(2 * MILLI);
        WORD.store(6, Ordering::SeqCst);
        call(libc::FUTEX_WAKE, 1, None);
        call(libc::FUTEX_WAKE, 1, None);
    });
    call(libc::FUTEX_WAIT, 5, None);
    waker.join().unwrap();
}

/// The numbers of the process and its threads, by libc and by the kernel.
fn numbers() {
    let show = || {
        // SAFETY: take no arguments.
        let (thread, process) = unsafe { (libc::gettid(), libc::getpid()) };
        // SAFETY: take no arguments.
        let by_kernel =
            unsafe { (libc::syscall(libc::SYS_gettid), libc::syscall(libc::SYS_getpid)) };
        log(format!("thread {thread} of {process}, {by_kernel:?}"));
    };
    show();
    thread::spawn(show).join().unwrap();
    thread::spawn(show).join().unwrap();
}

/// A thread asks for all cores, and stays on its own.
fn affinity() {
    const SIZE: usize = size_of::<cpu_set_t>();
    // SAFETY: plain data; the sets are as long as is said.
    unsafe {
        let by_kernel = || {
            let mut set: cpu_set_t = std::mem::zeroed();
            libc::syscall(libc::SYS_sched_getaffinity, 0, SIZE, &raw mut set);
            libc::CPU_COUNT(&set)
        };
        let mut all: cpu_set_t = std::mem::zeroed();
        (0..1024).for_each(|core| libc::CPU_SET(core, &mut all));
        log(by_kernel());
        log(libc::sched_setaffinity(0, SIZE, &raw const all));
        log(by_kernel());
        log(libc::pthread_setaffinity_np(libc::pthread_self(), SIZE, &raw const all));
        log(by_kernel());
        libc::sched_getaffinity(0, SIZE, &raw mut all);
        log(libc::CPU_COUNT(&all));
    }
}

/// `errno` outlasts the end of another thread, for which calls of the kernel fail.
fn errno() {
    extern "C" fn end(_: *mut c_void) -> *mut c_void {
        ptr::null_mut()
    }
    let mut thread = 0;
    // SAFETY: a place for the handle of a thread that is joined; `errno` is this thread's own.
    let kept = unsafe {
        libc::pthread_create(&raw mut thread, ptr::null(), end, ptr::null_mut());
        *libc::__errno_location() = 77;
        libc::usleep(1000);
        let kept = *libc::__errno_location();
        libc::pthread_join(thread, ptr::null_mut());
        kept
    };
    log(kept);
}

/// Destructors of a thread: of thread-local variables, then of keys, which may sleep and set their
/// values again.
fn keys() {
    static KEY: OnceLock<pthread_key_t> = OnceLock::new();
    static ENDS: Mutex<Vec<(String, Instant)>> = Mutex::new(Vec::new());
    let note = |what: String| ENDS.lock().unwrap().push((what, Instant::now()));
    struct Local(fn(String));
    impl Drop for Local {
        fn drop(&mut self) {
            thread::sleep(MILLI);
            self.0("thread-local".into());
        }
    }
    thread_local!(static LOCAL: RefCell<Option<Local>> = const { RefCell::new(None) });
    extern "C" fn end(round: *mut c_void) {
        thread::sleep(2 * MILLI);
        ENDS.lock().unwrap().push((format!("key {}", round.addr()), Instant::now()));
        if round.addr() < 3 {
            let next = ptr::without_provenance(round.addr() + 1);
            // SAFETY: the key exists; its value is a number.
            unsafe { libc::pthread_setspecific(*KEY.get().unwrap(), next) };
        }
    }
    let mut key = 0;
    // SAFETY: a place for the key; the destructor is a function of the process.
    unsafe { libc::pthread_key_create(&raw mut key, Some(end)) };
    KEY.set(key).unwrap();
    let begin = Instant::now();
    let thread = thread::spawn(move || {
        // SAFETY: the key exists; its value is a number.
        unsafe { libc::pthread_setspecific(key, ptr::without_provenance(1)) };
        LOCAL.set(Some(Local(note)));
    });
    thread.join().unwrap();
    for (what, time) in ENDS.lock().unwrap().iter() {
        log(format!("{:?} {what}", *time - begin));
    }
}

/// Settings of timers that are descriptors, and a descriptor in the place of a closed one.
fn timers() {
    let millis = |millis: i64| timespec { tv_sec: 0, tv_nsec: millis * 1_000_000 };
    let show = |name: &str, set: &itimerspec| {
        log(format!("{name}: {} every {}", set.it_value.tv_nsec, set.it_interval.tv_nsec));
    };
    let mut count = 0u64;
    let place: *mut c_void = (&raw mut count).cast();
    // SAFETY: the settings live until the calls return, and each read has eight bytes.
    unsafe {
        let mut set: itimerspec = std::mem::zeroed();
        let timer = libc::timerfd_create(libc::CLOCK_MONOTONIC, 0);
        let new = itimerspec { it_interval: millis(4), it_value: millis(7) };
        libc::timerfd_settime(timer, 0, &raw const new, ptr::null_mut());
        thread::sleep(MILLI);
        libc::timerfd_gettime(timer, &raw mut set);
        show("set", &set);
        let new = itimerspec { it_interval: millis(0), it_value: millis(2) };
        libc::timerfd_settime(timer, 0, &raw const new, &raw mut set);
        show("before", &set);
        libc::read(timer, place, 8);
        log(place.cast::<u64>().read());
        libc::timerfd_gettime(timer, &raw mut set);
        show("expired", &set);
        for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            let timer = libc::timerfd_create(clock, 0);
            let new = itimerspec { it_interval: millis(0), it_value: after(clock, 5) };
            libc::timerfd_settime(timer, libc::TFD_TIMER_ABSTIME, &raw const new, ptr::null_mut());
            libc::read(timer, place, 8);
            log(format!("clock {clock}"));
            libc::close(timer);
        }
        let new = itimerspec { it_interval: millis(4), it_value: millis(4) };
        libc::timerfd_settime(timer, 0, &raw const new, ptr::null_mut());
        libc::close(timer);
        let event = libc::eventfd(0, libc::EFD_NONBLOCK);
        thread::sleep(20 * MILLI);
        log(format!("{} {}", event == timer, outcome(libc::read(event, place, 8) as i64)));
    }
}

unsafe extern "C" {
    fn timespec_get(time: *mut timespec, base: c_int) -> c_int;
    fn clock() -> libc::clock_t;
    fn epoll_pwait2(
        epoll: c_int,
        events: *mut libc::epoll_event,
        max: c_int,
        timeout: *const timespec,
        signals: *const libc::sigset_t,
    ) -> c_int;
    fn alarm(seconds: libc::c_uint) -> libc::c_uint;
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int;
}

/// Clocks that other functions read than that of the standard library, and what no run repeats:
/// timers that send signals, and `io_uring`.
fn clocks() {
    let mut time = after(libc::CLOCK_REALTIME, 0);
    let soon = itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 0, tv_usec: 1 },
    };
    // SAFETY: places for times and settings, which live until the calls return.
    unsafe {
        thread::sleep(MILLI);
        log(format!("{} {}", timespec_get(&raw mut time, 1), time.tv_nsec));
        log(timespec_get(&raw mut time, 7));
        let before = clock();
        thread::sleep(MILLI);
        log(clock() - before);
        let (mut used, mut usage): (libc::tms, libc::rusage) = std::mem::zeroed();
        let before = libc::times(ptr::null_mut());
        thread::sleep(20 * MILLI);
        log(format!("{} {}", libc::times(&raw mut used) - before, used.tms_utime - before));
        let result = libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        let (time, system) = (usage.ru_utime, usage.ru_stime);
        let memory = usage.ru_maxrss;
        log(format!("{result} {} {} {} {memory}", time.tv_sec, time.tv_usec, system.tv_usec));
        log(format!("{} {}", alarm(1), alarm(0)));
        log(outcome(setitimer(libc::ITIMER_REAL, &raw const soon, ptr::null_mut()).into()));
        let mut timer: libc::timer_t = ptr::null_mut();
        let created = libc::timer_create(libc::CLOCK_MONOTONIC, ptr::null_mut(), &raw mut timer);
        log(outcome(created.into()));
        let mut settings = [0u64; 15];
        log(outcome(libc::syscall(libc::SYS_io_uring_setup, 1, settings.as_mut_ptr())));
    }
}

/// Waits for the events of an eventfd by each of the three functions, until a timeout, and until a
/// thread writes.
fn epoll() {
    // SAFETY: places for one event, and times, which live until the calls return.
    unsafe {
        let (epoll, counter) = (libc::epoll_create1(0), libc::eventfd(0, libc::EFD_NONBLOCK));
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 7 };
        let place = &raw mut event;
        libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, counter, place);
        let (time, mut count) = (timespec { tv_sec: 0, tv_nsec: 3_000_000 }, 0);
        let wait: [&dyn Fn() -> c_int; 3] = [
            &|| libc::epoll_wait(epoll, place, 1, 3),
            &|| libc::epoll_pwait(epoll, place, 1, 3, ptr::null()),
            &|| epoll_pwait2(epoll, place, 1, &raw const time, ptr::null()),
        ];
        for wait in wait {
            log(wait());
            let writer = thread::spawn(move || {
                thread::sleep(2 * MILLI);
                libc::eventfd_write(counter, 1);
            });
            log(wait());
            libc::eventfd_read(counter, &raw mut count);
            writer.join().unwrap();
        }
    }
}
