//! Random waits in callbacks: what a deterministic result must not depend on.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, Instant};

/// A shorter wait is busy: the kernel's timer slack makes every sleep about this long anyway.
const SLEEP_MIN: Duration = Duration::from_micros(50);

/// Waits for a random part of `max` of real time; with zero, it returns at once.
///
/// Seeded from the operating system, on purpose: no two runs wait alike.
pub fn sleep_up_to(max: Duration) {
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
