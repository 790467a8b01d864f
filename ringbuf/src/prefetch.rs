//! Cache lines that are fetched before they are needed.
//!
//! In a large graph the memory that an event touches is in no near cache, and one line leads to the
//! next: the processor waits for each of them in turn. The next event is often known while the one
//! before still runs. So the lines of each event are noted once, as bare addresses, and fetched
//! all at once, an event ahead. An outdated address costs an unneeded line, and nothing else.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::size_of_val;
use core::ptr;

const LINE_BITS: u32 = 6;

/// The most lines that are kept of one event: further ones do not arrive in time.
const LINES_MAX: usize = 64;

/// The lines of some values.
#[derive(Clone, Debug, Default)]
pub struct CacheLines(Vec<usize>);

impl CacheLines {
    /// Adds the lines on which `value` lies, but not those that it points to.
    pub fn add<T: ?Sized>(&mut self, value: &T) {
        self.add_front(value, size_of_val(value));
    }

    /// Adds the lines of a shared value, and the line of its counts, which lie before it.
    pub fn add_shared<T>(&mut self, value: &Arc<T>) {
        self.add(&**value);
        let counts = align_of::<T>().max(2 * size_of::<usize>());
        self.0.push((Arc::as_ptr(value).addr() - counts) >> LINE_BITS);
    }

    /// Adds the lines of the first `bytes` of `value`.
    pub fn add_front<T: ?Sized>(&mut self, value: &T, bytes: usize) {
        let start = ptr::from_ref(value).addr();
        let size = size_of_val(value).min(bytes);
        if size > 0 {
            self.0.extend(start >> LINE_BITS..=(start + size - 1) >> LINE_BITS);
        }
    }
}

#[cfg(feature = "std")]
impl CacheLines {
    /// Adds the lines of `other`.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes lines that were added twice.
    pub fn dedup(&mut self) {
        self.0.sort_unstable();
        self.0.dedup();
    }

    /// Starts to fetch all of them. Waits for nothing.
    #[inline]
    pub fn fetch(&self) {
        self.0.iter().for_each(|line| fetch(line << LINE_BITS));
    }
}

/// The lines of many events.
#[derive(Clone, Debug, Default)]
pub struct PrefetchPlan {
    lines: Vec<usize>,
    /// Where the lines of each event start, and finally where those of the last one end.
    starts: Vec<u32>,
}

impl PrefetchPlan {
    /// Adds an event; it has the number after the one before, from zero. Only its first lines
    /// count, anywhere in memory: an allocator may use the program's heap and mapped pages.
    pub fn add(&mut self, mut lines: CacheLines) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        lines.0.truncate(LINES_MAX);
        lines.0.sort_unstable();
        lines.0.dedup();
        self.lines.extend(lines.0);
        self.starts.push(self.lines.len() as u32);
    }

    /// Whether there is no event.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// How many bytes there are on the lines of all events; a line of two events counts twice.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lines.len() << LINE_BITS
    }

    /// Starts to fetch the lines of event `n`; nothing if there is no such event. Waits for
    /// nothing, if these [are announced](Self::announce) in time.
    #[inline]
    pub fn fetch(&self, n: usize) {
        for line in self.of(n) {
            fetch(line << LINE_BITS);
        }
    }

    /// Event `n` is the one after the next: starts to fetch the list of its lines.
    #[inline]
    pub fn announce(&self, n: usize) {
        let per_line = 1 << (LINE_BITS - usize::BITS.ilog2() + 3);
        let list = self.of(n);
        list.iter().step_by(per_line).for_each(|line| fetch(ptr::from_ref(line).addr()));
    }

    #[inline]
    fn of(&self, n: usize) -> &[usize] {
        match self.starts.get(n..n.saturating_add(2)) {
            Some(&[start, end]) => &self.lines[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// Starts to fetch the line at `address`, which may be any address.
#[inline]
pub(crate) fn fetch(address: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint: it reads nothing into the program, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ptr::without_provenance(address)) };
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        // SAFETY: as above.
        unsafe {
            core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address,
                options(readonly, nostack, preserves_flags));
        }
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

/// Starts to fetch the line at `address`, which may be any address, in order to write to it.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn fetch_to_write(address: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: a prefetch is a hint: it reads nothing into the program, and never faults. A
        // processor that does not know this one does nothing.
        unsafe {
            core::arch::asm!("prefetchw [{0}]", in(reg) address,
                options(readonly, nostack, preserves_flags));
        }
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        // SAFETY: as above.
        unsafe {
            core::arch::asm!("prfm pstl1keep, [{0}]", in(reg) address,
                options(readonly, nostack, preserves_flags));
        }
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
