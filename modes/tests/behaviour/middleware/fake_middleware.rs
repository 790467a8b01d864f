//! A middleware without a network: a bus in memory, which connects several executors as if each
//! were a separate process.

mod gauges;
mod services;

use gauges::{Gauge, Gauges};
use ringspin_executor::{
    BoxError, Durability, History, MessageTimes, Middleware, ParameterEventKind, ParameterValue,
    QoS, RemoteClient, RemoteEvent, RemoteEventKind, RemoteEvents, RemoteNode, RemoteNotifier,
    RemotePublisher, RemoteResponder, RemoteServer, RemoteStatus, RemoteSubscription, RosClock,
    Sent, ServiceTypes, Time, TypeName,
};
use services::{Asker, Desk, Line};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, Weak, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

/// A message that knows when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(pub(super) u64);

impl ringspin_executor::Stamped for Stamp {
    fn stamp(&self) -> Time {
        Time::from_nanos(self.0)
    }
}

/// A type that it does not carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Private(pub(super) u64);

/// The thread that delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The publishing thread itself, within its call.
    AtOnce,
    /// A thread of the fake's own.
    ByCourier,
}

pub(super) const WAYS: [Way; 2] = [Way::AtOnce, Way::ByCourier];

/// An operation that can be told to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Node,
    Advertise,
    Subscribe,
    Serve,
    Call,
    Publish,
    Take,
    /// A take that panics.
    Panic,
    Send,
    Watch,
    Clock,
}

/// One process's connection to the bus. Clones are the same process.
#[derive(Clone)]
pub(super) struct FakeMiddleware {
    bus: Arc<Bus>,
    process: u32,
    bypassed: bool,
    receives: bool,
    /// Called in the middle of each subscription, when its first messages are announced already.
    pause: Option<Arc<dyn Fn() + Send + Sync>>,
}

struct Bus {
    courier: Option<mpsc::Sender<Errand>>,
    thread: Option<JoinHandle<()>>,
    state: Mutex<State>,
}

type Errand = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    processes: u32,
    readers: Vec<(String, Inbox<u64>)>,
    writers: Vec<(String, Arc<Writer>)>,
    servers: Vec<(String, Server)>,
    askers: Vec<(String, Arc<Asker>)>,
    faults: BTreeMap<Fault, u32>,
    nodes: Vec<String>,
    gauges: Vec<Gauge>,
    clocks: Vec<Weak<Arc<RosClock>>>,
    shown: Vec<Time>,
    stamps: Vec<Option<Time>>,
}

/// The messages of a subscription, or the requests of a server.
#[derive(Clone)]
struct Inbox<T> {
    process: u32,
    bypassed: bool,
    depth: Option<usize>,
    queue: Arc<Mutex<VecDeque<T>>>,
    /// Messages that were sent and cannot be taken.
    skipped: Arc<Mutex<u64>>,
    remote_notifier: RemoteNotifier,
}

impl<T> Inbox<T> {
    fn new(fake: &FakeMiddleware, qos: &QoS, remote_notifier: RemoteNotifier) -> Self {
        let FakeMiddleware { process, bypassed, .. } = *fake;
        let depth = (qos.history() == History::KeepLast).then(|| qos.depth());
        Self {
            process,
            bypassed,
            depth,
            queue: Arc::default(),
            skipped: Arc::default(),
            remote_notifier,
        }
    }

    fn hears(&self, process: u32) -> bool {
        !(self.bypassed && self.process == process)
    }

    fn receive(&self, item: T) {
        let mut queue = self.queue.lock().unwrap();
        if Some(queue.len()) == self.depth {
            queue.pop_front();
            *self.skipped.lock().unwrap() += 1;
        }
        queue.push_back(item);
        drop(queue);
        self.remote_notifier.announce(1);
    }

    fn take(&self) -> Option<T> {
        self.queue.lock().unwrap().pop_front()
    }
}

struct Writer {
    process: u32,
    kept: Mutex<VecDeque<u64>>,
}

/// A request, its number, and its client.
type Asked = (u64, i64, Arc<Asker>);

#[derive(Clone)]
struct Server {
    requests: Inbox<Asked>,
    is_gone: Arc<Mutex<bool>>,
}

