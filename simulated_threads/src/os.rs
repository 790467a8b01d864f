//! Calls of the operating system, in real time.

use crate::original::original;
use libc::{c_int, c_long, pid_t, pollfd};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Calls the kernel, past the definition of `syscall` in this crate; a failure is the negative of
/// its error.
///
/// # Safety
/// The caller keeps the rules of the system call.
unsafe fn syscall(number: c_long, arguments: [c_long; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    let syscall = original!(
        syscall: fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long
    );
    // A program keeps what it has in `errno`: whether a call here fails depends on real time.
    // SAFETY: the address of this thread's own `errno`.
    let errno = unsafe { &mut *libc::__errno_location() };
    let kept = *errno;
    // SAFETY: the caller's promise.
    let result = unsafe { syscall(number, a, b, c, d, e, f) };
    let error = std::mem::replace(errno, kept);
    if result == -1 { -c_long::from(error) } else { result }
}

/// Waits for a wake-up of `word` while it has this value; may return earlier.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32) {
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    let arguments = [word.as_ptr() as c_long, operation.into(), value.into(), 0, 0, 0];
    // SAFETY: the word outlives the call, and there is no timeout.
    unsafe { syscall(libc::SYS_futex, arguments) };
}

/// Wakes the thread that waits for `word`.
pub(crate) fn futex_wake(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    let arguments = [word.as_ptr() as c_long, operation.into(), 1, 0, 0, 0];
    // SAFETY: the word outlives the call.
    unsafe { syscall(libc::SYS_futex, arguments) };
}

/// The value of the futex at an address for which a thread waits.
pub(crate) fn futex_value(address: usize) -> u32 {
    let word = std::ptr::with_exposed_provenance::<AtomicU32>(address);
    // SAFETY: the thread that waits keeps the word alive.
    unsafe { &*word }.load(std::sync::atomic::Ordering::SeqCst)
}

/// The number of the calling thread in the operating system.
pub(crate) fn this_thread() -> pid_t {
    // SAFETY: takes no argument.
    unsafe { syscall(libc::SYS_gettid, [0; 6]) as pid_t }
}

/// Sleeps in real time.
pub(crate) fn sleep(duration: Duration) {
    let time = libc::timespec {
        tv_sec: duration.as_secs() as libc::time_t,
        tv_nsec: duration.subsec_nanos().into(),
    };
    let arguments = [&raw const time as c_long, 0, 0, 0, 0, 0];
    // SAFETY: the time outlives the call.
    unsafe { syscall(libc::SYS_nanosleep, arguments) };
}

/// The monotonic clock of the real time.
pub(crate) fn monotonic() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let arguments = [libc::CLOCK_MONOTONIC.into(), &raw mut time as c_long, 0, 0, 0, 0];
    // SAFETY: the time outlives the call.
    unsafe { syscall(libc::SYS_clock_gettime, arguments) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Asks which descriptors are ready, without waiting; their number, or -1.
pub(crate) fn poll(descriptors: &mut [pollfd]) -> c_int {
    let poll = original!(poll: fn(*mut pollfd, libc::nfds_t, c_int) -> c_int);
    // SAFETY: as many descriptors as the slice has.
    unsafe { poll(descriptors.as_mut_ptr(), descriptors.len() as libc::nfds_t, 0) }
}

/// A file that threads of a world access while they hold its state, which libc's functions would
/// ask for.
pub(crate) struct Descriptor(c_int);

impl Descriptor {
    /// Takes over a file, under a number that the program's own files do not get.
    pub(crate) fn new(file: File) -> io::Result<Self> {
        const OWN_FROM: c_int = 900;
        // SAFETY: the file is open.
        match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, OWN_FROM) } {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(Self(descriptor)),
        }
    }

    /// # Safety
    /// The call is `read` or `write`, and the `count` bytes are its.
    unsafe fn access(&self, call: c_long, bytes: *const u8, count: usize) -> io::Result<usize> {
        let arguments = [self.0.into(), bytes as c_long, count as c_long, 0, 0, 0];
        // SAFETY: the caller's promise.
        let result = unsafe { syscall(call, arguments) };
        usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result as c_int))
    }
}

impl Read for Descriptor {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        // SAFETY: as many bytes as the slice has, to be written.
        unsafe { self.access(libc::SYS_read, bytes.as_mut_ptr(), bytes.len()) }
    }
}

impl Write for Descriptor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: as many bytes as the slice has.
        unsafe { self.access(libc::SYS_write, bytes.as_ptr(), bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Adds `count` to an eventfd.
pub(crate) fn signal_eventfd(descriptor: c_int, count: u64) {
    // SAFETY: eight bytes of a value that outlives the call.
    unsafe { libc::write(descriptor, (&raw const count).cast(), size_of::<u64>()) };
}

/// The calling thread, and those that it creates, run on the core on which it runs now.
pub(crate) fn stay_on_this_core() {
    let getcpu = original!(sched_getcpu: fn() -> c_int);
    // SAFETY: the set is plain data, and as long as is said.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(getcpu().max(0) as usize, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// The number of the process in the operating system.
fn this_process() -> pid_t {
    // SAFETY: takes no argument.
    unsafe { syscall(libc::SYS_getpid, [0; 6]) as pid_t }
}

/// Waits until a thread is gone that does nothing but end. The first thread of a process is kept.
pub(crate) fn wait_for_end(thread: pid_t) {
    let process = this_process();
    let exists = || {
        let arguments = [process.into(), thread.into(), 0, 0, 0, 0];
        // SAFETY: takes numbers; there is no signal of number zero.
        unsafe { syscall(libc::SYS_tgkill, arguments) == 0 }
    };
    while thread != process && exists() {
        // SAFETY: takes no argument.
        unsafe { syscall(libc::SYS_sched_yield, [0; 6]) };
    }
}

/// The name of a thread of this process: Rust's for the first one, else the operating system's.
pub(crate) fn thread_name(thread: pid_t) -> String {
    if thread == this_process() {
        return "main".into();
    }
    let name = std::fs::read_to_string(format!("/proc/self/task/{thread}/comm"));
    name.map_or_else(|_| "not started".into(), |name| name.trim_end().into())
}

/// The number of the system call in which a thread of this process waits, and its first argument;
/// `None` if it runs, or has ended. Allocates nothing: that would move what the program allocates.
pub(crate) fn system_call(thread: pid_t) -> Option<(i64, u64)> {
    let (mut path, mut text) = ([0; 48], [0; 48]);
    write!(&mut path[..], "/proc/self/task/{thread}/syscall").ok()?;
    let path = str::from_utf8(&path).ok()?.trim_end_matches('\0');
    let length = File::open(path).ok()?.read(&mut text).ok()?;
    let mut words = str::from_utf8(&text[..length]).ok()?.split_whitespace();
    let number = words.next()?.parse().ok().filter(|number| *number >= 0)?;
    let argument = words.next()?.strip_prefix("0x")?;
    Some((number, u64::from_str_radix(argument, 16).ok()?))
}

/// The function of this name, which ends with a zero, that the libraries of the process call.
pub(crate) fn definition_of(name: &str) -> *const () {
    // SAFETY: the name ends with a zero.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast()).cast() }
}

/// Sends a signal to a thread of this process.
pub(crate) fn signal(thread: pid_t, signal: c_int) {
    // SAFETY: takes numbers.
    unsafe { syscall(libc::SYS_tkill, [thread.into(), signal.into(), 0, 0, 0, 0]) };
}
