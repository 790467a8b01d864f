//! A library with its own copy of the crate, for a program that has one as well.

use ringspin_simulated_threads::run;
use std::time::{Duration, Instant};

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
