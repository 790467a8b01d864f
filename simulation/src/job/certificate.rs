//! Certificates: JSON documents that record a run: its result, its configuration, and the activity
//! that its digest does not see.

use super::outcome::{CallbackCounts, Counts, Uncontrolled, callbacks, counts, hash, listing};
use super::{Job, Report};
use crate::models::{Durations, Links};
use ringspin_executor::{Error, ErrorKind, FailurePolicy, Result};
use ringspin_modes::deterministic::{Cores, Jitter, Simulation, TiePolicy};
use ringspin_modes::mapping::Mapping;
use serde::Serialize;
use serde_json::Value;

/// The version of the format.
const FORMAT: u32 = 1;

/// A run, in a form to keep: two runs with the same certificate did the same, as far as that was
/// looked at.
///
/// ```
/// use ringspin_simulation::Job;
/// use std::time::Duration;
///
/// let job = Job::new(|graph| {
///     let node = graph.create_node("blinker", false)?;
///     node.digest_state()?;
///     node.create_timer(Duration::from_secs(1), |on, _| *on = !*on)?;
///     Ok(())
/// });
/// let job = job.run_for(Duration::from_secs(60));
/// let certificate = job.certificate(&job.run()?);
/// assert_eq!(certificate.dispatches, 60);
/// assert!(certificate.uncontrolled.is_empty());
/// assert!(certificate.to_json().starts_with('{'));
/// # Ok::<(), ringspin_executor::BoxError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Certificate {
    /// The version of this format.
    pub certificate: u32,
    /// The digest of the run, in hexadecimal digits.
    pub digest: String,
    /// Number of dispatched events.
    pub dispatches: u64,
    /// The seed of everything random.
    pub seed: u64,
    /// Simulated time at the start, in nanoseconds.
    pub start_ns: u64,
    /// Simulated time at the end, in nanoseconds.
    pub end_ns: u64,
    /// The code with which a node ended the run, if one did.
    pub exit_code: Option<u8>,
    /// The failures of isolated nodes.
    pub failures: Vec<String>,
    /// XXH3-128 of the graph: its loops, callbacks, topics with types and ends, services, inputs.
    /// The names of types are those that Rust gives them, which may change with the compiler.
    pub graph: String,
    /// XXH3-128 of the simulation, the arguments, and the failure policy.
    pub configuration: String,
    /// In which order the events of an instant were dispatched.
    pub ties: String,
    /// Number of deviations of the run from the default order and from the delays of links.
    pub deviations: u64,
    /// Those deviations, for `RINGSPIN_SCHEDULE`; empty if they are too many to be
    /// [kept](Report::is_schedule_complete).
    pub schedule: String,
    /// The counts of the run.
    pub counts: Counts,
    /// The counts of each callback, in order of creation.
    pub callbacks: Vec<CallbackCounts>,
    /// The activity that the digest does not see.
    pub uncontrolled: Uncontrolled,
    /// The platform of the run. The entries above depend on it only if a callback does.
    pub platform: Platform,
}

/// The platform of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Platform {
    /// The version of ringspin.
    pub ringspin: &'static str,
    /// The compiler that built it.
    pub rustc: &'static str,
    /// The architecture, as Rust names it.
    pub architecture: &'static str,
    /// The operating system, as Rust names it.
    pub os: &'static str,
    /// The width of a pointer in bits.
    pub pointer_width: u32,
    /// "debug" or "release".
    pub build: &'static str,
}

impl Platform {
    /// This one.
    pub fn current() -> Self {
        Self {
            ringspin: env!("CARGO_PKG_VERSION"),
            rustc: env!("RINGSPIN_RUSTC"),
            architecture: std::env::consts::ARCH,
            os: std::env::consts::OS,
            pointer_width: usize::BITS,
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
        }
    }
}

impl Certificate {
    /// The certificate as a JSON document, with a line for each part.
    pub fn to_json(&self) -> String {
        let mut json =
            serde_json::to_string_pretty(self).expect("texts and numbers can be written");
        json.push('\n');
        json
    }

    /// The parts in which this certificate differs from `json`, a document of
    /// [`to_json`](Self::to_json), possibly of another machine: a line for each. The platforms are
    /// not compared.
    ///
    /// # Errors
    /// An error if `json` is no certificate of this format.
    pub fn differences(&self, json: &str) -> Result<Vec<String>> {
        let ours = serde_json::to_value(self).expect("texts and numbers can be written");
        certificate_differences(&ours, json, &|key| key != "platform")
    }
}

/// The parts in which the certificate `ours` differs from the document `json`: a line for each, of
/// the keys that are `compared`.
///
/// # Errors
/// An error if `json` is no certificate of the same format.
pub fn certificate_differences(
    ours: &Value,
    json: &str,
    compared: &dyn Fn(&str) -> bool,
) -> Result<Vec<String>> {
    let theirs: Value = serde_json::from_str(json).map_err(|error| wrong_format(&error))?;
    let (Value::Object(ours), Value::Object(theirs)) = (ours, theirs) else {
        return Err(other_version("no JSON object"));
    };
    if theirs.get("certificate") != ours.get("certificate") {
        let found = theirs.get("certificate").unwrap_or(&Value::Null);
        return Err(other_version(&format!("version {found}")));
    }
    let mut lines = Vec::new();
    for (key, ours) in ours.iter().filter(|(key, _)| compared(key)) {
        differences_of(key, theirs.get(key).unwrap_or(&Value::Null), ours, &mut lines);
    }
    Ok(lines)
}

fn wrong_format(problem: &serde_json::Error) -> Error {
    let text = format!("{problem}; write it with `run --certificate`");
    Error::new(ErrorKind::Parse, text)
}