impl Server {
    fn lives(&self) -> bool {
        !*self.is_gone.lock().unwrap()
    }
}

impl FakeMiddleware {
    pub(super) fn new(way: Way) -> Self {
        let (courier, thread) = match way {
            Way::AtOnce => (None, None),
            Way::ByCourier => {
                let (sender, errands) = mpsc::channel::<Errand>();
                let run = move || errands.into_iter().for_each(|errand| errand());
                (Some(sender), Some(std::thread::spawn(run)))
            }
        };
        let bus = Arc::new(Bus { courier, thread, state: Mutex::default() });
        Self { bus, process: 0, bypassed: true, receives: true, pause: None }
    }

    /// Another process on the same bus.
    pub(super) fn another(&self) -> Self {
        let mut state = self.state();
        state.processes += 1;
        Self { process: state.processes, ..self.clone() }
    }

    pub(super) fn not_bypassed(self) -> Self {
        Self { bypassed: false, ..self }
    }

    pub(super) fn publishing_only(self) -> Self {
        Self { receives: false, ..self }
    }

    pub(super) fn pausing(self, pause: impl Fn() + Send + Sync + 'static) -> Self {
        Self { pause: Some(Arc::new(pause)), ..self }
    }

    /// A node of a further process, for the test itself.
    pub(super) fn outside(&self) -> Node {
        Node { fake: Self { pause: None, ..self.another() } }
    }

    /// Has the next `times` attempts fail.
    pub(super) fn fail(&self, fault: Fault, times: u32) {
        self.state().faults.insert(fault, times);
    }

    /// Reports `status` to all watchers of an end of `topic` for events of `kind`; returns their
    /// number.
    pub(super) fn report(
        &self,
        topic: &str,
        kind: RemoteEventKind,
        status: &RemoteStatus,
    ) -> usize {
        let gauges = self.state().gauges.clone();
        let gauges = gauges.into_iter().filter(|gauge| gauge.topic == topic && gauge.kind == kind);
        let told = gauges.map(|gauge| {
            let status = status.clone();
            self.bus.carry(Box::new(move || {
                *gauge.status.lock().unwrap() = Some(status);
                gauge.remote_notifier.announce(1);
            }));
        });
        told.count()
    }

    /// Has all servers of `service` crash; their clients learn of it.
    pub(super) fn crash(&self, service: &str) {
        let (servers, askers) = {
            let state = self.state();
            (state.servers.clone(), state.askers.clone())
        };
        for (_, server) in servers.iter().filter(|(name, _)| name == service) {
            *server.is_gone.lock().unwrap() = true;
        }
        for (_, asker) in askers.into_iter().filter(|(name, _)| name == service) {
            self.bus.carry(Box::new(move || asker.remote_notifier.announce(0)));
        }
    }

    /// Loses this many messages to each subscription of `topic`.
    pub(super) fn lose(&self, topic: &str, count: u64) {
        let state = self.state();
        let readers = state.readers.iter().filter(|(name, _)| name == topic);
        readers.for_each(|(_, reader)| *reader.skipped.lock().unwrap() += count);
    }

    /// Tells all followers of the clock the time; returns their number.
    pub(super) fn tell(&self, time: Time) -> usize {
        let clocks = self.state().clocks.clone();
        let clocks = clocks.iter().filter_map(Weak::upgrade);
        clocks.map(|clock| clock.set(time)).count()
    }

    /// The times that were published.
    pub(super) fn shown(&self) -> Vec<Time> {
        self.state().shown.clone()
    }

    /// When parameters were set.
    pub(super) fn stamps(&self) -> Vec<Option<Time>> {
        self.state().stamps.clone()
    }

    /// The number of clients of `service`.
    pub(super) fn clients(&self, service: &str) -> usize {
        self.state().askers.iter().filter(|(name, _)| name == service).count()
    }

    /// The names of all nodes so far.
    pub(super) fn nodes(&self) -> Vec<String> {
        self.state().nodes.clone()
    }

    /// Waits until everything under way is delivered.
    pub(super) fn flush(&self) {
        let (sender, done) = mpsc::channel();
        self.bus.carry(Box::new(move || sender.send(()).unwrap()));
        done.recv().unwrap();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.bus.state.lock().unwrap()
    }

