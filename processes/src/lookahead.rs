//! Which events cannot be preceded any more: the processes that they are for may compute at once,
//! while those before them in the order do.
//!
//! A message takes at least the least delay of its link, and a change of the graph takes that. So
//! an event for a process is the next one there for sure, if nothing that can still happen
//! elsewhere reaches the process earlier, also by way of others. Events in the queue have a place
//! before those of the same time that come later, so without links this is so for the events of
//! one instant.

use crate::system::System;
use ringspin_simulation::models::LinkRule;

/// The least delays between the processes of a system, by their places.
#[derive(Debug)]
pub(crate) struct Lookahead {
    count: usize,
    /// From one process directly to another one.
    delays: Vec<u64>,
    /// By way of any others.
    distances: Vec<u64>,
}

impl Lookahead {
    /// The delays of these rules, of which a later one replaces those before it.
    pub(crate) fn new(system: &System, rules: &[LinkRule]) -> Self {
        let names: Vec<_> = system.processes.iter().map(|process| &*process.name).collect();
        let count = names.len();
        let ways = names.iter().flat_map(|from| names.iter().map(move |to| (*from, *to)));
        let delays: Vec<_> = ways.map(|(from, to)| least_delay(rules, from, to)).collect();
        let mut distances = delays.clone();
        for by in 0..count {
            for from in 0..count {
                for to in 0..count {
                    let (first, second) =
                        (distances[from * count + by], distances[by * count + to]);
                    let way = &mut distances[from * count + to];
                    *way = (*way).min(first.saturating_add(second));
                }
            }
        }
        Self { count, delays, distances }
    }

    /// The least time that something takes from one process to another one.
    pub(crate) fn delay(&self, from: u32, to: u32) -> u64 {
        self.delays[self.way(from, to)]
    }

    /// Whether anything takes time.
    pub(crate) fn is_any(&self) -> bool {
        self.delays.iter().any(|delay| *delay > 0)
    }

    /// Whether nothing happens to the process `to` before an event of this time, where other
    /// processes have these numbers and do nothing before these times.
    pub(crate) fn is_next(
        &self,
        time: u64,
        to: u32,
        others: impl Iterator<Item = (u32, u64)>,
    ) -> bool {
        let mut others = others.filter(|(from, _)| *from != to);
        others.all(|(from, next)| next.saturating_add(self.distances[self.way(from, to)]) >= time)
    }

    /// Each start of a process adds the number of processes to its own.
    fn way(&self, from: u32, to: u32) -> usize {
        let [from, to] = [from, to].map(|number| number as usize % self.count);
        from * self.count + to
    }
}

/// The least delay of what a process sends to another one, if rules are for all of it.
fn least_delay(rules: &[LinkRule], from: &str, to: &str) -> u64 {
    let mut least = u64::MAX;
    for rule in rules.iter().rev() {
        // A name with a slash is that of a node, which any process may have.
        let may_be = |end: &Option<String>, name: &str| {
            end.as_ref().is_none_or(|end| end == name || end.starts_with('/'))
        };
        let is = |end: &Option<String>, name: &str| end.as_ref().is_none_or(|end| end == name);
        if !may_be(&rule.from, from) || !may_be(&rule.to, to) || rule.loss >= 1.0 {
            continue;
        }
        let delay = if rule.reordering > 0.0 { 0 } else { rule.delay.least().as_nanos() as u64 };
        least = least.min(delay);
        let is_always = rule.since.is_none() && rule.until.is_none();
        if rule.topic == "*" && is(&rule.from, from) && is(&rule.to, to) && is_always {
            return least;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_executor::Time;
    use ringspin_simulation::models::Distribution;
    use std::time::Duration;

    fn millis(count: u64) -> Distribution {
        Distribution::fixed(Duration::from_millis(count))
    }

    #[test]
    fn least_delay_is_that_of_rules_for_all_that_is_sent() {
        let all = |count| LinkRule::new("*").delay(millis(count));
        let delay = |rules: &[LinkRule]| least_delay(rules, "a", "b") / 1_000_000;
        assert_eq!(delay(&[]), 0);
        assert_eq!(delay(&[all(5)]), 5);
        assert_eq!(delay(&[LinkRule::new("/t").delay(millis(5))]), 0);
        assert_eq!(delay(&[all(5), LinkRule::new("/t").delay(millis(3))]), 3);
        assert_eq!(delay(&[LinkRule::new("/t").delay(millis(3)), all(5)]), 5);
        assert_eq!(delay(&[all(5), all(4).from("b")]), 5);
        assert_eq!(delay(&[all(5), all(4).from("a").to("b")]), 4);
        assert_eq!(delay(&[all(5), all(4).to("/node")]), 4);
        assert_eq!(delay(&[all(4).to("/node")]), 0);
        assert_eq!(delay(&[all(5), all(2).since(Time::from_secs(3))]), 2);
        assert_eq!(delay(&[all(5), all(0).loss(1.0)]), 5);
        assert_eq!(delay(&[all(5).reordering(0.1)]), 0);
    }

    #[test]
    fn an_event_is_next_if_no_way_is_shorter() {
        let words = ["a", "b", "c"].map(|word| [word.to_owned()]);
        let system = System::of_commands(words.iter().map(|words| &words[..]));
        let rules = [
            LinkRule::new("*").delay(millis(10)),
            LinkRule::new("*").delay(millis(1)).from("a").to("b"),
            LinkRule::new("*").delay(millis(2)).from("b").to("c"),
        ];
        let lookahead = Lookahead::new(&system.unwrap(), &rules);
        assert!(lookahead.is_any());
        assert_eq!([lookahead.delay(0, 2), lookahead.delay(4, 2)], [10_000_000, 2_000_000]);
        let is_next =
            |time, others: &[(u32, u64)]| lookahead.is_next(time, 2, others.iter().copied());
        assert!(is_next(3_000_000, &[(0, 0), (1, 1_000_000), (2, 0)]));
        assert!(!is_next(3_000_001, &[(0, 0), (1, 2_000_000)])); // by way of b
        assert!(!is_next(3_000_000, &[(0, 0), (1, 999_999)]));
    }
}
