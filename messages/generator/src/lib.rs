//! Rust structs from ROS 2 message, service and action definitions, for build scripts.

#![forbid(unsafe_code)]
