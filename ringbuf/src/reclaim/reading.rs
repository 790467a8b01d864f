//! The part of each thread in the domains, and the values that it reads there.
//!
//! A thread has an entry for each domain in which it has read, in a thread-local list with the
//! latest entry first: to pin again in the same domain costs one comparison. An entry does not keep
//! its domain alive, only the address: no other domain gets that. A borrow of the domain or a
//! reference to it is in each pin and reading. Entries of domains that were dropped are freed when
//! the thread adds another one, all of them when the thread ends.

use super::{Domain, Slot};
use crate::sync::{AtomicPtr, order};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// A [`Pin`], among the reasons why a thread is online.
const PIN: u64 = 1;
/// A [`Reading`]. Pins that are leaked do not count up to it within the life of a process.
const READING: u64 = 1 << 56;
const READINGS_MAX: u64 = u64::MAX >> 56;

thread_local! {
    /// Has no destructor, so that destructors of other thread-local values may pin.
    static LOCAL: Local = const { Local { latest: Cell::new(None), ends: Cell::new(false) } };
    static AT_EXIT: AtExit = const { AtExit };
}

struct Local {
    /// The first of the thread's entries, which are boxes.
    latest: Cell<Option<NonNull<Entry>>>,
    /// Whether the thread frees each entry that goes offline, because it ends.
    ends: Cell<bool>,
}

/// The part of a thread in one domain.
struct Entry {
    /// The pins and readings of this thread in the domain. It is online as long as there are any;
    /// then the entry is not freed, and the domain is alive.
    reasons: Cell<u64>,
    slot: ManuallyDrop<Slot<Address>>,
    /// Keeps the memory of the domain, and with it the address.
    domain: Weak<Domain>,
    next: Cell<Option<NonNull<Entry>>>,
}

/// The address of a domain, used only while something else keeps the domain.
struct Address(NonNull<Domain>);

impl Deref for Address {
    type Target = Domain;

    #[inline]
    fn deref(&self) -> &Domain {
        // SAFETY: an entry uses its slot while a pin, a reading or an upgraded reference exists.
        unsafe { self.0.as_ref() }
    }
}

/// Frees the thread's entries when the thread ends.
struct AtExit;

impl Drop for AtExit {
    fn drop(&mut self) {
        let domains = LOCAL.with(|local| {
            local.ends.set(true);
            local.free(|entry| entry.reasons.get() == 0)
        });
        // Garbage that waited for this thread, if its domain changes no more.
        domains.iter().for_each(|domain| domain.collect());
    }
}

impl Entry {
    #[inline]
    fn is_of(&self, domain: &Arc<Domain>) -> bool {
        self.slot.domain.0.as_ptr().cast_const() == Arc::as_ptr(domain)
    }
}

impl Local {
    /// The thread's entry in `domain`.
    #[inline]
    fn entry(&self, domain: &Arc<Domain>) -> NonNull<Entry> {
        match self.latest.get() {
            // SAFETY: entries of the list are freed by `free` only, which takes them out.
            Some(latest) if unsafe { latest.as_ref() }.is_of(domain) => latest,
            _ => self.find(domain),
        }
    }

    /// Puts the entry in `domain` first; adds one if there is none.
    #[cold]
    fn find(&self, domain: &Arc<Domain>) -> NonNull<Entry> {
        let mut place = &self.latest;
        while let Some(found) = place.get() {
            // SAFETY: as in `entry`.
            let entry = unsafe { found.as_ref() };
            if entry.is_of(domain) {
                place.set(entry.next.get());
                entry.next.set(self.latest.replace(Some(found)));
                return found;
            }
            place = &entry.next;
        }
        // While the thread ends, it may be too late: then `ends` is set.
        let _ = AT_EXIT.try_with(|_| ());
        self.free(|entry| entry.reasons.get() == 0 && entry.domain.strong_count() == 0);
        let slot = ManuallyDrop::new(Slot::new(Address(NonNull::from(&**domain))));
        let (reasons, domain) = (Cell::new(0), Arc::downgrade(domain));
        let entry = Entry { reasons, slot, domain, next: Cell::new(self.latest.get()) };
        let entry = NonNull::from(Box::leak(Box::new(entry)));
        self.latest.set(Some(entry));
        entry
    }

