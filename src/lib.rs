#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub use ringspin_executor::*;
pub use ringspin_modes::*;
