//! The order of timers of one instant: ringspin's own, or the one of upstream's golden value.

use super::model::{MONITOR, RclcppHeap, TIMERS, TimerOrder, period_ns};
use super::{START, States, TOTAL_ORDER, UPSTREAM};
use ringspin_executor::Time;
use ringspin_modes::{Candidate, TieBreaker};
use serde::Serialize;

/// The order of timers that are due at the same instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// By deadline, then creation: the order of the deterministic mode.
    #[default]
    Total,
    /// The order of rclcpp's timer heap, for upstream's golden value.
    Upstream,
}

impl Ties {
    /// The expected result of every run.
    #[must_use]
    pub fn expected(self) -> States {
        match self {
            Self::Total => TOTAL_ORDER,
            Self::Upstream => UPSTREAM,
        }
    }
}

/// Upstream's order: events in the order in which they became ready; among due timers, the one at
/// the root of [`RclcppHeap`].
///
/// The heap advances by itself, because it depends on nothing but the timers. Steps without a
/// choice (a timer that is due alone, and upstream's monitor, which is not part of the graph) are
/// made up for at the next choice.
#[derive(Clone, Debug)]
pub struct UpstreamTies(RclcppHeap);

impl UpstreamTies {
    /// Creates the order with the benchmark's timers and upstream's monitor, at [`START`].
    #[must_use]
    pub fn new() -> Self {
        let [a_100, a_50, b_40] = TIMERS;
        Self(RclcppHeap::new(&[a_100, a_50, b_40, MONITOR]))
    }

    /// Sets the next deadline of the timer at the root, which is called at `now`.
    fn call_first(&mut self, now: u64) {
        let period = period_ns(self.0.first().1);
        self.0.postpone_first((now / period + 1) * period);
    }
}

impl Default for UpstreamTies {
    fn default() -> Self {
        Self::new()
    }
}

impl TieBreaker for UpstreamTies {
    fn choose(&mut self, now: Time, candidates: &[Candidate]) -> usize {
        if candidates.iter().any(|candidate| !candidate.due_timer) {
            return 0;
        }
        let now = now.as_nanos();
        loop {
            let (deadline, timer) = self.0.first();
            // Timers that were overdue at the start were called then.
            let called = deadline.max(START.as_nanos());
            if called > now {
                return 0; // not a timer of the benchmark
            }
            self.call_first(called);
            // The graph creates its callbacks in table order, up to its timers.
            let is_it = |candidate: &Candidate| candidate.callback.0 as usize == timer;
            if called == now
                && let Some(chosen) = candidates.iter().position(is_it)
            {
                return chosen;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CALLBACKS, nodes, runs};
    use super::*;
    use ringspin_executor::{CallbackId, Graph, StopHandle};
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn timer_numbers_match_the_table() {
        let environment = nodes::RunEnvironment {
            sleep_max: Duration::ZERO,
            stop: StopHandle::default(),
            on_second: Arc::new(|| ()),
        };
        let graph = Graph::new();
        nodes::build(&graph, &environment, &std::sync::mpsc::channel().0).unwrap();
        let info = graph.info();
        for timer in TIMERS {
            let id = CallbackId(timer as u32);
            assert_eq!(info.callbacks[id].name, CALLBACKS[timer].name());
        }
    }

    #[test]
    fn upstreams_order_gives_upstreams_golden_value() {
        let outcome = runs::run(Ties::Upstream, Duration::ZERO, &StopHandle::default(), || ());
        let outcome = outcome.unwrap().unwrap();
        assert_eq!(outcome.states, UPSTREAM);
        assert_eq!(outcome.states.hash(), 7_448_837_717_382_456_148);
        assert_eq!(outcome.calls, CALLBACKS.map(|callback| callback.calls));
        assert!(outcome.is_known_answer(Ties::Upstream) && !outcome.is_known_answer(Ties::Total));
    }
}
