//! Exact time: messages of one and the same stamp.

use super::matcher::{Arrival, HEADS, Matcher, Positions, Removal, check_size};
use crate::base::error::Result;
use crate::base::time::Time;
use std::collections::VecDeque;

/// Joins the messages that carry exactly the same stamp.
///
/// The callback is called in the event of the arrival that completes a set. Promised is:
/// * every set has one message of each input, all of one stamp;
/// * a message is used at most once; if an input repeats a stamp, its messages are used in the
///   order in which they came;
/// * a message waits until its set is complete, a later set is, or its input's queue holds
///   `queue_size` newer ones. In the latter two cases it falls out, and is counted as
///   [`unmatched`](crate::CallbackStatistics::unmatched) of its input;
/// * if the stamps of no input go backwards, the sets come in the order of their stamps. A message
///   that comes after younger ones waits like any other, so nothing breaks when time is set back.
///
/// `message_filters` differs in two points. Its queue size counts the different stamps over all
/// inputs, this one the messages of each input. And there a message that repeats a stamp takes the
/// place of the one before it, which is lost without a trace.
///
/// An arrival costs time proportional to inputs × queue size at worst, and nothing is allocated.
///
/// ```
/// # use ringspin_executor::{ExactTime, Graph, Input, QoS, Stamped, Time};
/// # struct Image(Time);
/// # impl Stamped for Image { fn stamp(&self) -> Time { self.0 } }
/// # let graph = Graph::new();
/// let stereo = graph.create_node("stereo", 0)?;
/// stereo.create_synchronized_subscription(
///     (Input::<Image>::new("left", QoS::default()), Input::<Image>::new("right", QoS::default())),
///     ExactTime::new(5),
///     |pairs, (left, right), _| {
///         assert_eq!(left.stamp(), right.stamp());
///         *pairs += 1;
///     },
/// )?;
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExactTime {
    pub(crate) queue_size: usize,
}

impl ExactTime {
    /// Keeps the newest `queue_size` messages of each input that have no set yet.
    pub const fn new(queue_size: usize) -> Self {
        Self { queue_size }
    }

    pub(crate) fn matcher(self, inputs: usize) -> Result<ExactTimeMatcher> {
        check_size(self.queue_size)?;
        let queue = || VecDeque::with_capacity(self.queue_size + 1);
        let queues = (0..inputs).map(|_| queue()).collect();
        Ok(ExactTimeMatcher { queue_size: self.queue_size, queues, arrived: None, set: None })
    }
}

pub struct ExactTimeMatcher {
    queue_size: usize,
    /// The stamps in the order of arrival.
    queues: Box<[VecDeque<Time>]>,
    arrived: Option<(usize, Time)>,
    set: Option<Positions>,
}

impl ExactTimeMatcher {
    /// The position of `stamp` in each queue, if all have it.
    fn find(&self, stamp: Time) -> Option<Positions> {
        let mut at = HEADS;
        for (queue, at) in self.queues.iter().zip(&mut at) {
            *at = queue.iter().position(|&other| other == stamp)?;
        }
        Some(at)
    }

    /// Removes everything before `stamp`, for which no set will come anymore.
    fn remove_before(&mut self, stamp: Time, remove: &mut impl FnMut(usize, usize, Removal)) {
        for (input, queue) in self.queues.iter_mut().enumerate() {
            let mut position = 0;
            while let Some(&other) = queue.get(position) {
                if other < stamp {
                    queue.remove(position);
                    remove(input, position, Removal::Unmatched);
                } else {
                    position += 1;
                }
            }
        }
    }
}

impl Matcher for ExactTimeMatcher {
    fn arrive(&mut self, input: usize, stamp: Time) -> Arrival {
        self.queues[input].push_back(stamp);
        self.arrived = Some((input, stamp));
        Arrival::Regular
    }

    fn next(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) -> Option<Positions> {
        let (input, stamp) = self.arrived.take()?;
        if self.find(stamp).is_some() {
            self.remove_before(stamp, remove);
            self.set = self.find(stamp);
        } else if self.queues[input].len() > self.queue_size {
            self.queues[input].pop_front();
            remove(input, 0, Removal::Unmatched);
        }
        self.set
    }

    fn finish(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) {
        let Some(at) = self.set.take() else { return };
        for (input, queue) in self.queues.iter_mut().enumerate() {
            queue.remove(at[input]);
            remove(input, at[input], Removal::Used);
        }
    }
}

#[cfg(test)]
mod tests;
