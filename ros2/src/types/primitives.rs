//! Rust's own numbers, `bool` and `String`, as the messages of `std_msgs` that have one such field.

use crate::rcl::{Mapping, MessageType, RosMessage};
use r2r::std_msgs::msg;

macro_rules! primitives {
    ($($mapping:ident: $rust:ty as $wire:ident),* $(,)?) => {
        $(
            enum $mapping {}

            impl Mapping for $mapping {
                type Rust = $rust;
                type Wire = msg::$wire;

                fn to_wire(value: &$rust, wire: &mut <msg::$wire as RosMessage>::Native) {
                    wire.data = *value;
                }

                fn from_wire(wire: &<msg::$wire as RosMessage>::Native) -> $rust {
                    wire.data
                }
            }
        )*

        /// The tables of these types.
        pub(super) static MESSAGES: &[&MessageType] =
            &[$(MessageType::mapped::<$mapping>(),)* MessageType::mapped::<AsString>()];
    };
}

primitives! {
    AsBool: bool as Bool,
    AsInt8: i8 as Int8,
    AsInt16: i16 as Int16,
    AsInt32: i32 as Int32,
    AsInt64: i64 as Int64,
    AsUInt8: u8 as UInt8,
    AsUInt16: u16 as UInt16,
    AsUInt32: u32 as UInt32,
    AsUInt64: u64 as UInt64,
    AsFloat32: f32 as Float32,
    AsFloat64: f64 as Float64,
}

enum AsString {}

impl Mapping for AsString {
    type Rust = String;
    type Wire = msg::String;

    fn to_wire(value: &String, wire: &mut <msg::String as RosMessage>::Native) {
        wire.data.assign(value);
    }

    fn from_wire(wire: &<msg::String as RosMessage>::Native) -> String {
        wire.data.to_str().to_owned()
    }
}
