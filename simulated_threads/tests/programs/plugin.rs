//! A library with its own copy of the crate, for a program that has one as well.

use ringspin_simulated_threads::run;
use std::time::{Duration, Instant};

#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// Is called by the loader, which has its lock meanwhile: a thread of the library starts a child.
extern "C" fn loaded() {
    if std::env::var_os("PLUGIN_FORKS").is_none() {
        return;
    }
    let mut thread = 0;
    // SAFETY: places for the results of the thread, which needs no data. One of the standard
    // library would need the loader.
    unsafe {
        libc::pthread_create(&raw mut thread, std::ptr::null(), forks, std::ptr::null_mut());
        libc::pthread_join(thread, std::ptr::null_mut());
    }
    println!("loaded");
}

extern "C" fn forks(data: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: the child ends at once, and the number is that of the child.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(0);
        }
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    data
}

/// Whether a function runs in a world of this copy; -1 if that panics.
#[unsafe(no_mangle)]
extern "C" fn run_in_plugin() -> i32 {
    let slept = std::panic::catch_unwind(|| {
        run(|| {
            let begin = Instant::now();
            std::thread::sleep(Duration::from_millis(1));
            begin.elapsed() == Duration::from_millis(1)
        })
    });
    slept.map_or(-1, |result| result.unwrap().into())
}
