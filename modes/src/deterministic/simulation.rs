//! Settings of a simulation as plain data: they can be written in TOML, compared, and hashed.

use super::contention::Contention;
use super::models::{AnyModel, ResolvedDurations, ResolvedLinks};
use super::ties::TiePolicy;
use super::traffic::{PerturbationSource, Perturbations, Traffic};
use super::virtual_cores::VirtualThread;
use crate::mapping::{CorePlan, LoopName, Mapping, Placement, loop_names};
use crate::schedule::Schedule;
use ringspin_executor::{
    BoxError, Error, ErrorKind, GraphInfo, LatePlace, LatePlacement, Result, Scope, SimNetwork,
    Time,
};
use std::sync::Arc;
use std::time::Duration;

/// Settings of a simulation: time, ties, delays, durations.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// Simulated time when the run starts. Timers are anchored at time zero: those that are overdue
    /// at the start fire once, in the order of their deadlines.
    pub start: Time,
    /// The last instant of the run, also if a spin would last longer.
    pub end: Option<Time>,
    /// The seed of everything random: delays, durations, jitter, and what nodes draw.
    pub seed: u64,
    /// In which order the events of an instant are dispatched.
    pub ties: TiePolicy,
    /// Random delay of messages, added to the delay of their links.
    pub jitter: Jitter,
    /// How messages travel; by default they arrive as they are published.
    pub links: AnyModel<dyn ResolvedLinks>,
    /// How long callbacks take; by default no time.
    pub durations: AnyModel<dyn ResolvedDurations>,
    /// The virtual cores that callbacks occupy.
    pub cores: Cores,
    /// How much the cores of a mapping slow each other down; by default not at all.
    pub contention: Contention,
    /// Maximum number of dispatches at one instant; more are an error, a cycle without delay.
    pub instant_dispatches_max: u64,
    /// For how long timers may fire with no message or request being handled.
    pub no_progress_max: Option<Duration>,
}

/// Random delays of all messages on topics. A message overtakes no other of its edge by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitter {
    /// Each message arrives up to this much later.
    pub max: Duration,
    /// Another seed is another jitter.
    pub seed: u64,
}

/// The virtual cores of a simulation. They matter if callbacks take time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cores {
    /// One core for each event loop: no loop waits for another one.
    #[default]
    Unlimited,
    /// One core for all loops, which takes turns as the single-core mode does.
    Single,
    /// The cores of a mapping, each with its priorities and turns as in the multi-core mode. Of
    /// several threads of one core, the one of higher priority preempts the others.
    Mapped(Mapping),
}

impl Default for Simulation {
    /// From time zero, in the contract's order, without delays and durations, and with a million
    /// dispatches in one instant.
    fn default() -> Self {
        Self {
            start: Time::ZERO,
            end: None,
            seed: 0,
            ties: TiePolicy::default(),
            jitter: Jitter::default(),
            links: AnyModel::default(),
            durations: AnyModel::default(),
            cores: Cores::default(),
            contention: Contention::default(),
            instant_dispatches_max: 1_000_000,
            no_progress_max: None,
        }
    }
}

impl Simulation {
    /// The seed of everything random: that of a schedule that is followed, if it has one.
    pub fn effective_seed(&self) -> u64 {
        match &self.ties {
            TiePolicy::Scripted(Schedule { seed: Some(seed), .. }) => *seed,
            _ => self.seed,
        }
    }
}

/// The threads of the virtual cores, and where later loops go.
pub(super) type VirtualThreads = (Vec<VirtualThread>, Arc<Placement>);

/// A simulation that was compared with its graph.
pub(crate) struct Setting {
    pub(super) simulation: Simulation,
    pub(crate) sim_network: Arc<SimNetwork>,
    pub(super) durations: Option<Box<dyn ResolvedDurations>>,
    /// The threads of the virtual cores and their loops, unless each loop has a core.
    pub(super) cores: Option<VirtualThreads>,
    pub(super) perturbations: Perturbations,
    /// Maximum number of deviations of each kind that are kept.
    pub(super) deviations_max: usize,
}

impl Setting {
    /// The state of `simulation` for a graph; with `causes` the trace knows the sender of each
    /// event, and `deviations_max` deviations of each kind are kept.
    pub(crate) fn new(
        simulation: &Simulation,
        info: &GraphInfo,
        causes: bool,
        deviations_max: usize,
    ) -> Result<Self> {
        let refused = |error: BoxError| {
            Error::new(ErrorKind::InvalidArgument, error.to_string()).caused_by(error)
        };
        // Which entries of a schedule were applied is told by all of them.
        let is_scripted = matches!(simulation.ties, TiePolicy::Scripted(_));
        let keeps_links = deviations_max == usize::MAX;
        let deviations_max = if is_scripted { usize::MAX } else { deviations_max };
        let seed = simulation.effective_seed();
        let links = simulation.links.as_ref().map(|model| model.resolve(info, seed));
        let links = links.transpose().map_err(refused)?;
        let durations = simulation.durations.as_ref().map(|model| model.resolve(info, seed));
        let durations = durations.transpose().map_err(refused)?;
        let causes = causes || durations.as_ref().is_some_and(|table| table.depends_on_sending());
        let cores = virtual_cores(&simulation.cores, info)?;
        if let Simulation { start, end: Some(end), .. } = simulation
            && end < start
        {
            let text = format!("it ends at {end}, before it starts at {start}: choose a later end");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let perturbations = Perturbations::new(deviations_max, keeps_links);
        let jitter = match &simulation.ties {
            TiePolicy::Scripted(schedule) => PerturbationSource::scripted(schedule),
            _ => PerturbationSource::new(simulation.jitter),
        };
        let scope = Scope { departures: durations.is_some(), causes };
        let traffic = Box::new(Traffic::new(links, jitter, perturbations.clone(), info));
        let sim_network = Arc::new(SimNetwork::new(simulation.start, traffic, scope));
        let simulation = simulation.clone();
        Ok(Self { simulation, sim_network, durations, cores, perturbations, deviations_max })
    }
}

impl Setting {
    /// Where loops go that are created while the graph runs; all of them have one worker.
    pub(crate) fn late(&self) -> LatePlacement {
        let placement = self.cores.as_ref().map(|(_, placement)| placement.clone());
        Arc::new(move |node, group, of_node| match &placement {
            None => Some(LatePlace::default()),
            Some(placement) => {
                let place = placement.place(LoopName { node, group }, of_node)?;
                Some(LatePlace { worker: 0, ..place })
            }
        })
    }
}

/// The threads of the virtual cores, with their loops in topological order, as live workers have
/// them.
fn virtual_cores(cores: &Cores, info: &GraphInfo) -> Result<Option<VirtualThreads>> {
    let order = info.topological_order();
    let mapping = match cores {
        Cores::Unlimited => return Ok(None),
        Cores::Single => {
            let threads = vec![VirtualThread { core: 0, loops: order }];
            let placement = Placement::shared(&Mapping::new(), &[], &[], vec![0]);
            return Ok(Some((threads, Arc::new(placement))));
        }
        Cores::Mapped(mapping) => mapping,
    };
    let names = loop_names(info);
    let plan = mapping.resolve(&names, &mapping.virtual_cores())?;
    let thread = |of: &CorePlan| VirtualThread { core: of.core, loops: of.in_order(&order) };
    let placement = Arc::new(Placement::new(mapping, &plan));
    Ok(Some((plan.iter().map(thread).collect(), placement)))
}
