//! Links: arrivals, random numbers per edge, and every error.

use super::*;
use crate::models::Distribution;
use proptest::prelude::*;
use ringspin_executor::{
    CallbackId, Context, DeliveryOutcome, EventId, Graph, GraphInfo, Message, Node, QoS, SourceId,
    Time,
};
use std::collections::BTreeMap;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at_ms(t: u64) -> Time {
    Time::ZERO + ms(t)
}

fn ignore(_: &mut (), _: &Message<u64>, _: &mut Context<'_>) {}

/// Publishers on `/points` and subscriptions of it, in order of creation.
fn graph(publishers: &[&str], subscribers: &[&str]) -> GraphInfo {
    let graph = Graph::new();
    let mut nodes = BTreeMap::new();
    for name in publishers.iter().chain(subscribers) {
        nodes.entry(*name).or_insert_with(|| graph.create_node(name, ()).unwrap());
    }
    let publish = |name| nodes[name].create_publisher::<u64>("points", QoS::keep_last(1)).unwrap();
    let _publishers: Vec<_> = publishers.iter().map(publish).collect();
    for name in subscribers {
        nodes[name].create_subscription("points", QoS::keep_last(1), ignore).unwrap();
    }
    graph.info()
}

fn with_service() -> GraphInfo {
    let graph = Graph::new();
    let server = graph.create_node("server", ()).unwrap();
    server.create_service("add", QoS::services(), |_, n: &u64, _| *n).unwrap();
    let _clients = ["a", "b"].map(|name| {
        let node = graph.create_node(name, ()).unwrap();
        node.create_client::<u64, u64>("add", QoS::services()).unwrap()
    });
    graph.info()
}

/// The edge from publisher `from` to subscription `to`, by their numbers on the only topic.
fn edge(info: &GraphInfo, from: usize, to: usize) -> (CallbackId, SourceId) {
    (info.topics[0].subscriptions[to], info.topics[0].publishers[from].1)
}

/// The outcomes of messages that leave every `period`.
fn outcomes(
    table: &mut LinkTable,
    (callback, source): (CallbackId, SourceId),
    period: Duration,
    count: u64,
) -> Vec<DeliveryOutcome> {
    let send = |sequence: u64| {
        let departure = Time::from_nanos(sequence * period.as_nanos() as u64);
        table.outcome(callback, EventId { source, sequence }, departure, 1000)
    };
    (0..count).map(send).collect()
}

/// The outcomes on the only edge of a graph with one publisher and one subscription.
fn outcomes_of(rule: LinkRule, period: Duration, count: u64) -> Vec<DeliveryOutcome> {
    let info = graph(&["a"], &["b"]);
    let mut table = Links::new().rule(rule).resolve(&info, 42).unwrap();
    outcomes(&mut table, edge(&info, 0, 0), period, count)
}

fn arrivals(outcomes: &[DeliveryOutcome]) -> Vec<u64> {
    let times = outcomes.iter().flat_map(|outcome| match *outcome {
        DeliveryOutcome::Lost | DeliveryOutcome::Held => vec![],
        DeliveryOutcome::Once(time) => vec![time],
        DeliveryOutcome::Twice(first, second) => vec![first, second],
    });
    times.map(Time::as_nanos).collect()
}

fn jitter() -> LinkRule {
    LinkRule::new("/points").delay(Distribution::normal(ms(10), ms(2)))
}

#[test]
fn delivery_outcomes_are_the_same_on_every_machine() {
    let rule = jitter().loss(0.2).duplication(0.2).reordering(0.2);
    let rule = rule.bandwidth("1 MB/s".parse().unwrap());
    let outcomes = outcomes_of(rule, ms(5), 8);
    let (once, ns) = (|ns| DeliveryOutcome::Once(Time::from_nanos(ns)), Time::from_nanos);
    let expected = [
        once(12_395_995),
        DeliveryOutcome::Twice(ns(15_528_382), ns(19_202_644)),
        once(20_536_268),
        once(24_931_623),
        once(21_000_000), // reordered
        once(26_000_000), // reordered
        DeliveryOutcome::Lost,
        once(42_363_106),
    ];
    assert_eq!(outcomes, expected);
}

#[test]
fn a_fixed_delay_is_exact() {
    let rule = LinkRule::new("/points").delay(Distribution::fixed(Duration::from_nanos(7)));
    assert_eq!(arrivals(&outcomes_of(rule, ms(1), 3)), [7, 1_000_007, 2_000_007]);
}

#[test]
fn messages_take_their_turn_on_a_line() {
    let line = || LinkRule::new("/points").bandwidth("10 MB/s".parse().unwrap());
    let times = |rule, period| arrivals(&outcomes_of(rule, period, 3));
    // 40 ms each: one after the other, then with pauses.
    assert_eq!(times(line().bytes(400_000), ms(10)), [40_000_000, 80_000_000, 120_000_000]);
    assert_eq!(times(line().bytes(400_000), ms(50)), [40_000_000, 90_000_000, 140_000_000]);
    // The delay is not occupied.
    let far = line().bytes(400_000).delay(Distribution::fixed(ms(100)));
    assert_eq!(times(far, ms(50)), [140_000_000, 190_000_000, 240_000_000]);
    // Their own 1000 bytes; a third of a nanosecond is rounded up.
    assert_eq!(times(line(), Duration::ZERO), [100_000, 200_000, 300_000]);
    let third = LinkRule::new("/points").bandwidth("3 GB/s".parse().unwrap());
    assert_eq!(times(third, Duration::ZERO), [334, 668, 1002]);
}

#[test]
fn loss_changes_nothing_for_those_that_arrive() {
    let rule = || jitter().bandwidth("1 MB/s".parse().unwrap());
    let without = outcomes_of(rule(), ms(100), 10_000);
    let with = outcomes_of(rule().loss(0.1), ms(100), 10_000);
    let lost = with.iter().filter(|outcome| **outcome == DeliveryOutcome::Lost).count();
    assert!((880..1120).contains(&lost), "{lost}"); // four standard deviations of 30
    let mut pairs = with.iter().zip(&without);
    assert!(pairs.all(|(with, without)| *with == DeliveryOutcome::Lost || with == without));
    // It was sent, so the line was occupied.
    let line = LinkRule::new("/points").bandwidth("1 MB/s".parse().unwrap()).loss(0.5);
    for (outcome, n) in outcomes_of(line, Duration::ZERO, 100).into_iter().zip(1..) {
        assert!(
            outcome == DeliveryOutcome::Lost || outcome == DeliveryOutcome::Once(at_ms(n)),
            "{outcome:?} {n}"
        );
    }
}

#[test]
fn copies_have_a_delay_and_a_turn_of_their_own() {
    let line = "1 MB/s".parse().unwrap();
    let rule = LinkRule::new("/points").bandwidth(line).duplication(1.0);
    let twice = |a, b| DeliveryOutcome::Twice(at_ms(a), at_ms(b));
    assert_eq!(outcomes_of(rule, Duration::ZERO, 2), [twice(1, 2), twice(3, 4)]);
    let outcomes = outcomes_of(jitter().duplication(0.1), ms(100), 10_000);
    let copies: Vec<_> =
        outcomes.iter().filter(|outcome| matches!(outcome, DeliveryOutcome::Twice(..))).collect();
    assert!((880..1120).contains(&copies.len()), "{}", copies.len());
    assert!(copies.iter().any(|outcome| matches!(outcome, DeliveryOutcome::Twice(a, b) if a < b)));
}

#[test]
fn only_reordered_messages_overtake() {
    let rule = LinkRule::new("/points").delay(Distribution::fixed(ms(10))).reordering(0.1);
    let outcomes = outcomes_of(rule, ms(1), 10_000);
    let overtook = |(n, outcome): (usize, &DeliveryOutcome)| match *outcome {
        DeliveryOutcome::Once(time) if time == at_ms(n as u64) => true,
        DeliveryOutcome::Once(time) if time == at_ms(n as u64 + 10) => false,
        other => panic!("message {n}: {other:?}"),
    };
    let count = outcomes.iter().enumerate().filter(|&pair| overtook(pair)).count();
    assert!((880..1120).contains(&count), "{count}");
}

#[test]
fn a_delay_that_never_ends_is_no_panic() {
    let rule = LinkRule::new("/points").delay(Distribution::fixed(Duration::MAX));
    assert_eq!(outcomes_of(rule, ms(1), 2), [DeliveryOutcome::Once(Time::MAX); 2]);
}

#[test]
fn an_edge_without_a_rule_delivers_at_once() {
    let info = graph(&["a", "b"], &["c", "d"]);
    let rule = LinkRule::new("/points").from("/a").to("/c").delay(Distribution::fixed(ms(1)));
    let mut table = Links::new().rule(rule).resolve(&info, 0).unwrap();
    let callbacks = &info.topics[0].subscriptions;
    assert!(table.is_linked(callbacks[0]) && !table.is_linked(callbacks[1]));
    assert!(!table.is_linked(CallbackId(99)) && !table.is_empty());
    assert!(Links::new().resolve(&info, 0).unwrap().is_empty());
    for (from, to, arrival) in [(0, 0, 1), (1, 0, 0), (0, 1, 0), (1, 1, 0)] {
        let outcomes = outcomes(&mut table, edge(&info, from, to), ms(1), 1);
        assert_eq!(outcomes, [DeliveryOutcome::Once(at_ms(arrival))], "{from} {to}");
    }
    let no_edge = (CallbackId(99), SourceId(99));
    assert_eq!(outcomes(&mut table, no_edge, ms(1), 1), [DeliveryOutcome::Once(Time::ZERO)]);
}

#[test]
fn the_last_matching_rule_wins() {
    let info = graph(&["a", "b"], &["c"]);
    let fixed = |t| LinkRule::new("/points").delay(Distribution::fixed(ms(t)));
    let links = Links::new().rule(fixed(1).from("a")).rule(fixed(2)).rule(fixed(3).from("b"));
    let mut table = links.resolve(&info, 0).unwrap();
    assert_eq!(
        outcomes(&mut table, edge(&info, 0, 0), ms(1), 1),
        [DeliveryOutcome::Once(at_ms(2))]
    );
    assert_eq!(
        outcomes(&mut table, edge(&info, 1, 0), ms(1), 1),
        [DeliveryOutcome::Once(at_ms(3))]
    );
    let late = Links::new().rule(fixed(3)).and(Links::new().rule(fixed(4)));
    let mut table = late.resolve(&info, 0).unwrap();
    assert_eq!(
        outcomes(&mut table, edge(&info, 0, 0), ms(1), 1),
        [DeliveryOutcome::Once(at_ms(4))]
    );
}

#[test]
fn services_have_an_edge_each_way_for_each_client() {
    let info = with_service();
    let service = &info.services[0];
    let fixed = |t| LinkRule::new("/add").delay(Distribution::fixed(ms(t)));
    let links = Links::new().rule(fixed(1).from("a")).rule(fixed(2).to("b"));
    let mut table = links.resolve(&info, 0).unwrap();
    let server = service.server.unwrap();
    let mut ask = |callback, source| outcomes(&mut table, (callback, source), ms(1), 1)[0];
    let [a, b] = [service.clients[0], service.clients[1]];
    assert_eq!(ask(server, a.requests), DeliveryOutcome::Once(at_ms(1)));
    assert_eq!(ask(a.callback, a.responses), DeliveryOutcome::Once(at_ms(0)));
    assert_eq!(ask(server, b.requests), DeliveryOutcome::Once(at_ms(0)));
    assert_eq!(ask(b.callback, b.responses), DeliveryOutcome::Once(at_ms(2)));
    let mut both = Links::new().rule(fixed(3)).resolve(&info, 0).unwrap();
    assert_eq!(
        outcomes(&mut both, (server, b.requests), ms(1), 1),
        [DeliveryOutcome::Once(at_ms(3))]
    );
    assert_eq!(
        outcomes(&mut both, (a.callback, a.responses), ms(1), 1),
        [DeliveryOutcome::Once(at_ms(3))]
    );
}

#[test]
fn another_edge_node_or_seed_does_what_it_should() {
    let links = || Links::new().rule(jitter().loss(0.1));
    let of = |info: &GraphInfo, from, to, seed| {
        let mut table = links().resolve(info, seed).unwrap();
        outcomes(&mut table, edge(info, from, to), ms(5), 100)
    };
    let small = graph(&["a"], &["b"]);
    let expected = of(&small, 0, 0, 42);
    // With more before, after and in the same nodes, the edge keeps its numbers.
    let large = graph(&["z", "a", "b", "a"], &["a", "b", "c", "b"]);
    assert_eq!(of(&large, 1, 1, 42), expected);
    // Every other edge, namesakes among them, has others.
    let mut all = vec![];
    for from in 0..4 {
        for to in 0..4 {
            all.push(arrivals(&of(&large, from, to, 42)));
        }
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 16);
    assert_ne!(of(&small, 0, 0, 43), expected);
}

#[test]
fn a_message_does_not_depend_on_those_before_it() {
    // Far apart, so that no order has to be kept.
    let all = outcomes_of(jitter().loss(0.3), ms(1000), 50);
    let info = graph(&["a"], &["b"]);
    for (n, outcome) in all.iter().enumerate() {
        let links = Links::new().rule(jitter().loss(0.3));
        let mut table = links.resolve(&info, 42).unwrap();
        let (callback, source) = edge(&info, 0, 0);
        let event = EventId { source, sequence: n as u64 };
        assert_eq!(table.outcome(callback, event, at_ms(1000 * n as u64), 0), *outcome);
    }
}

#[test]
fn callback_groups_are_ends_of_their_own() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let _out = node.create_publisher::<u64>("points", QoS::keep_last(1)).unwrap();
    let group = node.create_callback_group("slow", ()).unwrap();
    node.create_subscription("points", QoS::keep_last(1), ignore).unwrap();
    group.create_subscription("points", QoS::keep_last(1), ignore).unwrap();
    let info = graph.info();
    let linked = |to: &str| {
        let table = Links::new().rule(LinkRule::new("/points").to(to)).resolve(&info, 0).unwrap();
        [0, 1].map(|n| table.is_linked(info.topics[0].subscriptions[n]))
    };
    assert_eq!(linked("/node"), [true, true]);
    assert_eq!(linked("/node:"), [true, false]);
    assert_eq!(linked("/node:slow"), [false, true]);
}

