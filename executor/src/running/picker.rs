//! The choice of the next ready loop: by priority, in turns within a priority, without starvation.
//!
//! Threads that announce events mark the rings in the [`ReadySet`], one bit for each; the picker
//! holds the order, as plain data that only the worker's thread reads and writes. The worker asks
//! it for each event in the live modes, and adds and removes rings when it adopts loops and changed
//! priorities. A pick is one search in the bits of the set among the rings of a priority. If
//! publishers sorted the events by priority instead, each would have to find a place among the
//! events of others, for which one exchange is not enough, and a change of a priority would leave
//! the waiting events behind.

use ringspin_ringbuf::ready_set::Members;
use ringspin_ringbuf::{CacheLines, ReadySet, ticks};
use std::cmp::Reverse;

/// Limit of the events in a row from loops of the highest priority while others are ready. Then one
/// event of the others is dispatched, in turns among them all; but not directly before an event of
/// a higher priority than the last one, which has waited for that one already.
const STREAK_MAX: u32 = 16;

/// Limit of the events in a row from one loop before the next one of its priority. More than one,
/// so that a node handles inputs together that arrive together. A turn with slow callbacks ends
/// earlier; see [`Picker::limit_turns`].
const TURN_MAX: u32 = 4;

/// Picks among the rings of one worker.
///
/// Within a priority it goes round: after the turn of ring `i` comes the next ready one above `i`.
/// Rings that lie in the order of their chains are thus served along the chain, in one round. When
/// nothing is ready, the round starts anew at the first ring: which of several timers that are due
/// at once comes first does not depend on what ran before the pause.
#[derive(Clone, Debug)]
pub struct Picker {
    /// Sorted by descending priority.
    classes: Vec<Class>,
    /// Picks since a lower priority than the highest ready one had its turn.
    streak: u32,
    /// The ring at which the search for the next one of lower priority starts.
    relief: usize,
    /// The priority of the last pick; the highest one at first.
    last: u8,
    /// After so many ticks of the processor a turn ends with the event that is handled.
    turn_ticks: u64,
    /// The processor's counter before the next pick, where it was read.
    noted: Option<u64>,
}

/// The rings of one priority. Alone on a cache line, because each pick writes to it.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Class {
    round: Round,
    priority: u8,
    members: Members,
    /// The rings of all lower priorities.
    lower: Members,
}

/// The place at which the rings of a priority are served in turns.
#[derive(Clone, Debug, Default)]
struct Round {
    /// The ring at which the round continues: the one that has the turn, or the next one.
    cursor: usize,
    /// The number of events that the ring at the cursor has had in its turn.
    turn: u32,
    /// When the turn began, in ticks of the processor; `None` if the counter was not read since.
    began: Option<u64>,
}

impl Round {
    /// Serves the next ring that is ready, by a function that finds the next one from a place on.
    ///
    /// A turn with a limit counts from its begin where the processor's counter was `noted`. Else it
    /// counts from the first event for which another ring waits, so that an event alone does not
    /// pay for a reading.
    #[inline(always)]
    fn serve(
        &mut self,
        next: impl Fn(usize) -> Option<usize>,
        (turn_ticks, noted): (u64, Option<u64>),
        now: impl Fn() -> u64,
    ) -> Option<usize> {
        let mut index = next(self.cursor)?;
        if turn_ticks != u64::MAX {
            let continues = self.turn > 0 && index == self.cursor;
            if !continues {
                self.began = noted;
            }
            if let Some(other) = next(index + 1).filter(|other| *other != index) {
                let now = noted.unwrap_or_else(now);
                let began = *self.began.get_or_insert(now);
                if continues && now.wrapping_sub(began) >= turn_ticks {
                    (index, self.began) = (other, Some(now));
                }
            }
        }
        // A further event of the turn, or the first one of the ring to which the round moves.
        self.turn = if index == self.cursor { self.turn + 1 } else { 1 };
        self.cursor = index;
        if self.turn == TURN_MAX {
            self.cursor = index + 1;
            self.turn = 0;
        }
        Some(index)
    }
}

impl Picker {
    /// Creates a picker for rings `0..` with these priorities.
    pub fn new(priorities: &[u8]) -> Self {
        let (streak, relief, last, turn_ticks, noted) = (0, 0, u8::MAX, u64::MAX, None);
        let mut picker = Self { classes: Vec::new(), streak, relief, last, turn_ticks, noted };
        priorities.iter().enumerate().for_each(|(ring, priority)| picker.add(ring, *priority));
        picker
    }

