//! Child processes that run in real time: those of a program that is no process of a run.
//!
//! The world cannot see when a child writes to a pipe or ends. So the simulated time stands still
//! while a child runs and a thread waits for descriptors, or for a semaphore, which the child may
//! share: the thread that hands over looks in real time whether one is ready. A child takes no
//! simulated time, and a timeout does not end it. Once no child has computed for a limit, they are
//! waited for only while nothing else is due, so that a program with a server as its child, or with
//! a timeout for a child that hangs, continues.

use crate::os;
use std::time::Duration;

/// How long, in real time, a world rests before it looks again.
const REST: Duration = Duration::from_micros(200);

/// How many looks go by until it asks whether the children compute.
const ASK: u32 = 100;

/// How long, in real time, a world still looks after the last child has ended: a signal handler may
/// be about to write to a pipe.
const AFTER_END: Duration = Duration::from_millis(10);

/// The child processes of a world for which it waits.
#[derive(Default)]
pub(crate) struct Children {
    running: Vec<i32>,
    /// Whether they did nothing for longer than the limit; false again with the next child.
    pub(crate) are_slow: bool,
}

impl Children {
    /// A child process was created. A negative number is that of none.
    pub(crate) fn add(&mut self, child: i32) {
        if child > 0 {
            self.running.push(child);
            self.are_slow = false;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}

/// Looks for what child processes have done.
pub(crate) struct Looks {
    idle_max: Duration,
    end: Duration,
    last: Duration,
    count: u32,
}

impl Looks {
    /// Looks for as long as children run, until they have not computed for `idle_max`, and for
    /// `max` at most.
    pub(crate) fn new(idle_max: Duration, max: Duration) -> Self {
        let now = os::monotonic();
        Self { idle_max, end: now + idle_max, last: now + max, count: 0 }
    }

    /// Rests before the next look; false if there is to be none.
    pub(crate) fn rest(&mut self, children: &mut Children) -> bool {
        let now = os::monotonic();
        self.count += 1;
        if self.count.is_multiple_of(ASK) && children.running.iter().any(|child| os::works(*child))
        {
            self.end = (now + self.idle_max).min(self.last);
        }
        if now >= self.end {
            children.are_slow = !children.is_empty();
            return false;
        }
        if !children.is_empty() {
            children.running.retain(|child| os::is_running(*child));
            if children.is_empty() {
                self.end = now + AFTER_END;
            }
        }
        os::sleep(REST);
        true
    }
}
