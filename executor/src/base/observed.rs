//! Observations of a callback beyond its event: readings of the clock, and refused places in
//! queues. A recorder of a live run [records](record) them; a
//! [replay](replay) has each callback observe them again.
//!
//! They belong to the callback that runs on the thread, so they are in a variable of the thread.
//! Only clocks of a record or a replay and bounded queues look at it.

use ringspin_ringbuf::Permits;
use std::cell::RefCell;

/// The observations of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// The times that it read, in nanoseconds, in order.
    pub times_ns: Vec<u64>,
    /// Which of its reservations of a place in a queue were refused, numbered from zero, ascending.
    pub refused: Vec<u32>,
}

/// The use of the observations on this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    None,
    Recorded,
    Replayed,
}

struct Observed {
    is: Use,
    observations: Observations,
    /// The numbers of readings and reservations so far.
    read: usize,
    reserved: u32,
}

thread_local! {
    static OBSERVED: RefCell<Observed> = const {
        RefCell::new(Observed {
            is: Use::None,
            observations: Observations { times_ns: Vec::new(), refused: Vec::new() },
            read: 0,
            reserved: 0,
        })
    };
}

impl Observed {
    fn begin(&mut self, is: Use) {
        (self.is, self.read, self.reserved) = (is, 0, 0);
    }
}

/// Records observations on this thread, until [`end_record`].
#[inline]
pub fn record() {
    OBSERVED.with_borrow_mut(|observed| {
        observed.observations.times_ns.clear();
        observed.observations.refused.clear();
        observed.begin(Use::Recorded);
    });
}

/// Ends [`record`]; calls `take` with the observations.
#[inline]
pub fn end_record(take: impl FnOnce(&Observations)) {
    OBSERVED.with_borrow_mut(|observed| {
        observed.is = Use::None;
        take(&observed.observations);
    });
}

/// Has `observations` be observed on this thread, until [`end_replay`].
pub fn replay(observations: &Observations) {
    OBSERVED.with_borrow_mut(|observed| {
        observed.observations.clone_from(observations);
        observed.begin(Use::Replayed);
    });
}

/// Ends [`replay`]; returns the number of readings of the clock.
pub fn end_replay() -> usize {
    OBSERVED.with_borrow_mut(|observed| {
        observed.is = Use::None;
        observed.read
    })
}

/// Adds the time `ns`, in nanoseconds, which this thread has read from a clock, if it is recorded.
#[inline]
pub fn note_time(ns: u64) {
    OBSERVED.with_borrow_mut(|observed| {
        if observed.is == Use::Recorded {
            observed.observations.times_ns.push(ns);
        }
    });
}

/// The next reading of a replay, in nanoseconds; after the last one, that once more.
pub(crate) fn next_time() -> Option<u64> {
    OBSERVED.with_borrow_mut(|observed| {
        let times = &observed.observations.times_ns;
        let time = times.get(observed.read).or(times.last()).copied();
        observed.read += 1;
        time.filter(|_| observed.is == Use::Replayed)
    })
}

/// Takes one of `permits`, or does as in the record: a place may then be given twice, because
/// the record has another order of its release.
pub(crate) fn reserve(permits: &Permits) -> bool {
    let is_free = permits.try_acquire();
    OBSERVED.with_borrow_mut(|observed| {
        let number = observed.reserved;
        observed.reserved += 1;
        match observed.is {
            Use::None => is_free,
            Use::Recorded => {
                if !is_free {
                    observed.observations.refused.push(number);
                }
                is_free
            }
            Use::Replayed => {
                let is_refused = observed.observations.refused.binary_search(&number).is_ok();
                if is_refused && is_free {
                    permits.release();
                }
                !is_refused
            }
        }
    })
}
