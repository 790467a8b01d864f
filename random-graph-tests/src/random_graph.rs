//! Random graphs, each generated from one seed: test that the deterministic mode gives the same
//! digest for every kind of graph.
//!
//! A graph has 1 to 20 nodes with callback groups, timers of equal and different rates, topics with
//! small queues that overflow, services with timeouts, synchronizers, tasks, guard conditions,
//! parameters, late subscriptions, nodes that fail, and an input. The simulation has links,
//! durations, cores, jitter and tie policies. Callbacks compute with integers and floating point,
//! and their results are part of the digest.
//!
//! | module | content |
//! |---|---|
//! | `random_source` | the source of random choices |
//! | `spec` | the parts of a graph |
//! | `simulation` | its simulation |
//! | `parts` | the parts that callbacks create and destroy |
//! | `nodes`, `callbacks`, `external` | the nodes, their computations, and the external inputs |

mod callbacks;
mod external;
mod nodes;
mod parts;
mod random_source;
mod simulation;
mod spec;

pub use callbacks::{Sample, State};

use random_source::RandomSource;
use ringspin_executor::{BoxError, Graph, Time};
use ringspin_modes::Simulation;
use ringspin_simulation::Job;
use ringspin_simulation::models::{Distribution, Durations, LinkRule, Links};
use simulation::{HORIZON, TAIL};
use spec::{Channel, Kind, Receiver, Spec, SubscriberForm};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A graph with its simulation, generated from one seed.
#[derive(Debug)]
pub struct RandomGraph {
    spec: Arc<Spec>,
    simulation: Simulation,
}

/// The handles to inspect a random graph after a run.
#[derive(Clone, Debug)]
pub struct Handles {
    /// The number of messages published on each topic.
    pub published: Published,
}

/// Counts published messages.
#[derive(Clone, Debug)]
pub struct Published(Arc<Mutex<Vec<u64>>>);

impl Published {
    fn count(&self, channel: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[channel] += 1;
    }

    /// The number of messages that each topic accepted, by the number in its name.
    #[must_use]
    pub fn counts(&self) -> Vec<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Handles {
    fn new(channels: usize) -> Self {
        Self { published: Published(Arc::new(Mutex::new(vec![0; channels]))) }
    }
}

impl RandomGraph {
    /// Generates the graph of `seed`, identical on every machine.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::draw(seed, |_, _| ())
    }

    /// Generates the graph of `seed` with callbacks that create and destroy further nodes, callback
    /// groups, subscriptions, publishers, timers, tasks, services and clients.
    #[must_use]
    pub fn changing(seed: u64) -> Self {
        Self::draw(seed, parts::draw)
    }

    fn draw(seed: u64, extend: impl FnOnce(&mut Spec, &mut RandomSource)) -> Self {
        let mut random = RandomSource::new(seed);
        let mut spec = Spec::draw(&mut random, HORIZON);
        let simulation = simulation::draw(&mut spec, &mut random, seed);
        extend(&mut spec, &mut random);
        Self { spec: Arc::new(spec), simulation }
    }

    /// The names of its features.
    #[must_use]
    pub fn features(&self) -> &BTreeSet<&'static str> {
        &self.spec.features
    }

    /// Its simulation.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The time at which its sources stop.
    #[must_use]
    pub fn horizon(&self) -> Time {
        self.simulation.start + HORIZON
    }

    /// The end of its run.
    #[must_use]
    pub fn end(&self) -> Time {
        self.horizon() + TAIL
    }

    /// Declares its nodes.
    ///
    /// # Errors
    /// An error only if `graph` already has nodes of the same names, or its executor was dropped.
    pub fn build(&self, graph: &Graph) -> Result<Handles, BoxError> {
        nodes::build(&self.spec, graph, Some(self.simulation.start), self.horizon())
    }

    /// Declares its nodes for a live run, without what only a simulation has: its input and its
    /// interceptors. The sources do not stop.
    ///
    /// # Errors
    /// The errors of [`build`](Self::build).
    pub fn build_live(&self, graph: &Graph) -> Result<Handles, BoxError> {
        nodes::build(&self.spec, graph, None, Time::MAX)
    }

    /// A job that runs it.
    #[must_use]
    pub fn job(&self) -> Job<'_, Handles> {
        let job = Job::new(|graph| self.build(graph));
        job.with_simulation(self.simulation.clone()).end_at(self.end())
    }

    /// Links for all topics and services, with this delay.
    #[must_use]
    pub fn links_for_all(&self, delay: &Distribution) -> Links {
        simulation::links_for_all(&self.spec, delay)
    }

    /// Durations for all nodes that certainly have a callback from the start.
    #[must_use]
    pub fn rules_for_all(&self, duration: &Distribution) -> Durations {
        simulation::durations_for_all(&self.spec, duration)
    }

    /// The topics, by the number in their names, on which each subscription receives or counts each
    /// message: their nodes are not isolated, and no message is duplicated or kept for late
    /// joiners.
    #[must_use]
    pub fn countable_topics(&self) -> Vec<usize> {
        self.spec.topics().filter(|topic| self.is_countable(*topic)).collect()
    }

    fn is_countable(&self, topic: usize) -> bool {
        let Channel::Topic(spec) = &self.spec.channels[topic] else { return false };
        let fails = |receiver: &Receiver| {
            let node = self.spec.loops[receiver.in_loop].node;
            self.spec.loops.iter().any(|l| l.node == node && l.kind != Kind::NeverFails)
        };
        let joins = self.spec.joins.iter().filter(|join| join.topics.contains(&topic));
        let name = format!("/{}", nodes::topic_name(topic));
        let doubled = |rule: &LinkRule| rule.topic == name && rule.duplication > 0.0;
        !spec.subscribers.iter().any(|s| fails(&s.receiver) || s.form != SubscriberForm::Plain)
            && !joins.map(|join| &join.receiver).any(fails)
            && !self
                .simulation
                .links
                .as_deref()
                .and_then(|model| model.downcast())
                .is_some_and(|links: &Links| links.rules.iter().any(doubled))
    }
}
