//! The memory of workers that rested, fetched before the next deadline.
//!
//! A graph that works for some microseconds every 100 ms finds nothing of itself in the near
//! caches, and would wait for each line in turn, along chains of pointers. The thread knows when
//! the next timer is due, so it wakes a little earlier and fetches all lines that an event may
//! touch, at once. An address that is outdated costs an unneeded line.
//!
//! A thread that is woken by an event fetches nothing first, because that would delay the event.

use super::live::FOREVER;
use ringspin_executor::Clock;
use ringspin_ringbuf::CacheLines;
use std::time::Duration;

/// After so long a rest the near caches have other things.
const COLD: Duration = Duration::from_millis(1);

/// After so many cold rests a graph has the memory that it needs.
const RESTS: u32 = 4;

/// Limit of the lines that are fetched at once: half a near cache of the second level (256 KiB). A
/// larger graph does not find room there, nor needs all of it for one timer.
pub(super) const LINES_MAX: usize = 4096;

/// Limit of the time that a fetch is taken to last: 5 ns a line. It lasts longer where the thread
/// is preempted.
const FETCH_MAX: Duration = Duration::from_micros(20);

/// Fetches what events may touch, and learns how long that takes.
#[derive(Debug, Default)]
pub(super) struct WarmUp {
    lines: CacheLines,
    rests: u32,
    takes: Duration,
}

/// Whether a sleep of `left` leaves nothing in the near caches, and a deadline ends it: then it is
/// longer than [`FETCH_MAX`].
fn is_cold(left: Duration) -> bool {
    left > COLD && left < FOREVER
}

impl WarmUp {
    /// How long to sleep in place of `left`, so that there is time for a fetch before the deadline.
    pub(super) fn shorten(&self, left: Duration) -> Duration {
        if is_cold(left) { left - self.takes } else { left }
    }

    /// Before a sleep of `left`: takes the `lines`, once that is worth it.
    pub(super) fn before(&mut self, left: Duration, lines: impl FnOnce() -> CacheLines) {
        if is_cold(left) && self.rests < RESTS {
            self.rests += 1;
            if self.rests == RESTS {
                self.lines = lines();
            }
        }
    }

    /// After a sleep of `left` in which nothing happened: fetches the lines.
    pub(super) fn after(&mut self, left: Duration, clock: &impl Clock) {
        if is_cold(left) && self.lines.len() <= LINES_MAX {
            self.takes = time(clock, || self.lines.fetch());
        }
    }

    /// Likewise, by `fetch`.
    pub(super) fn after_by(&mut self, left: Duration, clock: &impl Clock, fetch: impl FnOnce()) {
        if is_cold(left) {
            self.takes = time(clock, fetch);
        }
    }
}

fn time(clock: &impl Clock, fetch: impl FnOnce()) -> Duration {
    let began = clock.now();
    fetch();
    clock.now().since(began).min(FETCH_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_executor::SimClock;

    const LONG: Duration = Duration::from_millis(100);

    fn lines() -> CacheLines {
        let mut lines = CacheLines::default();
        lines.add(&0u8);
        lines
    }

    #[test]
    fn lines_are_taken_once_after_some_cold_rests() {
        let (mut warm_up, mut taken) = (WarmUp::default(), Vec::new());
        for rest in 0..4 * RESTS {
            warm_up.before(COLD, || panic!("it is short"));
            warm_up.before(FOREVER, || panic!("no deadline ends it"));
            warm_up.before(LONG, || {
                taken.push(rest);
                lines()
            });
        }
        assert_eq!(taken, [RESTS - 1]);
        assert_eq!(warm_up.lines.len(), 1);
        warm_up.after(LONG, &SimClock::default());
        assert_eq!(warm_up.lines.len(), 1, "they stay");
    }

    #[test]
    fn thread_wakes_earlier_by_the_time_of_a_fetch() {
        let (mut warm_up, clock) = (WarmUp::default(), SimClock::default());
        let advance = |by: u64| clock.set(clock.now() + Duration::from_micros(by));
        assert_eq!(warm_up.shorten(LONG), LONG);
        warm_up.after_by(LONG, &clock, || advance(7));
        warm_up.after_by(COLD, &clock, || panic!("it is short"));
        warm_up.after_by(FOREVER, &clock, || panic!("no deadline ends it"));
        assert_eq!(warm_up.shorten(LONG), LONG - Duration::from_micros(7));
        assert_eq!(warm_up.shorten(COLD), COLD);
        warm_up.after_by(LONG, &clock, || advance(5_000));
        assert_eq!(warm_up.shorten(LONG), LONG - FETCH_MAX);
    }
}