#[test]
fn rules_are_read_and_written() {
    let text = "[[link]]\ntopic = \"/t\"\nfrom = \"/a\"\nto = \"/b:c\"\ndelay = \"1ms\"\n\
                loss = 0.1\nduplication = 1\nreordering = 0.5\nbandwidth = \"10 MB/s\"\n\
                bytes = 7\n";
    let links = Links::from_toml(text).unwrap();
    let rule = LinkRule::new("/t").from("/a").to("/b:c").delay(Distribution::fixed(ms(1)));
    let rule = rule.loss(0.1).duplication(1.0).reordering(0.5).bytes(7);
    let expected = Links::new().rule(rule.bandwidth("80 Mbit/s".parse().unwrap()));
    assert_eq!(links, expected);
    for links in [links, Links::new().rule(LinkRule::new("/t")), Links::new()] {
        assert_eq!(Links::from_toml(&toml::to_string(&links).unwrap()).unwrap(), links);
    }
}

#[test]
fn parse_errors_name_the_line() {
    let message = |line: &str| {
        let text = format!("[[link]]\ntopic = \"/t\"\n{line}\n");
        Links::from_toml(&text).unwrap_err().to_string()
    };
    for (line, expected) in [
        ("loss = 1.5", "invalid value: floating point `1.5`, expected a probability from 0 to 1"),
        ("loss = nan", "expected a probability from 0 to 1"),
        ("reordering = -0.1", "expected a probability from 0 to 1"),
        ("duplication = \"1\"", "expected f64"),
        ("lost = 0.1", "unknown field `lost`"),
        ("delay = \"1\"", "`1` is not a duration of whole nanoseconds"),
        ("bandwidth = 10", "expected a bandwidth of whole bits per second above zero"),
        ("bandwidth = \"10 MB\"", "`10 MB` is not a bandwidth"),
        ("bytes = -1", "expected u64"),
        ("topic = \"/u\"", "duplicate key"),
    ] {
        let message = message(line);
        assert!(message.starts_with("failed to read the links: "), "{message}");
        assert!(message.contains("line 3"), "{message}");
        assert!(message.contains(expected), "{line}: {message}");
        let way_out = match line {
            "lost = 0.1" => "\ndid you mean `loss`?",
            _ => "\ncorrect that line; the keys of `[[link]]` are",
        };
        assert!(message.contains(way_out), "{message}");
    }
    let missing = Links::from_toml("[[link]]\nloss = 0.1\n").unwrap_err().to_string();
    assert!(missing.contains("missing field `topic`"), "{missing}");
    assert!(Links::from_toml("[[links]]\n").unwrap_err().to_string().contains("`links`"));
}

