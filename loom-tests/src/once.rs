//! The part of `std::sync::OnceLock` that `ringbuf` uses, on loom's atomics.

use crate::sync::{AtomicU32, Ordering, UnsafeCell};

const EMPTY: u32 = 0;
const BUSY: u32 = 1;
const SET: u32 = 2;

#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    state: AtomicU32,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written by the one thread that leaves `EMPTY`, and read after `SET`.
unsafe impl<T: Send> Send for OnceLock<T> {}
// SAFETY: as above; a shared lock gives out references, and moves a value in.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(EMPTY), value: UnsafeCell::new(None) }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.state.load(Ordering::Acquire) != SET {
            return None;
        }
        // SAFETY: the value was written before `SET`, and is not written again.
        self.value.with(|value| unsafe { &*value }.as_ref())
    }

    pub(crate) fn set(&self, new: T) -> Result<(), T> {
        let claim = (Ordering::Acquire, Ordering::Relaxed);
        if self.state.compare_exchange(EMPTY, BUSY, claim.0, claim.1).is_err() {
            return Err(new);
        }
        // SAFETY: only the thread that claimed the lock writes, and no thread reads before `SET`.
        self.value.with_mut(|value| unsafe { *value = Some(new) });
        self.state.store(SET, Ordering::Release);
        Ok(())
    }
}
