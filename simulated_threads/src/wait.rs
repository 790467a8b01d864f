//! Waits of threads.

/// Nanoseconds of simulated time since 1970.
pub(crate) type Nanos = u64;

/// The place of a thread in its world; the places of ended threads are used again.
pub(crate) type Slot = usize;

/// No deadline.
pub(crate) const NEVER: Nanos = Nanos::MAX;

/// The event that a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// Nothing: it is ready, or runs.
    Nothing,
    /// A time.
    Sleep,
    /// A wake-up of the futex at this address.
    Futex(usize),
    /// The mutex or reader-writer lock of glibc at this address.
    Lock(usize),
    /// The semaphore of glibc at this address.
    Semaphore(usize),
    /// The condition variable of glibc at this address.
    Condition(usize),
    /// A lock of a file that another open file of the program has.
    File,
    /// The end of the thread with this number.
    Join(u64),
    /// Something that happens in the process, or comes from another one.
    Process,
    /// Descriptors.
    Descriptors,
    /// It schedules events, and has none before its deadline.
    Idle,
}

impl Wait {
    /// Whether a signal ends the wait, and `pthread_cancel` the thread.
    pub(crate) fn can_be_interrupted(self) -> bool {
        !matches!(self, Self::Nothing | Self::Lock(_) | Self::Idle)
    }

    /// Whether `pthread_cancel` ends the thread in the wait: for a condition variable it does so
    /// once the thread has its mutex again.
    pub(crate) fn is_cancellation_point(self) -> bool {
        self.can_be_interrupted() && !matches!(self, Self::Futex(_) | Self::Condition(_))
    }
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The event happened.
    Ready,
    /// Its deadline was reached.
    TimedOut,
    /// A handler of a signal has run; a call that the kernel would restart `restarts`.
    Interrupted { restarts: bool },
    /// A scheduler waited for its next event: no thread is ever ready again by itself.
    Quiet,
}
