//! A worker's timers: phase-anchored, each pending at most once, ordered by deadline, then
//! creation; and their reactions to a clock that begins, goes back, or gets another source.
//!
//! Handles of a [`Timer`](crate::Timer) write requests into its control from any thread. The worker
//! alone reads them, when their notice is dispatched, and moves the deadlines.

use crate::base::event::CallbackId;
use crate::base::time::{Clock, NodeClock, Time};
use crate::delivery::control::CallbackCounters;
use crate::delivery::ready::{Notifier, Ready};
use crate::delivery::timer::{CANCEL, LATEST, TimerControl};
use crate::delivery::timer_heap::TimerHeap;
use ringspin_ringbuf::{CacheLines, PrefetchPlan};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A timer of a worker: the data of an expiry, on one cache line.
#[repr(align(64))]
pub(crate) struct ActiveTimer {
    /// Nanoseconds, not zero.
    period: u64,
    control: Arc<TimerControl>,
    /// The number of served requests.
    applied: u64,
    /// The number of requests that were served before the expiry in the ready ring.
    pending: Option<u64>,
    /// The deadline of that expiry, or else of the last one.
    due: u64,
    token: u32,
    /// A copy of the control's value, which is elsewhere in memory.
    repeats: bool,
    /// A copy of the control's value.
    keeps_earlier: bool,
    /// Whether a late expiry means missed periods: not if its deadline was over when it started.
    started_in_time: bool,
    /// Whether the times at which its events become ready are observed.
    stamped: bool,
}

struct Rest {
    callback: CallbackId,
    ready: Ready,
    /// The token of the notice that it was changed.
    changed: u32,
    counters: Arc<CallbackCounters>,
}

#[derive(Default)]
pub(crate) struct WorkerTimers {
    timers: Vec<ActiveTimer>,
    /// The rest of each timer; `None` of a removed one.
    rests: Vec<Option<Rest>>,
    deadlines: TimerHeap,
    /// The timers with a next deadline beyond 64 bits.
    exhausted: Vec<usize>,
    /// The places of removed timers.
    free: Vec<usize>,
    /// Stands for their controls.
    removed: Option<Arc<TimerControl>>,
    /// The memory that the expiry of each timer and its consequences touch; empty unless prepared.
    prefetch_plan: PrefetchPlan,
}

impl WorkerTimers {
    /// Adds a timer; returns its index. Of equal deadlines that of the older callback comes first.
    pub(crate) fn add(
        &mut self,
        callback: CallbackId,
        control: Arc<TimerControl>,
        ready: Ready,
        changed: u32,
        counters: Arc<CallbackCounters>,
    ) -> usize {
        let period = control.period.get();
        let timer = ActiveTimer {
            period,
            repeats: control.repeats,
            keeps_earlier: control.keeps_earlier.is_raised(),
            control,
            applied: 0,
            pending: None,
            due: 0,
            token: ready.announcer.token(),
            started_in_time: true,
            stamped: ready.stamper.is_some(),
        };
        let rest = Some(Rest { callback, ready, changed, counters });
        if let Some(index) = self.free.pop() {
            (self.timers[index], self.rests[index]) = (timer, rest);
            self.deadlines.reuse(index, callback.0);
            return index;
        }
        self.timers.push(timer);
        self.rests.push(rest);
        self.deadlines.add(callback.0)
    }

    /// Removes a timer, which does not expire any more; returns the token of its changes.
    pub(crate) fn remove(&mut self, index: usize) -> Option<u32> {
        let rest = self.rests[index].take()?;
        self.deadlines.remove(index);
        self.exhausted.retain(|other| *other != index);
        let nothing = || TimerControl::new(String::new(), NodeClock::default(), 1, false);
        let nothing = self.removed.get_or_insert_with(|| Arc::new(nothing())).clone();
        let control = std::mem::replace(&mut self.timers[index].control, nothing);
        control.deadline.set(u64::MAX);
        self.free.push(index);
        Some(rest.changed)
    }

    fn rest(&self, index: usize) -> &Rest {
        self.rests[index].as_ref().expect("a removed timer has no deadline")
    }

