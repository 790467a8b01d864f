//! A heap of deadlines in which each timer has at most one place, so that it can be moved.
//!
//! `std`'s binary heap cannot move or remove an entry. Leaving stale entries in it instead would
//! let a watchdog that is reset with every message grow it without bound.

/// Deadlines of the timers `0..n`, in nanoseconds; ties go to the lower index.
///
/// A heap with four children to a node, in an array: half as deep as a binary one, and the children
/// lie together. Setting and removing are logarithmic, the first is at hand.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    heap: Vec<Entry>,
    /// Where each timer is in the heap, or [`NOWHERE`].
    places: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

/// How many children a node has.
const CHILDREN: usize = 4;

/// A deadline and its timer, as one number: two of them are compared without a branch, which would
/// be mispredicted every other time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    #[inline]
    fn new(deadline: u64, index: usize) -> Self {
        Self(u128::from(deadline) << 64 | index as u128)
    }

    #[inline]
    fn deadline(self) -> u64 {
        (self.0 >> 64) as u64
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as u32 as usize
    }

    fn both(self) -> (u64, usize) {
        (self.deadline(), self.index())
    }
}

impl Deadlines {
    /// Makes room for one more timer, without a deadline, and returns its index.
    pub(crate) fn add(&mut self) -> usize {
        self.places.push(NOWHERE);
        self.heap.reserve(self.places.len() - self.heap.len());
        self.places.len() - 1
    }

    /// The earliest deadline and its timer.
    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, usize)> {
        self.heap.first().map(|entry| entry.both())
    }

    /// The deadlines up to `now` and their timers, in order. Linear in the number of all timers.
    pub(crate) fn due(&self, now: u64) -> impl Iterator<Item = (u64, usize)> + use<> {
        let due = self.heap.iter().copied().filter(|entry| entry.deadline() <= now);
        let mut due: Vec<_> = due.collect();
        due.sort_unstable();
        due.into_iter().map(Entry::both)
    }

    /// Gives timer `index` a deadline, in place of the one it has.
    pub(crate) fn set(&mut self, index: usize, deadline: u64) {
        let entry = Entry::new(deadline, index);
        let place = match self.places[index] {
            NOWHERE => {
                self.heap.push(entry);
                self.heap.len() - 1
            }
            place => place as usize,
        };
        self.put(entry, place);
    }

    /// Takes away the deadline of timer `index`, if it has one.
    pub(crate) fn remove(&mut self, index: usize) {
        let place = std::mem::replace(&mut self.places[index], NOWHERE);
        if place == NOWHERE {
            return;
        }
        let last = self.heap.pop().expect("it holds the timer");
        if (place as usize) < self.heap.len() {
            self.put(last, place as usize);
        }
    }

    /// Puts `entry` where it belongs, given a hole at `place`: the hole moves, not the entry.
    fn put(&mut self, entry: Entry, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.heap[parent] <= entry {
                break;
            }
            self.fill(place, self.heap[parent]);
            place = parent;
        }
        while let Some((child, least)) = self.least_child(place)
            && least < entry
        {
            self.fill(place, least);
            place = child;
        }
        self.fill(place, entry);
    }

    #[inline]
    fn least_child(&self, place: usize) -> Option<(usize, Entry)> {
        let first = CHILDREN * place + 1;
        let lesser = |one: (usize, Entry), other: (usize, Entry)| {
            if other.1 < one.1 { other } else { one }
        };
        if let Some(&[a, b, c, d]) = self.heap.get(first..first + CHILDREN) {
            let (left, right) = (lesser((0, a), (1, b)), lesser((2, c), (3, d)));
            let (child, least) = lesser(left, right);
            return Some((first + child, least));
        }
        let some = self.heap.get(first..)?.iter().enumerate();
        let (child, least) = some.map(|(n, entry)| (n, *entry)).reduce(lesser)?;
        Some((first + child, least))
    }

    #[inline]
    fn fill(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.index()] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_least_whatever_was_moved_or_removed(
            steps in prop::collection::vec((0..40usize, prop::option::of(0..9u64)), 0..400),
        ) {
            let mut deadlines = Deadlines::default();
            let mut model = [None; 40];
            (0..40).for_each(|index| assert_eq!(deadlines.add(), index));
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
