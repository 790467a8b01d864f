//! Tests of the `clippy.toml` in this folder: disallowed methods and types.
//!
//! Every violation expects its finding, so that clippy reports the ones that it misses; the clean
//! node must have no findings. `scripts/test-lints` also checks that there is a violation for every
//! entry of the file.

#![forbid(unsafe_code)]

pub mod clean;
pub mod violations;
