//! The order of the turns: turn 1 of every variant, then turn 2. So a machine that becomes slower
//! for a while slows all variants alike. Results of an earlier run are continued where they end.

use crate::System;
use crate::process::{CpuMeter, OthersMeter, resident_bytes};
use ringspin_executor::BoxError;
use ringspin_modes::Executor;
use ringspin_report::results::{Cell, Results, Turn};
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A variant to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The load, for a workload that has one.
    pub n: Option<u64>,
    /// The approximate real time of a turn.
    pub cost: Duration,
}

/// A turn that is about to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// The number of turns so far, over all variants; those of an earlier run are not counted.
    pub index: usize,
    /// The number of turns to be measured in this run, over all variants.
    pub total: usize,
    /// The turn, starting at 1.
    pub turn: usize,
    /// The variant's index.
    pub variant: usize,
    /// The variant's name.
    pub name: &'a str,
    /// The load.
    pub n: Option<u64>,
    /// The approximate real time of this and all later turns.
    pub remaining: Duration,
}

/// The meters of the process and the machine during one turn.
pub struct Meters {
    system: System,
    cpu: CpuMeter,
    others: Option<OthersMeter>,
    energy_j: Option<f64>,
    start: Instant,
}

impl Meters {
    /// Starts them.
    ///
    /// # Errors
    /// The error of the operating system if it does not provide the CPU time.
    pub fn start() -> io::Result<Self> {
        let (system, others) = (System::default(), OthersMeter::start());
        let (energy_j, cpu) = (system.energy_j(), CpuMeter::start()?);
        Ok(Self { system, cpu, others, energy_j, start: Instant::now() })
    }

    /// A turn that ends now, with the figures of the meters only.
    ///
    /// # Errors
    /// The error of the operating system if it does not provide CPU time or memory.
    pub fn turn(&self) -> io::Result<Turn> {
        let wall = self.start.elapsed();
        let used_j = self.system.energy_j().zip(self.energy_j).map(|(end, start)| end - start);
        Ok(Turn {
            wall_s: wall.as_secs_f64(),
            cpu_percent: self.cpu.cpu_percent_of_one_core(wall)?,
            rss_bytes: resident_bytes()?,
            // A counter that wrapped around has no figure.
            watts: used_j.filter(|j| *j >= 0.0).map(|j| j / wall.as_secs_f64()),
            other_busy_cores: self.others.and_then(|others| others.busy_cores(wall)),
            after: self.system.conditions(),
            ..Turn::default()
        })
    }
}

/// Has `spin` run `executor`; returns the figures that every workload has.
///
/// # Errors
/// The error of the executor, or of the operating system.
pub fn measure_turn(
    executor: &mut Executor,
    spin: impl FnOnce(&mut Executor) -> ringspin_executor::Result<()>,
) -> Result<Turn, BoxError> {
    let meters = Meters::start()?;
    spin(executor)?;
    let (turn, statistics) = (meters.turn()?, executor.statistics());
    Ok(Turn {
        dispatched: statistics.dispatched(),
        drops: statistics.lost(),
        overwritten: statistics.overwritten(),
        missed_periods: statistics.callbacks.iter().map(|callback| callback.missed).sum(),
        digest: executor.digest().map(|(digest, _)| digest.to_string()),
        ..turn
    })
}

/// Measures `turns` turns of each variant that `results` does not have yet. Returns whether all are
/// there: `measure` ends the measurement by returning no turn.
///
/// # Errors
/// The error of `measure`. The turns before it are in `results`.
pub fn take_turns<E>(
    results: &mut Results,
    variants: &[Variant],
    turns: usize,
    mut measure: impl FnMut(&mut Results, &Step<'_>) -> Result<ControlFlow<(), Turn>, E>,
) -> Result<bool, E> {
    let done: Vec<usize> = variants.iter().map(|of| cell_of(results, of).turns.len()).collect();
    let is_left = |&(turn, n): &(usize, usize)| turn > done[n];
    let all = (1..=turns).flat_map(|turn| (0..variants.len()).map(move |n| (turn, n)));
    let left: Vec<(usize, usize)> = all.filter(is_left).collect();
    let mut remaining = left.iter().map(|&(_, n)| variants[n].cost).sum::<Duration>();
    for (index, &(turn, n)) in left.iter().enumerate() {
        let Variant { name, n: load, cost } = &variants[n];
        let (total, variant, n) = (left.len(), n, *load);
        let step = Step { index, total, turn, variant, name, n, remaining };
        match measure(results, &step)? {
            ControlFlow::Continue(turn) => cell_of(results, &variants[variant]).turns.push(turn),
            ControlFlow::Break(()) => return Ok(false),
        }
        remaining = remaining.saturating_sub(*cost);
    }
    Ok(true)
}

/// The cell of a variant, a new one if there is none.
pub fn cell_of<'a>(results: &'a mut Results, variant: &Variant) -> &'a mut Cell {
    let is_it = |cell: &Cell| cell.name == variant.name && cell.n == variant.n;
    let cells = &mut results.cells;
    let place = cells.iter().position(is_it).unwrap_or_else(|| {
        let Variant { name, n, .. } = variant.clone();
        cells.push(Cell { name, n, ..Cell::default() });
        cells.len() - 1
    });
    &mut cells[place]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const SECOND: Duration = Duration::from_secs(1);

    fn variants() -> Vec<Variant> {
        let variant = |(name, n): (&str, u64)| Variant {
            name: name.into(),
            n: Some(n),
            cost: SECOND * n as u32,
        };
        [("single", 1), ("multi", 1), ("single", 2)].map(variant).to_vec()
    }

    /// Measures up to `most` turns; returns their order and remaining seconds.
    fn measure(
        results: &mut Results,
        turns: usize,
        most: usize,
    ) -> (bool, Vec<(usize, usize, u64)>) {
        let mut order = Vec::new();
        let complete = take_turns(results, &variants(), turns, |_, step| {
            if order.len() == most {
                return Ok::<_, Infallible>(ControlFlow::Break(()));
            }
            order.push((step.turn, step.variant, step.remaining.as_secs()));
            Ok(ControlFlow::Continue(Turn { wall_s: step.turn as f64, ..Turn::default() }))
        });
        (complete.unwrap(), order)
    }

    #[test]
    fn turns_are_interleaved_and_continued_where_they_were_interrupted() {
        let mut results = Results::default();
        let first = measure(&mut results, 2, 4);
        assert_eq!(first, (false, vec![(1, 0, 8), (1, 1, 7), (1, 2, 6), (2, 0, 4)]));
        let rest = measure(&mut results, 2, 9);
        assert_eq!(rest, (true, vec![(2, 1, 3), (2, 2, 2)]));
        let cells: Vec<_> =
            results.cells.iter().map(|cell| (&*cell.name, cell.n, cell.turns.len())).collect();
        assert_eq!(cells, [("single", Some(1), 2), ("multi", Some(1), 2), ("single", Some(2), 2)]);
        assert_eq!(results.cells[1].turns[1].wall_s, 2.0);
        assert_eq!(measure(&mut results, 2, 9), (true, vec![]));
    }
}
