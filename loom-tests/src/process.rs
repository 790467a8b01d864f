//! A test that runs again in a child process, with an environment variable that selects its
//! variant: a failing model may corrupt memory, or leave coroutines behind whose destructors abort.

use std::process::{Command, Output};

/// Runs `test` with `value` in the environment variable `variable`.
pub(crate) fn run(test: &str, variable: &str, value: &str) -> Output {
    Command::new(std::env::current_exe().expect("a test knows its executable"))
        .args([test, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"])
        .env(variable, value)
        .output()
        .expect("a test can run its executable")
}

/// Runs `test` with `mutant` as the value of `variable`. Returns the message of the panic that ends
/// the run.
///
/// # Panics
/// If the run succeeds, or ends without a panic.
pub(crate) fn failure(test: &str, variable: &str, mutant: &str) -> String {
    let output = run(test, variable, mutant);
    assert!(!output.status.success(), "the mutant {mutant} survived");
    let report = String::from_utf8_lossy(&output.stderr);
    let reason = report.lines().skip_while(|line| !line.contains("panicked at")).nth(1);
    let reason = reason.unwrap_or_else(|| panic!("{mutant}: {} without a panic", output.status));
    println!("    kills {mutant}: {reason}");
    reason.to_owned()
}

/// The test that contains the closure `F`, by the name that the test harness uses.
pub(crate) fn test_name<F>() -> &'static str {
    let path = std::any::type_name::<F>().trim_end_matches("::{{closure}}");
    path.split_once("::").expect("a closure's path starts with its crate").1
}
