//! Random graphs: the digest does not depend on how they are run, and every loss is counted.

use ringspin_executor::{BoxError, Time};
use ringspin_modes::random::{Purpose, Stream};
use ringspin_modes::{
    Candidate, Cores, Jitter, RunDigest, Schedule, Simulation, TieBreaker, TiePolicy,
};
use ringspin_random_graph_tests::{Handles, RandomGraph};
use ringspin_simulation::models::{Distribution, Durations, Links};
use ringspin_simulation::{Exploration, Job, Order, Report, Session};
use std::collections::BTreeSet;
use std::time::Duration;

/// The number of seeds; the variable `RANDOM_GRAPHS` sets another number.
const SEEDS: u64 = 28;

fn seeds() -> u64 {
    std::env::var("RANDOM_GRAPHS").map_or(SEEDS, |count| count.parse().unwrap())
}

/// The digests of the first seeds, equal on every machine, in debug and release builds.
const PINNED: [&str; 16] = [
    "72c37158b57cbdbacc86313bfde529f7",
    "7a596fa0b940361fed6dc559afe101c5",
    "ad0796dd57837ef7d5f20b45f9857774",
    "bfa0a58f5cfab6a1dc2b935ee0bb034b",
    "d40f931deeedd41c717229fe57e0051b",
    "9c2e70e7c83441a1d764d26fe5012dae",
    "f251f66c48ecde0ddf44c23f571755c8",
    "9953d9ca04a86ede235fb40b7f11a3bc",
    "c983e034e5d61c9c696444b729252d92",
    "e6ca160ac1c3138fe3fe1bb06dfbefc2",
    "4db3a2b68df8e1bcac0459e870287612",
    "1fd456b883f0cdbb5b43c0d20d39b415",
    "2e7128d95e8fe146a69b157f636dc9b0",
    "d9276730f0a08e58e6df98715555d0d5",
    "14933b80d9cb9dec01372a21c5a4bcdd",
    "1bd19ba90baa939c2975dee7105481bc",
];

/// The seeds from here on are of graphs that change while they run.
const CHANGING: u64 = 1_000_000;

/// The digests of the first graphs that change while they run, likewise.
const PINNED_CHANGING: [&str; 16] = [
    "242b004cbdc442733aff42ba8f565257",
    "b1e42152298c39395df407ac70e6483f",
    "dd8541855068f92d754baa49efc64781",
    "517008df8e92abc8507dea77de081577",
    "ca3ca206e2b6701c8718651474d5c419",
    "66972e2a4f0ad3d96efbf53502b5ab6e",
    "242f3ea846d07c04f7ced3aba33e4b7f",
    "aed6a32ea961ddbd630f127f3de9ebcf",
    "ae4e99a6b09bbb30c853f839bdda35f3",
    "f824870dffe8fec61c1cd21a9eea4a9b",
    "1790dcf44858edeea9917ad9ba941505",
    "7d9e44463f4d99f8d5765b4942090a54",
    "3cc624c9c40585314b3dd6866afd133d",
    "3759384c34245a5303bc04ffe31b2514",
    "de71eb9e2a00d23a70ac19c5ffc20ed0",
    "84a8a3552a4b8d802c66793be41cf126",
];

fn graph(seed: u64) -> RandomGraph {
    match seed.checked_sub(CHANGING) {
        None => RandomGraph::new(seed),
        Some(seed) => RandomGraph::changing(seed),
    }
}

/// Every third graph, for properties that need several runs of each.
fn some_graphs() -> impl Iterator<Item = (u64, RandomGraph)> {
    graphs().step_by(3)
}

/// Graphs of both kinds; fewer of those that change, because their runs take longer.
fn graphs() -> impl Iterator<Item = (u64, RandomGraph)> {
    (0..seeds()).chain(CHANGING..CHANGING + seeds() / 4).map(|seed| (seed, graph(seed)))
}

fn run(job: &Job<'_, Handles>) -> Report {
    job.run().unwrap_or_else(|error| panic!("{error}"))
}

/// The job with a changed simulation.
fn simulated<'a>(graph: &'a RandomGraph, change: impl FnOnce(&mut Simulation)) -> Job<'a, Handles> {
    graph.job().simulate(change)
}

#[test]
fn digests_match_on_every_machine_and_build_profile() {
    let digest = |seed| run(&graph(seed).job()).digest().to_string();
    let digests: Vec<String> = (0..PINNED.len() as u64).map(digest).collect();
    assert_eq!(digests, PINNED);
    let changing = CHANGING..CHANGING + PINNED_CHANGING.len() as u64;
    assert_eq!(changing.map(digest).collect::<Vec<_>>(), PINNED_CHANGING);
}

