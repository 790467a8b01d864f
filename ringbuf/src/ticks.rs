//! The processor's counter of time: a third of the cost of reading the clock.

/// The value of the counter of this processor, in its unit; zero, always, on processors without one
/// that this crate knows.
///
/// It advances at a constant rate on the processors of the last decade, but nothing here promises
/// that, nor that the counters of two cores agree, nor that the counter advances while the machine
/// sleeps. Take it for a hint when to read the clock, not for a time.
///
/// | processor | counter |
/// |---|---|
/// | `x86_64` | time-stamp counter (`rdtsc`) |
/// | `aarch64` | virtual counter (`cntvct_el0`) |
#[must_use]
#[inline]
pub fn ticks() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: `rdtsc` is part of every x86-64 processor, reads a register and changes nothing.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        let ticks: u64;
        // SAFETY: reads a register that programs may read wherever the operating system reads its
        // clock without a system call, and on bare metal; it changes nothing.
        unsafe {
            core::arch::asm!("mrs {0}, cntvct_el0", out(reg) ticks,
                options(nomem, nostack, preserves_flags));
        }
        ticks
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    0
}

#[cfg(all(test, feature = "std", not(ringbuf_loom)))]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn counter_advances_with_the_clock_or_stands_at_zero() {
        let (before, start) = (ticks(), Instant::now());
        while start.elapsed() < Duration::from_millis(1) {}
        assert!(ticks() > before || before == 0);
    }
}
