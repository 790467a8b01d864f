//! A toy twin: loops with fixed durations, run to completion on cores, first-in first-out within a
//! priority. Small, but with as many local optima for a search as the real twin.

use std::collections::BTreeSet;
use std::time::Duration;

use ringspin_executor::Result;

use crate::assignment::Assignment;
use crate::evaluation::{ChainLatency, Evaluation, Model};
use crate::search::random::SplitMix64;
use ringspin_modes::Chain;

/// The trigger of a loop.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// Its timer's period.
    Timer(u64),
    /// The messages of another loop; messages of the second one are processed, but not passed on.
    Messages(usize, Option<usize>),
}

#[derive(Clone, Debug)]
pub(crate) struct Toy {
    pub(crate) names: Vec<String>,
    pub(crate) chains: Vec<Chain>,
    /// The chains by index.
    paths: Vec<Vec<usize>>,
    pub(crate) durations_ns: Vec<u64>,
    pub(crate) inputs: Vec<Input>,
    horizon_ns: u64,
}

/// A pending call of a loop, with its creation time and the timer that started its chain.
#[derive(Clone, Copy)]
struct Work {
    node: usize,
    /// Whether it comes from the loop's first input and is passed on.
    own: bool,
    source: usize,
    since_ns: u64,
}

impl Toy {
    pub(crate) fn new(durations_ns: &[u64], inputs: &[Input], paths: &[&[usize]]) -> Self {
        let name = |index: &usize| format!("/{index}");
        let chain = |path: &&[usize]| {
            let last = path.last().copied().unwrap_or_default();
            Chain::new(format!("to {last}"), path.iter().map(name))
                .with_deadline(Duration::from_millis(40))
        };
        Self {
            names: (0..durations_ns.len()).map(|index| name(&index)).collect(),
            chains: paths.iter().map(chain).collect(),
            paths: paths.iter().map(|path| path.to_vec()).collect(),
            durations_ns: durations_ns.to_vec(),
            inputs: inputs.to_vec(),
            horizon_ns: 200_000_000,
        }
    }

    /// A random graph that keeps `cores` about as busy as `load` says. Its chains are its longest
    /// path and a random one.
    pub(crate) fn random(loops: usize, cores: f64, load: f64, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed, 99);
        let sources = (loops / 4).max(1);
        let inputs: Vec<Input> = (0..loops)
            .map(|node| {
                if node < sources {
                    return Input::Timer([25, 50, 100][random.below(3)] * 1_000_000);
                }
                let other = (random.below(3) == 0).then(|| random.below(node));
                Input::Messages(node - 1 - random.below(node.min(4)), other)
            })
            .collect();
        let raw: Vec<u64> = (0..loops).map(|_| 500_000 + random.below(4_000_000) as u64).collect();
        let mut toy = Self::new(&raw, &inputs, &[]);
        let busy: f64 = (0..loops).map(|node| toy.utilization(node)).sum();
        let scale = load * cores / busy;
        let durations: Vec<u64> = raw.iter().map(|&ns| (ns as f64 * scale) as u64).collect();
        let paths: Vec<Vec<usize>> = (0..loops).map(|end| toy.path_to(end)).collect();
        let longest = paths.iter().max_by_key(|path| path.len()).unwrap();
        let other = &paths[sources + random.below(loops - sources)];
        toy = Self::new(&durations, &inputs, &[longest, other]);
        toy.chains[1].name.push('\'');
        toy
    }

    /// The path from its timer to `end`.
    fn path_to(&self, end: usize) -> Vec<usize> {
        let mut path = vec![end];
        while let Input::Messages(from, _) = self.inputs[path[path.len() - 1]] {
            path.push(from);
        }
        path.reverse();
        path
    }

    fn rate_hz(&self, node: usize) -> f64 {
        let Input::Timer(period_ns) = self.inputs[self.path_to(node)[0]] else { unreachable!() };
        1e9 / period_ns as f64
    }

    /// Busy seconds per second.
    fn utilization(&self, node: usize) -> f64 {
        let other = match self.inputs[node] {
            Input::Messages(_, Some(other)) => self.rate_hz(other),
            _ => 0.0,
        };
        (self.rate_hz(node) + other) * self.durations_ns[node] as f64 * 1e-9
    }

    /// The receivers of `node`'s messages, and whether each gets them as its first input.
    fn receivers(&self, node: usize) -> impl Iterator<Item = (usize, bool)> {
        self.inputs.iter().enumerate().flat_map(move |(receiver, input)| match input {
            Input::Messages(own, other) => {
                let own = (*own == node).then_some((receiver, true));
                let other = (*other == Some(node)).then_some((receiver, false));
                own.into_iter().chain(other)
            }
            Input::Timer(_) => None.into_iter().chain(None),
        })
    }

    /// Runs the graph.
    fn run<'a>(&'a self, assignment: &'a Assignment) -> Cores<'a> {
        let count = assignment.core_count();
        let mut cores = Cores {
            toy: self,
            assignment,
            ready: vec![BTreeSet::new(); count],
            running: vec![None; count],
            works: Vec::new(),
            samples: vec![Vec::new(); self.paths.len()],
            busy_ns: vec![0; count],
            drops: 0,
        };
        let timers = self.inputs.iter().enumerate();
        let mut due: BTreeSet<(u64, usize)> = timers
            .filter(|(_, input)| matches!(input, Input::Timer(_)))
            .map(|(node, _)| (0, node))
            .collect();
        loop {
            let ends = cores.running.iter().flatten().map(|(end, _)| *end).min();
            let next = due.first().map(|(time, _)| *time).into_iter().chain(ends).min();
            let Some(now) = next.filter(|now| *now < self.horizon_ns) else { break };
            let mut arrivals = cores.end(now);
            while let Some(&(time, node)) = due.first().filter(|(time, _)| *time == now) {
                due.remove(&(time, node));
                let Input::Timer(period_ns) = self.inputs[node] else { unreachable!() };
                due.insert((now + period_ns, node));
                arrivals.push(Work { node, own: true, source: node, since_ns: now });
            }
            arrivals.into_iter().for_each(|work| cores.arrive(work));
            cores.begin(now);
        }
        cores
    }
}

