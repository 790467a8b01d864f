//! Random messages of every type of the test packages keep their bytes and digests on the way
//! between dynamic messages and structs.

use proptest::prelude::*;
use rclrs::*;
use ringspin::{Digest, DigestHasher};
use ringspin_adapter::Carried;
use ringspin_messages::cdr;
use ringspin_rclrs_test_msgs::visit_types;
use rosidl_runtime_rs::{Message, TypeVisitor};

/// Random values: the generator splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn up_to(&mut self, max: usize) -> usize {
        (self.next() % (max as u64 + 1)) as usize
    }

    /// A text of at most so many UTF-16 units, and bytes.
    fn text(&mut self, max: usize) -> String {
        let mut text = String::new();
        while let c = ['a', 'ö', '中', '🤖'][self.up_to(3)]
            && text.len() + c.len_utf8() <= self.up_to(max)
        {
            text.push(c);
        }
        text
    }
}

/// A value that can be random.
trait Randomly {
    fn fill(&mut self, random: &mut Random);
}

impl<T: Randomly> Randomly for &mut T {
    fn fill(&mut self, random: &mut Random) {
        (**self).fill(random);
    }
}

/// Fills a reference or a proxy.
fn filled(mut value: impl Randomly, random: &mut Random) {
    value.fill(random);
}

macro_rules! randomly {
    ($($ty:ty: |$random:ident| $value:expr;)*) => {$(
        impl Randomly for $ty {
            fn fill(&mut self, $random: &mut Random) {
                *self = $value;
            }
        }
    )*};
}

randomly! {
    bool: |random| random.up_to(1) == 1;
    u8: |random| random.next() as u8;
    i8: |random| random.next() as i8;
    u16: |random| random.next() as u16;
    i16: |random| random.next() as i16;
    u32: |random| random.next() as u32;
    i32: |random| random.next() as i32;
    u64: |random| random.next();
    i64: |random| random.next() as i64;
    f32: |random| f32::from_bits(random.next() as u32);
    f64: |random| f64::from_bits(random.next());
    rosidl_runtime_rs::String: |random| random.text(20).into();
    rosidl_runtime_rs::WString: |random| random.text(20).as_str().into();
}

impl Randomly for DynamicBoundedStringMut<'_> {
    fn fill(&mut self, random: &mut Random) {
        self.try_assign(&random.text(self.upper_bound().get())).unwrap();
    }
}

impl Randomly for DynamicBoundedWStringMut<'_> {
    fn fill(&mut self, random: &mut Random) {
        self.try_assign(&random.text(self.upper_bound().get())).unwrap();
    }
}

impl Randomly for DynamicMessageViewMut<'_> {
    fn fill(&mut self, random: &mut Random) {
        let names: Vec<_> = self.fields.iter().map(|info| info.name.clone()).collect();
        names.iter().for_each(|name| fill(self.get_mut(name).unwrap(), random));
    }
}

macro_rules! fill {
    (
        [$($simple:ident)*] [$($array:ident)*] [$($plain:ident)*] [$($proxy:ident)*]
        [$($bounded:ident)*]
    ) => {
        fn fill(value: ValueMut<'_>, random: &mut Random) {
            match value {
                $(ValueMut::Simple(SimpleValueMut::$simple(value)) => filled(value, random),)*
                $(ValueMut::Array(ArrayValueMut::$array(values)) => {
                    values.into_iter().for_each(|value| filled(value, random));
                })*
                $(ValueMut::Sequence(SequenceValueMut::$plain(values)) => {
                    *values = rosidl_runtime_rs::Sequence::new(random.up_to(4));
                    values.iter_mut().for_each(|value| value.fill(random));
                })*
                $(ValueMut::Sequence(SequenceValueMut::$proxy(mut values)) => {
                    values.reset(random.up_to(4));
                    values.iter_mut().for_each(|value| value.fill(random));
                })*
                $(ValueMut::BoundedSequence(BoundedSequenceValueMut::$bounded(mut values)) => {
                    values.try_reset(random.up_to(values.upper_bound())).unwrap();
                    values.iter_mut().for_each(|value| value.fill(random));
                })*
                other => panic!("definitions have no {other:?}"),
            }
        }
    };
}

fill! {
    [Float Double Boolean Octet Uint8 Int8 Uint16 Int16 Uint32 Int32 Uint64 Int64 String
        BoundedString WString BoundedWString Message]
    [FloatArray DoubleArray BooleanArray OctetArray Uint8Array Int8Array Uint16Array Int16Array
        Uint32Array Int32Array Uint64Array Int64Array StringArray WStringArray MessageArray]
    [FloatSequence DoubleSequence BooleanSequence OctetSequence Uint8Sequence Int8Sequence
        Uint16Sequence Int16Sequence Uint32Sequence Int32Sequence Uint64Sequence Int64Sequence
        StringSequence WStringSequence]
    [BoundedStringSequence MessageSequence]
    [FloatBoundedSequence DoubleBoundedSequence BooleanBoundedSequence OctetBoundedSequence
        Uint8BoundedSequence Int8BoundedSequence Uint16BoundedSequence Int16BoundedSequence
        Uint32BoundedSequence Int32BoundedSequence Uint64BoundedSequence Int64BoundedSequence
        StringBoundedSequence BoundedStringBoundedSequence WStringBoundedSequence
        MessageBoundedSequence]
}

fn digest_of(value: impl Digest) -> u64 {
    DigestHasher::of(&value)
}

/// Takes a random message of each type to its struct and back.
struct RoundTrip {
    random: Random,
    types: usize,
}

impl TypeVisitor for RoundTrip {
    fn message<M: Message>(&mut self) {
        self.types += 1;
        let default = M::RmwMsg::default();
        let mut dynamic = DynamicMessage::convert_from_rmw_message(default.clone()).unwrap();
        let unchanged = DynamicMessage::convert_from_rmw_message(default.clone()).unwrap();
        assert_eq!(dynamic, unchanged);
        dynamic.view_mut().fill(&mut self.random);
        let carried = Carried::new(dynamic.clone());
        let typed: M::RmwMsg = dynamic.clone().convert_into_rmw_message().unwrap();
        let idiomatic = M::from_rmw_message(typed.clone());
        assert_eq!(&*carried.bytes().unwrap(), cdr::to_bytes(&typed).unwrap());
        assert_eq!(digest_of(carried), digest_of(Carried::new(idiomatic)));
        assert_eq!(DynamicMessage::convert_from_rmw_message(typed).unwrap(), dynamic);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 50,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_messages_survive_the_way_to_structs_and_back(seed: u64) {
        let mut trip = RoundTrip { random: Random(seed), types: 0 };
        visit_types(&mut trip);
        prop_assert!(trip.types > 30, "{} types", trip.types);
    }
}
