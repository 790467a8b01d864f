//! The parts of a graph and of a run that reports, certificates and fresh processes compare.
//!
//! All functions read a finished report, or the description of a graph, on the thread that asks.
//! They return texts with a line for each part, because a fresh process writes them to a file for
//! the process that compares, and because the first line that differs explains the difference to a
//! reader; a hash alone, as in a certificate, only tells that there is one.

use super::Report;
use ringspin_executor::{GraphInfo, LoopId, TopicInfo};
use serde::Serialize;
use std::fmt::Write as _;
use xxhash_rust::xxh3::xxh3_128;

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
    /// Publishers without [digested](ringspin_executor::Publisher::digested) messages, as in
    /// "/lidar on /points": the digest sees that there is a message, not its content.
    pub publishers: Vec<String>,
    /// Event loops without a [digested](ringspin_executor::Node::digest_state) state.
    pub states: Vec<String>,
    /// Services: of their requests and responses, the digest sees the order.
    pub services: Vec<String>,
    /// Inputs: their items are digested as far as their publishers are.
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

/// Whether the messages of a topic leave its node: a node's own topic without a subscription has no
/// effect at all.
fn is_seen(topic: &TopicInfo) -> bool {
    !topic.subscriptions.is_empty() || !topic.name.contains("/__")
}

pub(super) fn hash(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

fn name_of(info: &GraphInfo, event_loop: LoopId) -> String {
    info.loops[event_loop].full_name()
}

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

pub(super) fn counts(report: &Report) -> Counts {
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

pub(super) fn callbacks(report: &Report) -> Vec<CallbackCounts> {
    let callbacks = report.statistics().callbacks.iter();
    let counts = callbacks.map(|callback| CallbackCounts {
        callback: format!("{} `{}`", callback.node, callback.callback),
        dispatched: callback.dispatched,
        dropped: callback.overwritten + callback.lost + callback.discarded + callback.expired,
    });
    counts.collect()
}
