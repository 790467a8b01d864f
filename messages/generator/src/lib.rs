//! Rust structs from ROS 2 message, service and action definitions, for build scripts.
//!
//! Parses the texts of definitions, those of packages and those within recordings, and computes
//! the hashes of types (REP 2016).

#![forbid(unsafe_code)]

mod common;
mod definition;
mod environment;
mod error;
mod form;
mod generator;
mod hash;
mod installed;
mod name;
mod parse;
mod rust;
mod schema;
mod types;
mod value;

pub use common::common_definitions;
pub use definition::{Array, Constant, Element, Field, FieldType, Message, Value};
pub use error::DefinitionError;
pub use generator::{GenerateError, Generator};
pub use hash::FILLER;
pub use installed::{environment_definitions, environment_has_package, installed_definition};
pub use name::{InterfaceKind, TypeName};
pub use parse::parse_message;
pub use schema::{parse_schema, parse_schema_with};
pub use types::{DEPTH_MAX, Definitions};