    /// Starts every timer that was not cancelled: a periodic one with its first deadline a period
    /// after `anchor`, a one-shot timer with its deadline a period after `now`.
    pub(crate) fn start(&mut self, anchor: Time, now: Time) {
        for index in 0..self.timers.len() {
            if self.rests[index].is_some() {
                self.start_one(index, anchor, now);
            }
        }
    }

    /// Starts one timer like [`start`](Self::start).
    pub(crate) fn start_one(&mut self, index: usize, anchor: Time, now: Time) {
        let control = self.timers[index].control.clone();
        control.changed.take();
        let from = if control.repeats { anchor } else { now };
        let first = from.as_nanos().saturating_add(control.period.get());
        control.request.post_if_none(first.min(LATEST));
        control.started.raise();
        self.apply(index);
        // A simulation may start later than `anchor`: it has missed nothing before.
        self.timers[index].started_in_time = control.deadline.get() >= now.as_nanos();
    }

    /// The clock begins at `now`, or went back to it: every timer that waits, and is overdue or
    /// waits for longer than its period, has its next deadline a period after `now`.
    pub(crate) fn start_again(&mut self, now: Time) {
        for (index, timer) in self.timers.iter_mut().enumerate() {
            let deadline = timer.control.deadline.get();
            let latest = now.as_nanos().saturating_add(timer.period);
            let waits_well = deadline > now.as_nanos() && deadline <= latest;
            if deadline != u64::MAX && !waits_well {
                self.deadlines.set(index, latest);
                timer.control.deadline.set(latest);
                timer.started_in_time = true;
            }
        }
    }

