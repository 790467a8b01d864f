//! rclrs 0.6: the items of 0.8, and message packages in `vendor`.

#![forbid(unsafe_code)]

pub use rclrs_0_8::*;

/// Message packages, which rclrs 0.8 leaves to `ros_env`.
pub mod vendor {
    pub use ros_env::*;
}
