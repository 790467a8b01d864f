//! Unit tests of `pool`.

use super::*;
use crate::slots::{FIRST_SEGMENT, NEAR};

#[test]
fn slots_are_reused_and_growth_stops() {
    let pool = Pool::new();
    for n in 0..1000 {
        let held = [pool.insert(n), pool.insert(n + 1), pool.insert(n + 2)];
        assert_eq!(*held[1].clone(), n + 1);
    }
    assert_eq!(pool.capacity(), FIRST_SEGMENT);
    pool.reserve(30);
    assert_eq!(pool.capacity(), 60);
}

#[test]
fn loan_keeps_its_content_until_the_next_loan_of_its_slot() {
    let witness = Arc::new(());
    let pool = Pool::new();
    let mut loan = pool.loan(Vec::new);
    loan.extend([witness.clone(), witness.clone()]);
    let buffer = loan.as_ptr();
    let shared = loan.share();
    drop((shared.clone(), shared));
    (1..NEAR).for_each(|_| assert!(pool.loan(Vec::new).is_empty()));
    let loan = pool.loan(Vec::new);
    assert_eq!((loan.as_ptr(), loan.len()), (buffer, 2), "kept");
    drop(loan);
    (0..NEAR).for_each(|_| drop(pool.insert(vec![witness.clone()])));
    assert_eq!(
        Arc::strong_count(&witness),
        1,
        "an inserted message is dropped, and the old content"
    );
    assert!(pool.loan(Vec::new).is_empty());
}

#[test]
fn kept_messages_are_dropped_with_the_pool() {
    let witness = Arc::new(());
    let pool = Pool::new();
    drop(pool.loan(|| witness.clone()));
    assert_eq!(Arc::strong_count(&witness), 2);
    drop(pool);
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
fn panicking_default_leaves_the_slot_free() {
    let pool = Pool::<u32>::new();
    for _ in 0..3 * FIRST_SEGMENT {
        let loan = || pool.loan(|| panic!("no default"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(loan)).is_err());
    }
    assert_eq!(pool.capacity(), FIRST_SEGMENT);
}

#[test]
fn full_pool_hands_messages_back_and_does_not_grow() {
    let witness = Arc::new(());
    let pool = Pool::new();
    pool.reserve(5);
    assert_eq!(pool.capacity(), 12);
    let mut held: Vec<_> =
        (0..12).map(|_| pool.try_insert(witness.clone()).unwrap().share()).collect();
    for _ in 0..3 {
        assert!(pool.try_insert(witness.clone()).is_err());
        assert!(pool.try_loan(|| witness.clone()).is_none());
        assert!(pool.try_loan_boxed(|| Some(Box::new(witness.clone()))).is_none());
        assert_eq!((pool.capacity(), Arc::strong_count(&witness)), (12, 13));
        held.pop();
        held.push(pool.try_insert(witness.clone()).unwrap().share());
    }
}

#[test]
fn message_that_is_moved_out_is_not_kept() {
    let (witness, pool) = (Arc::new(()), Pool::new());
    for _ in 0..3 * FIRST_SEGMENT {
        let inner = pool.loan(|| witness.clone()).into_inner();
        assert_eq!(Arc::strong_count(&witness), 2);
        let moved = pool.insert(inner);
        assert_eq!(Arc::strong_count(&witness), 2);
        drop(moved);
        assert_eq!(Arc::strong_count(&witness), 1);
    }
    assert_eq!(pool.capacity(), FIRST_SEGMENT);
}

#[test]
fn boxed_default_is_moved_once_and_kept() {
    let witness = Arc::new(());
    let pool = Pool::new();
    pool.reserve(1);
    let mut loan = pool.try_loan_boxed(|| Some(Box::new((1, witness.clone())))).unwrap();
    (*loan).0 = 2;
    drop(loan.share());
    assert_eq!(Arc::strong_count(&witness), 2, "kept");
    (1..NEAR).for_each(|_| assert!(pool.try_loan_boxed(|| None).is_none()));
    assert_eq!((*pool.try_loan_boxed(|| unreachable!("there is one")).unwrap()).0, 2);
    drop(pool);
    assert_eq!(Arc::strong_count(&witness), 1);
}

/// A thread with less stack than a message is large.
#[test]
fn large_messages_need_stack_only_where_they_are_made() {
    const BYTES: usize = 8 << 20;
    let fill = || {
        let pool = Pool::<[u8; BYTES]>::new();
        pool.reserve(5);
        let zeroed = || vec![0; BYTES].into_boxed_slice().try_into().ok();
        let mut loan = pool.try_loan_boxed(zeroed).unwrap();
        loan[BYTES - 1] = 7;
        let shared = loan.share();
        assert_eq!(shared.clone()[BYTES - 1], 7);
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(fill);
    thread.unwrap().join().unwrap();
}

#[test]
fn messages_outlive_their_pool() {
    let witness = Arc::new(());
    let pool = Pool::new();
    let kept: Vec<_> = (0..9).map(|_| pool.insert(witness.clone())).collect();
    drop(pool);
    assert_eq!(Arc::strong_count(&witness), 10);
    drop(kept);
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
fn panicking_drop_returns_the_slot() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a message that cannot be dropped");
        }
    }
    let pool = Pool::new();
    for _ in 0..3 * FIRST_SEGMENT {
        let bomb = pool.insert(Bomb);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(bomb)));
        assert!(result.is_err());
    }
    assert_eq!(pool.capacity(), FIRST_SEGMENT);
}

#[test]
fn clone_beyond_the_maximum_panics_and_is_not_counted() {
    let pool = Pool::new();
    let message = pool.insert(1);
    // SAFETY: the message keeps its slot alive.
    let references = || unsafe { &message.slot.as_ref().references };
    references().store(HOLDERS / 2 + 1, crate::sync::Ordering::Relaxed);
    for _ in 0..3 {
        let clone = std::panic::AssertUnwindSafe(|| message.clone());
        assert!(std::panic::catch_unwind(clone).is_err());
    }
    assert_eq!(references().swap(1, crate::sync::Ordering::Relaxed), HOLDERS / 2 + 1);
}