/// The end of an error about a name that does not exist.
const LATER: &str = " (set `later = true` if it is created while the graph runs)";

#[test]
fn rules_may_name_what_comes_later() {
    let graph = Graph::new();
    let [lidar, radar, fusion] =
        ["lidar", "radar", "fusion"].map(|name| graph.create_node(name, ()).unwrap());
    let publish = |node: &Node<()>| node.create_publisher::<u64>("points", QoS::default()).unwrap();
    let _first = publish(&lidar);
    let subscription = fusion.create_subscription("points", QoS::default(), ignore).unwrap();
    let fixed = |t| LinkRule::new("/points").delay(Distribution::fixed(ms(t)));
    let links = Links::new()
        .rule(fixed(3).bandwidth("1 kB/s".parse().unwrap()))
        .rule(fixed(5).from("/radar").later(true))
        .rule(fixed(7).to("/viewer").later(true))
        .rule(LinkRule::new("/map").delay(Distribution::fixed(ms(9))).later(true));
    let before = graph.info();
    let mut table = links.resolve(&before, 42).unwrap();
    let once = |table: &mut LinkTable, edge| outcomes(table, edge, ms(1), 1)[0];
    assert_eq!(once(&mut table, edge(&before, 0, 0)), DeliveryOutcome::Once(at_ms(1003)));
    let _second = publish(&radar);
    let viewer = graph.create_node("viewer", ()).unwrap();
    viewer.create_subscription("points", QoS::default(), ignore).unwrap();
    let after = graph.info();
    table.extend(&after);
    let busy = once(&mut table, edge(&after, 0, 0));
    assert_eq!(busy, DeliveryOutcome::Once(at_ms(2003)), "the first message still occupies it");
    assert_eq!(once(&mut table, edge(&after, 1, 0)), DeliveryOutcome::Once(at_ms(5)));
    assert_eq!(once(&mut table, edge(&after, 0, 1)), DeliveryOutcome::Once(at_ms(7)));
    subscription.destroy();
    table.extend(&graph.info());
    assert!(!table.is_linked(edge(&before, 0, 0).0) && table.is_linked(edge(&after, 0, 1).0));
}

