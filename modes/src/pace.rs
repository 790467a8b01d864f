//! When a busy worker has to read the clock.
//!
//! A timer may become due while any callback runs, so there has to be a look at the time after each
//! of them. Reading the clock costs as much as a short callback; the processor's counter costs a
//! third of that, but its rate is not known, and it may not be constant. Hence:
//!
//! * The rate is measured against the clock, at least every [`MEASURED`], and each reading of the
//!   clock is bracketed by two of the counter. Where it matters which of them counts, the one does
//!   that makes the rate too low: a thread that is pre-empted in between looks too often, never too
//!   rarely. Until a rate is known, the clock is read after each callback.
//! * Of the time until a deadline only [`TRUSTED`] is waited for by the counter; then the clock is
//!   read, and the rest is divided in the same way. A rate that differs by less, because the
//!   clock is being adjusted, delays no timer.
//! * After [`CALLBACKS_MAX`] callbacks the clock is read at any value of the counter. That is the
//!   bound where the counter is broken; where there is none, the clock is read after each callback.
//!
//! Predicting the length of the next callbacks from that of the last ones would be cheaper. It
//! fails when it matters: in a burst of slow callbacks after quick ones.

use ringspin_executor::{Clock, Time};
use ringspin_ringbuf::ticks;
use std::time::Duration;

/// How long a period of time is by which the counter's rate is measured.
const MEASURED: Duration = Duration::from_micros(100);

/// The part of the time until a deadline that is waited for by the counter.
const TRUSTED: f64 = 0.98;

/// Most callbacks between two readings of the clock while something has a deadline.
const CALLBACKS_MAX: u32 = 256;

/// A reading of the clock, and of the counter before and after it.
#[derive(Clone, Copy, Debug)]
struct Reading {
    before: u64,
    time: Time,
    after: u64,
}

impl Reading {
    fn of(clock: &impl Clock) -> Self {
        let before = ticks();
        let time = clock.now();
        Self { before, time, after: ticks() }
    }
}

/// Tells a worker whether it may continue without reading the clock.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Where the measurement of the rate began.
    began: Reading,
    last: Reading,
    /// Ticks in a nanosecond, or fewer; zero until it is known.
    rate: f64,
    /// The deadline that `quiet` is for.
    deadline: Time,
    /// How many ticks after the last reading began the deadline is still ahead.
    quiet: u64,
    /// How many callbacks may follow the last reading.
    callbacks_left: u32,
    /// How long the turn of an event loop is at most.
    turn: Duration,
}

impl Pace {
    /// The rate is unknown. The turn of an event loop is so long at most.
    pub(crate) fn new(clock: &impl Clock, turn: Duration) -> Self {
        let reading = Reading::of(clock);
        let (rate, deadline, callbacks_left) = (0.0, Time::MAX, 0);
        Self { began: reading, last: reading, rate, deadline, quiet: 0, callbacks_left, turn }
    }

    /// Whether `deadline` is certainly still ahead, by the processor's counter, which is read only
    /// for a deadline; so another callback may begin. Otherwise [read](Self::read) the clock.
    #[inline]
    pub(crate) fn is_ahead(&mut self, deadline: Time, ticks: Option<u64>) -> bool {
        ticks.map_or(self.rate > 0.0, |ticks| self.is_ahead_at(deadline, ticks))
    }

    /// How long the turn of an event loop is at most.
    pub(crate) fn turn(&self) -> Duration {
        self.turn
    }

    /// The ticks in a turn, or fewer; `None` until the rate is known.
    pub(crate) fn turn_ticks(&self) -> Option<u64> {
        (self.rate > 0.0).then_some((self.turn.as_nanos() as f64 * self.rate) as u64)
    }

    #[inline]
    fn is_ahead_at(&mut self, deadline: Time, ticks: u64) -> bool {
        if deadline != self.deadline {
            self.aim(deadline);
        }
        if self.callbacks_left == 0 {
            return false;
        }
        self.callbacks_left -= 1;
        ticks.wrapping_sub(self.last.before) < self.quiet
    }

    pub(crate) fn read(&mut self, clock: &impl Clock) -> Time {
        self.take(Reading::of(clock));
        self.last.time
    }

    fn take(&mut self, reading: Reading) {
        let measured = reading.time.since(self.began.time);
        if measured >= MEASURED {
            // Fewer ticks than passed between the two times: the brackets are left out.
            let ticks = reading.before.saturating_sub(self.began.after);
            self.rate = ticks as f64 / measured.as_nanos() as f64;
            self.began = reading;
        }
        self.last = reading;
        self.callbacks_left = CALLBACKS_MAX;
        self.aim(self.deadline);
    }

