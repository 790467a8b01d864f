//! The child processes of a process of a run, which are processes of the run themselves.
//!
//! A child has ended for its parent once the coordinator has said so: until then it counts as one
//! that runs, also if the kernel knows better. Its number, as the program sees it, is
//! that of its place in the run.

use libc::pid_t;

/// The number of the first process, of which all others follow: greater than `PID_MAX_LIMIT` of
/// Linux, so that no real process has it.
pub(crate) const FIRST_ID: pid_t = 4_194_305;

/// How many numbers each of several processes has for itself and its threads.
pub(crate) const PROCESS_IDS: u64 = 1 << 14;

/// The number of a process of a run, as programs see it.
pub(crate) fn id_of(process: u32) -> pid_t {
    FIRST_ID.wrapping_add((PROCESS_IDS * u64::from(process)) as pid_t)
}

/// The process of a run of which programs see this number.
pub(crate) fn process_of(id: pid_t) -> Option<u32> {
    let process = u64::try_from(id.checked_sub(FIRST_ID)?).ok()? / PROCESS_IDS;
    u32::try_from(process).ok().filter(|process| id_of(*process) == id)
}

/// A child process that was not waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child {
    /// Its number in the run.
    pub(crate) process: u32,
    /// The number that the kernel has given it.
    pub(crate) real: pid_t,
    /// Its place among those that have ended.
    ended: Option<u64>,
}

/// The children of the process.
#[derive(Debug, Default)]
pub(crate) struct Family {
    children: Vec<Child>,
    ended: u64,
}

impl Family {
    /// A child was created.
    pub(crate) fn add(&mut self, process: u32, real: pid_t) {
        self.children.push(Child { process, real, ended: None });
    }

    /// The child with this number, as the program sees it.
    pub(crate) fn child(&self, id: pid_t) -> Option<Child> {
        self.children.iter().find(|child| id_of(child.process) == id).copied()
    }

    /// A child has ended.
    pub(crate) fn end(&mut self, process: u32) {
        self.ended += 1;
        let child = self.children.iter_mut().find(|child| child.process == process);
        child.into_iter().for_each(|child| child.ended = Some(self.ended));
    }

    /// Of the child with this number, or of all if it is none of one: the one that has ended
    /// first; `None` if none has; an error if there is no such child.
    pub(crate) fn first_ended(&self, id: pid_t) -> Result<Option<Child>, NoChild> {
        let is_it = |child: &&Child| id <= 0 || id_of(child.process) == id;
        let mut children = self.children.iter().filter(is_it).peekable();
        children.peek().ok_or(NoChild)?;
        let ended = children.filter(|child| child.ended.is_some());
        Ok(ended.min_by_key(|child| child.ended).copied())
    }

    /// A child was waited for.
    pub(crate) fn remove(&mut self, process: u32) {
        self.children.retain(|child| child.process != process);
    }
}

/// There is no child to wait for.
#[derive(Debug)]
pub(crate) struct NoChild;
