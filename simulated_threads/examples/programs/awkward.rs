//! Programs that cannot go on under simulated time, or do what no other run repeats.

use crate::{MILLI, Program, log};
use libc::c_int;
use ringspin_simulated_threads::progress;
use std::io::Read;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

pub(crate) const PROGRAMS: &[Program] = &[
    ("spin", spin),
    ("pipe", pipe),
    ("socket", socket),
    ("bound", || drop(UdpSocket::bind("127.0.0.1:0").unwrap())),
    ("child", child),
    ("raw-futex", raw_futex),
    ("deadlock", deadlock),
    ("c-deadlock", c_deadlock),
    ("channel", channel),
    ("relay", relay),
    ("output", output),
    ("forever", forever),
    ("signals", signals),
    ("raise", raise),
    ("late", late),
    ("sensors", sensors),
    ("children", children),
    ("status", || std::process::exit(3)),
];

/// A thread with a name, and another one that waits for it.
fn on_thread(function: fn()) {
    thread::Builder::new().name("culprit".into()).spawn(function).unwrap().join().unwrap();
}

fn spin() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    on_thread(|| {
        while !FLAG.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
    });
}

fn pipe() {
    on_thread(|| {
        let (mut reader, _writer) = std::io::pipe().unwrap();
        log(reader.read(&mut [0]).unwrap());
    });
}

fn socket() {
    on_thread(|| match UdpSocket::bind("127.0.0.1:0") {
        Ok(socket) => log(socket.recv(&mut [0]).unwrap()),
        Err(error) => log(error),
    });
}

fn child() {
    on_thread(|| {
        let mut sleep = Command::new("sleep");
        // It outlives this process, whose reader waits until no one can write.
        sleep.arg("5").stdout(Stdio::null()).stderr(Stdio::null());
        log(sleep.status().unwrap());
    });
}

/// Waits for a futex as rustix does, which does not call libc.
fn raw_futex() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    on_thread(|| {
        let (word, operation) = (WORD.as_ptr(), libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the word lives as long as the process, and there is no timeout.
        unsafe {
            std::arch::asm!(
                "syscall", inout("rax") libc::SYS_futex => _, in("rdi") word, in("rsi") operation,
                in("rdx") 0, in("r10") 0, out("rcx") _, out("r11") _,
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the word lives as long as the process, and there is no timeout.
        unsafe {
            std::arch::asm!(
                "svc 0", in("x8") libc::SYS_futex, inout("x0") word => _, in("x1") operation,
                in("x2") 0, in("x3") 0,
            );
        }
    });
}

fn deadlock() {
    let (left, right) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    let lock_both = |name: &str, first: Arc<Mutex<()>>, second: Arc<Mutex<()>>| {
        let lock_both = move || {
            let _first = first.lock();
            thread::sleep(MILLI);
            let _second = second.lock();
        };
        thread::Builder::new().name(name.into()).spawn(lock_both).unwrap()
    };
    let one = lock_both("one", left.clone(), right.clone());
    lock_both("two", right, left).join().unwrap();
    one.join().unwrap();
}

fn c_deadlock() {
    static LOCK: Mutex<()> = Mutex::new(()); // held by this thread
    let _held = LOCK.lock();
    let mutex = crate::c::Shared::new(libc::PTHREAD_MUTEX_INITIALIZER);
    // SAFETY: a mutex that lives until the thread has ended, which it never does.
    unsafe { libc::pthread_mutex_lock(mutex.get()) };
    thread::scope(|scope| {
        let waits = || {
            // SAFETY: as before.
            unsafe { libc::pthread_mutex_lock(mutex.get()) };
        };
        thread::Builder::new().name("culprit".into()).spawn_scoped(scope, waits).unwrap();
        thread::Builder::new()
            .name("other".into())
            .spawn_scoped(scope, || drop(LOCK.lock()))
            .unwrap();
    });
}

fn channel() {
    on_thread(|| {
        let (_sender, receiver) = mpsc::channel::<()>();
        let _ = receiver.recv();
    });
}

/// Two threads that hand over to each other, at one instant, as often as the second argument says;
/// the resident memory after a tenth of that, and after all.
fn relay() {
    let switches: u64 = std::env::args().nth(2).unwrap().parse().unwrap();
    let ((there, received), (back, answers)) = (mpsc::channel(), mpsc::channel());
    thread::spawn(move || received.iter().try_for_each(|()| back.send(())));
    for until in [switches / 10, switches] {
        while progress().unwrap().switches < until {
            there.send(()).unwrap();
            answers.recv().unwrap();
        }
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        log(status.lines().find(|line| line.starts_with("VmRSS")).unwrap());
    }
}

/// More than a pipe holds.
fn output() {
    (0..2000).for_each(|n| println!("{n:0100}"));
}

fn forever() {
    // Has no effect in a run.
    extern "C" fn ignore(_: c_int) {}
    let ignore = ignore as *const () as libc::sighandler_t;
    // SAFETY: a handler that does nothing.
    let before = unsafe { libc::signal(libc::SIGINT, ignore) };
    log(format!("ready {}", before == libc::SIG_DFL));
    loop {
        thread::sleep(MILLI);
    }
}

/// Handlers of signals that do not end a run.
fn signals() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    extern "C" fn count(_: c_int) {
        COUNT.fetch_add(1, Ordering::SeqCst);
    }
    let count = count as *const () as libc::sighandler_t;
    // SAFETY: a handler that counts; a setting that is plain data.
    unsafe {
        libc::signal(libc::SIGUSR1, count);
        let mut setting: libc::sigaction = std::mem::zeroed();
        setting.sa_sigaction = count;
        setting.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGCHLD, &raw const setting, std::ptr::null_mut());
        libc::raise(libc::SIGUSR1);
    }
    log(Command::new("true").status().unwrap());
    log(COUNT.load(Ordering::SeqCst));
}

