//! Profiles: recorded, as files, merged, and applied to the wrong graph.

use super::*;
use crate::models::histogram::NUMBER_MAX;
use crate::models::{Distribution, DurationRule, Durations};
use proptest::prelude::*;
use ringspin_executor::{CallbackId, Completion, Dispatch, Graph, Time};
use ringspin_modes::random::{Purpose, Stream};
use std::time::Duration;

/// A node with two namesake timers, and one in its group `slow`.
fn graph() -> GraphInfo {
    let graph = Graph::new();
    let node = graph.create_node("a", ()).unwrap();
    let period = Duration::from_millis(10);
    node.create_timer(period, |_, _| {}).unwrap();
    node.create_timer(period, |_, _| {}).unwrap();
    node.create_callback_group("slow", ()).unwrap().create_timer(period, |_, _| {}).unwrap();
    graph.info()
}

fn measure(profiler: &mut Profiler, callback: u32, ns: u64) {
    let time = Time::from_secs(1);
    let dispatch = Dispatch { callback: CallbackId(callback), time, ..Dispatch::default() };
    profiler.started(&dispatch);
    let time = time + Duration::from_nanos(ns);
    profiler.finished(&dispatch, Completion { time, digest: None });
}

fn profile_of(durations: impl IntoIterator<Item = (u32, u64)>) -> Profile {
    let mut profiler = Profiler::new(&graph());
    durations.into_iter().for_each(|(callback, ns)| measure(&mut profiler, callback, ns));
    Profile::of(&graph(), [Box::new(profiler) as Box<dyn Recorder>])
}

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

/// Only the durations of a callback.
const DURATIONS: &str = "version = 2\n[[callback]]\nnode = \"/a\"\ncallback = \"timer 10ms#1\"\n\
    [callback.durations]\ncount = 3\ntotal_ns = 60\nmin_ns = 10\nmax_ns = 30\n\
    histogram = [[10, 1], [20, 1], [30, 1]]\n";

const TEXT: &str = r#"version = 2
loops = ["/a", "/b"]

[machine]
name = "robot"
architecture = "aarch64"
cores = 4

[[callback]]
node = "/a"
callback = "timer 10ms"

[callback.durations]
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

[[calls]]
node = "/a"
callback = "timer 10ms"

[calls.quiet]
count = 1
total_ns = 20
min_ns = 20
max_ns = 20
histogram = [[20, 1]]
"#;

#[test]
fn a_profiler_measures_each_callback() {
    let profile = profile_of([(1, 10), (1, 30), (1, 20), (2, 5), (99, 1)]);
    let [first, second] = &profile.callbacks[..] else { panic!("{profile:?}") };
    assert_eq!((first.node.as_str(), first.callback.as_str()), ("/a", "timer 10ms#1"));
    let DurationHistogram { count, total_ns, min_ns, max_ns, .. } = first.durations;
    assert_eq!((count, total_ns, min_ns, max_ns), (3, 60, 10, 30));
    assert_eq!(first.durations.mean(), Duration::from_nanos(20));
    assert_eq!((second.node.as_str(), second.callback.as_str()), ("/a:slow", "timer 10ms"));
    assert_eq!(second.durations.max_ns, 5);
    assert_eq!(profile.loops, ["/a", "/a:slow"]);
    assert_eq!(profile.machine, Some(ProfiledMachine::here()));
}

#[test]
fn quantiles_end_at_the_exact_extremes() {
    let ten = profile_of((1..=10).map(|n| (0, n * 10)));
    let quantiles =
        [0.1, 0.11, 0.5, 0.9, 0.91].map(|q| ten.callbacks[0].durations.quantile(q).as_nanos());
    assert_eq!(quantiles, [10, 20, 50, 90, 100]);
    let profile = profile_of((1..=1000).map(|n| (0, n * 1_003)));
    let callback = &profile.callbacks[0].durations;
    let ns = |q| callback.quantile(q).as_nanos() as f64;
    assert_eq!((ns(0.0), ns(1.0)), (1_003.0, 1_003_000.0));
    assert_eq!((ns(-1.0), ns(f64::NAN), ns(2.0)), (1_003.0, 1_003.0, 1_003_000.0));
    for q in [0.1, 0.5, 0.9, 0.99] {
        let exact = q * 1_003_000.0;
        assert!((ns(q) / exact - 1.0).abs() < 0.01, "{q}: {} {exact}", ns(q));
    }
}

#[test]
fn histogram_of_few_durations_has_exactly_these() {
    assert_eq!(DurationHistogram::of([]), None);
    let less = |time: Duration| time.saturating_sub(Duration::from_nanos(2));
    let shifted = DurationHistogram::of([5, 1, 3]).unwrap().distribution(less);
    assert_eq!(shifted, Distribution::empirical([0, 1, 3].map(Duration::from_nanos)).unwrap());
}

