//! Profiles as files, merged, and applied to the wrong graph.

use super::*;
use ringspin_executor::Graph;

pub(crate) const TEXT: &str = r#"version = 1
loops = ["/a", "/b"]

[machine]
name = "robot"
architecture = "aarch64"
cores = 4

[durations]
version = 1

[[durations.callback]]
node = "/a"
callback = "timer 10ms"

[durations.callback.durations]
count = 1
total_ns = 20
min_ns = 20
max_ns = 20
histogram = [[20, 1]]

[[hop]]
topic = "/t"
from = "/a"
to = "/b"

[hop.cross_core]
count = 2
total_ns = 300
min_ns = 100
max_ns = 200
histogram = [[100, 1], [200, 1]]
"#;

fn profile() -> Profile {
    Profile::from_toml(TEXT).unwrap()
}

fn message(text: &str) -> String {
    Profile::from_toml(text).unwrap_err().to_string()
}

fn hop(topic: &str, same_ns: &[u64], cross_ns: &[u64]) -> Hop {
    let [same_core, cross_core] =
        [same_ns, cross_ns].map(|times_ns| DurationHistogram::of(times_ns.iter().copied()));
    Hop { topic: topic.into(), from: "/a".into(), to: "/b".into(), same_core, cross_core }
}

#[test]
fn profiles_round_trip_through_files() {
    assert_eq!(profile().to_toml_string(), TEXT);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.toml");
    profile().save(&path).unwrap();
    assert_eq!(Profile::load(&path).unwrap(), profile());
    let missing = Profile::load(folder.path().join("none.toml")).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read the profile `"), "{missing}");
    assert!(missing.ends_with("check the path and its permissions"), "{missing}");
    let refused = profile().save(folder.path()).unwrap_err().to_string();
    assert!(refused.starts_with("cannot write the profile `"), "{refused}");
}

#[test]
fn invalid_files_are_refused_with_advice() {
    assert_eq!(
        message("version = 2\nother = 3"),
        "the text is a profile of version 2, not 1; measure it again"
    );
    let text = message(&TEXT.replace("cores = 4", "cores = -4"));
    assert!(text.contains("line 7") && text.ends_with("measure it again"), "{text}");
    let text = message(&TEXT.replace("count = 1", "count = 2"));
    assert!(text.starts_with("the text contradicts itself about `/a`, `timer 10ms`"), "{text}");
    assert_eq!(
        message(&TEXT.replace("histogram = [[100, 1]", "histogram = [[100, 2]")),
        "the text contradicts itself about the way from `/a` to `/b` by `/t`: its histogram has \
         not as many values as its count; measure it again"
    );
    let twice = format!("{TEXT}{}", &TEXT[TEXT.find("[[hop]]").unwrap()..]);
    assert!(message(&twice).contains("it has two entries"), "{}", message(&twice));
    let older = TEXT.replace("[durations]\nversion = 1", "[durations]\nversion = 9");
    assert!(message(&older).contains("version 9"), "{}", message(&older));
}

#[test]
fn an_edge_with_few_times_uses_the_times_of_all_edges() {
    let mut profile = profile();
    profile.hops = vec![hop("/t", &[7; 10], &[]), hop("/u", &[1; 9], &[30; 10])];
    let mean = |costs: Option<DurationHistogram>| costs.map(|costs| costs.mean().as_nanos());
    assert_eq!(mean(profile.same_core("/t", "/a", "/b")), Some(7));
    assert_eq!(mean(profile.same_core("/u", "/a", "/b")), Some((70 + 9) / 19));
    assert_eq!(mean(profile.same_core("/u", "/b", "/a")), Some((70 + 9) / 19));
    assert_eq!(mean(profile.cross_core("/t", "/a", "/b")), Some(30));
    profile.hops.pop();
    assert_eq!(profile.cross_core("/t", "/a", "/b"), None);
}

#[test]
fn runs_of_one_graph_on_one_machine_merge() {
    let mut other = profile();
    other.hops = vec![hop("/s", &[1], &[]), hop("/t", &[2], &[300])];
    let merged = profile().merge(other.clone()).unwrap();
    assert_eq!(merged.hops, [hop("/s", &[1], &[]), hop("/t", &[2], &[100, 200, 300])]);
    assert_eq!(merged.durations.callbacks()[0].durations.count, 2);
    other.machine.name = "desk".into();
    let error = profile().merge(other.clone()).unwrap_err().to_string();
    assert!(error.starts_with("one profile is of machine `robot`, the other of `desk`"), "{error}");
    other.loops.push("/c".into());
    assert!(matches!(profile().merge(other), Err(ProfileError::OtherGraph { .. })));
}

#[test]
fn a_profile_of_another_graph_is_refused() {
    let graph = |names: &[&str]| {
        let graph = Graph::new();
        names.iter().for_each(|name| drop(graph.create_node(name, ()).unwrap()));
        profile().check_graph(&graph.info()).map_err(|error| error.to_string())
    };
    assert_eq!(graph(&["b", "a"]), Ok(()));
    let error = |differs: &str| {
        Err(format!("the profile is of another graph: {differs}; measure it with this one"))
    };
    assert_eq!(graph(&["a"]), error("the graph does not have /b"));
    assert_eq!(
        graph(&["a", "b", "c", "d", "e", "f"]),
        error("it does not have /c, /d, /e and 1 more")
    );
    assert_eq!(graph(&["a", "c"]), error("it does not have /c, the graph not /b"));
}
