//! A replay of a recording: player, odometry node, recorder.

use crate::drive::{GROUND_TRUTH, POINTS};
use crate::geometry::Vector;
use crate::node::{self, ODOMETRY};
use crate::odometry::Config;
use crate::point_cloud::position;
use ringspin::bag::{Bag, MessageTypes, Player, ReadOptions, Recorder, RecorderHandle, Writer};
use ringspin::messages::{cdr, nav_msgs::msg::Odometry, sensor_msgs::msg::PointCloud2};
use ringspin::{BoxError, Executor, Graph, Job, Mode};
use std::path::Path;
use std::time::Duration;

/// The time for the last scan after the player has finished, in the live mode.
const GRACE: Duration = Duration::from_secs(2);

/// The way in which a recording is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Replay {
    /// Simulated time: the recording waits for the nodes.
    Deterministic,
    /// Wall time, faster than recorded by this factor: slow nodes lose messages.
    Live(f64),
}

/// The trajectory of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// The number of registered scans.
    pub scans: usize,
    /// Estimated and exact position at the end of each; empty without exact poses.
    pub positions: Vec<(Vector, Vector)>,
}

impl Trajectory {
    /// Reads a recorded trajectory: `/odometry`, and `/ground_truth` at the same stamps, if the
    /// recording has it.
    ///
    /// # Errors
    /// If the recording cannot be read, or has exact poses, but not for each estimate.
    pub fn read(path: &Path) -> Result<Self, BoxError> {
        let bag = Bag::open(path)?;
        let read = |topic: &str| -> Result<Vec<Odometry>, BoxError> {
            let id =
                bag.topic(topic).ok_or_else(|| format!("{}: no topic {topic}", path.display()))?;
            let options = ReadOptions { topics: Some(vec![id]), ..ReadOptions::default() };
            bag.read(&options)?.map(|record| Ok(cdr::from_bytes(&record?.data)?)).collect()
        };
        let stamp = |pose: &Odometry| pose.header.stamp.to_time();
        let estimates = read(ODOMETRY)?;
        let scans = estimates.len();
        if bag.topic(GROUND_TRUTH).is_none() {
            return Ok(Self { scans, positions: Vec::new() });
        }
        let truth = read(GROUND_TRUTH)?;
        let pair = |estimate: &Odometry| {
            let time = stamp(estimate);
            let found = truth.binary_search_by_key(&time, stamp);
            let exact =
                found.map_err(|_| format!("{}: no exact pose at {time}", path.display()))?;
            Ok((position(estimate), position(&truth[exact])))
        };
        let positions = estimates.iter().map(pair).collect::<Result<_, BoxError>>()?;
        Ok(Self { scans, positions })
    }

    /// The root mean square of the absolute position error (APE) in metres; NaN without exact
    /// poses. Both trajectories start in the same frame, so they are not aligned.
    pub fn ape_rmse_m(&self) -> f64 {
        let squares =
            self.positions.iter().map(|(estimate, exact)| (*estimate - *exact).length_squared());
        (squares.sum::<f64>() / self.positions.len() as f64).sqrt()
    }
}

/// Replays the scans of `input`, recorded as `points`, through the odometry node, and records
/// estimated and, if there are any, exact poses as `output`.
///
/// # Errors
/// If `input` has no such topic, a recording cannot be read or written, or a callback fails.
pub fn run(
    input: &Path,
    points: &str,
    output: &Path,
    config: Config,
    replay: Replay,
) -> Result<Trajectory, BoxError> {
    let bag = Bag::open(input)?;
    let types = MessageTypes::new().with::<PointCloud2>().with::<Odometry>();
    let player = Player::new([bag]).remap(points, POINTS);
    match replay {
        Replay::Deterministic => {
            let job = Job::new(|graph| build(graph, &player, &types, config, output));
            let mut session = player.apply_times(job, &types)?.start()?;
            session.run_until(ringspin::Time::MAX)?;
            session.handles.finish()?;
        }
        Replay::Live(rate) => {
            let mut executor = Executor::new(Mode::MultiCore(None));
            let player = player.rate(rate).stop_at_end(executor.stop_handle(), GRACE);
            let recorder = build(executor.graph(), &player, &types, config, output)?;
            executor.spin()?;
            recorder.finish()?;
        }
    }
    Trajectory::read(output)
}

fn build(
    graph: &Graph,
    player: &Player,
    types: &MessageTypes,
    config: Config,
    output: &Path,
) -> Result<RecorderHandle, BoxError> {
    node::create(graph, config)?;
    let player = player.add_to(graph, types)?;
    let recorder = Recorder::new(Writer::create(output, Default::default())?);
    let raw = player.raw_topics();
    let truth = raw.iter().map(|topic| &*topic.name).find(|name| *name == GROUND_TRUTH);
    let recorder = recorder.topics([ODOMETRY].into_iter().chain(truth)).raw_topics(raw.clone());
    Ok(recorder.add_to(graph, types)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_the_root_mean_square_of_distances() {
        let (origin, three_four) = (Vector::default(), Vector::new(3.0, 0.0, -4.0));
        let positions = vec![(origin, origin), (three_four, origin)];
        let trajectory = Trajectory { scans: 2, positions };
        assert_eq!(trajectory.ape_rmse_m(), 12.5f64.sqrt());
    }
}