    fn aim(&mut self, deadline: Time) {
        let left = deadline.since(self.last.time).as_nanos() as f64;
        self.quiet = (left * self.rate * TRUSTED) as u64;
        self.deadline = deadline;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A machine: its true time in nanoseconds, and a counter with another rate.
    struct Machine {
        now: u64,
        ticks_per_us: u64,
        readings: u64,
    }

    impl Machine {
        fn ticks(&self) -> u64 {
            // Anywhere, so that it may pass the end of its range.
            (self.now as u128 * u128::from(self.ticks_per_us) / 1000) as u64
        }

        /// Reads the clock, and is pre-empted on both sides of that.
        fn read(&mut self, stalls: [u64; 2]) -> Reading {
            self.readings += 1;
            let before = self.ticks();
            self.now += stalls[0];
            let time = Time::from_nanos(self.now);
            self.now += stalls[1];
            Reading { before, time, after: self.ticks() }
        }
    }

    fn pace(machine: &mut Machine, stalls: [u64; 2]) -> Pace {
        let reading = machine.read(stalls);
        let (rate, deadline, callbacks_left) = (0.0, Time::MAX, 0);
        let turn = MEASURED;
        Pace { began: reading, last: reading, rate, deadline, quiet: 0, callbacks_left, turn }
    }

    /// Callbacks that are quick for a long time, and then slow, or the other way round.
    fn durations() -> impl Strategy<Value = Vec<u64>> {
        let run =
            (1usize..2_000, prop_oneof![1u64..200, 1_000u64..100_000, 1_000_000u64..9_000_000]);
        let runs = proptest::collection::vec(run, 1..8);
        runs.prop_map(|runs| {
            let all = runs.into_iter();
            all.flat_map(|(n, ns)| std::iter::repeat_n(ns, n.min(20_000_000 / ns as usize + 3)))
                .collect()
        })
    }

    proptest! {
        /// The promise: no callback begins after the deadline, whatever ran before, and also if the
        /// counter's rate differs from the measured one by a percent.
        #[test]
        fn no_callback_begins_after_the_deadline(
            durations in durations(),
            period in prop_oneof![10_000u64..1_000_000, 1_000_000u64..30_000_000],
            ticks_per_us in prop_oneof![20u64..60, 1_000u64..5_000],
            changes in proptest::collection::vec(990u64..=1_010, 1..5),
            stalls in proptest::collection::vec((0u64..100, 0u64..5_000_000), 1..20),
        ) {
            let mut machine = Machine { now: 1 << 40, ticks_per_us, readings: 0 };
            let mut stalls = stalls.into_iter().map(|(a, b)| [a, b]).cycle();
            let mut pace = pace(&mut machine, stalls.next().unwrap());
            let mut deadline = machine.now + period;
            let mut ticks_lost = 0;
            for (n, duration) in durations.into_iter().enumerate() {
                if !pace.is_ahead_at(Time::from_nanos(deadline), machine.ticks() - ticks_lost) {
                    let stalled = if n % 97 == 0 { stalls.next() } else { None };
                    let mut reading = machine.read(stalled.unwrap_or([13, 13]));
                    reading.before -= ticks_lost;
                    reading.after -= ticks_lost;
                    pace.take(reading);
                    while deadline <= reading.time.as_nanos() {
                        deadline += period;
                    }
                } else {
                    prop_assert!(machine.now < deadline, "late by {} ns", machine.now - deadline);
                }
                // The counter loses up to a percent of what passes.
                let change = changes[n % changes.len()].min(1_000);
                ticks_lost += duration * ticks_per_us / 1000 * (1_000 - change) / 1_000;
                machine.now += duration;
            }
        }
    }

    #[test]
    fn clock_is_read_seldom_while_callbacks_are_short() {
        let mut machine = Machine { now: 1 << 40, ticks_per_us: 2_450, readings: 0 };
        let mut pace = pace(&mut machine, [13, 13]);
        let deadline = |now: u64| Time::from_nanos(now + 1_000_000 - now % 1_000_000);
        let mut due = deadline(machine.now);
        let mut read_before = 0;
        for n in 0..2_000_000u32 {
            if n == 1_000_000 {
                read_before = machine.readings;
            }
            if !pace.is_ahead_at(due, machine.ticks()) {
                pace.take(machine.read([13, 13]));
                due = deadline(machine.now);
            }
            machine.now += 50;
        }
        let read = machine.readings - read_before;
        assert!(read < 1_000_000 / 100, "{read} readings for a million callbacks");
    }

    #[test]
    fn broken_counter_delays_a_timer_by_a_bounded_number_of_callbacks() {
        let mut machine = Machine { now: 1 << 40, ticks_per_us: 2_450, readings: 0 };
        let mut pace = pace(&mut machine, [13, 13]);
        machine.now += 20_000_000;
        pace.take(machine.read([13, 13]));
        let stopped = machine.ticks();
        let callbacks = (0..).take_while(|_| pace.is_ahead_at(Time::MAX, stopped)).count();
        assert_eq!(callbacks, CALLBACKS_MAX as usize);
    }

    #[test]
    fn without_a_counter_the_clock_is_read_after_each_callback() {
        let mut machine = Machine { now: 1 << 40, ticks_per_us: 0, readings: 0 };
        let mut pace = pace(&mut machine, [13, 13]);
        for _ in 0..100 {
            machine.now += 1_000_000;
            pace.take(machine.read([13, 13]));
            assert!(!pace.is_ahead_at(Time::from_nanos(machine.now + 1_000_000_000), 0));
        }
    }

    #[test]
    fn without_a_deadline_the_clock_is_read_until_the_rate_is_known() {
        let mut machine = Machine { now: 1 << 40, ticks_per_us: 0, readings: 0 };
        let mut unknown = pace(&mut machine, [13, 13]);
        assert!(!unknown.is_ahead(Time::MAX, None) && unknown.turn_ticks().is_none());
        let mut known = Pace { rate: 2.0, ..unknown };
        assert_eq!(known.turn_ticks(), Some(200_000));
        assert!((0..10_000).all(|_| known.is_ahead(Time::MAX, None)));
    }
}
