//! Guard conditions and tasks: their events are notices, of which one is ready at a time.

use super::{Change, Reference, Token};

pub(super) struct Guard {
    pub(super) callback: usize,
    source: u32,
    triggers: u64,
    answered: u64,
    noticed: bool,
}

pub(super) struct Task {
    pub(super) callback: usize,
    source: u32,
    polls: u64,
    /// Whether its future was polled: one that is cancelled before has no waker.
    has_waker: bool,
    noticed: bool,
    cancelled: bool,
}

impl Reference<'_> {
    /// Adds a guard condition, which has a first notice.
    pub(super) fn create_guard(&mut self, node: usize) {
        let (callback, source) = (self.callback(node), self.source());
        self.changes.push(Change::Guard(self.guards.len()));
        self.guards.push(Guard { callback, source, triggers: 0, answered: 0, noticed: true });
    }

    pub(super) fn trigger(&mut self, n: usize) {
        self.guards[n].triggers += 1;
        if !std::mem::replace(&mut self.guards[n].noticed, true) {
            self.push(Token::Guard(n));
        }
    }

    /// One call answers all triggers so far.
    pub(super) fn answer_triggers(&mut self, n: usize) {
        let guard = &mut self.guards[n];
        if self.callbacks[guard.callback].is_gone {
            return;
        }
        guard.noticed = false;
        if guard.triggers == guard.answered {
            return;
        }
        self.callbacks[guard.callback].coalesced += guard.triggers - guard.answered - 1;
        guard.answered = guard.triggers;
        let (callback, event) = (guard.callback, (guard.source, guard.triggers - 1));
        self.call_back(callback, event);
    }

    /// Adds a task, which has a first notice.
    pub(super) fn spawn(&mut self, node: usize) {
        let (callback, source) = (self.callback(node), self.source());
        self.changes.push(Change::Task(self.tasks.len()));
        self.tasks.push(Task {
            callback,
            source,
            polls: 0,
            has_waker: false,
            noticed: true,
            cancelled: false,
        });
    }

    pub(super) fn wake(&mut self, n: usize) {
        if self.tasks[n].has_waker {
            self.notice_task(n);
        }
    }

    pub(super) fn cancel_task(&mut self, n: usize) {
        self.tasks[n].cancelled = true;
        self.notice_task(n);
    }

    fn notice_task(&mut self, n: usize) {
        if !std::mem::replace(&mut self.tasks[n].noticed, true) {
            self.push(Token::Task(n));
        }
    }

    pub(super) fn poll(&mut self, n: usize) {
        let task = &mut self.tasks[n];
        if self.callbacks[task.callback].is_gone {
            return;
        }
        task.noticed = false;
        let (callback, event) = (task.callback, (task.source, task.polls));
        task.polls += 1;
        if task.cancelled {
            self.callbacks[callback].is_gone = true;
            self.record(callback, event);
            return;
        }
        task.has_waker = true;
        let finished = self.call_back(callback, event).finish;
        self.callbacks[callback].is_gone |= finished;
    }
}
