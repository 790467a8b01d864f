//! Compiles the ring modules in their Shuttle variant, for this crate only; see `loom-tests`.
//!
//! `ringbuf_loom` selects compilation as a model, and `ringbuf_shuttle` the checker.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ringbuf_loom)");
    println!("cargo::rustc-check-cfg=cfg(ringbuf_shuttle)");
    println!("cargo::rustc-cfg=ringbuf_loom");
    println!("cargo::rustc-cfg=ringbuf_shuttle");
    println!("cargo::rerun-if-changed=build.rs");
}
