//! `reference-system determinism`: the field's benchmark and its known answers.

use serde_json::Value;

use super::stdout;

#[test]
fn every_run_of_the_determinism_benchmark_gives_the_expected_result() {
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
