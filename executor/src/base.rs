//! Identifiers, time, names, QoS, digests, and the small tables and lists under all other wings.
//!
//! Nothing here knows a topic, a callback or a worker.

pub mod arguments;
pub(crate) mod departure;
pub mod digest;
pub(crate) mod directory;
pub(crate) mod error;
pub(crate) mod escape;
pub(crate) mod event;
pub(crate) mod info;
pub(crate) mod lock;
pub(crate) mod message_times;
pub mod name;
pub mod observed;
pub(crate) mod owner_thread;
pub(crate) mod parameter_value;
pub(crate) mod qos;
pub(crate) mod ros_clock;
pub(crate) mod slot_table;
pub(crate) mod stop;
pub(crate) mod table;
pub(crate) mod time;
