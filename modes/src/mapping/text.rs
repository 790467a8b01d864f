//! A mapping as one line for a log.

use super::Mapping;
use crate::names::list;
use crate::quantity::Nanos;
use ringspin_executor::WaitStrategy;
use std::fmt;
use std::time::Duration;

/// The SCHED_FIFO priorities that a worker may ask for.
pub(super) const FIFO_PRIORITIES: std::ops::RangeInclusive<u8> = 1..=99;

/// One line for a log; with feature `toml`, `to_toml_string` is the form to store.
impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.use_isolated { "isolated core" } else { "core" };
        let mut parts: Vec<String> = Vec::new();
        for core in &self.cores {
            let options = [
                core.priority.map(|priority| format!("priority {priority}")),
                core.isolated.then(|| "isolated".to_owned()),
                core.wait.map(|strategy| format!("wait {}", wait_text(strategy))),
            ];
            let options: Vec<_> = options.into_iter().flatten().collect();
            let options = match options.is_empty() {
                true => String::new(),
                false => format!(" ({})", list(&options)),
            };
            parts.push(format!("{kind} {}{options}: {}", core.id, list(&core.nodes)));
        }
        parts.extend(self.default_core.map(|core| format!("all others: {kind} {core}")));
        if parts.is_empty() {
            parts.push("empty".into());
        }
        if !self.dispatch_priorities.is_empty() {
            let priority = |(entry, priority): (&String, &u8)| format!("{entry} = {priority}");
            let priorities: Vec<_> = self.dispatch_priorities.iter().map(priority).collect();
            parts.push(format!("dispatch priorities: {}", list(&priorities)));
        }
        if !self.later.is_empty() {
            parts.push(format!("later: {}", list(&self.later)));
        }
        parts.extend(self.lock_memory.then(|| "memory locked".to_owned()));
        f.write_str(&parts.join("; "))
    }
}

/// A wait strategy as one word: `spin`, `yield`, `park`, or how long to spin before parking.
pub(super) fn wait_text(strategy: WaitStrategy) -> String {
    match strategy {
        WaitStrategy::Spin => "spin".into(),
        WaitStrategy::Yield => "yield".into(),
        WaitStrategy::SpinThenPark(Duration::ZERO) => "park".into(),
        WaitStrategy::SpinThenPark(limit) => Nanos::from(limit).to_string(),
    }
}
