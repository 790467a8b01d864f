//! Several unmodified ROS 2 processes in one deterministic run.
//!
//! The programs of a [`System`] are started as they are: rclpy, rclcpp, rclrs or r2r. A library is
//! loaded into each of them: it has the middleware of ROS 2 and simulates threads, clocks and
//! random numbers. A coordinator gives the processes turns, in one order of time, ties and
//! deadlines, and carries their messages. So a run gives the same result each time, on every
//! machine and under any load, as fast as the programs compute.
//!
//! ```no_run
//! use ringspin_executor::Time;
//! use ringspin_processes::{Options, System, run};
//!
//! let system = System::load("system.yaml".as_ref(), &[])?;
//! let mut print = |time: Time, process: &str, _: bool, line: &str| {
//!     println!("[{time} {process}] {line}");
//! };
//! let report = run(&system, Options::default(), &mut print)?;
//! println!("{} messages, digest {:016x}", report.messages, report.digest);
//! # Ok::<(), ringspin_executor::Error>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `system` | [`System`], and its file |
//! | `launch` | launch files as systems |
//! | `coordinator` | turns |
//! | `thread_order` | the order of threads in the processes, where it is explored |
//! | `turns` | several turns of a process at once |
//! | `cores` | the cores of the turns |
//! | `lookahead` | processes that may compute at the same time |
//! | `queue` | the total order |
//! | `durations` | how long callbacks take, given or measured |
//! | `echo` | messages as text |
//! | `hosts` | the simulated cores of callbacks |
//! | `graph` | nodes, endpoints and links of all processes |
//! | `process` | a program, its socket and its output |
//! | `source` | a recording as a process |
//! | `recording` | all topics as rosbag2 has them |
//! | `outcome` | how a run ended |
//! | `record` | a line for each event, and their digest |
//! | `faults` | kills, late starts, partitions and losses |
//! | `provenance` | the libraries, files and variables of the processes |
//! | `certificate` | a run in a form to keep, and to compare on another machine |
//! | `explore` | a search for an order, or faults, with which a process fails |
//! | `command` | the command line |

#![forbid(unsafe_code)]

mod certificate;
mod children;
mod command;
mod coordinator;
mod cores;
mod durations;
mod echo;
mod explore;
mod faults;
mod graph;
mod hosts;
mod launch;
mod lookahead;
mod outcome;
mod process;
mod provenance;
mod queue;
mod record;
mod recording;
mod source;
mod system;
mod thread_order;

pub use command::main;
pub use durations::DurationRule;
pub use outcome::{Report, RunEnd};
pub use record::Observer;
pub use system::{CommandLine, Fault, Host, ProcessSpec, Restart, System, Value};

use children::Children;
use coordinator::Coordinator;
use process::Shared;
use record::Record;
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_modes::{Schedule, TiePolicy};
use ringspin_process_protocol::SharedMemory;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a system is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The order of events of one instant.
    pub ties: TiePolicy,
    /// The order of the threads of each process, unless `ties` is a schedule, which says it, too.
    pub threads: TiePolicy,
    /// Losses and faults besides those of the system, and of the schedule if `ties` is one.
    pub faults: Schedule,
    /// Whether the run ends with the first process that fails.
    pub ends_on_failure: bool,
    /// The file for the record: a line for each event.
    pub record: Option<PathBuf>,
    /// A recording of all topics: a file if the name ends in `.mcap`, else a directory.
    pub recording: Option<PathBuf>,
    /// The file for the measured durations of callbacks: a [profile](System::profile).
    pub profile: Option<PathBuf>,
    /// The topics of which the messages are shown, with the output of the processes.
    pub echo: Vec<String>,
    /// Whether the report has all for a certificate.
    pub certifies: bool,
    /// The real time that a process may compute in one turn.
    pub turn_max: Duration,
    /// On how many cores processes compute at the same time; the result is that of one.
    pub cores: usize,
    /// How many turns processes may have at one instant; more are taken for a cycle of messages.
    pub instant_turns_max: u64,
    /// Whether the run is to stop, which is asked ten times a second.
    pub is_stopped: fn() -> bool,
}

impl Default for Options {
    /// The default order, no file, two minutes, all cores, a million turns at an instant, no stop.
    fn default() -> Self {
        let turn_max = Duration::from_secs(120);
        let ties = TiePolicy::Fifo;
        Self {
            ties,
            threads: TiePolicy::Fifo,
            faults: Schedule::default(),
            ends_on_failure: false,
            record: None,
            recording: None,
            profile: None,
            echo: Vec::new(),
            certifies: false,
            turn_max,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            instant_turns_max: 1_000_000,
            is_stopped: || false,
        }
    }
}

impl Options {
    /// The order of threads in the processes.
    fn threads(&self) -> &TiePolicy {
        match &self.ties {
            scripted @ TiePolicy::Scripted(_) => scripted,
            _ => &self.threads,
        }
    }

    /// The schedule of which the faults happen.
    fn schedule(&self) -> Schedule {
        let of_ties = match &self.ties {
            TiePolicy::Scripted(schedule) => schedule.clone(),
            _ => Schedule::default(),
        };
        of_ties.entries().chain(self.faults.entries()).collect()
    }
}

/// Runs a system to its end, seen by `observer`.
///
/// # Errors
/// A program that cannot be started, a file that cannot be written, a stop.
pub fn run(system: &System, options: Options, observer: &mut dyn Observer) -> Result<Report> {
    let library = process::library()?;
    let memory = SharedMemory::create().map_err(|error| {
        let text = format!("failed to make memory for the messages of processes: {error}");
        Error::new(ErrorKind::Io, text)
    })?;
    let children = Children::new().map_err(|error| {
        let text = format!("failed to make a socket for the children of processes: {error}");
        Error::new(ErrorKind::Io, text)
    })?;
    let shared = Shared {
        program: process::program(&library),
        library,
        logs: std::env::var_os("ROS_LOG_DIR")
            .map_or_else(|| std::env::temp_dir().join("ringspin-ros-logs"), PathBuf::from),
        memory,
        children,
        turn_max: options.turn_max,
        is_stopped: options.is_stopped,
        date: system.date.map_or(0, |date| date.0),
    };
    let path = options.record.as_deref();
    let file = path.map(File::create).transpose().map_err(|error| unwritten(path, &error))?;
    let mut record = Record::new(file, observer);
    let coordinator = Coordinator::new(system, &shared, &options, &mut record)?;
    let report = coordinator.run()?;
    let (digest, marks) = record.finish().map_err(|error| unwritten(path, &error))?;
    Ok(Report { digest, marks, ..report })
}

fn unwritten(path: Option<&Path>, error: &std::io::Error) -> Error {
    let path = path.unwrap_or(Path::new(""));
    let text = format!("failed to write the record {}: {error}", path.display());
    Error::new(ErrorKind::Io, text).at_path(path)
}