/// The state of the cores.
struct Cores<'a> {
    toy: &'a Toy,
    assignment: &'a Assignment,
    /// By core: pending calls, by inverted priority, then by index into `works`.
    ready: Vec<BTreeSet<(u8, usize)>>,
    /// By core: the running call and its end.
    running: Vec<Option<(u64, Work)>>,
    works: Vec<Work>,
    samples: Vec<Vec<u64>>,
    busy_ns: Vec<u64>,
    drops: u64,
}

impl Cores<'_> {
    /// Ends the calls that are over, and returns the ones that they trigger.
    fn end(&mut self, now: u64) -> Vec<Work> {
        let mut arrivals = Vec::new();
        for running in &mut self.running {
            let Some((_, work)) = running.take_if(|(end, _)| *end == now) else { continue };
            if !work.own {
                continue;
            }
            for (path, samples) in self.toy.paths.iter().zip(&mut self.samples) {
                if path.last() == Some(&work.node) && path[0] == work.source {
                    samples.push(now - work.since_ns);
                }
            }
            let receivers = self.toy.receivers(work.node);
            arrivals.extend(receivers.map(|(node, own)| Work { node, own, ..work }));
        }
        arrivals
    }

    /// Adds a call; displaces a waiting one of the same kind, as keep-last does.
    fn arrive(&mut self, work: Work) {
        let ready = &mut self.ready[self.assignment.cores()[work.node]];
        let same = |(_, order): &&(u8, usize)| {
            let waiting = self.works[*order];
            waiting.node == work.node && waiting.own == work.own
        };
        if let Some(&(_, order)) = ready.iter().find(same) {
            self.drops += 1;
            self.works[order] = work;
        } else {
            let priority = u8::MAX - self.assignment.priorities()[work.node];
            ready.insert((priority, self.works.len()));
            self.works.push(work);
        }
    }

    /// Starts the next call on every idle core.
    fn begin(&mut self, now: u64) {
        for (core, running) in self.running.iter_mut().enumerate() {
            if running.is_some() {
                continue;
            }
            if let Some((_, order)) = self.ready[core].pop_first() {
                let duration_ns = self.toy.durations_ns[self.works[order].node];
                self.busy_ns[core] += duration_ns;
                *running = Some((now + duration_ns, self.works[order]));
            }
        }
    }
}

impl Model for Toy {
    fn loops(&self) -> &[String] {
        &self.names
    }

    fn chains(&self) -> &[Chain] {
        &self.chains
    }

    fn evaluate(&self, assignment: &Assignment) -> Result<Evaluation> {
        let Cores { samples, drops, busy_ns, .. } = self.run(assignment);
        let chains = samples.into_iter().zip(&self.chains);
        let chains = chains
            .map(|(samples, chain)| ChainLatency::of(samples.clone(), samples, chain.deadline, 0));
        Ok(Evaluation {
            jitter_ns: Vec::new(),
            chains: chains.collect(),
            drops,
            core_loads: busy_ns.iter().map(|ns| *ns as f64 / self.horizon_ns as f64).collect(),
            cores_used: assignment.cores_used(),
        })
    }
}

#[test]
fn alone_on_a_core_a_chain_takes_the_sum_of_its_durations() {
    let inputs = [Input::Timer(10_000_000), Input::Messages(0, None), Input::Messages(1, None)];
    let toy = Toy::new(&[1_000_000, 2_000_000, 3_000_000], &inputs, &[&[0, 1, 2]]);
    for cores in [vec![0, 0, 0], vec![0, 1, 2]] {
        let assignment = Assignment::new(toy.names.clone(), cores, 3);
        let evaluation = toy.evaluate(&assignment).unwrap();
        let latency = evaluation.chains[0];
        assert_eq!(
            (latency.release_to_end.mean_ns, latency.release_to_end.max_ns, latency.misses),
            (6_000_000, 6_000_000, 0)
        );
        assert_eq!((latency.samples, evaluation.drops), (20, 0));
        assert!((evaluation.core_loads.iter().sum::<f64>() - 0.6).abs() < 0.04);
    }
}

#[test]
fn an_overloaded_core_drops() {
    let inputs = [Input::Timer(10_000_000), Input::Messages(0, None)];
    let toy = Toy::new(&[7_000_000, 7_000_000], &inputs, &[&[0, 1]]);
    let drops = |cores: &[usize]| {
        let assignment = Assignment::new(toy.names.clone(), cores.to_vec(), 2);
        toy.evaluate(&assignment).unwrap().drops
    };
    assert_eq!(drops(&[0, 1]), 0);
    assert!(drops(&[0, 0]) > 2);
}