    /// The time at which the next timer is due.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(deadline, _)| Time::from_nanos(deadline))
    }

    /// Makes the first timer that is due at `now` ready, and moves it to the first multiple of its
    /// period after `now`. Returns false if none is due. Logarithmic in the number of timers.
    #[inline]
    pub(crate) fn expire_one(&mut self, now: Time) -> bool {
        self.due_first(now).map(|due| self.expire_and_announce(now, due)).is_some()
    }

    #[inline]
    fn expire_and_announce(&mut self, now: Time, (deadline, index): (u64, usize)) {
        if self.expire(now, deadline, index) {
            self.rest(index).ready.announce_since(Some(Time::from_nanos(deadline)));
        }
    }

    /// Expires a timer like [`expire_one`](Self::expire_one), but does not make the event ready: it
    /// returns the token, to be dispatched at once. For when nothing is ready; `None` if no timer
    /// is due.
    #[inline]
    pub(crate) fn expire_at_once(&mut self, now: Time) -> Option<u32> {
        let (deadline, index) = self.due_first(now)?;
        let expired = self.expire(now, deadline, index);
        let ActiveTimer { token, stamped, .. } = self.timers[index];
        if stamped && expired {
            self.rest(index).ready.stamp(Some(Time::from_nanos(deadline)));
        }
        if !self.prefetch_plan.is_empty() {
            self.fetch_ahead();
        }
        expired.then_some(token)
    }

    /// Starts to fetch the memory that the next timer needs.
    #[inline(never)]
    fn fetch_ahead(&self) {
        let [next, after_next] = self.deadlines.next_two();
        self.prefetch_plan.fetch(next);
        self.prefetch_plan.announce(after_next);
    }

    #[inline]
    fn due_first(&self, now: Time) -> Option<(u64, usize)> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now.as_nanos())
    }

    /// The callbacks of the timers that are due at `now`, by deadline, then creation.
    pub(crate) fn due(&self, now: Time, due: &mut Vec<CallbackId>) {
        due.clear();
        due.extend(self.deadlines.due(now.as_nanos()).map(|(_, n)| self.rest(n).callback));
    }

    /// Expires the `n`th of the timers that are due, like [`expire_one`](Self::expire_one).
    pub(crate) fn expire_nth(&mut self, now: Time, n: usize) {
        let nth = self.deadlines.due(now.as_nanos()).nth(n);
        nth.into_iter().for_each(|due| self.expire_and_announce(now, due));
    }

    /// Expires the timer of `callback` as another run did at `now`, when it was `due`; its deadline
    /// here has no effect. Returns its token; `None` if no timer has this callback.
    pub(crate) fn expire_as(&mut self, callback: CallbackId, due: Time, now: Time) -> Option<u32> {
        let is_it = |rest: &Option<Rest>| rest.as_ref().is_some_and(|of| of.callback == callback);
        let index = self.rests.iter().position(is_it)?;
        self.changed(index);
        self.timers[index].pending = None;
        self.expire(now.max(due), due.as_nanos(), index);
        let ActiveTimer { token, stamped, .. } = self.timers[index];
        if stamped {
            self.rest(index).ready.stamp(Some(due));
        }
        Some(token)
    }

    /// Sets the memory that the expiries of the timers touch.
    pub(crate) fn set_prefetch_plan(&mut self, prefetch_plan: PrefetchPlan) {
        self.prefetch_plan = prefetch_plan;
    }

    #[cfg(test)]
    pub(crate) fn planned_bytes(&self) -> usize {
        self.prefetch_plan.bytes()
    }

    /// Adds the lines that the expiry of timer `index` touches.
    pub(crate) fn add_to(&self, index: usize, lines: &mut CacheLines) {
        let timer = &self.timers[index];
        lines.add(timer);
        lines.add(&timer.control.deadline);
        lines.add(&timer.control.request);
    }

    /// The callbacks of the timers, in order.
    pub(crate) fn callbacks(&self) -> impl Iterator<Item = CallbackId> {
        self.rests.iter().flatten().map(|rest| rest.callback)
    }

    /// The callbacks of the timers with a next deadline beyond 64 bits: they do not expire any
    /// more.
    pub(crate) fn exhausted(&self) -> impl Iterator<Item = CallbackId> {
        let still = |index: &usize| self.timers[*index].control.deadline.get() == u64::MAX;
        self.exhausted.iter().copied().filter(still).map(|index| self.rest(index).callback)
    }

    /// Moves timer `index`, which is due, to its next deadline. Returns whether it has a new event:
    /// not if one of it is ready already.
    #[inline]
    fn expire(&mut self, now: Time, deadline: u64, index: usize) -> bool {
        let timer = &mut self.timers[index];
        let skipped = if timer.repeats {
            let late = now.as_nanos() - deadline;
            // Divisions are slow, and most timers are on time.
            let skipped = if late < timer.period { 0 } else { late / timer.period };
            let periods = timer.period.saturating_mul(skipped + 1);
            match deadline.checked_add(periods) {
                Some(next) => {
                    self.deadlines.set(index, next);
                    timer.control.deadline.set(next);
                }
                None => {
                    self.deadlines.remove(index);
                    timer.control.deadline.set(u64::MAX);
                    self.exhausted.push(index);
                }
            }
            skipped
        } else {
            self.deadlines.remove(index);
            timer.control.deadline.set(u64::MAX);
            0
        };
        let mut missed = if timer.started_in_time { skipped } else { 0 };
        timer.started_in_time = true;
        let pending = timer.pending.replace(timer.applied);
        if pending != Some(timer.applied) {
            timer.due = deadline;
        }
        if let Some(pending) = pending {
            // The expiry before still waits; if it was cancelled, this one takes its place.
            missed += u64::from(pending == timer.applied && !timer.keeps_earlier);
        }
        if missed > 0 {
            let counters = self.rests[index].as_ref().map(|rest| &rest.counters);
            if let Some(counters) = counters {
                timer.control.report_missed(counters.missed.get(), missed);
                counters.missed.add_by_owner(missed);
            }
        }
        pending.is_none()
    }

    /// The expiry of timer `index` left the ready ring; false if it was cancelled meanwhile.
    #[inline]
    pub(crate) fn handled(&mut self, index: usize) -> bool {
        let timer = &mut self.timers[index];
        let pending = timer.pending.take();
        if timer.keeps_earlier {
            return pending.is_some();
        }
        pending == Some(timer.applied) && timer.control.request.posted().is_none()
    }

    /// The deadline of the last [handled](Self::handled) expiry of timer `index`.
    #[inline]
    pub(crate) fn due_of(&self, index: usize) -> Time {
        Time::from_nanos(self.timers[index].due)
    }

    /// Serves the requests to timer `index` since the last call.
    pub(crate) fn apply(&mut self, index: usize) {
        let timer = &mut self.timers[index];
        timer.period = timer.control.period.get();
        while let Some(request) = timer.control.request.posted() {
            if timer.keeps_earlier {
                // LATEST never comes, and neither does CANCEL.
                if request < LATEST.min(timer.control.deadline.get()) {
                    self.deadlines.set(index, request);
                    timer.control.deadline.set(request);
                }
            } else if request == CANCEL {
                self.deadlines.remove(index);
                timer.control.deadline.set(u64::MAX);
            } else {
                let deadline = if request < LATEST { request } else { u64::MAX };
                self.deadlines.set(index, deadline);
                timer.started_in_time = true;
                timer.control.deadline.set(deadline);
            }
            timer.applied += 1;
            // Last: a thread that finds it settled sees the deadline.
            if timer.control.request.settle(request) {
                break;
            }
        }
    }

    /// Applies the request in the control of timer `index`; see [`apply`](Self::apply).
    pub(crate) fn changed(&mut self, index: usize) {
        self.timers[index].control.changed.take();
        self.apply(index);
    }
}

