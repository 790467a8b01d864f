//! Backtraces of threads that cannot continue.

use crate::report::Stuck;
use crate::{current, os, output};
use libc::{c_int, pid_t};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Ends the process with this report, and where the first threads wait.
pub(crate) fn die(stuck: &Stuck) -> ! {
    const BACKTRACES_MAX: usize = 8;
    stuck.started().take(BACKTRACES_MAX).for_each(print_of);
    output::die(&stuck.to_string())
}

/// Has a thread of this process write its backtrace to the standard error.
pub(crate) fn print_of(thread: pid_t) {
    static PRINTED: AtomicBool = AtomicBool::new(false);
    extern "C" fn print(_: c_int) {
        current::leave(); // it never continues
        let name = os::thread_name(os::this_thread());
        let backtrace = std::backtrace::Backtrace::force_capture();
        output::say(&format!("backtrace of {name:?}:\n{backtrace}"));
        PRINTED.store(true, Ordering::Relaxed);
    }
    PRINTED.store(false, Ordering::Relaxed);
    let signal = libc::SIGURG;
    // SAFETY: the handler is a function of the process, which ends soon after.
    unsafe { libc::signal(signal, print as *const () as libc::sighandler_t) };
    os::signal(thread, signal);
    // Where it holds the allocator's lock, it prints nothing.
    let looks = (0..500).take_while(|_| !PRINTED.load(Ordering::Relaxed));
    looks.for_each(|_| os::sleep(Duration::from_millis(10)));
}
