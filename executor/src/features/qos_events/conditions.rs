//! The conditions behind the events of a publisher or subscription: deadlines and liveliness.
//!
//! A condition is checked when it may have changed, and returns the change and the time of the next
//! check. It depends on times only, not on threads, timers or callbacks.

use super::peers::Outside;
use super::{DeadlineMissed, LivelinessChanged, LivelinessLost};
use crate::base::observed;
use crate::base::time::{Time, nanos};
use crate::delivery::control::Failures;
use crate::delivery::liveliness::{Life, LivelinessRegistry, PublisherLiveliness};
use crate::delivery::remote::{RemoteNotifier, RemoteStatus};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The least time: limits are inclusive, so they are broken this long after them.
const NS: Duration = Duration::from_nanos(1);

/// A condition that may change with time.
pub(crate) trait Condition: Send + 'static {
    /// The event that reports a change.
    type Event;
    /// The condition in the names of callbacks.
    const NAME: &'static str;
    /// Whether it changes with time. If not, `look` never returns a time.
    const IS_TIMED: bool = true;
    /// Returns the changes since the last call, and the time of the next one.
    fn look(&mut self, now: Time) -> (Option<Self::Event>, Option<Time>);
    /// Forgets the times of earlier looks, because the clock has another source.
    fn start_again(&mut self) {}
}

/// The source of the messages that a deadline watches.
pub(crate) enum Source {
    Publisher(Arc<PublisherLiveliness>),
    /// A topic's publishers in the process, and messages from outside.
    Topic(Arc<LivelinessRegistry>, Option<RemoteNotifier>),
}

impl Source {
    fn last_published(&self) -> Time {
        match self {
            Self::Publisher(liveliness) => liveliness.last_published(),
            Self::Topic(registry, remote_notifier) => {
                let heard =
                    remote_notifier.as_ref().map(|remote_notifier| remote_notifier.last_heard());
                [registry.last_published()].into_iter().chain(heard).max().unwrap_or(Time::ZERO)
            }
        }
    }
}

/// A message at least once in every period.
pub(crate) struct Deadline {
    source: Source,
    /// Nanoseconds, not zero.
    period: u64,
    /// The start, or the end of the last period that was missed.
    since: Option<Time>,
    total: u64,
}

impl Deadline {
    pub(crate) fn new(source: Source, period: Duration) -> Self {
        Self { source, period: nanos(period), since: None, total: 0 }
    }
}

impl Condition for Deadline {
    type Event = DeadlineMissed;
    const NAME: &'static str = "deadline";

    fn start_again(&mut self) {
        self.since = None;
    }

    fn look(&mut self, now: Time) -> (Option<DeadlineMissed>, Option<Time>) {
        // A followed clock may have been set back: later times do not count then.
        let since = self.since.unwrap_or(now).min(now);
        self.since = Some(since);
        let read = || self.source.last_published().as_nanos();
        let published = Time::from_nanos(observed::reading(read));
        let last = if published > now { since } else { since.max(published) };
        // A message at the very end of the period is in time.
        let waited = nanos(now.since(last));
        let missed = waited.saturating_sub(1) / self.period;
        let end = last + Duration::from_nanos(self.period.saturating_mul(missed));
        let next = end + Duration::from_nanos(self.period) + NS;
        if missed == 0 {
            return (None, Some(next));
        }
        self.since = Some(end);
        self.total += missed;
        (Some(DeadlineMissed { total_count: self.total, total_count_change: missed }), Some(next))
    }
}

/// A publisher's own lease.
pub(crate) struct OwnLiveliness {
    liveliness: Arc<PublisherLiveliness>,
    start: Option<Time>,
    lost: bool,
    total: u64,
}

impl OwnLiveliness {
    pub(crate) fn new(liveliness: Arc<PublisherLiveliness>) -> Self {
        Self { liveliness, start: None, lost: false, total: 0 }
    }
}

impl Condition for OwnLiveliness {
    type Event = LivelinessLost;
    const NAME: &'static str = "liveliness";

    fn start_again(&mut self) {
        self.start = None;
    }

    fn look(&mut self, now: Time) -> (Option<LivelinessLost>, Option<Time>) {
        let start = *self.start.get_or_insert(now);
        match self.liveliness.life(start, now) {
            Life::Unborn => (None, None),
            Life::Until(end) => {
                self.lost = false;
                (None, after(end))
            }
            Life::Lost if !std::mem::replace(&mut self.lost, true) => {
                self.total += 1;
                (Some(LivelinessLost { total_count: self.total }), None)
            }
            Life::Lost => (None, None),
        }
    }
}

