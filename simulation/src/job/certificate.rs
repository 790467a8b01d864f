//! Certificates: what a run came to, what it was a run of, and what its digest does not see.

use super::{Job, Report};
use crate::models::{Durations, Links};
use ringspin_executor::{FailurePolicy, GraphInfo, LoopId, TopicInfo};
use ringspin_modes::deterministic::{Cores, Jitter, Simulation, TiePolicy};
use ringspin_modes::mapping::Mapping;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

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
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
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
    /// XXH3-128 of what was simulated, the arguments, and the failure policy.
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

/// Counts of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Events that reached a callback.
    pub dispatched: u64,
    /// Messages that newer ones displaced.
    pub overwritten: u64,
    /// Messages that were lost on their way.
    pub lost: u64,
    /// Events that came when their node had failed and was isolated.
    pub discarded: u64,
    /// Messages that were too old when their turn came.
    pub expired: u64,
    /// Messages that fell out of a synchronized subscription.
    pub unmatched: u64,
    /// Periods of timers that passed without a call.
    pub missed: u64,
    /// Calls that returned after their deadline.
    pub late: u64,
    /// Messages handed back to publishers.
    pub refused: u64,
    /// Calls that took longer than their logical execution time.
    pub overruns: u64,
    /// Events that other threads than that of the run caused.
    pub foreign: u64,
}

/// Counts of one callback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallbackCounts {
    /// The loop and the callback, as in "/planner `subscription /points`".
    pub callback: String,
    /// Number of events that it was called for.
    pub dispatched: u64,
    /// Messages that were lost on their way, overwritten or too old.
    pub dropped: u64,
}

/// The activity that the digest of a run does not see. Values that callbacks
/// [show](ringspin_executor::Context::digest) are not known before the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Uncontrolled {
    /// Publishers whose messages are not [digested](ringspin_executor::Publisher::digested), as in
    /// "/lidar on /points": the digest sees that there is a message, not its content.
    pub publishers: Vec<String>,
    /// Event loops whose state is not [digested](ringspin_executor::Node::digest_state).
    pub states: Vec<String>,
    /// Services: of their requests and responses, the digest sees the order.
    pub services: Vec<String>,
    /// Inputs: what they hand over is digested as far as its publishers are.
    pub inputs: Vec<String>,
    /// The [events of other threads](Report::foreign), as in "3 messages of /lidar on /points";
    /// known only after a run.
    pub threads: Vec<String>,
}

impl Uncontrolled {
    /// Whether the digest sees all that can be known beforehand.
    pub fn is_empty(&self) -> bool {
        let Self { publishers, states, services, inputs, threads } = self;
        [publishers, states, services, inputs, threads].iter().all(|names| names.is_empty())
    }

    /// The parts of a graph that the digest does not see.
    pub fn of(info: &GraphInfo) -> Self {
        let publishers = info.topics.iter().filter(|topic| is_seen(topic)).flat_map(|topic| {
            let silent = topic.publishers.iter().filter(|(_, id)| !topic.digested.contains(id));
            silent.map(|(by, _)| format!("{} on {}", name_of(info, *by), topic.name))
        });
        let states = info.loops.values().filter(|l| !l.digested && !l.callbacks.is_empty());
        let used = info.services.iter().filter(|service| !service.clients.is_empty());
        Self {
            publishers: publishers.collect(),
            states: states.map(|l| l.full_name()).collect(),
            services: used.map(|service| service.name.clone()).collect(),
            inputs: info.inputs.clone(),
            threads: Vec::new(),
        }
    }

    /// The activity that the digest of this run does not see.
    pub fn of_run(report: &Report) -> Self {
        let threads = report.foreign().iter();
        let threads = threads.map(|(events, count)| format!("{count} {events}")).collect();
        Self { threads, ..Self::of(report.graph()) }
    }

    /// A line for each of them.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let Self { publishers, states, services, inputs, threads } = self;
        let lines = |what: &'static str, names: &[String]| {
            let line = |name| format!("the digest does not see {what} {name}");
            names.iter().map(line).collect::<Vec<_>>()
        };
        let unseen = [
            lines("the content of messages of", publishers),
            lines("the state of", states),
            lines("requests and responses of", services),
            lines("what comes from", inputs),
        ];
        let threads = threads.iter();
        let threads = threads.map(|events| {
            format!("another thread caused {events}: at a time that no other run repeats")
        });
        unseen.into_iter().flatten().chain(threads.collect::<Vec<_>>())
    }
}

/// Whether what is published on a topic leaves its node: a node's own topic without a subscription
/// has no effect at all.
fn is_seen(topic: &TopicInfo) -> bool {
    !topic.subscriptions.is_empty() || !topic.name.contains("/__")
}

