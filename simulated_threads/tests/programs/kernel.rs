//! Programs that call the kernel, or functions of libc that few libraries call.

use crate::c::after;
use crate::{MILLI, Program, log};
use libc::{c_int, c_void, cpu_set_t, itimerspec, itimerval, pthread_key_t, timespec};
use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::os::unix::thread::JoinHandleExt;
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
    ("signal-timers", signal_timers),
    ("epoll", epoll),
    ("pipes", pipes),
    ("pairs", pairs),
    ("loopback", loopback),
    ("unix-sockets", unix_sockets),
    ("duplicates", duplicates),
    ("counter", counter),
    ("interrupted", interrupted),
    ("sigwait", sigwait),
    ("flock", flock),
    ("tries", tries),
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
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int;
    fn getitimer(which: c_int, now: *mut itimerval) -> c_int;
}

/// Clocks that other functions read than that of the standard library, and values that no run
/// repeats: `io_uring`.
fn clocks() {
    let mut time = after(libc::CLOCK_REALTIME, 0);
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
        let mut settings = [0u64; 15];
        log(outcome(libc::syscall(libc::SYS_io_uring_setup, 1, settings.as_mut_ptr())));
    }
}

/// Timers that send signals end waits at their times: once, periodically, at a time of a clock, and
/// on a thread that waits for the signal. One that would call a function is refused.
fn signal_timers() {
    let micros = |micros| libc::timeval { tv_sec: 0, tv_usec: micros };
    let nanos = |nanos| timespec { tv_sec: 0, tv_nsec: nanos };
    count_signals(libc::SIGALRM, libc::SA_RESTART);
    count_signals(libc::SIGUSR1, 0);
    // SAFETY: places for settings, times, timers and signals, which live until the calls return.
    unsafe {
        log(libc::alarm(2));
        thread::sleep(500 * MILLI);
        log(libc::alarm(1));
        log(outcome(libc::pause().into()));
        let mut all: libc::sigset_t = std::mem::zeroed();
        let periodic = itimerval { it_interval: micros(20_000), it_value: micros(10_000) };
        let (stopped, mut now) =
            (itimerval { it_interval: micros(0), it_value: micros(0) }, periodic);
        log(setitimer(libc::ITIMER_REAL, &raw const periodic, ptr::null_mut()));
        for _ in 0..3 {
            log(outcome(libc::sigsuspend(&raw const all).into()));
        }
        thread::sleep(5 * MILLI);
        getitimer(libc::ITIMER_REAL, &raw mut now);
        log(format!("{} {}", now.it_value.tv_usec, now.it_interval.tv_usec));
        setitimer(libc::ITIMER_REAL, &raw const stopped, ptr::null_mut());
        log(HANDLED.swap(0, Ordering::SeqCst));
        log(outcome(setitimer(7, &raw const stopped, ptr::null_mut()).into()));

        let mut event: libc::sigevent = std::mem::zeroed();
        (event.sigev_notify, event.sigev_signo) = (libc::SIGEV_SIGNAL, libc::SIGUSR1);
        let mut timer: libc::timer_t = ptr::null_mut();
        log(libc::timer_create(libc::CLOCK_REALTIME, &raw mut event, &raw mut timer));
        let new = itimerspec { it_interval: nanos(0), it_value: after(libc::CLOCK_REALTIME, 5) };
        libc::timer_settime(timer, libc::TIMER_ABSTIME, &raw const new, ptr::null_mut());
        let mut left = nanos(50_000_000);
        log(outcome(libc::nanosleep(&raw const left, &raw mut left).into()));
        let mut state = new;
        libc::timer_gettime(timer, &raw mut state);
        log(format!(
            "{} {} {}",
            left.tv_nsec,
            state.it_value.tv_nsec,
            HANDLED.load(Ordering::SeqCst)
        ));
        log(format!("{} {}", libc::timer_delete(timer), libc::timer_delete(timer)));

        libc::sigaddset(&raw mut all, libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, ptr::null_mut());
        let mut signal = 0;
        libc::alarm(1);
        log(format!("{} {signal}", libc::sigwait(&raw const all, &raw mut signal)));
        log(signal == libc::SIGALRM);
        // A period that never ends.
        let vast = itimerval {
            it_interval: libc::timeval { tv_sec: i64::MAX, tv_usec: 0 },
            it_value: micros(10_000),
        };
        log(setitimer(libc::ITIMER_REAL, &raw const vast, ptr::null_mut()));
        log(libc::sigwait(&raw const all, &raw mut signal));
        log(getitimer(libc::ITIMER_REAL, &raw mut now));
        event.sigev_notify = libc::SIGEV_THREAD;
        let refused = libc::timer_create(libc::CLOCK_REALTIME, &raw mut event, &raw mut timer);
        log(outcome(refused.into()));
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

/// A pipe within the process: a reader that waits for data and for the end, and a writer that waits
/// for a slow reader.
fn pipes() {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let slow = thread::spawn(move || {
        let mut bytes = [0; 1000];
        log(reader.read(&mut bytes).unwrap());
        thread::sleep(2 * MILLI);
        let mut all = 0;
        while let Ok(read @ 1..) = reader.read(&mut bytes) {
            all += read;
        }
        log(all);
    });
    thread::sleep(MILLI);
    writer.write_all(b"begin").unwrap();
    writer.write_all(&vec![7; 200_000]).unwrap();
    log("written");
    thread::sleep(5 * MILLI);
    drop(writer);
    slow.join().unwrap();
}

/// Pairs of sockets within the process, of streams and of datagrams, by duplicates of their
/// descriptors.
fn pairs() {
    let (mut left, right) = UnixStream::pair().unwrap();
    let mut echo = right.try_clone().unwrap();
    drop(right);
    let echo = thread::spawn(move || {
        let mut bytes = [0; 70_000];
        while let Ok(read @ 1..) = echo.read(&mut bytes) {
            thread::sleep(MILLI);
            echo.write_all(&bytes[..read]).unwrap();
        }
        log("closed");
    });
    let mut writer = left.try_clone().unwrap();
    let writer = thread::spawn(move || writer.write_all(&[1; 300_000]).unwrap());
    let mut back = vec![0; 300_000];
    left.read_exact(&mut back).unwrap();
    log(back.iter().map(|byte| u32::from(*byte)).sum::<u32>());
    writer.join().unwrap();
    left.set_read_timeout(Some(20 * MILLI)).unwrap();
    log(left.read(&mut back).unwrap_err().kind());
    drop(left);
    echo.join().unwrap();
    let (one, two) = UnixDatagram::pair().unwrap();
    let sender = thread::spawn(move || (0..3).for_each(|n| drop(one.send(&vec![0; 9000 + n]))));
    (0..3).for_each(|_| log(two.recv(&mut back).unwrap()));
    sender.join().unwrap();
}

/// Streams and datagrams on the loopback interface, of which no other program has a part.
fn loopback() {
    let listener = TcpListener::bind("[::1]:0").unwrap();
    let at = listener.local_addr().unwrap();
    log(at);
    let server = thread::spawn(move || {
        let (mut stream, peer) = listener.accept().unwrap();
        log(peer);
        stream.set_nodelay(true).unwrap();
        let mut bytes = [0; 70_000];
        while let Ok(read @ 1..) = stream.read(&mut bytes) {
            thread::sleep(MILLI);
            stream.write_all(&bytes[..read]).unwrap();
        }
    });
    log(TcpStream::connect("[::1]:1").unwrap_err());
    let mut stream = TcpStream::connect(at).unwrap();
    log(stream.peer_addr().unwrap());
    let mut writer = stream.try_clone().unwrap();
    let writer = thread::spawn(move || writer.write_all(&[1; 300_000]).unwrap());
    let mut back = vec![0; 300_000];
    stream.read_exact(&mut back).unwrap();
    log(back.iter().map(|byte| u32::from(*byte)).sum::<u32>());
    writer.join().unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    server.join().unwrap();
    log(stream.read(&mut back).unwrap());

    let [one, two] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    let to = two.local_addr().unwrap();
    // More than a queue of the kernel has room for, and none for the one that is too large.
    let sender = thread::spawn(move || {
        (0..100).for_each(|n| assert_eq!(one.send_to(&[n; 2], to).unwrap(), 2));
        log(one.send_to(&vec![0; 65_508], to).is_err());
    });
    let sum: u32 = (0..100)
        .map(|_| {
            let (count, _) = two.recv_from(&mut back).unwrap();
            u32::from(back[0]) * count as u32
        })
        .sum();
    log(sum);
    sender.join().unwrap();
    two.set_nonblocking(true).unwrap();
    log(two.recv(&mut back).unwrap_err().kind());
}

/// A Unix socket with a file, which only programs of the world find.
fn unix_sockets() {
    // The number of the process is that of others at the same time.
    let own = std::fs::read_link("/proc/self").unwrap();
    let folder = std::env::temp_dir().join(format!("ringspin-{}", own.display()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("socket");
    log(UnixStream::connect(&path).unwrap_err().kind());
    let listener = UnixListener::bind(&path).unwrap();
    log(UnixListener::bind(&path).unwrap_err().kind());
    log(listener.local_addr().unwrap().as_pathname() == Some(&path));
    let server = thread::spawn(move || {
        let (mut stream, peer) = listener.accept().unwrap();
        log(peer.is_unnamed());
        let mut bytes = [0; 9];
        while let Ok(read @ 1..) = stream.read(&mut bytes) {
            thread::sleep(MILLI);
            stream.write_all(&bytes[..read]).unwrap();
        }
    });
    thread::sleep(MILLI);
    let mut stream = UnixStream::connect(&path).unwrap();
    log(stream.peer_addr().unwrap().as_pathname() == Some(&path));
    stream.write_all(b"hello").unwrap();
    let mut back = [0; 5];
    stream.read_exact(&mut back).unwrap();
    log(String::from_utf8_lossy(&back));
    drop(stream);
    server.join().unwrap();
    log(UnixStream::connect(&path).unwrap_err().kind());
    std::fs::remove_dir_all(folder).unwrap();
}

/// A timer and an eventfd by duplicates of their descriptors.
fn duplicates() {
    let mut count = 0u64;
    let place: *mut c_void = (&raw mut count).cast();
    // SAFETY: the settings live until the calls return, and each read has eight bytes.
    unsafe {
        let timer = libc::timerfd_create(libc::CLOCK_MONOTONIC, 0);
        let copy = libc::dup(timer);
        libc::close(timer);
        let period = timespec { tv_sec: 0, tv_nsec: 4_000_000 };
        let new = itimerspec { it_interval: period, it_value: period };
        log(libc::timerfd_settime(copy, 0, &raw const new, ptr::null_mut()));
        libc::read(copy, place, 8);
        log(place.cast::<u64>().read());
        libc::close(copy);
        let event = libc::eventfd(0, 0);
        let copy = libc::fcntl(event, libc::F_DUPFD_CLOEXEC, 100);
        let writer = thread::spawn(move || {
            thread::sleep(MILLI);
            libc::eventfd_write(event, 5);
        });
        libc::read(copy, place, 8);
        log(place.cast::<u64>().read());
        writer.join().unwrap();
    }
}

/// The processor's counter of cycles, by both instructions; zero if no world sees them.
pub(crate) fn cycles() -> [u64; 2] {
    #[cfg(target_arch = "x86_64")]
    if is_counter_caught() {
        let mut processor = 7;
        // SAFETY: a place for the number of the processor.
        let cycles = unsafe {
            [std::arch::x86_64::_rdtsc(), std::arch::x86_64::__rdtscp(&raw mut processor)]
        };
        assert_eq!(processor, 0);
        return cycles;
    }
    [0; 2]
}

/// Whether the kernel catches instructions that read the counter.
pub(crate) fn is_counter_caught() -> bool {
    let mut setting = 0;
    // SAFETY: a place for the setting.
    let result = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut setting) };
    result == 0 && setting == libc::PR_TSC_SIGSEGV
}

/// The processor's counter of cycles: before and after a sleep, in a loop that waits for it, on
/// another thread, and while no signal may come.
fn counter() {
    if !is_counter_caught() {
        return;
    }
    let [first, second] = cycles();
    thread::sleep(MILLI);
    log(format!("{first} {second} {:?}", cycles()));
    let end = cycles()[0] + 3_000_000;
    while cycles()[1] < end {}
    log("loop");
    let other = || {
        // SAFETY: a set that the first call fills.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, ptr::null_mut());
        }
        log(format!("{:?}", cycles()));
    };
    thread::spawn(other).join().unwrap();
}

static HANDLED: AtomicU32 = AtomicU32::new(0);

/// Has a signal counted by a handler with these flags.
fn count_signals(signal: c_int, flags: c_int) {
    extern "C" fn count(_: c_int) {
        HANDLED.fetch_add(1, Ordering::SeqCst);
    }
    // SAFETY: a handler that counts; an action that is plain data.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = count as *const () as libc::sighandler_t;
        action.sa_flags = flags;
        libc::sigaction(signal, &raw const action, ptr::null_mut());
    }
}

