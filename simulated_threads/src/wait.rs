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
    /// The mutex, reader-writer lock or semaphore of glibc at this address.
    Lock(usize),
    /// The condition variable of glibc at this address.
    Condition(usize),
    /// The end of the thread with this number.
    Join(u64),
    /// Descriptors.
    Descriptors,
    /// It schedules events, and has none before its deadline.
    Idle,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The event has come.
    Ready,
    /// Its deadline has come.
    TimedOut,
    /// A scheduler waited for its next event: no thread is ever ready again by itself.
    Quiet,
}
