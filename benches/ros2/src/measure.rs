//! Recording of latencies and processor time, and the table of results.

use ringspin_bench::process::CpuMeter;
use ringspin_report::Summary;
use serde_json::{Value, json};
use std::sync::OnceLock;
use std::time::Instant;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Nanoseconds since the first call.
pub(crate) fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The latencies of a series of messages, and the processor time meanwhile.
pub(crate) struct Recorder {
    to_skip: usize,
    latencies_ns: Vec<u64>,
    began: Option<(CpuMeter, Instant)>,
}

impl Recorder {
    /// Creates a recorder for `count` messages after the first `to_skip`.
    pub(crate) fn new(to_skip: usize, count: usize) -> Self {
        Self { to_skip, latencies_ns: Vec::with_capacity(count), began: None }
    }

    /// Records the arrival of a message published at `published_ns`. Returns the figures after the
    /// last one.
    pub(crate) fn arrived(&mut self, published_ns: u64) -> Option<Value> {
        let latency_ns = now_ns().saturating_sub(published_ns);
        if self.to_skip > 0 {
            self.to_skip -= 1;
            return None;
        }
        let (meter, since) = match &mut self.began {
            Some(began) => began,
            none => none.insert((CpuMeter::start().ok()?, Instant::now())),
        };
        self.latencies_ns.push(latency_ns);
        if self.latencies_ns.len() < self.latencies_ns.capacity() {
            return None;
        }
        let cpu_percent = meter.cpu_percent_of_one_core(since.elapsed()).ok()?;
        Some(figures(&Summary::of(&self.latencies_ns), cpu_percent))
    }
}

/// The figures of one run.
pub(crate) fn figures(latency: &Summary, cpu_percent: f64) -> Value {
    let us = |ns: u64| ns as f64 / 1e3;
    json!({
        "mean us": latency.mean_ns / 1e3,
        "p50 us": us(latency.p50_ns),
        "p99 us": us(latency.p99_ns),
        "max us": us(latency.max_ns),
        "CPU %": cpu_percent,
    })
}

/// The figures of all rounds of one contender, by name.
#[derive(Clone, Default)]
pub(crate) struct Figures(Vec<(String, Vec<f64>)>);

impl Figures {
    pub(crate) fn add(&mut self, round: &Value) {
        for (name, value) in round.as_object().into_iter().flatten() {
            let value = value.as_f64().unwrap_or(f64::NAN);
            match self.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, values)) => values.push(value),
                None => self.0.push((name.clone(), vec![value])),
            }
        }
    }

    fn values(&self, name: &str) -> Option<&[f64]> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, values)| &values[..])
    }
}

/// The figures in the order of the table's columns.
const COLUMNS: [&str; 12] = [
    "mean us",
    "p50 us",
    "p99 us",
    "max us",
    "CPU %",
    "ticks a second",
    "us a spin",
    "KiB grown",
    "of which Fast DDS's threads",
    "wake-ups a second of the contender's threads",
    "of Fast DDS's",
    "threads of its own",
];

/// Prints a row for each contender: for each figure, the median and the range over the rounds.
pub(crate) fn print_table(contenders: &[String], figures: &[Figures]) {
    let is_there = |name: &&str| figures[0].values(name).is_some();
    let names: Vec<&str> = COLUMNS.into_iter().filter(is_there).collect();
    let header: Vec<_> = names.iter().map(|name| format!(" {name} |")).collect();
    println!("| contender |{}\n|---|{}", header.concat(), "---:|".repeat(names.len()));
    for (contender, figures) in contenders.iter().zip(figures) {
        let values = names.iter().map(|name| figures.values(name).unwrap_or_default());
        let cells = values.map(|values| format!(" {} |", cell(values)));
        println!("| {contender} |{}", cells.collect::<String>());
    }
}

fn cell(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(median) = sorted.get(sorted.len() / 2) else { return "-".into() };
    let digits = if *median < 1.0 { 2 } else { 1 };
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    format!("{median:.digits$} ({least:.digits$} to {most:.digits$})")
}

/// The machine's load averages of 1 and 5 minutes.
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(2).collect::<Vec<_>>().join("/")
}
