//! The nodes and endpoints that the process knows, and the queues of its own endpoints.
//!
//! There is one bus for the process, behind one lock, which a thread holds for a moment and never
//! over a wait. Messages between endpoints of the process are in the queue when `publish` returns.
//! For other processes they are frames, which the coordinator gets once all threads wait.

mod limits;

use crate::noted_time::NotedTime;
use limits::Limit;
use ringspin_process_protocol::{
    Down, Entity, Gid, Incompatible, Kind, Payload, Qos, Sample, SharedMemory, Turn, Up,
};
use ringspin_simulated_threads::coordination::{self, Event};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A message, request or response in the queue of an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) from: Gid,
    pub(crate) number: i64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) bytes: Arc<Vec<u8>>,
}

/// A function of a client library that is called with the number of new messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnNew {
    pub(crate) function: unsafe extern "C" fn(*const c_void, usize),
    /// The address of its data.
    pub(crate) data: usize,
}

/// The messages of an endpoint that were not taken.
#[derive(Debug, Default)]
struct Queue {
    qos: Qos,
    arrived: VecDeque<Arrived>,
    /// How many have arrived, taken ones included.
    count: u64,
    on_new: Option<OnNew>,
    /// Of a subscription: the number of the last message of each publisher.
    last: Option<BTreeMap<Gid, i64>>,
}

impl Queue {
    fn push(&mut self, arrived: Arrived) {
        if self.qos.depth.is_some_and(|depth| self.arrived.len() >= depth.max(1) as usize) {
            self.arrived.pop_front();
        }
        self.arrived.push_back(arrived);
        self.count += 1;
    }

    /// How many messages were lost before this one of its publisher.
    fn lost_before(&mut self, arrived: &Arrived) -> usize {
        let Some(last) = &mut self.last else { return 0 };
        let last = last.entry(arrived.from).or_insert(arrived.number - 1);
        let lost = (arrived.number - *last - 1).max(0);
        *last = arrived.number.max(*last);
        lost as usize
    }

    /// Takes the oldest one that is of use, with its number among all.
    fn take(&mut self, now: u64) -> Option<(Arrived, u64)> {
        loop {
            let arrived = self.arrived.pop_front()?;
            let end = arrived.sent.saturating_add(self.qos.lifespan);
            if now <= end {
                return Some((arrived, self.count - self.arrived.len() as u64));
            }
        }
    }
}

/// The kinds of events of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EventKind {
    /// An endpoint at the other end appears or disappears.
    Matched,
    /// One appears with a QoS that does not match.
    IncompatibleQos,
    /// One appears with another type.
    IncompatibleType,
    /// No message within the deadline.
    Deadline,
    /// A publisher did not say that it lives within its lease.
    LivelinessLost,
    /// A publisher begins or ceases to live.
    LivelinessChanged,
    /// A message was lost.
    Lost,
}

