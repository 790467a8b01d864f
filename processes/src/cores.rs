//! The cores on which processes take their turns.
//!
//! A turn that is handed over within a core takes half of the time that it takes from core to core.
//! So processes are on one core, but for those that compute for long: these have one each, as far
//! as there are some. Programs that start are on all cores, since they start at the same time.

use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

/// The core of the turns, and those on which the calling thread ran before; it does so again once
/// this is dropped.
#[derive(Debug)]
pub(crate) struct Cores {
    one: CpuSet,
    all: CpuSet,
    /// The cores one by one, from the one after that of the turns.
    each: Vec<CpuSet>,
    /// How many processes got one of them.
    given: usize,
}

const THIS_THREAD: Pid = Pid::from_raw(0);

impl Cores {
    /// The core on which the calling thread runs; `None` if the system does not tell.
    pub(crate) fn of_this_thread() -> Option<Self> {
        let (mut one, all) = (CpuSet::new(), sched_getaffinity(THIS_THREAD).ok()?);
        let own = sched_getcpu().ok()?;
        one.set(own).ok()?;
        let numbers = (own + 1..CpuSet::count()).chain(0..=own);
        let allowed = numbers.filter(|core| all.is_set(*core).unwrap_or(false));
        let set = |core| {
            let mut one = CpuSet::new();
            one.set(core).ok().map(|()| one)
        };
        let each = allowed.filter_map(set).collect();
        Some(Self { one, all, each, given: 0 })
    }

    // Without the right to move a thread it is only slower.

    /// Has the calling thread stay on the one core.
    pub(crate) fn stay(&self) {
        let _ = sched_setaffinity(THIS_THREAD, &self.one);
    }

    /// Has the calling thread run on all cores, as programs do that it starts.
    pub(crate) fn leave(&self) {
        let _ = sched_setaffinity(THIS_THREAD, &self.all);
    }

    /// Moves all threads of a process to the one core, on which those that they create stay.
    pub(crate) fn take(&self, process: u32) {
        Self::keep(process, &self.one);
    }

    /// Moves all threads of a process to the next core of all.
    pub(crate) fn spread(&mut self, process: u32) {
        if let Some(core) = self.each.get(self.given % self.each.len().max(1)) {
            Self::keep(process, core);
        }
        self.given += 1;
    }

    fn keep(process: u32, core: &CpuSet) {
        let threads = std::fs::read_dir(format!("/proc/{process}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            let number = thread.file_name().to_str().and_then(|number| number.parse().ok());
            let _ = number.map(|number| sched_setaffinity(Pid::from_raw(number), core));
        }
    }
}

impl Drop for Cores {
    fn drop(&mut self) {
        self.leave();
    }
}
