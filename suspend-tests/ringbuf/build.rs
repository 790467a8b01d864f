//! Compiles in the steps at which a test suspends a thread, for this copy of the crate alone.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ringbuf_loom)");
    println!("cargo::rustc-check-cfg=cfg(ringbuf_suspend)");
    println!("cargo::rustc-cfg=ringbuf_suspend");
    println!("cargo::rerun-if-changed=build.rs");
}
