//! Drives a matcher in tests, beside queues of its messages' numbers.

use super::matcher::{Arrival, Matcher, Removal};
use crate::base::time::Time;
use std::collections::VecDeque;

/// Per input, the number and the stamp of a message.
pub(crate) type Set = Vec<(usize, u64)>;

pub(crate) struct Driver<T> {
    matcher: T,
    queues: Vec<VecDeque<(usize, u64)>>,
    sent: Vec<usize>,
    pub(crate) sets: Vec<Set>,
    /// Input, number and stamp of each message that fell out.
    pub(crate) unmatched: Vec<(usize, usize, u64)>,
    pub(crate) irregular: usize,
    /// The longest queue so far, between arrivals.
    pub(crate) longest: usize,
}

impl<T: Matcher> Driver<T> {
    pub(crate) fn new(inputs: usize, matcher: T) -> Self {
        Self {
            matcher,
            queues: vec![VecDeque::new(); inputs],
            sent: vec![0; inputs],
            sets: Vec::new(),
            unmatched: Vec::new(),
            irregular: 0,
            longest: 0,
        }
    }

    /// Sends a message, and returns how many sets it completed.
    pub(crate) fn send(&mut self, input: usize, stamp: u64) -> usize {
        let Self { matcher, queues, sets, unmatched, .. } = self;
        queues[input].push_back((self.sent[input], stamp));
        self.sent[input] += 1;
        let arrival = matcher.arrive(input, Time::from_nanos(stamp));
        self.irregular += usize::from(arrival == Arrival::Irregular);
        let before = sets.len();
        loop {
            let at = matcher.next(&mut |i, p, removal| remove(queues, unmatched, i, p, removal));
            let Some(at) = at else { break };
            let numbered = queues.iter().zip(at);
            // An input without a message shows as `usize::MAX`.
            let member = |(queue, p): (&VecDeque<_>, usize)| queue.get(p).copied();
            sets.push(numbered.map(|pair| member(pair).unwrap_or((usize::MAX, 0))).collect());
            matcher.finish(&mut |i, p, removal| remove(queues, unmatched, i, p, removal));
        }
        self.longest = self.longest.max(queues.iter().map(VecDeque::len).max().unwrap_or(0));
        sets.len() - before
    }

    /// The stamps of the sets.
    pub(crate) fn stamps(&self) -> Vec<Vec<u64>> {
        self.sets.iter().map(|set| set.iter().map(|&(_, stamp)| stamp).collect()).collect()
    }

    /// The number of waiting messages on each input.
    pub(crate) fn waiting(&self) -> Vec<usize> {
        self.queues.iter().map(VecDeque::len).collect()
    }

    /// Asserts that all messages of each input are in use, waiting or unmatched.
    pub(crate) fn assert_that_nothing_is_lost(&self) {
        for (input, &sent) in self.sent.iter().enumerate() {
            let unmatched = self.unmatched.iter().filter(|lost| lost.0 == input).count();
            let found = self.sets.len() + unmatched + self.queues[input].len();
            assert_eq!(found, sent, "messages of input {input}");
        }
    }
}

fn remove(
    queues: &mut [VecDeque<(usize, u64)>],
    unmatched: &mut Vec<(usize, usize, u64)>,
    input: usize,
    position: usize,
    removal: Removal,
) {
    let (number, stamp) = queues[input].remove(position).expect("the message is there");
    if removal == Removal::Unmatched {
        unmatched.push((input, number, stamp));
    }
}