/// The counts of a kind of event, and their changes since they were taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    pub(crate) total: usize,
    pub(crate) change: usize,
    /// Those at the other end: the publishers that live, or all.
    pub(crate) current: usize,
    pub(crate) current_change: i32,
    /// The publishers that do not live.
    pub(crate) others: usize,
    pub(crate) others_change: i32,
    /// The policy that did not match.
    pub(crate) policy: Option<Incompatible>,
    has_changed: bool,
    on_new: Option<OnNew>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    /// The number of the process in the run; zero if it is alone.
    pub(crate) process: u32,
    /// Whether there is a coordinator, and the process has not said that it ends.
    pub(crate) is_joined: bool,
    /// The operating system's number of the process.
    pub(crate) owner: u32,
    /// The process of the run that has started this one, if it is a child.
    pub(crate) parent: Option<u32>,
    last: u32,
    /// The frames for the coordinator.
    pub(crate) outbox: Turn,
    /// The memory that the processes of the run share.
    pub(crate) memory: Option<SharedMemory>,
    /// The time, while frames of the coordinator arrive: the world's is earlier still.
    arrival: Option<u64>,
    /// The numbers of the callbacks that compute on a core.
    computing: BTreeSet<u32>,
    /// Callbacks that have returned, and for how many nanoseconds of real time they computed.
    pub(crate) measured: Vec<(String, u64)>,
    /// How many deadlines were passed alone since the last end of a turn, and the time after them.
    pub(crate) passed: u32,
    pub(crate) noted: NotedTime,
    /// The frames of the next turns.
    pub(crate) next_turns: VecDeque<Down>,
    /// The numbers of new children, and events of the process.
    pub(crate) children: VecDeque<u32>,
    pub(crate) happened: VecDeque<Event>,
    /// Whether there is a thread for events.
    has_events: bool,
    /// Whether the process was forked from one that has asked for all nodes and endpoints.
    pub(crate) is_forked: bool,
    /// Until when the process may pass deadlines alone.
    pub(crate) until: u64,
    /// Whether the coordinator tells that at the end of the turn.
    pub(crate) is_ahead: bool,
    entities: BTreeMap<Gid, Entity>,
    /// The subscriptions of this process, by topic.
    subscriptions: BTreeMap<String, Vec<Gid>>,
    queues: BTreeMap<u32, Queue>,
    /// The numbers of the last message of each endpoint that sends.
    sent: BTreeMap<u32, i64>,
    /// The calls of functions for new messages, which are due once the lock is free.
    calls: Vec<OnNew>,
    /// The last messages of publishers with transient local durability.
    past: BTreeMap<u32, VecDeque<Arrived>>,
    /// The events of own endpoints.
    events: BTreeMap<(u32, EventKind), Status>,
    /// When limits end.
    limits: BTreeMap<Limit, u64>,
    /// The publishers whose leases have ended.
    dead: BTreeSet<Gid>,
    /// The guard conditions, and whether they are triggered.
    guards: BTreeMap<u32, bool>,
    /// The guard conditions of nodes, which a change of the graph triggers.
    graph_guards: Vec<u32>,
}

static BUS: Mutex<Option<Bus>> = Mutex::new(None);

/// Calls `with` with the bus.
pub(crate) fn with<R>(with: impl FnOnce(&mut Bus) -> R) -> R {
    let mut bus = BUS.lock().unwrap_or_else(PoisonError::into_inner);
    with(bus.get_or_insert_default())
}

/// Changes the bus; then calls the functions for new messages, and wakes all threads that wait.
pub(crate) fn change<R>(change: impl FnOnce(&mut Bus) -> R) -> R {
    let result = with(change);
    call();
    coordination::wake();
    result
}

/// Calls the functions for new messages. The lock is free: they may take messages.
pub(crate) fn call() {
    for OnNew { function, data } in with(|bus| std::mem::take(&mut bus.calls)) {
        // SAFETY: the client library promises that it may be called with its data until it sets
        // another one.
        unsafe { function(std::ptr::with_exposed_provenance(data), 1) };
    }
}

/// The simulated time, in nanoseconds since 1970.
pub(crate) fn now() -> u64 {
    coordination::now().unwrap_or(0)
}

/// Calls functions for new messages that came from other processes: on a thread, because the
/// coordinator's frames arrive while no thread of the program runs.
pub(crate) fn start_events() {
    if !with(|bus| std::mem::replace(&mut bus.has_events, true)) {
        let events = std::thread::Builder::new().name("ringspin-events".into());
        let started = events.spawn(|| {
            loop {
                call();
                let next = with(|bus| bus.next_limit());
                let left = next.map(|end| Duration::from_nanos(end.saturating_sub(now())));
                if !coordination::wait(left) {
                    change(Bus::end_due_limits);
                }
            }
        });
        started.map_or_else(|error| eprintln!("ringspin: no thread for events: {error}"), drop);
    }
}

/// Waits until something changes or the time is over.
pub(crate) fn wait(timeout: Option<Duration>) {
    coordination::wait(timeout);
}

