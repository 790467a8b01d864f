//! Generation of a random graph's simulation: links, durations, cores, ties and jitter.

use super::nodes::{service_name, topic_name};
use super::random_source::RandomSource;
use super::spec::{Channel, Spec};
use ringspin_executor::Time;
use ringspin_modes::quantity::Bandwidth;
use ringspin_modes::{Cores, Jitter, Mapping, Simulation, TiePolicy};
use ringspin_simulation::models::{Distribution, DurationRule, Durations, LinkRule, Links};
use std::num::NonZeroU64;
use std::time::Duration;

/// Generates a simulation for `spec`, and adds its features.
pub(super) fn draw(spec: &mut Spec, random: &mut RandomSource, seed: u64) -> Simulation {
    let mut simulation = Simulation { seed, ..Simulation::default() };
    let mut features = Vec::new();
    if random.happens(30) {
        simulation.start = Time::from_secs(10);
        features.push("later start");
    }
    if random.happens(60) {
        simulation.links = links(spec, random, &mut features).into();
    }
    if random.happens(60) {
        simulation.durations = durations(spec, random, &mut features).into();
    }
    (simulation.cores, simulation.ties) = cores_and_ties(spec, random, &mut features);
    if random.happens(25) {
        simulation.jitter = Jitter { max: random.micros(1, 2000), seed };
        features.push("jitter");
    }
    spec.features.extend(features);
    simulation
}

fn distribution(
    random: &mut RandomSource,
    max_micros: usize,
    features: &mut Vec<&'static str>,
) -> Distribution {
    let [low, high] = [random.micros(0, max_micros / 2), random.micros(max_micros / 2, max_micros)];
    let (distribution, feature) = match random.below(4) {
        0 => (Ok(Distribution::fixed(low)), "fixed"),
        1 => (Distribution::uniform(low, high), "uniform"),
        2 => (Ok(Distribution::normal(high / 2, low)), "normal"),
        _ => (Distribution::empirical([low, high, low]), "empirical"),
    };
    features.push(feature);
    distribution.expect("low is not above high")
}

fn links(spec: &Spec, random: &mut RandomSource, features: &mut Vec<&'static str>) -> Links {
    let mut links = Links::new();
    for (name, is_topic) in names(spec) {
        if random.happens(40) {
            continue;
        }
        let mut rule =
            LinkRule::new(format!("/{name}")).delay(distribution(random, 4000, features));
        if random.happens(20) {
            rule = rule.reordering(0.3);
            features.push("reordering");
        }
        if random.happens(20) {
            let rate = NonZeroU64::new(10_000 + random.below(100_000) as u64);
            rule = rule.bandwidth(Bandwidth::bytes_per_second(rate.expect("above zero")));
            features.push("bandwidth");
        }
        if is_topic {
            if random.happens(30) {
                rule = rule.loss(0.2);
                features.push("loss");
            }
            if random.happens(30) {
                rule = rule.duplication(0.2);
                features.push("duplication");
            }
        }
        links = links.rule(rule);
    }
    links
}

/// The name of the event loop of a source.
fn loop_name(spec: &Spec, number: usize) -> String {
    let event_loop = &spec.loops[number];
    format!("/node_{}{}", event_loop.node, if event_loop.is_group { ":group" } else { "" })
}

/// The loops that certainly have a callback from the start: only they can have a rule.
fn loops(spec: &Spec) -> Vec<usize> {
    let receivers = spec.channels.iter().filter_map(|channel| match channel {
        Channel::Service { server, .. } => Some(server.in_loop),
        Channel::Guard(receiver) => Some(receiver.in_loop),
        Channel::Topic(topic) => {
            let mut from_start = topic.subscribers.iter().filter(|s| !s.form.is_late());
            from_start.next().map(|s| s.receiver.in_loop)
        }
    });
    spec.sources.iter().map(|source| source.in_loop).chain(receivers).collect()
}

/// The same duration for all loops that certainly have a callback from the start.
pub(super) fn durations_for_all(spec: &Spec, duration: &Distribution) -> Durations {
    let rule = |number| DurationRule::new(loop_name(spec, number)).duration(duration.clone());
    loops(spec).into_iter().map(rule).fold(Durations::new(), Durations::rule)
}

/// The same delay for all topics and services.
pub(super) fn links_for_all(spec: &Spec, delay: &Distribution) -> Links {
    let rule = |name| LinkRule::new(format!("/{name}")).delay(delay.clone());
    names(spec).map(|(name, _)| rule(name)).fold(Links::new(), Links::rule)
}

/// The names of topics and services, with `true` for a topic.
fn names(spec: &Spec) -> impl Iterator<Item = (String, bool)> + '_ {
    spec.channels.iter().enumerate().filter_map(|(number, channel)| match channel {
        Channel::Guard(_) => None,
        Channel::Topic(_) => Some((topic_name(number), true)),
        Channel::Service { .. } => Some((service_name(number), false)),
    })
}

fn durations(
    spec: &Spec,
    random: &mut RandomSource,
    features: &mut Vec<&'static str>,
) -> Durations {
    let mut durations = Durations::new();
    for number in loops(spec) {
        if random.happens(50) {
            continue;
        }
        let name = loop_name(spec, number);
        let mut rule = DurationRule::new(name).duration(distribution(random, 800, features));
        if random.happens(25) {
            rule = rule.scale(1.5);
            features.push("scale");
        }
        if random.happens(25) {
            rule = rule.logical(random.micros(200, 2000));
            features.push("logical execution time");
        }
        features.push("duration");
        durations = durations.rule(rule);
    }
    durations
}

fn cores_and_ties(
    spec: &Spec,
    random: &mut RandomSource,
    features: &mut Vec<&'static str>,
) -> (Cores, TiePolicy) {
    let seed = random.below(1000) as u64;
    let (cores, ties, feature) = match random.below(8) {
        0 => (Cores::Single, TiePolicy::Fifo, "single core"),
        1 => {
            let first = format!("node_{}", spec.loops[0].node);
            let mapping = Mapping::new().core(0, [first]).default_core(1);
            (Cores::Mapped(mapping), TiePolicy::Fifo, "mapped cores")
        }
        2 => (Cores::Unlimited, TiePolicy::Reverse, "reverse"),
        3 => (Cores::Unlimited, TiePolicy::Shuffle { seed }, "shuffle"),
        4 => (Cores::Unlimited, TiePolicy::Pct { seed, depth: 3, steps: 500 }, "pct"),
        _ => (Cores::Unlimited, TiePolicy::Fifo, "fifo"),
    };
    features.push(feature);
    (cores, ties)
}

/// The time at which sources stop, and the time left for messages in sim_network to arrive.
pub(super) const HORIZON: Duration = Duration::from_millis(100);
pub(super) const TAIL: Duration = Duration::from_millis(400);