    /// Adds ring `index`. A ready ring that was not added is picked when no other one is ready, or
    /// as if it had been, while all rings have the same priority.
    pub fn add(&mut self, index: usize, priority: u8) {
        let key = |class: &Class| Reverse(class.priority);
        let at = self.classes.binary_search_by_key(&Reverse(priority), key).unwrap_or_else(|at| {
            let mut lower = Members::default();
            for class in &self.classes[at..] {
                class.members.iter().for_each(|ring| lower.insert(ring));
            }
            let members = Members::default();
            let round = Round::default();
            self.classes.insert(at, Class { round, priority, members, lower });
            at
        });
        self.classes[at].members.insert(index);
        self.classes[..at].iter_mut().for_each(|class| class.lower.insert(index));
    }

    /// Removes ring `index`, if it was added.
    pub fn remove(&mut self, index: usize) {
        self.classes.iter_mut().for_each(|class| {
            class.members.remove(index);
            class.lower.remove(index);
        });
        self.classes.retain(|class| !class.members.is_empty());
    }

    /// Adds the lines that a pick touches.
    pub(crate) fn add_to(&self, lines: &mut CacheLines) {
        lines.add(&self.classes[..]);
    }

    /// The highest priority of its rings; zero without rings.
    pub fn highest_priority(&self) -> u8 {
        self.classes.first().map_or(0, |class| class.priority)
    }

    /// Lets a turn end with the event that is handled after so many [`ticks`]. Without this only
    /// the number of events limits it, so that simulated workers do the same on every machine.
    pub fn limit_turns(&mut self, turn_ticks: u64) {
        self.turn_ticks = turn_ticks;
    }

    /// Tells the processor's counter before the next pick, where it was read.
    #[inline]
    pub fn note_ticks(&mut self, ticks: Option<u64>) {
        self.noted = ticks;
    }

    /// The next ring to serve, if any is ready. Constant time, plus the number of priorities if
    /// there are several.
    #[inline(always)]
    pub fn pick(&mut self, set: &ReadySet) -> Option<usize> {
        self.pick_at(set, ticks)
    }

    #[inline(always)]
    fn pick_at(&mut self, set: &ReadySet, now: impl Fn() -> u64) -> Option<usize> {
        let picked = match &mut self.classes[..] {
            [class] => {
                let times = (self.turn_ticks, self.noted);
                class.round.serve(|from| set.next(from), times, now)
            }
            _ => self.pick_by_priority(set, now),
        };
        if picked.is_none() {
            self.start_anew();
        }
        picked
    }

    /// Starts the rounds at the first ring of each priority. To be called when nothing is ready:
    /// the set may still have a mark then, which stands for no event.
    pub(crate) fn start_anew(&mut self) {
        self.classes.iter_mut().for_each(|class| class.round = Round::default());
        (self.streak, self.relief, self.last) = (0, 0, u8::MAX);
    }