/// Computes for so long on a core that other processes use as well.
pub(crate) fn compute(nanos: u64) {
    let number = with(|bus| {
        let number = bus.new_gid().number;
        bus.say(&Up::Compute { number, nanos });
        bus.computing.insert(number);
        number
    });
    while with(|bus| bus.computing.contains(&number)) {
        wait(None);
    }
}

impl Bus {
    /// An identifier for a new entity or guard condition.
    pub(crate) fn new_gid(&mut self) -> Gid {
        self.last += 1;
        Gid { process: self.process, number: self.last }
    }

    /// Tells the coordinator, at the end of the turn.
    pub(crate) fn say(&mut self, frame: &Up) {
        // A child that was forked has copies of all endpoints of its parent.
        let is_own = frame.process().is_none_or(|process| process == self.process);
        if self.is_joined && is_own {
            self.outbox.push(frame);
        }
    }

    /// A client library begins. In a process that was forked it has to learn of all others.
    pub(crate) fn begin_in_child(&mut self) {
        if std::mem::take(&mut self.is_forked) {
            self.say(&Up::Begin);
        }
    }

    /// The turn ends with this frame.
    pub(crate) fn end_turn(&mut self, last: &Up) {
        for (callback, nanos) in std::mem::take(&mut self.measured) {
            self.outbox.push(&Up::Computed { callback, nanos });
        }
        self.outbox.push(last);
    }

    /// Keeps the turns in the outbox, to send them with a later one; false if there is no room.
    pub(crate) fn keep(&mut self) -> bool {
        self.memory.as_mut().is_some_and(|memory| memory.keep(&self.outbox))
    }

    pub(crate) fn entities(&self) -> impl Iterator<Item = &Entity> {
        self.entities.values()
    }

    pub(crate) fn entity(&self, gid: Gid) -> Option<&Entity> {
        self.entities.get(&gid)
    }

    fn graph_has_changed(&mut self) {
        for guard in &self.graph_guards {
            self.guards.insert(*guard, true);
        }
    }

    /// Adds a guard condition; `of_graph` if changes of the graph trigger it.
    pub(crate) fn add_guard(&mut self, of_graph: bool) -> u32 {
        let number = self.new_gid().number;
        self.guards.insert(number, false);
        self.graph_guards.extend(of_graph.then_some(number));
        number
    }

    pub(crate) fn remove_guard(&mut self, number: u32) {
        self.guards.remove(&number);
        self.graph_guards.retain(|guard| *guard != number);
    }

    pub(crate) fn set_guard(&mut self, number: u32, is_triggered: bool) {
        if let Some(guard) = self.guards.get_mut(&number) {
            *guard = is_triggered;
        }
    }

    pub(crate) fn is_triggered(&self, guard: u32) -> bool {
        self.guards.get(&guard).is_some_and(|is_triggered| *is_triggered)
    }

    /// A node or endpoint of this process appears.
    pub(crate) fn add(&mut self, entity: Entity) {
        self.say(&Up::Add(entity.clone()));
        if !matches!(entity.kind, Kind::Node | Kind::Publisher) {
            let last = (entity.kind == Kind::Subscription).then(BTreeMap::new);
            let queue = Queue { qos: entity.qos, last, ..Queue::default() };
            self.queues.insert(entity.gid.number, queue);
        }
        if entity.kind == Kind::Subscription {
            self.subscriptions.entry(entity.name.clone()).or_default().push(entity.gid);
        }
        if entity.kind == Kind::Subscription && entity.qos.is_transient_local {
            let reaches =
                |other: &&Entity| other.gid.process == self.process && other.reaches(&entity);
            let own: Vec<_> =
                self.entities().filter(reaches).map(|other| other.gid.number).collect();
            for publisher in own {
                for arrived in self.past.get(&publisher).cloned().unwrap_or_default() {
                    self.push(entity.gid.number, arrived);
                }
            }
        }
        self.appear(entity);
    }