#[test]
fn rules_that_do_not_match_the_graph_are_errors_with_the_way_out() {
    let message = |info: &GraphInfo, rule| {
        let topic = info.topics.first().map_or("/add", |topic| &topic.name);
        let links = Links::new().rule(LinkRule::new(topic)).rule(rule);
        links.resolve(info, 0).unwrap_err().to_string().replace(LATER, "")
    };
    let info = graph(&["lidar"], &["fusion", "viewer"]);
    let points = || LinkRule::new("/points");
    for (rule, expected) in [
        (
            LinkRule::new("/point"),
            "link 2 (`/point`): the graph has no such topic or service; did you mean `/points`?",
        ),
        (
            LinkRule::new("points"),
            "link 2 (`points`): the graph has no such topic or service; did \
          you mean `/points`?",
        ),
        (
            points().from("/lidr"),
            "link 2 (`/points`): nothing flows from `/lidr`; did you mean `/lidar`?",
        ),
        (
            points().to("/xyz"),
            "link 2 (`/points`): nothing flows to `/xyz`; use one of /fusion, /viewer",
        ),
        (
            points().to("/lidar"),
            "link 2 (`/points`): nothing flows to `/lidar`; use one of /fusion, /viewer",
        ),
        (
            points().to("/fusion:slow"),
            "link 2 (`/points`): nothing flows to `/fusion:slow`; did you mean `/fusion`?",
        ),
        (points().loss(2.0), "link 2 (`/points`): loss is 2; give a probability from 0 to 1"),
        (
            points().reordering(f64::NAN),
            "link 2 (`/points`): reordering is NaN; give a probability from 0 to 1",
        ),
    ] {
        assert_eq!(message(&info, rule), expected);
    }
    assert_eq!(
        message(&graph(&["a"], &[]), points().from("/a")),
        "link 2 (`/points`): nothing flows from `/a`; it needs both a publisher and a subscription"
    );
    for (rule, key) in [
        (LinkRule::new("/add").loss(0.1), "loss"),
        (LinkRule::new("/add").duplication(0.1), "duplication"),
    ] {
        assert_eq!(
            message(&with_service(), rule),
            format!(
                "link 2 (`/add`): it is a service, and {key} is not possible there: every call \
                 ends, exactly once; give it a delay longer than the timeout of its clients instead"
            )
        );
    }
    let nothing = Links::new().rule(points()).resolve(&GraphInfo::default(), 0);
    let nothing = nothing.unwrap_err().to_string();
    assert!(nothing.ends_with(&format!("it has none at all{LATER}")), "{nothing}");
}

