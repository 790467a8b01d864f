//! Random graphs run live, on one core and on several, and their records are replayed.

use ringspin_executor::{ErrorKind, Failure, Result};
use ringspin_modes::flight::{FlightBuilder, FlightTape};
use ringspin_modes::{Executor, FlightRecord, FlightWriter, Mode};
use ringspin_random_graph_tests::RandomGraph;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// The number of graphs; the variable `RANDOM_GRAPHS` sets another number.
const SEEDS: u64 = 20;

/// Keeps the record in memory.
struct InMemory(Sender<FlightRecord>);

impl FlightWriter for InMemory {
    fn write(self: Box<Self>, mut tape: FlightTape) -> Result<()> {
        let mut builder = FlightBuilder::new(tape.header().clone());
        while let Some(round) = tape.next_round(Duration::from_millis(20)) {
            for (log, part) in round.iter().enumerate() {
                builder.add(log, part.entries.iter().copied());
                if part.lost > 0 {
                    builder.add_gap(log);
                }
            }
        }
        self.0.send(builder.finish()).unwrap();
        Ok(())
    }
}

/// The number of calls, and the failures.
type Outcome = (u64, Vec<String>);

fn run(mut executor: Executor, graph: &RandomGraph) -> Result<Outcome> {
    graph.build_live(executor.graph()).unwrap();
    for _ in 0..3 {
        match executor.spin_for(Duration::from_millis(30)) {
            Err(error) if error.kind() == ErrorKind::Diverged => return Err(error),
            _ => {} // or a failure of a node
        }
    }
    let calls = executor.statistics().dispatched();
    // Their times are those of their reports.
    let failure =
        |of: &Failure| format!("{} {} {:?} {:?}", of.node, of.callback, of.event, of.cause);
    let failures = executor.failures().iter().map(failure).collect();
    Ok((calls, failures))
}

fn check(mode: &Mode, seed: u64, graph: &RandomGraph) {
    let (sender, record) = channel();
    let mut executor = Executor::new(mode.clone());
    executor.record_flight(InMemory(sender));
    let live = run(executor, graph).unwrap();
    let record = Arc::new(record.recv().unwrap());
    assert!(record.gap().is_none(), "seed {seed}");
    let replayed = run(Executor::new(Mode::Replay(record)), graph);
    let replayed = replayed.unwrap_or_else(|error| panic!("seed {seed}, {mode:?}: {error}"));
    assert_eq!(replayed, live, "seed {seed}, {mode:?}");
}

fn seeds() -> u64 {
    std::env::var("RANDOM_GRAPHS").map_or(SEEDS, |count| count.parse().unwrap())
}

#[test]
fn replays_call_what_the_live_run_called() {
    for seed in 0..seeds() {
        for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
            check(&mode, seed, &RandomGraph::new(seed));
        }
    }
}