    /// An entity of any process appears: endpoints of this process at its other end get events.
    fn appear(&mut self, entity: Entity) {
        for other in self.of_name(&entity) {
            self.meet(&entity, &other, true);
            self.meet(&other, &entity, true);
        }
        self.begin_limits(&entity);
        self.entities.insert(entity.gid, entity);
        self.graph_has_changed();
    }

    /// An entity of any process disappears.
    fn disappear(&mut self, gid: Gid) {
        let Some(entity) = self.entities.remove(&gid) else { return };
        for other in self.of_name(&entity) {
            self.meet(&entity, &other, false);
            self.meet(&other, &entity, false);
        }
        self.end_limits(gid);
        self.events.retain(|(number, _), _| gid.process != self.process || *number != gid.number);
        self.graph_has_changed();
    }

    /// The endpoints with the name of this one.
    fn of_name(&self, entity: &Entity) -> Vec<Entity> {
        let is_end = matches!(entity.kind, Kind::Publisher | Kind::Subscription);
        self.entities().filter(|other| is_end && other.name == entity.name).cloned().collect()
    }

    /// Counts that a publisher and a subscription of one topic begin, or end, to exist together.
    fn meet(&mut self, publisher: &Entity, subscription: &Entity, begins: bool) {
        let are_ends = publisher.kind == Kind::Publisher && subscription.kind == Kind::Subscription;
        if !are_ends {
            return;
        }
        let policy = publisher.qos.offers_less_than(&subscription.qos);
        let kind = match (publisher.meets(subscription), policy) {
            (false, _) => EventKind::IncompatibleType,
            (true, Some(_)) => EventKind::IncompatibleQos,
            (true, None) => EventKind::Matched,
        };
        if !begins && kind != EventKind::Matched {
            return;
        }
        if kind == EventKind::Matched && subscription.gid.process == self.process {
            self.meet_alive(publisher.gid, subscription.gid.number, begins);
        }
        for end in [publisher.gid, subscription.gid] {
            if end.process != self.process {
                continue;
            }
            let status = self.events.entry((end.number, kind)).or_default();
            if begins {
                status.total += 1;
                status.change += 1;
                status.current += 1;
                status.current_change += 1;
            } else {
                status.current -= 1;
                status.current_change -= 1;
            }
            (status.policy, status.has_changed) = (policy, true);
            self.calls.extend(status.on_new);
        }
    }

    pub(crate) fn has_event(&self, key: (u32, EventKind)) -> bool {
        self.events.get(&key).is_some_and(|status| status.has_changed)
    }

    /// Takes the counts of an event. Its changes are zero if there are none since the last time.
    pub(crate) fn take_event(&mut self, key: (u32, EventKind)) -> Status {
        let status = self.events.entry(key).or_default();
        let taken = status.clone();
        (status.change, status.has_changed) = (0, false);
        (status.current_change, status.others_change) = (0, 0);
        taken
    }

    /// Sets the function for an event of an endpoint; true if it has changed.
    pub(crate) fn set_on_event(&mut self, key: (u32, EventKind), on_new: Option<OnNew>) -> bool {
        let status = self.events.entry(key).or_default();
        status.on_new = on_new;
        status.has_changed
    }

    /// A node or endpoint of this process disappears.
    pub(crate) fn remove(&mut self, gid: Gid) {
        self.say(&Up::Remove(gid));
        self.queues.remove(&gid.number);
        self.past.remove(&gid.number);
        self.sent.remove(&gid.number);
        if let Some(entity) = self.entities.get(&gid)
            && let Some(of_topic) = self.subscriptions.get_mut(&entity.name)
        {
            of_topic.retain(|subscription| *subscription != gid);
        }
        self.disappear(gid);
    }

