//! `#[derive(RosMessage)]`: makes a struct with serde's traits a ROS 2 message.
//!
//! Re-exported with the trait `RosMessage`, which has an example.

#![forbid(unsafe_code)]

mod expand;

/// Implements `RosMessage` for a struct with the fields of a ROS 2 message, in their order.
///
/// * `#[ros(name = "my_msgs/msg/Foo")]` names the type.
/// * `#[ros(definition = "...")]` has the text of its `.msg` file. Types of packages that
///   `ringspin_messages` does not have follow, each after a line of 80 `=` and a line
///   `MSG: package/Type`, as in recordings.
/// * `#[ros(hash = "RIHS01_...")]` is compared with the hash of the definition, if it is given.
/// * `#[ros(crate = "path")]` sets the path of `ringspin_messages`; a crate that depends on the
///   facade alone writes `ringspin::messages`.
///
/// Names of the fields (after `#[serde(rename)]`), and types that are no messages, are compared
/// with the definition. `[T; N]` and `Vec<T>` are arrays; serde's derive does not check the bounds
/// of the latter. A field with `#[serde(with)]` may have any type.
#[proc_macro_derive(RosMessage, attributes(ros))]
pub fn derive_ros_message(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).and_then(expand::expand);
    expanded.unwrap_or_else(|error| error.into_compile_error()).into()
}
