//! Latency measurements of ringspin applications, with the machine that they were made on.
//!
//! [`Bench`] measures the [`Chain`]s of a graph. Its parts serve other benchmarks, too: [`System`]
//! describes a machine and finds what disturbs a measurement on it, [`wake_ups`] measures the floor
//! that the operating system sets, [`take_turns`] interleaves variants, [`load`] and [`save`] keep
//! [`Results`] in a JSON file, and [`page`] shows several of them.

#![forbid(unsafe_code)]

mod application;
mod file;
mod machine;
pub mod process;
mod turns;
mod wake_up;

pub use application::Bench;
pub use file::{load, save};
pub use machine::{Permissions, System, throttling};
pub use ringspin_modes::Chain;
pub use ringspin_report::results::{self, Results};
pub use turns::{Meters, Step, Variant, cell_of, measure_turn, take_turns};
pub use wake_up::wake_ups;

/// Renders results side by side as one HTML page that loads nothing.
#[must_use]
pub fn page(all: &[(String, Results)]) -> String {
    ringspin_report::render(all, None)
}
