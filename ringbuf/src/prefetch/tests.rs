//! Unit tests of `prefetch`.

use super::*;

fn lines(addresses: &[usize]) -> CacheLines {
    CacheLines(addresses.iter().map(|address| address >> LINE_BITS).collect())
}

fn addresses(prefetch_plan: &PrefetchPlan, n: usize) -> Vec<usize> {
    let of = prefetch_plan.of(n).iter();
    of.map(|line| line << LINE_BITS).collect()
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
fn lines_far_from_each_other_are_kept_up_to_the_limit_of_an_event() {
    let mut prefetch_plan = PrefetchPlan::default();
    // The heap of a program and its mapped pages are that far from each other.
    prefetch_plan.add(lines(&[0x5555_5555_0000]));
    prefetch_plan.add(lines(&[0x7fff_f7a0_0000, 128]));
    let many: Vec<usize> = (0..1000).map(|n| n << LINE_BITS).collect();
    prefetch_plan.add(lines(&many));
    assert_eq!(addresses(&prefetch_plan, 1), [128, 0x7fff_f7a0_0000]);
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
