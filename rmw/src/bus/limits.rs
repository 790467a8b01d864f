//! Limits of time in QoS: deadlines, and leases of publishers that say themselves that they live.
//!
//! A limit begins anew with each message. Its end is an event of the endpoints that it concerns.
//! The thread that calls functions for events waits for the first end; programs that ask for none
//! of these events have no such thread.

use super::{Bus, EventKind, Status};
use ringspin_process_protocol::{Entity, Gid, Kind, NEVER, Up};

/// Something that ends, unless a message comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    /// The deadline of an endpoint of this process.
    Deadline(u32),
    /// The lease of a publisher of any process.
    Lease(Gid),
}

impl Bus {
    /// A publisher or subscription appears: its lease begins, as it lives.
    pub(super) fn begin_limits(&mut self, entity: &Entity) {
        if entity.kind == Kind::Publisher && entity.qos.is_manual {
            self.begin_lease(entity.gid, entity.qos.lease);
        }
    }

    pub(super) fn end_limits(&mut self, gid: Gid) {
        self.limits.remove(&Limit::Lease(gid));
        self.dead.remove(&gid);
        if gid.process == self.process {
            self.limits.remove(&Limit::Deadline(gid.number));
        }
    }

    fn begin_lease(&mut self, publisher: Gid, lease: u64) {
        if lease != NEVER {
            let end = self.time().saturating_add(lease);
            self.limits.insert(Limit::Lease(publisher), end);
        }
    }

    /// A publisher of any process says by a message, or otherwise, that it lives.
    pub(super) fn lives(&mut self, publisher: Gid) {
        let Some(entity) = self.entities.get(&publisher) else { return };
        if !entity.qos.is_manual {
            return;
        }
        self.begin_lease(publisher, entity.qos.lease);
        if self.dead.remove(&publisher) {
            self.change_liveliness(publisher, true);
        }
    }

    /// A publisher of this process says that it lives.
    pub(crate) fn assert_liveliness(&mut self, publisher: Gid) {
        self.say(&Up::Assert(publisher));
        self.lives(publisher);
    }

    /// An endpoint of this process has sent or got a message.
    pub(super) fn begin_deadline(&mut self, endpoint: u32, deadline: u64) {
        if deadline != NEVER {
            let end = self.time().saturating_add(deadline);
            self.limits.insert(Limit::Deadline(endpoint), end);
        }
    }

    /// The first time after the end of a limit: a message at the end is not late.
    pub(super) fn next_limit(&self) -> Option<u64> {
        self.limits.values().min().map(|end| end.saturating_add(1))
    }

    /// Ends the limits that are due.
    pub(super) fn end_due_limits(&mut self) {
        let now = self.time();
        let due = self.limits.iter().filter(|(_, end)| **end < now);
        for (limit, end) in due.map(|(limit, end)| (*limit, *end)).collect::<Vec<_>>() {
            self.limits.remove(&limit);
            match limit {
                Limit::Deadline(number) => {
                    let gid = Gid { process: self.process, number };
                    let deadline = self.entities.get(&gid).map_or(NEVER, |own| own.qos.deadline);
                    self.count(number, EventKind::Deadline, |_| ());
                    if deadline != NEVER {
                        self.limits.insert(limit, end.saturating_add(deadline));
                    }
                }
                Limit::Lease(publisher) => {
                    self.dead.insert(publisher);
                    if publisher.process == self.process {
                        self.count(publisher.number, EventKind::LivelinessLost, |_| ());
                    }
                    self.change_liveliness(publisher, false);
                }
            }
        }
    }

    /// A publisher begins to live again, or no longer says that it does: the subscriptions of this
    /// process that it reaches are told.
    fn change_liveliness(&mut self, publisher: Gid, lives: bool) {
        let Some(entity) = self.entities.get(&publisher) else { return };
        let of_topic = self.subscriptions.get(&entity.name).into_iter().flatten();
        let reached = of_topic.filter(|gid| entity.reaches(&self.entities[*gid]));
        let step = if lives { 1 } else { -1 };
        for number in reached.map(|gid| gid.number).collect::<Vec<_>>() {
            self.count(number, EventKind::LivelinessChanged, |status| {
                status.alive(step);
                status.not_alive(-step);
            });
        }
    }

    /// A publisher and a subscription of this process begin, or end, to match.
    pub(super) fn meet_alive(&mut self, publisher: Gid, subscription: u32, begins: bool) {
        let (is_dead, step) = (self.dead.contains(&publisher), if begins { 1 } else { -1 });
        self.count(subscription, EventKind::LivelinessChanged, |status| match is_dead {
            true => status.not_alive(step),
            false => status.alive(step),
        });
    }

    /// Messages of a publisher were lost on their way to a subscription of this process.
    pub(super) fn count_lost(&mut self, subscription: u32, messages: usize) {
        self.count(subscription, EventKind::Lost, |status| {
            status.total += messages - 1;
            status.change += messages - 1;
        });
    }

    /// Counts one more event of an endpoint of this process, and tells its function.
    fn count(&mut self, endpoint: u32, kind: EventKind, more: impl FnOnce(&mut Status)) {
        let status = self.events.entry((endpoint, kind)).or_default();
        status.total += 1;
        status.change += 1;
        more(status);
        status.has_changed = true;
        self.calls.extend(status.on_new);
    }
}

impl EventKind {
    /// Whether the end of a limit of time may be the event.
    pub(crate) fn is_of_a_limit(self) -> bool {
        matches!(self, Self::Deadline | Self::LivelinessLost | Self::LivelinessChanged)
    }
}

impl Status {
    fn alive(&mut self, step: i32) {
        self.current = self.current.saturating_add_signed(step as isize);
        self.current_change += step;
    }

    fn not_alive(&mut self, step: i32) {
        self.others = self.others.saturating_add_signed(step as isize);
        self.others_change += step;
    }
}
