//! `use ringspin::Digest` brings trait and derive macro; the derived implementation adds the
//! documented bytes.

use ringspin::{Digest, DigestHasher, Time};
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

#[derive(Digest)]
struct Pose {
    stamp: Time,
    position: [f64; 3],
}

#[derive(Digest)]
struct Meters(f64);

#[derive(Digest)]
struct Nothing;

#[derive(Digest)]
enum Command {
    Stop,
    Turn(f32, bool),
    Go { to: Pose, via: Vec<Meters> },
}

#[derive(Digest)]
enum Never {}

/// Everything that a generic type can have; `C` and `U` do not count and need no `Digest`.
#[derive(Digest)]
struct Table<'a, K: Ord, V, C, U: ?Sized, const N: usize>
where
    V: Clone,
{
    rows: BTreeMap<K, [V; N]>,
    name: &'a str,
    #[digest(skip)]
    cache: HashMap<u32, C>,
    unit: PhantomData<U>,
    result: Result<u8, Never>,
}

/// A type that contains itself, with a field that has the name of the method's parameter.
#[derive(Digest)]
struct List<T> {
    hasher: T,
    next: Option<Box<List<T>>>,
}

fn pose() -> Pose {
    Pose { stamp: Time::from_secs(1), position: [1.0, 2.0, 3.0] }
}

#[test]
fn a_struct_adds_its_fields_in_order_of_declaration() {
    let pose_of = (Time::from_secs(1), 1.0, 2.0, 3.0);
    assert_eq!(DigestHasher::of(&pose()), DigestHasher::of(&pose_of));
    assert_eq!(DigestHasher::of(&Meters(2.5)), DigestHasher::of(&2.5));
    assert_eq!(DigestHasher::of(&Nothing), DigestHasher::of(&()));
}

#[test]
fn an_enum_adds_the_index_of_its_variant_then_the_fields() {
    assert_eq!(DigestHasher::of(&Command::Stop), DigestHasher::of(&0u32));
    assert_eq!(DigestHasher::of(&Command::Turn(1.0, true)), DigestHasher::of(&(1u32, 1f32, true)));
    let go = Command::Go { to: pose(), via: vec![Meters(1.0), Meters(2.0)] };
    assert_eq!(DigestHasher::of(&go), DigestHasher::of(&(2u32, pose(), vec![1.0, 2.0])));
}

#[test]
fn only_what_counts_is_added_and_bounded() {
    struct NoDigest;
    let mut table = Table::<_, _, NoDigest, str, 2> {
        rows: BTreeMap::from([(7u8, [true, false])]),
        name: "rows",
        cache: HashMap::new(),
        unit: PhantomData,
        result: Ok(3),
    };
    let expected = DigestHasher::of(&(1u64, 7u8, [true, false], "rows", (), 0u8, 3u8));
    assert_eq!(DigestHasher::of(&table), expected);
    table.cache.insert(1, NoDigest);
    assert_eq!(DigestHasher::of(&table), expected);
    table.rows.clear();
    assert_ne!(DigestHasher::of(&table), expected);
}

#[test]
fn a_type_can_contain_itself() {
    let list = List { hasher: 1u8, next: Some(Box::new(List { hasher: 2, next: None })) };
    assert_eq!(DigestHasher::of(&list), DigestHasher::of(&[1u8, 1, 2, 0]));
}
