//! Durations: the rule that counts, random numbers per callback, and every error.

use super::*;
use ringspin_executor::{Context, Graph, Message, QoS};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn fixed(t: u64) -> Distribution {
    Distribution::fixed(ms(t))
}

fn ignore(_: &mut (), _: &Message<u64>, _: &mut Context<'_>) {}

/// `/a` with a subscription, two namesake timers, and a timer in its group `slow`; and `others`
/// before them.
fn graph(others: &[&str]) -> GraphInfo {
    let graph = Graph::new();
    for name in others {
        graph.create_node(name, ()).unwrap().create_timer(ms(10), |_, _| {}).unwrap();
    }
    let node = graph.create_node("a", ()).unwrap();
    if !others.is_empty() {
        node.create_timer(ms(99), |_, _| {}).unwrap();
    }
    node.create_subscription("points", QoS::keep_last(1), ignore).unwrap();
    node.create_timer(ms(10), |_, _| {}).unwrap();
    node.create_timer(ms(10), |_, _| {}).unwrap();
    let group = node.create_callback_group("slow", ()).unwrap();
    group.create_timer(ms(10), |_, _| {}).unwrap();
    graph.info()
}

/// The durations in ms of the calls `0` of the four callbacks of `/a`.
fn durations_of(rules: impl IntoIterator<Item = DurationRule>) -> [u128; 4] {
    let table = Durations { rules: rules.into_iter().collect() }.resolve(&graph(&[]), 42).unwrap();
    [0, 1, 2, 3].map(|callback| table.execution(CallbackId(callback), 0).duration.as_millis())
}

fn rule(node: &str) -> DurationRule {
    DurationRule::new(node)
}

#[test]
fn rules_are_for_nodes_groups_and_callbacks() {
    assert_eq!(durations_of([rule("/a").duration(fixed(5))]), [5, 5, 5, 5]);
    assert_eq!(durations_of([rule("a:slow").duration(fixed(5))]), [0, 0, 0, 5]);
    assert_eq!(durations_of([rule("/a:").duration(fixed(5))]), [5, 5, 5, 0]);
    let of = |name| [rule("/a").callback(name).duration(fixed(5))];
    assert_eq!(durations_of(of("subscription /points")), [5, 0, 0, 0]);
    assert_eq!(durations_of(of("timer 10ms")), [0, 5, 5, 5]);
    assert_eq!(durations_of(of("timer 10ms#1")), [0, 0, 5, 0]);
}

#[test]
fn the_last_rule_wins_in_each_respect() {
    let base = || rule("/a").duration(fixed(100));
    assert_eq!(durations_of([base(), rule("/a:").duration(fixed(5))]), [5, 5, 5, 100]);
    assert_eq!(durations_of([rule("/a:").duration(fixed(5)), base()]), [100; 4]);
    assert_eq!(durations_of([base(), rule("/a").scale(0.85)]), [85; 4]);
    assert_eq!(durations_of([rule("/a").scale(0.85), base()]), [85; 4]);
    let twice = [base(), rule("/a").scale(0.5), rule("/a:slow").scale(2.0)];
    assert_eq!(durations_of(twice), [50, 50, 50, 200]);
    assert_eq!(durations_of([base(), rule("/a").scale(0.0)]), [0; 4]);
}

#[test]
fn a_logical_execution_time_stands_beside_the_duration() {
    let rules = [rule("/a").logical(ms(7)), rule("/a:slow").duration(fixed(3))];
    let durations = Durations { rules: rules.into() };
    let table = durations.resolve(&graph(&[]), 0).unwrap();
    let logical = Some(ms(7));
    let execution = |duration| Execution { duration, sending: None, logical };
    assert_eq!(table.execution(CallbackId(0), 0), execution(Duration::ZERO));
    assert_eq!(table.execution(CallbackId(3), 0), execution(ms(3)));
    assert_eq!(table.execution(CallbackId(99), 0), Execution::default());
    assert!(!table.is_empty());
    assert!(Durations::new().resolve(&graph(&[]), 0).unwrap().is_empty());
}

#[test]
fn the_durations_are_the_same_on_every_machine() {
    let normal = Distribution::normal(ms(20), ms(3));
    let durations = Durations::new().rule(rule("/a").duration(normal).scale(0.85));
    let table = durations.resolve(&graph(&[]), 42).unwrap();
    let ns = [0, 1, 2, 3].map(|n| table.execution(CallbackId(0), n).duration.as_nanos());
    assert_eq!(ns, [18_800_377, 16_374_890, 20_569_657, 16_610_419]);
}

#[test]
fn another_callback_or_node_changes_no_numbers() {
    let durations = Durations::new().rule(rule("/a").duration(Distribution::normal(ms(20), ms(3))));
    let series = |others: &[&str], seed, callback: usize| {
        let info = graph(others);
        let table = durations.resolve(&info, seed).unwrap();
        let of_a = (0..info.callbacks.len() as u32).map(CallbackId);
        let of_a = of_a.filter(|c| info.loop_of(*c).node == "/a");
        // With others, there is one callback more before them.
        let callback = of_a.skip(usize::from(!others.is_empty())).nth(callback).unwrap();
        (0..50).map(|n| table.execution(callback, n).duration).collect::<Vec<_>>()
    };
    for callback in 0..4 {
        assert_eq!(series(&[], 42, callback), series(&["b", "c"], 42, callback));
        assert_ne!(series(&[], 42, callback), series(&[], 43, callback));
        for other in 0..callback {
            assert_ne!(series(&[], 42, callback), series(&[], 42, other));
        }
    }
}

#[test]
fn scales_are_rounded_and_saturate() {
    assert_eq!(times(10, 0.85), 9); // 8.5
    assert_eq!(times(3, 0.33), 1);
    assert_eq!(times(u64::MAX, 1.0), u64::MAX);
    assert_eq!(times(u64::MAX, 1e300), u64::MAX);
    assert_eq!(times(1_000_000_000_000, 0.85), 850_000_000_000);
}

#[test]
fn rules_are_read_and_written() {
    let text = "[[execution]]\nnode = \"/a\"\ncallback = \"timer 10ms\"\nduration = \"1ms\"\n\
                scale = 2\nlogical = \"5 ms\"\n";
    let durations = Durations::from_toml(text).unwrap();
    let rule = rule("/a").callback("timer 10ms").duration(fixed(1)).scale(2.0).logical(ms(5));
    assert_eq!(durations, Durations::new().rule(rule));
    for durations in [durations, Durations::new().rule(DurationRule::new("/b")), Durations::new()] {
        let written = toml::to_string(&durations).unwrap();
        assert_eq!(Durations::from_toml(&written).unwrap(), durations);
    }
}

#[test]
fn parse_errors_name_the_line() {
    for (line, expected) in [
        ("duration = 10", "expected a duration such as \"10ms\""),
        ("logical = \"5\"", "`5` is not a duration of whole nanoseconds"),
        ("scale = \"fast\"", "expected f64"),
        ("factor = 2", "unknown field `factor`"),
    ] {
        let text = format!("[[execution]]\nnode = \"/a\"\n{line}\n");
        let message = Durations::from_toml(&text).unwrap_err().to_string();
        assert!(message.starts_with("failed to read the durations: "), "{message}");
        assert!(message.contains("line 3") && message.contains(expected), "{message}");
        assert!(message.contains("the keys of `[[execution]]` are `node`,"), "{message}");
    }
}

/// The end of an error about a name that does not exist.
const LATER: &str = " (set `later = true` if it is created while the graph runs)";

#[test]
fn rules_may_name_what_comes_later() {
    let graph = Graph::new();
    let node = graph.create_node("a", ()).unwrap();
    let first = node.create_timer(ms(10), |_, _| {}).unwrap();
    node.create_timer(ms(10), |_, _| {}).unwrap();
    let drawn = Distribution::uniform(ms(1), ms(1000)).unwrap();
    let durations = Durations::new()
        .rule(rule("/a").duration(drawn))
        .rule(rule("/b").duration(fixed(2)).later(true))
        .rule(rule("/a").callback("subscription /t").duration(fixed(4)).later(true));
    let mut table = durations.resolve(&graph.info(), 42).unwrap();
    let of = |table: &DurationTable, n| table.execution(CallbackId(n), 0).duration;
    let second = of(&table, 1);
    first.destroy();
    node.create_subscription("t", QoS::default(), ignore).unwrap();
    graph.create_node("b", ()).unwrap().create_timer(ms(10), |_, _| {}).unwrap();
    table.extend(&graph.info());
    assert_eq!([2, 3].map(|n| of(&table, n)), [4, 2].map(ms));
    assert_eq!(of(&table, 1), second, "its random numbers stay, though it has no namesake now");
    assert!(!table.entries.contains(CallbackId(0)));
}

#[test]
fn rules_that_do_not_match_the_graph_are_errors_with_the_way_out() {
    let message = |last| {
        let durations = Durations::new().rule(rule("/a:slow").duration(fixed(1))).rule(last);
        durations.resolve(&graph(&[]), 0).unwrap_err().to_string().replace(LATER, "")
    };
    for (rule, expected) in [
        (
            rule("/xyz").scale(1.0),
            "execution 2 (`/xyz`): the graph has no such node; use one of /a, /a:slow",
        ),
        (
            rule("/a:slo").scale(1.0),
            "execution 2 (`/a:slo`): the graph has no such node; did you mean `/a:slow`?",
        ),
        (
            rule("/a").callback("subscription /point").scale(1.0),
            "execution 2 (`/a`, `subscription /point`): the node has no such callback; did you \
             mean `subscription /points`?",
        ),
        (
            rule("/a").callback("x").scale(1.0),
            "execution 2 (`/a`, `x`): the node has no such callback; use one of \
             subscription /points, timer 10ms, timer 10ms#0, timer 10ms#1",
        ),
        (
            rule("/a"),
            "execution 2 (`/a`) has no effect; give a `duration`, a `scale` or a `logical` \
             execution time",
        ),
        (
            rule("/a").scale(-1.0),
            "execution 2 (`/a`): the scale is -1; give a finite factor that is not negative",
        ),
        (
            rule("/a").scale(f64::NAN),
            "execution 2 (`/a`): the scale is NaN; give a finite factor that is not negative",
        ),
        (
            rule("/a:").scale(2.0),
            "execution 2 (`/a:`): none of its callbacks has a duration to scale; give them one, \
             or load a recorded profile",
        ),
    ] {
        assert_eq!(message(rule), expected);
    }
    let durations = Durations::new().rule(rule("/a").scale(1.0));
    let empty = durations.resolve(&GraphInfo::default(), 0).unwrap_err().to_string();
    assert!(empty.ends_with(&format!("has no nodes; create them first{LATER}")), "{empty}");
}
