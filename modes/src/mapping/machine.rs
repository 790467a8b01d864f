//! The cores of this machine, and a mapping that demands isolated ones.
//!
//! A core is isolated when the kernel puts nothing on it by itself (`isolcpus=` at boot): only
//! threads that pin themselves run there. The kernel leaves such cores out of the affinity mask of
//! ordinary processes, which is why they have to be looked up, and may be named nevertheless.

use super::Mapping;
use crate::names::list;
use crate::thread::allowed_cores;
use ringspin_executor::{Error, ErrorKind, Result};
use std::collections::BTreeSet;

/// The file in which Linux lists the isolated cores.
const ISOLATED: &str = "/sys/devices/system/cpu/isolated";

/// The file in which Linux lists the cores that are switched on.
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// The cores that a process may run its workers on, as the operating system numbers them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The cores of the affinity mask.
    pub allowed: Vec<usize>,
    /// The isolated cores, in or outside the affinity mask; ascending.
    pub isolated: Vec<usize>,
}

impl Machine {
    /// This machine, as this thread may use it. Where no isolated cores are listed, there are none.
    #[must_use]
    pub fn this() -> Self {
        let text = std::fs::read_to_string(ISOLATED).unwrap_or_default();
        let isolated = parse_cpu_list(&text).unwrap_or_else(|| {
            tracing::warn!(text = text.trim(), "{ISOLATED} is not understood: no core is isolated");
            Vec::new()
        });
        Self { allowed: allowed_cores(), isolated }
    }

    /// The cores without a mapping, as many as the affinity mask and the quota of the
    /// control group let compute at the same time, and whether the threads stay on them. They do if
    /// that is the whole machine: with less of it, others are scheduled on these cores, too.
    pub(crate) fn default_cores(&self) -> (Vec<usize>, bool) {
        let online = std::fs::read_to_string(ONLINE).ok().and_then(|text| parse_cpu_list(&text));
        let parallelism = std::thread::available_parallelism().map_or(usize::MAX, usize::from);
        self.limited(parallelism, online.map_or(0, |cores| cores.len()))
    }

    fn limited(&self, parallelism: usize, online: usize) -> (Vec<usize>, bool) {
        let cores: Vec<_> = self.allowed.iter().copied().take(parallelism).collect();
        let is_whole = cores.len() + self.isolated.len() >= online;
        (cores, is_whole)
    }

    /// All cores that a mapping may name: the allowed and the isolated ones, ascending.
    #[must_use]
    pub fn cores(&self) -> Vec<usize> {
        let all: BTreeSet<usize> = self.allowed.iter().chain(&self.isolated).copied().collect();
        all.into_iter().collect()
    }
}

