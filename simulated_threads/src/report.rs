//! Reports of threads that cannot continue.

use crate::wait::{Nanos, Wait};
use ringspin_executor::Time;
use ringspin_modes::threads::ThreadInfo;
use std::fmt;

/// The reason why no thread of a world can continue, and the wait of each one.
#[derive(Clone, Debug)]
pub struct Stuck {
    pub(crate) now: Nanos,
    /// How many times threads ran at this instant, if that is why.
    pub(crate) switches: Option<u64>,
    pub(crate) threads: Vec<Waiting>,
}

#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) thread: ThreadInfo,
    /// The number that the operating system gave it; zero until it has started.
    pub(crate) system_number: i32,
    pub(crate) wait: Wait,
}

impl Stuck {
    /// The threads, by the numbers of the operating system, that have started.
    pub(crate) fn started(&self) -> impl Iterator<Item = i32> {
        self.threads.iter().map(|waiting| waiting.system_number).filter(|number| *number != 0)
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = Time::from_nanos(self.now);
        match self.switches {
            Some(max) => write!(
                f,
                "time does not advance at {time}: threads ran {max} times at this instant; a loop \
                 that waits must sleep; for more work at one instant set \
                 RINGSPIN_INSTANT_SWITCHES_MAX"
            ),
            None => write!(f, "deadlock at {time}: every thread waits, and none for a time"),
        }?;
        for Waiting { thread, wait, .. } in &self.threads {
            write!(f, "\n  {thread} {wait}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Stuck {}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "can run"),
            Self::Sleep => write!(f, "sleeps"),
            Self::Futex(_) => {
                write!(f, "waits for a lock, a channel, a task, or to be unparked")
            }
            Self::Process => write!(f, "waits for other processes"),
            Self::Lock(_) => write!(f, "waits for a lock of C code"),
            Self::Semaphore(_) => write!(f, "waits for a semaphore of C code"),
            Self::Condition(_) => write!(f, "waits for a condition variable of C code"),
            Self::File => write!(f, "waits for a lock of a file"),
            Self::Join(number) => write!(f, "waits for the end of thread {number}"),
            Self::Descriptors => write!(f, "waits for descriptors"),
            Self::Idle => write!(f, "waits for events of an executor"),
        }
    }
}
