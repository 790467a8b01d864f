//! Calls of the operating system, in real time.
//!
//! The simulation calls these where a call of the program would be simulated. They go to the
//! original function or to the kernel, past the definitions of this crate, because a call of libc
//! by its name would enter the world again, while its state is locked. The `errno` of the program
//! is kept: whether a call here fails depends on real time, and a program that looks would see a
//! difference between runs. The watchdog's look at a thread allocates nothing, for the same reason.

use crate::original::original;
use crate::signal_timers::Signal;
use libc::{c_int, c_long, pid_t, pollfd};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Calls the kernel, past the definition of `syscall` in this crate; a failure is the negative of
/// its error.
///
/// # Safety
/// The caller keeps the rules of the system call.
pub(crate) unsafe fn syscall(number: c_long, arguments: [c_long; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    let syscall = original!(
        syscall: fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long
    );
    // The `errno` of the program is kept, because it depends on real time whether a call here
    // fails. SAFETY: the address of this thread's own `errno`.
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
    clock(libc::CLOCK_MONOTONIC)
}

/// The real time for which the calling thread has computed.
pub(crate) fn time_of_thread() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn clock(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let arguments = [clock.into(), &raw mut time as c_long, 0, 0, 0, 0];
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

/// How many bytes a pipe has for its reader; zero of another kind, `None` if it is closed.
pub(crate) fn unread(descriptor: c_int) -> Option<u64> {
    let mut count: c_int = 0;
    let arguments =
        [descriptor.into(), libc::FIONREAD as c_long, &raw mut count as c_long, 0, 0, 0];
    // SAFETY: a place for the number.
    let result = unsafe { syscall(libc::SYS_ioctl, arguments) };
    (result != -c_long::from(libc::EBADF)).then_some(count as u64)
}

/// A duplicate of a descriptor, among numbers that programs seldom use.
pub(crate) fn duplicate(descriptor: c_int) -> c_int {
    let arguments = [descriptor.into(), libc::F_DUPFD_CLOEXEC.into(), 900, 0, 0, 0];
    // SAFETY: takes numbers.
    unsafe { syscall(libc::SYS_fcntl, arguments) as c_int }
}

/// Closes a descriptor.
pub(crate) fn close(descriptor: c_int) {
    // SAFETY: its owner gives it back.
    unsafe { syscall(libc::SYS_close, [descriptor.into(), 0, 0, 0, 0, 0]) };
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

    /// An open file that others have, too, under this number.
    pub(crate) fn shared(number: c_int) -> Self {
        Self(number)
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

/// Writes to a descriptor, past the definition of `write` in this crate.
pub(crate) fn write(descriptor: c_int, bytes: &[u8]) {
    // SAFETY: as many bytes as the slice has.
    let _ = unsafe { Descriptor(descriptor).access(libc::SYS_write, bytes.as_ptr(), bytes.len()) };
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

/// The address at which the program begins.
pub(crate) fn entry_point() -> u64 {
    // SAFETY: takes a number.
    unsafe { libc::getauxval(libc::AT_ENTRY) }
}

/// Whether a child process has not ended; it remains to be waited for.
pub(crate) fn is_running(child: pid_t) -> bool {
    // SAFETY: plain data.
    let mut end: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let arguments =
        [libc::P_PID.into(), child.into(), &raw mut end as c_long, options.into(), 0, 0];
    // SAFETY: a place for the end of the child, which the call fills unless the child runs.
    unsafe { syscall(libc::SYS_waitid, arguments) == 0 && end.si_pid() == 0 }
}

/// Reads the begin of a small file. Allocates nothing, and asks no world.
fn read_begin<'a>(path: fmt::Arguments<'_>, text: &'a mut [u8]) -> Option<&'a str> {
    let mut name = [0; 64];
    (&mut name[..63]).write_fmt(path).ok()?; // a zero is left at the end
    let arguments = [libc::AT_FDCWD.into(), name.as_ptr() as c_long, 0, 0, 0, 0];
    // SAFETY: the name outlives the call, and ends with a zero.
    let file = unsafe { syscall(libc::SYS_openat, arguments) };
    let file = c_int::try_from(file).ok().filter(|file| *file >= 0)?;
    let length = Descriptor(file).read(text);
    // SAFETY: it is open, and nothing else uses it.
    unsafe { syscall(libc::SYS_close, [file.into(), 0, 0, 0, 0, 0]) };
    str::from_utf8(&text[..length.ok()?]).ok()
}

/// Whether the thread or process with this file `stat` computes, or waits for a disk.
fn computes(stat: &str) -> bool {
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with(['R', 'D']));
    state.unwrap_or(false)
}

/// Whether a process, or one that it has started, computes or waits for a disk: as its first
/// threads do. Allocates nothing: that would move the program's allocations.
pub(crate) fn works(process: pid_t) -> bool {
    let (mut stat, mut children) = ([0; 512], [0; 512]);
    if read_begin(format_args!("/proc/{process}/stat"), &mut stat).is_some_and(computes) {
        return true;
    }
    let file = format_args!("/proc/{process}/task/{process}/children");
    let children = read_begin(file, &mut children).into_iter().flat_map(str::split_whitespace);
    children.filter_map(|child| child.parse().ok()).any(works)
}

/// Whether a thread of this process waits for a disk.
pub(crate) fn waits_for_disk(thread: pid_t) -> bool {
    let mut text = [0; 512];
    let stat = read_begin(format_args!("/proc/self/task/{thread}/stat"), &mut text);
    stat.is_some_and(computes)
}

/// The number of the process in the operating system.
pub(crate) fn this_process() -> pid_t {
    // SAFETY: takes no argument.
    unsafe { syscall(libc::SYS_getpid, [0; 6]) as pid_t }
}

/// Waits until a thread that is ending has ended. The first thread of a process is kept.
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
/// `None` if it runs, or has ended. Allocates nothing: that would move the program's allocations.
pub(crate) fn system_call(thread: pid_t) -> Option<(i64, u64)> {
    let mut text = [0; 48];
    let text = read_begin(format_args!("/proc/self/task/{thread}/syscall"), &mut text)?;
    let mut words = text.split_whitespace();
    let number = words.next()?.parse().ok().filter(|number| *number >= 0)?;
    let argument = words.next()?.strip_prefix("0x")?;
    Some((number, u64::from_str_radix(argument, 16).ok()?))
}

/// The address of the program or library that has this function.
pub(crate) fn object_of(function: *const ()) -> usize {
    // SAFETY: plain data, and a place for it.
    unsafe {
        let mut object: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(function.cast(), &raw mut object);
        object.dli_fbase.addr()
    }
}

/// Whether processes may share a semaphore for which a thread waits.
pub(crate) fn is_shared(semaphore: usize) -> bool {
    // `struct new_sem` of glibc on 64 bits: value and waiters, then the flag of its futex.
    let flag = ptr::with_exposed_provenance::<c_int>(semaphore + 8);
    // SAFETY: the thread waits in a function that got this semaphore, which therefore lives; the
    // flag is set by its creation alone.
    unsafe { *flag != 0 }
}

/// The value of a semaphore for which a thread waits.
pub(crate) fn value_of_semaphore(semaphore: usize) -> i32 {
    let mut value = 0;
    // SAFETY: the thread waits in a function that got this semaphore, which therefore lives.
    unsafe { libc::sem_getvalue(ptr::with_exposed_provenance_mut(semaphore), &raw mut value) };
    value
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

/// Sends the calling thread a signal with another cause than that.
fn signal_self(number: c_int, code: c_int) {
    let (process, thread) = (this_process(), this_thread());
    // SAFETY: plain data, which lives until the call returns.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        (info.si_signo, info.si_code) = (number, code);
        let arguments =
            [process.into(), thread.into(), number.into(), &raw const info as c_long, 0, 0];
        syscall(libc::SYS_rt_tgsigqueueinfo, arguments);
    }
}

/// Allows the calling thread, or forbids it, to read the processor's counter of cycles; false if
/// the kernel cannot do that.
pub(crate) fn allow_counter(is_allowed: bool) -> bool {
    let setting = if is_allowed { libc::PR_TSC_ENABLE } else { libc::PR_TSC_SIGSEGV };
    // SAFETY: takes numbers.
    unsafe { syscall(libc::SYS_prctl, [libc::PR_SET_TSC.into(), setting.into(), 0, 0, 0, 0]) == 0 }
}

/// Ends the calling thread if another one has asked for that by `pthread_cancel`.
pub(crate) fn test_cancel() {
    let test = original!(pthread_testcancel: fn());
    // SAFETY: takes no argument. Frames between here and the begin of the thread may unwind.
    unsafe { test() };
}

/// The action of a signal, and whether it has a handler.
pub(crate) fn action_of(signal: c_int) -> (libc::sigaction, bool) {
    let get =
        original!(sigaction: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int);
    // SAFETY: plain data, and a place for it.
    let action = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        get(signal, std::ptr::null(), &raw mut action);
        action
    };
    (action, !matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN))
}

/// The calling thread gets no signal from now on.
pub(crate) fn block_signals() {
    let set = original!(
        pthread_sigmask: fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int
    );
    // SAFETY: a set that the first call fills.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        set(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}

/// The signals that the calling thread blocks.
pub(crate) fn mask() -> libc::sigset_t {
    let get = original!(
        pthread_sigmask: fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int
    );
    // SAFETY: plain data, and a place for it.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        get(libc::SIG_BLOCK, std::ptr::null(), &raw mut mask);
        mask
    }
}

/// Whether the calling thread blocks a signal.
pub(crate) fn blocks(signal: c_int) -> bool {
    // SAFETY: a set.
    unsafe { libc::sigismember(&mask(), signal) == 1 }
}

/// Sends the calling thread signals, which run their handlers here. `None` if none has run;
/// otherwise whether a call of the kernel would be restarted.
pub(crate) fn deliver(signals: &[Signal]) -> Option<bool> {
    let mut restarts = None;
    for &Signal { number, code } in signals {
        let (action, has_handler) = action_of(number);
        let runs = has_handler && !blocks(number);
        match code {
            libc::SI_TKILL => signal(this_thread(), number),
            code => signal_self(number, code),
        }
        if runs {
            let restarted = action.sa_flags & libc::SA_RESTART != 0;
            restarts = Some(restarts.unwrap_or(true) && restarted);
        }
    }
    restarts
}

/// Has the kernel send the calling thread SIGSYS for each system call from outside of these
/// addresses; false if it cannot do that.
pub(crate) fn catch_calls(except: &Range<u64>) -> bool {
    const PR_SET_SYSCALL_USER_DISPATCH: c_long = 59;
    static BLOCK: u8 = 1;
    let (begin, length) = (except.start as c_long, (except.end - except.start) as c_long);
    let arguments = [PR_SET_SYSCALL_USER_DISPATCH, 1, begin, length, &raw const BLOCK as c_long, 0];
    // SAFETY: the byte lives as long as the process.
    unsafe { syscall(libc::SYS_prctl, arguments) == 0 }
}

/// Hides the functions of the kernel that read clocks without a system call from libraries that
/// look for them: those call the kernel instead. libc has found them before.
pub(crate) fn hide_kernel_functions() {
    const PAGE: usize = 4096;
    // SAFETY: takes a number.
    let header = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
    let header = std::ptr::with_exposed_provenance_mut::<u32>(header);
    let code = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: the kernel refuses a part of its mapping, and a place without one.
    let protect = |pages, access| unsafe { libc::mprotect(header.cast(), pages * PAGE, access) };
    let pages = (1..=4).find(|pages| protect(*pages, code | libc::PROT_WRITE) == 0);
    if let Some(pages) = pages.filter(|_| !header.is_null()) {
        // SAFETY: the first word of the mapping, which marks it as an ELF file.
        unsafe { header.write_volatile(0) };
        protect(pages, code);
    }
}

/// The address at which the loader is mapped.
pub(crate) fn loader() -> u64 {
    // SAFETY: takes a number.
    unsafe { libc::getauxval(libc::AT_BASE) }
}