/// The notifiers that look again when the clock begins, by token.
type Waiting = BTreeMap<u32, Arc<Notifier>>;

/// The state of the clock when the worker looked last.
#[derive(Default)]
pub(crate) struct ClockWatch {
    /// The latest time that was noted.
    noted: Time,
    /// The value of [`Clock::switches`] then.
    switches: u64,
    waits_for_begin: bool,
}

impl ClockWatch {
    pub(crate) fn start(&mut self, anchor: Time, clock: &dyn Clock) {
        self.noted = anchor;
        self.switches = clock.switches();
        self.waits_for_begin = !clock.has_begun();
    }

    /// Notes `now`, a reading of `clock`. Returns the time, which is another one if the clock got
    /// another source since the worker looked last. When the clock begins, `waiting` look again.
    pub(crate) fn note(
        &mut self,
        now: Time,
        clock: &dyn Clock,
        timers: &mut WorkerTimers,
        waiting: &Waiting,
    ) -> Time {
        let switches = clock.switches();
        if switches != self.switches {
            return self.switched(switches, clock, timers, waiting);
        }
        if self.waits_for_begin
            && let Some(begun_at) = clock.begun_at()
        {
            self.waits_for_begin = false;
            // The clock may have begun after `now` was read.
            timers.start_again(begun_at);
            look_again(waiting);
        } else if now < self.noted {
            timers.start_again(now);
        }
        self.noted = now;
        now
    }

    #[cold]
    fn switched(
        &mut self,
        switches: u64,
        clock: &dyn Clock,
        timers: &mut WorkerTimers,
        waiting: &Waiting,
    ) -> Time {
        self.switches = switches;
        self.waits_for_begin = !clock.has_begun();
        // Read after the count: a reading from before belongs to the source before.
        self.noted = clock.now();
        timers.start_again(self.noted);
        if !self.waits_for_begin {
            look_again(waiting);
        }
        self.noted
    }
}

