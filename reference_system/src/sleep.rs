//! Random waits, which show that a deterministic result does not depend on the duration of
//! callbacks.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, Instant};

/// Shorter waits spin: with the kernel's timer slack, every sleep takes about this long.
const SLEEP_MIN: Duration = Duration::from_micros(50);

/// Waits for a random part of `max` in real time; returns at once if `max` is zero.
///
/// Seeded from the operating system on purpose: no two runs wait alike.
pub(crate) fn sleep_up_to(max: Duration) {
    if max.is_zero() {
        return;
    }
    let random = RandomState::new().build_hasher().finish();
    let wait = max.mul_f64(random as f64 / u64::MAX as f64);
    if wait >= SLEEP_MIN {
        return std::thread::sleep(wait);
    }
    let start = Instant::now();
    while start.elapsed() < wait {
        std::hint::spin_loop();
    }
}
