//! The small commands, and the error messages of all commands.

use super::{output, stdout};

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
fn errors_name_the_input_and_advice_and_set_the_exit_code() {
    let cases = [
        (2, "run --mode single --mapping m.toml", &["--mapping", "--mode multi"][..]),
        (2, "run --mode multi --trace t.jsonl", &["--trace", "--mode deterministic"]),
        (2, "run --mode parallel", &["parallel", "deterministic"]),
        (2, "run --duration 0s", &["0s", "1ms"]),
        (2, "run --duration 15", &["15", "10ms"]),
        (2, "run --n 100000000", &["100000000", "at most 100000"]),
        (2, "compare --turns 0", &["--turns", "1..=1000"]),
        (2, "compare --n 64,x", &["x", "4096"]),
        (2, "determinism --runs 0", &["--runs", "1..=1000000"]),
        (2, "determinism --ties heap", &["heap", "upstream"]),
        (2, "determinism --sleep-max 20", &["20", "10ms"]),
        (1, "determinism --json /no/such/d.json", &["/no/such/d.json", "writable"]),
        (2, "optimize --cores 0", &["--cores", "1..=1024"]),
        (2, "optimize --evaluations 0", &["--evaluations"]),
        (2, "optimize --objective speed", &["speed", "misses", "p99"]),
        (1, "optimize --live --cores 1000", &["1000", "--live", "--cores"]),
        (2, "optimize --nominal --profile p.toml", &["--nominal", "--profile"]),
        (1, "optimize --profile /no/such/p.toml", &["/no/such/p.toml", "check the path"]),
        (1, "optimize --out /no/such/m.toml", &["/no/such/m.toml", "writable"]),
        (2, "walk", &["walk", "--help"]),
        (1, "run --n 3 --duration 1ms --json /no/such/a.json", &["/no/such/a.json", "writable"]),
        (1, "run --n 3 --duration 1ms --timeline /no/such/s", &["/no/such/s", "writable"]),
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
