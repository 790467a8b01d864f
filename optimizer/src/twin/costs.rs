//! Conversion of a profile's durations and hops for a simulation.

use ringspin_executor::{CallbackId, Error, ErrorKind, GraphInfo, LoopId, Result, Table};
use ringspin_modes::graph_edges;
use ringspin_modes::names::{callback_labels, exact_name};
use ringspin_simulation::models::{
    CallbackProfile, Calls, DurationHistogram, DurationRule, Durations, Hop, LinkRule, Profile,
    ProfiledMachine,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The costs of a graph, independent of the assignment.
pub(super) struct Costs {
    /// The durations of callbacks, each including the same-core cost of receiving a message.
    pub(super) durations: Durations,
    /// The shortest measured duration of each callback that ran.
    pub(super) least: Table<CallbackId, Duration>,
    /// The longest simulated duration of a callback, including the cost of receiving a message.
    pub(super) longest: Duration,
    /// The assumptions in place of missing measurements, in words.
    pub(super) assumptions: Vec<String>,
    /// The edges between loops, with the delay of their messages between cores.
    pub(super) crossing: Vec<Crossing>,
}

/// The delay of an edge's messages when its loops are on different cores.
pub(super) struct Crossing {
    pub(super) from: LoopId,
    pub(super) to: LoopId,
    pub(super) rule: LinkRule,
}

impl Costs {
    /// Computes the costs of this graph from a profile. `sends_sometimes` tells whether only some
    /// calls of a callback send a message.
    pub(super) fn new(
        info: &GraphInfo,
        profile: &Profile,
        sends_sometimes: impl Fn(CallbackId) -> bool,
    ) -> Result<Self> {
        let measured = measured(info, profile)?;
        let both = measured.iter().filter(|(id, _)| sends_sometimes(*id));
        let both: BTreeSet<_> = both.map(|(_, c)| (&*c.node, &*c.callback)).collect();
        let sends_sometimes = |calls: &&Calls| both.contains(&(&*calls.node, &*calls.callback));
        let calls: Vec<&Calls> = profile.calls.iter().filter(sends_sometimes).collect();
        let receiving = receiving(info, profile);
        let mut durations = later(profile);
        let mut longest = Duration::ZERO;
        for (id, callback) in measured.iter() {
            let extra = &receiving[id];
            let rule = DurationRule::new(exact_name(&callback.node)).callback(&callback.callback);
            let kinds = kinds(callback, &calls);
            let either =
                |[quiet, sending]: &[DurationHistogram; 2]| quiet.max_ns.max(sending.max_ns);
            let max_ns = kinds.as_ref().map_or(callback.durations.max_ns, either);
            longest = longest.max(Duration::from_nanos(max_ns) + *extra);
            durations = durations.rule(match kinds {
                None => rule.duration(callback.durations.distribution(|time| time + *extra)),
                Some([quiet, sending]) => rule
                    .duration(quiet.distribution(|time| time + *extra))
                    .sending(sending.distribution(|time| time + *extra)),
            });
        }
        Ok(Self {
            durations,
            least: measured.map(|_, of| Duration::from_nanos(of.durations.min_ns)),
            longest,
            assumptions: assumptions(info, profile, &measured),
            crossing: crossing(info, profile, &receiving),
        })
    }
}

/// The measurements of the callbacks that have any.
type Measured<'a> = Table<CallbackId, &'a CallbackProfile>;

fn measured<'a>(info: &GraphInfo, profile: &'a Profile) -> Result<Measured<'a>> {
    let labels = callback_labels(info);
    let name = |id, label: &String| (info.loop_of(id).full_name(), label.clone());
    let ids: BTreeMap<_, _> = labels.iter().map(|(id, label)| (name(id, label), id)).collect();
    let mut measured = Measured::new();
    for callback in &profile.callbacks {
        let key = (callback.node.clone(), callback.callback.clone());
        let Some(&id) = ids.get(&key) else {
            if callback.later {
                continue;
            }
            let (node, callback) = key;
            let text = format!(
                "the profile has a callback `{callback}` of {node}, which the graph does not have: \
                 measure it with this graph"
            );
            return Err(Error::new(ErrorKind::NotFound, text).in_node(node));
        };
        measured.insert(id, callback);
    }
    match measured.is_empty() {
        true => Err(Error::new(
            ErrorKind::InvalidArgument,
            "no callback ran while the profile was measured: measure it for longer",
        )),
        false => Ok(measured),
    }
}

