//! The assignment of event loops to cores, with dispatch priorities and threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ringspin_modes::Mapping;

/// A core, a dispatch priority and a thread for every event loop; the `core_count` cores are
/// interchangeable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    loops: Arc<[String]>,
    cores: Vec<usize>,
    priorities: Vec<u8>,
    thread_levels: Vec<u8>,
    core_count: usize,
}

impl Assignment {
    /// Puts loop `i` on core `cores[i]`, with the normal priority 0, and one thread on each core.
    ///
    /// # Panics
    /// Panics if `cores` is not as long as `loops`, or one is not below `core_count`.
    pub fn new(loops: impl Into<Arc<[String]>>, cores: Vec<usize>, core_count: usize) -> Self {
        let loops = loops.into();
        assert_eq!(cores.len(), loops.len(), "give one core for every loop");
        assert!(cores.iter().all(|&core| core < core_count), "cores are 0..{core_count}");
        let levels = vec![0; cores.len()];
        Self { priorities: levels.clone(), thread_levels: levels, loops, cores, core_count }
    }

    /// Gives loop `i` the priority `priorities[i]`; 0 is normal, a higher one goes first.
    ///
    /// # Panics
    /// Panics if `priorities` is not as long as the list of loops.
    #[must_use]
    pub fn with_priorities(self, priorities: Vec<u8>) -> Self {
        assert_eq!(priorities.len(), self.loops.len(), "give one priority for every loop");
        Self { priorities, ..self }
    }

    /// Puts loop `i` on the thread `thread_levels[i]` of its core; a higher one preempts the lower
    /// ones. Only the order of the levels of one core counts.
    ///
    /// # Panics
    /// Panics if `thread_levels` is not as long as the list of loops.
    #[must_use]
    pub fn with_thread_levels(self, thread_levels: Vec<u8>) -> Self {
        assert_eq!(thread_levels.len(), self.loops.len(), "give one thread for every loop");
        Self { thread_levels, ..self }
    }

    /// The names of the loops, as in a mapping.
    pub fn loops(&self) -> &[String] {
        &self.loops
    }

    /// The core of every loop.
    pub fn cores(&self) -> &[usize] {
        &self.cores
    }

    /// The priority of every loop; 0 is normal.
    pub fn priorities(&self) -> &[u8] {
        &self.priorities
    }

    /// The thread of every loop on its core; a higher one preempts the lower ones.
    pub fn thread_levels(&self) -> &[u8] {
        &self.thread_levels
    }

    /// Whether any core has several threads. O(n + cores).
    pub fn preempts(&self) -> bool {
        let mut levels = vec![None; self.core_count];
        let mut of_loops = self.cores.iter().zip(&self.thread_levels);
        of_loops.any(|(&core, &level)| *levels[core].get_or_insert(level) != level)
    }

    /// The number of cores, used or not.
    pub fn core_count(&self) -> usize {
        self.core_count
    }

    /// The number of cores that have a loop. O(n + cores).
    pub fn cores_used(&self) -> usize {
        let mut used = vec![false; self.core_count];
        self.cores.iter().for_each(|&core| used[core] = true);
        used.into_iter().filter(|&used| used).count()
    }

    /// The core of the loop with this name. O(n).
    pub fn core_of(&self, name: &str) -> Option<usize> {
        self.loops.iter().position(|other| other == name).map(|index| self.cores[index])
    }

    /// The same assignment with the cores renumbered in the order of their first use, and the
    /// threads of each core numbered from 0. Assignments that differ only in these numbers become
    /// equal. O(n * (n + cores)).
    #[must_use]
    pub fn canonical(mut self) -> Self {
        rename_by_first_use(&mut self.cores, self.core_count);
        rank_levels(&self.cores, &mut self.thread_levels);
        self
    }

    /// Converts to a mapping: core `i` becomes `core_ids[i]` of the operating system. Cores without
    /// loops are left out. If all priorities are 0, the mapping has none, and the priorities that
    /// the nodes set themselves apply. The lowest thread of each core has normal priority, the
    /// others have the SCHED_FIFO priorities from 1 on. It is [unbalanced](Mapping::unbalanced):
    /// threads with fixed loops need no knowledge of each other.
    ///
    /// # Panics
    /// Panics if a core that is used has no id in `core_ids`.
    pub fn to_mapping(&self, core_ids: &[usize]) -> Mapping {
        let says_priorities = self.priorities.iter().any(|&priority| priority != 0);
        let priorities = self.loops.iter().zip(&self.priorities).filter(|_| says_priorities);
        let mapping = priorities.fold(Mapping::new().unbalanced(), |mapping, (name, &priority)| {
            mapping.dispatch_priority(name, priority)
        });
        let mut levels = self.thread_levels.clone();
        rank_levels(&self.cores, &mut levels);
        let mut threads = BTreeMap::<_, Vec<&str>>::new();
        for ((core, level), name) in self.cores.iter().zip(levels).zip(self.loops.iter()) {
            threads.entry((*core, level)).or_default().push(name);
        }
        threads.into_iter().fold(mapping, |mapping, ((core, level), loops)| {
            let Some(&id) = core_ids.get(core) else {
                panic!("core {core} is used: give one core id for each of {}", self.core_count)
            };
            match level {
                0 => mapping.core(id, loops),
                priority => mapping.thread(id, priority, loops),
            }
        })
    }
}

