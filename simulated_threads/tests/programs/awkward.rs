//! Programs that cannot continue under simulated time, or do what no other run repeats.

use crate::{MILLI, Program, log};
use libc::c_int;
use ringspin_simulated_threads::progress;
use std::ffi::CString;
use std::fs;
use std::io::Read;
use std::net::UdpSocket;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

pub(crate) const PROGRAMS: &[Program] = &[
    ("spin", spin),
    ("pipe", pipe),
    ("input", input),
    ("socket", socket),
    ("sockets", || (0..3).for_each(|_| log(UnixDatagram::unbound().is_err()))),
    ("files", files),
    ("bound", || drop(UdpSocket::bind("127.0.0.1:0").unwrap())),
    ("child", child),
    ("raw-futex", raw_futex),
    ("inline", inline),
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
    ("captured", captured),
    ("tokio-captured", tokio_captured),
    ("child-timeout", child_timeout),
    ("forked", forked),
    ("exec", exec),
    ("fault", fault),
    ("overflow", overflow),
    ("readings", readings),
    ("queue", queue),
    ("plugin", plugin),
    ("status", || std::process::exit(3)),
];

/// Reads a file by each kind of call, and one twice; writes another one; reads where no content is.
fn files() {
    let folder = PathBuf::from(std::env::var_os("RINGSPIN_TEST_FOLDER").unwrap());
    let path = |name: &str| folder.join(name);
    let name = |name: &str| CString::new(path(name).into_os_string().into_vec()).unwrap();
    (0..2).for_each(|_| drop(fs::read(path("opened")).unwrap()));
    fs::write(path("written"), "output").unwrap();
    fs::read("/proc/self/stat").unwrap();
    let (open, stream) = (name("open"), name("stream"));
    // SAFETY: the paths and the mode end with a zero.
    unsafe {
        libc::close(libc::open(open.as_ptr(), libc::O_RDONLY));
        libc::close(libc::openat(libc::AT_FDCWD, name("openat").as_ptr(), libc::O_RDONLY));
        libc::fclose(libc::fopen(stream.as_ptr(), c"r".as_ptr()));
    }
}

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

fn input() {
    on_thread(|| log(std::io::stdin().read(&mut [0]).unwrap()));
}

fn socket() {
    on_thread(|| match UnixDatagram::unbound() {
        Ok(socket) => log(socket.recv(&mut [0]).unwrap()),
        Err(error) => log(error),
    });
}

fn child() {
    on_thread(|| {
        let mut sleep = Command::new("sleep");
        // It outlives this process; the reader waits until no process can write.
        sleep.arg("5").stdout(Stdio::null()).stderr(Stdio::null());
        log(sleep.status().unwrap());
    });
}

