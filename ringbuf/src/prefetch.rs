//! Cache lines that are fetched before they are needed.
//!
//! In a large graph the memory that an event touches is in no near cache, and one line leads to the
//! next: the processor waits for each of them in turn. The next event is often known while the one
//! before still runs. So the lines of each event are noted once, as bare addresses, and fetched
//! all at once, an event ahead. An outdated address costs an unneeded line, and nothing else.

use alloc::vec::Vec;
use core::mem::size_of_val;
use core::ptr;

const LINE_BITS: u32 = 6;

/// The most lines that are kept of one event: what is beyond that does not arrive in time.
const LINES_MAX: usize = 64;

/// The lines of some values.
#[derive(Clone, Debug, Default)]
pub struct CacheLines(Vec<usize>);

impl CacheLines {
    /// Adds the lines on which `value` lies, but not those of what it points to.
    pub fn add<T: ?Sized>(&mut self, value: &T) {
        let start = ptr::from_ref(value).addr();
        let size = size_of_val(value);
        if size > 0 {
            self.0.extend(start >> LINE_BITS..=(start + size - 1) >> LINE_BITS);
        }
    }
}

/// The lines of many events, in little memory.
#[derive(Clone, Debug, Default)]
pub struct PrefetchPlan {
    /// The address from which the lines are counted.
    base: usize,
    lines: Vec<u32>,
    /// Where the lines of each event start, and finally where those of the last one end.
    starts: Vec<u32>,
}

impl PrefetchPlan {
    /// Adds an event; it has the number after the one before, from zero. Only its first lines
    /// count, and of these the ones within 128 GiB of the first line of all.
    pub fn add(&mut self, mut lines: CacheLines) {
        if self.starts.is_empty() {
            self.starts.push(0);
            let first = lines.0.first().copied().unwrap_or_default();
            self.base = first.wrapping_sub(1 << 31);
        }
        lines.0.truncate(LINES_MAX);
        lines.0.sort_unstable();
        lines.0.dedup();
        let base = self.base;
        let offset = |line: usize| u32::try_from(line.wrapping_sub(base)).ok();
        self.lines.extend(lines.0.into_iter().filter_map(offset));
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
            fetch(self.base.wrapping_add(*line as usize) << LINE_BITS);
        }
    }

    /// Event `n` is the one after the next: starts to fetch the list of its lines.
    #[inline]
    pub fn announce(&self, n: usize) {
        let per_line = 1 << (LINE_BITS - u32::BITS.ilog2() + 3);
        let list = self.of(n);
        list.iter().step_by(per_line).for_each(|line| fetch(ptr::from_ref(line).addr()));
    }

    #[inline]
    fn of(&self, n: usize) -> &[u32] {
        match self.starts.get(n..n.saturating_add(2)) {
            Some(&[start, end]) => &self.lines[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// Starts to fetch the line at `address`, whatever that is.
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

/// Starts to fetch the line at `address`, whatever that is, in order to write to it.
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
mod tests {
    use super::*;

    fn lines(addresses: &[usize]) -> CacheLines {
        CacheLines(addresses.iter().map(|address| address >> LINE_BITS).collect())
    }

    fn addresses(prefetch_plan: &PrefetchPlan, n: usize) -> Vec<usize> {
        let of = prefetch_plan.of(n).iter();
        of.map(|line| prefetch_plan.base.wrapping_add(*line as usize) << LINE_BITS).collect()
    }

    #[test]
    fn lines_cover_the_whole_value() {
        #[repr(align(64))]
        struct Aligned([u8; 256]);
        let values = Aligned([0; 256]);
        let first = ptr::from_ref(&values).addr() >> LINE_BITS;
        let count = |range: core::ops::Range<usize>| {
            let mut lines = CacheLines::default();
            lines.add(&values.0[range]);
            lines.0.iter().map(|line| line - first).collect::<Vec<_>>()
        };
        assert_eq!(count(0..64), [0]);
        assert_eq!(count(63..65), [0, 1]);
        assert_eq!(count(64..65), [1]);
        assert_eq!(count(10..250), [0, 1, 2, 3]);
        assert_eq!(count(10..10), []);
    }

    #[test]
    fn each_event_has_its_own_lines_in_order_and_once() {
        let mut prefetch_plan = PrefetchPlan::default();
        let far = 1 << 40;
        prefetch_plan.add(lines(&[far + 128, far, far + 129]));
        prefetch_plan.add(lines(&[]));
        prefetch_plan.add(lines(&[far - 64]));
        assert_eq!(addresses(&prefetch_plan, 0), [far, far + 128]);
        assert_eq!(addresses(&prefetch_plan, 1), []);
        assert_eq!(addresses(&prefetch_plan, 2), [far - 64]);
        assert_eq!((prefetch_plan.bytes(), prefetch_plan.is_empty()), (3 * 64, false));
        assert!(PrefetchPlan::default().is_empty());
        for n in [3, usize::MAX] {
            assert_eq!(addresses(&prefetch_plan, n), []);
        }
    }

    #[test]
    fn lines_beyond_distance_or_number_limit_are_left_out() {
        let mut prefetch_plan = PrefetchPlan::default();
        prefetch_plan.add(lines(&[64]));
        prefetch_plan.add(lines(&[1 << 50, 128]));
        let many: Vec<usize> = (0..1000).map(|n| n << LINE_BITS).collect();
        prefetch_plan.add(lines(&many));
        assert_eq!(addresses(&prefetch_plan, 1), [128]);
        assert_eq!(addresses(&prefetch_plan, 2).len(), LINES_MAX);
    }

    #[test]
    fn fetch_of_an_unmapped_address_is_ignored() {
        let mut prefetch_plan = PrefetchPlan::default();
        prefetch_plan.add(lines(&[0, 64, 1 << 45]));
        for n in 0..2 {
            prefetch_plan.announce(n);
            prefetch_plan.fetch(n);
        }
    }
}
