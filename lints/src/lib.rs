//! What the `clippy.toml` beside this crate's manifest finds, and what it leaves alone.
//!
//! Every sin is expected where it is committed, so that clippy complains about one that it does not
//! see; about the clean node it must not complain at all. `scripts/test-lints` checks, too, that
//! there is a sin for every entry of the file.

#![forbid(unsafe_code)]

pub mod clean;
pub mod sins;