/// Signals from another thread end waits, as the flags of the handler say.
fn interrupted() {
    fn sleep() -> i64 {
        let time = |millis: i64| timespec { tv_sec: 0, tv_nsec: millis * 1_000_000 };
        let (mut left, until) = (time(0), after(libc::CLOCK_MONOTONIC, 2));
        // SAFETY: times that live until the calls return.
        unsafe {
            let result = libc::nanosleep(&time(10), &raw mut left);
            log(format!("{} left", left.tv_nsec));
            let (clock, absolute) = (libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME);
            log(libc::clock_nanosleep(clock, absolute, &raw const until, &raw mut left));
            result.into()
        }
    }
    fn poll() -> i64 {
        // SAFETY: no descriptor.
        unsafe { libc::poll(ptr::null_mut(), 0, 10).into() }
    }
    fn read() -> i64 {
        let (mut ends, mut place) = ([0; 2], 0u8);
        // SAFETY: places for two descriptors and a byte.
        unsafe {
            libc::pipe(ends.as_mut_ptr());
            thread::spawn(move || {
                thread::sleep(8 * MILLI);
                libc::write(ends[1], c"x".as_ptr().cast(), 1);
            });
            libc::read(ends[0], (&raw mut place).cast(), 1) as i64
        }
    }
    fn semaphore() -> i64 {
        let mut semaphore = [0u64; 4];
        let late = after(libc::CLOCK_REALTIME, 10);
        // SAFETY: as long as a semaphore, which lives until the call returns.
        unsafe { libc::sem_timedwait(semaphore.as_mut_ptr().cast(), &raw const late).into() }
    }
    type Call = fn() -> i64;
    let waits: [(&str, Call); 4] =
        [("sleep", sleep), ("poll", poll), ("read", read), ("semaphore", semaphore)];
    for flags in [0, libc::SA_RESTART] {
        count_signals(libc::SIGUSR1, flags);
        for (name, wait) in waits {
            let waiting = thread::spawn(move || log(format!("{name}: {}", outcome(wait()))));
            thread::sleep(3 * MILLI);
            let before = HANDLED.load(Ordering::SeqCst);
            // SAFETY: the thread has not ended.
            unsafe { libc::pthread_kill(waiting.as_pthread_t(), libc::SIGUSR1) };
            let at_once = HANDLED.load(Ordering::SeqCst) - before;
            waiting.join().unwrap();
            log(format!("{at_once}, then {}", HANDLED.load(Ordering::SeqCst) - before));
        }
    }
    // SAFETY: a handler counts the signal.
    log(unsafe { libc::kill(libc::getpid(), libc::SIGUSR1) });
    log(HANDLED.load(Ordering::SeqCst));
}

