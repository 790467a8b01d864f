//! The search finds the optimum: compared with exhaustive search on twins of random graphs.

mod workload;

use ringspin_modes::random::{Purpose, Stream};
use ringspin_optimizer::{
    Assignment, Chain, Evaluation, Found, Model, Objective, Result, Score, SearchOptions, Twin,
    search,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;
use workload::{Part, Trigger, Workload};

/// Random numbers for one graph.
struct Random {
    stream: Stream,
    drawn: u64,
}

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.drawn += 1;
        self.stream.below(self.drawn, Purpose::Tie, limit as u64) as usize
    }
}

/// A random graph with joins and priorities that occupies `busy` cores. A join waits for nodes of
/// one layer. The chains lead to the last two nodes without a receiver.
fn random_graph(nodes: usize, busy: f64, seed: u64) -> Workload {
    let mut random = Random { stream: Stream::new(seed, "exhaustive"), drawn: 0 };
    let sources = nodes / 4;
    let (mut parts, mut layers) = (Vec::new(), Vec::<usize>::new());
    for node in 0..nodes {
        let trigger = if node < sources {
            layers.push(0);
            Trigger::Timer(Duration::from_millis([10, 20][random.below(2)]))
        } else {
            let first = node - 1 - random.below(node.min(4));
            let second = random.below(node);
            let joins = layers[second] == layers[first] && second != first;
            layers.push(layers[first] + 1);
            Trigger::Inputs(if joins { vec![first, second] } else { vec![first] })
        };
        parts.push(Part {
            name: format!("n{node}"),
            trigger,
            duration: Duration::from_micros(200 + random.below(2_000) as u64),
            priority: random.below(3) as u8,
        });
    }
    let hop = [20, 60].map(Duration::from_micros);
    let mut graph = Workload { nodes: parts, chains: Vec::new(), hop };
    let scale = busy / graph.utilization();
    for part in &mut graph.nodes {
        part.duration = part.duration.mul_f64(scale);
    }
    let ends = (sources..nodes)
        .rev()
        .filter(|end| !graph.nodes.iter().any(|of| of.inputs().contains(end)));
    graph.chains = ends.take(2).map(|end| chain_to(&graph, end)).collect();
    graph
}

/// The chain to `end`, with all inputs of its joins as branches. Its deadline leaves half as much
/// time again as its longest path takes alone.
fn chain_to(graph: &Workload, end: usize) -> Chain {
    let (mut steps, mut work) = (vec![vec![end]], Duration::ZERO);
    loop {
        let nodes = &steps[steps.len() - 1];
        work += nodes.iter().map(|&node| graph.nodes[node].duration).max().unwrap_or_default();
        let inputs = nodes.iter().flat_map(|&node| graph.nodes[node].inputs().to_vec());
        let before = BTreeSet::from_iter(inputs);
        if before.is_empty() {
            break;
        }
        steps.push(before.into_iter().collect());
    }
    let name = |&node: &usize| format!("/{}", graph.nodes[node].name);
    let step = |nodes: &Vec<usize>| nodes.iter().map(name).collect::<Vec<_>>().join(" | ");
    Chain::new(format!("to n{end}"), steps.iter().rev().map(step)).with_deadline(work * 3 / 2)
}

/// The number of seeds of the search on each graph. They cost little: all scores are known.
const SEEDS: u64 = 20;

/// Cores, priorities and threads of the loops of a candidate.
type Key = (Vec<usize>, Vec<u8>, Vec<u8>);

/// The evaluations of all candidates. A search on it simulates nothing again.
struct Known<'a> {
    twin: &'a Twin<'a>,
    evaluations: BTreeMap<Key, Evaluation>,
}

impl<'a> Known<'a> {
    /// Evaluates every canonical assignment to `cores` cores, on two threads. `levels` are of
    /// priorities and of threads.
    fn new(twin: &'a Twin<'a>, cores: usize, levels: [u8; 2]) -> Self {
        let all = candidates(twin.loops(), cores, levels);
        let evaluated = |part: &[Assignment]| -> Vec<(Key, Evaluation)> {
            part.iter().map(|of| (key(of), twin.evaluate(of).unwrap())).collect()
        };
        let (left, right) = all.split_at(all.len() / 2);
        let evaluations = std::thread::scope(|scope| {
            let left = scope.spawn(|| evaluated(left));
            let right = evaluated(right);
            left.join().unwrap().into_iter().chain(right).collect()
        });
        Self { twin, evaluations }
    }

    fn optimum(&self) -> Score {
        let evaluations = self.evaluations.values();
        evaluations.map(|of| Objective::default().score(self, of)).min().unwrap()
    }
}

impl Model for Known<'_> {
    fn loops(&self) -> &[String] {
        self.twin.loops()
    }

    fn chains(&self) -> &[Chain] {
        self.twin.chains()
    }

    fn evaluate(&self, assignment: &Assignment) -> Result<Evaluation> {
        Ok(self.evaluations[&key(assignment)].clone())
    }

    fn utilizations(&self) -> Result<Vec<f64>> {
        self.twin.utilizations()
    }
}

