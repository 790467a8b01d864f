#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub use ringspin_executor::*;
pub use ringspin_modes::*;

#[cfg(feature = "ros2")]
pub use ringspin_ros2 as ros2;
