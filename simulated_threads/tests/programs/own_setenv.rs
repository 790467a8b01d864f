//! A program with a `setenv` and an `unsetenv` that do not change its environment, like those of
//! bash.

use libc::{c_char, c_int};
use ringspin_simulated_threads as _;

/// Does nothing.
#[unsafe(no_mangle)]
extern "C" fn setenv(_: *const c_char, _: *const c_char, _: c_int) -> c_int {
    0
}

/// Does nothing.
#[unsafe(no_mangle)]
extern "C" fn unsetenv(_: *const c_char) -> c_int {
    0
}

fn main() {
    let of_this_crate = |(name, _): &(String, _)| name.starts_with("RINGSPIN_");
    println!("{:?}", std::env::vars().filter(of_this_crate).collect::<Vec<_>>());
}
