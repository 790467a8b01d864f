//! A model of approximate time that tries all sets: slow, and independent of the search that it
//! checks.

use super::super::super::tests::Set;
use std::collections::VecDeque;

/// The age penalty in eighths, so that everything here is exact.
const SCALE: i128 = 8;

pub(super) struct Model {
    pub(super) queue_size: usize,
    pub(super) penalty_eighths: u64,
    pub(super) intervals_min: Vec<u64>,
    /// Number and stamp of the waiting messages.
    queues: Vec<VecDeque<(usize, u64)>>,
    sent: Vec<usize>,
    fell_out: Vec<bool>,
    /// Its message is the first of its queue.
    pivot: Option<usize>,
    /// The input that needs a further message before the search can continue.
    waits_for: Option<usize>,
    pub(super) sets: Vec<Set>,
    pub(super) unmatched: usize,
}

impl Model {
    pub(super) fn new(queue_size: usize, penalty_eighths: u64, intervals_min: &[u64]) -> Self {
        let inputs = intervals_min.len();
        Self {
            queue_size,
            penalty_eighths,
            intervals_min: intervals_min.into(),
            queues: vec![VecDeque::new(); inputs],
            sent: vec![0; inputs],
            fell_out: vec![false; inputs],
            pivot: None,
            waits_for: None,
            sets: Vec::new(),
            unmatched: 0,
        }
    }

    pub(super) fn send(&mut self, input: usize, stamp: u64) {
        self.queues[input].push_back((self.sent[input], stamp));
        self.sent[input] += 1;
        if self.waits_for.is_none_or(|awaited| awaited == input) {
            self.hand_over_what_is_certain();
        }
        if self.queues[input].len() > self.queue_size {
            self.lose_first(input);
            self.fell_out[input] = true;
            self.pivot = None;
            self.hand_over_what_is_certain();
        }
    }

    fn lose_first(&mut self, input: usize) {
        self.queues[input].pop_front();
        self.unmatched += 1;
    }

    fn hand_over_what_is_certain(&mut self) {
        self.waits_for = None;
        while self.find_pivot() {
            let pivot = self.pivot.expect("there is one");
            let pivot_stamp = self.queues[pivot][0].1;
            let real: Vec<Vec<u64>> =
                self.queues.iter().map(|queue| queue.iter().map(|m| m.1).collect()).collect();
            let (best, quality) = self.best_of(&real, pivot);
            // As if each input had its next message as early as it may.
            let mut hoped = real;
            for (stamps, interval) in hoped.iter_mut().zip(&self.intervals_min) {
                stamps.push((stamps.last().unwrap() + interval).max(pivot_stamp));
            }
            let certain = self.best_of(&hoped, pivot).1 <= quality;
            for (input, &position) in best.iter().enumerate() {
                (0..position).for_each(|_| self.lose_first(input));
            }
            if !certain {
                // The input with the earliest newest message.
                let newest = |&input: &usize| self.queues[input].back().unwrap().1;
                self.waits_for = (0..self.queues.len()).min_by_key(newest);
                return;
            }
            self.sets.push(self.queues.iter_mut().map(|q| q.pop_front().unwrap()).collect());
            self.pivot = None;
        }
    }

    /// Chooses the latest head, unless better messages of its input may have fallen out. False if
    /// an input has no message.
    fn find_pivot(&mut self) -> bool {
        while self.pivot.is_none() {
            if self.queues.iter().any(VecDeque::is_empty) {
                return false;
            }
            let heads: Vec<u64> = self.queues.iter().map(|queue| queue[0].1).collect();
            let latest = (0..heads.len()).max_by_key(|&input| heads[input]).unwrap();
            let earliest = (0..heads.len()).min_by_key(|&input| heads[input]).unwrap();
            for (input, fell_out) in self.fell_out.iter_mut().enumerate() {
                *fell_out = *fell_out && input == latest;
            }
            match self.fell_out[latest] {
                true => self.lose_first(earliest),
                false => self.pivot = Some(latest),
            }
        }
        true
    }

    /// Of all sets with the first message of `pivot`, the positions and quality of the best; of
    /// equal ones, that with the older messages.
    fn best_of(&self, stamps: &[Vec<u64>], pivot: usize) -> (Vec<usize>, i128) {
        let mut best: Option<(Vec<usize>, i128)> = None;
        let mut positions = vec![0; stamps.len()];
        loop {
            let set = || stamps.iter().zip(&positions).map(|(stamps, &p)| i128::from(stamps[p]));
            let (start, end) = (set().min().unwrap(), set().max().unwrap());
            let quality = SCALE * start - (SCALE + i128::from(self.penalty_eighths)) * end;
            if best.as_ref().is_none_or(|(_, other)| quality > *other) {
                best = Some((positions.clone(), quality));
            }
            // The next combination; the last input counts fastest, the pivot stays.
            let mut input = stamps.len();
            loop {
                if input == 0 {
                    return best.expect("there is at least one");
                }
                input -= 1;
                if input != pivot && positions[input] + 1 < stamps[input].len() {
                    positions[input] += 1;
                    break;
                }
                positions[input] = 0;
            }
        }
    }
}
