//! Approximate time: the messages with the nearest stamps, by the algorithm of ROS 2's
//! `message_filters`.
//!
//! The event loop of the subscription is the only caller: it reports each arrival by input and
//! stamp, and removes the messages at the positions that the matcher returns. The matcher keeps the
//! stamps in separate queues, so that the search reads numbers that lie together, and a test drives
//! it without a graph. A search continues where the last one stopped, at the cursor of each input
//! and with the best set so far; from the start, each arrival would examine all candidates again.
//! It starts anew after a set, and when a message falls out of a full queue.

use super::matcher::{
    Arrival, HEADS, INPUTS_MAX, Matcher, Positions, Removal, check_input, check_size, invalid,
};
use crate::base::error::Result;
use crate::base::time::{Time, nanos};
use std::collections::VecDeque;
use std::time::Duration;

/// Joins messages with stamps near each other; there is no tolerance to choose.
///
/// The *size* of a set is the time between its earliest and its latest stamp. The algorithm is that
/// of ROS 2's `message_filters`:
///
/// * The first message that each input has after the set before are the *heads*. The latest of them
///   is the *pivot*, which the next set contains.
/// * Of all sets that contain the pivot and none of the messages before the heads, the one with the
///   smallest size is taken. A later one has to be smaller by more than a share, the *age penalty*,
///   of the delay that it costs: it is better only if its start is later by more than `(1 + age
///   penalty) ×` the distance of the two ends.
/// * It is handed over when no future message can make a better one. This is examined again when a
///   message arrives at the input that has the earliest newest message.
///
/// Promised is, as long as the stamps of no input go backwards:
/// * every set has one message of each input, and each message is used at most once;
/// * sets do not cross: of two sets, one is later in every input;
/// * sets are contiguous: in at least one input, the pivot's, no message is left out between a set
///   and the next one, unless one fell out of a full queue or a set was larger than allowed;
/// * which sets are formed depends on the stamps only, not on the order of arrival, as long as no
///   queue overflows; the order of arrival decides when they are handed over.
///
/// **Ties.** Between sets that are equally good, the one with the older messages wins. If several
/// heads carry the latest stamp, the last of those inputs has the pivot; if several carry the
/// earliest, the search continues from the first of those inputs. Of several messages of an input
/// with the same stamp, the one that came first is used.
///
/// **Full queues.** When an input has more than `queue_size` messages, candidates included, its
/// oldest one falls out, the search starts over, and the pivot is not taken from that input until
/// another set of heads shows that the dropped message could not have been better. One that falls
/// out here, one that a better candidate left behind, and one that no set with the pivot could use
/// is counted as [`unmatched`](crate::CallbackStatistics::unmatched) of its input. With a queue
/// size of 1 hardly anything matches; 2 is the least that is useful.
///
/// A message with an earlier stamp than its predecessor, or nearer to it than the lower bound that
/// was given, is used nevertheless, and counted as
/// [`irregular`](crate::CallbackStatistics::irregular); the first one of each input is logged.
///
/// # Differences from `message_filters`
/// The sets are the same. Dropped messages are counted, per input. Stamps are also checked against
/// a predecessor that was used already. Parameters that make no sense, negative age penalties among
/// them, are refused when the subscription is created.
///
/// # Complexity
/// The search for a set examines at most inputs × queue size candidates, each at a cost
/// proportional to the inputs; with regular stamps it examines a few. Nothing is allocated.
///
/// ```
/// # use ringspin_executor::{ApproximateTime, Graph, Input, QoS, Stamped, Time};
/// # use std::time::Duration;
/// # struct Cloud(Time);
/// # impl Stamped for Cloud { fn stamp(&self) -> Time { self.0 } }
/// # struct Image(Time);
/// # impl Stamped for Image { fn stamp(&self) -> Time { self.0 } }
/// # let graph = Graph::new();
/// # let qos = QoS::default();
/// let painter = graph.create_node("painter", Vec::new())?;
/// painter.create_synchronized_subscription(
///     (Input::<Cloud>::new("cloud", qos), Input::<Image>::new("image", qos)),
///     ApproximateTime::new(10).with_min_interval(0, Duration::from_millis(90)),
///     |ages, (cloud, image), cx| ages.push(cx.now() - cloud.stamp().min(image.stamp())),
/// )?;
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ApproximateTime {
    pub(crate) queue_size: usize,
    age_penalty: f64,
    size_max: Duration,
    min_intervals: Vec<(usize, Duration)>,
}

impl ApproximateTime {
    /// Keeps at most `queue_size` messages of each input, with an age penalty of 0.1.
    pub const fn new(queue_size: usize) -> Self {
        let min_intervals = Vec::new();
        Self { queue_size, age_penalty: 0.1, size_max: Duration::MAX, min_intervals }
    }