/// Replaces the level of each loop by its rank on its core, from 0.
pub(crate) fn rank_levels<T: Copy + Ord + TryFrom<usize>>(cores: &[usize], levels: &mut [T]) {
    let before = levels.to_vec();
    for (&core, level) in cores.iter().zip(levels) {
        let on_core = cores.iter().zip(&before).filter(|(other, _)| **other == core);
        let lower: BTreeSet<T> =
            on_core.map(|(_, other)| *other).filter(|other| *other < *level).collect();
        // A rank is at most the level itself.
        *level = T::try_from(lower.len()).unwrap_or(*level);
    }
}

/// Renumbers the cores in the order of their first use.
pub(crate) fn rename_by_first_use(cores: &mut [usize], core_count: usize) {
    let mut names = vec![None; core_count];
    let mut next = 0;
    for core in cores {
        *core = *names[*core].get_or_insert_with(|| {
            next += 1;
            next - 1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(cores: &[usize], core_count: usize) -> Assignment {
        let loops: Vec<String> = (0..cores.len()).map(|i| format!("/{i}")).collect();
        Assignment::new(loops, cores.to_vec(), core_count)
    }

    #[test]
    fn renaming_the_cores_does_not_change_the_canonical_form() {
        assert_eq!(assignment(&[2, 0, 2], 3).canonical().cores(), [0, 1, 0]);
        assert_eq!(assignment(&[1, 2, 1], 3).canonical(), assignment(&[2, 0, 2], 3).canonical());
        assert_eq!(assignment(&[2, 0, 2], 5).cores_used(), 2);
    }

    #[test]
    fn priorities_belong_to_loops_and_survive_renaming() {
        let assignment = assignment(&[1, 0], 2).with_priorities(vec![3, 0]).canonical();
        assert_eq!((assignment.cores(), assignment.priorities()), (&[0, 1][..], &[3, 0][..]));
    }

    #[test]
    fn the_mapping_names_the_cores_of_the_system() {
        let assignment = assignment(&[2, 0, 2], 4);
        let expected = Mapping::new().unbalanced().core(10, ["/1"]).core(12, ["/0", "/2"]);
        assert_eq!(assignment.to_mapping(&[10, 11, 12]), expected);
        assert_eq!((assignment.core_of("/2"), assignment.core_of("/3")), (Some(2), None));
    }

    #[test]
    fn the_mapping_has_the_priorities_unless_all_are_normal() {
        let plain = assignment(&[0, 0], 1);
        assert!(plain.to_mapping(&[3]).dispatch_priorities.is_empty());
        let mapping = plain.with_priorities(vec![0, 2]).to_mapping(&[3]);
        let expected = Mapping::new().unbalanced().core(3, ["/0", "/1"]);
        let expected = expected.dispatch_priority("/0", 0).dispatch_priority("/1", 2);
        assert_eq!(mapping, expected);
    }

    #[test]
    fn mapping_has_a_thread_for_each_level_of_a_core() {
        let assignment = assignment(&[0, 0, 1, 0], 2).with_thread_levels(vec![5, 2, 7, 9]);
        let expected =
            Mapping::new().unbalanced().core(3, ["/1"]).thread(3, 1, ["/0"]).thread(3, 2, ["/3"]);
        assert_eq!(assignment.to_mapping(&[3, 4]), expected.core(4, ["/2"]));
        assert_eq!(assignment.clone().canonical().thread_levels(), [1, 0, 0, 2]);
        assert!(assignment.preempts());
        assert!(!assignment.with_thread_levels(vec![4, 4, 1, 4]).preempts());
    }

    #[test]
    #[should_panic(expected = "give one core id for each of 2")]
    fn a_mapping_with_too_few_core_ids_panics() {
        let _ = assignment(&[1], 2).to_mapping(&[0]);
    }

    #[test]
    #[should_panic(expected = "give one priority for every loop")]
    fn more_priorities_than_loops_panic() {
        let _ = assignment(&[0], 1).with_priorities(vec![0, 0]);
    }
}