    fn push(&mut self, to: u32, arrived: Arrived) {
        let received = self.time();
        let Some(queue) = self.queues.get_mut(&to) else { return };
        let (lost, deadline, from) =
            (queue.lost_before(&arrived), queue.qos.deadline, arrived.from);
        queue.push(Arrived { received, ..arrived });
        self.calls.extend(queue.on_new);
        self.begin_deadline(to, deadline);
        self.lives(from);
        if lost > 0 {
            self.count_lost(to, lost);
        }
    }

    /// Whether an endpoint has something to take.
    pub(crate) fn has_message(&self, number: u32) -> bool {
        self.queues.get(&number).is_some_and(|queue| !queue.arrived.is_empty())
    }

    /// Takes the oldest message of an endpoint, with its number among all that arrived.
    pub(crate) fn take(&mut self, number: u32) -> Option<(Arrived, u64)> {
        self.queues.get_mut(&number)?.take(now())
    }

    /// Sets the function for new messages of an endpoint; returns how many wait.
    pub(crate) fn set_on_new(&mut self, number: u32, on_new: Option<OnNew>) -> usize {
        let Some(queue) = self.queues.get_mut(&number) else { return 0 };
        queue.on_new = on_new;
        queue.arrived.len()
    }

    fn arrived(&mut self, from: Gid, number: i64, bytes: Vec<u8>) -> Arrived {
        Arrived { from, number, sent: now(), received: 0, bytes: Arc::new(bytes) }
    }

    /// The number of the next message of an endpoint.
    fn next_number(&mut self, from: Gid) -> i64 {
        let sent = self.sent.entry(from.number).or_insert(0);
        *sent += 1;
        *sent
    }

    fn sample(&mut self, arrived: &Arrived) -> Sample {
        let Arrived { from, number, sent, ref bytes, .. } = *arrived;
        let payload = match &mut self.memory {
            Some(memory) => memory.put(bytes),
            None => Payload::Bytes(bytes.to_vec()),
        };
        Sample { from, number, sent, payload }
    }

    /// A publisher of this process sends a message.
    pub(crate) fn publish(&mut self, from: Gid, bytes: Vec<u8>) {
        let number = self.next_number(from);
        let arrived = self.arrived(from, number, bytes);
        if self.is_joined {
            let sample = self.sample(&arrived);
            self.say(&Up::Publish(sample));
        }
        let Some(publisher) = self.entities.get(&from) else { return };
        let qos = publisher.qos;
        self.begin_deadline(from.number, qos.deadline);
        self.lives(from);
        let publisher = &self.entities[&from];
        let of_topic = self.subscriptions.get(&publisher.name).into_iter().flatten();
        let reached = of_topic.filter(|gid| publisher.reaches(&self.entities[*gid]));
        let reached: Vec<_> = reached.map(|gid| gid.number).collect();
        reached.into_iter().for_each(|to| self.push(to, arrived.clone()));
        if qos.is_transient_local {
            let past = self.past.entry(from.number).or_default();
            past.push_back(arrived);
            if qos.depth.is_some_and(|depth| past.len() > depth.max(1) as usize) {
                past.pop_front();
            }
        }
    }

    /// The first service of this name that any process has.
    pub(crate) fn service(&self, name: &str) -> Option<&Entity> {
        self.entities().find(|entity| entity.kind == Kind::Service && entity.name == name)
    }

    /// A client of this process calls a service; returns the number of the request.
    pub(crate) fn request(&mut self, from: Gid, service: &str, bytes: Vec<u8>) -> i64 {
        let number = self.next_number(from);
        let arrived = self.arrived(from, number, bytes);
        let own = self.service(service).map(|entity| entity.gid);
        let own = own.filter(|to| to.process == self.process);
        if self.is_joined {
            let sample = self.sample(&arrived);
            self.say(&Up::Request { name: service.into(), to: own, sample });
        }
        if let Some(to) = own {
            self.push(to.number, arrived);
        }
        number
    }

    /// A service of this process answers the request of this number.
    pub(crate) fn respond(&mut self, from: Gid, to: Gid, number: i64, bytes: Vec<u8>) {
        let arrived = self.arrived(from, number, bytes);
        if self.is_joined {
            let sample = self.sample(&arrived);
            self.say(&Up::Response { to, sample });
        }
        if to.process == self.process {
            self.push(to.number, arrived);
        }
    }

