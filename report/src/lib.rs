//! Latency results: their format, statistics, comparisons with peers, and their page.
//!
//! [`results`] is the format of a measurement; [`comparison`] puts the variants of several of them
//! side by side, with [`peers`]. [`render`] writes these rows as JSON into one static HTML page
//! with the plotting library uPlot, which works offline. Nothing here runs anything: the crates
//! `ringspin-bench` and `ringspin-reference-system` measure, and text tables show the same rows.

#![forbid(unsafe_code)]

pub mod comparison;
mod definition;
mod page;
pub mod peers;
pub mod results;
pub mod statistics;
mod summary;

pub use definition::Definition;
pub use page::render;
pub use summary::{Summary, format_ms};