#[test]
fn repeated_runs_dispatch_the_same_events() {
    for (seed, graph) in graphs() {
        graph.job().verify(2).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

#[test]
fn runs_do_not_disturb_each_other() {
    let digests = || some_graphs().map(|(_, graph)| run(&graph.job()).digest()).collect::<Vec<_>>();
    let threads: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(digests)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(threads[0], threads[1]);
    assert_eq!(threads[0], threads[2]);
    assert_eq!(threads[0].iter().map(|d| d.0).collect::<BTreeSet<_>>().len(), threads[0].len());
}

#[test]
fn every_feature_occurs_and_every_counter_counts() {
    let mut features = BTreeSet::new();
    let (mut lost, mut overwritten, mut expired, mut missed, mut unmatched) = (0, 0, 0, 0, 0);
    let (mut coalesced, mut irregular, mut failures, mut overruns, mut refused) = (0, 0, 0, 0, 0);
    let (mut of_removed, mut discarded) = (0, 0);
    // Stamps that go back are rare: the last graph has one.
    for (seed, graph) in graphs().chain([(66, RandomGraph::new(66))]) {
        features.extend(graph.features().iter().copied());
        let report = run(&graph.job());
        assert!(report.dispatches() > 20, "seed {seed} does nothing: {}", report.dispatches());
        let statistics = report.statistics();
        lost += statistics.lost();
        overwritten += statistics.overwritten();
        expired += statistics.expired();
        unmatched += statistics.unmatched();
        of_removed += statistics.removed.dispatched;
        discarded += statistics.removed.discarded;
        for callback in &statistics.callbacks {
            missed += callback.missed;
            coalesced += callback.coalesced;
            irregular += callback.irregular;
        }
        refused += statistics.refused.iter().map(|(_, count)| count).sum::<u64>();
        failures += report.failures().len();
        overruns += report.overruns().len();
    }
    let counters = [lost, overwritten, expired, missed, unmatched, coalesced, irregular, refused];
    assert!(counters.iter().all(|&count| count > 0), "{counters:?}");
    assert!(of_removed > 0 && discarded > 0, "{of_removed} and {discarded} of removed callbacks");
    assert!(failures > 0 && overruns > 0, "{failures} failures, {overruns} overruns");
    assert_eq!(features.len(), FEATURES, "{features:?}");
}

/// The number of features.
const FEATURES: usize = 48;

/// Runs a session in slices chosen by a seed.
fn in_slices(session: &mut Session<Handles>, end: Time, seed: u64) -> Result<RunDigest, BoxError> {
    let stream = Stream::new(seed, "slices");
    let draw = |n, limit| stream.below(n, Purpose::Tie, limit);
    for n in 0.. {
        if session.now() >= end && session.settle()? == 0 {
            break;
        }
        let micros = Duration::from_micros(draw(3 * n, 5000));
        match draw(3 * n + 1, 7) {
            0 => session.run_for(micros)?,
            1 => session.run_until(session.now())?,
            2 => drop(session.settle()?),
            3 => drop(session.executor().spin_once(micros)?),
            4 => drop(session.executor().spin_some()?),
            5 => {
                for _ in 0..draw(3 * n + 2, 20) {
                    session.step()?;
                }
            }
            _ => {
                // A stopped session continues where it was.
                session.executor().stop_handle().stop();
                session.run_for(micros)?;
                session.executor().stop_handle().reset();
            }
        }
    }
    Ok(session.report().digest())
}

#[test]
fn a_run_in_slices_equals_an_uninterrupted_run() {
    for (seed, graph) in some_graphs() {
        let whole = run(&graph.job());
        for slices in 0..3 {
            let mut session = graph.job().start().unwrap();
            let digest = in_slices(&mut session, graph.end(), 100 * seed + slices).unwrap();
            assert_eq!(session.report().dispatches(), whole.dispatches(), "seed {seed}/{slices}");
            assert_eq!(digest, whole.digest(), "seed {seed}, slices {slices}");
        }
    }
}

/// Chooses the first candidate, which is the documented order.
struct First;

impl TieBreaker for First {
    fn choose(&mut self, _: Time, candidates: &[Candidate]) -> usize {
        assert!(candidates.len() > 1);
        0
    }
}

#[test]
fn choosing_the_first_candidate_gives_the_documented_order() {
    for (seed, graph) in some_graphs() {
        let unlimited = |simulation: &mut Simulation| {
            simulation.cores = Cores::Unlimited;
            simulation.ties = TiePolicy::Fifo;
        };
        let without = |simulation: &mut Simulation| {
            unlimited(simulation);
            simulation.durations = Durations::new().into();
        };
        let fifo = run(&simulated(&graph, without)).digest();
        let job = simulated(&graph, without).with_tie_breaker(|| First);
        assert_eq!(run(&job).digest(), fifo, "seed {seed}");
        let empty = |simulation: &mut Simulation| {
            without(simulation);
            simulation.jitter = Jitter::default();
        };
        let scripted = simulated(&graph, |simulation| {
            empty(simulation);
            simulation.ties = TiePolicy::Scripted(Schedule::default());
        });
        let digest = run(&simulated(&graph, empty)).digest();
        assert_eq!(run(&scripted).digest(), digest, "seed {seed}, scripted");
        let fifo = run(&simulated(&graph, unlimited)).digest();
        let job = simulated(&graph, unlimited).with_tie_breaker(|| First);
        assert_eq!(run(&job).digest(), fifo, "seed {seed}, with durations");
    }
}

#[test]
fn zero_delays_and_durations_change_nothing() {
    for (seed, graph) in some_graphs() {
        let plain = |simulation: &mut Simulation| {
            simulation.links = Links::new().into();
            simulation.durations = Durations::new().into();
            simulation.cores = Cores::Unlimited;
        };
        let bare = run(&simulated(&graph, plain)).digest();
        let zero = simulated(&graph, |simulation| {
            plain(simulation);
            let none = Distribution::fixed(Duration::ZERO);
            simulation.durations = graph.rules_for_all(&none).into();
            simulation.links = graph.links_for_all(&none).into();
        });
        assert_eq!(run(&zero).digest(), bare, "seed {seed}");
    }
}

#[test]
fn a_schedule_replays_its_run() {
    for (seed, graph) in some_graphs() {
        let shuffled = run(&simulated(&graph, |simulation| {
            simulation.cores = Cores::Unlimited;
            simulation.ties = TiePolicy::Shuffle { seed };
            simulation.jitter = Jitter { max: Duration::from_micros(500), seed };
        }));
        let schedule: Schedule = shuffled.schedule().to_string().parse().unwrap();
        assert_eq!(&schedule, shuffled.schedule());
        let again = run(&simulated(&graph, |simulation| {
            simulation.cores = Cores::Unlimited;
            simulation.ties = TiePolicy::Scripted(schedule);
        }));
        assert_eq!(again.digest(), shuffled.digest(), "seed {seed}");
    }
}

#[test]
fn exploration_is_independent_of_the_number_of_threads() {
    for (seed, graph) in graphs().take(3) {
        let job = simulated(&graph, |simulation| simulation.cores = Cores::Unlimited);
        let job = job.check(|session| {
            let report = session.report();
            match report.digest().0 % 5 {
                0 if !report.schedule().is_empty() => Err("one in five".into()),
                _ => Ok(()),
            }
        });
        let explore = |threads, order| {
            let jitter = Some(Duration::from_micros(100));
            let shrink_runs_max = 10;
            let exploration = Exploration {
                seeds: 0..12,
                order,
                jitter,
                threads,
                shrink_runs_max,
                ..Exploration::default()
            };
            format!("{:?}", job.explore(&exploration))
        };
        for order in [Order::Mixed, Order::Shuffle, Order::Pct { depth: 2 }] {
            assert_eq!(explore(1, order), explore(2, order), "seed {seed}");
        }
    }
}

#[test]
fn every_message_is_received_or_counted() {
    let mut topics = 0;
    for (seed, graph) in graphs().filter(|(seed, _)| *seed < CHANGING) {
        let mut session = graph.job().start().unwrap();
        session.run_until(graph.end()).unwrap();
        let published = session.handles.published.counts();
        let report = session.report();
        for topic in graph.countable_topics() {
            let name = format!("/topic_{topic}");
            let info = report.graph().topics.iter().find(|info| info.name == name).unwrap();
            let places = report.graph().callbacks.keys().zip(&report.statistics().callbacks);
            let of_topic = places.filter(|(id, _)| info.subscriptions.contains(id));
            for (_, callback) in of_topic {
                let seen =
                    callback.dispatched + callback.overwritten + callback.lost + callback.expired;
                assert_eq!(seen, published[topic], "seed {seed}, {callback:?}");
                topics += 1;
            }
        }
    }
    assert!(topics > 50, "{topics}");
}
