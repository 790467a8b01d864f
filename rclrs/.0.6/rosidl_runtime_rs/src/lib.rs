//! rosidl_runtime_rs 0.5: the items of 0.7.

#![forbid(unsafe_code)]

pub use rosidl_0_7::*;
