//! The way of a message to a ready event: topics, publishers, queues, timers, notices.
//!
//! Publishers and timers of any thread write here; an event loop of the wing `running` reads.
//! Nothing here knows the graph or a worker.

pub(crate) mod budget;
pub(crate) mod callback_deadline;
pub(crate) mod causal_stamps;
pub(crate) mod context;
pub(crate) mod control;
pub(crate) mod domain;
pub(crate) mod input;
pub(crate) mod liveliness;
pub(crate) mod message;
pub(crate) mod ready;
pub(crate) mod remote;
pub(crate) mod sim_network;
pub(crate) mod timer;
pub(crate) mod timer_heap;
pub(crate) mod topic;
pub(crate) mod worker_timers;