    /// Frees the entries that `is_unused` accepts, of which none is online. Returns those of their
    /// domains that still exist.
    #[cold]
    fn free(&self, is_unused: impl Fn(&Entry) -> bool) -> Vec<Arc<Domain>> {
        let (mut domains, mut place) = (Vec::new(), &self.latest);
        while let Some(found) = place.get() {
            // SAFETY: as in `entry`.
            let entry = unsafe { found.as_ref() };
            if !is_unused(entry) {
                place = &entry.next;
                continue;
            }
            place.set(entry.next.get());
            // SAFETY: it came from a box, and the list was the only one that had it: pins and
            // readings have entries that are online.
            let Entry { slot, domain, .. } = *unsafe { Box::from_raw(found.as_ptr()) };
            // A domain that was dropped has freed the place.
            if let Some(domain) = domain.upgrade() {
                drop(ManuallyDrop::into_inner(slot));
                domains.push(domain);
            }
        }
        domains
    }
}

/// Adds a reason why this thread is online in `domain`.
#[inline]
fn add(domain: &Arc<Domain>, reason: u64) -> NonNull<Entry> {
    let found = LOCAL.with(|local| local.entry(domain));
    // SAFETY: this thread's; no entry is freed in between.
    let entry = unsafe { found.as_ref() };
    if entry.reasons.replace(entry.reasons.get() + reason) == 0 {
        entry.slot.online();
    }
    found
}

/// Takes back a reason that [`add`] gave. Returns whether the thread is offline now.
///
/// # Safety
/// `entry` is the result of that `add` on this thread, and its domain is borrowed.
#[inline]
unsafe fn remove(entry: NonNull<Entry>, reason: u64) -> bool {
    // SAFETY: an entry that is online is not freed.
    let entry = unsafe { entry.as_ref() };
    let is_last = entry.reasons.replace(entry.reasons.get() - reason) == reason;
    if is_last {
        entry.slot.offline();
        LOCAL.with(|local| {
            if local.ends.get() {
                local.free(|entry| entry.reasons.get() == 0);
            }
        });
    }
    is_last
}

impl Domain {
    /// Makes this thread a reader, as long as it runs a worker. If it is one already, the new one
    /// announces nothing: [`pass`](Reading::pass) only reports changes.
    ///
    /// # Panics
    /// If 255 others of this thread were not dropped.
    #[must_use]
    pub fn enter(self: &Arc<Self>) -> Reading {
        // SAFETY: an entry of this thread.
        let readings = |of: NonNull<Entry>| unsafe { of.as_ref() }.reasons.get() / READING;
        let readings = LOCAL.with(|local| readings(local.entry(self)));
        assert!(readings < READINGS_MAX, "a thread enters {READINGS_MAX} times at most");
        Reading { seen: 0, entry: add(self, READING), domain: self.clone() }
    }

    /// Lets this thread read the [`Published`] values of the domain. Costs a
    /// count within [`enter`](Self::enter) and within another pin, else two stores in the order
    /// that all threads agree on. The first call of a thread in the domain allocates. A thread that
    /// reads in several domains in turn looks for its part in each, in time linear in their number.
    /// Valid in destructors of thread-local values, too.
    #[inline]
    #[must_use]
    pub fn pin(self: &Arc<Self>) -> Pin<'_> {
        Pin { entry: add(self, PIN), domain: self }
    }

    /// [Pins](Self::pin), and [collects](Self::collect) at the end.
    #[must_use]
    pub fn change(self: &Arc<Self>) -> Change<'_> {
        Change { pin: ManuallyDrop::new(self.pin()) }
    }
}

