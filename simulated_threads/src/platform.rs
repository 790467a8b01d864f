//! The platforms on which the functions of libc can be replaced: refuses all others.

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!(
    "ringspin-simulated-threads needs Linux with glibc on x86-64 or AArch64: elsewhere (musl, \
     macOS, Windows) build without it, and without its feature in other crates"
);