/// The condition of the liveliness of a topic's publishers.
pub(crate) struct TopicLiveliness {
    registry: Arc<LivelinessRegistry>,
    /// Known once the graph is frozen.
    failures: Arc<OnceLock<Arc<Failures>>>,
    start: Option<Time>,
    /// The number of each publisher, and whether it is still alive, once it was.
    alive: Vec<(u64, Option<bool>)>,
    outside: Outside,
    /// The counts of the last event: publishers that are alive, and that are not.
    told: (u64, u64),
}

impl TopicLiveliness {
    pub(crate) fn new(
        registry: Arc<LivelinessRegistry>,
        failures: Arc<OnceLock<Arc<Failures>>>,
        outside: Outside,
    ) -> Self {
        Self { registry, failures, start: None, alive: Vec::new(), outside, told: (0, 0) }
    }

    fn count(&self, alive: bool) -> u64 {
        self.alive.iter().filter(|(_, known)| *known == Some(alive)).count() as u64
    }

    /// Looks at the publishers of the process; returns when to look again.
    fn look_inside(&mut self, start: Time, now: Time) -> Option<Time> {
        let mut next = None;
        let failures = self.failures.get();
        let publishers = self.registry.publishers();
        // Both are sorted: publishers are numbered in order of creation.
        let known = std::mem::take(&mut self.alive);
        let known_of = |number| known.binary_search_by_key(&number, |(of, _)| *of);
        for liveliness in publishers.iter() {
            let mut alive = known_of(liveliness.number).map_or(None, |place| known[place].1);
            let isolated = failures.is_some_and(|f| f.is_isolated(liveliness.node_index));
            match liveliness.life(start, now) {
                Life::Until(end) if !isolated => {
                    alive = Some(true);
                    next = next.into_iter().chain(after(end)).min();
                }
                Life::Unborn => {}
                // Also one that was not seen while it was alive.
                Life::Until(_) | Life::Lost => alive = Some(false),
            }
            self.alive.push((liveliness.number, alive));
        }
        next
    }
}

impl Condition for TopicLiveliness {
    type Event = LivelinessChanged;
    const NAME: &'static str = "liveliness";

    fn start_again(&mut self) {
        self.start = None;
    }

    fn look(&mut self, now: Time) -> (Option<LivelinessChanged>, Option<Time>) {
        let start = *self.start.get_or_insert(now);
        let next = if self.outside.includes_locals() { None } else { self.look_inside(start, now) };
        let mut outside = (0, 0);
        if let Some(RemoteStatus::Liveliness { alive, not_alive }) = self.outside.look() {
            outside = (*alive, *not_alive);
        }
        let counts = (self.count(true) + outside.0, self.count(false) + outside.1);
        let before = std::mem::replace(&mut self.told, counts);
        let event = LivelinessChanged {
            alive_count: counts.0,
            not_alive_count: counts.1,
            alive_count_change: change(before.0, counts.0),
            not_alive_count_change: change(before.1, counts.1),
        };
        ((before != counts).then_some(event), next)
    }
}

pub(crate) fn change(before: u64, now: u64) -> i64 {
    now.wrapping_sub(before).cast_signed()
}