#[test]
fn the_longest_call_can_happen_in_a_simulation() {
    let durations = [10, 1_003_007];
    let profile = profile_of(durations.map(|ns| (0, ns)));
    let exact = Distribution::empirical(durations.map(Duration::from_nanos)).unwrap();
    assert_eq!(profile.callbacks[0].durations.distribution(|ns| ns), exact);
}

#[test]
fn very_long_durations_stay_numbers_of_the_file() {
    let profile = profile_of([(0, u64::MAX), (0, u64::MAX), (0, 0)]);
    let callback = &profile.callbacks[0].durations;
    assert_eq!((callback.min_ns, callback.max_ns), (0, NUMBER_MAX));
    assert_eq!(Profile::from_toml(&profile.to_toml_string()).unwrap(), profile);
}

#[test]
fn workers_and_runs_are_merged() {
    let one = profile_of([(0, 10), (0, 20)]);
    let other = profile_of([(0, 20), (0, 40), (2, 7)]);
    let both = profile_of([(0, 10), (0, 20), (0, 20), (0, 40), (2, 7)]);
    assert_eq!(one.clone().merge(other.clone()).unwrap().callbacks, both.callbacks);
    assert_eq!(other.merge(one).unwrap().callbacks, both.callbacks);
    let recorders = [(0, 10), (1, 20)].map(|(callback, ns)| {
        let mut profiler = Profiler::new(&graph());
        measure(&mut profiler, callback, ns);
        Box::new(profiler) as Box<dyn Recorder>
    });
    let both = profile_of([(0, 10), (1, 20)]);
    assert_eq!(Profile::of(&graph(), recorders).callbacks, both.callbacks);
}

#[test]
fn a_profile_gives_the_durations_of_a_simulation() {
    let profile = profile_of([(0, 10), (0, 30), (2, 5)]);
    let recorded = Durations::from_profile(&profile);
    let faster = Durations::new().rule(DurationRule::new("/a:slow").scale(2.0));
    let table = recorded.and(faster).resolve(&graph(), 42).unwrap();
    let ns = |callback, n| table.execution(CallbackId(callback), n).duration.as_nanos();
    let first: Vec<_> = (0..1000).map(|n| ns(0, n)).collect();
    assert!(first.iter().all(|ns| [10, 30].contains(ns)));
    let short = first.iter().filter(|ns| **ns == 10).count();
    assert!((437..563).contains(&short), "{short}"); // four standard deviations of 16
    assert_eq!((ns(1, 0), ns(2, 0)), (0, 10));
}

#[test]
fn a_callback_that_the_graph_lacks_is_named() {
    let text = DURATIONS.replace("#1", "#7");
    let durations = Durations::from_profile(&Profile::from_toml(&text).unwrap());
    assert_eq!(
        durations.resolve(&graph(), 0).unwrap_err().to_string(),
        "execution 1 (`/a:`, `timer 10ms#7`): the node has no such callback; did you mean \
         `timer 10ms#0`? (set `later = true` if it is created while the graph runs)"
    );
    let text = text.replace("#7\"", "#7\"\nlater = true");
    let later = Durations::from_profile(&Profile::from_toml(&text).unwrap());
    assert!(later.resolve(&graph(), 0).unwrap().is_empty());
}

#[test]
fn profiles_round_trip_through_files() {
    assert_eq!(profile().to_toml_string(), TEXT);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.toml");
    profile().save(&path).unwrap();
    assert_eq!(Profile::load(&path).unwrap(), profile());
    let missing = Profile::load(folder.path().join("none.toml")).unwrap_err().to_string();
    assert!(missing.starts_with("failed to read the profile `"), "{missing}");
    assert!(missing.ends_with("check the path and its permissions"), "{missing}");
    let refused = profile().save(folder.path()).unwrap_err().to_string();
    assert!(refused.starts_with("failed to write the profile `"), "{refused}");
}

#[test]
fn profile_with_durations_only_is_valid() {
    let profile = Profile::from_toml(DURATIONS).unwrap();
    let measured = profile_of([(1, 10), (1, 20), (1, 30)]);
    assert_eq!(profile, Profile { callbacks: measured.callbacks, ..Profile::default() });
    assert_eq!(profile.check_graph(&graph()), Ok(()));
    assert_eq!(Profile::from_toml("version = 2").unwrap(), Profile::default());
}

#[test]
fn entries_are_found_in_any_order_of_the_file() {
    let [s, t] = ["/s", "/t"].map(|topic| hop(topic, &[5; 10], &[]));
    let file = Profile { hops: vec![t.clone(), s.clone()], ..Profile::default() };
    let read = Profile::from_toml(&file.to_toml_string()).unwrap();
    assert_eq!(read.hops, [s, t]);
}