    fn pick_by_priority(&mut self, set: &ReadySet, now: impl Fn() -> u64) -> Option<usize> {
        let is_ready = |class: &Class| set.next_in(class.round.cursor, &class.members).is_some();
        let Some(class) = self.classes.iter_mut().find(|class| is_ready(class)) else {
            return set.next(0); // a ring that was not added yet
        };
        let has_risen = class.priority > std::mem::replace(&mut self.last, class.priority);
        match set.next_in(self.relief, &class.lower) {
            None => self.streak = 0,
            Some(_) if self.streak < STREAK_MAX || has_risen => self.streak += 1,
            Some(lower) => {
                self.streak = 0;
                self.relief = lower + 1;
                let of = self.classes.iter().find(|class| class.members.contains(lower))?;
                self.last = of.priority;
                return Some(lower);
            }
        }
        // Go round within the class, from where the last round stopped.
        let Class { round, members, .. } = class;
        let times = (self.turn_ticks, self.noted);
        round.serve(|from| set.next_in(from, members), times, now)
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
    fn ring_that_is_added_is_picked_by_its_priority_until_it_is_removed() {
        let set = ReadySet::new(2);
        set.reserve(200);
        let mut picker = Picker::new(&[5, 5]);
        for (index, priority) in [(2, 9), (100, 0), (101, 5), (150, 7)] {
            picker.add(index, priority);
        }
        let picks = |picker: &mut Picker, ready: &[usize]| {
            ready.iter().for_each(|index| set.mark(*index));
            let mut picked = Vec::new();
            while let Some(index) = picker.pick(&set) {
                picked.push(index);
                set.clear(index);
            }
            picked
        };
        let all = [0, 1, 2, 100, 101, 150];
        assert_eq!(picks(&mut picker, &all), [2, 150, 0, 1, 101, 100]);
        picker.remove(2);
        picker.remove(101);
        assert_eq!(picks(&mut picker, &all), [150, 0, 1, 100, 2, 101], "removed ones come last");
        picker.add(2, 0);
        assert_eq!(picks(&mut picker, &[2, 100, 1]), [1, 2, 100]);
        [0, 1, 150].iter().for_each(|index| picker.remove(*index));
        assert_eq!((picker.classes.len(), picks(&mut picker, &[2, 100])), (1, vec![2, 100]));
    }

    #[test]
    fn rings_added_in_any_order_are_picked_like_sorted_ones() {
        // By their priority and number: 0 and 1, 2, 3 and 4.
        let (sorted, mixed) = ([7, 7, 3, 0, 0], [(3, 0), (2, 3), (0, 7), (4, 0), (1, 7)]);
        let set = ReadySet::new(5);
        let mut added = Picker::new(&[]);
        mixed.into_iter().for_each(|(index, priority)| added.add(index, priority));
        (0..5).for_each(|index| set.mark(index));
        let expected = picks(&sorted, &[0, 1, 2, 3, 4], 500);
        assert!(expected.into_iter().all(|index| added.pick(&set) == Some(index)));
    }

    /// Loops of one priority with callbacks of these durations, all always ready. Returns the
    /// longest time, and number of events, that others had between two turns of each loop.
    fn longest_wait(durations: &[u64], turn_ticks: u64) -> Vec<(u64, u32)> {
        let set = ReadySet::new(durations.len());
        (0..durations.len()).for_each(|index| set.mark(index));
        let mut picker = Picker::new(&vec![0; durations.len()]);
        picker.limit_turns(turn_ticks);
        let (mut waited, mut longest) =
            (vec![(0, 0); durations.len()], vec![(0, 0); durations.len()]);
        let mut now = u64::MAX / 2;
        for _ in 0..500 {
            let picked = picker.pick_at(&set, || now).unwrap();
            now += durations[picked];
            for (index, (time, events)) in waited.iter_mut().enumerate() {
                let of: &mut (u64, u32) = &mut longest[index];
                *of = (of.0.max(*time), of.1.max(*events));
                let is_other = index != picked;
                (*time, *events) =
                    if is_other { (*time + durations[picked], *events + 1) } else { (0, 0) };
            }
        }
        longest
    }

    #[test]
    fn a_turn_ends_after_a_time_or_four_events() {
        assert_eq!(longest_wait(&[10, 1000], 100), [(1000, 1), (40, 4)]);
        assert_eq!(longest_wait(&[10, 40], 100), [(120, 3), (40, 4)]);
        assert_eq!(longest_wait(&[10, 1000], u64::MAX), [(4000, 4), (40, 4)]);
    }

    #[test]
    fn the_turn_of_a_ring_that_was_ready_alone_counts_from_its_begin_if_that_is_known() {
        let (ends, continues) = (Some(1), Some(0));
        for (noted, expected) in [
            ([Some(7), Some(107)], ends),
            ([Some(7), Some(106)], continues),
            ([None; 2], continues),
        ] {
            let set = ReadySet::new(2);
            set.mark(0);
            let mut picker = Picker::new(&[0; 2]);
            picker.limit_turns(100);
            picker.note_ticks(noted[0]);
            assert_eq!(picker.pick_at(&set, || panic!("no counter is needed")), Some(0));
            set.mark(1);
            picker.note_ticks(noted[1]);
            assert_eq!(picker.pick_at(&set, || 1 << 40), expected, "{noted:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_loop_waits_for_one_turn_of_each_other_one(
            durations in proptest::collection::vec(1..300_u64, 1..8),
        ) {
            const TURN: u64 = 100;
            for (index, (time, events)) in longest_wait(&durations, TURN).into_iter().enumerate() {
                let others = || (0..durations.len()).filter(|other| *other != index);
                // A turn that has lasted for less time has another event, up to four.
                let turn = |other: usize| durations[other] * TURN.div_ceil(durations[other]).min(4);
                let count = |other: usize| TURN.div_ceil(durations[other]).min(4) as u32;
                assert_eq!(time, others().map(turn).sum::<u64>());
                assert_eq!(events, others().map(count).sum::<u32>());
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