/// A thread that runs a worker, until this is dropped: its reads cost no announcement, and
/// values that it may read are kept until it [passes](Self::pass) a quiescent point.
///
/// It has to pass or [pause](Self::pause) now and then, else memory grows with every change in
/// the domain. When it is dropped, garbage that is due runs, as in [`Domain::collect`].
#[derive(Debug)]
pub struct Reading {
    /// The version of the last pass.
    seen: u64,
    /// Of this thread, which is the only one that has this.
    entry: NonNull<Entry>,
    domain: Arc<Domain>,
}

impl Reading {
    /// Marks a quiescent point. True if anything changed in the domain since the last call,
    /// which includes the first call of all; then garbage that is due runs, as in
    /// [`Domain::collect`].
    ///
    /// A thread that holds a [`Pin`] of the domain does not announce the point, and the next call
    /// reports the change once more.
    #[inline]
    pub fn pass(&mut self) -> bool {
        let version = self.domain.version();
        if version == self.seen {
            return false;
        }
        self.changed(version);
        true
    }

    #[cold]
    fn changed(&mut self, version: u64) {
        // SAFETY: an entry that is online is not freed.
        let entry = unsafe { self.entry.as_ref() };
        let reasons = entry.reasons.get();
        if reasons % READING == 0 {
            self.seen = version;
        }
        // No pin, and no reading around this one.
        if reasons == READING {
            entry.slot.pass(version);
        }
        self.domain.collect();
    }

    /// Runs `f`, in which this thread reads nothing, so that nothing waits for it: for parking.
    /// `f` may still [pin](Domain::pin), as on any other thread. Garbage that is due runs before,
    /// as in [`Domain::collect`].
    pub fn pause<R>(&mut self, f: impl FnOnce() -> R) -> R {
        struct Resume<'a>(&'a mut Reading);
        impl Drop for Resume<'_> {
            fn drop(&mut self) {
                self.0.entry = add(&self.0.domain, READING);
            }
        }
        let resume = Resume(self);
        resume.0.leave();
        f()
    }

    fn leave(&self) {
        // SAFETY: it was added by `enter`, or by the end of a pause.
        if unsafe { remove(self.entry, READING) } {
            self.domain.collect();
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Keeps the values of a domain that this thread reads from being dropped, until this is dropped.
///
/// Its end runs no garbage, since it ends in each `publish`, and a destructor of another part of
/// the program does not belong there. Garbage that waited for it runs in the next
/// [`Domain::collect`].
#[derive(Debug)]
pub struct Pin<'a> {
    /// Of this thread, which is the only one that has this.
    entry: NonNull<Entry>,
    domain: &'a Arc<Domain>,
}

impl Drop for Pin<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it was added by `pin`.
        unsafe { remove(self.entry, PIN) };
    }
}

/// A [`Pin`] for a thread that [retires](Domain::retire): at its end garbage that is due runs, as
/// in [`Domain::collect`], unless the thread is within [`Domain::enter`] or another pin of the
/// domain.
#[derive(Debug)]
pub struct Change<'a> {
    pin: ManuallyDrop<Pin<'a>>,
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        // SAFETY: it was added by `pin`, and the pin is not dropped.
        if unsafe { remove(self.pin.entry, PIN) } {
            self.pin.domain.collect();
        }
    }
}

/// A value that any thread reads without a lock, and that any thread replaces meanwhile.
///
/// ```
/// use ringspin_ringbuf::reclaim::Published;
/// let name = Published::new("before".to_owned(), &Default::default());
/// let before = name.load();
/// name.replace("after".to_owned());
/// assert_eq!((&**before, &**name.load()), ("before", "after"));
/// ```
pub struct Published<T> {
    value: AtomicPtr<T>,
    domain: Arc<Domain>,
    owned: PhantomData<T>,
}

impl<T> Published<T> {
    /// Publishes a first value, for the threads that read in `domain`.
    pub fn new(value: T, domain: &Arc<Domain>) -> Self {
        let value = AtomicPtr::new(Box::into_raw(Box::new(value)));
        Self { value, domain: domain.clone(), owned: PhantomData }
    }

