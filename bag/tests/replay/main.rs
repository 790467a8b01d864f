//! Replay and recording through the nodes of a graph.

mod actions;
mod closed_loop;
mod evolution;
mod files;
mod live;
mod player;
mod property;
mod recorder;
mod recorder_counters;
mod services;
mod support;
mod types;