/// A system call by an instruction, as rustix makes it.
fn inline_call(number: libc::c_long, arguments: [usize; 4]) -> isize {
    let [a, b, c, d] = arguments;
    let result;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: callers pass numbers, and places that live until the call returns.
    unsafe {
        std::arch::asm!(
            "syscall", inout("rax") number as isize => result, in("rdi") a, in("rsi") b,
            in("rdx") c, in("r10") d, out("rcx") _, out("r11") _,
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: callers pass numbers, and places that live until the call returns.
    unsafe {
        std::arch::asm!(
            "svc 0", in("x8") number, inout("x0") a as isize => result, in("x1") b, in("x2") c,
            in("x3") d,
        );
    }
    result
}

/// Waits for a futex, or wakes the threads that do.
fn inline_futex(word: &AtomicU32, operation: c_int) -> isize {
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    let value = if operation & libc::FUTEX_CMD_MASK == libc::FUTEX_WAKE { 1 } else { 0 };
    inline_call(libc::SYS_futex, [word.as_ptr() as usize, operation as usize, value, 0])
}

fn raw_futex() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    on_thread(|| {
        inline_futex(&WORD, libc::FUTEX_WAIT);
    });
}

/// System calls by instructions: a sleep, random numbers, the number of the process, an error, a
/// pipe, a wait and a wake-up.
fn inline() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    let time = libc::timespec { tv_sec: 3600, tv_nsec: 5_000_000 };
    log(inline_call(libc::SYS_nanosleep, [&raw const time as usize, 0, 0, 0]));
    let mut bytes = [0u8; 8];
    log(inline_call(libc::SYS_getrandom, [bytes.as_mut_ptr() as usize, 8, 0, 0]));
    log(format!("{bytes:?} {}", inline_call(libc::SYS_getpid, [0; 4])));
    log(inline_call(libc::SYS_close, [999, 0, 0, 0]));
    let mut ends = [0i32; 2];
    log(inline_call(libc::SYS_pipe2, [ends.as_mut_ptr() as usize, 0, 0, 0]));
    let reader = thread::spawn(move || {
        let mut byte = 0u8;
        let read = [ends[0] as usize, &raw mut byte as usize, 1, 0];
        log(format!("{} {byte}", inline_call(libc::SYS_read, read)));
        log(inline_futex(&WORD, libc::FUTEX_WAIT));
    });
    thread::sleep(MILLI);
    log(inline_call(libc::SYS_write, [ends[1] as usize, c"x".as_ptr() as usize, 1, 0]));
    thread::sleep(MILLI);
    log(inline_futex(&WORD, libc::FUTEX_WAKE));
    reader.join().unwrap();
    // SAFETY: a name that ends with a zero; the library stays loaded.
    log(unsafe { libc::dlopen(c"libresolv.so.2".as_ptr(), libc::RTLD_NOW) }.is_null());
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
    // Is never called in a run, but read back.
    extern "C" fn ignore(_: c_int) {}
    let ignore = ignore as *const () as libc::sighandler_t;
    // SAFETY: a handler that does nothing.
    let (before, after) =
        unsafe { (libc::signal(libc::SIGINT, ignore), libc::signal(libc::SIGINT, ignore)) };
    log(format!("ready {} {}", before == libc::SIG_DFL, after == ignore));
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

/// The outputs of child processes, while another thread sleeps in small steps.
fn captured() {
    let over = Arc::new(AtomicBool::new(false));
    let seen = over.clone();
    let other = thread::spawn(move || {
        while !seen.load(Ordering::SeqCst) {
            thread::sleep(MILLI);
        }
    });
    let script = "sleep 0.1; echo out; echo err >&2";
    let output = Command::new("sh").args(["-c", script]).output().unwrap();
    log(format!("{:?} {:?}", output.stdout.trim_ascii(), output.stderr.trim_ascii()));
    let mut cat = Command::new("cat");
    let mut cat = cat.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut cat.stdin.take().unwrap(), b"in").unwrap();
    log(format!("{:?}", cat.wait_with_output().unwrap().stdout));
    over.store(true, Ordering::SeqCst);
    other.join().unwrap();
}

/// The output of a child process, as tokio waits for it.
#[tokio::main(flavor = "multi_thread")]
async fn tokio_captured() {
    let mut child = tokio::process::Command::new("sh");
    let output = child.args(["-c", "sleep 0.1; echo out; exit 3"]).output();
    let output = tokio::time::timeout(MILLI, output).await.unwrap().unwrap();
    log(format!("{:?} {}", output.stdout.trim_ascii(), output.status));
}

/// A child process that runs for too long, and is ended after a timeout.
#[tokio::main(flavor = "current_thread")]
async fn child_timeout() {
    let mut child = tokio::process::Command::new("sleep").arg("100").spawn().unwrap();
    log(tokio::time::timeout(5 * MILLI, child.wait()).await.is_err());
    child.kill().await.unwrap();
}

/// A child process without `exec`, while another thread lives and is about to run.
fn forked() {
    static LOCK: Mutex<()> = Mutex::new(());
    let parent = std::process::id();
    let other = thread::spawn(|| (0..10).for_each(|_| thread::sleep(MILLI)));
    // SAFETY: the child calls what a process with other threads may call after `fork`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        thread::sleep(MILLI);
        drop(LOCK.lock());
        let own = std::process::id();
        std::process::exit(if own == parent { 1 } else { 7 });
    }
    let mut status = 0;
    // SAFETY: a place for the status.
    log(unsafe { libc::waitpid(child, &raw mut status, 0) } == child);
    log(libc::WEXITSTATUS(status));
    other.join().unwrap();
}

