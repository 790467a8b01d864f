//! The bytes are pinned, one by one and as hashes: they have to be equal on every machine.

use crate::base::event::{EventId, SourceId};
use crate::base::time::Time;
use crate::features::lifecycle::LifecycleState;
use crate::features::parameter::ParameterValue;
use crate::{Digest, DigestHasher};
use proptest::prelude::*;
use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::marker::PhantomData;
use std::num::{NonZero, Wrapping};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// Asserts which bytes a value adds, by hashing them in one piece.
#[track_caller]
fn has_bytes<T: Digest + ?Sized>(value: &T, bytes: &[u8]) {
    assert_eq!(DigestHasher::of(value), xxh3_64(bytes), "the bytes are not {bytes:?}");
}

#[test]
fn numbers_are_little_endian_and_of_fixed_width() {
    has_bytes(&0x12u8, &[0x12]);
    has_bytes(&0x1234u16, &[0x34, 0x12]);
    has_bytes(&0x1234_5678u32, &[0x78, 0x56, 0x34, 0x12]);
    has_bytes(&1u64, &[1, 0, 0, 0, 0, 0, 0, 0]);
    has_bytes(&1u128, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    has_bytes(&1usize, &[1, 0, 0, 0, 0, 0, 0, 0]);
    has_bytes(&-2i8, &[0xfe]);
    has_bytes(&-2i16, &[0xfe, 0xff]);
    has_bytes(&-2i32, &[0xfe, 0xff, 0xff, 0xff]);
    has_bytes(&-2i64, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    has_bytes(&-1i128, &[0xff; 16]);
    has_bytes(&-1isize, &[0xff; 8]);
    has_bytes(&true, &[1]);
    has_bytes(&'é', &[0xe9, 0, 0, 0]);
    has_bytes(&NonZero::new(7u16).unwrap(), &[7, 0]);
    has_bytes(&Wrapping(7u16), &[7, 0]);
}

#[test]
fn floats_are_their_bits_but_all_nans_are_one() {
    has_bytes(&1.5f32, &[0, 0, 0xc0, 0x3f]);
    has_bytes(&-0.0f64, &[0, 0, 0, 0, 0, 0, 0, 0x80]);
    has_bytes(&0.0f64, &[0; 8]);
    for nan in [f64::NAN, -f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001)] {
        has_bytes(&nan, &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f]);
        has_bytes(&[nan; 2], &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f].repeat(2));
    }
    for nan in [f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001)] {
        has_bytes(&nan, &[0, 0, 0xc0, 0x7f]);
    }
}

#[test]
fn collections_begin_with_their_length_and_arrays_do_not() {
    let two = [2, 0, 0, 0, 0, 0, 0, 0];
    has_bytes("ab", &[&two[..], b"ab"].concat());
    has_bytes(&String::from("ab"), &[&two[..], b"ab"].concat());
    has_bytes(&[1u8, 2][..], &[&two[..], &[1, 2]].concat());
    has_bytes(&vec![1u16, 2], &[&two[..], &[1, 0, 2, 0]].concat());
    let mut deque = VecDeque::from([9u8, 1]);
    deque.rotate_left(1);
    has_bytes(&deque, &[&two[..], &[1, 9]].concat());
    has_bytes(&BTreeSet::from([9u8, 1]), &[&two[..], &[1, 9]].concat());
    has_bytes(&BTreeMap::from([(9u8, 8u8), (1, 2)]), &[&two[..], &[1, 2, 9, 8]].concat());
    has_bytes(&[1u8, 2], &[1, 2]);
    has_bytes(&[[1u16, 2], [3, 4]], &[1, 0, 2, 0, 3, 0, 4, 0]);
    has_bytes(&vec![(); 2], &two);
}

#[test]
fn enums_have_a_tag_and_structs_have_none() {
    has_bytes(&Some(5u8), &[1, 5]);
    has_bytes(&None::<u8>, &[0]);
    has_bytes(&Ok::<u8, bool>(5), &[0, 5]);
    has_bytes(&Err::<u8, bool>(true), &[1, 1]);
    has_bytes(&Ordering::Less, &[0xff]);
    has_bytes(&(1u8, 2u16, (), [3u8], PhantomData::<String>), &[1, 2, 0, 3]);
    has_bytes(&(1u8, 2u8, 3u8, 4u8, 5u8, 6u8, 7u8, 8u8), &[1, 2, 3, 4, 5, 6, 7, 8]);
    has_bytes(&LifecycleState::Active, &[2, 0, 0, 0]);
    let double = [&[2, 0, 0, 0][..], &1.0f64.to_le_bytes()].concat();
    has_bytes(&ParameterValue::Double(1.0), &double);
}

#[test]
fn pointers_add_the_value_behind_them() {
    has_bytes(&&5u8, &[5]);
    has_bytes(&&mut 5u8, &[5]);
    has_bytes(&Box::new(5u8), &[5]);
    has_bytes(&Rc::new(5u8), &[5]);
    has_bytes(&Cell::new(5u8), &[5]);
    let text = [&[2, 0, 0, 0, 0, 0, 0, 0][..], b"ab"].concat();
    has_bytes(&Arc::<str>::from("ab"), &text);
    has_bytes(&Cow::Borrowed("ab"), &text);
    let dynamic: Box<dyn Digest> = Box::new("ab");
    has_bytes(&dynamic, &text);
}

