//! Commands of the case study: LiDAR odometry, live and replayed.

#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use ringspin::BoxError;
use ringspin_kiss_icp::drive;
use std::path::PathBuf;

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
        #[arg(long, default_value_t = 150)]
        scans: usize,
        /// The seed of relief and noise
        #[arg(long, default_value_t = 2)]
        seed: u64,
    },
}

fn main() -> Result<(), BoxError> {
    match Cli::parse().command {
        Command::Generate { path, scans, seed } => drive::write(&path, seed, scans),
    }
}
