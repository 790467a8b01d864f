//! Values with tickets: any thread stores one, and one thread takes it by its ticket.
//!
//! A [`Table`] has a fixed number of [`Place`]s. A thread *claims* a free place, *fills* it, and
//! passes the [`Ticket`] on; of all threads that then try to *take* the value by this ticket, one
//! gets it, and the place is free again. No ticket is given twice, so a late one finds nothing.
//! [Closing](Table::close) ends it: every value that is in the table is handed out, and no other
//! one enters.
//!
//! ```
//! let table = ringspin_ringbuf::Table::<_>::new(1);
//! let ticket = table.claim().unwrap().fill("call").unwrap();
//! assert!(table.claim().is_err(), "its only place is taken");
//! assert_eq!((table.take(ticket), table.take(ticket)), (Some("call"), None));
//! ```
//!
//! # Progress
//! Nothing waits: a claim looks at each place once, everything else at one. A thread that is
//! suspended inside keeps the one place from others that it has claimed, or is taking from.

use crate::sync::{AtomicU64, UnsafeCell, order, step};

/// Nothing is here.
const FREE: u64 = 0;
/// One thread writes or reads the value.
const BUSY: u64 = 1;
/// Never unset; beside `BUSY` until that thread is done, else alone.
const CLOSED: u64 = 2;
/// The first key; keys are the multiples of it. Any other word is the key of the value that is
/// here.
const KEY: u64 = 4;

/// A place for one value, which one thread stores and one takes.
///
/// | from | to | by |
/// |---|---|---|
/// | `FREE` | `BUSY` | the thread that claims it |
/// | `BUSY` | key | the same, with the value written |
/// | key | `BUSY` | the thread that takes the value |
/// | `BUSY` | `FREE` | the same, with the value read |
/// | any | with `CLOSED` | the thread that closes it, and takes the value if there is a key |
#[derive(Debug)]
pub struct Place<T> {
    word: AtomicU64,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: a value goes from the thread that stores it to the one that takes it. Only the thread
// that won the exchange of the word touches the cell.
unsafe impl<T: Send> Sync for Place<T> {}

/// Why there is no place for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Every place holds a value, or held one during the search.
    Full,
    /// The table or place was closed.
    Closed,
}

impl<T> Default for Place<T> {
    fn default() -> Self {
        Self { word: AtomicU64::new(FREE), value: UnsafeCell::new(None) }
    }
}

impl<T> Place<T> {
    /// Stores `value` in a place that is used once.
    ///
    /// # Errors
    /// Hands the value back if the place is taken or closed.
    pub fn put(&self, value: T) -> Result<(), T> {
        match self.claim() {
            Ok(()) => self.fill(KEY, value),
            Err(_) => Err(value),
        }
    }

    /// Takes the value that was [put](Self::put) here, if it is.
    pub fn get(&self) -> Option<T> {
        self.take(KEY)
    }

    fn claim(&self) -> Result<(), Refused> {
        // "table.claim": pairs with "table.free"; the cell is done with.
        let (success, failure) = (order!(Acquire, "table.claim"), order!(Relaxed, "table.retry"));
        match self.word.compare_exchange(FREE, BUSY, success, failure) {
            Ok(_) => Ok(()),
            Err(found) if found & CLOSED != 0 => Err(Refused::Closed),
            Err(_) => Err(Refused::Full),
        }
    }

    /// Stores `value` in a claimed place; hands it back if the place was closed since.
    fn fill(&self, key: u64, value: T) -> Result<(), T> {
        // SAFETY: the claim owns the cell of the place until the word is exchanged.
        self.value.with_mut(|cell| unsafe { *cell = Some(value) });
        // "table.fill": pairs with "table.take", "table.close" and "table.look".
        let (success, failure) = (order!(Release, "table.fill"), order!(Relaxed, "table.retry"));
        if self.word.compare_exchange(BUSY, key, success, failure).is_ok() {
            step!("table.filled");
            return Ok(());
        }
        match self.empty() {
            Some(value) => Err(value),
            None => unreachable!("the claim owns the cell"),
        }
    }

    /// Takes the value stored under `key`, if it is here.
    fn take(&self, key: u64) -> Option<T> {
        let (success, failure) = (order!(Acquire, "table.take"), order!(Relaxed, "table.retry"));
        self.word.compare_exchange(key, BUSY, success, failure).ok()?;
        step!("table.taking");
        self.empty()
    }

    /// Takes the value in the cell of a `BUSY` place, and lets go of the place.
    fn empty(&self) -> Option<T> {
        // SAFETY: the caller alone may touch the cell until it stores the word.
        let value = self.value.with_mut(|cell| unsafe { (*cell).take() });
        // "table.free": pairs with "table.claim".
        let (success, failure) = (order!(Release, "table.free"), order!(Relaxed, "table.retry"));
        if self.word.compare_exchange(BUSY, FREE, success, failure).is_err() {
            self.word.store(CLOSED, order!(Relaxed, "table.shut"));
        }
        value
    }

