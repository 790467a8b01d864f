//! The command `cargo ringspin`.
//!
//! ```text
//! cargo install --path cli/adopt
//! cd ../my_robot
//! cargo ringspin adopt
//! ```

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_ringspin::main()
}
