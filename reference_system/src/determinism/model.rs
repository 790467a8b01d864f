//! The benchmark without an executor: a first-in first-out queue with a given order of timers.
//!
//! The results of the nodes are checked against this model, and it explains upstream's golden
//! value. `rclcpp` keeps its timers in a binary heap that compares deadlines only, so timers of one
//! instant run in the order of the heap: [`RclcppHeap`]. Two facts determine that order:
//!
//! * The timer that was called stays at the root until it has its next deadline; then it sinks.
//!   Popping and pushing it again would give another order.
//! * A fourth timer is in the heap. Upstream's job adds a node that reads the time every second
//!   ([`MONITOR`]), after the others. Without it, no order of creation gives the golden value.
//!
//! Four timers can be created in 24 orders. The natural one ([`TIMERS`], then the monitor) is one
//! of 8 that give [`UPSTREAM`](super::UPSTREAM); 10 and 6 give two other results. The resulting
//! order is: overdue timers at the start by deadline, as everywhere; at each later whole second the
//! 40 ms timer, then the 100 ms timer, then the 50 ms timer; at all other times in order of
//! creation.

use super::{CALLBACKS, END, Input, NODES, Output, START, States};
use ringspin_executor::Time;
use std::collections::VecDeque;

/// The benchmark's timers in order of creation, as indices into [`CALLBACKS`].
pub const TIMERS: [usize; 3] = [0, 1, 4];

/// The number of upstream's fourth timer, which triggers no callback of the benchmark.
pub const MONITOR: usize = CALLBACKS.len();

/// An order of timers.
pub trait TimerOrder {
    /// The next timer, with its deadline in nanoseconds.
    fn first(&self) -> (u64, usize);

    /// Sets the next deadline of the first timer.
    fn postpone_first(&mut self, deadline: u64);
}

/// By deadline, then creation.
#[derive(Clone, Debug)]
pub struct TotalOrder(Vec<(u64, usize)>);

impl TotalOrder {
    /// The benchmark's timers, each first due one period after time zero.
    #[must_use]
    pub fn new() -> Self {
        let mut timers = TIMERS.map(|timer| (period_ns(timer), timer)).to_vec();
        timers.sort_unstable();
        Self(timers)
    }
}

impl Default for TotalOrder {
    fn default() -> Self {
        Self::new()
    }
}

impl TimerOrder for TotalOrder {
    fn first(&self) -> (u64, usize) {
        self.0[0]
    }

    fn postpone_first(&mut self, deadline: u64) {
        self.0[0].0 = deadline;
        self.0.sort_unstable(); // numbers rise in order of creation
    }
}

/// The timer heap of `rclcpp`'s events executor as built by libstdc++: the earliest deadline first;
/// equal deadlines in heap order.
#[derive(Clone, Debug)]
pub struct RclcppHeap(Vec<(u64, usize)>);

impl RclcppHeap {
    /// Creates timers in the given order, of [`TIMERS`] and [`MONITOR`], each first due one period
    /// after time zero.
    #[must_use]
    pub fn new(timers: &[usize]) -> Self {
        let mut heap = Self(Vec::with_capacity(timers.len()));
        for &timer in timers {
            heap.0.push((period_ns(timer), timer));
            heap.sift_up(heap.0.len() - 1);
        }
        heap
    }

    /// Moves an entry up past later parents, but not past equal ones.
    fn sift_up(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.0[parent].0 <= self.0[place].0 {
                return;
            }
            self.0.swap(parent, place);
            place = parent;
        }
    }
}

impl TimerOrder for RclcppHeap {
    fn first(&self) -> (u64, usize) {
        self.0[0]
    }

    /// Moves the root down to a leaf, each time past the earlier child, or past the right one if
    /// they are equal, and then up again.
    fn postpone_first(&mut self, deadline: u64) {
        self.0[0].0 = deadline;
        let mut place = 0;
        while 2 * place + 1 < self.0.len() {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let right_is_next = self.0.get(right).is_some_and(|next| next.0 <= self.0[left].0);
            let child = if right_is_next { right } else { left };
            self.0.swap(place, child);
            place = child;
        }
        self.sift_up(place);
    }
}

/// Runs the benchmark with the given order of timers: the nodes' final states, and the number of
/// calls of each of [`CALLBACKS`].
pub fn simulate(timers: &mut impl TimerOrder) -> (States, [u64; CALLBACKS.len()]) {
    let mut nodes = Nodes::new();
    let mut now = START;
    while now <= END {
        loop {
            let (deadline, timer) = timers.first();
            if deadline > now.as_nanos() {
                now = Time::from_nanos(deadline);
                break;
            }
            nodes.call(timer, now, None);
            while let Some((callback, payload)) = nodes.events.pop_front() {
                nodes.call(callback, now, payload);
            }
            let period = period_ns(timer);
            // The first multiple after now: deadlines are multiples of the period, because the
            // phase is zero.
            timers.postpone_first((now.as_nanos() / period + 1) * period);
        }
    }
    (nodes.states, nodes.calls)
}

