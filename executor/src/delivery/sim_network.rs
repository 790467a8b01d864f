//! The simulated network: messages that have been sent and have not arrived yet.
//!
//! Live, a message arrives as it is published. In simulated time an edge may delay, lose or double
//! it, and the messages of a callback with a duration leave only at its end. Publishing then hands
//! over to the [`SimNetwork`] of the graph, which asks the [`Network`] for the message's outcome.
//! Messages that arrive later wait here until the scheduler reaches their time.

use crate::base::escape::catch_panic;
use crate::base::event::{CallbackId, EventId, LoopId, SourceId};
use crate::base::info::GraphInfo;
use crate::base::lock::lock;
use crate::base::owner_thread::{ForeignEvent, OwnerThread};
use crate::base::time::{SimClock, Time};
use ringspin_ringbuf::Counter;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// A message on its way to one subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// The publisher and the sequence number of the message.
    pub event: EventId,
    /// The receiving callback.
    pub callback: CallbackId,
    /// The time of its departure: now, or at the end of the callback that sends it.
    pub departure: Time,
    /// The size of its type, without data on the heap.
    pub bytes: usize,
}

/// The outcome of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It does not arrive.
    Lost,
    /// It arrives at this time.
    Once(Time),
    /// It arrives, and arrives again.
    Twice(Time, Time),
    /// It arrives when it is [released](SimNetwork::release).
    Held,
}

/// Decides about messages on their way.
pub trait Network: Send {
    /// Whether messages for `callback` can have another outcome than immediate arrival.
    fn is_linked(&self, callback: CallbackId) -> bool;

    /// Decides the outcome of sending a message. Times before its departure count as its departure.
    fn outcome(&mut self, in_flight: &InFlight) -> DeliveryOutcome;

    /// Whether [`extend`](Self::extend) is to be called.
    fn follows_changes(&self) -> bool {
        false
    }

    /// The graph has changed to `info`: called before messages go to the callbacks that are new.
    fn extend(&mut self, info: &GraphInfo) {
        let _ = info;
    }
}

/// A network in which every message arrives immediately.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Network for Direct {
    fn is_linked(&self, _: CallbackId) -> bool {
        false
    }

    fn outcome(&mut self, in_flight: &InFlight) -> DeliveryOutcome {
        DeliveryOutcome::Once(in_flight.departure)
    }
}

/// The messages that go through a [`SimNetwork`], beyond those of linked callbacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// All of them, because callbacks take time.
    pub departures: bool,
    /// All of them, because the dispatch that sent each one is recorded.
    pub causes: bool,
}

/// The simulated time of a graph, and the messages in flight.
pub struct SimNetwork {
    clock: Arc<SimClock>,
    scope: Scope,
    /// The number of messages in flight: cheaper to read than taking the lock.
    under_way: Counter,
    owner: Arc<OwnerThread>,
    traffic: Mutex<Traffic>,
}

struct Traffic {
    network: Box<dyn Network>,
    /// The last departure of each source; later ones do not overtake it.
    left: Vec<Time>,
    flights: BinaryHeap<Reverse<Flight>>,
    flown: u64,
    /// The loop for which messages are held.
    holder: Option<LoopId>,
    held: Vec<(LoopId, Flight)>,
    sent: Vec<EventId>,
    /// The messages that wait for their release.
    waiting: BTreeMap<(CallbackId, EventId), Arrive>,
}

/// Limit of the rounds in which dropped messages send further messages that are dropped in turn;
/// the rest leaks.
const CLEARS_MAX: usize = 64;

/// The function that delivers a message.
type Arrive = Box<dyn FnOnce() + Send>;

struct Flight {
    arrival: Time,
    /// The order of sending: messages that arrive at the same time arrive in this order.
    order: u64,
    arrive: Arrive,
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Flight {}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.arrival, self.order).cmp(&(other.arrival, other.order))
    }
}

impl SimNetwork {
    /// Creates the network: `network` decides about the messages in `scope`, and the clock is at
    /// `start`.
    pub fn new(start: Time, network: Box<dyn Network>, scope: Scope) -> Self {
        let clock = Arc::new(SimClock::default());
        clock.set(start);
        let (flights, sent) = (BinaryHeap::new(), Vec::new());
        let (left, held) = (Vec::new(), Vec::new());
        let (holder, waiting) = (None, BTreeMap::new());
        let traffic = Traffic { network, left, flights, flown: 0, holder, held, sent, waiting };
        let (under_way, owner) = (Counter::default(), Arc::new(OwnerThread::current()));
        Self { clock, scope, under_way, owner, traffic: Mutex::new(traffic) }
    }

