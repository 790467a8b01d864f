//! How a run ended, and its figures.

use crate::faults::Activity;
use crate::provenance::Origin;
use ringspin_executor::Time;
use ringspin_modes::ScheduleEntry;
use std::collections::{BTreeMap, BTreeSet};

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunEnd {
    /// Its simulated time was over.
    Time,
    /// The process that the system names has ended, with this code: 128 and the number of a signal
    /// that ended it.
    Process(u8),
    /// The topic that the system names has had a message.
    Message,
    /// All processes have ended.
    #[default]
    Processes,
    /// A process has failed, and the run was to end then.
    Failure,
    /// All processes wait, and none for a time.
    Quiet,
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Why it ended.
    pub end: RunEnd,
    /// The simulated time of the end.
    pub time: Time,
    /// The messages, requests and responses that processes sent.
    pub messages: u64,
    /// The turns of all processes.
    pub turns: u64,
    /// How many of them were while another process computed, which differs from run to run.
    pub turns_ahead: u64,
    /// A digest of all that happened: messages, order of threads, and output.
    pub digest: u64,
    /// The processes that ended with another code than 0, or were killed, in words.
    pub failures: Vec<String>,
    /// The links, durations, faults and entries of the schedule that were for nothing, in words.
    pub unused_rules: Vec<String>,
    /// How often several events, or deadlines, of one instant could be next.
    pub choices: u64,
    /// The most choices among the threads of a process, where their order is not the usual one.
    pub thread_choices: u64,
    /// The choices that did not take the first candidate, and the faults of the schedule, in words.
    pub deviations: Vec<(ScheduleEntry, String)>,
    pub(crate) activity: Activity,
    pub(crate) origins: BTreeMap<String, Origin>,
    /// The remarks of the simulation on what processes do.
    pub(crate) remarks: BTreeSet<String>,
    /// The digest after some numbers of lines of the record, in words.
    pub(crate) marks: Vec<String>,
}
