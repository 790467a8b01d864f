//! Messages for tests of `rclrs`: those of `ringspin-test-msgs`, as rosidl generates them for Rust.

#![forbid(unsafe_code)]

rosidl_runtime_rs::ringspin_messages::include_messages!();