fn found(model: &dyn Model, options: &SearchOptions) -> Found {
    search(model, &Objective::default(), options, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn key(of: &Assignment) -> Key {
    (of.cores().to_vec(), of.priorities().to_vec(), of.thread_levels().to_vec())
}

/// Every canonical assignment of these loops.
fn candidates(loops: &[String], cores: usize, levels: [u8; 2]) -> Vec<Assignment> {
    let [priorities, threads] = levels.map(usize::from);
    let choices = (cores * priorities * threads).pow(loops.len() as u32);
    let assignments = (0..choices).map(|choice| {
        let mut rest = choice;
        let mut draw = |limit: usize| {
            let drawn = rest % limit;
            rest /= limit;
            drawn
        };
        let on = loops.iter().map(|_| draw(cores)).collect();
        let priority = loops.iter().map(|_| draw(priorities) as u8).collect();
        let thread = loops.iter().map(|_| draw(threads) as u8).collect();
        let assignment = Assignment::new(loops.to_vec(), on, cores);
        assignment.with_priorities(priority).with_thread_levels(thread).canonical()
    });
    let all: BTreeMap<Key, Assignment> = assignments.map(|of| (key(&of), of)).collect();
    all.into_values().collect()
}

/// The number of random graphs, from `EXHAUSTIVE_GRAPHS`; one takes some seconds.
fn graphs() -> u64 {
    std::env::var("EXHAUSTIVE_GRAPHS").map_or(1, |count| count.parse().unwrap())
}

/// Searches random graphs on three cores exhaustively and with a fifth of the candidates. Returns
/// how often both scores are equal, and how often not. `levels` are of priorities and of threads.
fn compare(nodes: usize, busy: f64, levels: [u8; 2], candidates: usize) -> [usize; 2] {
    let mut counts = [0; 2];
    for graph in 0..graphs() {
        let workload = random_graph(nodes, busy, graph);
        // Periods are 10 and 20 ms: the schedule repeats.
        let twin = workload.twin().unwrap().with_variants(1);
        let twin = twin.with_horizon(Duration::from_millis(30));
        let known = Known::new(&twin, 3, levels);
        assert_eq!(known.evaluations.len(), candidates);
        let optimum = known.optimum();
        for seed in 0..SEEDS {
            let options = SearchOptions {
                seed,
                evaluations: candidates / 5,
                threads: 2,
                priority_levels: levels[0],
                thread_levels: levels[1],
                ..SearchOptions::new(3)
            };
            let found = found(&known, &options);
            let differs = found.score != optimum;
            counts[usize::from(differs)] += 1;
            if differs {
                println!("graph {graph}, seed {seed}: {:?}, optimum {optimum:?}", found.score);
            }
        }
    }
    counts
}

/// Every search of the first graph finds the optimum; of many, 19 in 20 do.
fn assert_equal(name: &str, [equal, missed]: [usize; 2]) {
    println!("{name}: {equal} equal, {missed} missed");
    let missed_max = if graphs() == 1 { 0 } else { (equal + missed) / 20 };
    assert!(missed <= missed_max, "{name}: {missed} missed, {equal} equal");
}

#[test]
fn genetic_placement_equals_exhaustive_placement() {
    assert_equal("placement", compare(9, 2.7, [1, 1], 3281));
}

/// 41 placements of five nodes, each with all combinations of two priorities.
#[test]
fn genetic_placement_and_priorities_equal_exhaustive_ones() {
    assert_equal("placement and priorities", compare(5, 2.4, [2, 1], 41 << 5));
}

/// Five nodes, in all ways on threads of three cores: 31 on one core, 285 on two, 205 on three.
#[test]
fn genetic_placement_and_threads_equal_exhaustive_ones() {
    assert_equal("placement and threads", compare(5, 2.4, [1, 2], 521));
}

/// Six nodes: 63 ways on one core, 1351 on two, 1890 on three.
#[test]
#[ignore = "slow: more nodes"]
fn slow_genetic_placement_and_threads_equal_exhaustive_ones() {
    assert_equal("placement and threads", compare(6, 2.4, [1, 2], 3304));
}

/// A chain of 1.5 ms every 5 ms, and two planners that take 6 of 10 ms: one core is too small for
/// both, so on two cores the chain shares one of them with a planner.
fn chain_beside_planners() -> Workload {
    let part = |name: &str, trigger, duration_us| Part {
        name: name.into(),
        trigger,
        duration: Duration::from_micros(duration_us),
        priority: 0,
    };
    let every = |ms| Trigger::Timer(Duration::from_millis(ms));
    let chain = Chain::new("hot", ["/lidar", "/estimator"]);
    Workload {
        nodes: vec![
            part("lidar", every(5), 500),
            part("estimator", Trigger::Inputs(vec![0]), 1_000),
            part("left", every(10), 6_000),
            part("right", every(10), 6_000),
        ],
        chains: vec![chain.with_deadline(Duration::from_millis(3))],
        hop: [Duration::ZERO, Duration::from_micros(20)],
    }
}

#[test]
fn preemption_is_found_where_only_it_keeps_deadlines_and_messages() {
    let workload = chain_beside_planners();
    let twin = workload.twin().unwrap().with_variants(1);
    let twin = twin.with_horizon(Duration::from_millis(60));
    let options = SearchOptions { thread_levels: 2, priority_levels: 2, ..SearchOptions::new(2) };
    let best = |threads| Known::new(&twin, 2, [2, threads]).optimum();
    // The first terms: missed deadlines, and lost messages or periods.
    let without = best(1);
    assert!(without.terms()[..2] != [0, 0], "{without:?}");
    let optimum = best(2);
    assert!(optimum.terms()[..2] == [0, 0], "{optimum:?}");
    let found = found(&twin, &options);
    assert_eq!(found.score, optimum);
    let [lidar, estimator, left, right] = *found.assignment.thread_levels() else { panic!() };
    assert_eq!((lidar, estimator, left, right), (1, 1, 0, 0));
}
