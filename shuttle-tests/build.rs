//! Turns the ring modules into their Shuttle variant, for this crate alone; as in `loom-tests`.
//!
//! `ringbuf_loom` says that they are compiled as a model, and `ringbuf_shuttle` for which checker.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ringbuf_loom)");
    println!("cargo::rustc-check-cfg=cfg(ringbuf_shuttle)");
    println!("cargo::rustc-cfg=ringbuf_loom");
    println!("cargo::rustc-cfg=ringbuf_shuttle");
    println!("cargo::rerun-if-changed=build.rs");
}
