//! The core on which all processes take their turns.
//!
//! A turn that is handed over within a core takes half of the time that it takes from core to core,
//! and only one process has a turn at a time. Programs that start are on all cores, since they
//! start at the same time.

use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

/// The core of the turns, and those on which the calling thread ran before; it does so again once
/// this is dropped.
#[derive(Debug)]
pub(crate) struct Cores {
    one: CpuSet,
    all: CpuSet,
}

const THIS_THREAD: Pid = Pid::from_raw(0);

impl Cores {
    /// The core on which the calling thread runs; `None` if the system does not tell.
    pub(crate) fn of_this_thread() -> Option<Self> {
        let (mut one, all) = (CpuSet::new(), sched_getaffinity(THIS_THREAD).ok()?);
        one.set(sched_getcpu().ok()?).ok()?;
        Some(Self { one, all })
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
        let threads = std::fs::read_dir(format!("/proc/{process}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            let number = thread.file_name().to_str().and_then(|number| number.parse().ok());
            let _ = number.map(|number| sched_setaffinity(Pid::from_raw(number), &self.one));
        }
    }
}

impl Drop for Cores {
    fn drop(&mut self) {
        self.leave();
    }
}