/// The moment after `end`, if there is one.
fn after(end: Time) -> Option<Time> {
    (end != Time::MAX).then(|| end + NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::qos::QoS;
    use crate::base::time::{NodeClock, SimClock};

    const fn ns(ns: u64) -> Duration {
        Duration::from_nanos(ns)
    }

    fn registry() -> Arc<LivelinessRegistry> {
        Arc::new(LivelinessRegistry::new(&Arc::default()))
    }

    const fn at(ns: u64) -> Time {
        Time::from_nanos(ns)
    }

    /// Checks `condition`; returns its event and the next time in nanoseconds.
    fn look<C: Condition>(condition: &mut C, now: u64) -> (Option<C::Event>, Option<u64>) {
        let (event, next) = condition.look(at(now));
        (event, next.map(Time::as_nanos))
    }

    fn missed(total_count: u64, total_count_change: u64) -> Option<DeadlineMissed> {
        Some(DeadlineMissed { total_count, total_count_change })
    }

    #[test]
    fn a_deadline_has_its_phase_from_the_last_message() {
        let registry = registry();
        let publishers = [registry.add(0, QoS::default()), registry.add(1, QoS::default())];
        let mut deadline = Deadline::new(Source::Topic(registry, None), ns(100));
        assert_eq!(look(&mut deadline, 1_000), (None, Some(1_101)));
        publishers[0].published(at(1_030));
        assert_eq!(look(&mut deadline, 1_101), (None, Some(1_131)));
        publishers[1].published(at(1_130));
        assert_eq!(look(&mut deadline, 1_131), (None, Some(1_231)), "just in time");
        assert_eq!(look(&mut deadline, 1_231), (missed(1, 1), Some(1_331)));
        assert_eq!(look(&mut deadline, 1_231), (None, Some(1_331)), "not twice");
        // The loop was late; three ends of periods passed since.
        assert_eq!(look(&mut deadline, 1_530), (missed(3, 2), Some(1_531)));
        publishers[0].published(at(1_531));
        assert_eq!(look(&mut deadline, 1_531), (None, Some(1_632)));
    }

    #[test]
    fn a_deadline_counts_from_the_start_whatever_was_published_before() {
        let liveliness = registry().add(0, QoS::default());
        liveliness.published(Time::ZERO);
        let mut deadline = Deadline::new(Source::Publisher(liveliness), ns(10));
        assert_eq!(look(&mut deadline, 1_000_000), (None, Some(1_000_011)));
    }

    #[test]
    fn remote_message_meets_the_deadline_of_a_topic() {
        let (time, clock) = (Arc::<SimClock>::default(), NodeClock::default());
        clock.run_by(time.clone());
        let remote_notifier = RemoteNotifier::default();
        remote_notifier.note_time(clock);
        let source = Source::Topic(registry(), Some(remote_notifier.clone()));
        let mut deadline = Deadline::new(source, ns(100));
        assert_eq!(look(&mut deadline, 1000), (None, Some(1101)));
        time.set(at(1080));
        remote_notifier.announce(1);
        time.set(at(1090));
        remote_notifier.announce(0);
        assert_eq!(look(&mut deadline, 1101), (None, Some(1181)), "nothing came at 1090");
        let missed = DeadlineMissed { total_count: 1, total_count_change: 1 };
        assert_eq!(look(&mut deadline, 1181), (Some(missed), Some(1281)));
        assert_eq!(look(&mut deadline, 500), (None, Some(601)), "the clock went back");
        assert_eq!(look(&mut deadline, 601).0.map(|m| m.total_count), Some(2));
    }

    #[test]
    fn a_lease_counts_from_the_last_sign_and_is_lost_once() {
        let qos = QoS::default().liveliness_manual_by_topic(ns(10));
        let liveliness = registry().add(0, qos);
        let mut own = OwnLiveliness::new(liveliness.clone());
        assert_eq!(look(&mut own, 100), (None, None), "nothing to lose yet");
        liveliness.asserted(at(105));
        assert_eq!(look(&mut own, 105), (None, Some(116)));
        liveliness.published(at(112));
        assert_eq!(look(&mut own, 116), (None, Some(123)));
        let lost = |total_count| Some(LivelinessLost { total_count });
        assert_eq!(look(&mut own, 123), (lost(1), None));
        assert_eq!(look(&mut own, 200), (None, None));
        liveliness.asserted(at(201));
        assert_eq!(look(&mut own, 201), (None, Some(212)), "back to life");
        assert_eq!(look(&mut own, 300), (lost(2), None));
    }

    #[test]
    fn signs_before_the_start_count_as_given_then() {
        let qos = QoS::default().liveliness_manual_by_topic(ns(10));
        let liveliness = registry().add(0, qos);
        liveliness.asserted(Time::ZERO);
        assert_eq!(look(&mut OwnLiveliness::new(liveliness), 500), (None, Some(511)));
    }

    #[test]
    fn a_topic_counts_its_publishers_alive_and_lost() {
        let registry = registry();
        let manual = QoS::default().liveliness_manual_by_topic(ns(10));
        let (slow, fast) = (registry.add(0, manual), registry.add(0, manual));
        registry.add(1, QoS::default());
        registry.add(1, QoS::default().liveliness_manual_by_topic(ns(0)));
        let mut topic = TopicLiveliness::new(registry, Arc::default(), Outside::default());
        let mut counts = |now| {
            let (event, next) = look(&mut topic, now);
            let counts = event.map(|e| {
                let changes = (e.alive_count_change, e.not_alive_count_change);
                (e.alive_count, e.not_alive_count, changes.0, changes.1)
            });
            (counts, next)
        };
        assert_eq!(counts(100), (Some((1, 0, 1, 0)), None));
        slow.asserted(at(101));
        fast.asserted(at(103));
        assert_eq!(counts(103), (Some((3, 0, 2, 0)), Some(112)));
        fast.asserted(at(105));
        assert_eq!(counts(112), (Some((2, 1, -1, 1)), Some(116)));
        assert_eq!(counts(113), (None, Some(116)));
        slow.asserted(at(115));
        assert_eq!(counts(116), (None, Some(126)), "one lost, one found");
    }
}
