//! The parts of a system and of a schedule that were for nothing in a run.

use super::Coordinator;
use crate::system::Fault;
use ringspin_modes::{Schedule, TiePolicy};

impl Coordinator<'_, '_> {
    /// The kills and losses of the system that did not happen, and the entries of the schedule that
    /// were not applied.
    pub(super) fn unused_faults(&self) -> Vec<String> {
        let problem = |(n, fault): (usize, &Fault)| {
            let problem = match fault {
                Fault::Kill { .. } if !self.used_kills.contains(&n) => {
                    "it does not run then; correct `at`"
                }
                Fault::Loss { .. } if self.graph.faults.is_left(self.system, fault) => {
                    "there is no such message; correct `message`"
                }
                _ => return None,
            };
            Some(format!("fault {} ({fault}): {problem}", n + 1))
        };
        let mut unused: Vec<_> = self.system.fault.iter().enumerate().filter_map(problem).collect();
        if let TiePolicy::Scripted(schedule) = &self.options.ties {
            let applied: Schedule =
                self.report.deviations.iter().map(|(entry, _)| *entry).collect();
            let left = schedule.without(&applied);
            unused.extend((!left.is_empty()).then(|| left.not_applied().to_string()));
        }
        unused
    }

    /// The durations that were for no endpoint, in words; those for timers cannot be known.
    pub(super) fn unused_durations(&self) -> impl Iterator<Item = String> {
        let rules = self.system.duration.iter().zip(0..).skip(self.system.profiled);
        let unused = rules.filter(|(rule, n)| {
            let is_timer = rule.callback.as_ref().is_none_or(|text| text.starts_with("timer"));
            !is_timer && !self.used_durations.contains(n)
        });
        unused.map(|(rule, n)| {
            let (process, callback) = (&rule.process, rule.callback.as_deref().unwrap_or_default());
            format!(
                "duration {} (`{callback}` of {process}): there is no such callback; correct it",
                n + 1 - self.system.profiled
            )
        })
    }
}
