//! The programs that tests start.

#![allow(dead_code, reason = "each test uses some of it")]

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An example of this package: of the build in the folder `RINGSPIN_TEST_EXAMPLES`, otherwise the
/// one that cargo builds beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let folder =
        std::env::var_os("RINGSPIN_TEST_EXAMPLES").map(PathBuf::from).unwrap_or_else(|| {
            let test = std::env::current_exe().unwrap();
            test.ancestors().nth(2).unwrap().join("examples")
        });
    let example = folder.join(name);
    assert!(example.exists(), "`cargo test -p ringspin-simulated-threads` builds {name}");
    example
}

/// The emulator and its arguments, if there is one.
fn emulator() -> Option<String> {
    std::env::var("RINGSPIN_TEST_RUNNER").ok().filter(|runner| !runner.is_empty())
}

/// The part of a report on uncontrolled influences, in a run without sockets and children.
/// Emulators keep addresses random, and catch no instructions.
pub(crate) fn uncontrolled() -> &'static str {
    let is_x86 = cfg!(target_arch = "x86_64");
    match emulator() {
        None if is_x86 => "; uncontrolled: nothing seen (not watched: folders, times of files); ",
        None => {
            "; uncontrolled: nothing seen (not watched: inline system calls, rdtsc, folders, \
                 times of files); "
        }
        Some(_) => {
            "; uncontrolled: addresses (not watched: inline system calls, rdtsc, folders, \
                    times of files); "
        }
    }
}

/// Whether a program depends on addresses, which are random.
pub(crate) fn is_random(name: &str) -> bool {
    let depends = matches!(name, "addresses" | "hash-order") || name.starts_with("parking-lot");
    depends && emulator().is_some()
}

/// Starts a program, in the emulator if there is one.
pub(crate) fn command(program: PathBuf) -> Command {
    let emulator = emulator().unwrap_or_default();
    let mut words = emulator.split_whitespace().map(PathBuf::from).chain([program]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// Has the kernel refuse the run this option of `prctl`, as an older one does.
pub(crate) fn refuse(command: &mut Command, option: i32) {
    let [load, test, end] =
        [libc::BPF_LD | libc::BPF_ABS, libc::BPF_JMP | libc::BPF_JEQ, libc::BPF_RET]
            .map(|code| code as u16);
    let step = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let filter = [
        step(load, 0, 0, 0), // the number of the call
        step(test, libc::SYS_prctl as u32, 0, 3),
        step(load, 16, 0, 0), // its first argument
        step(test, option as u32, 0, 1),
        step(end, libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32, 0, 0),
        step(end, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let set = move || {
        let filter = libc::sock_fprog { len: 6, filter: filter.as_ptr().cast_mut() };
        // SAFETY: the filter lives until the calls return, which copy it.
        let result = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter)
        };
        if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: the function is async-signal-safe.
    unsafe { command.pre_exec(set) };
}

/// A run of an example under simulated time.
pub(crate) fn run_of(name: &str) -> Command {
    let mut command = command(example(name));
    command.env("RINGSPIN_MODE", "deterministic");
    command
}

/// A run of one of the programs in `tests/programs/`.
pub(crate) fn program(name: &str) -> Command {
    let mut command = run_of("programs");
    command.arg(name);
    let use_default = || {
        // A shell has commands in the background ignore SIGINT, and `nohup` has them ignore SIGHUP.
        for signal in [libc::SIGINT, libc::SIGHUP] {
            // SAFETY: takes numbers.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the function is async-signal-safe.
    unsafe { command.pre_exec(use_default) };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
