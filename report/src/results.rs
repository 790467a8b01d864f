//! Latency measurements that travel: the JSON file of a run, with its machine and conditions.
//!
//! Every latency is kept, because intervals and distributions cannot be computed from summaries. A
//! field that is added later has a default, so that older files stay readable; any other change
//! gets a new [`SCHEMA`].

use ringspin_simulation::models::DurationHistogram;
use serde::{Deserialize, Serialize};

use crate::summary::Summary;

/// The version of the format.
pub const SCHEMA: u32 = 1;

/// The measurements of one run on one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The version of the format: [`SCHEMA`].
    pub schema: u32,
    /// The measured program.
    pub title: String,
    /// The command line.
    pub command: String,
    /// The version of ringspin.
    pub version: String,
    /// The machine.
    pub machine: Machine,
    /// The conditions that disturb a measurement, each with its remedy.
    pub findings: Vec<Finding>,
    /// The duration of a turn, in seconds of the executor's time.
    pub turn_s: f64,
    /// The number of busy threads that ran beside it on purpose.
    pub load_threads: usize,
    /// The conditions before the first turn.
    pub before: Conditions,
    /// The wake-up latency that the operating system gives to a bare thread.
    pub wake_ups: Vec<WakeUp>,
    /// The measured variants, in the order of their first turns.
    pub cells: Vec<Cell>,
}

/// A machine. It has no host name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The board, or else the processor.
    pub model: String,
    /// The processor's architecture, as Rust names it: `x86_64`, `aarch64`.
    pub architecture: String,
    /// The number of cores that the process may use.
    pub cores: usize,
    /// The release of the kernel.
    pub kernel: String,
    /// Whether the kernel is preemptible throughout (PREEMPT_RT).
    pub real_time: bool,
    /// The frequency governors, separated by commas; empty if unknown.
    pub governor: String,
    /// The cores that the scheduler leaves alone (isolcpus); empty for none.
    pub isolated: String,
    /// The operating system.
    pub os: String,
}

/// A condition that disturbs a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The condition.
    pub found: String,
    /// A remedy.
    pub fix: String,
}

/// The conditions at one moment; `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// The current frequency of each core, in MHz.
    pub frequencies_mhz: Vec<f64>,
    /// The temperature of the hottest sensor, in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// The throttling word of the firmware, as of `vcgencmd get_throttled`; 0 if there was none.
    pub throttled: Option<u32>,
}

/// Wake-up latencies of a bare thread: from the time for which it set its timer to its first
/// instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WakeUp {
    /// The core.
    pub core: usize,
    /// The SCHED_FIFO priority; `None` for the default policy.
    pub priority: Option<u8>,
    /// The latencies.
    pub summary: Summary,
}

/// A measured variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The variant: a mode with its options.
    pub name: String,
    /// The load, for a workload that has one: the limit of the number cruncher.
    pub n: Option<u64>,
    /// The fastest crunch so far, in nanoseconds; 0 if unknown.
    pub crunch_ns: u64,
    /// The median crunch, in nanoseconds; 0 if unknown.
    pub crunch_median_ns: u64,
    /// The mapping to cores (TOML), if there was one.
    pub mapping: Option<String>,
    /// The completed turns, in order.
    pub turns: Vec<Turn>,
}

/// A turn of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The latencies, by chain and definition.
    pub latencies: Vec<Series>,
    /// The distances of successive starts, by timer.
    pub periods: Vec<Series>,
    /// The durations of callbacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callbacks: Vec<Callback>,
    /// The duration in real time, in seconds.
    pub wall_s: f64,
    /// CPU time as a percentage of one core.
    pub cpu_percent: f64,
    /// Resident memory at the end, in bytes.
    pub rss_bytes: u64,
    /// The mean power of the processor, in watts, if it can be read.
    pub watts: Option<f64>,
    /// The number of cores that other programs kept busy, on average, if known.
    pub other_busy_cores: Option<f64>,
    /// The number of dispatched events.
    pub dispatched: u64,
    /// The number of samples that the nodes of the measured path saw dropped.
    pub drops: u64,
    /// The number of messages that a newer one displaced before dispatch.
    pub overwritten: u64,
    /// The number of timer periods without a call.
    pub missed_periods: u64,
    /// The digest of a deterministic turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The conditions at the end.
    pub after: Conditions,
}

/// A series of durations in nanoseconds, in the order of their ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The chain or timer, and its definition if there are several.
    pub name: String,
    /// The durations.
    pub samples_ns: Vec<u64>,
    /// The deadline, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
}

impl Series {
    /// A series without a deadline.
    #[must_use]
    pub fn new(name: impl Into<String>, samples_ns: Vec<u64>) -> Self {
        Self { name: name.into(), samples_ns, deadline_ns: None }
    }
}

/// The durations of a callback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// Event loop and callback: `/node timer 10ms`.
    pub name: String,
    /// The durations of its calls.
    pub durations: DurationHistogram,
}

impl Cell {
    /// The series of this name in each turn: latencies, then periods. Empty if no turn has it.
    #[must_use]
    pub fn series(&self, name: &str) -> Vec<&[u64]> {
        let all = self.turns.iter().map(|turn| turn.latencies.iter().chain(&turn.periods));
        let named = all.filter_map(|mut series| series.find(|series| series.name == name));
        named.map(|series| &*series.samples_ns).collect()
    }

    /// All turns of a series in one.
    #[must_use]
    pub fn pooled(&self, name: &str) -> Vec<u64> {
        self.series(name).concat()
    }
}
