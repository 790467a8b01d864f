//! Budgets of event loops: how long the callbacks of a loop may run in each period.
//!
//! The thread that runs a loop measures its callbacks and is the only writer of the counter; the
//! monitor reads it at any time. A loop without a budget pays nothing. A period begins with the
//! first callback after the end of the one before, so a loop that rests needs no timer.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::event::LoopId;
use crate::base::lock::lock;
use crate::base::time::Time;
use ringspin_ringbuf::Counter;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long the callbacks of an event loop may run in each period, such as 2 ms in 10 ms.
///
/// A period begins with a callback, and the first callback after its end begins the next one. A
/// callback counts where it began. Nothing is interrupted or delayed: a period in which the
/// callbacks ran for longer is [counted](BudgetStatistics::exceeded), and the log has the first
/// one, and then one whenever their number has doubled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    time: Duration,
    period: Duration,
}

impl Budget {
    /// A budget of `time` in each `period`.
    ///
    /// ```
    /// use ringspin_executor::Budget;
    /// use std::time::Duration;
    /// let budget = Budget::new(Duration::from_millis(2), Duration::from_millis(10))?;
    /// assert_eq!(budget.to_string(), "2ms / 10ms");
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if `time` is zero, or not shorter than `period`.
    pub fn new(time: Duration, period: Duration) -> Result<Self> {
        if time.is_zero() || time >= period {
            let text = format!(
                "a budget of {time:?} in {period:?} is not possible: its time must be above zero \
                 and below its period, as in 2 ms / 10 ms"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        Ok(Self { time, period })
    }

    /// The time in each period.
    pub fn time(self) -> Duration {
        self.time
    }

    /// The length of a period.
    pub fn period(self) -> Duration {
        self.period
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} / {:?}", self.time, self.period)
    }
}

/// The budget of one event loop; see [`Statistics::budgets`](crate::Statistics::budgets).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetStatistics {
    /// The name of the loop: `/node` or `/node:group`.
    pub event_loop: String,
    /// The budget that it has now.
    pub budget: Budget,
    /// The number of periods in which its callbacks ran for longer, since it has this budget.
    pub exceeded: u64,
}

/// The budgets of a graph, by loop. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Budgets(Arc<Mutex<BTreeMap<LoopId, Entry>>>);

struct Entry {
    name: Arc<str>,
    budget: Budget,
    exceeded: Arc<Counter>,
}

impl Budgets {
    /// Gives a loop a budget, or none. Returns the measurement for its body.
    pub(crate) fn set(
        &self,
        of: LoopId,
        name: String,
        budget: Option<Budget>,
    ) -> Option<BudgetWatch> {
        self.remove(of);
        let budget = budget?;
        let (name, exceeded) = (Arc::from(name), Arc::<Counter>::default());
        let entry = Entry { name: Arc::clone(&name), budget, exceeded: exceeded.clone() };
        lock(&self.0).insert(of, entry);
        Some(BudgetWatch { name, budget, exceeded, end: Time::ZERO, used: Duration::ZERO })
    }

    pub(crate) fn remove(&self, of: LoopId) {
        lock(&self.0).remove(&of);
    }

    /// The statistics of the loops that have a budget, in order of creation.
    pub(crate) fn statistics(&self) -> Vec<BudgetStatistics> {
        let statistics = |Entry { name, budget, exceeded }: &Entry| BudgetStatistics {
            event_loop: name.to_string(),
            budget: *budget,
            exceeded: exceeded.get(),
        };
        lock(&self.0).values().map(statistics).collect()
    }
}

/// Measures the callbacks of one loop.
pub(crate) struct BudgetWatch {
    name: Arc<str>,
    budget: Budget,
    exceeded: Arc<Counter>,
    /// Of the current period.
    end: Time,
    used: Duration,
}

impl BudgetWatch {
    /// A callback has run.
    pub(crate) fn ran(&mut self, began: Time, ended: Time) {
        // A period that ends later than a whole one from now is from before a jump of the clock.
        if began >= self.end || self.end > began + self.budget.period {
            self.end = began + self.budget.period;
            self.used = Duration::ZERO;
        }
        let before = self.used;
        self.used += ended.since(began);
        if before <= self.budget.time && self.used > self.budget.time {
            self.exceeded.add_by_owner(1);
            let exceeded = self.exceeded.get();
            if exceeded.is_power_of_two() {
                let (event_loop, budget, used) = (&self.name, self.budget, self.used);
                tracing::warn!(%event_loop, %budget, ?used, exceeded, "a budget was exceeded");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The number of exceeded periods after callbacks that began and ended at these times, in ms.
    fn exceeded(callbacks: &[(u64, u64)]) -> u64 {
        let budgets = Budgets::default();
        let budget = Budget::new(ms(2), ms(10)).unwrap();
        let mut watch = budgets.set(LoopId(0), "/planner".into(), Some(budget)).unwrap();
        let at = |time| Time::ZERO + ms(time);
        callbacks.iter().for_each(|&(began, ended)| watch.ran(at(began), at(ended)));
        budgets.statistics()[0].exceeded
    }

    #[test]
    fn each_period_counts_once() {
        assert_eq!(exceeded(&[]), 0);
        assert_eq!(exceeded(&[(5, 7)]), 0, "exactly the budget");
        assert_eq!(exceeded(&[(5, 8)]), 1);
        assert_eq!(exceeded(&[(5, 6), (8, 9), (14, 15)]), 1, "in one period, which begins at 5");
        assert_eq!(exceeded(&[(5, 6), (8, 9), (15, 16)]), 0, "the last one begins another");
        assert_eq!(exceeded(&[(0, 3), (3, 6), (6, 9)]), 1);
        assert_eq!(exceeded(&[(0, 3), (10, 13), (20, 23)]), 3);
        assert_eq!(exceeded(&[(0, 35), (35, 36)]), 1, "a long callback counts where it began");
        assert_eq!(exceeded(&[(9, 10), (0, 2), (3, 4)]), 1, "a clock that jumped back");
    }

    #[test]
    fn impossible_budgets_are_refused() {
        for (time, period) in [(0, 10), (10, 10), (11, 10), (0, 0)] {
            let text = Budget::new(ms(time), ms(period)).unwrap_err().to_string();
            assert!(text.contains("below its period"), "{text}");
        }
        let budget = Budget::new(ms(2), ms(10)).unwrap();
        assert_eq!((budget.time(), budget.period()), (ms(2), ms(10)));
    }

    #[test]
    fn statistics_are_of_the_budgets_that_hold() {
        let budgets = Budgets::default();
        let budget = |time| Some(Budget::new(ms(time), ms(10)).unwrap());
        let mut first = budgets.set(LoopId(1), "/b".into(), budget(1)).unwrap();
        budgets.set(LoopId(0), "/a".into(), budget(2));
        first.ran(Time::ZERO, Time::ZERO + ms(5));
        let shown = || -> Vec<String> {
            let show =
                |of: BudgetStatistics| format!("{} {} {}", of.event_loop, of.budget, of.exceeded);
            budgets.statistics().into_iter().map(show).collect()
        };
        assert_eq!(shown(), ["/a 2ms / 10ms 0", "/b 1ms / 10ms 1"]);
        budgets.set(LoopId(1), "/b".into(), budget(3));
        assert!(budgets.set(LoopId(0), "/a".into(), None).is_none());
        assert_eq!(shown(), ["/b 3ms / 10ms 0"], "another budget counts anew");
    }
}