/// On what a run ran.
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
    /// [`CertificateError`] if `json` is no certificate of this format.
    pub fn differences(&self, json: &str) -> Result<Vec<String>, CertificateError> {
        let theirs: Value = serde_json::from_str(json)?;
        let ours = serde_json::to_value(self)?;
        let (Value::Object(ours), Value::Object(mut theirs)) = (ours, theirs) else {
            return Err(CertificateError::Format("no JSON object".into()));
        };
        if theirs.get("certificate") != ours.get("certificate") {
            let found = theirs.get("certificate").unwrap_or(&Value::Null);
            return Err(CertificateError::Format(format!("version {found}")));
        }
        let mut lines = Vec::new();
        for (key, ours) in ours.iter().filter(|(key, _)| *key != "platform") {
            let theirs = theirs.remove(key).unwrap_or(Value::Null);
            differences_of(key, &theirs, ours, &mut lines);
        }
        Ok(lines)
    }
}

/// The text is no certificate that can be compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// It is no JSON.
    #[error("{0}; write it with `run --certificate`")]
    Json(#[from] serde_json::Error),
    /// It has another format.
    #[error("{0} instead of version {FORMAT}; write it again with `run --certificate`")]
    Format(String),
}

/// Adds the differences below `path`. Of lists, the first element that differs stands for all.
fn differences_of(path: &str, theirs: &Value, ours: &Value, lines: &mut Vec<String>) {
    match (theirs, ours) {
        _ if theirs == ours => {}
        (Value::Object(theirs), Value::Object(ours)) => {
            for (key, ours) in ours {
                let theirs = theirs.get(key).unwrap_or(&Value::Null);
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
            configuration: hash(&self.configuration()),
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
            links: links.get().unwrap_or(&no_links),
            durations: durations.get().unwrap_or(&no_durations),
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
        TiePolicy::Scripted(schedule) => format!("schedule {schedule}"),
    }
}

pub(super) fn hash(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

fn name_of(info: &GraphInfo, event_loop: LoopId) -> String {
    info.loops[event_loop].full_name()
}

/// A graph, a line for each thing in it.
pub(super) fn listing(info: &GraphInfo) -> String {
    let mut text = String::new();
    let mut line = |args: std::fmt::Arguments<'_>| {
        text.write_fmt(args).expect("a string takes all");
        text.push('\n');
    };
    for event_loop in info.loops.values() {
        line(format_args!("loop {}", event_loop.full_name()));
    }
    for id in info.callbacks.keys() {
        line(format_args!("callback {}", info.name_of(id)));
    }
    for topic in &info.topics {
        line(format_args!("topic {} of {}", topic.name, topic.message_type));
        for (by, source) in &topic.publishers {
            line(format_args!("  from {} as {}", name_of(info, *by), source.0));
        }
        for to in &topic.subscriptions {
            line(format_args!("  to {}", to.0));
        }
    }
    for service in &info.services {
        let (request, response) = (service.request_type, service.response_type);
        line(format_args!("service {} of {request} and {response}", service.name));
        let server = service.server.map(|server| server.0);
        line(format_args!("  server {server:?}"));
        for client in &service.clients {
            line(format_args!("  client {}", info.name_of(client.callback)));
        }
    }
    info.inputs.iter().for_each(|input| line(format_args!("input {input}")));
    text
}

/// The outcome of a run besides its dispatches, a line for each part.
pub(super) fn outcome(report: &Report) -> Vec<String> {
    let (end, exit_code) = (report.end(), report.exit_code());
    let mut lines = vec![format!("end {end}"), format!("exit code {exit_code:?}")];
    lines.extend(report.failures().iter().map(ToString::to_string));
    lines.push(format!("{:?}", counts(report)));
    lines.extend(callbacks(report).iter().map(|callback| format!("{callback:?}")));
    lines
}

fn counts(report: &Report) -> Counts {
    let statistics = report.statistics();
    let sum = |of: fn(&ringspin_executor::CallbackStatistics) -> u64| {
        statistics.callbacks.iter().map(of).sum()
    };
    Counts {
        dispatched: statistics.dispatched(),
        overwritten: statistics.overwritten(),
        lost: statistics.lost(),
        discarded: statistics.discarded(),
        expired: statistics.expired(),
        unmatched: statistics.unmatched(),
        missed: sum(|callback| callback.missed),
        late: sum(|callback| callback.late),
        refused: statistics.refused.iter().map(|(_, count)| count).sum(),
        overruns: report.overruns().iter().map(|(_, count)| count).sum(),
        foreign: report.foreign().iter().map(|(_, count)| count).sum(),
    }
}

fn callbacks(report: &Report) -> Vec<CallbackCounts> {
    let callbacks = report.statistics().callbacks.iter();
    let counts = callbacks.map(|callback| CallbackCounts {
        callback: format!("{} `{}`", callback.node, callback.callback),
        dispatched: callback.dispatched,
        dropped: callback.overwritten + callback.lost + callback.discarded + callback.expired,
    });
    counts.collect()
}