    /// The domain in which threads read it.
    #[inline]
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// The present value.
    ///
    /// # Safety
    /// As long as the reference is used, the calling thread is online in the domain in which the
    /// results of [`exchange`](Self::exchange) are retired, and does not pass a quiescent point.
    /// For those of [`replace`](Self::replace), this is the [domain](Self::domain) of the value.
    #[inline]
    pub(crate) unsafe fn read(&self) -> &T {
        // "published.get": pairs with "published.replace".
        let value = self.value.load(order!(Acquire, "published.get"));
        // SAFETY: it came from a box. The thread was online before it loaded the pointer, so the
        // value is dropped after this thread is offline, or has passed a quiescent point.
        unsafe { &*value }
    }

    /// Publishes `value`, and returns the one before.
    ///
    /// # Safety
    /// The result is dropped only when no thread can hold a reference to it any more.
    pub(crate) unsafe fn exchange(&self, value: T) -> Replaced<T> {
        let new = Box::into_raw(Box::new(value));
        // "published.replace": pairs with "published.get", and with itself: the value that is
        // replaced may be another thread's.
        let old = self.value.swap(new, order!(AcqRel, "published.replace"));
        Replaced { value: NonNull::new(old).expect("the pointer of a box"), owned: PhantomData }
    }
}

/// A value as it was [loaded](Published::load), which is kept until this is dropped.
#[derive(Debug)]
pub struct Guard<'a, T> {
    value: &'a T,
    _pin: Pin<'a>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T: Send + Sync + 'static> Published<T> {
    /// The present value, and a [`Pin`] that keeps it.
    #[inline]
    #[must_use]
    pub fn load(&self) -> Guard<'_, T> {
        let pin = self.domain.pin();
        // SAFETY: the pin keeps the thread online in the domain in which `replace` retires, and the
        // thread does not pass a quiescent point.
        Guard { value: unsafe { self.read() }, _pin: pin }
    }

    /// Starts to fetch the first two lines of the present value.
    #[cfg(not(ringbuf_loom))]
    #[inline]
    pub fn fetch(&self) {
        // "published.fetch": nothing is read through the pointer.
        let value = self.value.load(order!(Relaxed, "published.fetch"));
        crate::prefetch::fetch(value.addr());
        if size_of::<T>() > 64 {
            crate::prefetch::fetch(value.addr() + 64);
        }
    }

    /// Publishes `value`. The one before is [retired](Domain::retire): it is dropped after the last
    /// read, by the thread that [collects](Domain::collect) it.
    pub fn replace(&self, value: T) {
        // SAFETY: garbage runs when no thread holds a reference from before its retirement.
        let replaced = unsafe { self.exchange(value) };
        self.domain.retire(move || drop(replaced));
    }
}

// SAFETY: as a box of the value, which only `drop` gets by value or mutably.
unsafe impl<T: Send> Send for Published<T> {}
// SAFETY: gives out shared references to the value, and moves values in and out.
unsafe impl<T: Send + Sync> Sync for Published<T> {}

impl<T> Drop for Published<T> {
    fn drop(&mut self) {
        let value = self.value.load(order!(Relaxed, "published.drop"));
        // SAFETY: it came from a box; a reference would borrow `self`.
        drop(unsafe { Box::from_raw(value) });
    }
}

impl<T> fmt::Debug for Published<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Published").finish_non_exhaustive()
    }
}

/// A value that is published no more, and that may still be read. No box, because a box must not
/// move while others refer to its content.
pub(crate) struct Replaced<T> {
    value: NonNull<T>,
    owned: PhantomData<T>,
}

// SAFETY: as a box of the value. Other threads may refer to it still, hence `Sync`.
unsafe impl<T: Send + Sync> Send for Replaced<T> {}

impl<T> Replaced<T> {
    /// The value.
    #[cfg(ringbuf_loom)]
    pub(crate) fn value(&self) -> &T {
        // SAFETY: it is dropped with `self`.
        unsafe { self.value.as_ref() }
    }
}

impl<T> Drop for Replaced<T> {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and by the promise of `exchange` no reference is left.
        drop(unsafe { Box::from_raw(self.value.as_ptr()) });
    }
}