#[test]
fn times_are_nanoseconds_and_durations_do_not_overflow() {
    has_bytes(&Time::from_nanos(258), &[2, 1, 0, 0, 0, 0, 0, 0]);
    let duration = Duration::new(u64::MAX, 999_999_999);
    has_bytes(&duration, &[&[0xff; 8][..], &999_999_999u32.to_le_bytes()].concat());
    let id = EventId { source: SourceId(3), sequence: 4 };
    has_bytes(&id, &[3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn near_misses_differ() {
    let of = |value: &dyn Digest| DigestHasher::of(value);
    assert_ne!(of(&("ab", "c")), of(&("a", "bc")));
    assert_ne!(of(&(vec![1u8], vec![2u8, 3])), of(&(vec![1u8, 2], vec![3u8])));
    assert_ne!(of(&vec![Some(0u8)]), of(&vec![None::<u8>, None]));
    assert_ne!(of(&Some(None::<u8>)), of(&None::<Option<u8>>));
    assert_ne!(of(&(1u8, 2u8)), of(&(2u8, 1u8)));
    assert_ne!(of(&0.0f32), of(&-0.0f32));
    assert_ne!(of(&""), of(&()));
    assert_ne!(of(&[vec![0u8; 2], vec![]]), of(&[vec![], vec![0u8; 2]]));
}

/// Golden values, computed with the reference implementation of XXH3 from bytes that Python's
/// `struct` packed: a machine with other results has digests that cannot be compared.
#[test]
fn the_digests_are_the_same_on_every_machine() {
    #[derive(Digest)]
    #[digest(crate = "crate")]
    struct Scan {
        frame: String,
        stamp: Time,
        ranges: Vec<f32>,
        best: Option<(usize, f64)>,
    }
    let scan = Scan {
        frame: "laser".into(),
        stamp: Time::from_secs(3),
        ranges: (0..1000).map(|n| n as f32 * 0.25).collect(),
        best: Some((17, -0.0)),
    };
    let map: BTreeMap<i64, Vec<bool>> = (-50..50).map(|n| (n, vec![n % 3 == 0; 5])).collect();
    let values: [&dyn Digest; 5] = [&(), &0u64, &"ringspin", &scan, &map];
    let golden = [
        0x2d06_8005_38d3_94c2,
        0xc77b_3abb_6f87_acd9,
        0x5285_6c17_eb71_fbbc,
        0x467d_057c_bf82_b02d,
        0x9c2e_cf40_542e_b7f6,
    ];
    assert_eq!(values.map(DigestHasher::of), golden);
}

#[test]
fn more_can_be_added_after_a_digest() {
    let mut hasher = DigestHasher::new();
    let values: Vec<u64> = (0..100).collect();
    for (n, value) in values.iter().enumerate() {
        value.digest(&mut hasher);
        let bytes: Vec<u8> = values[..=n].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(hasher.finish(), xxh3_64(&bytes));
    }
    assert_eq!(format!("{hasher:?}"), format!("DigestHasher({:016x})", hasher.finish()));
}

/// Values with few letters and lengths, so that near collisions are likely.
fn nested() -> impl Strategy<Value = Vec<(String, Option<Vec<u8>>)>> {
    let bytes = prop::option::of(prop::collection::vec(0u8..2, 0..3));
    prop::collection::vec(("[ab]{0,3}", bytes), 0..4)
}

proptest! {
    /// Hashing in chunks adds the same bytes as hashing one by one, wherever a chunk ends.
    #[test]
    fn many_numbers_at_once_are_as_one_after_the_other(
        wide in prop::collection::vec(any::<u128>(), 0..100),
        floats in prop::collection::vec(any::<f64>(), 0..200),
        chars in prop::collection::vec(any::<char>(), 0..200),
        bools in prop::collection::vec(any::<bool>(), 0..600),
        points in prop::collection::vec(any::<[i16; 3]>(), 0..200),
    ) {
        fn one_by_one<T: Digest>(items: &[T]) -> u64 {
            let mut hasher = DigestHasher::new();
            hasher.write_len(items.len());
            items.iter().for_each(|item| item.digest(&mut hasher));
            hasher.finish()
        }
        prop_assert_eq!(DigestHasher::of(&wide), one_by_one(&wide));
        prop_assert_eq!(DigestHasher::of(&floats), one_by_one(&floats));
        prop_assert_eq!(DigestHasher::of(&chars), one_by_one(&chars));
        prop_assert_eq!(DigestHasher::of(&bools), one_by_one(&bools));
        prop_assert_eq!(DigestHasher::of(&points), one_by_one(&points));
    }

    /// Splitting the bytes into calls does not change the digest.
    #[test]
    fn pieces_are_as_the_whole(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..12),
    ) {
        let mut hasher = DigestHasher::new();
        pieces.iter().for_each(|piece| hasher.write(piece));
        prop_assert_eq!(hasher.finish(), xxh3_64(&pieces.concat()));
    }

    /// Different values of a type with nested parts of variable length have different bytes.
    #[test]
    fn different_values_have_different_digests(
        one in nested(),
        other in nested(),
        moved in 0usize..8,
    ) {
        let equal = DigestHasher::of(&one) == DigestHasher::of(&other);
        prop_assert_eq!(equal, one == other);
        // The closest miss: a character that moves from one string to the next.
        let text: String = one.iter().map(|(text, _)| text.as_str()).collect();
        let at = text.char_indices().map(|(at, _)| at).nth(moved).unwrap_or(text.len());
        let (left, right) = text.split_at(at);
        let whole = DigestHasher::of(&(text.as_str(), ""));
        prop_assert_eq!(DigestHasher::of(&(left, right)) == whole, right.is_empty());
    }
}
