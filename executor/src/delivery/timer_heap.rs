//! A heap of deadlines in which each timer has at most one place, so that it can be moved.
//!
//! `std`'s binary heap cannot move or remove an entry. Leaving stale entries in it instead would
//! let a watchdog that is reset with every message grow it without bound.

/// Deadlines of the timers `0..n`, in nanoseconds; ties go to the timer that was created first.
///
/// A heap with four children to a node, in an array: half as deep as a binary one. The children of
/// a node are one cache line, and always four: [`Entry::NONE`] fills the last group up. Setting and
/// removing are logarithmic, the first is at hand.
#[derive(Debug, Default)]
pub(crate) struct TimerHeap {
    /// The root is the last entry of the first group, so that siblings lie in one group.
    heap: Vec<Group>,
    len: usize,
    /// Indexed by timer.
    timers: Vec<Timer>,
}

#[derive(Debug)]
struct Timer {
    /// The position in the heap, or [`NOWHERE`].
    place: u32,
    /// The rank among equal deadlines.
    rank: u32,
}

const NOWHERE: u32 = u32::MAX;

/// The number of children of a node.
const CHILDREN: usize = 4;

/// The place of the first of all entries.
const ROOT: usize = CHILDREN - 1;

/// The children of one node, on one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Group([Entry; CHILDREN]);

/// A deadline and its timer, as one number: two of them are compared without a branch, which would
/// be mispredicted every other time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    /// Later than every entry of a timer.
    const NONE: Self = Self(u128::MAX);

    #[inline]
    fn new(deadline: u64, rank: u32, index: usize) -> Self {
        Self(u128::from(deadline) << 64 | u128::from(rank) << 32 | index as u128)
    }

    #[inline]
    fn deadline(self) -> u64 {
        (self.0 >> 64) as u64
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline]
    fn both(self) -> (u64, usize) {
        (self.deadline(), self.index())
    }
}

impl TimerHeap {
    /// Makes room for one more timer, without a deadline, and returns its index. Of equal deadlines
    /// the one with the lower rank comes first.
    pub(crate) fn add(&mut self, rank: u32) -> usize {
        self.timers.push(Timer { place: NOWHERE, rank });
        let groups = (ROOT + self.timers.len()).div_ceil(CHILDREN);
        self.heap.resize(groups, Group([Entry::NONE; CHILDREN]));
        self.timers.len() - 1
    }

    /// Gives the place of a timer without a deadline to another timer.
    pub(crate) fn reuse(&mut self, index: usize, rank: u32) {
        self.timers[index].rank = rank;
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, usize)> {
        let first = self.heap.first()?.0[ROOT];
        (first != Entry::NONE).then(|| first.both())
    }

    /// The timers with the next two deadlines; any numbers if there are none.
    #[inline]
    pub(crate) fn next_two(&self) -> [usize; 2] {
        let first = self.heap.first().map_or(Entry::NONE, |group| group.0[ROOT]);
        let second = self.least_child(ROOT).map_or(Entry::NONE, |(_, entry)| entry);
        [first.index(), second.index()]
    }

    /// The deadlines up to `now` and their timers, in order. Looks at these and their children.
    pub(crate) fn due(&self, now: u64) -> impl Iterator<Item = (u64, usize)> + use<> {
        let is_due = |place: &usize| {
            let entry = self.entry(*place);
            entry.deadline() <= now && entry != Entry::NONE
        };
        let mut places: Vec<_> = Some(ROOT).into_iter().filter(is_due).collect();
        let mut n = 0;
        while let Some(place) = places.get(n) {
            let children = CHILDREN * (place + 1 - ROOT);
            places.extend((children..children + CHILDREN).filter(is_due));
            n += 1;
        }
        let mut due: Vec<_> = places.into_iter().map(|place| self.entry(place)).collect();
        due.sort_unstable();
        due.into_iter().map(Entry::both)
    }

    /// Gives timer `index` a deadline, in place of the one it has.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, deadline: u64) {
        let Timer { place, rank } = self.timers[index];
        let entry = Entry::new(deadline, rank, index);
        let place = match place {
            NOWHERE => {
                self.len += 1;
                ROOT + self.len - 1
            }
            place => place as usize,
        };
        self.put(entry, place);
    }

    /// Removes the deadline of timer `index`, if it has one.
    pub(crate) fn remove(&mut self, index: usize) {
        let place = std::mem::replace(&mut self.timers[index].place, NOWHERE);
        if place == NOWHERE {
            return;
        }
        self.len -= 1;
        let end = ROOT + self.len;
        let last = std::mem::replace(self.entry_mut(end), Entry::NONE);
        if (place as usize) < end {
            self.put(last, place as usize);
        }
    }

    /// Puts `entry` where it belongs, given a hole at `place`: the hole moves, not the entry.
    fn put(&mut self, entry: Entry, mut place: usize) {
        while place > ROOT {
            let parent = place / CHILDREN + ROOT - 1;
            let above = *self.entry_mut(parent);
            if above <= entry {
                break;
            }
            self.fill(place, above);
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
        let group = place + 1 - ROOT;
        let &Group([a, b, c, d]) = self.heap.get(group)?;
        let lesser = |one: (usize, Entry), other: (usize, Entry)| {
            if other.1 < one.1 { other } else { one }
        };
        let (left, right) = (lesser((0, a), (1, b)), lesser((2, c), (3, d)));
        let (child, least) = lesser(left, right);
        Some((CHILDREN * group + child, least))
    }

    /// The entry at `place`, which may be beyond the last group.
    fn entry(&self, place: usize) -> Entry {
        let group = self.heap.get(place / CHILDREN);
        group.map_or(Entry::NONE, |group| group.0[place % CHILDREN])
    }

    #[inline]
    fn entry_mut(&mut self, place: usize) -> &mut Entry {
        &mut self.heap[place / CHILDREN].0[place % CHILDREN]
    }

    #[inline]
    fn fill(&mut self, place: usize, entry: Entry) {
        *self.entry_mut(place) = entry;
        self.timers[entry.index()].place = place as u32;
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
            let mut deadlines = TimerHeap::default();
            let mut model = [None; 40];
            // The later index has the lower rank.
            (0..40).for_each(|index| assert_eq!(deadlines.add(40 - index as u32), index));
            for (index, deadline) in steps {
                match deadline {
                    Some(deadline) => deadlines.set(index, deadline),
                    None => deadlines.remove(index),
                }
                model[index] = deadline;
                let all = model.iter().enumerate();
                let least = all.filter_map(|(n, deadline)| deadline.map(|d| (d, 40 - n, n))).min();
                prop_assert_eq!(deadlines.first(), least.map(|(d, _, n)| (d, n)));
            }
            for now in [0, 4, 8, u64::MAX] {
                let all = model.iter().enumerate();
                let all = all.filter_map(|(n, deadline)| deadline.map(|d| (d, 40 - n, n)));
                let mut due: Vec<_> = all.filter(|(deadline, ..)| *deadline <= now).collect();
                due.sort_unstable();
                let due: Vec<_> = due.into_iter().map(|(d, _, n)| (d, n)).collect();
                prop_assert_eq!(deadlines.due(now).collect::<Vec<_>>(), due);
            }
        }
    }
}
