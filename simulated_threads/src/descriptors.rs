//! Descriptors that threads wait for, and timers that are descriptors.
//!
//! Pipes, pairs of sockets, eventfds and timers that a world creates are *own* descriptors: the
//! threads of the process are at their other ends, or a child process is. A blocking call on one of
//! them is a wait in the world. The functions that read and write look an own descriptor up without
//! the lock of the world, because a signal handler may call them on a thread that holds it.

use crate::os;
use crate::wait::{NEVER, Nanos};
use libc::{c_int, pollfd};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each own descriptor. Relaxed everywhere: the threads of a world take turns, which
/// synchronise.
static OWN: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// The word and the bit of a descriptor; `None` of one that is too great.
fn bit_of(descriptor: c_int) -> Option<(&'static AtomicU64, u64)> {
    let number = usize::try_from(descriptor).ok()?;
    Some((OWN.get(number / 64)?, 1 << (number % 64)))
}

/// A descriptor was created whose other end is in this process, or in a child.
pub(crate) fn add_own(descriptor: c_int) {
    if let Some((word, bit)) = bit_of(descriptor) {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

/// Whether a blocking call on the descriptor is a wait in the world.
pub(crate) fn is_own(descriptor: c_int) -> bool {
    bit_of(descriptor).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
}

/// The descriptors of a world that threads wait for, and its timers.
#[derive(Default)]
pub(crate) struct Descriptors {
    /// By number of the thread that waits.
    awaited: BTreeMap<u64, Vec<pollfd>>,
    timers: Vec<Timer>,
}

/// A timerfd, which is an eventfd here: both tell their reader a count.
pub(crate) struct Timer {
    /// The first one, and its duplicates.
    descriptors: Vec<c_int>,
    /// Its next expiry; [`NEVER`] until it is set.
    pub(crate) deadline: Nanos,
    /// Zero if it expires once.
    pub(crate) interval: Nanos,
    /// Whether its clock is the one of the calendar.
    pub(crate) is_real: bool,
}

impl Descriptors {
    /// The thread with this number waits for any of these.
    pub(crate) fn wait(&mut self, thread: u64, descriptors: Vec<pollfd>) {
        self.awaited.insert(thread, descriptors);
    }

    /// The thread with this number waits no longer.
    pub(crate) fn end_wait(&mut self, thread: u64) {
        self.awaited.remove(&thread);
    }

    /// Whether a descriptor is ready for which the thread waits.
    pub(crate) fn is_ready(&mut self, thread: u64) -> bool {
        self.awaited.get_mut(&thread).is_some_and(|descriptors| os::poll(descriptors) != 0)
    }

    /// A timerfd was created.
    pub(crate) fn add_timer(&mut self, descriptor: c_int, is_real: bool) {
        let descriptors = vec![descriptor];
        self.timers.push(Timer { descriptors, deadline: NEVER, interval: 0, is_real });
        add_own(descriptor);
    }

    /// The timer of this descriptor.
    pub(crate) fn timer(&mut self, descriptor: c_int) -> Option<&mut Timer> {
        self.timers.iter_mut().find(|timer| timer.descriptors.contains(&descriptor))
    }

    /// A descriptor was duplicated; the number of the duplicate may be that of one that was closed.
    pub(crate) fn duplicate(&mut self, descriptor: c_int, duplicate: c_int) {
        if duplicate == descriptor {
            return;
        }
        self.close(duplicate);
        if is_own(descriptor) {
            add_own(duplicate);
        }
        if let Some(timer) = self.timer(descriptor) {
            timer.descriptors.push(duplicate);
        }
    }

    /// A descriptor was closed.
    pub(crate) fn close(&mut self, descriptor: c_int) {
        if let Some((word, bit)) = bit_of(descriptor) {
            word.fetch_and(!bit, Ordering::Relaxed);
        }
        self.timers.iter_mut().for_each(|timer| timer.descriptors.retain(|own| *own != descriptor));
        self.timers.retain(|timer| !timer.descriptors.is_empty());
    }

    /// When the next timer expires.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.timers.iter().map(|timer| timer.deadline).filter(|time| *time != NEVER).min()
    }

    /// Lets the timers expire that are due.
    pub(crate) fn expire(&mut self, now: Nanos) {
        for timer in self.timers.iter_mut().filter(|timer| timer.deadline <= now) {
            let missed = (now - timer.deadline).checked_div(timer.interval).unwrap_or(0);
            os::write(timer.descriptors[0], &(1 + missed).to_ne_bytes());
            timer.deadline = match timer.interval {
                0 => NEVER,
                interval => timer.deadline + (1 + missed) * interval,
            };
        }
    }
}
