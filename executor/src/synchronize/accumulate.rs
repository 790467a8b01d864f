//! All messages since the last call.

use super::error::{PolicyError, check_size};
use super::inputs::Role;
use super::matcher::{Arrival, HEADS, Matcher, Positions, Removal};
use super::trigger::{New, Trigger};
use crate::time::Time;

/// Collects messages and hands them over as one slice for each input, oldest first.
///
/// They are handed over as soon as one input has `capacity` of them, or when a [`Trigger`] says so
/// ([`until`](Self::until)). Slices may be empty. An input that has `capacity` messages when
/// another one comes gives up its oldest, which is counted as
/// [`unmatched`](crate::CallbackStatistics::unmatched); without `until` that does not happen.
///
/// An arrival takes constant time, a call time proportional to the messages that it hands over, and
/// nothing is allocated.
///
/// ```
/// # use ringspin_executor::{Accumulate, Graph, Input, QoS, Trigger};
/// # let graph = Graph::new();
/// let odometry = graph.create_node("odometry", 0.0)?;
/// odometry.create_synchronized_subscription(
///     (Input::<f64>::new("imu", QoS::keep_last(100)), Input::<f64>::new("scan", QoS::default())),
///     Accumulate::new(200).until(Trigger::One(1)), // all of the IMU's between two scans
///     |turned, (imu, _scans), _| *turned += imu.iter().map(|rate| **rate).sum::<f64>(),
/// )?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Accumulate {
    pub(crate) capacity: usize,
    trigger: Option<Trigger>,
}

impl Accumulate {
    /// Collects up to `capacity` messages of each input.
    pub const fn new(capacity: usize) -> Self {
        Self { capacity, trigger: None }
    }

    /// Hands over when `trigger` is met, and not because an input has `capacity` messages.
    #[must_use]
    pub fn until(mut self, trigger: Trigger) -> Self {
        self.trigger = Some(trigger);
        self
    }

    pub(crate) fn matcher(self, roles: &'static [Role]) -> Result<AccumulateMatcher, PolicyError> {
        check_size(self.capacity)?;
        self.trigger.iter().try_for_each(|trigger| trigger.check(roles))?;
        Ok(AccumulateMatcher {
            capacity: self.capacity,
            trigger: self.trigger,
            roles,
            counts: vec![0; roles.len()].into(),
            arrived: None,
            complete: false,
        })
    }
}

pub struct AccumulateMatcher {
    capacity: usize,
    trigger: Option<Trigger>,
    roles: &'static [Role],
    counts: Box<[usize]>,
    arrived: Option<usize>,
    complete: bool,
}

impl Matcher for AccumulateMatcher {
    fn arrive(&mut self, input: usize, _stamp: Time) -> Arrival {
        self.arrived = Some(input);
        Arrival::Regular
    }

    fn next(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) -> Option<Positions> {
        let input = self.arrived.take()?;
        if self.counts[input] == self.capacity {
            remove(input, 0, Removal::Unmatched);
        } else {
            self.counts[input] += 1;
        }
        self.complete = match &mut self.trigger {
            Some(trigger) => trigger.is_met(&New(&self.counts), self.roles),
            None => self.counts[input] == self.capacity,
        };
        self.complete.then_some(HEADS)
    }

    fn finish(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) {
        if std::mem::take(&mut self.complete) {
            for (input, count) in self.counts.iter_mut().enumerate() {
                (0..std::mem::take(count)).for_each(|_| remove(input, 0, Removal::Used));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::Driver;
    use super::*;

    const TWO: [Role; 2] = [Role::Required; 2];

    #[test]
    fn a_full_input_hands_over_what_all_have() {
        let mut d = Driver::new(2, Accumulate::new(3).matcher(&TWO).unwrap());
        let calls = [0, 1, 0, 0, 1, 0].map(|input| d.send(input, 1));
        assert_eq!(calls, [0, 0, 0, 1, 0, 0]);
        assert_eq!(d.waiting(), [1, 1]);
        assert!(d.unmatched.is_empty());
    }

    #[test]
    fn a_trigger_replaces_the_count_and_the_oldest_fall_out() {
        let accumulate = Accumulate::new(2).until(Trigger::One(1));
        let mut d = Driver::new(2, accumulate.matcher(&TWO).unwrap());
        assert_eq!([0, 0, 0, 0].map(|input| d.send(input, 7)), [0; 4]);
        assert_eq!((d.unmatched.len(), d.longest), (2, 2));
        assert_eq!(d.send(1, 8), 1);
        assert_eq!(d.sets, [[(2, 7), (0, 8)]], "the heads of the two slices");
        assert_eq!(d.waiting(), [0, 0]);
    }

    #[test]
    fn a_predicate_may_count() {
        let five = Trigger::when(|new| (0..new.inputs()).map(|i| new.count(i)).sum::<usize>() == 5);
        let mut d = Driver::new(2, Accumulate::new(9).until(five).matcher(&TWO).unwrap());
        let calls: usize = (0..14).map(|n| d.send(n % 2, 0)).sum();
        assert_eq!((calls, d.waiting()), (2, vec![2, 2]));
    }

    #[test]
    fn a_capacity_of_zero_is_refused() {
        let error = Accumulate::new(0).matcher(&TWO).err().unwrap();
        assert_eq!(error, PolicyError::QueueSize(0));
    }
}