#[test]
fn invalid_files_are_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    std::fs::write(&path, "version = 1\nother = 3\n").unwrap();
    let text = Profile::load(&path).unwrap_err().to_string();
    assert!(
        text.ends_with("run.toml` is a profile of version 1, not 2; measure it again"),
        "{text}"
    );
    assert!(message("").contains("the text is not a profile: "));
    assert!(message("").contains("missing field `version`"));
    let unknown = message(&DURATIONS.replace("min_ns", "least_ns"));
    assert!(
        unknown.contains("line 8") && unknown.contains("unknown field `least_ns`"),
        "{unknown}"
    );
    let text = message(&TEXT.replace("cores = 4", "cores = -4"));
    assert!(text.contains("line 7") && text.ends_with("measure it again"), "{text}");
    assert_eq!(
        message(&TEXT.replace("histogram = [[100, 1]", "histogram = [[100, 2]")),
        "the text contradicts itself about the way from `/a` to `/b` by `/t`: its histogram has \
         not as many values as its count; measure it again"
    );
    let (before, hop) = TEXT.split_at(TEXT.find("[[hop]]").unwrap());
    let (hop, calls) = hop.split_at(hop.find("[[calls]]").unwrap());
    assert!(message(&format!("{before}{hop}{hop}")).contains("it has two entries"));
    let twice = message(&format!("{before}{calls}{calls}"));
    assert!(twice.contains("the calls of `/a`, `timer 10ms`: it has two entries"), "{twice}");
}

#[test]
fn numbers_that_contradict_each_other_are_refused() {
    let (_, twice) = DURATIONS.split_once('\n').unwrap();
    for (text, problem) in [
        (format!("{DURATIONS}{twice}"), "it has two entries"),
        (DURATIONS.replace("count = 3", "count = 0"), "it counts nothing"),
        (
            DURATIONS.replace("count = 3", "count = 4"),
            "its histogram has not as many values as its count",
        ),
        (DURATIONS.replace("[30, 1]", "[31, 1]"), "its histogram is not within its limits"),
        (DURATIONS.replace("[20, 1]", "[10, 1]"), "its histogram does not ascend"),
        (DURATIONS.replace("[30, 1]", "[29, 1]"), "its histogram does not end with its maximum"),
        (DURATIONS.replace("total_ns = 60", "total_ns = 100"), "its mean is not within its limits"),
    ] {
        assert_eq!(
            message(&text),
            format!(
                "the text contradicts itself about `/a`, `timer 10ms#1`: {problem}; measure it \
                 again"
            )
        );
    }
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
    assert_eq!(merged.callbacks[0].durations.count, 2);
    other.machine.as_mut().unwrap().name = "desk".into();
    let error = profile().merge(other.clone()).unwrap_err().to_string();
    assert!(error.starts_with("one profile is of machine `robot`, the other of `desk`"), "{error}");
    other.loops.push("/c".into());
    let error = profile().merge(other).unwrap_err();
    assert!(error.to_string().starts_with("the profile is of another graph: "), "{error}");
}

#[test]
fn a_profile_of_another_graph_is_refused() {
    let refused_by = |names: &[&str]| {
        let graph = Graph::new();
        names.iter().for_each(|name| drop(graph.create_node(name, ()).unwrap()));
        profile().check_graph(&graph.info()).map_err(|error| error.to_string())
    };
    assert_eq!(refused_by(&["b", "a"]), Ok(()));
    let error = |differs: &str| {
        Err(format!("the profile is of another graph: {differs}; measure it with this one"))
    };
    assert_eq!(refused_by(&["a"]), error("the graph does not have /b"));
    assert_eq!(
        refused_by(&["a", "b", "c", "d", "e", "f"]),
        error("it does not have /c, /d, /e and 1 more")
    );
    assert_eq!(refused_by(&["a", "c"]), error("it does not have /c, the graph not /b"));
}

proptest! {
    #[test]
    fn histograms_are_within_one_percent(durations in prop::collection::vec(0u64..1 << 41, 1..50)) {
        let profile = profile_of(durations.iter().map(|&ns| (0, ns)));
        let read = Profile::from_toml(&profile.to_toml_string()).unwrap();
        prop_assert_eq!(&read, &profile);
        let callback = &read.callbacks[0].durations;
        prop_assert_eq!(callback.max_ns, *durations.iter().max().unwrap());
        prop_assert_eq!(callback.total_ns, durations.iter().sum::<u64>());
        let distribution = callback.distribution(|ns| ns);
        for n in 0..20 {
            let ns = distribution.sample(Stream::new(1, ""), n, Purpose::Duration);
            let near = |duration: &u64| ns.abs_diff(*duration) as f64 <= 0.01 * *duration as f64;
            prop_assert!(durations.iter().any(near), "{ns}");
        }
    }
}
