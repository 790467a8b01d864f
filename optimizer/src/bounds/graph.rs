//! Conversion of a graph to callbacks for the analysis.

use std::time::Duration;

use ringspin_executor::{CallbackId, GraphInfo, Table, TableKey};
use ringspin_modes::{GraphEdge, graph_edges};

use super::{Analysis, Callback, NoBound, Source, Trigger};

/// The largest number of paths through the alternatives of a chain.
const CHOICES_MAX: usize = 256;

/// The callbacks of a graph, by their index there, each with its longest execution time.
///
/// `sends` returns the largest number of messages that one call of a callback sends on an edge of
/// its loop. A graph knows which loop sends, not which of its callbacks; a caller that does not
/// know either returns 1 for every callback. That overestimates the work, so the bounds hold, but
/// a node with several inputs may then have none.
///
/// `transit` returns the longest transit times of a message on an edge: on one core, and from
/// core to core. The period of a timer is read from its name. In a graph with external inputs,
/// only timers have a known rate.
pub fn callbacks_of(
    info: &GraphInfo,
    duration_max: impl Fn(CallbackId) -> Duration,
    sends: impl Fn(CallbackId, &GraphEdge<'_>) -> usize,
    transit: impl Fn(&GraphEdge<'_>) -> [Duration; 2],
) -> Vec<Callback> {
    let edges = graph_edges(info);
    let (loops, callbacks) = (places(&info.loops), places(&info.callbacks));
    let receives = |callback: CallbackId| {
        let is_it = |id: &CallbackId| *id == callback;
        let serves = |service: &ringspin_executor::ServiceInfo| {
            service.server.as_ref().is_some_and(is_it)
                || service.clients.iter().any(|client| is_it(&client.callback))
        };
        info.topics.iter().any(|topic| topic.subscriptions.iter().any(is_it))
            || info.services.iter().any(serves)
    };
    let trigger = |callback: CallbackId, name: &str| {
        if let Some(period) = timer_period(name) {
            return Trigger::Timer(period);
        }
        if !info.inputs.is_empty() || !receives(callback) {
            return Trigger::Unknown;
        }
        let arriving = edges.iter().filter(|edge| edge.callback == callback);
        let sources = arriving.flat_map(|edge| {
            let [same_core_max, cross_core_max] = transit(edge);
            let senders = info.loops[edge.from].callbacks.iter();
            let sent = senders.flat_map(|&id| std::iter::repeat_n(id, sends(id, edge)));
            let source = |id| Source { callback: callbacks[id], same_core_max, cross_core_max };
            sent.map(source).collect::<Vec<_>>()
        });
        Trigger::Messages(sources.collect())
    };
    let callbacks = info.callbacks.iter().map(|(id, callback)| Callback {
        name: format!("{} {}", info.loops[callback.event_loop].full_name(), callback.name),
        event_loop: loops[callback.event_loop],
        duration_max: duration_max(id),
        trigger: trigger(id, &callback.name),
    });
    callbacks.collect()
}

/// The places of the callbacks of `steps` in the list of [`callbacks_of`], for
/// [`Analysis::longest`].
pub fn places_of(info: &GraphInfo, steps: &[Vec<CallbackId>]) -> Vec<Vec<usize>> {
    let places = places(&info.callbacks);
    steps.iter().map(|step| step.iter().map(|id| places[*id]).collect()).collect()
}

/// The place of each entry among the others, in order of creation.
pub(crate) fn places<K: TableKey, T>(table: &Table<K, T>) -> Table<K, usize> {
    table.keys().zip(0..).collect()
}

/// The period of a timer callback, from its name; `None` for other callbacks.
pub(crate) fn timer_period(callback: &str) -> Option<Duration> {
    callback.strip_prefix("timer ").and_then(period_of)
}

/// Parses the `Debug` output of a `Duration`: `100ms`, `1.5s`.
fn period_of(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit_at);
    let digits = match unit {
        "s" => 9,
        "ms" => 6,
        "µs" => 3,
        "ns" => 0,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() {
        return None;
    }
    let fraction = format!("{fraction:0<digits$}");
    if fraction.len() != digits {
        return None;
    }
    format!("{whole}{fraction}").parse().ok().map(Duration::from_nanos)
}

impl Analysis<'_> {
    /// The longest time over all paths through `steps`, one callback per step, as
    /// [`places_of`] returns them for a
    /// [`ChainPath::resolve`](ringspin_modes::ChainPath::resolve). Where branches join, the slowest
    /// one counts.
    ///
    /// # Errors
    /// The errors of [`chain`](Self::chain) where no path leads through the steps, and
    /// [`NoBound::TooManyEventChains`] if there are more than 256.
    pub fn longest(&self, steps: &[Vec<usize>]) -> Result<Duration, NoBound> {
        let mut paths: Vec<Vec<usize>> = vec![Vec::new()];
        for step in steps {
            let mut longer = Vec::new();
            let mut refused = None;
            for path in &paths {
                for &next in step {
                    match self.check_step(path.last().copied(), next) {
                        Ok(()) => longer.push([&path[..], &[next]].concat()),
                        Err(reason) => refused = Some(reason),
                    }
                }
            }
            match (longer.is_empty(), refused) {
                (true, reason) => return Err(reason.unwrap_or(NoBound::NoChain)),
                (false, _) if longer.len() > CHOICES_MAX => {
                    let callback = self.name(longer[0].last().copied());
                    return Err(NoBound::TooManyEventChains { callback, max: CHOICES_MAX });
                }
                (false, _) => paths = longer,
            }
        }
        let bounds = paths.iter().map(|path| self.chain(path));
        bounds.reduce(|a, b| Ok(a?.max(b?))).unwrap_or(Err(NoBound::NoChain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_round_trip_through_debug_output() {
        for ns in [1, 999, 1000, 1_500, 33_333_333, 100_000_000, 1_000_000_000, 61_500_000_000] {
            let period = Duration::from_nanos(ns);
            assert_eq!(period_of(&format!("{period:?}")), Some(period));
        }
        for text in ["", "ms", "10", "10m", "1.2.3s", "1.5ns"] {
            assert_eq!(period_of(text), None, "{text}");
        }
    }
}