    /// Sets the share of the delay by which a later set has to be smaller. More gives sets earlier,
    /// and perhaps more of them, at the cost of their quality. Zero or more; the default is 0.1.
    #[must_use]
    pub const fn with_age_penalty(mut self, age_penalty: f64) -> Self {
        self.age_penalty = age_penalty;
        self
    }

    /// Sets the maximal size of a set: larger ones are not formed. The default is no limit.
    #[must_use]
    pub const fn with_max_size(mut self, size: Duration) -> Self {
        self.size_max = size;
        self
    }

    /// Promises that the stamps of `input` are at least `interval` apart. This does not change the
    /// sets, but lets them be recognised as the best ones earlier. A promise that is broken
    /// can cost quality, nothing else; see [above](Self) how it is reported.
    #[must_use]
    pub fn with_min_interval(mut self, input: usize, interval: Duration) -> Self {
        self.min_intervals.push((input, interval));
        self
    }

    pub(crate) fn matcher(self, inputs: usize) -> Result<ApproximateTimeMatcher> {
        check_size(self.queue_size)?;
        if !(self.age_penalty >= 0.0 && self.age_penalty.is_finite()) {
            return Err(invalid(format!(
                "an age penalty of {} is out of range; use 0 or a little more, such as 0.1",
                self.age_penalty
            )));
        }
        let mut queues: Box<[_]> =
            (0..inputs).map(|_| Stamps::with_capacity(self.queue_size + 1)).collect();
        for (input, interval) in self.min_intervals {
            check_input(input, inputs)?;
            let interval_ns = nanos(interval);
            if interval_ns == u64::MAX {
                return Err(invalid(format!(
                    "an interval of {interval:?} is out of range; use less than 584 years"
                )));
            }
            queues[input].interval_ns_min = interval_ns;
        }
        Ok(ApproximateTimeMatcher {
            queue_size: self.queue_size,
            delay_factor: 1.0 + self.age_penalty,
            size_ns_max: nanos(self.size_max),
            queues,
            best: None,
            arrived: None,
            complete: false,
        })
    }
}

/// The queue of one input: `stamps[..cursor]` was examined, the rest was not.
struct Stamps {
    stamps: VecDeque<u64>,
    cursor: usize,
    newest: Option<u64>,
    interval_ns_min: u64,
    /// A message fell out that might have been better than those that are left.
    dropped: bool,
}

impl Stamps {
    fn with_capacity(capacity: usize) -> Self {
        let stamps = VecDeque::with_capacity(capacity);
        Self { stamps, cursor: 0, newest: None, interval_ns_min: 0, dropped: false }
    }
}

/// The stamp of one input's message.
#[derive(Clone, Copy)]
struct Edge {
    input: usize,
    stamp: u64,
}

/// The earliest and the latest of one stamp per input.
fn edges(inputs: usize, stamp_of: impl Fn(usize) -> u64) -> (Edge, Edge) {
    let mut start = Edge { input: 0, stamp: stamp_of(0) };
    let mut end = start;
    for input in 1..inputs {
        let edge = Edge { input, stamp: stamp_of(input) };
        // Of equal stamps, the first input starts and the last one ends.
        if edge.stamp < start.stamp {
            start = edge;
        }
        if edge.stamp >= end.stamp {
            end = edge;
        }
    }
    (start, end)
}

/// How much later `a` is than `b`, in nanoseconds; exact below 104 days.
fn later_ns(a: u64, b: u64) -> f64 {
    match a.checked_sub(b) {
        Some(ns) => ns as f64,
        None => -((b - a) as f64),
    }
}

/// The best set so far with a pivot. Its messages are the first ones of all queues.
#[derive(Clone, Copy)]
struct Best {
    start: u64,
    end: u64,
    pivot: Edge,
}

pub struct ApproximateTimeMatcher {
    queue_size: usize,
    delay_factor: f64,
    size_ns_max: u64,
    queues: Box<[Stamps]>,
    best: Option<Best>,
    arrived: Option<usize>,
    /// The best set was found, and is handed over.
    complete: bool,
}

impl ApproximateTimeMatcher {
    /// Whether `best` is at least as good as a set from `start` to `end`.
    fn holds(&self, best: Best, start: u64, end: u64) -> bool {
        later_ns(end, best.end) * self.delay_factor >= later_ns(start, best.start)
    }

    fn pop_front(
        &mut self,
        input: usize,
        removal: Removal,
        remove: &mut impl FnMut(usize, usize, Removal),
    ) {
        self.queues[input].stamps.pop_front();
        remove(input, 0, removal);
    }

