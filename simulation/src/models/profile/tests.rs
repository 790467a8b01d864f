//! Profiles: what a profiler sees, what comes back from a file, and every error.

use super::*;
use crate::models::histogram::NUMBER_MAX;
use crate::models::{Distribution, DurationRule, Durations};
use proptest::prelude::*;
use ringspin_executor::{CallbackId, Completion, Graph, Time};
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

fn profile_of(durations: impl IntoIterator<Item = (u32, u64)>) -> DurationProfile {
    let mut profiler = Profiler::new(&graph());
    durations.into_iter().for_each(|(callback, ns)| measure(&mut profiler, callback, ns));
    profiler.profile()
}

fn message(text: &str) -> String {
    DurationProfile::from_toml(text).unwrap_err().to_string()
}

const TEXT: &str = "version = 1\n[[callback]]\nnode = \"/a\"\ncallback = \"timer 10ms#1\"\n\
    [callback.durations]\ncount = 3\ntotal_ns = 60\nmin_ns = 10\nmax_ns = 30\n\
    histogram = [[10, 1], [20, 1], [30, 1]]\n";

#[test]
fn a_profiler_measures_each_callback() {
    let profile = profile_of([(1, 10), (1, 30), (1, 20), (2, 5), (99, 1)]);
    let [first, second] = profile.callbacks() else { panic!("{profile:?}") };
    assert_eq!((first.node.as_str(), first.callback.as_str()), ("/a", "timer 10ms#1"));
    let DurationHistogram { count, total_ns, min_ns, max_ns, .. } = first.durations;
    assert_eq!((count, total_ns, min_ns, max_ns), (3, 60, 10, 30));
    assert_eq!(first.durations.mean(), Duration::from_nanos(20));
    assert_eq!((second.node.as_str(), second.callback.as_str()), ("/a:slow", "timer 10ms"));
    assert_eq!(second.durations.max_ns, 5);
    let text = profile.to_toml_string();
    assert!(text.starts_with("version = 1\n\n[[callback]]\nnode = \"/a\"\n"), "{text}");
}

#[test]
fn quantiles_end_at_the_exact_extremes() {
    let ten = profile_of((1..=10).map(|n| (0, n * 10)));
    let quantiles =
        [0.1, 0.11, 0.5, 0.9, 0.91].map(|q| ten.callbacks()[0].durations.quantile(q).as_nanos());
    assert_eq!(quantiles, [10, 20, 50, 90, 100]);
    let profile = profile_of((1..=1000).map(|n| (0, n * 1_003)));
    let callback = &profile.callbacks()[0].durations;
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
    assert_eq!(profile.callbacks()[0].durations.distribution(|ns| ns), exact);
}

#[test]
fn very_long_durations_stay_numbers_of_the_file() {
    let profile = profile_of([(0, u64::MAX), (0, u64::MAX), (0, 0)]);
    let callback = &profile.callbacks()[0].durations;
    assert_eq!((callback.min_ns, callback.max_ns), (0, NUMBER_MAX));
    assert_eq!(DurationProfile::from_toml(&profile.to_toml_string()).unwrap(), profile);
}

#[test]
fn workers_and_runs_are_merged() {
    let one = profile_of([(0, 10), (0, 20)]);
    let other = profile_of([(0, 20), (0, 40), (2, 7)]);
    let both = profile_of([(0, 10), (0, 20), (0, 20), (0, 40), (2, 7)]);
    assert_eq!(one.clone().merge(other.clone()), both);
    assert_eq!(other.merge(one), both);
    let recorders = [(0, 10), (1, 20)].map(|(callback, ns)| {
        let mut profiler = Profiler::new(&graph());
        measure(&mut profiler, callback, ns);
        Box::new(profiler) as Box<dyn Recorder>
    });
    assert_eq!(DurationProfile::of(recorders), profile_of([(0, 10), (1, 20)]));
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
    let text = TEXT.replace("#1", "#7");
    let durations = Durations::from_profile(&DurationProfile::from_toml(&text).unwrap());
    assert_eq!(
        durations.resolve(&graph(), 0).unwrap_err().to_string(),
        "execution 1 (`/a:`, `timer 10ms#7`): the node has no such callback; did you mean \
         `timer 10ms#0`?"
    );
}

#[test]
fn a_file_comes_back() {
    let profile = DurationProfile::from_toml(TEXT).unwrap();
    assert_eq!(profile, profile_of([(1, 10), (1, 20), (1, 30)]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    profile.save(&path).unwrap();
    assert_eq!(DurationProfile::load(&path).unwrap(), profile);
    assert_eq!(DurationProfile::from_toml("version = 1").unwrap(), DurationProfile::default());
}

#[test]
fn errors_name_the_file_and_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("run.toml");
    let text = DurationProfile::load(&missing).unwrap_err().to_string();
    assert!(text.starts_with("cannot read the profile `") && text.contains("run.toml`"), "{text}");
    let text = DurationProfile::default().save(folder.path()).unwrap_err().to_string();
    assert!(text.starts_with("cannot write the profile `"), "{text}");
    std::fs::write(&missing, "version = 2\ncores = 3\n").unwrap();
    let text = DurationProfile::load(&missing).unwrap_err().to_string();
    assert!(
        text.ends_with("run.toml` is a profile of version 2, not 1; measure it again"),
        "{text}"
    );
    assert!(message("").contains("the text is not a profile: "));
    assert!(message("").contains("missing field `version`"));
    let unknown = message(&TEXT.replace("min_ns", "least_ns"));
    assert!(
        unknown.contains("line 8") && unknown.contains("unknown field `least_ns`"),
        "{unknown}"
    );
}

#[test]
fn numbers_that_contradict_each_other_are_refused() {
    let (_, twice) = TEXT.split_once('\n').unwrap();
    for (text, problem) in [
        (format!("{TEXT}{twice}"), "it has two entries"),
        (TEXT.replace("count = 3", "count = 0"), "it counts nothing"),
        (
            TEXT.replace("count = 3", "count = 4"),
            "its histogram has not as many values as its count",
        ),
        (TEXT.replace("[30, 1]", "[31, 1]"), "its histogram is not within its limits"),
        (TEXT.replace("[20, 1]", "[10, 1]"), "its histogram does not ascend"),
        (TEXT.replace("[30, 1]", "[29, 1]"), "its histogram does not end with its maximum"),
        (TEXT.replace("total_ns = 60", "total_ns = 100"), "its mean is not within its limits"),
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

proptest! {
    #[test]
    fn histograms_are_within_one_percent(durations in prop::collection::vec(0u64..1 << 41, 1..50)) {
        let profile = profile_of(durations.iter().map(|&ns| (0, ns)));
        let read = DurationProfile::from_toml(&profile.to_toml_string()).unwrap();
        prop_assert_eq!(&read, &profile);
        let callback = &read.callbacks()[0].durations;
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
