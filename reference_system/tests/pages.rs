//! The figures of README and of the guide are those of the files in `results/`.
//!
//! Each test computes the lines that a page must have from one file. A page that differs shows the
//! lines to put there.

use reference_system::table::{Beside, render_results};
use ringspin_report::Definition;
use ringspin_report::comparison::groups;
use ringspin_report::peers::{IN_PROCESS, Peer, PeerFigures, RCLCPP};
use ringspin_report::results::Results;
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;

const MACHINE: &str = "results/x86_64-epyc-2.json";

fn file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Checks that `page` has these lines one after the other.
fn assert_has(page: &str, lines: &[String]) {
    let block = lines.join("\n");
    assert!(file(page).contains(&block), "{page} needs these lines:\n{block}");
}

fn measured() -> Results {
    serde_json::from_str(&file(MACHINE)).unwrap()
}

/// A figure of the micro-benchmarks, beside those of its peers.
#[derive(Deserialize)]
struct Row {
    measure: String,
    bench: String,
    unit: String,
    ringspin: Vec<f64>,
    beside: Vec<(String, Vec<f64>)>,
}

#[derive(Deserialize)]
struct Benches {
    rows: Vec<Row>,
}

fn benches() -> Vec<Row> {
    let benches: Benches =
        serde_json::from_str(&file("results/benches/x86_64-epyc-2.json")).unwrap();
    benches.rows
}

fn listed(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

#[test]
fn micro_benchmarks_of_the_guide_are_those_of_their_file() {
    let row = |row: &Row| {
        let beside = row.beside.iter().map(|(name, values)| format!("{name} {}", listed(values)));
        let beside = beside.collect::<Vec<_>>().join("; ");
        let own = listed(&row.ringspin);
        format!("| {} | `{}` | {own} {} | {beside} |", row.measure, row.bench, row.unit)
    };
    assert_has("docs/benchmarks.md", &benches().iter().map(row).collect::<Vec<_>>());
}

#[test]
fn first_figures_of_the_readme_are_those_of_the_files() {
    let results = measured();
    let is_single =
        |cell: &&ringspin_bench::results::Cell| (&*cell.name, cell.n) == ("single", Some(64));
    let cell = results.cells.iter().find(is_single).unwrap();
    let start = Definition::SampleToStart.name();
    let samples = cell.pooled(start);
    let mean_ns = samples.iter().sum::<u64>() as f64 / samples.len() as f64;
    let floor_ns = Definition::floor_ns(start, cell.crunch_ns).unwrap() as f64;
    let benches = benches();
    let of = |measure: &str| benches.iter().find(|row| row.measure.starts_with(measure)).unwrap();
    let hop = of("publish to callback and on, same core, 8 B");
    let (_, tokio) = hop.beside.iter().find(|(name, _)| name == "tokio tasks").unwrap();
    let simulated = of("90 simulated s of the reference system");
    let rows = [
        format!(
            "| hot path of the reference system above its floor of work, N = 64, single-core, mean \
             | {:.0} us | `cargo run --release --bin reference-system` |",
            (mean_ns - floor_ns) / 1e3
        ),
        format!(
            "| publish to callback on one core, 8 bytes | {} ns in two runs (tokio tasks: {}) \
             | `cargo bench -p ringspin-benches --bench {}` |",
            listed(&hop.ringspin),
            listed(tokio),
            hop.bench
        ),
        format!(
            "| 90 simulated seconds of the reference system, without work, one digest \
             | {} {} | `cargo bench -p ringspin-benches --bench {}` |",
            listed(&simulated.ringspin),
            simulated.unit,
            simulated.bench
        ),
    ];
    assert_has("README.md", &rows);
}

#[test]
fn hot_path_of_the_guide_is_that_of_the_results() {
    let shown = render_results(&[(String::new(), measured())], Beside::Rclcpp);
    let tables: Vec<String> = shown.lines().map(str::to_owned).collect();
    let start = tables.iter().position(|line| line.starts_with("sample to start")).unwrap();
    let end = tables.iter().position(|line| line.starts_with("planner period")).unwrap();
    assert_has("docs/benchmarks.md", &tables[start..end]);
}

#[test]
fn rclcpp_in_the_guide_is_that_of_its_file() {
    let limits: Vec<u64> = RCLCPP.crunch_ms.keys().copied().collect();
    let shown =
        |of: PeerFigures| format!("{} / {} / {}", of.mean_ms, of.p99_ms.unwrap(), of.max_ms);
    let row = |peer: &Peer| {
        let cells = limits.iter().map(|n| peer.at(*n).map_or("-".into(), shown));
        let cells: Vec<String> = cells.collect();
        let cpu = limits.iter().map(|n| peer.at(*n).and_then(|of| of.cpu_percent));
        let cpu: Vec<_> = cpu.map(|of| of.map_or("-".into(), |of| of.to_string())).collect();
        format!("| {} | {} | {} |", peer.name, cells.join(" | "), cpu.join(", "))
    };
    let floor = limits.iter().map(|n| format!("{:.4}", RCLCPP.floor_ms(*n).unwrap()));
    let mut lines = vec![format!("| floor | {} | |", floor.collect::<Vec<_>>().join(" | "))];
    for (name, is_direct) in [("in process", true), ("each hop through Fast DDS", false)] {
        let peers = RCLCPP.executors.iter();
        let peers = peers.filter(|peer| (peer.transport == IN_PROCESS) == is_direct);
        lines.push(format!("| **{name}** | | | | |"));
        lines.extend(peers.map(row));
    }
    assert_has("docs/benchmarks.md", &lines);
}

#[test]
fn paper_beside_the_machine_is_that_of_the_files() {
    let groups = groups(&[(String::new(), measured())]);
    let figures = |of: [f64; 4]| of.map(|ms| ringspin_report::format_ms(ms * 1e6)).join(" / ");
    let hot = groups.iter().filter(|group| group.series == Definition::SampleToStart.name());
    let line = |group: &ringspin_report::comparison::Group| {
        let paper = |name: &str| {
            let peer = group.peers.iter().find(|peer| peer.name == name).unwrap().figures;
            let all = [peer.min_ms.unwrap(), peer.mean_ms, peer.max_ms, peer.std_ms.unwrap()];
            all.map(|ms| format!("{ms:.1}")).join(" / ")
        };
        let own = |name: &str| {
            let of = &group.rows.iter().find(|row| row.variant == name).unwrap().summary;
            figures([of.min_ns as f64, of.mean_ns, of.max_ns as f64, of.std_ns].map(|ns| ns / 1e6))
        };
        let floor_ms = group.rows[0].floor_ns.unwrap() as f64 / 1e6;
        let floor = ringspin_report::format_ms(floor_ms * 1e6);
        let [ring, single] = ["ring buffer, paper", "static single, paper"].map(paper);
        let [own_single, own_multi] = ["single", "multi"].map(own);
        format!(
            "| {} | {ring} | {single} | {own_single} | {own_multi} | {floor} |",
            group.n.unwrap()
        )
    };
    assert_has("docs/raspberry_pi.md", &hot.map(line).collect::<Vec<_>>());
}
