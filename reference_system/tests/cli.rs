//! The program as a user runs it: its output, its files, its exit codes. No test looks at how long
//! something took.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reference-system"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

/// What a successful call prints.
fn stdout(arguments: &[&str]) -> String {
    let output = output(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The report of a run of the given options.
fn report(options: &str) -> Value {
    let line = format!("run {options} --json -");
    serde_json::from_str(&stdout(&line.split(' ').collect::<Vec<_>>())).unwrap()
}

/// The one line `digest: <32 hexadecimal digits>` of a deterministic run of the given options.
fn digest(options: &str) -> String {
    let line = format!("run --mode deterministic {options}");
    let text = stdout(&line.split(' ').collect::<Vec<_>>());
    let mut digests = text.lines().filter_map(|line| line.strip_prefix("digest: "));
    let digest = digests.next().unwrap_or_else(|| panic!("no digest in {text}")).to_owned();
    assert_eq!(digests.next(), None);
    assert!(digest.len() == 32 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{digest}");
    digest
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_digest_is_the_same_whatever_the_callbacks_do_and_however_often_it_runs() {
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
    assert_eq!(kpis["hot_path_start"]["count"], 20);
    assert_eq!(kpis["warm_up_samples"], 10);
    for latency in ["hot_path_start", "hot_path_end"] {
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
    assert!(report["simulated_s_per_wall_s"].as_f64().unwrap() > 0.0);
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
    // The fastest sensor comes first, at 25 ms, and what follows from it ends that instant.
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
    for object in [&report, &report["kpis"], &report["kpis"]["hot_path_start"]] {
        for key in object.as_object().unwrap().keys() {
            assert!(help.contains(key.as_str()), "{key} is not documented");
        }
    }
    assert_eq!((&report["mode"], &report["n"]), (&"single".into(), &3.into()));
    assert_eq!((&report["interrupted"], &report["digest"]), (&false.into(), &Value::Null));
}

#[test]
fn lame_reports_its_chains_beside_the_published_figures() {
    let help = stdout(&["run", "--help"]);
    let line = "run --workload lame --mode deterministic --duration 2s";
    let report = report("--workload lame --mode deterministic --duration 2s");
    let chain = &report["chains"][2];
    for object in [chain, &chain["published"][0], &chain["latency"]] {
        for key in object.as_object().unwrap().keys() {
            assert!(help.contains(key.as_str()), "{key} is not documented");
        }
    }
    assert_eq!((&report["workload"], &chain["name"]), (&"lame".into(), &"RT2".into()));
    assert_eq!(
        (&chain["latency"]["count"], &chain["latency"]["max_ns"]),
        (&19.into(), &31_300_000.into())
    );
    let shown = stdout(&line.split(' ').collect::<Vec<_>>());
    let row = shown.lines().find(|line| line.starts_with("RT2")).unwrap();
    let row: Vec<_> = row.split_whitespace().collect();
    assert_eq!(row[1..8], ["31.30", "31.30", "31.30", "31.30", "100", "0", "19/20"]);
    assert_eq!(row[8..], ["23.3", "23.5", "23.5", "81.9", "88.9", "91.5"]);
}

#[test]
fn a_deterministic_run_takes_a_mapping_for_its_virtual_cores_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mapping = file("mapping.toml", "default_core = 7\n");
    let options = format!("--workload lame --mode deterministic --duration 1s --mapping {mapping}");
    assert_eq!(report(&options)["mapping"]["default_core"], 7);
    let simulation = file("simulation.toml", "cores = \"single\"\n");
    let line = format!("run {options} --simulation {simulation}");
    let output = output(&line.split(' ').collect::<Vec<_>>());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("has `cores` already"), "{error}");
}

/// The hot path latency of a kept sample, worked out from its history as the specification says.
fn latency_by_hand(sample: &Value) -> Option<u64> {
    let history = sample["history"].as_array().unwrap();
    let stamp = |node: &str| {
        let entry = history.iter().find(|entry| entry["node"] == node)?;
        entry["timestamp_ns"].as_u64()
    };
    let newer_lidar = stamp("FrontLidarDriver").max(stamp("RearLidarDriver"))?;
    Some(stamp("ObjectCollisionEstimator")? - newer_lidar)
}

#[test]
fn the_kpis_of_a_live_run_agree_with_its_samples_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.jsonl");
    let report =
        report(&format!("--mode single --n 64 --duration 2s --samples {}", path.display()));
    let samples = lines(&path);
    let mut latencies_ns = Vec::new();
    for sample in &samples {
        let by_hand = latency_by_hand(sample);
        assert_eq!(sample["latency_ns"].as_u64(), by_hand, "{sample}");
        if by_hand.is_some() {
            assert_eq!(sample["command_node"], "VehicleDBWSystem");
            latencies_ns.extend(by_hand);
        }
    }
    let counted: Vec<bool> = samples
        .iter()
        .filter(|sample| sample["latency_ns"].is_u64())
        .map(|sample| sample["counted"].as_bool().unwrap())
        .collect();
    assert!(counted.iter().take(10).all(|counted| !counted), "start-up is not counted");
    let counted_ns = latencies_ns.get(10..).unwrap_or_default();
    let hot_path = &report["kpis"]["hot_path_start"];
    assert_eq!(hot_path["count"], counted_ns.len());
    assert!(!counted_ns.is_empty(), "two seconds have some 20 samples");
    assert_eq!(hot_path["min_ns"].as_u64(), counted_ns.iter().min().copied());
    assert_eq!(hot_path["max_ns"].as_u64(), counted_ns.iter().max().copied());
    let mean_ns = counted_ns.iter().sum::<u64>() as f64 / counted_ns.len() as f64;
    assert!((hot_path["mean_ns"].as_f64().unwrap() - mean_ns).abs() < 1e-6);
}

#[test]
fn every_sample_of_the_hot_path_went_through_all_its_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.jsonl");
    let options =
        format!("--mode deterministic --no-work --duration 1s --samples {}", path.display());
    report(&options);
    let samples = lines(&path);
    let hot: Vec<_> = samples.iter().filter(|sample| sample["latency_ns"] == 0).collect();
    assert_eq!(hot.len(), 10);
    for node in reference_system::description::HOT_PATH {
        for sample in &hot {
            let history = sample["history"].as_array().unwrap();
            assert!(history.iter().any(|entry| entry["node"] == *node), "{node}: {sample}");
        }
    }
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
    std::fs::write(&path, "default_core = 9999\n").unwrap();
    let output = output(&["run", "--mode", "multi", "--mapping", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("9999") && error.contains("use one of"), "{error}");
}

#[test]
fn multi_without_a_mapping_reports_the_tuned_one() {
    let report = report("--mode multi --n 64 --duration 100ms");
    let cores = report["mapping"]["core"].as_array().unwrap();
    let nodes: usize = cores.iter().map(|core| core["nodes"].as_array().unwrap().len()).sum();
    assert_eq!(nodes, 24);
}

#[test]
fn a_comparison_has_a_cell_for_each_live_mode_and_one_digest_for_all_n() {
    let line = "compare --n 64,3 --duration 200ms --turns 2 --json -";
    let json = stdout(&line.split(' ').collect::<Vec<_>>());
    let comparison: Value = serde_json::from_str(&json).unwrap();
    let cells = comparison["cells"].as_array().unwrap();
    let cells: Vec<_> = cells.iter().map(|c| (c["n"].clone(), c["mode"].clone())).collect();
    let expected = [(3, "single"), (3, "multi"), (64, "single"), (64, "multi")];
    assert_eq!(cells, expected.map(|(n, mode)| (n.into(), mode.into())));
    let simulations = comparison["simulations"].as_array().unwrap();
    assert_eq!(simulations.len(), 2);
    assert_eq!(simulations[0]["digests"].as_array().unwrap().len(), 1);
    assert_eq!(simulations[0]["digests"], simulations[1]["digests"]);
}

#[test]
fn a_comparison_prints_its_tables() {
    let line = "compare --n 64 --duration 200ms --turns 1";
    let text = stdout(&line.split(' ').collect::<Vec<_>>());
    for part in ["single", "multi", "0 ms by construction", "rclcpp events", "floor"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn the_determinism_benchmark_comes_to_its_known_answer_in_every_run() {
    let line = "determinism --runs 3 --threads 2 --sleep-max";
    let text = |sleep_max| stdout(&line.split(' ').chain([sleep_max]).collect::<Vec<_>>());
    let (still, restless) = (text("0ms"), text("1us"));
    for text in [&still, &restless] {
        for part in ["19011 callbacks", "14807076229895937644", "3, 3 of them equal, and as expec"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("differs"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    let digest = |text: &str| text.lines().find(|l| l.starts_with("digest: ")).unwrap().to_owned();
    assert_eq!(digest(&still), digest(&restless));
}

#[test]
fn upstreams_ties_give_upstreams_golden_value_in_every_run() {
    let line = "determinism --runs 3 --threads 2 --ties upstream --sleep-max 0ms";
    let text = stdout(&line.split(' ').collect::<Vec<_>>());
    for part in ["7448837717382456148", "upstream's order", "3, 3 of them equal, and as expec"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("differs"), "{text}");
}

#[test]
fn the_determinism_report_has_the_documented_keys() {
    let help = stdout(&["determinism", "--help"]);
    let line = "determinism --runs 3 --sleep-max 0ms --json -";
    let report = stdout(&line.split(' ').collect::<Vec<_>>());
    let report: Value = serde_json::from_str(&report).unwrap();
    let outcome = &report["outcomes"][0];
    for object in [&report, outcome, &outcome["states"]] {
        for key in object.as_object().unwrap().keys() {
            assert!(help.contains(key.as_str()), "{key} is not documented");
        }
    }
    assert_eq!((&report["runs"], &report["deterministic"]), (&3.into(), &true.into()));
    assert_eq!((&outcome["runs"], &outcome["dispatches"]), (&3.into(), &19_011.into()));
    assert_eq!(outcome["states"], report["expected"]);
    assert_eq!(report["expected"]["hash"], "14807076229895937644");
    assert_eq!(report["ties"], "total");
    let calls = outcome["calls"].as_object().unwrap();
    let total: u64 = calls.values().map(|calls| calls.as_u64().unwrap()).sum();
    assert_eq!((calls.len(), total, &calls["B timer 40ms"]), (10, 19_011, &2501.into()));
}

#[test]
fn a_live_runs_profile_gives_simulated_callbacks_their_durations() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (profile, twin) = (file("profile.toml"), file("twin.toml"));
    // Crunching takes time on every machine.
    stdout(&["run", "--n", "200", "--duration", "500ms", "--profile", &profile]);
    std::fs::write(&twin, "cores = \"single\"\nprofile = \"profile.toml\"\n").unwrap();
    let options = format!("--mode deterministic --no-work --duration 10s --simulation {twin}");
    let report = report(&options);
    let latency = &report["kpis"]["hot_path_start"];
    assert!(latency["count"].as_u64().unwrap() > 0, "{report}");
    assert!(latency["min_ns"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(digest(&options["--mode deterministic ".len()..]), report["digest"]);
    let run = ["run", "--mode", "deterministic", "--no-work", "--simulation", &twin];
    let table = stdout(&run);
    assert!(table.contains("Hot path latency"), "{table}");
    std::fs::write(&twin, "profile = \"nowhere.toml\"\n").unwrap();
    let refused = output(&run);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && error.contains("nowhere.toml"), "{error}");
}

#[test]
fn the_graph_is_a_drawing_of_24_nodes() {
    let dot = stdout(&["graph"]);
    assert!(dot.starts_with("digraph") && dot.ends_with("}\n"));
    assert_eq!(dot.matches("shape=").count(), 24);
}

#[test]
fn a_calibration_has_a_row_for_each_n() {
    let text = stdout(&["calibrate", "--n", "64,100"]);
    let primes = |n: &str| {
        let row = text.lines().find_map(|line| line.trim_start().strip_prefix(n));
        row.and_then(|row| row.split_whitespace().next()).map(str::to_owned)
    };
    assert_eq!((primes("64 "), primes("100 ")), (Some("18".into()), Some("25".into())), "{text}");
}

#[test]
fn an_error_names_the_input_and_the_way_out_and_tells_usage_from_failure() {
    let cases = [
        (2, "run --mode single --mapping m.toml", &["--mapping", "--mode multi"][..]),
        (2, "run --mode multi --trace t.jsonl", &["--trace", "--mode deterministic"]),
        (2, "run --mode parallel", &["parallel", "deterministic"]),
        (2, "run --duration 0s", &["0s", "1ms"]),
        (2, "run --duration 15", &["15", "15s"]),
        (2, "run --n 100000000", &["100000000", "at most 100000"]),
        (2, "compare --turns 0", &["--turns", "1..=1000"]),
        (2, "compare --n 64,x", &["x", "4096"]),
        (2, "determinism --runs 0", &["--runs", "1..=1000000"]),
        (2, "determinism --ties heap", &["heap", "upstream"]),
        (2, "determinism --sleep-max 20", &["20", "20ms"]),
        (1, "determinism --json /no/such/d.json", &["/no/such/d.json", "writable"]),
        (2, "optimize --cores 0", &["--cores", "1..=1024"]),
        (2, "optimize --evaluations 0", &["--evaluations"]),
        (2, "optimize --objective speed", &["speed", "misses", "p99"]),
        (1, "optimize --live --cores 1000", &["1000", "--live", "--cores"]),
        (1, "optimize --workload lame --n 3", &["--n", "lame", "leave them out"]),
        (1, "optimize --profile /no/such/p.toml", &["/no/such/p.toml", "check the path"]),
        (1, "optimize --out /no/such/m.toml", &["/no/such/m.toml", "writable"]),
        (2, "walk", &["walk", "--help"]),
        (1, "run --n 3 --duration 1ms --json /no/such/a.json", &["/no/such/a.json", "writable"]),
        (1, "run --n 3 --duration 1ms --samples /no/such/s", &["/no/such/s", "writable"]),
        (1, "run --mode multi --mapping /no/such/m.toml", &["/no/such/m.toml", "check the path"]),
        (1, "run --mode deterministic --trace /no/such/t", &["/no/such/t", "writable"]),
        (1, "compare --json /no/such/c.json", &["/no/such/c.json", "writable"]),
    ];
    for (code, line, parts) in cases {
        let output = output(&line.split(' ').collect::<Vec<_>>());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {error}");
        assert!(parts.iter().all(|part| error.contains(part)), "{line}: {error}");
        assert!(output.stdout.is_empty(), "{line}");
    }
}

/// A profile as a search needs it, measured without much work.
fn profile_in(folder: &Path) -> String {
    let path = folder.join("profile.toml").to_str().unwrap().to_owned();
    let options = ["optimize", "--n", "200", "--span", "300ms", "--evaluations", "1"];
    stdout(
        &[&options[..], &["--no-baselines", "--horizon", "1s", "--profile-out", &path]].concat(),
    );
    path
}

#[test]
fn a_search_ends_with_a_mapping_for_cores_that_need_not_exist_whatever_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile_in(folder.path());
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (mapping, json, page) = (file("m.toml"), file("o.json"), file("o.html"));
    let search = "optimize --n 200 --cores 40 --evaluations 12 --horizon 2s --seed 7";
    let tuned = |threads: &str| {
        let mut options: Vec<&str> = search.split(' ').collect();
        options.extend(["--profile", &profile, "--threads", threads]);
        options.extend(["--out", &mapping, "--json", &json, "--report", &page]);
        let table = stdout(&options);
        for strategy in ["genetic", "round robin", "greedy", "random", "hill climbing"] {
            assert!(table.contains(strategy), "{table}");
        }
        assert!(table.contains("hot path: mean"), "{table}");
        let texts = [&mapping, &json, &page].map(|path| std::fs::read_to_string(path).unwrap());
        assert!(texts[0].contains("FrontLidarDriver") && texts[0].contains("[[core]]"));
        assert!(texts[2].contains("How the search went"));
        (texts, table)
    };
    let (one, two) = (tuned("1"), tuned("2"));
    // But for the command line that the page shows.
    assert_eq!((&one.0[..2], one.1), (&two.0[..2], two.1));
    let report = report(&format!("--mode deterministic --no-work --n 64 --mapping {mapping}"));
    assert_eq!(report["mode"], "deterministic");
}

#[test]
fn a_profile_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = profile_in(folder.path());
    let profile = std::fs::read_to_string(&path).unwrap();
    let refused = |line: &str, profile: &str, parts: &[&str]| {
        std::fs::write(&path, profile).unwrap();
        let line = format!("optimize --n 200 --evaluations 1 {line} --profile {path}");
        let output = output(&line.split_whitespace().collect::<Vec<_>>());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    let other = profile.replace("/FrontLidarDriver", "/Radar");
    refused("", &other, &["profile.toml", "/Radar", "/FrontLidarDriver"]);
    refused("--deadline 1us", &profile, &["hot path", "1µs"]);
    refused("", &profile[..profile.len() / 2], &["profile.toml"]);
}

#[test]
fn too_much_work_is_announced() {
    // Without work nothing is, whatever N.
    let overloaded = |line: &str| {
        let output = output(&line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap().contains("overloaded")
    };
    assert!(overloaded("run --n 40000 --duration 1ms"));
    assert!(!overloaded("run --n 40000 --duration 1ms --no-work"));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_run_early_with_the_figures_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let line = "run --mode deterministic --n 64 --duration 24h --json - --trace";
    let mut command = program(&line.split(' ').collect::<Vec<_>>());
    let mut child = command.arg(&path).stdout(Stdio::piped()).spawn().unwrap();
    // The first record is written after Ctrl-C is caught.
    while std::fs::metadata(&path).map_or(0, |file| file.len()) == 0 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
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
    // The file is created after Ctrl-C is caught. No run ends soon, for each sleeps 19,011 times.
    while !path.exists() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "interrupted: no run was completed\n");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((&report["interrupted"], &report["runs"]), (&true.into(), &0.into()));
}
