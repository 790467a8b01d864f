//! Compiles the ring modules in their loom variant, for this crate only.
//!
//! A Cargo feature would be unified over the workspace and put every other member on loom's
//! atomics; `RUSTFLAGS` would have to be set by hand. A cfg from a build script avoids both.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ringbuf_loom)");
    println!("cargo::rustc-cfg=ringbuf_loom");
    println!("cargo::rerun-if-changed=build.rs");
}
