//! The modules of message packages.

include!(concat!(env!("OUT_DIR"), "/common.rs"));
pub use own::*;

/// Packages that `ringspin_messages` does not have.
#[allow(unused_variables)] // if there is none
pub(crate) mod own {
    ringspin_messages::include_messages!();
}