pub(super) fn period_ns(timer: usize) -> u64 {
    let period_ms = match CALLBACKS.get(timer).map(|callback| callback.input) {
        Some(Input::Timer(period_ms)) => period_ms,
        _ => 1000,
    };
    period_ms * 1_000_000
}

struct Nodes {
    states: States,
    /// Pending callbacks, in order, with their payloads.
    events: VecDeque<(usize, Option<u64>)>,
    calls: [u64; CALLBACKS.len()],
}

impl Nodes {
    fn new() -> Self {
        let states = States(NODES.map(|(_, state)| state));
        Self { states, events: VecDeque::new(), calls: [0; CALLBACKS.len()] }
    }

    /// Calls a callback, or the monitor.
    fn call(&mut self, index: usize, now: Time, payload: Option<u64>) {
        let Some(callback) = CALLBACKS.get(index) else { return };
        let state = &mut self.states.0[callback.node];
        *state = callback.next_state(*state, now, payload);
        self.calls[index] += 1;
        let (input, payload) = match callback.output {
            Output::Topic(topic) => (Input::Topic(topic), Some(*state)),
            Output::Call => (Input::Request, None),
            Output::Answer => (Input::Response, Some(*state)),
            Output::None => return,
        };
        // No queue of depth 1 overflows: an instant has only one chain of events.
        let called = CALLBACKS.iter().enumerate().filter(|(_, callback)| callback.input == input);
        self.events.extend(called.map(|(index, _)| (index, payload)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TOTAL_ORDER, UPSTREAM};
    use super::*;

    fn counts() -> [u64; CALLBACKS.len()] {
        CALLBACKS.map(|callback| callback.calls)
    }

    #[test]
    fn the_total_order_gives_the_projects_known_answer() {
        assert_eq!(simulate(&mut TotalOrder::new()), (TOTAL_ORDER, counts()));
    }

    #[test]
    fn timers_created_in_the_natural_order_give_upstreams_golden_value() {
        let [a_100, a_50, b_40] = TIMERS;
        let mut heap = RclcppHeap::new(&[a_100, a_50, b_40, MONITOR]);
        assert_eq!(simulate(&mut heap), (UPSTREAM, counts()));
    }

    /// All permutations of `rest`, each after `first`.
    fn orders(first: &[usize], rest: &[usize]) -> Vec<Vec<usize>> {
        if rest.is_empty() {
            return vec![first.to_vec()];
        }
        let start_with = |&timer: &usize| {
            let others: Vec<_> = rest.iter().copied().filter(|other| *other != timer).collect();
            orders(&[first, &[timer]].concat(), &others)
        };
        rest.iter().flat_map(start_with).collect()
    }

    fn results(orders: &[Vec<usize>]) -> Vec<States> {
        orders.iter().map(|order| simulate(&mut RclcppHeap::new(order)).0).collect()
    }

    #[test]
    fn the_24_orders_of_four_timers_give_three_results() {
        let [a_100, a_50, b_40] = TIMERS;
        let results = results(&orders(&[], &[a_100, a_50, b_40, MONITOR]));
        let mut hashes: Vec<u64> = results.iter().map(States::hash).collect();
        hashes.sort_unstable();
        let mut sizes: Vec<_> = hashes.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [6, 8, 10]);
        assert_eq!(results.iter().filter(|states| **states == UPSTREAM).count(), 8);
    }

    #[test]
    fn without_the_monitor_no_order_gives_the_golden_value() {
        let results = results(&orders(&[], &TIMERS));
        assert_eq!(results.len(), 6);
        assert!(!results.contains(&UPSTREAM) && !results.contains(&TOTAL_ORDER));
    }

    /// The order in the last sentence of the module documentation.
    struct Rule(Vec<(u64, usize)>);

    impl Rule {
        fn rank(&(deadline, timer): &(u64, usize)) -> (u64, usize, usize) {
            let [_, a_50, b_40] = TIMERS;
            let whole_second = deadline.is_multiple_of(1_000_000_000);
            let place = match timer {
                timer if whole_second && timer == b_40 => 0,
                timer if whole_second && timer == a_50 => 2,
                _ => 1,
            };
            (deadline, place, timer)
        }
    }

    impl TimerOrder for Rule {
        fn first(&self) -> (u64, usize) {
            self.0[0]
        }

        fn postpone_first(&mut self, deadline: u64) {
            self.0[0].0 = deadline;
            self.0.sort_unstable_by_key(Self::rank);
        }
    }

    #[test]
    fn a_simple_rule_reproduces_the_golden_value() {
        let TotalOrder(timers) = TotalOrder::new();
        let mut rule = Rule(timers);
        rule.0.sort_unstable_by_key(Rule::rank);
        assert_eq!(simulate(&mut rule).0, UPSTREAM);
    }
}
