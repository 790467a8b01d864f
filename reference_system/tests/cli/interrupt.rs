//! Ctrl-C keeps the results so far.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ringspin_modes::Mapping;
use serde_json::Value;

use super::{lines, program};

/// Sends the signal of Ctrl-C.
pub(crate) fn interrupt(child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_run_early_with_the_figures_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let line = "run --mode deterministic --n 64 --duration 24h --json - --trace";
    let mut command = program(&line.split(' ').collect::<Vec<_>>());
    let mut child = command.arg(&path).stdout(Stdio::piped()).spawn().unwrap();
    // The handler for Ctrl-C is installed before the first record.
    while std::fs::metadata(&path).map_or(0, |file| file.len()) == 0 {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended without an interrupt");
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["interrupted"], true);
    assert!(report["node_s"].as_f64().unwrap() < 24.0 * 3600.0);
    assert_eq!(report["dispatched"], lines(&path).len());
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_the_determinism_benchmark_with_the_runs_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("determinism.json");
    let line = "determinism --runs 1000000 --threads 2 --sleep-max 5ms --json";
    let mut command = program(&line.split(' ').collect::<Vec<_>>());
    let mut child = command.arg(&path).stdout(Stdio::piped()).spawn().unwrap();
    // The handler for Ctrl-C is installed before the file is created. Runs are long: each sleeps
    // 19,011 times.
    while !path.exists() {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended without an interrupt");
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "interrupted: no run was completed\n");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((&report["interrupted"], &report["runs"]), (&true.into(), &0.into()));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_search_with_the_best_mapping_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mapping.toml");
    // A search with this budget does not end soon.
    let line = "optimize --n 200 --nominal --cores 4 --horizon 400ms \
                --evaluations 4000000000 --out";
    let mut command = program(&line.split(' ').collect::<Vec<_>>());
    command.arg(&path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    errors.read_line(&mut first).unwrap();
    assert!(first.starts_with("search: ") && first.contains("p99"), "{first}");
    interrupt(&child);
    let mut rest = String::new();
    errors.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{rest}");
    assert!(rest.contains("interrupted"), "{rest}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("hot path"), "{table}");
    let loops: usize = Mapping::load(&path).unwrap().cores.iter().map(|on| on.nodes.len()).sum();
    assert_eq!(loops, 25);
}
