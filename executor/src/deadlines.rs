//! A heap of deadlines in which each timer has at most one place, so that it can be moved.
//!
//! `std`'s binary heap cannot move or remove an entry. Leaving stale entries in it instead would
//! let a watchdog that is reset with every message grow it without bound.

/// Deadlines of the timers `0..n`, in nanoseconds; ties go to the lower index.
///
/// A binary heap in an array. Setting and removing are logarithmic, the first is at hand.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    heap: Vec<(u64, usize)>,
    /// Where each timer is in the heap.
    places: Vec<Option<usize>>,
}

impl Deadlines {
    /// Makes room for one more timer, without a deadline, and returns its index.
    pub(crate) fn add(&mut self) -> usize {
        self.places.push(None);
        self.heap.reserve(self.places.len() - self.heap.len());
        self.places.len() - 1
    }

    /// The earliest deadline and its timer.
    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, usize)> {
        self.heap.first().copied()
    }

    /// The deadlines up to `now` and their timers, in order. Linear in the number of all timers.
    pub(crate) fn due(&self, now: u64) -> impl Iterator<Item = (u64, usize)> + use<> {
        let due = self.heap.iter().copied().filter(|(deadline, _)| *deadline <= now);
        let mut due: Vec<_> = due.collect();
        due.sort_unstable();
        due.into_iter()
    }

    /// Gives timer `index` a deadline, in place of the one it has.
    pub(crate) fn set(&mut self, index: usize, deadline: u64) {
        let place = match self.places[index] {
            Some(place) => {
                self.heap[place].0 = deadline;
                place
            }
            None => {
                self.heap.push((deadline, index));
                self.places[index] = Some(self.heap.len() - 1);
                self.heap.len() - 1
            }
        };
        let place = self.sift_up(place);
        self.sift_down(place);
    }

    /// Takes away the deadline of timer `index`, if it has one.
    pub(crate) fn remove(&mut self, index: usize) {
        let Some(place) = self.places[index].take() else {
            return;
        };
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.places[self.heap[place].1] = Some(place);
            let place = self.sift_up(place);
            self.sift_down(place);
        }
    }

    fn sift_up(&mut self, mut place: usize) -> usize {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= self.heap[place] {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
        place
    }

    /// Moves others up into the hole that the sinking one leaves, instead of swapping.
    fn sift_down(&mut self, mut place: usize) {
        let sinking = self.heap[place];
        loop {
            let left = 2 * place + 1;
            let Some(&(mut least)) = self.heap.get(left) else {
                break;
            };
            let mut child = left;
            if let Some(&other) = self.heap.get(left + 1)
                && other < least
            {
                (least, child) = (other, left + 1);
            }
            if sinking <= least {
                break;
            }
            self.heap[place] = least;
            self.places[least.1] = Some(place);
            place = child;
        }
        self.heap[place] = sinking;
        self.places[sinking.1] = Some(place);
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        for place in [a, b] {
            self.places[self.heap[place].1] = Some(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_least_whatever_was_moved_or_removed(
            steps in prop::collection::vec((0..6usize, prop::option::of(0..9u64)), 0..200),
        ) {
            let mut deadlines = Deadlines::default();
            let mut model = [None; 6];
            (0..6).for_each(|index| assert_eq!(deadlines.add(), index));
            for (index, deadline) in steps {
                match deadline {
                    Some(deadline) => deadlines.set(index, deadline),
                    None => deadlines.remove(index),
                }
                model[index] = deadline;
                let all = model.iter().enumerate();
                let least = all.filter_map(|(n, deadline)| deadline.map(|d| (d, n))).min();
                prop_assert_eq!(deadlines.first(), least);
            }
        }
    }
}
