//! The assignment of event loops to cores, with dispatch priorities.

use std::sync::Arc;

use ringspin_modes::Mapping;

/// A core and a dispatch priority for every event loop; the `core_count` cores are interchangeable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    loops: Arc<[String]>,
    cores: Vec<usize>,
    priorities: Vec<u8>,
    core_count: usize,
}

impl Assignment {
    /// Puts loop `i` on core `cores[i]`, with the normal priority 0.
    ///
    /// # Panics
    /// Panics if `cores` is not as long as `loops`, or one is not below `core_count`.
    pub fn new(loops: impl Into<Arc<[String]>>, cores: Vec<usize>, core_count: usize) -> Self {
        let loops = loops.into();
        assert_eq!(cores.len(), loops.len(), "give one core for every loop");
        assert!(cores.iter().all(|&core| core < core_count), "cores are 0..{core_count}");
        Self { priorities: vec![0; cores.len()], loops, cores, core_count }
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

    /// The same assignment with the cores renumbered in the order of their first use. Assignments
    /// that differ only in core numbers become equal. O(n + cores).
    #[must_use]
    pub fn canonical(mut self) -> Self {
        rename_by_first_use(&mut self.cores, self.core_count);
        self
    }

    /// Converts to a mapping: core `i` becomes `core_ids[i]` of the operating system. Cores without
    /// loops are left out. If all priorities are 0, the mapping has none, and the priorities that
    /// the nodes set themselves apply.
    ///
    /// # Panics
    /// Panics if a core that is used has no id in `core_ids`.
    pub fn to_mapping(&self, core_ids: &[usize]) -> Mapping {
        let says_priorities = self.priorities.iter().any(|&priority| priority != 0);
        let priorities = self.loops.iter().zip(&self.priorities).filter(|_| says_priorities);
        let mapping = priorities.fold(Mapping::new(), |mapping, (name, &priority)| {
            mapping.dispatch_priority(name, priority)
        });
        (0..self.core_count).fold(mapping, |mapping, core| {
            let loops = self.loops.iter().zip(&self.cores).filter(|(_, on)| **on == core);
            let mut loops = loops.map(|(name, _)| name.as_str()).peekable();
            if loops.peek().is_none() {
                return mapping;
            }
            let Some(&id) = core_ids.get(core) else {
                panic!("core {core} is used: give one core id for each of {}", self.core_count)
            };
            mapping.core(id, loops)
        })
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
        let expected = Mapping::new().core(10, ["/1"]).core(12, ["/0", "/2"]);
        assert_eq!(assignment.to_mapping(&[10, 11, 12]), expected);
        assert_eq!((assignment.core_of("/2"), assignment.core_of("/3")), (Some(2), None));
    }

    #[test]
    fn the_mapping_has_the_priorities_unless_all_are_normal() {
        let plain = assignment(&[0, 0], 1);
        assert!(plain.to_mapping(&[3]).dispatch_priorities.is_empty());
        let mapping = plain.with_priorities(vec![0, 2]).to_mapping(&[3]);
        let expected = Mapping::new().core(3, ["/0", "/1"]);
        let expected = expected.dispatch_priority("/0", 0).dispatch_priority("/1", 2);
        assert_eq!(mapping, expected);
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
