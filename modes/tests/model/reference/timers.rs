//! Timers.

use super::{Change, Reference, Token};
use crate::spec;

pub(super) const MS: u64 = 1_000_000;

#[derive(Clone, Copy)]
enum Request {
    Cancel,
    At(u64),
}

pub(super) struct Timer {
    pub(super) callback: usize,
    repeats: bool,
    created: u64,
    source: u32,
    fired: u64,
    /// The period that was asked for, and the one that the worker has taken over.
    periods: [u64; 2],
    request: Option<Request>,
    noticed: bool,
    deadline: Option<u64>,
    /// Whether the expiry that is under way was withdrawn.
    withdrawn: bool,
    pending: bool,
    /// Whether its deadline was not over when it started.
    started_in_time: bool,
}

impl Timer {
    /// The worker adopts the requested change.
    pub(super) fn apply(&mut self) {
        self.noticed = false;
        self.periods[1] = self.periods[0];
        match self.request.take() {
            None => {}
            Some(Request::Cancel) => self.deadline = None,
            Some(Request::At(time)) => {
                self.deadline = Some(time);
                self.started_in_time = true;
            }
        }
    }

    pub(super) fn count_from_creation(&mut self) {
        self.count_from(self.created, self.created);
    }

    fn count_from(&mut self, anchor: u64, now: u64) {
        self.request.get_or_insert(Request::At(anchor + self.periods[0]));
        self.apply();
        self.started_in_time = self.deadline.is_none_or(|deadline| deadline >= now);
    }
}

impl Reference<'_> {
    pub(super) fn create_timer(&mut self, node: usize, of: spec::Timer) {
        let (callback, source) = (self.callback(node), self.source());
        self.changes.push(Change::Timer(self.timers.len()));
        self.timers.push(Timer {
            callback,
            repeats: of.repeats,
            created: self.now,
            source,
            fired: 0,
            periods: [of.period_ms * MS; 2],
            request: None,
            noticed: true,
            deadline: None,
            withdrawn: false,
            pending: false,
            started_in_time: true,
        });
    }

    /// Periodic timers of the start keep the phase of time zero; others count from the start.
    pub(super) fn start_timer(&mut self, n: usize) {
        let timer = &mut self.timers[n];
        timer.count_from(if timer.repeats { 0 } else { self.now }, self.now);
    }

    pub(super) fn cancel_timer(&mut self, n: usize) {
        self.request(n, Request::Cancel);
    }

    pub(super) fn reset_timer(&mut self, n: usize) {
        let at = self.now + self.timers[n].periods[0];
        self.request(n, Request::At(at));
    }

    fn request(&mut self, n: usize, request: Request) {
        self.timers[n].request = Some(request);
        self.timers[n].withdrawn = self.timers[n].pending;
        self.notice_timer(n);
    }

    pub(super) fn set_period(&mut self, n: usize, ms: u64) {
        self.timers[n].periods[0] = ms * MS;
        self.notice_timer(n);
    }

    fn notice_timer(&mut self, n: usize) {
        if !std::mem::replace(&mut self.timers[n].noticed, true) {
            self.push(Token::TimerChanged(n));
        }
    }

    /// The timers that are set, by their deadlines, then creation.
    fn deadlines(&self) -> impl Iterator<Item = (u64, usize)> {
        let timers = self.timers.iter().enumerate();
        let timers = timers.filter(|(_, timer)| !self.is_gone(timer.callback));
        timers.filter_map(|(n, timer)| Some((timer.deadline?, n)))
    }

    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.deadlines().min().map(|(deadline, _)| deadline)
    }

    /// Makes the first due timer ready.
    pub(super) fn expire_one(&mut self) -> bool {
        let due = self.deadlines().min().filter(|(deadline, _)| *deadline <= self.now);
        let Some((deadline, n)) = due else { return false };
        let timer = &mut self.timers[n];
        timer.deadline = None;
        if timer.repeats {
            let mut next = deadline + timer.periods[1];
            let mut skipped = 0;
            while next <= self.now {
                next += timer.periods[1];
                skipped += 1;
            }
            timer.deadline = Some(next);
            if timer.started_in_time {
                self.callbacks[timer.callback].missed += skipped;
            }
        }
        timer.started_in_time = true;
        assert!(!timer.pending, "in one sequence an expiry is handled before the next");
        timer.pending = true;
        self.push(Token::Expiry(n));
        true
    }

    pub(super) fn fire(&mut self, n: usize) {
        let timer = &mut self.timers[n];
        timer.pending = false;
        let is_gone = self.callbacks[timer.callback].is_gone;
        if std::mem::take(&mut timer.withdrawn) || is_gone {
            return;
        }
        timer.fired += 1;
        let (callback, event) = (timer.callback, (timer.source, timer.fired - 1));
        if self.call_back(callback, event).cancel_self {
            self.cancel_timer(n);
        }
    }
}
