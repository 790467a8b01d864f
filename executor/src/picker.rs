//! The choice of the next ready loop: by priority, in turns within a priority, without starvation.

use ringspin_ringbuf::ReadySet;

/// Limit of the events in a row from loops of the highest priority while others are ready. Then one
/// event of the others is dispatched, in turns among them all; but not directly before an event of
/// a higher priority than the last one, which has waited for that one already.
const STREAK_MAX: u32 = 16;

/// Limit of the events in a row from one loop before the next one of its priority. More than one,
/// so that a node whose inputs arrive together handles them together.
const TURN_MAX: u32 = 4;

/// Picks among the rings of one worker, which are sorted by descending priority.
///
/// Within a priority it goes round: after the turn of ring `i` comes the next ready one above `i`.
/// Rings that lie in the order of their chains are thus served along the chain, in one round. When
/// nothing is ready, the round starts anew at the first ring: which of several timers that are due
/// at once comes first does not depend on what ran before the pause.
#[derive(Clone, Debug)]
pub struct Picker {
    classes: Vec<Class>,
    /// Picks since a lower priority than the highest ready one had its turn.
    streak: u32,
    /// The ring at which the search for the next one of lower priority starts.
    relief: usize,
    /// The class of the last pick.
    last: usize,
}

/// The rings of one priority. Each pick writes to it, hence on a cache line of its own.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Class {
    /// The index at which the class after this one starts.
    end: usize,
    /// The ring at which the round continues: the one whose turn it is, or the one after it.
    cursor: usize,
    /// The number of events that the ring at the cursor has had in its turn.
    turn: u32,
}

impl Class {
    /// The round has come to ring `index`, or is still there.
    #[inline]
    fn serve(&mut self, index: usize) {
        self.turn = if index == self.cursor { self.turn + 1 } else { 1 };
        self.cursor = index;
        if self.turn == TURN_MAX {
            self.cursor = index + 1;
            self.turn = 0;
        }
    }
}

impl Picker {
    /// Creates a picker for rings with these priorities, which descend.
    pub fn new(priorities: &[u8]) -> Self {
        debug_assert!(priorities.is_sorted_by(|a, b| a >= b));
        let mut classes: Vec<Class> = Vec::new();
        let mut start = 0;
        for class in priorities.chunk_by(|a, b| a == b) {
            classes.push(Class { end: start + class.len(), cursor: start, turn: 0 });
            start += class.len();
        }
        Self { classes, streak: 0, relief: 0, last: 0 }
    }

    /// The next ring to serve, if any is ready. Constant time, plus the number of priorities if
    /// there are several.
    #[inline]
    pub fn pick(&mut self, set: &ReadySet) -> Option<usize> {
        let picked = match &mut self.classes[..] {
            [class] => set.next(class.cursor).inspect(|&index| class.serve(index)),
            _ => self.pick_by_priority(set),
        };
        if picked.is_none() {
            self.start_anew();
        }
        picked
    }

    /// Starts the rounds at the first ring of each priority. To be called when nothing is ready:
    /// the set may still have a mark then, which stands for no event.
    pub(crate) fn start_anew(&mut self) {
        let mut start = 0;
        for class in &mut self.classes {
            (class.cursor, class.turn) = (start, 0);
            start = class.end;
        }
        (self.streak, self.relief, self.last) = (0, 0, 0);
    }

    fn pick_by_priority(&mut self, set: &ReadySet) -> Option<usize> {
        let first = set.next(0)?;
        let highest = self.class_of(first)?;
        let has_risen = highest < std::mem::replace(&mut self.last, highest);
        let class = &mut self.classes[highest];
        let below = |start| set.next(start).filter(|&index| index >= class.end);
        match below(self.relief.max(class.end)).or_else(|| below(class.end)) {
            None => self.streak = 0,
            Some(_) if self.streak < STREAK_MAX || has_risen => self.streak += 1,
            Some(lower) => {
                self.streak = 0;
                self.relief = lower + 1;
                self.last = self.class_of(lower)?;
                return Some(lower);
            }
        }
        // Go round within the class, from where the last round stopped.
        let next = set.next(class.cursor);
        let index = next.filter(|next| (class.cursor..class.end).contains(next)).unwrap_or(first);
        class.serve(index);
        Some(index)
    }

