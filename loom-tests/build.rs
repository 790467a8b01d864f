//! Turns the ring modules into their loom variant, for this crate alone.
//!
//! A Cargo feature would be unified over the workspace and put every other member on loom's
//! atomics; `RUSTFLAGS` would have to be remembered. A cfg from a build script does neither.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ringbuf_loom)");
    println!("cargo::rustc-cfg=ringbuf_loom");
    println!("cargo::rerun-if-changed=build.rs");
}