    /// This thread runs the graph from now on: events that other threads cause are
    /// [foreign](Self::foreign). Before that it is the thread that created the network.
    pub fn run_by_this_thread(&self) {
        self.owner.take_over();
    }

    /// All threads that cause events run one at a time, in an order that every run repeats: no
    /// event is [foreign](Self::foreign) from now on.
    pub fn run_by_ordered_threads(&self) {
        self.owner.include_all();
    }

    /// The events that other threads than that of the run caused so far, with their numbers. They
    /// come at times that no other run repeats.
    pub fn foreign(&self) -> Vec<(ForeignEvent, u64)> {
        self.owner.foreign()
    }

    #[inline]
    pub(crate) fn owner(&self) -> &Arc<OwnerThread> {
        &self.owner
    }

    /// The clock, which only the scheduler moves.
    #[inline]
    pub fn clock(&self) -> &Arc<SimClock> {
        &self.clock
    }

    /// Records that a callback with a duration begins: it returns at `end`, and its messages leave
    /// at `departure`.
    pub fn begin(&self, end: Time, departure: Time) {
        self.clock.take_until(end, departure);
    }

    /// Records that the callback has returned: later messages leave at once.
    pub fn end(&self) {
        self.clock.take_until(Time::ZERO, Time::ZERO);
    }

    /// Holds the messages that are sent from now on until they are [launched](Self::launch): the
    /// end of the callback of `event_loop` that sends them is open. `None` ends that.
    pub fn hold_for(&self, event_loop: Option<LoopId>) {
        self.traffic().holder = event_loop;
    }

    /// Sends off the messages that are held for `event_loop`, each `late` later than its outcome
    /// says.
    pub fn launch(&self, event_loop: LoopId, late: Duration) {
        let mut traffic = self.traffic();
        let Traffic { held, flights, .. } = &mut *traffic;
        for (_, mut flight) in held.extract_if(.., |(holder, _)| *holder == event_loop) {
            flight.arrival = flight.arrival + late;
            flights.push(Reverse(flight));
        }
        self.under_way.set(flights.len() as u64);
    }

