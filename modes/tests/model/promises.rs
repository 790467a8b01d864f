//! The promises of every mode, multi-core as well: those that do not depend on the order in which
//! the loops of several threads run.

use crate::harness::Run;
use crate::history::{Callback, Kind, Published, Records, Span};
use crate::spec::Subscription;
use proptest::prelude::*;
use ringspin_executor::CallbackStatistics;
use std::collections::BTreeMap;

type Check = Result<(), TestCaseError>;

/// Checks the records of a finished run.
pub(crate) fn check(run: &Run) -> Check {
    let Run { records, statistics, calls } = run;
    let mut alive = statistics.callbacks.iter();
    let mut removed = Account::default();
    for callback in &records.callbacks {
        check_lifetime(callback)?;
        let counters = match callback.destroyed {
            None => {
                let counters = alive.next();
                prop_assert!(counters.is_some(), "no counters of {callback:?}: {statistics:?}");
                counters
            }
            Some(_) => None,
        };
        match callback.kind {
            Kind::Subscription(of) => {
                let account = check_messages(records, callback, &of)?;
                match counters {
                    Some(counters) => check_counters(&account, counters, &of)?,
                    None => removed.add(&account),
                }
            }
            Kind::Guard => {
                if let Some(of) = counters {
                    prop_assert_eq!(of.dispatched + of.coalesced, callback.triggers.len() as u64);
                }
            }
            Kind::Client | Kind::Other => {}
        }
    }
    prop_assert!(alive.next().is_none(), "a callback of which nothing is known");
    if records.called == 0 {
        // Else requests and responses may be among the discarded.
        let of = &statistics.removed;
        removed.check(removed.calls + of.overwritten + of.discarded)?;
    }
    let refused: u64 = statistics.refused.iter().map(|(_, count)| count).sum();
    prop_assert_eq!(refused, records.refused);
    // Every call has ended, in one way.
    prop_assert_eq!(calls.answered + calls.unanswered + calls.stopped, records.called);
    check_loops(records)
}

/// The messages of a subscription.
#[derive(Default)]
struct Account {
    /// Those that were delivered to its callback.
    calls: u64,
    /// Those that were published while it existed.
    min: u64,
    /// Also those that were published while it was created or destroyed.
    max: u64,
}

impl Account {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.min += other.min;
        self.max += other.max;
    }

    /// Every message is in one counter.
    fn check(&self, counted: u64) -> Check {
        let Self { min, max, .. } = self;
        prop_assert!((*min..=*max).contains(&counted), "{counted} of {min} to {max} messages");
        Ok(())
    }
}

/// No callback begins before its creation, and none after its destruction: except one that its
/// worker was about to begin while another thread destroyed it, and those of clients: their handle
/// may be dropped while another thread changes the graph.
fn check_lifetime(of: &Callback) -> Check {
    let calls = || of.calls.iter().map(|(span, _)| *span);
    prop_assert!(calls().all(|call| call.begin > of.created.begin), "{of:?}");
    if let (Some((destroyed, by)), Kind::Guard | Kind::Subscription(_) | Kind::Other) =
        (of.destroyed, of.kind)
    {
        let late = calls().filter(|call| destroyed.is_before(*call)).count();
        prop_assert!(late <= usize::from(by != of.node), "{late} calls after the end of {of:?}");
    }
    Ok(())
}

/// A subscription gets messages that were published on its topic while it existed, each at most
/// once, those of a publisher in their order, and others in the order in which they were published,
/// if that was not at once or before it joined.
fn check_messages(
    records: &Records,
    callback: &Callback,
    of: &Subscription,
) -> Result<Account, TestCaseError> {
    let published = &records.published;
    let end = callback.destroyed.map_or(Span { begin: u64::MAX, end: u64::MAX }, |(span, _)| span);
    // Before the start only transient-local publishers publish.
    let [begin, created] = [callback.created.begin, callback.created.end];
    let [begin, created] = [begin, created].map(|time| time.max(records.start));
    let may_get = |m: &Published| {
        let is_possible = m.is_accepted && m.topic == of.topic && !end.is_before(m.span);
        is_possible && (of.transient_local || m.span.end > begin)
    };
    let must_get = |m: &Published| may_get(m) && m.span.begin > created && m.span.is_before(end);
    let (mut last, mut newest) = (BTreeMap::new(), 0);
    for (call, message) in &callback.calls {
        let number = message.expect("it is called for messages");
        let message = &published[number as usize];
        prop_assert!(may_get(message), "{message:?} delivered to {callback:?}");
        prop_assert!(message.span.begin < call.begin);
        let last = last.insert(message.publisher, number);
        prop_assert!(last < Some(number), "{number} after {last:?} at {callback:?}");
        let Span { begin, end } = message.span;
        prop_assert!(of.transient_local || newest < end, "{message:?} overtaken at {callback:?}");
        newest = newest.max(begin);
    }
    let count = |is_meant: &dyn Fn(&Published) -> bool| {
        published.iter().filter(|message| is_meant(message)).count() as u64
    };
    let calls = callback.calls.len() as u64;
    Ok(Account { calls, min: count(&must_get), max: count(&may_get) })
}

fn check_counters(account: &Account, of: &CallbackStatistics, spec: &Subscription) -> Check {
    prop_assert_eq!((of.dispatched, of.discarded), (account.calls, 0));
    prop_assert!(of.overwritten == 0 || !spec.keep_all || spec.transient_local);
    account.check(of.dispatched + of.overwritten)
}