    /// Refuses values from now on, and takes the one that is here.
    fn close(&self) -> Option<T> {
        let found = self.word.fetch_or(CLOSED, order!(Acquire, "table.close"));
        if found < KEY || found & CLOSED != 0 {
            return None; // the thread that is busy with it leaves it closed
        }
        // SAFETY: no exchange from the key succeeds any more.
        self.value.with_mut(|cell| unsafe { (*cell).take() })
    }

    /// The key of the value that is here; it may be out of date.
    fn key(&self) -> Option<u64> {
        // "table.look": pairs with "table.fill", for the note written beside the value before.
        let found = self.word.load(order!(Acquire, "table.look"));
        (found >= KEY && found & CLOSED == 0).then_some(found)
    }
}

/// Leads to one value in a [`Table`]. Tickets are ordered by their claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    key: u64,
    place: u32,
}

/// A fixed number of places for values, each with notes `N` beside it that everybody may read.
#[derive(Debug)]
pub struct Table<T, N = ()> {
    places: Box<[(Place<T>, N)]>,
    /// The last key that was claimed.
    keys: AtomicU64,
}

impl<T, N: Default> Table<T, N> {
    /// An empty table.
    ///
    /// # Panics
    /// For no places, or 2^32 and more.
    pub fn new(places: usize) -> Self {
        assert!(places > 0 && u32::try_from(places).is_ok(), "a table has 1 to 2^32 - 1 places");
        Self {
            places: (0..places).map(|_| Default::default()).collect(),
            keys: AtomicU64::new(FREE),
        }
    }
}

impl<T, N> Table<T, N> {
    /// Claims a free place, if there is one.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn claim(&self) -> Result<Claim<'_, T, N>, Refused> {
        // Unique, which is all that is asked of it.
        let key = self.keys.fetch_add(KEY, order!(Relaxed, "table.keys")) + KEY;
        let places = self.places.len();
        // From one place on to the next: so those before are mostly free when their turn comes.
        let start = (key / KEY % places as u64) as usize;
        for place in (start..places).chain(0..start) {
            match self.places[place].0.claim() {
                Ok(()) => {
                    step!("table.claimed");
                    return Ok(Claim { table: self, ticket: Ticket { key, place: place as u32 } });
                }
                Err(Refused::Full) => {}
                Err(Refused::Closed) => return Err(Refused::Closed),
            }
        }
        Err(Refused::Full)
    }

    /// Takes the value of `ticket`, unless it has been taken. The work of its thread before it
    /// stored the value is visible then.
    pub fn take(&self, ticket: Ticket) -> Option<T> {
        self.places[ticket.place as usize].0.take(ticket.key)
    }

    /// The notes beside the place of `ticket`: those of its value until that is taken.
    pub fn notes(&self, ticket: Ticket) -> &N {
        &self.places[ticket.place as usize].1
    }

    /// The tickets of the values that are here, in no order, and the notes beside each: written
    /// there before its value was stored, or later. A value that is stored or taken meanwhile may
    /// be among them or not.
    pub fn filled(&self) -> impl Iterator<Item = (Ticket, &N)> {
        self.places.iter().enumerate().filter_map(|(place, (of, notes))| {
            let ticket = Ticket { key: of.key()?, place: place as u32 };
            Some((ticket, notes))
        })
    }

    /// Refuses all further values, and hands those out that are here.
    pub fn close(&self) -> Vec<T> {
        self.places.iter().filter_map(|(place, _)| place.close()).collect()
    }
}

/// A place that was claimed; free again if this is dropped.
#[derive(Debug)]
pub struct Claim<'a, T, N> {
    table: &'a Table<T, N>,
    ticket: Ticket,
}

impl<T, N> Claim<'_, T, N> {
    /// The ticket of the value to come.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// The notes beside the place.
    pub fn notes(&self) -> &N {
        self.table.notes(self.ticket)
    }

    /// Stores the value, so that it can be taken.
    ///
    /// # Errors
    /// Hands it back if the table was closed since the claim.
    pub fn fill(self, value: T) -> Result<Ticket, T> {
        let Self { table, ticket } = self;
        std::mem::forget(self);
        table.places[ticket.place as usize].0.fill(ticket.key, value).map(|()| ticket)
    }
}

impl<T, N> Drop for Claim<'_, T, N> {
    fn drop(&mut self) {
        let nothing = self.table.places[self.ticket.place as usize].0.empty();
        debug_assert!(nothing.is_none(), "a claimed place is empty");
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