    fn time(&self) -> u64 {
        self.arrival.unwrap_or_else(now)
    }

    /// Takes the frames of the next turn.
    pub(crate) fn next_turn(&mut self) -> Vec<Down> {
        let is_end = |frame: &Down| matches!(frame, Down::Go { .. });
        let count = self.next_turns.iter().position(is_end).map_or(0, |end| end + 1);
        self.next_turns.drain(..count).collect()
    }

    /// The frames of a turn arrive; returns its time, which is between `now` and `latest`.
    pub(crate) fn hear_turn(&mut self, frames: Vec<Down>, now: u64, latest: u64) -> u64 {
        let go = frames.iter().find_map(|frame| match frame {
            Down::Go { now, .. } => Some(*now),
            _ => None,
        });
        let time = go.unwrap_or(now).min(latest).max(now);
        self.arrival = Some(time);
        frames.into_iter().for_each(|frame| self.hear(frame));
        self.arrival = None;
        time
    }

    /// A frame of the coordinator arrives.
    pub(crate) fn hear(&mut self, frame: Down) {
        match frame {
            Down::Add(entity) => self.appear(entity),
            Down::Remove(gid) => self.disappear(gid),
            Down::Assert(gid) => self.lives(gid),
            Down::Deliver { to, sample } => {
                let Sample { from, number, sent, payload: Payload::Bytes(bytes) } = sample else {
                    return; // it was fetched
                };
                let bytes = Arc::new(bytes);
                let arrived = Arrived { from, number, sent, received: 0, bytes };
                to.into_iter().for_each(|to| self.push(to, arrived.clone()));
            }
            Down::Computed(number) => {
                self.computing.remove(&number);
            }
            Down::Child(number) => self.children.push_back(number),
            Down::Ended(number) => self.happened.push_back(Event::Ended(number)),
            Down::Signal(signal) => self.happened.push_back(Event::Signal(signal)),
            // The world looks at all descriptors.
            Down::Look | Down::Reading | Down::Continue => {}
            Down::Until(until) => (self.until, self.is_ahead) = (until, false),
            Down::Go { until, .. } => {
                (self.until, self.is_ahead) = (until.unwrap_or(0), until.is_none());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(bus: &mut Bus, kind: Kind, name: &str, qos: Qos) -> Gid {
        let gid = bus.new_gid();
        let (node, namespace) = ("node".into(), "/".into());
        let (name, type_name) = (name.into(), "a/msg/B".into());
        bus.add(Entity {
            gid,
            kind,
            node,
            namespace,
            name,
            type_name,
            type_hash: vec![0; 33],
            ignores_own: false,
            qos,
        });
        gid
    }

    #[test]
    fn messages_are_kept_by_depth_and_late_subscriptions_get_the_last_ones() {
        let mut bus = Bus::default();
        let local = Qos { is_transient_local: true, depth: Some(2), ..Qos::default() };
        let publisher = endpoint(&mut bus, Kind::Publisher, "/a", local);
        let early = endpoint(&mut bus, Kind::Subscription, "/a", Qos::default());
        let other = endpoint(&mut bus, Kind::Subscription, "/b", Qos::default());
        for n in 1..=3 {
            bus.publish(publisher, vec![n]);
        }
        let late = endpoint(&mut bus, Kind::Subscription, "/a", local);
        let mut taken = |gid: Gid| {
            let all = std::iter::from_fn(|| bus.take(gid.number));
            all.map(|(arrived, count)| (arrived.bytes[0], arrived.number, count))
                .collect::<Vec<_>>()
        };
        assert_eq!(taken(early), [(3, 3, 3)]); // the last one, as its depth is one
        assert_eq!(taken(late), [(2, 2, 1), (3, 3, 2)]);
        assert_eq!(taken(other), []);
    }

    #[test]
    fn requests_reach_the_service_and_responses_the_client() {
        let mut bus = Bus::default();
        let qos = Qos { depth: None, ..Qos::default() };
        let service = endpoint(&mut bus, Kind::Service, "/s", qos);
        let client = endpoint(&mut bus, Kind::Client, "/s", qos);
        assert_eq!(bus.request(client, "/s", vec![7]), 1);
        let (request, _) = bus.take(service.number).unwrap();
        assert_eq!((request.from, request.number, request.bytes[0]), (client, 1, 7));
        bus.respond(service, request.from, request.number, vec![8]);
        assert_eq!(bus.take(client.number).unwrap().0.bytes[0], 8);
        bus.remove(service);
        assert_eq!(bus.request(client, "/s", vec![9]), 2);
        assert!(bus.take(service.number).is_none());
    }

    #[test]
    fn a_joined_process_says_what_it_does_and_hears_others() {
        let mut bus = Bus { process: 1, is_joined: true, ..Bus::default() };
        let guard = bus.add_guard(true);
        let subscription = endpoint(&mut bus, Kind::Subscription, "/a", Qos::default());
        assert!(bus.is_triggered(guard) && !bus.outbox.is_empty());
        bus.set_guard(guard, false);
        let from = Gid { process: 0, number: 1 };
        let key = |kind| (subscription.number, kind);
        assert!(!bus.has_event(key(EventKind::Matched)));
        let mut other = Entity { gid: from, ..bus.entity(subscription).unwrap().clone() };
        other.kind = Kind::Publisher;
        bus.hear(Down::Add(other.clone()));
        let matched = bus.take_event(key(EventKind::Matched));
        assert_eq!((matched.total, matched.change, matched.current), (1, 1, 1));
        assert!(!bus.has_event(key(EventKind::Matched)));
        let again = bus.take_event(key(EventKind::Matched));
        assert_eq!((again.total, again.change, again.current), (1, 0, 1));
        let never = bus.take_event(key(EventKind::Deadline));
        assert_eq!((never.total, never.change), (0, 0));
        let worse = Gid { process: 0, number: 2 };
        let qos = Qos { is_reliable: false, ..Qos::default() };
        bus.hear(Down::Add(Entity { gid: worse, qos, ..other.clone() }));
        let status = bus.take_event(key(EventKind::IncompatibleQos));
        assert_eq!((status.total, status.policy), (1, Some(Incompatible::Reliability)));
        let typed = Gid { process: 0, number: 3 };
        bus.hear(Down::Add(Entity { gid: typed, type_name: "a/msg/C".into(), ..other }));
        assert_eq!(bus.take_event(key(EventKind::IncompatibleType)).total, 1);
        bus.set_guard(guard, false);
        let sample = Sample { from, number: 5, sent: 0, payload: Payload::Bytes(vec![1]) };
        let message = Down::Deliver { to: vec![subscription.number, 99], sample };
        assert_eq!(bus.hear_turn(vec![message, Down::Go { now: 7, until: Some(9) }], 0, 8), 7);
        assert_eq!(bus.until, 9);
        let (taken, _) = bus.take(subscription.number).unwrap();
        assert_eq!((taken.number, taken.received), (5, 7));
        assert!(!bus.is_triggered(guard));
        bus.hear(Down::Remove(from));
        assert!(bus.is_triggered(guard));
        let matched = bus.take_event(key(EventKind::Matched));
        assert_eq!((matched.total, matched.current, matched.current_change), (1, 0, -1));
        assert_eq!(bus.hear_turn(Vec::new(), 3, 8), 3);
        let ahead = vec![Down::Go { now: 8, until: None }];
        assert_eq!((bus.hear_turn(ahead, 3, 8), bus.until, bus.is_ahead), (8, 0, true));
        assert_eq!(bus.hear_turn(vec![Down::Go { now: 9, until: Some(9) }], 3, 8), 8);
    }
}