impl Mapping {
    /// This mapping with the core numbers of `machine`, after a look at whether the cores that it
    /// wants isolated are: what [`resolve`](Self::resolve), which also serves simulated machines,
    /// leaves out. O(cores²).
    ///
    /// # Errors
    /// Fails for an isolated core that the machine does not have, or does not isolate.
    pub fn on_machine(&self, machine: &Machine) -> Result<Self> {
        let number = |id: usize| match self.use_isolated {
            false => Ok(id),
            true => machine.isolated.get(id).copied().ok_or_else(|| {
                let (count, isolated) = (machine.isolated.len(), list(&machine.isolated));
                let text = format!(
                    "the mapping uses isolated core number {id}, counted from 0, and there are \
                         {count}: {isolated}; isolate more cores (boot with `isolcpus=`) or leave \
                         `use_isolated` out"
                );
                Error::new(ErrorKind::NotFound, text)
            }),
        };
        let isolated = self.use_isolated || self.cores.iter().any(|core| core.isolated);
        if isolated && self.pin == Some(false) {
            let text = "the mapping wants isolated cores, to which the kernel moves no thread by \
                        itself, and has `pin = false`; leave one of the two out";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let mut mapping = self.clone();
        mapping.use_isolated = false;
        mapping.default_core = mapping.default_core.map(number).transpose()?;
        for core in &mut mapping.cores {
            core.id = number(core.id)?;
            if core.isolated && !machine.isolated.contains(&core.id) {
                let (core, isolated) = (core.id, list(&machine.isolated));
                let text = format!(
                    "core {core} is to be isolated, and is not: isolated are {isolated}; name one \
                     of them, boot with `isolcpus={core}`, or leave `isolated` out"
                );
                return Err(Error::new(ErrorKind::NotFound, text));
            }
        }
        Ok(mapping)
    }
}

/// Reads the kernel's list of cores, `2-3,7`; `None` if it is no such list.
fn parse_cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut cores = BTreeSet::new();
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        // More cores than any kernel has would only be a way to use up memory.
        if last.checked_sub(first)? > 1 << 16 {
            return None;
        }
        cores.extend(first..=last);
    }
    Some(cores.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine { allowed: vec![0, 1], isolated: vec![2, 5] }
    }

    #[test]
    fn the_kernels_lists_are_read() {
        assert_eq!(parse_cpu_list("2-3,7\n"), Some(vec![2, 3, 7]));
        assert_eq!(parse_cpu_list("\n"), Some(Vec::new()));
        for wrong in ["3-2", "a", "1-", "0-99999999999"] {
            assert_eq!(parse_cpu_list(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn workers_stay_where_the_process_has_the_whole_machine() {
        let machine = Machine { allowed: vec![0, 1, 3], isolated: vec![2] };
        assert_eq!(machine.limited(3, 4), (vec![0, 1, 3], true));
        assert_eq!(machine.limited(3, 8), (vec![0, 1, 3], false));
        // A quota of two cores.
        assert_eq!(machine.limited(2, 4), (vec![0, 1], false));
        assert_eq!(machine.limited(3, 0), (vec![0, 1, 3], true), "a system without a list");
    }

    #[test]
    fn isolated_cores_need_pinned_workers() {
        for mapping in [Mapping::new().core(5, ["/a"]).isolated(5), Mapping::new().use_isolated()] {
            let error = mapping.unpinned().on_machine(&machine()).unwrap_err();
            assert!(error.to_string().contains("leave one of the two out"), "{error}");
        }
    }

    #[test]
    fn isolated_cores_may_be_named_though_they_are_not_in_the_mask() {
        assert_eq!(machine().cores(), [0, 1, 2, 5]);
        let mapping = Mapping::new().core(5, ["/a"]).isolated(5);
        assert_eq!(mapping.on_machine(&machine()).unwrap(), mapping);
    }

    #[test]
    fn a_demanded_core_that_is_not_isolated_is_refused() {
        let error = Mapping::new().core(1, ["/a"]).isolated(1).on_machine(&machine()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("core 1 is to be isolated, and is not"), "{text}");
        assert!(text.contains("isolated are 2, 5"), "{text}");
        let nowhere = Mapping::new().core(1, ["/a"]).isolated(1).on_machine(&Machine::default());
        let text = nowhere.unwrap_err().to_string();
        assert!(text.contains("isolated are (none)") && text.contains("isolcpus=1"), "{text}");
    }

    #[test]
    fn isolated_cores_are_numbered_from_zero_on_request() {
        let mapping = Mapping::new().core(0, ["/a"]).core(1, ["/b"]).isolated(1).default_core(1);
        let placed = mapping.clone().use_isolated().on_machine(&machine()).unwrap();
        let ids: Vec<_> = placed.cores.iter().map(|core| core.id).collect();
        assert_eq!((ids.as_slice(), placed.default_core), (&[2, 5][..], Some(5)));
        let third = mapping.core(2, ["/c"]).use_isolated().on_machine(&machine()).unwrap_err();
        let text = third.to_string();
        assert!(text.contains("isolated core number 2, counted from 0"), "{text}");
        assert!(text.contains("there are 2: 2, 5"), "{text}");
    }
}