    /// Removes the messages that were examined before the set at the cursors.
    fn drop_examined(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) {
        for input in 0..self.queues.len() {
            for _ in 0..std::mem::take(&mut self.queues[input].cursor) {
                self.pop_front(input, Removal::Unmatched, remove);
            }
        }
    }

    /// Examines the set at the cursors, of which no queue is at its end, and moves on to the next.
    /// Returns true if the best set with the pivot was found.
    fn examine(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) -> bool {
        let stamp_of = |input: usize| self.queues[input].stamps[self.queues[input].cursor];
        let (start, end) = edges(self.queues.len(), stamp_of);
        // No message that fell out of an input other than the latest one could have been better
        // than the present ones.
        for (input, queue) in self.queues.iter_mut().enumerate() {
            queue.dropped &= input == end.input;
        }
        let best = match self.best {
            None => {
                let too_large = end.stamp - start.stamp > self.size_ns_max;
                if too_large || self.queues[end.input].dropped {
                    self.pop_front(start.input, Removal::Unmatched, remove);
                    return false;
                }
                Best { start: start.stamp, end: end.stamp, pivot: end }
            }
            Some(best) if self.holds(best, start.stamp, end.stamp) => best,
            Some(best) => {
                self.drop_examined(remove);
                Best { start: start.stamp, end: end.stamp, ..best }
            }
        };
        self.best = Some(best);
        self.queues[start.input].cursor += 1;
        // The first: all sets with the pivot were examined. The second: every further one reaches
        // at least from the pivot to this end. It saves work, the others would come to the same.
        start.input == best.pivot.input
            || self.holds(best, best.pivot.stamp, end.stamp)
            || self.is_best_by_bounds(best)
    }

    /// Whether every set that future messages could form is no better than `best`: continues the
    /// search as if each input at its end had its next message as early as it may.
    fn is_best_by_bounds(&self, best: Best) -> bool {
        if self.all_have_more() {
            return false; // no need to guess
        }
        let mut cursors = [0; INPUTS_MAX];
        for (cursor, queue) in cursors.iter_mut().zip(&self.queues) {
            *cursor = queue.cursor;
        }
        loop {
            let stamp_of = |input: usize| {
                let Stamps { stamps, interval_ns_min, .. } = &self.queues[input];
                let earliest = || {
                    let newest = stamps.back().expect("the best set has a message of each input");
                    newest.saturating_add(*interval_ns_min).max(best.pivot.stamp)
                };
                stamps.get(cursors[input]).copied().unwrap_or_else(earliest)
            };
            let (start, end) = edges(self.queues.len(), stamp_of);
            if self.holds(best, best.pivot.stamp, end.stamp) {
                return true;
            }
            if !self.holds(best, start.stamp, end.stamp) {
                return false;
            }
            // One of the two was true if the start is at the pivot; the messages before it are
            // real.
            cursors[start.input] += 1;
        }
    }

    fn all_have_more(&self) -> bool {
        self.queues.iter().all(|queue| queue.cursor < queue.stamps.len())
    }

    /// Drops the oldest message of the input that had the last arrival if it has too many. Returns
    /// true if so.
    fn drop_overflow(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) -> bool {
        let Some(input) = self.arrived.take() else { return false };
        if self.queues[input].stamps.len() <= self.queue_size {
            return false;
        }
        self.queues.iter_mut().for_each(|queue| queue.cursor = 0);
        self.best = None;
        self.pop_front(input, Removal::Unmatched, remove);
        self.queues[input].dropped = true;
        true
    }
}

impl Matcher for ApproximateTimeMatcher {
    fn arrive(&mut self, input: usize, stamp: Time) -> Arrival {
        let stamp = stamp.as_nanos();
        let queue = &mut self.queues[input];
        let regular = queue.newest.is_none_or(|newest| {
            stamp.checked_sub(newest).is_some_and(|interval| interval >= queue.interval_ns_min)
        });
        queue.newest = Some(stamp);
        queue.stamps.push_back(stamp);
        self.arrived = Some(input);
        if regular { Arrival::Regular } else { Arrival::Irregular }
    }

    fn next(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) -> Option<Positions> {
        loop {
            while self.all_have_more() {
                if self.examine(remove) {
                    self.complete = true;
                    return Some(HEADS);
                }
            }
            if !self.drop_overflow(remove) {
                return None;
            }
        }
    }

    fn finish(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) {
        if !std::mem::take(&mut self.complete) {
            return;
        }
        self.best = None;
        for input in 0..self.queues.len() {
            self.queues[input].cursor = 0;
            self.pop_front(input, Removal::Used, remove);
        }
    }
}

#[cfg(test)]
mod tests;
