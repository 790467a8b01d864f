//! The workload of PiCAS, with the mapping that its authors publish.
//!
//! H. Choi, Y. Xiang, H. Kim: *PiCAS: New Design of Priority-Driven Chain-Aware Scheduling for
//! ROS2*, RTAS 2021. The nodes, execution times, periods, cores and priorities are those of the
//! example program in the authors' repository `rtenlab/ros2-picas`. The program states no
//! deadlines: here, the deadline of a chain is its period.
//!
//! PiCAS gives each of its 18 executors a thread with a SCHED_FIFO priority, and a chain of higher
//! priority preempts the others on its core. A core of ringspin has one thread, so its published
//! mapping is evaluated here with its cores and the order of its priorities, but without
//! preemption.

use crate::workload::{Part, Trigger, Workload};
use ringspin_optimizer::{Assignment, Chain};
use std::time::Duration;

/// A chain: its period, and for each callback the execution time and the core that PiCAS assigns.
/// The first callback is a timer, unless the chain branches off.
struct Callbacks {
    period_ms: u64,
    /// Whether the chain starts with the timer of the chain before it.
    branches_off: bool,
    callbacks: &'static [(u64, usize)],
}

const fn chain(period_ms: u64, callbacks: &'static [(u64, usize)]) -> Callbacks {
    Callbacks { period_ms, branches_off: false, callbacks }
}

/// In the order of their priority, the most important one first. Execution times in ms.
const CHAINS: [Callbacks; 12] = [
    chain(80, &[(2, 0), (16, 0)]),
    Callbacks { period_ms: 80, branches_off: true, callbacks: &[(2, 1), (18, 1), (9, 1)] },
    chain(100, &[(23, 2), (8, 2), (14, 2), (18, 2)]),
    chain(100, &[(21, 3), (18, 3), (7, 3)]),
    chain(160, &[(2, 0), (11, 0), (7, 0), (8, 0)]),
    chain(1000, &[(2, 3), (196, 3)]),
    chain(120, &[(33, 2), (2, 1)]),
    chain(120, &[(33, 1), (7, 3)]),
    chain(120, &[(33, 0), (7, 2)]),
    chain(120, &[(33, 3), (2, 0)]),
    chain(120, &[(33, 0), (2, 1)]),
    chain(120, &[(33, 1), (2, 2)]),
];

/// The cores of the published mapping.
pub(crate) const CORES: usize = 4;

/// The priority of a callback: within a chain, later ones are more urgent. The timer that two
/// chains share has the lowest priority of both.
fn priorities() -> Vec<u8> {
    let count: usize = CHAINS.iter().map(|chain| chain.callbacks.len()).sum();
    let mut priorities = Vec::new();
    let mut below = count as u8;
    for chain in &CHAINS {
        below -= chain.callbacks.len() as u8;
        priorities.extend((1..=chain.callbacks.len() as u8).map(|step| below + step));
    }
    // The program gives the shared timer 26, its other successor 30, and the second chain 27 to 29.
    priorities[0] = priorities[2] - 1;
    priorities
}

/// The workload.
pub(crate) fn workload() -> Workload {
    let (mut nodes, mut chains) = (Vec::<Part>::new(), Vec::new());
    let mut timer = 0;
    for (n, of) in CHAINS.iter().enumerate() {
        let period = Duration::from_millis(of.period_ms);
        let mut path = if of.branches_off { vec![timer] } else { vec![] };
        for &(duration_ms, _) in of.callbacks {
            let trigger = match path.last() {
                Some(&before) => Trigger::Inputs(vec![before]),
                None => Trigger::Timer(period),
            };
            if path.is_empty() {
                timer = nodes.len();
            }
            path.push(nodes.len());
            nodes.push(Part {
                name: format!("task{}", nodes.len() + 1),
                trigger,
                duration: Duration::from_millis(duration_ms),
                priority: 0,
            });
        }
        let names = path.iter().map(|&node| format!("/{}", nodes[node].name));
        chains.push(Chain::new(format!("chain {}", n + 1), names).with_deadline(period));
    }
    Workload { nodes, chains, hop: [Duration::ZERO; 2] }
}

/// The published mapping: the cores, and with `prioritized` the priorities.
pub(crate) fn published(loops: &[String], prioritized: bool) -> Assignment {
    let cores = CHAINS.iter().flat_map(|chain| chain.callbacks).map(|&(_, core)| core).collect();
    let assignment = Assignment::new(loops.to_vec(), cores, CORES);
    if prioritized { assignment.with_priorities(priorities()) } else { assignment }
}
