//! Reports of threads that cannot go on.

use crate::wait::{Nanos, Wait};
use ringspin_modes::threads::ThreadInfo;
use std::fmt;

/// Why no thread of a world can go on, and what each one waits for.
#[derive(Clone, Debug)]
pub struct Stuck {
    now: Nanos,
    /// How many times threads ran at this instant, if that is why.
    switches: Option<u64>,
    threads: Vec<Waiting>,
}

/// A thread that waits.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) thread: ThreadInfo,
    /// The number that the operating system gave it; zero until it has started.
    pub(crate) system_number: i32,
    pub(crate) wait: Wait,
}

impl Stuck {
    pub(crate) fn new(now: Nanos, switches: Option<u64>, threads: Vec<Waiting>) -> Self {
        Self { now, switches, threads }
    }

    /// The threads, by the numbers of the operating system, that have started.
    pub(crate) fn started(&self) -> impl Iterator<Item = i32> {
        self.threads.iter().map(|waiting| waiting.system_number).filter(|number| *number != 0)
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = Seconds(self.now);
        match self.switches {
            Some(max) => write!(
                f,
                "time does not go on at {time}: threads ran {max} times at this instant; a loop \
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
            Self::Lock(_) => write!(f, "waits for a lock of C code"),
            Self::Condition(_) => write!(f, "waits for a condition variable of C code"),
            Self::Join(number) => write!(f, "waits for the end of thread {number}"),
            Self::Descriptors => write!(f, "waits for descriptors"),
            Self::Idle => write!(f, "waits for events of an executor"),
        }
    }
}

/// A time in seconds.
pub(crate) struct Seconds(pub(crate) Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
