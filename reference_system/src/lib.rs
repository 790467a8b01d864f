//! The Autoware reference system on ringspin: the workload by which ROS 2 executors are compared.
//!
//! The graph (24 nodes, [`description`]), its message ([`message`]) and its work ([`crunch`])
//! follow the reference system of the ROS 2 real-time working group, so that what is measured here
//! ([`kpi`], [`process`]) may stand beside published figures ([`published`]) in one [`table`], and
//! on one page with charts, [`report`].
//!
//! On the same graph there is a second workload, [`lame`]: uneven costs, and chains with deadlines
//! ([`chains`]).
//!
//! Beside it, two tests of the deterministic mode: the field's synthetic one of the order of
//! callbacks, [`determinism`], and random graphs of everything that there is, [`random_graph`].
//!
//! What is deliberately absent: nothing in these modules knows a mode or a thread. The same nodes
//! and the same collector serve every mode, otherwise the modes could not be compared.

#![forbid(unsafe_code)]

pub mod chains;
pub mod compare;
pub mod crunch;
pub mod description;
pub mod determinism;
pub mod dot;
pub mod kpi;
pub mod lame;
pub mod message;
pub mod middleware;
pub mod optimize;
pub mod process;
pub mod published;
pub mod random_graph;
mod recording;
pub mod report;
pub mod run;
pub mod sleep;
pub mod system;
pub mod table;
pub mod trace;
pub mod work;