    fn class_of(&self, index: usize) -> Option<usize> {
        self.classes.iter().position(|class| index < class.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Picks `n` times with every ring of `ready` always ready.
    fn picks(priorities: &[u8], ready: &[usize], n: usize) -> Vec<usize> {
        let set = ReadySet::new(priorities.len());
        ready.iter().for_each(|&index| set.mark(index));
        let mut picker = Picker::new(priorities);
        (0..n).map(|_| picker.pick(&set).unwrap()).collect()
    }

    #[test]
    fn equal_priorities_take_turns() {
        let turns = |rings: &[usize]| rings.repeat(TURN_MAX as usize);
        let in_turns = |rings: &[usize]| rings.iter().flat_map(|&ring| turns(&[ring])).collect();
        let expected: Vec<_> = in_turns(&[0, 2, 3, 0]);
        assert_eq!(picks(&[0; 4], &[0, 2, 3], expected.len()), expected);
        let expected: Vec<_> = in_turns(&[0, 1, 0]);
        assert_eq!(picks(&[9, 9, 0], &[0, 1], expected.len()), expected);
    }

    #[test]
    fn a_turn_ends_when_the_ring_is_empty() {
        let set = ReadySet::new(3);
        (0..3).for_each(|index| set.mark(index));
        let mut picker = Picker::new(&[0; 3]);
        let mut picked = Vec::new();
        while let Some(index) = picker.pick(&set) {
            picked.push(index);
            set.clear(index);
        }
        assert_eq!(picked, [0, 1, 2]);
    }

    #[test]
    fn a_higher_priority_goes_first_without_starving_lower_ones() {
        let picked = picks(&[7, 7, 3, 0, 0], &[1, 2, 3, 4], 17 * 40);
        let count = |index| picked.iter().filter(|&&p| p == index).count();
        assert_eq!(&picked[..3], [1, 1, 1]);
        assert_eq!(count(1), 16 * 40);
        assert_eq!([count(2), count(3), count(4)], [14, 13, 13], "the others share the rest");
    }

    /// Whenever the first ring becomes ready, one event of a lower priority was served since then
    /// at most; and the lowest one is served all the same.
    #[test]
    fn an_event_of_higher_priority_waits_for_one_of_a_lower_one() {
        for every in 1..40 {
            let set = ReadySet::new(3);
            (1..3).for_each(|index| set.mark(index));
            let mut picker = Picker::new(&[9, 5, 0]);
            let (mut lowest, mut last) = (0, 0);
            for n in 0..1_000 {
                let picked = picker.pick(&set).unwrap();
                // The one that is picked runs while the first ring becomes ready.
                assert!(!set_contains(&set, 0) || picked == 0 || last == 0, "{every}: {n}");
                lowest += usize::from(picked == 2);
                last = picked;
                set.clear(0);
                if n % every == 0 {
                    set.mark(0);
                }
            }
            assert!(lowest >= 1_000 / 40, "{every}: {lowest}");
        }
    }

    fn set_contains(set: &ReadySet, index: usize) -> bool {
        set.next(index) == Some(index)
    }

    #[test]
    fn a_round_after_a_pause_starts_at_the_first_ring() {
        for priorities in [[0, 0, 0], [1, 0, 0]] {
            let set = ReadySet::new(3);
            let mut picker = Picker::new(&priorities);
            for last in 0..3 {
                set.mark(last);
                assert_eq!(picker.pick(&set), Some(last));
                set.clear(last);
                assert_eq!(picker.pick(&set), None);
                (1..3).for_each(|index| set.mark(index));
                assert_eq!(picker.pick(&set), Some(1), "after {last}");
                (1..3).for_each(|index| set.clear(index));
                assert_eq!(picker.pick(&set), None);
            }
        }
    }

    #[test]
    fn nothing_is_picked_while_nothing_is_ready() {
        let set = ReadySet::new(3);
        assert_eq!(Picker::new(&[1, 1, 0]).pick(&set), None);
        assert_eq!(Picker::new(&[]).pick(&ReadySet::new(0)), None);
    }
}