/// Waits for signals that all threads block: until a timeout, for one to the thread, and for one
/// to the process.
fn sigwait() {
    // SAFETY: sets that the first call fills, and places.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGUSR1);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
        let time = timespec { tv_sec: 0, tv_nsec: 5_000_000 };
        let late = libc::sigtimedwait(&raw const set, ptr::null_mut(), &raw const time);
        log(outcome(late.into()));
        let wait = move || {
            let mut signal = 0;
            let error = libc::sigwait(&raw const set, &raw mut signal);
            log(format!("{error} {signal}"));
        };
        let waiting = thread::spawn(wait);
        thread::sleep(2 * MILLI);
        libc::pthread_kill(waiting.as_pthread_t(), libc::SIGUSR1);
        waiting.join().unwrap();
        let waiting = thread::spawn(wait);
        thread::sleep(2 * MILLI);
        libc::kill(libc::getpid(), libc::SIGUSR1);
        waiting.join().unwrap();
    }
}

/// The number of the process in the operating system, which differs from run to run.
fn os_process() -> String {
    let link = std::fs::read_link("/proc/self").unwrap();
    link.display().to_string()
}

/// Locks of one file by several threads that each open it: shared ones together, and a change of
/// the first one.
fn flock() {
    let path = std::env::temp_dir().join(format!("ringspin-flock-{}", os_process()));
    std::fs::write(&path, "").unwrap();
    thread::scope(|scope| {
        for n in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let file = std::fs::File::open(path).unwrap();
                match n % 2 {
                    0 => file.lock().unwrap(),
                    _ => file.lock_shared().unwrap(),
                }
                log(format!("{n} has it"));
                thread::sleep(2 * MILLI);
                if n == 3 {
                    file.lock().unwrap();
                    log("3 has it alone");
                    thread::sleep(MILLI);
                    file.unlock().unwrap();
                }
                thread::sleep(MILLI);
            });
        }
        thread::sleep(MILLI);
        let file = std::fs::File::open(&path).unwrap();
        log(file.try_lock().is_err());
    });
    std::fs::remove_file(path).unwrap();
}