/// Child processes that may read the processor's counter, and a program in the place of this one.
fn exec() {
    let mut forked = Command::new("true");
    // SAFETY: nothing is called; libc forks for it.
    unsafe { forked.pre_exec(|| Ok(())) };
    log(forked.status().unwrap());
    log(Command::new("true").status().unwrap());
    // SAFETY: strings that end with zero; the stream is closed once.
    unsafe {
        log(libc::system(c"true".as_ptr()));
        log(libc::pclose(libc::popen(c"true".as_ptr(), c"r".as_ptr())));
    }
    panic!("{}", Command::new("true").exec());
}

/// A handler of the program for a write to memory that is not writable; it makes it so.
fn fault() {
    static PAGE: AtomicUsize = AtomicUsize::new(0);
    const SIZE: usize = 4096;
    extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        let page = std::ptr::with_exposed_provenance_mut(PAGE.load(Ordering::SeqCst));
        // SAFETY: the page of this program; the kernel passes the information.
        unsafe {
            assert_eq!((signal, (*info).si_addr()), (libc::SIGSEGV, page));
            libc::mprotect(page, SIZE, libc::PROT_READ | libc::PROT_WRITE);
        }
    }
    let handle = handle as *const () as libc::sighandler_t;
    let (flags, none) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, std::ptr::null_mut());
    // SAFETY: a page of this program, and places for actions, which are plain data.
    unsafe {
        let page = libc::mmap(none, SIZE, libc::PROT_NONE, flags, -1, 0);
        PAGE.store(page.expose_provenance(), Ordering::SeqCst);
        let [mut new, mut old]: [libc::sigaction; 2] = std::mem::zeroed();
        (new.sa_sigaction, new.sa_flags) = (handle, libc::SA_SIGINFO | libc::SA_RESETHAND);
        libc::sigaction(libc::SIGSEGV, &raw const new, std::ptr::null_mut());
        page.cast::<u8>().write_volatile(7);
        log(page.cast::<u8>().read_volatile());
        libc::sigaction(libc::SIGSEGV, std::ptr::null(), &raw mut old);
        log(old.sa_sigaction == libc::SIG_DFL);
        libc::mprotect(page, SIZE, libc::PROT_NONE);
        page.cast::<u8>().write_volatile(8);
    }
}

/// More calls than the stack has place for.
fn overflow() {
    fn call(n: u64) -> u64 {
        let place = std::hint::black_box([n; 100]);
        place[0] + if n == u64::MAX { 0 } else { call(n + 1) } + place[99]
    }
    log(call(0));
}

/// Whether readings of clocks in succession differ, and a wait that they overtake.
fn readings() {
    let (one, other) = (Instant::now(), Instant::now());
    log(one < other);
    let (one, other) = (SystemTime::now(), SystemTime::now());
    log(one < other);
    let [one, other] = crate::kernel::cycles();
    log(!crate::kernel::is_counter_caught() || one < other);
    let sleeper = thread::spawn(|| thread::sleep(Duration::from_nanos(20)));
    thread::yield_now();
    (0..30).for_each(|_| assert!(Instant::now().elapsed() < MILLI));
    sleeper.join().unwrap();
    log("joined");
}

/// Waits for a message in a queue of System V, the number of which it tells.
fn queue() {
    on_thread(|| {
        let mut place = [0u64; 2];
        // SAFETY: a place for a type and eight bytes.
        unsafe {
            let queue = libc::msgget(libc::IPC_PRIVATE, 0o600);
            println!("queue {queue}");
            log(libc::msgrcv(queue, place.as_mut_ptr().cast(), 8, 0, 0));
        }
    });
}

/// Calls a library that has its own copy of the crate.
fn plugin() {
    let path = std::env::current_exe().unwrap().with_file_name("libplugin.so");
    let path = std::ffi::CString::new(path.into_os_string().into_encoded_bytes()).unwrap();
    // SAFETY: strings that end with zero; the library has a function of this name and type.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
        let run = libc::dlsym(library, c"run_in_plugin".as_ptr());
        log(std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> i32>(run)());
    }
}