/// The durations of the callbacks that come later. Rules for those of the start go after them.
fn later(profile: &Profile) -> Durations {
    let later = profile.callbacks.iter().filter(|of| of.later);
    let rules = later.map(|of| {
        DurationRule::new(exact_name(&of.node))
            .callback(&of.callback)
            .duration(of.durations.distribution(|time| time))
            .later(true)
    });
    rules.fold(Durations::new(), Durations::rule)
}

/// The durations of quiet and of sending calls of this callback, if its loop distinguishes them. A
/// kind of call that was not observed for this callback uses the times of the whole loop.
fn kinds(callback: &CallbackProfile, calls: &[&Calls]) -> Option<[DurationHistogram; 2]> {
    let is_own = |of: &Calls| (&of.node, &of.callback) == (&callback.node, &callback.callback);
    let own = calls.iter().find(|calls| is_own(calls));
    let of_loop = || calls.iter().filter(|calls| calls.node == callback.node);
    let quiet = own.and_then(|calls| calls.quiet.clone());
    let sending = own.and_then(|calls| calls.sending.clone());
    let pooled = |of: fn(&Calls) -> &Option<DurationHistogram>| {
        of_loop().filter_map(|calls| of(calls).clone()).reduce(DurationHistogram::merge)
    };
    let quiet = quiet.or_else(|| pooled(|calls| &calls.quiet))?;
    let sending = sending.or_else(|| pooled(|calls| &calls.sending))?;
    Some([quiet, sending])
}

/// The same-core cost of receiving a message; the highest one of several edges.
fn receiving(info: &GraphInfo, profile: &Profile) -> Table<CallbackId, Duration> {
    let mut costs = info.callbacks.map(|_, _| Duration::ZERO);
    for edge in graph_edges(info) {
        let [from, to] = [edge.from, edge.to].map(|id| info.loops[id].full_name());
        let cost = profile.same_core(edge.topic, &from, &to);
        let median = cost.map_or(Duration::ZERO, |cost| cost.quantile(0.5));
        let highest = &mut costs[edge.callback];
        *highest = median.max(*highest);
    }
    costs
}

/// The delays of messages between cores; edges without a measured one have none.
fn crossing(
    info: &GraphInfo,
    profile: &Profile,
    receiving: &Table<CallbackId, Duration>,
) -> Vec<Crossing> {
    let mut crossing: Vec<Crossing> = Vec::new();
    for edge in graph_edges(info).into_iter().filter(|edge| edge.from != edge.to) {
        let [from, to] = [edge.from, edge.to].map(|id| info.loops[id].full_name());
        let Some(cost) = profile.cross_core(edge.topic, &from, &to) else { continue };
        let own = receiving[edge.callback];
        let delay = cost.distribution(|time| time.saturating_sub(own));
        let rule =
            LinkRule::new(edge.topic).from(exact_name(&from)).to(exact_name(&to)).delay(delay);
        // A loop can have several publishers or callbacks for one topic.
        if !crossing.iter().any(|other| other.rule == rule) {
            crossing.push(Crossing { from: edge.from, to: edge.to, rule });
        }
    }
    crossing
}

/// The assumptions in place of measurements that the profile lacks, in words.
fn assumptions(info: &GraphInfo, profile: &Profile, measured: &Measured<'_>) -> Vec<String> {
    let missing = info.callbacks.keys().filter(|id| !measured.contains(*id));
    let missing: Vec<_> = missing.map(|id| info.name_of(id)).collect();
    let mut assumptions = Vec::new();
    if !missing.is_empty() {
        assumptions.push(format!(
            "the profile has no call of {}, which is taken to need no time; measure for longer",
            some_of(&missing)
        ));
    }
    let is_unknown = |of: &ProfiledMachine| of.cores > 1 && of.slowdown_percent.is_none();
    if profile.machine.as_ref().is_some_and(is_unknown) {
        assumptions.push(
            "the profile does not say how much busy cores slow each other down, which are taken to \
             be independent; measure with `Profile::measure`"
                .into(),
        );
    }
    let lacks = |of: fn(&Hop) -> &Option<DurationHistogram>| {
        profile.hops.iter().all(|hop| of(hop).is_none())
    };
    if lacks(|hop| &hop.same_core) {
        assumptions.push(
            "the profile has no cost of messages on one core, which are taken to be free; measure \
             in single-core mode as well"
                .into(),
        );
    }
    if lacks(|hop| &hop.cross_core) {
        assumptions.push(
            "the profile has no cost of messages from core to core, which are taken to cost as \
             much as on one core; measure in multi-core mode as well"
                .into(),
        );
    }
    assumptions
}

/// The first three names, and the number of the others.
fn some_of(names: &[String]) -> String {
    match names.len() {
        0..=3 => names.join(", "),
        len => format!("{} and {} more", names[..3].join(", "), len - 3),
    }
}
