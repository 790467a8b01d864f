//! `reference-system calibrate`: measures the crunch, the unit of all loads and floors.

use std::time::Duration;

use anyhow::Result;
use reference_system::crunch::calibrate_within;
use reference_system::table;
use ringspin_bench::System;

use super::output;

/// The time budget for the crunches of one N; at least three are run.
const BUDGET: Duration = Duration::from_millis(300);

pub(super) fn calibrate(crunch_limits: &[u64]) -> Result<()> {
    super::bench::note_debug_build();
    let calibrations: Vec<_> = crunch_limits.iter().map(|n| calibrate_within(*n, BUDGET)).collect();
    let processor = System::default().processor().unwrap_or_else(|| "unknown processor".into());
    output::print(&format!("{processor}\n\n{}", table::render_calibrations(&calibrations)))
}
