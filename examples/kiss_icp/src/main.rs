//! Commands of the case study: LiDAR odometry, live and replayed.

#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use ringspin::BoxError;
use ringspin_kiss_icp::case_study::{self, Summary};
use ringspin_kiss_icp::drive::POINTS;
use ringspin_kiss_icp::odometry::Config;
use ringspin_kiss_icp::replay::{self, Replay};
use ringspin_kiss_icp::{drive, plot};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    /// Replays a recording through the odometry node, records the poses, and reports as JSON
    Replay {
        /// The recording; its exact poses on `/ground_truth`, if it has any, give the error
        input: PathBuf,
        /// The recording to write
        #[arg(long)]
        record: PathBuf,
        /// The recorded topic of the scans
        #[arg(long, default_value = POINTS)]
        points: String,
        #[command(flatten)]
        parameters: Parameters,
    },
    /// Runs the odometry node over ROS 2 until ctrl-c, in the mode of `RINGSPIN_MODE`
    #[cfg(feature = "ros2")]
    Node(Parameters),
    /// Replays a drive many times, live with too little time and deterministic, and draws that
    Case {
        /// The folder for recordings and the picture; an earlier case there is replaced
        #[arg(long, default_value = "target/odometry")]
        folder: PathBuf,
        /// The number of replays in each mode
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
        runs: u32,
        /// The live speed as a multiple of the recorded one
        #[arg(long, default_value_t = 4.0)]
        rate: f64,
    },
}

/// Parameters of the odometry.
#[derive(clap::Args)]
struct Parameters {
    /// The range of points that are used, in metres; voxels are a hundredth of it
    #[arg(long, value_name = "METRES", default_value_t = RANGE_M, value_parser = metres)]
    range: f64,
    /// Take the points of a scan as measured at one time
    #[arg(long)]
    no_deskew: bool,
}

impl Parameters {
    fn config(&self) -> Config {
        Config { deskew: !self.no_deskew, ..Config::for_range(self.range) }
    }
}

fn metres(text: &str) -> Result<f64, String> {
    let range = text.parse().ok().filter(|range: &f64| range.is_finite() && *range > 0.0);
    range.ok_or_else(|| "write a positive number of metres, as 50".into())
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), BoxError> {
    match command {
        Command::Generate { path, scans, seed } => drive::write(&path, seed, scans),
        Command::Replay { input, record, points, parameters } => {
            let config = parameters.config();
            let replay = Replay::Deterministic;
            let trajectory = replay::run(&input, &points, &record, config, replay)?;
            let Config { range_max_m, range_min_m, deskew, .. } = config;
            let report = json!({
                "scans": trajectory.scans,
                "ape_rmse_m": trajectory.ape_rmse_m(),
                "parameters": {
                    "range_max_m": range_max_m, "range_min_m": range_min_m, "deskew": deskew,
                },
            });
            println!("{report:#}");
            Ok(())
        }
        #[cfg(feature = "ros2")]
        Command::Node(parameters) => over_ros2(parameters.config()),
        Command::Case { folder, runs, rate } => {
            case(&folder, Config::for_range(RANGE_M), runs, rate)
        }
    }
}

fn case(folder: &Path, config: Config, runs: u32, rate: f64) -> Result<(), BoxError> {
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
