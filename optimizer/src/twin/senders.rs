//! Observation of the messages that each callback sends, in simulations.
//!
//! A graph knows which loop sends on which topic, and a live run only allows an inference about the
//! call. A simulation knows the call. It runs with equal durations for all callbacks: in the
//! default order, and with simultaneous events in other orders, because the mapping decides which
//! input of a node comes last.

use super::{Build, not_built, not_run, without_logs};
use ringspin_executor::{CallbackId, GraphChange, GraphInfo, Result, Table};
use ringspin_modes::deterministic::Trace;
use ringspin_modes::names::exact_name;
use ringspin_modes::{Executor, Simulation, TiePolicy};
use ringspin_simulation::models::{Distribution, DurationRule, Durations};
use std::time::Duration;

/// The shortest and the longest simulated span; in between, each timer fires twice.
const SPAN: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(20)];

/// The duration of every callback. Not zero, so that time advances in a cycle of callbacks, too.
const TOOK: Duration = Duration::from_micros(1);

/// The observed messages of the callbacks of a graph.
pub(super) struct Senders {
    /// By callback: the number of calls that sent nothing, and of those that sent a message.
    calls: Table<CallbackId, [u64; 2]>,
    /// Whether nodes or groups are created later.
    pub(super) has_later: bool,
}

impl Senders {
    /// Runs the graph and counts the messages.
    pub(super) fn observe(
        build: &Build<'_>,
        info: &GraphInfo,
        longest_period: Duration,
    ) -> Result<Self> {
        let calls = info.callbacks.map(|_, _| [0; 2]);
        let mut seen = Self { calls, has_later: false };
        let span = longest_period.saturating_mul(2).clamp(SPAN[0], SPAN[1]);
        for ties in [TiePolicy::Fifo, TiePolicy::Reverse, TiePolicy::Shuffle { seed: 0 }] {
            seen.add(&without_logs(|| trace(build, info, ties, span))?);
        }
        Ok(seen)
    }

    fn add(&mut self, trace: &Trace) {
        let is_later = |change: &GraphChange| matches!(change, GraphChange::LoopAdded { .. });
        self.has_later |= trace.changes.iter().any(|(_, change)| is_later(change));
        let mut has_sent = vec![false; trace.records.len()];
        for &(_, sender) in &trace.sent {
            has_sent[sender] = true;
        }
        for (record, has_sent) in trace.records.iter().zip(has_sent) {
            // Callbacks that come later have a total only.
            if let Some(calls) = self.calls.get_mut(record.dispatch.callback) {
                calls[usize::from(has_sent)] += 1;
            }
        }
    }

    /// Whether only some calls of a callback send a message.
    pub(super) fn sends_sometimes(&self, callback: CallbackId) -> bool {
        self.calls[callback].iter().all(|&calls| calls > 0)
    }
}

fn trace(build: &Build<'_>, info: &GraphInfo, ties: TiePolicy, span: Duration) -> Result<Trace> {
    let loops = info.loops.values().filter(|event_loop| !event_loop.callbacks.is_empty());
    let names = loops.map(|event_loop| exact_name(&event_loop.full_name()));
    let rules = names.map(|name| DurationRule::new(name).duration(Distribution::fixed(TOOK)));
    let durations = rules.fold(Durations::new(), Durations::rule);
    let simulation = Simulation { durations: durations.into(), ties, ..Simulation::default() };
    let mut executor = Executor::deterministic(simulation).with_trace();
    let handles = build(executor.graph()).map_err(not_built)?;
    executor.spin_for(span).map_err(not_run)?;
    let trace = executor.take_trace().unwrap_or_default();
    drop(handles);
    Ok(trace)
}
