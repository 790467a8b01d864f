//! `reference-system compare`: a cell for each mode and N, as JSON and as tables.

use serde_json::Value;

use super::stdout;

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
    for part in
        ["single", "multi", "0 ms by construction", "*rclcpp events, intra-process", "floor"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}