/// Loops of calls that do not wait, until another thread has done something after 5 ms.
fn tries() {
    let (mut ends, mut place) = ([0; 2], 0u8);
    // SAFETY: places for two descriptors.
    unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_NONBLOCK) };
    let (mut event, mut pair) = (libc::epoll_event { events: 1, u64: 0 }, [0; 2]);
    let mut asked = libc::pollfd { fd: ends[0], events: libc::POLLIN, revents: 0 };
    // SAFETY: places for two descriptors, and an event that lives until the call returns.
    let epoll = unsafe {
        libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr());
        let epoll = libc::epoll_create1(0);
        libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, ends[0], &raw mut event);
        epoll
    };
    let path = std::env::temp_dir().join(format!("ringspin-tries-{}", os_process()));
    let open = || std::fs::File::create(&path).unwrap();
    let (locked, other) = (open(), open());
    locked.lock().unwrap();
    let byte = (&raw mut place).cast();
    // SAFETY: places for a byte, an event and a descriptor.
    let mut tries: [(&str, &mut dyn FnMut() -> bool); 5] = unsafe {
        [
            ("poll", &mut || libc::poll(&raw mut asked, 1, 0) == 1),
            ("epoll", &mut || libc::epoll_wait(epoll, &raw mut event, 1, 0) == 1),
            ("read", &mut || libc::read(ends[0], byte, 1) == 1),
            ("recv", &mut || libc::recv(pair[0], byte, 1, libc::MSG_DONTWAIT) == 1),
            ("flock", &mut || other.try_lock().is_ok()),
        ]
    };
    for (name, attempt) in &mut tries {
        let locked_again = locked.try_clone().unwrap();
        let locked = locked.try_clone().unwrap();
        let writer = thread::spawn(move || {
            thread::sleep(5 * MILLI);
            // SAFETY: a byte.
            let write = |end| assert_eq!(unsafe { libc::write(end, c"x".as_ptr().cast(), 1) }, 1);
            [ends[1], pair[1]].into_iter().for_each(write);
            locked.unlock().unwrap();
        });
        while !attempt() {}
        log(name);
        let mut end = ptr::null_mut();
        // SAFETY: a place; the thread is joined once, as it is no other one's.
        while unsafe { libc::pthread_tryjoin_np(writer.as_pthread_t(), &raw mut end) } != 0 {}
        std::mem::forget(writer);
        // SAFETY: a place for a byte.
        unsafe {
            while libc::read(ends[0], byte, 1) == 1 {}
            while libc::recv(pair[0], byte, 1, libc::MSG_DONTWAIT) == 1 {}
        }
        other.unlock().unwrap();
        locked_again.lock().unwrap();
    }
    std::fs::remove_file(&path).unwrap();
}
