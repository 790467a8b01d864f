//! The reference system: 24 nodes, and the latency of its hot path.

use crate::measure::{BoxError, figures};
use crate::nodes::{DURATION, N};
use reference_system::kpi::Collector;
use reference_system::middleware::Middleware;
use reference_system::run::{RunOptions, run as run_ours};
use reference_system::system::Work;
use ringspin_modes::Mode;
use std::sync::Arc;

pub(crate) const CONTENDERS: &[&str] = &[
    "ringspin, single, in process",
    "ringspin, single",
    "ringspin, multi",
    "ringspin, single, hybrid",
    "r2r, one node",
    "r2r, a thread per node",
    "r2r, one node, tokio",
    "r2r, one node, tokio on two threads",
    "rclrs, one thread",
    "rclrs, a worker per node",
];

pub(crate) fn run(name: &str) -> Result<(), BoxError> {
    let (mode, middleware) = match name {
        "ringspin, single, in process" => (Mode::SingleCore, Middleware::None),
        "ringspin, single" => (Mode::SingleCore, Middleware::Ros2),
        "ringspin, multi" => (Mode::MultiCore(None), Middleware::Ros2),
        "ringspin, single, hybrid" => (Mode::SingleCore, Middleware::Hybrid),
        _ => return Err(format!("no contender {name:?}").into()),
    };
    let options = RunOptions { middleware, ..RunOptions::new(mode, Work::crunching(N), DURATION) };
    let report = run_ours(&options, &Arc::new(Collector::new()))?;
    println!("{}", figures(&report.kpis.sample_to_start, report.turn.cpu_percent));
    Ok(())
}
