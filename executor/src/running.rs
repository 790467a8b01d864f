//! The graph, its event loops and workers, and the order in which a worker dispatches.
//!
//! A graph prepares changes under its lock; a worker adopts them between two events and is the only
//! one that touches its tables.

pub(crate) mod change;
pub(crate) mod counters;
pub(crate) mod event_loop;
pub(crate) mod graph;
pub(crate) mod measured;
pub(crate) mod node;
pub(crate) mod picker;
pub(crate) mod route;
pub(crate) mod worker;
