//! Rust's own numbers, `bool` and `String`, as the messages of `std_msgs` that have one such field.

use crate::cdr::{self, CdrError};
use crate::std_msgs::msg;
use crate::{CdrMapping, CdrType, RosMessage, RosType};
use ringspin_executor::MessageCheck;
use std::marker::PhantomData;

/// A message with the serialization of its one field, a `T`.
struct Field<T, M>(PhantomData<(T, M)>);

impl<T, M> CdrMapping for Field<T, M>
where
    T: serde::Serialize + serde::de::DeserializeOwned + Send + Sync + 'static,
    M: RosMessage,
{
    type Rust = T;
    const ROS_TYPE: RosType = RosType::of::<M>();
    const CHECK: Option<MessageCheck> = Some(|value| {
        let value: &T = value.downcast_ref().ok_or(CdrError::OtherType)?;
        Ok(cdr::check(value)?)
    });

    fn write(value: &T, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(value, bytes)
    }

    fn read(bytes: &[u8]) -> Result<T, CdrError> {
        cdr::from_bytes(bytes)
    }
}

/// The tables of these types.
pub(super) static MESSAGES: &[&CdrType] = &[
    CdrType::mapped::<Field<bool, msg::Bool>>(),
    CdrType::mapped::<Field<i8, msg::Int8>>(),
    CdrType::mapped::<Field<i16, msg::Int16>>(),
    CdrType::mapped::<Field<i32, msg::Int32>>(),
    CdrType::mapped::<Field<i64, msg::Int64>>(),
    CdrType::mapped::<Field<u8, msg::UInt8>>(),
    CdrType::mapped::<Field<u16, msg::UInt16>>(),
    CdrType::mapped::<Field<u32, msg::UInt32>>(),
    CdrType::mapped::<Field<u64, msg::UInt64>>(),
    CdrType::mapped::<Field<f32, msg::Float32>>(),
    CdrType::mapped::<Field<f64, msg::Float64>>(),
    CdrType::mapped::<Field<String, msg::String>>(),
];
