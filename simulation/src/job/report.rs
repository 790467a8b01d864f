//! Report of a deterministic run.

use ringspin_executor::{Failure, GraphInfo, Statistics, Time};
use ringspin_modes::ChainSamples;
use ringspin_modes::deterministic::{InstantLog, LinkEffect, RunDigest, Schedule, Trace};
use std::sync::Arc;

/// Digest, statistics, failures and records of a deterministic run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub(super) digest: RunDigest,
    pub(super) dispatches: u64,
    pub(super) end: Time,
    pub(super) statistics: Statistics,
    pub(super) failures: Vec<Failure>,
    pub(super) exit_code: Option<u8>,
    pub(super) schedule: Schedule,
    pub(super) deviations: Vec<String>,
    pub(super) not_applied: Schedule,
    pub(super) links: Vec<LinkEffect>,
    pub(super) instant: InstantLog,
    pub(super) deviations_count: u64,
    pub(super) choices: u64,
    pub(super) overruns: Vec<(String, u64)>,
    pub(super) foreign: Vec<(String, u64)>,
    pub(super) chains: Vec<ChainSamples>,
    pub(super) info: Arc<GraphInfo>,
    pub(super) trace: Option<Trace>,
}

impl Report {
    /// The stable hash of all dispatch records.
    pub fn digest(&self) -> RunDigest {
        self.digest
    }

    /// The number of dispatched events.
    pub fn dispatches(&self) -> u64 {
        self.dispatches
    }

    /// Simulated time at the end.
    pub fn end(&self) -> Time {
        self.end
    }

    /// All counters.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The failures of isolated nodes.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// The code with which a node [ended](ringspin_executor::Context::exit) the run, if one did.
    pub fn exit_code(&self) -> Option<u8> {
        self.exit_code
    }

    /// How the run deviated from the contract's order and from the delays of its links: empty
    /// without a tie policy and jitter.
    ///
    /// Of a long run it has the first 10,000 deviations of order and the first 10,000 delays, so
    /// that memory stays flat: [`is_schedule_complete`](Self::is_schedule_complete) tells. Only a
    /// complete schedule repeats the run; its seeds always do.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Whether the [schedule](Self::schedule) has all deviations.
    pub fn is_schedule_complete(&self) -> bool {
        self.schedule.len() as u64 == self.deviations_count
    }

    /// The number of deviations of the run, including those that the [schedule](Self::schedule)
    /// does not have.
    pub fn deviations_count(&self) -> u64 {
        self.deviations_count
    }

    /// The [schedule](Self::schedule) in words.
    pub fn deviations(&self) -> &[String] {
        &self.deviations
    }

    /// The entries of the schedule that the run was to follow and that were not applied, because it
    /// had no such choice or message.
    pub fn not_applied(&self) -> &Schedule {
        &self.not_applied
    }

    /// How often a tie policy had a choice.
    pub fn choices(&self) -> u64 {
        self.choices
    }

    /// The callbacks that returned later than their logical execution time, and how often: their
    /// publications left late.
    pub fn overruns(&self) -> &[(String, u64)] {
        &self.overruns
    }

    /// The events that other threads than that of the run caused, by receiver, and their number: as
    /// in ("events for /fusion `subscription /points`", 3). They come at times that no other run
    /// repeats. The messages, triggers and calls of every thread but the one that runs the job
    /// count, whatever these wait for.
    pub fn foreign(&self) -> &[(String, u64)] {
        &self.foreign
    }

    /// The samples of the [chains](crate::Job::with_chains), in their order.
    pub fn chains(&self) -> &[ChainSamples] {
        &self.chains
    }

    /// Takes the trace, if the run kept one.
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.trace.take()
    }

    /// The graph that ran.
    pub fn graph(&self) -> &GraphInfo {
        &self.info
    }
}
