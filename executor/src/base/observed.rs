//! Observations of a callback beyond its event: readings of the clock and of counters that other
//! threads write, and refused places in queues. A recorder of a live run [records](record) them; a
//! [replay](replay) has each callback observe them again.
//!
//! They belong to the callback that runs on the thread, so they are in a variable of the thread.
//! Only clocks of a record or a replay and bounded queues look at it.

use ringspin_ringbuf::Permits;
use std::cell::RefCell;

/// The observations of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// Its readings, in order: times in nanoseconds, and counts.
    pub readings: Vec<u64>,
    /// The reservations of a place in a queue that were refused: the number of the receiving
    /// callback, and that of the reservation there, from zero.
    pub refused: Vec<(u32, u32)>,
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
    /// The number of readings so far.
    read: usize,
    /// The receivers of the reservations so far.
    reserved: Vec<u32>,
}

thread_local! {
    static OBSERVED: RefCell<Observed> = const {
        RefCell::new(Observed {
            is: Use::None,
            observations: Observations { readings: Vec::new(), refused: Vec::new() },
            read: 0,
            reserved: Vec::new(),
        })
    };
}

impl Observed {
    fn begin(&mut self, is: Use) {
        (self.is, self.read) = (is, 0);
        self.reserved.clear();
    }
}

/// Records observations on this thread, until [`end_record`].
#[inline]
pub fn record() {
    OBSERVED.with_borrow_mut(|observed| {
        observed.observations.readings.clear();
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

/// Adds a reading of this thread, if it is recorded.
#[inline]
pub fn note(reading: u64) {
    OBSERVED.with_borrow_mut(|observed| {
        if observed.is == Use::Recorded {
            observed.observations.readings.push(reading);
        }
    });
}

/// The next reading of a replay; after the last one, that once more.
pub(crate) fn next() -> Option<u64> {
    OBSERVED.with_borrow_mut(|observed| {
        if observed.is != Use::Replayed {
            return None;
        }
        let readings = &observed.observations.readings;
        let reading = readings.get(observed.read).or(readings.last()).copied();
        observed.read += 1;
        reading
    })
}

/// Reads a value that other threads write, or takes it from the record.
pub(crate) fn reading(read: impl FnOnce() -> u64) -> u64 {
    next().unwrap_or_else(|| {
        let reading = read();
        note(reading);
        reading
    })
}

/// Takes one of the `permits` of a receiver, or does as in the record: a place may then be given
/// twice, because the record has another order of its release.
pub(crate) fn reserve(receiver: u32, permits: &Permits) -> bool {
    let is_free = permits.try_acquire();
    OBSERVED.with_borrow_mut(|observed| {
        if observed.is == Use::None {
            return is_free;
        }
        let number = observed.reserved.iter().filter(|other| **other == receiver).count() as u32;
        observed.reserved.push(receiver);
        let refused = &mut observed.observations.refused;
        if observed.is == Use::Recorded {
            if !is_free {
                refused.push((receiver, number));
            }
            return is_free;
        }
        let is_refused = refused.contains(&(receiver, number));
        if is_refused && is_free {
            permits.release();
        }
        !is_refused
    })
}
