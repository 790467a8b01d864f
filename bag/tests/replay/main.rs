//! Replay and recording through the nodes of a graph.

mod live;
mod player;
mod property;
mod recorder;
mod services;
mod support;
mod types;