/// The signal of this number, which a handler would take.
fn raise() {
    extern "C" fn handle(_: c_int) {}
    let handle = handle as *const () as libc::sighandler_t;
    let signal = std::env::args().nth(2).unwrap().parse().unwrap();
    // SAFETY: a handler that does nothing; a setting that is plain data.
    unsafe {
        libc::signal(signal, handle);
        let mut setting: libc::sigaction = std::mem::zeroed();
        setting.sa_sigaction = handle;
        libc::sigaction(signal, &raw const setting, std::ptr::null_mut());
        libc::raise(signal);
    }
}

/// Addresses of threads after so many milliseconds of real time.
fn late() {
    let millis: libc::c_long = std::env::args().nth(2).unwrap().parse().unwrap();
    let time = libc::timespec { tv_sec: 0, tv_nsec: millis * 1_000_000 };
    // SAFETY: the time lives until the call returns.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const time, 0) };
    for _ in 0..3 {
        on_thread(|| {
            let boxed = Box::new(0);
            log(format!("{:p} {:p}", boxed, &raw const boxed));
        });
    }
}

/// Two threads with names, each as often as the second argument says: the IMU every two
/// milliseconds, the lidar every so many as the third says.
fn sensors() {
    let number = |n| std::env::args().nth(n).unwrap().parse().unwrap();
    let (rounds, period): (u32, u32) = (number(2), number(3));
    // SAFETY: this thread, and a name that ends with a zero.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), c"robot".as_ptr()) };
    let lidar = move || (0..rounds).for_each(|_| thread::sleep(period * MILLI));
    let lidar = thread::Builder::new().name("lidar".into()).spawn(lidar).unwrap();
    let imu = thread::spawn(move || {
        // SAFETY: a name that ends with a zero.
        unsafe { libc::prctl(libc::PR_SET_NAME, c"imu".as_ptr()) };
        (0..rounds).for_each(|_| thread::sleep(2 * MILLI));
    });
    lidar.join().unwrap();
    imu.join().unwrap();
}

/// Child processes, by each of libc's functions.
fn children() {
    let mut spawned = 0;
    let path = c"/bin/true";
    let (none, arguments) = (std::ptr::null(), [path.as_ptr().cast_mut(), std::ptr::null_mut()]);
    // SAFETY: a path and arguments that live until the calls return; the child of `fork` ends.
    unsafe {
        if libc::fork() == 0 {
            libc::_exit(0);
        }
        let (place, path, list) = (&raw mut spawned, path.as_ptr(), arguments.as_ptr());
        log(libc::posix_spawn(place, path, std::ptr::null(), none, list, list.add(1)));
        log(libc::posix_spawnp(place, path, std::ptr::null(), none, list, list.add(1)));
        (0..3).for_each(|_| log(libc::wait(std::ptr::null_mut()) > 0));
    }
}