    /// The time of the next arrival.
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        if self.is_empty() {
            return None;
        }
        self.traffic().flights.peek().map(|Reverse(flight)| flight.arrival)
    }

    /// The number of messages in flight.
    #[inline]
    pub fn len(&self) -> usize {
        self.under_way.get() as usize
    }

    /// The number of messages in flight or [held](DeliveryOutcome::Held).
    pub(crate) fn undelivered(&self) -> usize {
        let traffic = self.traffic();
        traffic.flights.len() + traffic.held.len() + traffic.waiting.len()
    }

    /// Whether no message is in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Delivers all messages that are due: by time, then in the order in which they were sent.
    #[inline]
    pub fn arrive(&self) {
        let now = self.clock.instant();
        while !self.is_empty() {
            let mut traffic = self.traffic();
            match traffic.flights.peek() {
                Some(Reverse(flight)) if flight.arrival <= now => {}
                _ => return,
            }
            let flight = traffic.flights.pop();
            self.under_way.set(traffic.flights.len() as u64);
            drop(traffic); // what arrives may be dropped, and a drop is the user's
            flight.into_iter().for_each(|Reverse(flight)| (flight.arrive)());
        }
    }

    /// The messages that were sent since the last time this was asked, if causes are in scope.
    pub fn take_sent(&self, sent: &mut Vec<EventId>) {
        sent.clear();
        std::mem::swap(sent, &mut self.traffic().sent);
    }

    /// Tells the network of a change of the graph, if it wants to know.
    pub(crate) fn extend(&self, info: impl FnOnce() -> Arc<GraphInfo>) {
        let network = &mut self.traffic().network;
        if network.follows_changes() {
            network.extend(&info());
        }
    }

    /// Whether messages for `callback` go through the network.
    pub(crate) fn is_concerned(&self, callback: CallbackId) -> bool {
        let Scope { departures, causes } = self.scope;
        departures || causes || self.traffic().network.is_linked(callback)
    }

    /// Whether messages that are sent now leave later, because a callback with a duration runs.
    pub(crate) fn departs_later(&self) -> bool {
        self.departure() > self.clock.instant()
    }

    /// The departure of messages that are sent now.
    pub(crate) fn departure(&self) -> Time {
        self.clock.instant_departure()
    }

    /// The departure of messages that `source` sends now: not before its earlier messages.
    pub(crate) fn departure_of(&self, source: SourceId) -> Time {
        self.depart(&mut self.traffic(), source)
    }

    fn depart(&self, traffic: &mut Traffic, source: SourceId) -> Time {
        let departure = self.clock.instant_departure();
        if !self.scope.departures {
            return departure;
        }
        let source = source.0 as usize;
        if traffic.left.len() <= source {
            traffic.left.resize(source + 1, Time::ZERO);
        }
        let left = &mut traffic.left[source];
        *left = departure.max(*left);
        *left
    }

    /// Decides the outcome of a message that is sent at the earliest time.
    pub(crate) fn outcome(
        &self,
        event: EventId,
        callback: CallbackId,
        bytes: usize,
    ) -> DeliveryOutcome {
        let mut traffic = self.traffic();
        if self.scope.causes && traffic.sent.last() != Some(&event) {
            traffic.sent.push(event);
        }
        let departure = self.depart(&mut traffic, event.source);
        let in_flight = InFlight { event, callback, departure, bytes };
        match traffic.network.outcome(&in_flight) {
            outcome @ (DeliveryOutcome::Lost | DeliveryOutcome::Held) => outcome,
            DeliveryOutcome::Once(time) => DeliveryOutcome::Once(time.max(departure)),
            DeliveryOutcome::Twice(one, other) => {
                DeliveryOutcome::Twice(one.max(departure), other.max(departure))
            }
        }
    }

    /// Calls `arrive` at time `arrival`; immediately if that is not in the future.
    pub(crate) fn fly(&self, arrival: Time, arrive: impl FnOnce() + Send + 'static) {
        if arrival <= self.clock.instant() {
            return arrive();
        }
        let mut traffic = self.traffic();
        let order = traffic.flown;
        traffic.flown += 1;
        let flight = Flight { arrival, order, arrive: Box::new(arrive) };
        match traffic.holder {
            Some(holder) => traffic.held.push((holder, flight)),
            None => traffic.flights.push(Reverse(flight)),
        }
        self.under_way.set(traffic.flights.len() as u64);
    }

    /// Keeps a message until it is released.
    pub(crate) fn wait(
        &self,
        callback: CallbackId,
        event: EventId,
        arrive: impl FnOnce() + Send + 'static,
    ) {
        self.traffic().waiting.insert((callback, event), Box::new(arrive));
    }

    /// Delivers a message that is [held](DeliveryOutcome::Held); false if it was not sent to
    /// `callback`.
    pub fn release(&self, callback: CallbackId, event: EventId) -> bool {
        let arrive = self.traffic().waiting.remove(&(callback, event));
        arrive.map(|arrive| arrive()).is_some()
    }

    /// Drops all messages in flight, each on its own, and the messages that their drops send.
    /// Returns the message of the first drop that panics.
    pub fn clear(&self) -> Option<String> {
        let mut first = None;
        for _ in 0..CLEARS_MAX {
            let mut traffic = self.traffic();
            let flights = std::mem::take(&mut traffic.flights);
            let held = std::mem::take(&mut traffic.held);
            let waiting = std::mem::take(&mut traffic.waiting);
            self.under_way.set(0);
            drop(traffic);
            if flights.is_empty() && held.is_empty() && waiting.is_empty() {
                break;
            }
            // A drop is user code and may publish: so not under the lock.
            let held = held.into_iter().map(|(_, flight)| flight.arrive);
            let flights = flights.into_iter().map(|Reverse(flight)| flight.arrive);
            for arrive in flights.chain(held).chain(waiting.into_values()) {
                first = first.or(catch_panic(|| drop(arrive)).err());
            }
        }
        first
    }

    fn traffic(&self) -> MutexGuard<'_, Traffic> {
        lock(&self.traffic)
    }
}

impl std::fmt::Debug for SimNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimNetwork")
            .field("now", &self.clock.instant())
            .field("under_way", &self.len())
            .finish_non_exhaustive()
    }
}
