//! Commands of the case study: LiDAR odometry, live and replayed.

#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use ringspin::BoxError;
use ringspin_kiss_icp::case_study::{self, Summary};
use ringspin_kiss_icp::odometry::Config;
use ringspin_kiss_icp::replay::{self, Replay};
use ringspin_kiss_icp::{drive, plot};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// The seed of the drive.
const SEED: u64 = 2;
/// The number of scans: 15 seconds.
const SCANS: usize = 150;
/// The range of points that are used, in metres; voxels are a hundredth of it.
const RANGE_M: f64 = 50.0;

#[derive(Parser)]
#[command(about, version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes the recording of a drive: scans and exact poses
    Generate {
        /// The rosbag2 directory to write
        path: PathBuf,
        /// The number of scans, ten a second
        #[arg(long, default_value_t = SCANS)]
        scans: usize,
        /// The seed of relief and noise
        #[arg(long, default_value_t = SEED)]
        seed: u64,
    },
    /// Replays a recording through the odometry node and records the poses
    Replay {
        /// The recording of the drive
        input: PathBuf,
        /// The recording to write
        #[arg(long)]
        record: PathBuf,
        /// Live, at this multiple of the recorded speed; deterministic if it is not given
        #[arg(long, value_name = "RATE")]
        live: Option<f64>,
        /// Prints the report as JSON
        #[arg(long)]
        json: bool,
    },
    /// Runs the odometry node over ROS 2 until ctrl-c, in the mode of `RINGSPIN_MODE`
    #[cfg(feature = "ros2")]
    Node,
    /// Replays a drive many times, live with too little time and deterministic, and draws that
    Case {
        /// The folder for recordings and the picture; an earlier case there is replaced
        #[arg(long, default_value = "target/odometry")]
        folder: PathBuf,
        /// The number of replays in each mode
        #[arg(long, default_value_t = 10)]
        runs: usize,
        /// The live speed as a multiple of the recorded one
        #[arg(long, default_value_t = 4.0)]
        rate: f64,
    },
}

fn main() -> Result<(), BoxError> {
    let config = Config::for_range(RANGE_M);
    match Cli::parse().command {
        Command::Generate { path, scans, seed } => drive::write(&path, seed, scans),
        Command::Replay { input, record, live, json } => {
            let replay = live.map_or(Replay::Deterministic, Replay::Live);
            let trajectory = replay::run(&input, &record, config, replay)?;
            let (scans, ape_rmse_m) = (trajectory.positions.len(), trajectory.ape_rmse_m());
            if json {
                let Config { range_max_m, range_min_m, deskew, .. } = config;
                let parameters = json!({
                    "range_max_m": range_max_m, "range_min_m": range_min_m, "deskew": deskew,
                });
                let report =
                    json!({ "scans": scans, "ape_rmse_m": ape_rmse_m, "parameters": parameters });
                println!("{report:#}");
            } else {
                println!("{scans} scans, APE RMSE {ape_rmse_m:.4} m");
            }
            Ok(())
        }
        #[cfg(feature = "ros2")]
        Command::Node => over_ros2(config),
        Command::Case { folder, runs, rate } => case(&folder, config, runs, rate),
    }
}

fn case(folder: &Path, config: Config, runs: usize, rate: f64) -> Result<(), BoxError> {
    if runs == 0 {
        return Err("failed to run the case: `--runs` is 0; at least one run is required".into());
    }
    let drive = folder.join("drive");
    if !drive.exists() {
        fs::create_dir_all(folder)?;
        drive::write(&drive, SEED, SCANS)?;
    }
    let recordings = folder.join("runs");
    if recordings.exists() {
        fs::remove_dir_all(&recordings)?;
    }
    fs::create_dir(&recordings)?;
    let repeat = |name: &str, replay: Replay| {
        case_study::repeat(&drive, &recordings, name, config, replay, runs)
    };
    let live = repeat("live", Replay::Live(rate))?;
    let deterministic = repeat("deterministic", Replay::Deterministic)?;
    println!("\n{}", case_study::HEAD);
    println!("{}", Summary::new(&live).row(&format!("live, {rate} times as fast")));
    println!("{}", Summary::new(&deterministic).row("deterministic"));
    let picture = folder.join("odometry.svg");
    plot::draw(&picture, &live, &deterministic)?;
    println!("\n{}", picture.display());
    Ok(())
}

#[cfg(feature = "ros2")]
fn over_ros2(config: Config) -> Result<(), BoxError> {
    use ringspin::messages::{nav_msgs::msg::Odometry, sensor_msgs::msg::PointCloud2};
    use ringspin::ros2::{Ros2, Types};
    use ringspin::{Executor, FromEnv};

    let types = Types::installed().with_message::<PointCloud2>().with_message::<Odometry>();
    let ros2 = Ros2::builder().types(types).connect()?;
    let mut executor = Executor::from_env()?.with_middleware(std::sync::Arc::new(ros2))?;
    ringspin_kiss_icp::node::create(executor.graph(), config)?;
    executor.stop_on_ctrl_c()?;
    Ok(executor.spin()?)
}
