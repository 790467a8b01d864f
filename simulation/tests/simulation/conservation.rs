//! Each loss is counted: for all links, jitters, orders and queues each published message is
//! handled, overwritten or lost, and each run can be repeated.

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use ringspin_executor::{BoxError, Graph, Message, QoS};
use ringspin_modes::{Jitter, TiePolicy};
use ringspin_simulation::models::{Distribution, LinkRule, Links};
use ringspin_simulation::{Job, Report};
use std::cell::Cell;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
/// How many messages each publisher tries to publish.
const TRIED: u64 = 30;
const SUBSCRIPTIONS: usize = 3;

#[derive(Clone, Debug)]
struct Spec {
    /// Periods of the publishers in milliseconds.
    publishers: Vec<u32>,
    /// Whether they keep all, and their depths.
    subscriptions: [(bool, usize); SUBSCRIPTIONS],
    rules: Vec<Rule>,
    jitter_ms: u32,
    ties: TiePolicy,
    seed: u64,
}

#[derive(Clone, Debug)]
struct Rule {
    /// Of the publisher and the subscription, modulo how many there are.
    from: usize,
    to: usize,
    delay_ms: (u64, u64),
    loss: f64,
    reordering: f64,
    slow: bool,
}

fn spec() -> impl Strategy<Value = Spec> {
    let probability = || prop_oneof![Just(0.0), Just(0.2), Just(1.0)];
    let rule =
        (0..9usize, 0..9usize, (0..5u64, 0..20u64), probability(), probability(), any::<bool>())
            .prop_map(|(from, to, (least, more), loss, reordering, slow)| {
                let delay_ms = (least, least + more);
                Rule { from, to, delay_ms, loss, reordering, slow }
            });
    let ties = prop_oneof![
        Just(TiePolicy::Fifo),
        Just(TiePolicy::Reverse),
        any::<u64>().prop_map(|seed| TiePolicy::Shuffle { seed }),
        any::<u64>().prop_map(|seed| TiePolicy::Mixed { seed, steps: 200 }),
        any::<u64>().prop_map(|seed| TiePolicy::Pct { seed, depth: 3, steps: 200 }),
    ];
    let subscription = || (any::<bool>(), 1..4usize);
    (
        prop::collection::vec(1..6u32, 1..4),
        [subscription(), subscription(), subscription()],
        prop::collection::vec(rule, 0..5),
        prop_oneof![Just(0), 1..8u32],
        ties,
        any::<u64>(),
    )
        .prop_map(|(publishers, subscriptions, rules, jitter_ms, ties, seed)| Spec {
            publishers,
            subscriptions,
            rules,
            jitter_ms,
            ties,
            seed,
        })
}

fn build(graph: &Graph, spec: &Spec) -> Result<(), BoxError> {
    for (n, &(keep_all, depth)) in spec.subscriptions.iter().enumerate() {
        let qos = if keep_all { QoS::keep_all(depth) } else { QoS::keep_last(depth) };
        let node = graph.create_node(&format!("to{n}"), 0u64)?;
        node.digest_state()?;
        node.create_subscription("t", qos, |sum, value: &Message<u64>, _| {
            *sum = sum.wrapping_mul(31).wrapping_add(**value);
        })?;
    }
    for (n, &period_ms) in spec.publishers.iter().enumerate() {
        let node = graph.create_node(&format!("from{n}"), 0u64)?;
        let out = node.create_publisher::<u64>("t", QoS::default())?;
        node.create_timer(MS * period_ms, move |tried, cx| {
            *tried += 1;
            if *tried == TRIED {
                cx.cancel_timer();
            }
            out.publish(*tried).unwrap_or(()) // it is counted if that is refused
        })?;
    }
    Ok(())
}

fn links(spec: &Spec) -> Links {
    spec.rules.iter().fold(Links::new(), |links, rule| {
        let [least, most] = [rule.delay_ms.0, rule.delay_ms.1].map(Duration::from_millis);
        let mut link = LinkRule::new("/t")
            .from(format!("/from{}", rule.from % spec.publishers.len()))
            .to(format!("/to{}", rule.to % SUBSCRIPTIONS))
            .delay(Distribution::uniform(least, most).unwrap())
            .loss(rule.loss)
            .reordering(rule.reordering);
        if rule.slow {
            link = link.bandwidth("1 MB/s".parse().unwrap()).bytes(1500);
        }
        links.rule(link)
    })
}

fn run(spec: &Spec) -> Report {
    let job = Job::new(|graph| build(graph, spec)).simulate(|simulation| {
        simulation.links = links(spec).into();
        simulation.jitter = Jitter { max: MS * spec.jitter_ms, seed: spec.seed };
        simulation.ties = spec.ties.clone();
        simulation.seed = spec.seed;
    });
    job.verify(2).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_message_is_handled_overwritten_or_lost() {
    let config = ProptestConfig {
        cases: 150,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_262),
        ..ProptestConfig::default()
    };
    let totals = Cell::new([0u64; 4]);
    let conserved = |spec: Spec| {
        let report = run(&spec);
        let statistics = report.statistics();
        let refused: u64 = statistics.refused.iter().map(|(_, count)| count).sum();
        let published = TRIED * spec.publishers.len() as u64 - refused;
        for (n, (keep_all, _)) in spec.subscriptions.iter().enumerate() {
            let name = format!("/to{n}");
            let of = statistics.of(&name).next().unwrap();
            prop_assert_eq!(of.dispatched + of.overwritten + of.lost, published, "{}", name);
            prop_assert!(!keep_all || of.overwritten == 0, "{} gave a message up", name);
            let [a, b, c, d] = totals.get();
            totals.set([a + of.dispatched, b + of.overwritten, c + of.lost, d]);
        }
        let [a, b, c, d] = totals.get();
        totals.set([a, b, c, d + refused]);
        Ok(())
    };
    TestRunner::new(config).run(&spec(), conserved).unwrap_or_else(|error| panic!("{error}"));
    let totals = totals.get();
    println!("handled, overwritten, lost, refused: {totals:?}");
    assert!(totals.iter().all(|total| *total > 200), "{totals:?}");
}
