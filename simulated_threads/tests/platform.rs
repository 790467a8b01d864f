//! Other platforms are refused with a message, by a build for each of them.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Builds `src/platform.rs` for a target. No standard library of the target is needed: all that the
/// file uses of it is a macro that the compiler provides.
fn build(target: &str) -> Output {
    let name = format!("ringspin-{}-{target}", std::process::id());
    let [source, library] =
        ["rs", "rmeta"].map(|kind| std::env::temp_dir().join(&name).with_extension(kind));
    let platform: PathBuf = [env!("CARGO_MANIFEST_DIR"), "src", "platform.rs"].iter().collect();
    let text = format!(
        "#![feature(no_core, rustc_attrs)]
         #![no_core]
         #![allow(internal_features, unused_macros)]
         #[rustc_builtin_macro] macro_rules! compile_error {{ ($message:expr) => {{}}; }}
         #[path = {platform:?}] mod platform;"
    );
    std::fs::write(&source, text).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut build = Command::new(rustc);
    build.env("RUSTC_BOOTSTRAP", "1").args(["--edition=2024", "--crate-type=lib"]);
    build.args(["--crate-name=platform", "--emit=metadata", "--target", target, "-o"]);
    let output = build.args([&library, &source]).output().unwrap();
    for file in [source, library] {
        let _ = std::fs::remove_file(file);
    }
    output
}

#[test]
fn platforms_without_glibc_are_refused_with_a_message() {
    for target in [
        "x86_64-unknown-linux-musl",
        "aarch64-unknown-linux-musl",
        "x86_64-apple-darwin",
        "aarch64-apple-darwin",
        "x86_64-pc-windows-msvc",
        "i686-unknown-linux-gnu",
        "riscv64gc-unknown-linux-gnu",
    ] {
        let output = build(target);
        let errors = String::from_utf8_lossy(&output.stderr);
        let message = "error: ringspin-simulated-threads needs Linux with glibc on x86-64 or \
                       AArch64: elsewhere (musl, macOS, Windows) build without it";
        assert!(!output.status.success(), "{target}");
        assert!(errors.starts_with(message), "{target}: {errors}");
        assert_eq!(errors.matches("error: ").count(), 2, "{target}: {errors}"); // it and a summary
    }
}

#[test]
fn platforms_with_glibc_are_not_refused() {
    for target in ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"] {
        let output = build(target);
        assert!(output.status.success(), "{target}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
