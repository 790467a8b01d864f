//! How a run ended, and its figures.

use crate::faults::Activity;
use crate::provenance::Origin;
use ringspin_modes::ScheduleEntry;
use std::collections::{BTreeMap, BTreeSet};

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
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

/// The figures of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) now: u64,
    pub(crate) messages: u64,
    pub(crate) turns: u64,
    pub(crate) turns_ahead: u64,
    /// The processes that failed, in words.
    pub(crate) failures: Vec<String>,
    pub(crate) choices: u64,
    pub(crate) thread_choices: u64,
    /// The deviations from the default order and the faults of the schedule, in words.
    pub(crate) deviations: Vec<(ScheduleEntry, String)>,
    /// The links, durations, faults and entries of the schedule that were for nothing.
    pub(crate) unused_rules: Vec<String>,
    pub(crate) activity: Activity,
    pub(crate) origins: BTreeMap<String, Origin>,
    pub(crate) remarks: BTreeSet<String>,
}
