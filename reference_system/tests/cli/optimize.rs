//! `reference-system optimize`: from a profile to a mapping, and refused input.

use std::path::Path;

use serde_json::Value;

use super::{output, report, stdout};

/// Writes a profile that was measured with little work, for a search.
fn profile_in(folder: &Path) -> String {
    let path = folder.join("profile.toml").to_str().unwrap().to_owned();
    let options = ["optimize", "--n", "200", "--span", "300ms", "--evaluations", "1"];
    stdout(&[&options[..], &["--horizon", "400ms", "--profile-out", &path]].concat());
    path
}

#[test]
fn a_search_gives_the_same_mapping_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile_in(folder.path());
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (mapping, json, page) = (file("m.toml"), file("o.json"), file("o.html"));
    let search = "optimize --n 200 --cores 40 --evaluations 12 --horizon 500ms --seed 7";
    let tuned = |threads: &str| {
        let mut options: Vec<&str> = search.split(' ').collect();
        options.extend(["--profile", &profile, "--threads", threads]);
        options.extend(["--out", &mapping, "--json", &json, "--report", &page]);
        let table = stdout(&options);
        assert!(table.contains("tuned") && table.contains("round-robin"), "{table}");
        let texts = [&mapping, &json, &page].map(|path| std::fs::read_to_string(path).unwrap());
        assert!(texts[0].contains("FrontLidarDriver") && texts[0].contains("[[core]]"));
        assert!(texts[2].contains("\"strategy\":\"genetic\"") && texts[2].ends_with("</html>\n"));
        // Times differ between runs, and so does the command line on the page.
        let [mapping, json, _] = texts;
        let mut json: Value = serde_json::from_str(&json).unwrap();
        for strategy in json["strategies"].as_array_mut().unwrap() {
            assert!(strategy["wall_s"].take().as_f64().unwrap() >= 0.0);
        }
        (mapping, json)
    };
    let (one, two) = (tuned("1"), tuned("2"));
    assert_eq!(one, two);
    let report = report(&format!("--mode deterministic --no-work --n 64 --mapping {mapping}"));
    assert_eq!(report["mode"], "deterministic");
}

#[test]
fn mapping_has_threads_that_preempt_only_on_request() {
    let search = "optimize --n 200 --nominal --cores 2 --evaluations 60 \
                  --horizon 400ms";
    let search: Vec<&str> = search.split_whitespace().collect();
    assert!(!stdout(&search).contains("priority = 1\n"));
    assert!(stdout(&[&search[..], &["--realtime"]].concat()).contains("priority = 1\n"));
}

#[test]
fn run_and_optimize_read_and_write_the_same_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml").to_str().unwrap().to_owned();
    stdout(&["run", "--n", "200", "--duration", "500ms", "--profile", &path]);
    let search = |path: &str| {
        let options = "optimize --n 200 --cores 2 --evaluations 1 --horizon 400ms";
        let output =
            output(&[&options.split(' ').collect::<Vec<_>>()[..], &["--profile", path]].concat());
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{notes}");
        assert!(String::from_utf8(output.stdout).unwrap().contains("[[core]]"));
        notes
    };
    // One core has no message to another one.
    let notes = search(&path);
    assert!(
        notes.contains("note: the profile has no cost of messages from core to core"),
        "{notes}"
    );
    assert!(!notes.contains("on one core, which"), "{notes}");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.find("[[hop]]").unwrap()]).unwrap();
    let notes = search(&path);
    assert!(notes.contains("note: the profile has no cost of messages on one core"), "{notes}");

    let measured = profile_in(folder.path());
    let twin = folder.path().join("twin.toml").to_str().unwrap().to_owned();
    std::fs::write(&twin, format!("cores = \"single\"\nprofile = {measured:?}\n")).unwrap();
    let options = "--mode deterministic --no-work --n 200 --duration 5s --simulation";
    let report = report(&format!("{options} {twin}"));
    assert!(report["kpis"]["sample_to_start"]["min_ns"].as_u64().unwrap() > 0, "{report}");
}

#[test]
fn a_profile_of_another_graph_is_refused() {
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
