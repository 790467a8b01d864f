//! `reference-system bench`: a cell for each variant and N, as JSON, as a file and as tables.

use std::process::Stdio;

use serde_json::Value;

use super::interrupt::interrupt;
use super::{program, stdout};

const SHORT: &str = "bench --duration 200ms --floor 5ms --quiet";

/// The modes without a search for a mapping.
const TWO: &str = "--modes single,deterministic --n 3";

fn bench(options: &str) -> String {
    stdout(&format!("{SHORT} {options}").split(' ').collect::<Vec<_>>())
}

fn turns(results: &Value) -> Vec<(u64, String, usize)> {
    let cell = |cell: &Value| {
        let turns = cell["turns"].as_array().unwrap().len();
        (cell["n"].as_u64().unwrap(), cell["name"].as_str().unwrap().to_owned(), turns)
    };
    results["cells"].as_array().unwrap().iter().map(cell).collect()
}

#[test]
fn results_have_the_machine_the_floor_and_a_cell_for_each_variant_and_n() {
    let results: Value = serde_json::from_str(&bench(
        "--modes single,multi,deterministic --n 64,3 --turns 2 --out -",
    ))
    .unwrap();
    let expected =
        [(3, "single"), (3, "multi"), (3, "deterministic"), (64, "single"), (64, "multi")];
    assert_eq!(turns(&results), expected.map(|(n, name)| (n, name.to_owned(), 2)));
    assert_eq!(results["schema"], 1);
    for key in ["model", "kernel", "governor", "os"] {
        assert!(results["machine"][key].is_string(), "{key}");
    }
    let cores = results["machine"]["cores"].as_u64().unwrap() as usize;
    let wake_ups = results["wake_ups"].as_array().unwrap();
    let normal = wake_ups.iter().filter(|of| of["priority"].is_null()).count();
    assert_eq!(normal, cores);
    let digests: Vec<_> =
        results["cells"][2]["turns"].as_array().unwrap().iter().map(|t| &t["digest"]).collect();
    assert!(digests[0].is_string() && digests[0] == digests[1]);
}

#[test]
fn a_benchmark_prints_its_tables() {
    let text = bench("--modes single,multi,deterministic --n 64 --turns 1");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    // The turns are too short for a sample of the hot path.
    let parts =
        ["single", "multi", "Costs and losses", "0 ms by construction", "Use --duration 2s"];
    let text = text.replace("\n", " ");
    for part in parts.into_iter().chain(["floor", "normal"]) {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_same_file_is_continued_and_kept_when_the_disk_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    let file = path.to_str().unwrap();
    let read =
        || -> Value { serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap() };
    bench(&format!("{TWO} --turns 1 --out {file}"));
    let first = read();
    bench(&format!("{TWO} --turns 2 --load 1 --out {file}.load"));
    // Another load is another measurement.
    let refused =
        program(&format!("{SHORT} {TWO} --load 1 --out {file}").split(' ').collect::<Vec<_>>())
            .output()
            .unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("another load"));
    assert_eq!(read(), first);
    bench(&format!("{TWO} --turns 2 --out {file}"));
    let second = read();
    let page = folder.path().join("page.html");
    let compared = ["compare-results", file, file, "--page", page.to_str().unwrap()];
    let text = stdout(&compared);
    assert!(text.contains("A: results") && text.contains("B: results"), "{text}");
    assert!(std::fs::read_to_string(page).unwrap().ends_with("</html>\n"));
    assert!(turns(&second).iter().all(|(.., turns)| *turns == 2));
    assert_eq!(second["cells"][0]["turns"][0], first["cells"][0]["turns"][0]);
    assert_eq!(second["wake_ups"], first["wake_ups"]);
    // A file of 4 KiB at most, as on a full disk; the signal of it would end the process.
    let line = format!("trap '' XFSZ; ulimit -f 4; exec \"$@\" {TWO} --turns 3 --out {file}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &line, "sh", env!("CARGO_BIN_EXE_reference-system")]);
    let full = shell.args(SHORT.split(' ')).stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&full.stderr);
    assert!(!full.status.success() && error.contains("keeps its old content"), "{error}");
    assert_eq!(read(), second);
}

#[test]
fn ctrl_c_keeps_the_completed_turns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    let line = "bench --modes single,deterministic --n 3 --duration 30s --turns 1 --floor 0s --out";
    let mut command = program(&line.split(' ').collect::<Vec<_>>());
    command.arg(&path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Ctrl-C is handled before the file is created, which is before the first turn.
    while !path.exists() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended without an interrupt");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.contains("continues"), "{error}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("interrupted"));
    assert!(
        turns(&serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap())
            .iter()
            .all(|(.., turns)| *turns == 0)
    );
}