fn other_version(found: &str) -> Error {
    let text =
        format!("{found} instead of version {FORMAT}; write it again with `run --certificate`");
    Error::new(ErrorKind::Parse, text)
}

/// Adds the differences below `path`. Of lists, the first element that differs stands for all.
fn differences_of(path: &str, theirs: &Value, ours: &Value, lines: &mut Vec<String>) {
    match (theirs, ours) {
        _ if theirs == ours => {}
        (Value::Object(theirs), Value::Object(ours)) => {
            let only_theirs = theirs.keys().filter(|key| !ours.contains_key(*key));
            for key in ours.keys().chain(only_theirs) {
                let [theirs, ours] = [theirs, ours].map(|of| of.get(key).unwrap_or(&Value::Null));
                differences_of(&format!("{path}.{key}"), theirs, ours, lines);
            }
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            let longest = theirs.len().max(ours.len());
            let index = (0..longest).find(|&n| theirs.get(n) != ours.get(n)).unwrap_or(0);
            let at = |list: &[Value]| list.get(index).map_or("(the end)".into(), Value::to_string);
            let (theirs, ours) = (at(theirs), at(ours));
            lines.push(format!("{path}[{index}]: {theirs} in the certificate, {ours} here"));
        }
        _ => lines.push(format!("{path}: {theirs} in the certificate, {ours} here")),
    }
}

impl<T> Job<'_, T> {
    /// The certificate of a run of this job.
    ///
    /// The hash of the configuration does not cover code: the closure that builds the graph,
    /// checks, a tie breaker, or an end condition.
    pub fn certificate(&self, report: &Report) -> Certificate {
        let simulation = &self.simulation;
        Certificate {
            certificate: FORMAT,
            digest: report.digest().to_string(),
            dispatches: report.dispatches(),
            seed: simulation.effective_seed(),
            start_ns: simulation.start.as_nanos(),
            end_ns: report.end().as_nanos(),
            exit_code: report.exit_code(),
            failures: report.failures().iter().map(ToString::to_string).collect(),
            graph: hash(&listing(report.graph())),
            configuration: self.configuration_hash(),
            ties: order_of(&simulation.ties),
            deviations: report.deviations_count(),
            schedule: match report.is_schedule_complete() {
                true => report.schedule().to_string(),
                false => String::new(),
            },
            counts: counts(report),
            callbacks: callbacks(report),
            uncontrolled: Uncontrolled::of_run(report),
            platform: Platform::current(),
        }
    }

    /// XXH3-128 of the simulation, the arguments, and the failure policy, as a
    /// [certificate](Self::certificate) has it.
    pub fn configuration_hash(&self) -> String {
        hash(&self.configuration())
    }

    /// All that decides about a run except code, always in the same form.
    fn configuration(&self) -> String {
        let Simulation { start, seed, ties, jitter, links, durations, cores, contention, .. } =
            &self.simulation;
        let run_for = self.run_for.map(|duration| *start + duration);
        let Jitter { max, seed: jitter_seed } = jitter;
        let (no_links, no_durations) = (Links::default(), Durations::default());
        let configuration = Configuration {
            start_ns: start.as_nanos(),
            end_ns: run_for.or(self.simulation.end).map(|end| end.as_nanos()),
            end_on: self.ending.as_ref().map(|ending| (&*ending.topic, ending.messages)),
            seed: *seed,
            ties: order_of(ties),
            jitter_ns: (max.as_nanos(), *jitter_seed),
            links: links.as_deref().and_then(|model| model.downcast()).unwrap_or(&no_links),
            durations: durations
                .as_deref()
                .and_then(|model| model.downcast())
                .unwrap_or(&no_durations),
            cores: match cores {
                Cores::Unlimited => CoresOf::Unlimited,
                Cores::Single => CoresOf::Single,
                Cores::Mapped(mapping) => CoresOf::Mapped(mapping),
            },
            contention: (!contention.is_none())
                .then_some((contention.slowdown_percent, contention.cores)),
            instant_dispatches_max: self.simulation.instant_dispatches_max,
            no_progress_ns_max: self.simulation.no_progress_max.map(|max| max.as_nanos()),
            arguments: self.arguments.listing(),
            failures: match self.policy {
                FailurePolicy::StopAll => "stop",
                FailurePolicy::IsolateNode => "isolate",
            },
        };
        serde_json::to_string(&configuration).expect("texts and numbers can be written")
    }
}

/// A job's configuration, to be hashed.
#[derive(Serialize)]
struct Configuration<'a> {
    start_ns: u64,
    end_ns: Option<u64>,
    end_on: Option<(&'a str, u64)>,
    seed: u64,
    ties: String,
    jitter_ns: (u128, u64),
    links: &'a Links,
    durations: &'a Durations,
    cores: CoresOf<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contention: Option<(u32, u32)>,
    instant_dispatches_max: u64,
    no_progress_ns_max: Option<u128>,
    arguments: Vec<String>,
    failures: &'static str,
}

#[derive(Serialize)]
enum CoresOf<'a> {
    Unlimited,
    Single,
    Mapped(&'a Mapping),
}

fn order_of(ties: &TiePolicy) -> String {
    match ties {
        TiePolicy::Fifo => "fifo".into(),
        TiePolicy::Reverse => "reverse".into(),
        TiePolicy::Shuffle { seed } => format!("shuffle, seed {seed}"),
        TiePolicy::Pct { seed, depth, steps } => {
            format!("pct, seed {seed}, depth {depth}, {steps} steps")
        }
        TiePolicy::Mixed { seed, steps } => format!("mixed, seed {seed}, {steps} steps"),
        TiePolicy::Scripted(schedule) => format!("schedule {schedule}"),
    }
}