    fn attempt(&self, fault: Fault) -> Result<(), BoxError> {
        let mut state = self.state();
        match state.faults.get_mut(&fault) {
            Some(times) if *times > 0 => {
                *times -= 1;
                Err(format!("{fault:?} was told to fail").into())
            }
            _ => Ok(()),
        }
    }
}

impl Bus {
    fn carry(&self, errand: Errand) {
        match &self.courier {
            None => errand(),
            Some(courier) => courier.send(errand).unwrap(),
        }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.courier = None;
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Middleware for FakeMiddleware {
    fn name(&self) -> &str {
        "the fake"
    }

    fn is_bypassed_locally(&self) -> bool {
        self.bypassed
    }

    fn receives(&self) -> bool {
        self.receives
    }

    fn follow_clock(
        &self,
        clock: Arc<RosClock>,
    ) -> Result<Option<Box<dyn Any + Send + Sync>>, BoxError> {
        self.attempt(Fault::Clock)?;
        let follower = Arc::new(clock);
        self.state().clocks.push(Arc::downgrade(&follower));
        Ok(self.receives.then(|| -> Box<dyn Any + Send + Sync> { Box::new(follower) }))
    }

    fn clock_period(&self) -> Option<Duration> {
        (!self.receives).then_some(Duration::from_millis(100))
    }

    fn publish_clock(&self, now: Time) -> Result<(), BoxError> {
        self.state().shown.push(now);
        Ok(())
    }

    fn create_node(&self, namespace: &str, name: &str) -> Result<Arc<dyn RemoteNode>, BoxError> {
        self.attempt(Fault::Node)?;
        self.state().nodes.push(format!("{namespace} {name}"));
        Ok(Arc::new(Node { fake: self.clone() }))
    }
}

/// A node of one process.
pub(super) struct Node {
    fake: FakeMiddleware,
}

/// On the bus everything is a number.
fn encode(message: &dyn Any) -> u64 {
    let stamp = || message.downcast_ref::<Stamp>().map(|stamp| stamp.0);
    message.downcast_ref().copied().or_else(stamp).expect("only carried topics are published")
}

fn decode(message: u64, into: &mut dyn Any) {
    if let Some(into) = into.downcast_mut::<Option<u64>>() {
        *into = Some(message);
    } else {
        *into.downcast_mut().expect("only carried topics are taken") = Some(Stamp(message));
    }
}

fn is_carried(of: TypeName) -> bool {
    [TypeName::of::<u64>(), TypeName::of::<Stamp>()].contains(&of)
}

impl RemoteNode for Node {
    fn advertise(
        &self,
        topic: &str,
        message: TypeName,
        qos: QoS,
    ) -> Result<Option<Arc<dyn RemotePublisher>>, BoxError> {
        self.fake.attempt(Fault::Advertise)?;
        if !is_carried(message) {
            return Ok(None);
        }
        let depth = if qos.durability() == Durability::TransientLocal { qos.depth() } else { 0 };
        let writer = Arc::new(Writer { process: self.fake.process, kept: Mutex::default() });
        self.fake.state().writers.push((topic.into(), writer.clone()));
        let (fake, topic) = (self.fake.clone(), topic.to_owned());
        Ok(Some(Arc::new(Outlet { fake, topic, writer, depth })))
    }

    fn subscribe(
        &self,
        topic: &str,
        message: TypeName,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteSubscription>>, BoxError> {
        self.fake.attempt(Fault::Subscribe)?;
        if !is_carried(message) {
            return Ok(None);
        }
        let reader = Inbox::new(&self.fake, &qos, remote_notifier);
        let mut state = self.fake.state();
        let latched = qos.durability() == Durability::TransientLocal;
        let writers = state.writers.iter().filter(|(of, _)| of == topic && latched);
        for (_, writer) in writers.filter(|(_, writer)| reader.hears(writer.process)) {
            writer.kept.lock().unwrap().iter().for_each(|message| reader.receive(*message));
        }
        state.readers.push((topic.into(), reader.clone()));
        drop(state);
        if let Some(pause) = &self.fake.pause {
            pause();
        }
        Ok(Some(Box::new(Intake { fake: self.fake.clone(), topic: topic.into(), reader })))
    }

    fn serve(
        &self,
        service: &str,
        types: ServiceTypes,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteServer>>, BoxError> {
        self.fake.attempt(Fault::Serve)?;
        if !is_carried(types.request) || !is_carried(types.response) {
            return Ok(None);
        }
        let requests = Inbox::new(&self.fake, &qos, remote_notifier);
        let server = Server { requests, is_gone: Arc::default() };
        self.fake.state().servers.push((service.into(), server.clone()));
        Ok(Some(Box::new(Desk { fake: self.fake.clone(), service: service.into(), server })))
    }

    fn call(
        &self,
        service: &str,
        types: ServiceTypes,
        _: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Arc<dyn RemoteClient>>, BoxError> {
        self.fake.attempt(Fault::Call)?;
        if !is_carried(types.request) || !is_carried(types.response) {
            return Ok(None);
        }
        let answers = Mutex::default();
        let asker = Arc::new(Asker { answers, asked: Mutex::new(0), remote_notifier });
        self.fake.state().askers.push((service.into(), asker.clone()));
        Ok(Some(Arc::new(Line { fake: self.fake.clone(), service: service.into(), asker })))
    }

    fn parameters_changed(
        &self,
        kind: ParameterEventKind,
        _: &[(String, ParameterValue)],
        now: Option<Time>,
    ) {
        if kind == ParameterEventKind::Set {
            self.fake.state().stamps.push(now);
        }
    }
}

struct Outlet {
    fake: FakeMiddleware,
    topic: String,
    writer: Arc<Writer>,
    depth: usize,
}

impl RemotePublisher for Outlet {
    fn publish(&self, message: &dyn Any) -> Result<(), BoxError> {
        self.fake.attempt(Fault::Publish)?;
        let message = encode(message);
        let state = self.fake.state();
        let mut kept = self.writer.kept.lock().unwrap();
        kept.push_back(message);
        while kept.len() > self.depth {
            kept.pop_front();
        }
        drop(kept);
        let readers = state.readers.iter().filter(|(topic, _)| *topic == self.topic);
        let readers = readers.filter(|(_, reader)| reader.hears(self.fake.process));
        for (_, reader) in readers {
            let reader = reader.clone();
            self.fake.bus.carry(Box::new(move || reader.receive(message)));
        }
        Ok(())
    }

    fn assert_liveliness(&self) -> Result<(), BoxError> {
        Ok(())
    }

    fn subscription_count(&self) -> Result<usize, BoxError> {
        let state = self.fake.state();
        let readers = state.readers.iter().filter(|(topic, _)| *topic == self.topic);
        Ok(readers.filter(|(_, reader)| reader.hears(self.fake.process)).count())
    }

    fn events(&self) -> Option<Arc<dyn RemoteEvents>> {
        Some(Arc::new(Gauges { fake: self.fake.clone(), topic: self.topic.clone() }))
    }
}

/// The size of every message.
pub(crate) const SOURCE_TIMESTAMP: Time = Time::from_nanos(7);

struct Intake {
    fake: FakeMiddleware,
    topic: String,
    reader: Inbox<u64>,
}

impl RemoteSubscription for Intake {
    fn take(&mut self, into: &mut dyn Any) -> Result<bool, BoxError> {
        let Some(message) = self.reader.take() else {
            return Ok(false);
        };
        assert!(self.fake.attempt(Fault::Panic).is_ok(), "a message that cannot be read");
        self.fake
            .attempt(Fault::Take)
            .inspect_err(|_| *self.reader.skipped.lock().unwrap() += 1)?;
        decode(message, into);
        Ok(true)
    }

    fn skipped(&self) -> Option<u64> {
        Some(*self.reader.skipped.lock().unwrap())
    }

    fn times(&self) -> MessageTimes {
        MessageTimes { source_timestamp: SOURCE_TIMESTAMP, ..MessageTimes::UNKNOWN }
    }

    fn events(&self) -> Option<Arc<dyn RemoteEvents>> {
        Some(Arc::new(Gauges { fake: self.fake.clone(), topic: self.topic.clone() }))
    }
}