fn any_rule() -> impl Strategy<Value = LinkRule> {
    let delay = prop_oneof![
        (0u64..30).prop_map(|t| Distribution::fixed(ms(t))),
        (0u64..30).prop_map(|t| Distribution::uniform(Duration::ZERO, ms(t)).unwrap()),
        Just(Distribution::normal(ms(5), ms(5))),
    ];
    let bandwidth = prop::option::of(prop_oneof![Just("1 MB/s"), Just("50 kB/s")]);
    (delay, 0.0..1.0, 0.0..1.0, bandwidth).prop_map(|(delay, loss, duplication, bandwidth)| {
        let rule = LinkRule::new("/points").delay(delay).loss(loss).duplication(duplication);
        LinkRule { bandwidth: bandwidth.map(|rate| rate.parse().unwrap()), ..rule }
    })
}

proptest! {
    #[test]
    fn a_link_keeps_order_and_never_turns_back_time(
        rule in any_rule(),
        seed: u64,
        gaps in prop::collection::vec(0u64..20_000_000, 1..50),
    ) {
        let info = graph(&["a"], &["b"]);
        let mut table = Links::new().rule(rule).resolve(&info, seed).unwrap();
        let (callback, source) = edge(&info, 0, 0);
        let (mut departure, mut last) = (Time::ZERO, 0);
        for (gap, sequence) in gaps.into_iter().zip(0..) {
            departure = departure + Duration::from_nanos(gap);
            let outcome = table.outcome(callback, EventId { source, sequence }, departure, 1000);
            for arrival in arrivals(&[outcome]) {
                prop_assert!(arrival >= last.max(departure.as_nanos()), "{outcome:?}");
                last = arrival;
            }
        }
    }

    #[test]
    fn no_text_panics(line in "[a-z]{0,9} ?= ?[0-9\".{}a-z]{0,9}") {
        let _ = Links::from_toml(&format!("[[link]]\ntopic = \"/t\"\n{line}"));
    }
}
