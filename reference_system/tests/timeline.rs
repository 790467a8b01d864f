//! `run --timeline` beside `--profile` and `--trace`: files of one run. No test depends on timing.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn output(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reference-system"));
    command.args(line.split(' ')).current_dir(folder).stdin(Stdio::null());
    command.output().unwrap()
}

fn succeed(folder: &Path, line: &str) {
    let output = output(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

/// The calls of a trace, after a check of the format.
fn calls(trace: &Value) -> Vec<&Value> {
    let events = trace["traceEvents"].as_array().unwrap();
    let calls: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    for call in &calls {
        let numbers = ["ts", "dur"].map(|key| call[key].as_f64().unwrap());
        assert!(numbers.iter().all(|number| *number >= 0.0), "{call}");
        assert!(call["pid"].is_u64() && call["tid"].is_u64() && call["name"].is_string());
    }
    calls
}

#[test]
fn a_timeline_has_every_call_of_a_run_in_any_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // Without a mapping, the command would search for one first.
    let mapping = format!("default_core = {}", ringspin_modes::allowed_cores()[0]);
    fs::write(path.join("m.toml"), mapping).unwrap();
    for mode in ["single", "multi --mapping m.toml", "deterministic"] {
        let options = "--n 3 --duration 400ms --json r.json --timeline t.json";
        succeed(path, &format!("run --mode {mode} {options}"));
        let (report, trace) = (json(path, "r.json"), json(path, "t.json"));
        assert_eq!(report["dispatched"], calls(&trace).len(), "{mode}");
        assert!(report["dispatched"].as_u64() > Some(0), "{mode}");
    }
}

#[test]
fn timeline_trace_and_profile_record_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    succeed(path, "run --mode single --n 3 --duration 400ms --profile p.toml --timeline t.json");
    let profile = fs::read_to_string(path.join("p.toml")).unwrap();
    let callbacks = profile.split("[[hop]]").next().unwrap();
    let counts = callbacks.lines().filter_map(|line| line.strip_prefix("count = "));
    let counted: usize = counts.map(|count| count.replace('_', "").parse::<usize>().unwrap()).sum();
    assert_eq!(counted, calls(&json(path, "t.json")).len());

    let plain = "run --mode deterministic --no-work --duration 1s --json r.json";
    succeed(path, plain);
    let digest = json(path, "r.json")["digest"].clone();
    succeed(path, &format!("{plain} --trace t.jsonl --timeline t.json"));
    assert_eq!(json(path, "r.json")["digest"], digest, "recording changes no digest");
    let lines = fs::read_to_string(path.join("t.jsonl")).unwrap();
    let traced: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let trace = json(path, "t.json");
    let sequences = |key: &dyn Fn(&Value) -> Value, of: Vec<&Value>| -> Vec<Value> {
        let mut all: Vec<Value> = of.into_iter().map(key).collect();
        all.sort_by_key(Value::to_string);
        all
    };
    let in_trace = |call: &Value| {
        let args = &call["args"];
        serde_json::json!([args["callback"], args["source"], args["sequence"]])
    };
    let in_lines =
        |line: &Value| serde_json::json!([line["callback"], line["source"], line["sequence"]]);
    assert_eq!(sequences(&in_trace, calls(&trace)), sequences(&in_lines, traced.iter().collect()));
}
