//! `report` and `run --timeline` on the command line: their files, and refused input. No test
//! depends on timing.

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

/// The stderr of a call that fails.
fn failure(folder: &Path, line: &str, code: i32) -> String {
    let output = output(folder, line);
    assert_eq!(output.status.code(), Some(code), "{line}");
    String::from_utf8(output.stderr).unwrap()
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
fn a_report_writes_page_data_trace_and_chart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let files = "--out p.html --data-out d.json --trace-out t.json --chart-out c.svg";
    succeed(path, &format!("report --n 64 --duration 1500ms {files}"));
    let page = fs::read_to_string(path.join("p.html")).unwrap();
    let data = json(path, "d.json");
    let (measured, twins) = (&data["measured"], data["twins"].as_array().unwrap());
    assert_eq!((measured.as_array().unwrap().len(), twins.len()), (2, 2));
    for twin in twins {
        assert_eq!(twin["simulated_s"], 60.0);
        let digest = twin["digest"].as_str().unwrap();
        assert!(digest.len() == 32 && page.contains(digest), "{digest}");
    }
    let timelines = data["timelines"].as_array().unwrap();
    assert!(timelines.iter().all(|part| part["title"].as_str().unwrap().contains("N = 64")));
    // At least the twins: they have 600 samples; a live run on a busy machine may have none.
    assert!(timelines.len() >= 2 && page.contains("slowest hot path"));
    assert!(page.contains("reference-system report --n 64 --duration 1500ms --out p.html"));

    let trace = json(path, "t.json");
    let processes = trace["traceEvents"].as_array().unwrap().iter();
    let processes = processes.filter(|event| event["name"] == "process_name");
    let names: Vec<_> = processes.map(|event| event["args"]["name"].as_str().unwrap()).collect();
    let twin = |mode: &str| format!("{mode}, N = 64: the deterministic twin");
    let expected = ["single, N = 64".into(), twin("single"), "multi, N = 64".into(), twin("multi")];
    assert_eq!(names, expected);
    assert!(!calls(&trace).is_empty());
    assert!(fs::read_to_string(path.join("c.svg")).unwrap().starts_with("<svg"));

    // The same data give the same page, without a run.
    succeed(path, "report --data d.json --out again.html");
    assert_eq!(fs::read_to_string(path.join("again.html")).unwrap(), page);
    let optimization =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../report/src/tests/optimization.json");
    succeed(path, &format!("report --data d.json --optimization {optimization} --out more.html"));
    let more = fs::read_to_string(path.join("more.html")).unwrap();
    assert!(more.contains("Convergence") && !page.contains("Convergence"));
}

#[test]
fn unreadable_input_truncates_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("page.html"), "mine").unwrap();
    fs::write(path.join("odd.json"), "{\"odd\": 1}").unwrap();
    let error = failure(path, "report --data odd.json --out page.html", 1);
    assert!(error.contains("odd.json") && error.contains("odd"), "{error}");
    let error = failure(path, "report --optimization missing.json --out page.html", 1);
    assert!(error.contains("missing.json"), "{error}");
    assert_eq!(fs::read_to_string(path.join("page.html")).unwrap(), "mine");
    let error = failure(path, "report --out no/such/folder.html", 1);
    assert!(error.contains("no/such/folder.html"), "{error}");
    let error = failure(path, "report --modes deterministic", 2);
    assert!(error.contains("`single`"), "{error}");
    let error = failure(path, "report --data odd.json --n 64", 2);
    assert!(error.contains("--data"), "{error}");
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
