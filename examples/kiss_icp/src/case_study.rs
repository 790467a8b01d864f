//! The case study: many replays of one drive, live with too little time and deterministic.

use crate::drive::POINTS;
use crate::odometry::Config;
use crate::replay::{self, Replay, Trajectory};
use ringspin::{BoxError, DigestHasher};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Duration, Instant};

/// A replay and its recording.
pub struct Run {
    /// The trajectory.
    pub trajectory: Trajectory,
    /// The digest of the recording's bytes.
    pub digest: u64,
    /// The wall time.
    pub elapsed: Duration,
}

/// Replays `drive` `runs` times, each into a recording in `folder` that is named by `name` and its
/// number, and reports each.
///
/// # Errors
/// If a replay fails, or there is a recording of that name.
pub fn repeat(
    drive: &Path,
    folder: &Path,
    name: &str,
    config: Config,
    replay: Replay,
    runs: u32,
) -> Result<Vec<Run>, BoxError> {
    let run = |number: u32| {
        // The name of the file is part of a recording.
        let folder = folder.join(format!("{name}_{number}"));
        fs::create_dir(&folder)?;
        let output = folder.join("poses.mcap");
        let start = Instant::now();
        let trajectory = replay::run(drive, POINTS, &output, config, replay)?;
        let elapsed = start.elapsed();
        let digest = DigestHasher::of(&fs::read(output)?);
        println!(
            "{name} {number}: {} scans, APE RMSE {:.4} m, recording {digest:016x}, {:.1} s",
            trajectory.positions.len(),
            trajectory.ape_rmse_m(),
            elapsed.as_secs_f64(),
        );
        Ok(Run { trajectory, digest, elapsed })
    };
    (1..=runs).map(run).collect()
}

/// Results of many runs in one line each.
pub struct Summary {
    /// The numbers of registered scans, from the least to the most.
    pub scans: RangeInclusive<usize>,
    /// The APE RMSE in metres: least, mean, most.
    pub ape_rmse_m: [f64; 3],
    /// The number of different recordings.
    pub recordings: usize,
}

impl Summary {
    /// The summary of at least one run.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(runs: &[Run]) -> Self {
        let scans = || runs.iter().map(|run| run.trajectory.positions.len());
        let (least, most) = (scans().min(), scans().max());
        let errors = || runs.iter().map(|run| run.trajectory.ape_rmse_m());
        let mean = errors().sum::<f64>() / runs.len() as f64;
        let mut digests: Vec<_> = runs.iter().map(|run| run.digest).collect();
        digests.sort_unstable();
        digests.dedup();
        Self {
            scans: least.expect("at least one run")..=most.expect("at least one run"),
            ape_rmse_m: [
                errors().fold(f64::INFINITY, f64::min),
                mean,
                errors().fold(f64::NEG_INFINITY, f64::max),
            ],
            recordings: digests.len(),
        }
    }

    /// A row of a Markdown table.
    pub fn row(&self, name: &str) -> String {
        let [least, mean, most] = self.ape_rmse_m;
        let scans = match self.scans.start() == self.scans.end() {
            true => self.scans.start().to_string(),
            false => format!("{} to {}", self.scans.start(), self.scans.end()),
        };
        format!("| {name} | {scans} | {least:.4} | {mean:.4} | {most:.4} | {} |", self.recordings)
    }
}

/// The head of the table with [rows](Summary::row).
pub const HEAD: &str = "\
| mode | scans | APE RMSE min (m) | mean | max | different recordings |
|---|---|---|---|---|---|";
