//! The API of `ros-env` 0.3.0 without a ROS installation: a module for each message package, such
//! as [`std_msgs`], with the structs that rosidl generates for Rust.
//!
//! The common packages of ROS 2 are always there. The environment of the build adds packages:
//! * `RINGSPIN_MESSAGES`: folders that have packages in them, separated by colons. A package is a
//!   folder with the definitions in `msg`, `srv` and `action`.
//! * `AMENT_PREFIX_PATH`, set by a sourced ROS 2: its packages.
//!
//! ```
//! use ros_env::std_msgs::msg::{String, rmw};
//! use rosidl_runtime_rs::Message;
//!
//! let message = String { data: "hello".into() };
//! let rmw: rmw::String = String::into_rmw_message(std::borrow::Cow::Owned(message)).into_owned();
//! assert_eq!(rmw.data.to_string(), "hello");
//! ```

#![forbid(unsafe_code)]

rosidl_runtime_rs::ringspin_messages::include_messages!();