fn look_again(waiting: &Waiting) {
    waiting.values().for_each(|notifier| notifier.notify());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::timer::Timer;
    use ringspin_ringbuf::Inbox;
    use std::time::Duration;

    struct Fixture {
        timers: WorkerTimers,
        handles: Vec<Timer>,
        inbox: Inbox,
    }

    /// Timers with these periods; each has its index as its token.
    fn timers(periods: &[u64]) -> Fixture {
        let mut inbox = Inbox::with_room(1, periods.len());
        let mut timers = WorkerTimers::default();
        let mut handles = Vec::new();
        inbox.registrar().add_ring(8, None);
        for (token, &period) in periods.iter().enumerate() {
            let ready = Ready::alone(inbox.registrar().add_token(0, 1));
            let control = TimerControl::new("timer".into(), NodeClock::default(), period, true);
            let control = Arc::new(control);
            timers.add(CallbackId(token as u32), control.clone(), ready, 0, Arc::default());
            handles.push(Timer::new(control));
        }
        inbox.adopt();
        Fixture { timers, handles, inbox }
    }

    impl Fixture {
        fn expire_all(&mut self, now: u64) -> Vec<u32> {
            while self.timers.expire_one(Time::from_nanos(now)) {}
            let mut fired: Vec<u32> = std::iter::from_fn(|| self.inbox.pop(0)).collect();
            fired.retain(|&token| self.timers.handled(token as usize));
            fired
        }

        fn missed(&self, index: usize) -> u64 {
            self.timers.rest(index).counters.missed.get()
        }

        fn deadline(&self) -> Option<u64> {
            self.timers.next_deadline().map(Time::as_nanos)
        }
    }

    #[test]
    fn timer_that_keeps_earlier_deadlines_takes_none_back() {
        let control = TimerControl::new("timeout".into(), NodeClock::default(), 1, false);
        let timer = Timer::new(Arc::new(control));
        timer.keep_earlier();
        timer.cancel();
        let mut inbox = Inbox::with_room(1, 1);
        inbox.registrar().add_ring(8, None);
        let ready = Ready::alone(inbox.registrar().add_token(0, 1));
        inbox.adopt();
        let mut timers = WorkerTimers::default();
        timers.add(CallbackId(0), timer.control().clone(), ready, 0, Arc::default());
        let mut fixture = Fixture { timers, handles: vec![timer], inbox };
        fixture.timers.start(Time::ZERO, Time::ZERO);
        assert_eq!(fixture.deadline(), None);
        let start_by =
            |fixture: &Fixture, time| fixture.handles[0].start_by(Time::from_nanos(time));
        start_by(&fixture, 30);
        start_by(&fixture, 20);
        start_by(&fixture, 40);
        fixture.timers.changed(0);
        assert_eq!(fixture.deadline(), Some(20));
        start_by(&fixture, 50);
        fixture.timers.changed(0);
        assert_eq!(fixture.deadline(), Some(20));
        assert!(fixture.timers.expire_one(Time::from_nanos(20)));
        start_by(&fixture, 60);
        assert_eq!(fixture.inbox.pop(0), Some(0));
        assert!(fixture.timers.handled(0), "an expiry is not withdrawn");
        fixture.timers.changed(0);
        assert_eq!((fixture.deadline(), fixture.missed(0)), (Some(60), 0));
    }

    #[test]
    fn overdue_timers_fire_once_in_the_order_of_their_deadlines() {
        let mut fixture = timers(&[100, 50, 40]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        assert_eq!(fixture.expire_all(10_000), [2, 1, 0]);
        assert_eq!(fixture.deadline(), Some(10_040));
        assert_eq!([0, 1, 2].map(|index| fixture.missed(index)), [99, 199, 249]);
    }

    #[test]
    fn periods_before_a_late_start_are_not_missed() {
        let mut fixture = timers(&[100]);
        fixture.timers.start(Time::ZERO, Time::from_nanos(10_050));
        assert_eq!(fixture.expire_all(10_050), [0]);
        assert_eq!((fixture.deadline(), fixture.missed(0)), (Some(10_100), 0));
        assert_eq!(fixture.expire_all(10_350), [0], "and 10,200 and 10,300 are missed");
        assert_eq!(fixture.missed(0), 2);
    }

    #[test]
    fn periods_before_the_first_expiry_after_a_restart_are_missed() {
        let mut fixture = timers(&[10]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        fixture.handles[0].start_at(Time::from_nanos(12));
        fixture.timers.apply(0);
        assert_eq!(fixture.expire_all(39), [0], "at 12, and 22 and 32 are missed");
        assert_eq!(fixture.missed(0), 2);
    }

    #[test]
    fn equal_deadlines_fire_in_order_of_creation() {
        let mut fixture = timers(&[30, 20, 60]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        for now in [20, 30, 40] {
            fixture.expire_all(now);
        }
        assert_eq!(fixture.expire_all(60), [0, 1, 2]);
    }

    #[test]
    fn a_stall_costs_periods_but_never_the_phase() {
        let mut fixture = timers(&[10]);
        fixture.timers.start(Time::from_nanos(3), Time::from_nanos(3));
        assert_eq!(fixture.expire_all(13), [0]);
        assert_eq!(fixture.expire_all(58), [0], "23, and 33, 43, 53 are missed");
        assert_eq!(fixture.deadline(), Some(63));
        assert_eq!(fixture.missed(0), 3);
    }

    #[test]
    fn an_expiry_that_still_waits_is_not_queued_twice() {
        let mut fixture = timers(&[10]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        while fixture.timers.expire_one(Time::from_nanos(10)) {}
        while fixture.timers.expire_one(Time::from_nanos(20)) {}
        assert_eq!((fixture.inbox.pop(0), fixture.inbox.pop(0)), (Some(0), None));
        assert_eq!(fixture.missed(0), 1);
    }

    #[test]
    fn a_million_periods_do_not_drift() {
        let mut fixture = timers(&[1_000]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        for n in 1..=1_000_000u64 {
            let late = n % 7 * 100;
            assert_eq!(fixture.expire_all(n * 1_000 + late), [0]);
        }
        assert_eq!(fixture.deadline(), Some(1_000_001_000));
        assert_eq!(fixture.missed(0), 0);
    }

    #[test]
    fn a_cancelled_timer_does_not_fire_even_if_it_was_due() {
        let mut fixture = timers(&[10, 15]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        while fixture.timers.expire_one(Time::from_nanos(10)) {}
        fixture.handles[0].cancel();
        assert_eq!(fixture.expire_all(10), [], "its expiry was under way");
        fixture.timers.apply(0);
        assert_eq!(fixture.deadline(), Some(15), "that of the other timer");
        assert_eq!(fixture.expire_all(100), [1]);
    }

    #[test]
    fn a_restart_invalidates_the_expiry_before_it() {
        let mut fixture = timers(&[10]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        while fixture.timers.expire_one(Time::from_nanos(10)) {}
        fixture.handles[0].start_at(Time::from_nanos(12));
        fixture.timers.apply(0);
        while fixture.timers.expire_one(Time::from_nanos(12)) {}
        assert_eq!(fixture.expire_all(12), [0], "once, not twice");
        assert_eq!((fixture.deadline(), fixture.missed(0)), (Some(22), 0));
    }

    /// The request is still pending, and the deadline is the old one, when it passes.
    #[test]
    fn an_expiry_after_a_request_that_the_worker_has_not_seen_is_withdrawn() {
        let mut fixture = timers(&[10]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        fixture.handles[0].cancel();
        while fixture.timers.expire_one(Time::from_nanos(10)) {}
        fixture.timers.changed(0);
        assert_eq!(fixture.expire_all(100), [], "it is cancelled");
        fixture.handles[0].start_at(Time::from_nanos(110));
        fixture.timers.changed(0);
        // A watchdog that is reset in time, and seen to be only after its old deadline.
        fixture.handles[0].start_at(Time::from_nanos(130));
        while fixture.timers.expire_one(Time::from_nanos(115)) {}
        fixture.timers.changed(0);
        assert_eq!(fixture.expire_all(129), []);
        assert_eq!(fixture.expire_all(130), [0]);
        assert_eq!(fixture.missed(0), 0);
    }

    #[test]
    fn another_period_counts_from_the_next_deadline() {
        let mut fixture = timers(&[10]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        fixture.handles[0].set_period(Duration::from_nanos(7)).unwrap();
        fixture.timers.apply(0);
        assert_eq!(fixture.expire_all(10), [0]);
        assert_eq!(fixture.deadline(), Some(17));
        assert!(fixture.handles[0].set_period(Duration::ZERO).is_err());
    }

    #[test]
    fn timers_start_again_when_the_clock_begins_and_when_it_goes_back() {
        let mut fixture = timers(&[10, 100]);
        fixture.timers.start(Time::ZERO, Time::ZERO);
        fixture.handles[1].cancel();
        fixture.timers.apply(1);
        fixture.timers.start_again(Time::from_nanos(5_003));
        assert_eq!(fixture.expire_all(5_012), []);
        assert_eq!(fixture.expire_all(5_013), [0]);
        fixture.timers.start_again(Time::from_nanos(5_015));
        assert_eq!(fixture.deadline(), Some(5_023), "it did not go back");
        fixture.timers.start_again(Time::from_nanos(700));
        assert_eq!(fixture.expire_all(709), []);
        assert_eq!(fixture.expire_all(710), [0], "once, and its phase is the new one");
        assert_eq!((fixture.deadline(), fixture.missed(0)), (Some(720), 0));
    }

    #[test]
    fn a_timer_cancelled_before_the_start_waits_for_its_reset() {
        let mut fixture = timers(&[10]);
        fixture.handles[0].cancel();
        fixture.timers.start(Time::ZERO, Time::ZERO);
        assert_eq!(fixture.deadline(), None);
        fixture.handles[0].reset();
        fixture.timers.apply(0);
        assert_eq!(fixture.deadline(), Some(10));
    }
}