/// The callbacks of a node run one after the other.
fn check_loops(records: &Records) -> Check {
    let calls = records.callbacks.iter();
    let calls = calls.flat_map(|of| of.calls.iter().map(|(span, _)| (of.node, *span)));
    let mut calls: Vec<_> = calls.collect();
    calls.sort_by_key(|(node, span)| (*node, span.begin));
    for pair in calls.windows(2) {
        let [(node, first), (other, second)] = pair else { continue };
        prop_assert!(node != other || first.is_before(*second), "two calls at once in node {node}");
    }
    Ok(())
}

/// An event of a callback, with its place among those of its loop.
struct Event {
    callback: usize,
    /// From before it became ready until after it.
    ready: Span,
    /// The first call that is for it, or for a later event of its callback.
    call: u64,
    /// Whether it comes no later than its place.
    in_time: bool,
    /// Whether it comes no earlier than its place.
    in_turn: bool,
}

/// An event loop dispatches its events in the order in which they became ready. Two exceptions have
/// their causes in the records. Threads that publish to a subscription, or trigger a guard
/// condition, at once may delay an event; from then on its events may come earlier, too. A message
/// that takes the place of an overwritten one comes earlier. Returns the number of pairs of events
/// of different callbacks that were compared.
pub(crate) fn check_readiness(records: &Records) -> Result<usize, TestCaseError> {
    let mut by_node = BTreeMap::<usize, Vec<Event>>::new();
    for (n, callback) in records.callbacks.iter().enumerate() {
        by_node.entry(callback.node).or_default().extend(events(records, n, callback));
    }
    let mut compared = 0;
    for events in by_node.values() {
        for first in events.iter().filter(|event| event.in_time) {
            let is_later = |event: &&Event| {
                let is_other = event.callback != first.callback;
                is_other && event.in_turn && first.ready.is_before(event.ready)
            };
            for second in events.iter().filter(is_later) {
                let callbacks = [first, second].map(|of| &records.callbacks[of.callback]);
                let overtook = (second.ready, "overtook", first.ready, callbacks);
                prop_assert!(first.call < second.call, "{overtook:?}");
                compared += 1;
            }
        }
    }
    Ok(compared)
}

fn events(records: &Records, number: usize, callback: &Callback) -> Vec<Event> {
    match callback.kind {
        Kind::Subscription(of) if !of.transient_local => messages(records, number, callback, &of),
        Kind::Guard => triggers(number, callback),
        _ => Vec::new(),
    }
}

/// The time from which two of `spans`, which are in order of their beginnings, overlap.
fn first_overlap(spans: impl IntoIterator<Item = Span>) -> u64 {
    let mut last_end = 0;
    for span in spans {
        if span.begin < last_end {
            return span.begin;
        }
        last_end = span.end;
    }
    u64::MAX
}

fn messages(
    records: &Records,
    number: usize,
    callback: &Callback,
    of: &Subscription,
) -> Vec<Event> {
    let is_meant = |m: &&Published| {
        m.is_accepted && m.topic == of.topic && m.span.end > callback.created.begin
    };
    let published: Vec<_> = records.published.iter().filter(is_meant).map(|m| m.span).collect();
    let shifted = first_overlap(published.iter().copied());
    let delivered = callback.calls.iter().map(|(call, message)| {
        (call.begin, records.published[message.expect("it is called for messages") as usize].span)
    });
    let (mut events, mut surplus) = (Vec::new(), false);
    for (n, (call, ready)) in delivered.enumerate() {
        surplus |= call < ready.end;
        let before = published.iter().filter(|span| span.begin < ready.begin).count();
        let in_time = ready.end < shifted;
        let in_turn = in_time && n == before && !surplus;
        events.push(Event { callback: number, ready, call, in_time, in_turn });
    }
    events
}

/// A guard condition has one event for the triggers since its last call. The first one becomes
/// ready when its loop adopts it.
fn triggers(number: usize, callback: &Callback) -> Vec<Event> {
    let shifted = first_overlap(callback.triggers.iter().copied());
    let started = callback.calls.first().map_or(u64::MAX, |(call, _)| call.begin);
    let is_certain = |trigger: &&Span| trigger.begin > started && trigger.end < shifted;
    let in_time = callback.triggers.iter().filter(is_certain);
    let event = |ready: &Span| {
        let mut calls = callback.calls.iter().map(|(call, _)| call.begin);
        let call = calls.find(|begin| *begin > ready.begin);
        // The destroyed one discards waiting events.
        let call = if callback.destroyed.is_some() { call? } else { call.unwrap_or(u64::MAX) };
        Some(Event { callback: number, ready: *ready, call, in_time: true, in_turn: false })
    };
    in_time.filter_map(event).collect()
}

/// The number of pairs of calls in different nodes that met.
pub(crate) fn meetings(run: &Run) -> usize {
    let callbacks = run.records.callbacks.iter();
    let calls = callbacks.flat_map(|of| of.calls.iter().map(|(span, _)| (of.node, *span)));
    let calls: Vec<_> = calls.collect();
    let meet = |(node, a): &(usize, Span), (other, b): &(usize, Span)| {
        node < other && !a.is_before(*b) && !b.is_before(*a)
    };
    calls.iter().map(|a| calls.iter().filter(|b| meet(a, b)).count()).sum()
}
