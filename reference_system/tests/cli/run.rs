//! `reference-system run`: figures, digests, and files.

use serde_json::Value;

use super::{digest, lines, output, report, stdout};

#[test]
fn the_digest_is_independent_of_work_and_repetition() {
    let expected = digest("--n 64 --duration 1s");
    for options in [
        "--n 64 --duration 1s",
        "--n 64 --duration 1s",
        "--n 64 --duration 1s --no-work",
        "--n 500 --duration 1s",
        "--n 64 --duration 1s --sleep-max 1ms",
    ] {
        assert_eq!(digest(options), expected, "{options}");
    }
    assert_ne!(digest("--n 64 --duration 2s"), expected);
}

#[test]
fn simulated_latencies_are_zero_and_periods_exact() {
    let report = report("--mode deterministic --n 64 --duration 3s");
    let kpis = &report["kpis"];
    assert_eq!(kpis["sample_to_start"]["count"], 20);
    assert_eq!(kpis["warm_up_samples"], 10);
    for latency in ["sample_to_start", "release_to_end"] {
        assert_eq!(kpis[latency]["max_ns"], 0, "{latency}");
    }
    let period = &kpis["planner_period"];
    let expected = (Value::from(100_000_000), Value::from(100_000_000), Value::from(0.0));
    assert_eq!(
        (period["min_ns"].clone(), period["max_ns"].clone(), period["std_ns"].clone()),
        expected
    );
    for nothing_lost in ["overwritten", "missed_periods"] {
        assert_eq!(report[nothing_lost], 0, "{nothing_lost}");
    }
    assert_eq!(report["node_s"], 3.0);
    assert!(report["wall_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_trace_has_a_line_for_each_dispatch_and_starts_as_the_graph_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let options =
        format!("--mode deterministic --no-work --duration 1s --trace {}", path.display());
    let report = report(&options);
    let trace = lines(&path);
    assert_eq!(report["dispatched"], trace.len());
    // The first event is the fastest sensor at 25 ms; its successors follow at the same instant.
    let expected = [
        ("/EuclideanClusterSettings", None),
        ("/EuclideanClusterDetector", Some("EuclideanIntersection")),
        ("/IntersectionOutput", None),
    ];
    for (line, (node, group)) in trace.iter().zip(expected) {
        assert_eq!(line["time_ns"], 25_000_000);
        assert_eq!(line["node"], node);
        assert_eq!(line.get("group").and_then(Value::as_str), group);
        assert_eq!(line["sequence"], 0);
    }
    assert_eq!(trace[3]["time_ns"], 50_000_000);
    assert!(trace.is_sorted_by_key(|line| line["time_ns"].as_u64()));
}

#[test]
fn the_report_has_the_documented_keys() {
    let help = stdout(&["run", "--help"]);
    let report = report("--mode single --n 3 --duration 100ms");
    for object in [&report, &report["kpis"], &report["kpis"]["sample_to_start"]] {
        for key in object.as_object().unwrap().keys() {
            assert!(help.contains(key.as_str()), "{key} is not documented");
        }
    }
    assert_eq!((&report["mode"], &report["n"]), (&"single".into(), &3.into()));
    assert_eq!((&report["interrupted"], &report["digest"]), (&false.into(), &Value::Null));
}

#[test]
fn cores_of_a_deterministic_run_come_from_one_source() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mapping = file("mapping.toml", "default_core = 7\n");
    let options = format!("--n 3 --mode deterministic --duration 1s --mapping {mapping}");
    assert_eq!(report(&options)["mapping"]["default_core"], 7);
    let simulation = file("simulation.toml", "cores = \"single\"\n");
    let line = format!("run {options} --simulation {simulation}");
    let output = output(&line.split(' ').collect::<Vec<_>>());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("has `cores` already"), "{error}");
}

#[test]
fn a_mapping_file_is_used_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mapping.toml");
    let core = ringspin_modes::allowed_cores()[0];
    std::fs::write(&path, format!("default_core = {core}\n")).unwrap();
    let report =
        report(&format!("--mode multi --n 3 --duration 100ms --mapping {}", path.display()));
    assert_eq!(report["mapping"]["default_core"], core);
    std::fs::write(&path, "optimize = \"online\"\n").unwrap();
    let report =
        self::report(&format!("--mode multi --n 3 --duration 300ms --mapping {}", path.display()));
    assert_eq!(report["mapping"]["optimize"], "online");
    assert_eq!(report["decisions"], Value::Array(Vec::new()), "there was no time");
    std::fs::write(&path, "default_core = 9999\n").unwrap();
    let output = output(&["run", "--mode", "multi", "--mapping", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("9999") && error.contains("use one of"), "{error}");
}

#[test]
fn a_live_runs_profile_gives_simulated_callbacks_their_durations() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (profile, twin) = (file("profile.toml"), file("twin.toml"));
    // A crunch takes time on every machine.
    stdout(&["run", "--n", "200", "--duration", "500ms", "--profile", &profile]);
    std::fs::write(&twin, "cores = \"single\"\nprofile = \"profile.toml\"\n").unwrap();
    let options = format!("--mode deterministic --no-work --duration 10s --simulation {twin}");
    let report = report(&options);
    let latency = &report["kpis"]["sample_to_start"];
    assert!(latency["count"].as_u64().unwrap() > 0, "{report}");
    assert!(latency["min_ns"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(digest(&options["--mode deterministic ".len()..]), report["digest"]);
    let run = ["run", "--mode", "deterministic", "--no-work", "--simulation", &twin];
    let table = stdout(&run);
    assert!(table.contains("sample to start, in ms"), "{table}");
    std::fs::write(&twin, "profile = \"nowhere.toml\"\n").unwrap();
    let refused = output(&run);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && error.contains("nowhere.toml"), "{error}");
}

#[test]
fn overload_is_announced() {
    // Without work there is no warning, whatever N.
    let overloaded = |line: &str| {
        let output = output(&line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap().contains("overloaded")
    };
    assert!(overloaded("run --n 40000 --duration 1ms"));
    assert!(!overloaded("run --n 40000 --duration 1ms --no-work"));
}
