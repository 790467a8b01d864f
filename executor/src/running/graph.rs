//! The graph: nodes, topics and callbacks, and their ends.
//!
//! Nodes declare publishers, subscriptions, timers and services under the lock of the graph;
//! `freeze` (in [`frozen`]) turns the graph into workers. Later changes are [committed](commit) to
//! them as they run.
//!
//! Any thread may create and destroy parts: it writes the [`GraphBuilder`] under one lock, and
//! where the lock ends, [`Builder`] hands the changes to the workers and connects the topics. So a
//! part of a running graph is live as a whole when the call that creates it returns. Values of the
//! user that a change removes are dropped after the unlock, because their `Drop` may use the graph.
//! To dispatch a message or a timer no thread takes the lock: a worker reads its tables, a
//! publisher the ports of its topic. One lock serves the whole graph, because creation is rare, and
//! a check of names, QoS and room then holds until the part is added.

mod checks;
mod commit;
mod frozen;
mod removal;
mod running;
mod simulation;
mod topic_endpoints;

pub use frozen::{Frozen, LatePlace, LatePlacement, Monitor, Plan, ReadyOrder, TimeSource};

use crate::base::departure::{Departures, End};
use crate::base::digest::DigestCollector;
use crate::base::directory::{CallbackName, Directory, LoopName};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::escape::{log_drop, try_drop_each};
use crate::base::event::{CallbackId, LoopId, SourceId};
use crate::base::info::{CallbackInfo, GraphInfo, LoopInfo, ServiceInfo, TopicInfo};
use crate::base::lock::lock;
use crate::base::name;
use crate::base::qos::QoS;
use crate::base::table::Table;
use crate::base::time::NodeClock;
use crate::delivery::budget::{Budget, Budgets};
use crate::delivery::control::{CallbackCounters, FailurePolicy, Failures};
use crate::delivery::domain::Domain as GraphDomain;
use crate::delivery::input::NamedInput;
use crate::delivery::ready::Notifier;
use crate::delivery::remote::Remote;
use crate::delivery::timer::{Timer, TimerControl};
use crate::delivery::topic::{AllTopics, AnyTopic, ChangedTopics, Topic};
use crate::running::event_loop::{EntityPort, EventLoop};
use crate::running::measured::set_budget;
pub(crate) use checks::{check_depth, check_size, too_late, type_mismatch};
pub(crate) use commit::Builder;
use commit::{Added, EntityPlaces};
pub(crate) use removal::{PublisherEnd, Receives};
use ringspin_ringbuf::reclaim::Domain;
use running::{Named, Running};
use std::any::{Any, TypeId, type_name};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use topic_endpoints::TopicEndpoints;

const MAX_DEPTH: usize = ringspin_ringbuf::keep_last::MAX_DEPTH;

/// The properties of a callback besides its name.
pub(crate) struct CallbackSpec {
    pub(crate) target: EntityPort,
    pub(crate) source: EventSource,
    /// The longest time between the readiness of its event and its return.
    pub(crate) deadline: Option<Duration>,
    pub(crate) counters: Arc<CallbackCounters>,
    /// Where it gets its messages, if that ends with it.
    pub(crate) receives: Option<Receives>,
}

impl CallbackSpec {
    pub(crate) fn new(
        target: EntityPort,
        source: EventSource,
        counters: Arc<CallbackCounters>,
    ) -> Self {
        Self { target, source, deadline: None, counters, receives: None }
    }

    /// A callback for the expiries of `timer`.
    pub(crate) fn of_timer(target: EntityPort, timer: &Timer) -> Self {
        let source = EventSource::Timer(timer.control().clone());
        Self::new(target, source, Arc::default())
    }
}

pub(crate) enum EventSource {
    /// A queue with this capacity.
    Queue(usize),
    /// A queue with this capacity, and the messages of a middleware.
    QueueAndRemote(usize, Arc<Notifier>),
    Timer(Arc<TimerControl>),
    /// A notifier, which is one event until it is taken.
    Notifier(Arc<Notifier>),
}

impl EventSource {
    /// A queue of `depth` messages, and the messages of `remote`.
    pub(crate) fn queue<M: 'static>(depth: usize, remote: Option<&Remote<M>>) -> Self {
        match remote {
            None => Self::Queue(depth),
            Some(remote) => Self::QueueAndRemote(depth, remote.notifier().clone()),
        }
    }

    /// The number of events that can be ready at once.
    pub(crate) fn capacity(&self) -> usize {
        match self {
            Self::Queue(depth) => *depth,
            // One token stands for all that the middleware has.
            Self::QueueAndRemote(depth, _) => *depth + 1,
            // The expiry, and the notice that the timer was changed.
            Self::Timer(_) => 2,
            Self::Notifier(_) => 1,
        }
    }
}

struct TopicSpec {
    type_id: TypeId,
    established_by: String,
    info: TopicInfo,
    /// An `Arc<Topic<M>>`.
    typed: Box<dyn Any + Send>,
    erased: Arc<dyn AnyTopic>,
    /// Its number among all topics.
    number: u64,
    endpoints: TopicEndpoints,
}

pub(crate) struct ServiceSpec {
    pub(crate) established_by: String,
    pub(crate) info: ServiceInfo,
    /// An `Arc` of the topic of its requests.
    pub(crate) requests: Box<dyn Any + Send>,
    /// The number of that among all topics.
    pub(crate) number: u64,
}

#[derive(Default)]
pub(crate) struct GraphBuilder {
    /// Of the values that are replaced while others read them.
    domain: Arc<Domain>,
    /// The other graphs that its topics meet.
    joined: Option<GraphDomain>,
    frozen: bool,
    /// The workers, from the freeze until the executor is dropped.
    running: Option<Running>,
    /// The parts that they do not have yet.
    added: Added,
    /// The owner of the ends that are added now.
    owner: Option<End>,
    /// The ends that belong to another one. Some of them may have ended before.
    owned: BTreeMap<End, Vec<End>>,
    /// Values of the user that are dropped when the lock ends.
    trash: Vec<Box<dyn Any + Send>>,
    changed_topics: ChangedTopics,
    /// The publishers that end with their last handles.
    publishers: Table<SourceId, PublisherEnd>,
    departures: Departures,
    node_names: BTreeSet<String>,
    loops: Table<LoopId, Arc<LoopInfo>>,
    /// The bodies of the loops that no worker has yet.
    bodies: Table<LoopId, Box<dyn EventLoop>>,
    entities: Table<LoopId, EntityPlaces>,
    callbacks: Table<CallbackId, Arc<CallbackInfo>>,
    callback_specs: Table<CallbackId, CallbackSpec>,
    /// The deadlines of callbacks that the loops of a running graph get later.
    later_deadlines: BTreeMap<(LoopId, String), Duration>,
    budgets: Budgets,
    loop_names: Table<LoopId, Arc<LoopName>>,
    pub(crate) directory: Directory,
    /// The number of changes so far of what [`info`](Self::info) describes.
    version: u64,
    snapshot: Option<Arc<GraphInfo>>,
    /// The numbers of loops and callbacks so far: no id is used twice.
    loop_ids: u32,
    callback_ids: u32,
    topics: BTreeMap<String, TopicSpec>,
    services: BTreeMap<String, ServiceSpec>,
    /// The topics and services that may have no ends left.
    left: Vec<String>,
    all_topics: AllTopics,
    sources: u32,
    /// The clock of the nodes, which shows the time once the graph is frozen.
    pub(crate) clock: NodeClock,
    /// The failed and isolated nodes; set once the graph is frozen.
    pub(crate) failures: Arc<OnceLock<Arc<Failures>>>,
    inputs: Vec<NamedInput>,
    pub(crate) digests: Arc<DigestCollector>,
    policies: Table<usize, Option<FailurePolicy>>,
    /// The number of nodes so far: no index is used twice.
    node_indices: usize,
    at_node_end: Vec<fn(&mut Self, usize, &str)>,
    /// The reason why no run repeats the order of events, if there is one, and the way out.
    live_only: Option<String>,
    before_freeze: Vec<fn(&Self)>,
    features: BTreeMap<TypeId, Box<dyn Any + Send>>,
}

impl GraphBuilder {
    /// The state that a feature keeps in the graph while it is built; the core does not know its
    /// type.
    pub(crate) fn feature<T: Default + Send + 'static>(&mut self) -> &mut T {
        let value = self.features.entry(TypeId::of::<T>());
        let value = value.or_insert_with(|| Box::new(T::default()));
        value.downcast_mut().expect("values are kept by their type")
    }

    /// Returns the feature like [`feature`](Self::feature), if it has been used.
    pub(crate) fn look<T: 'static>(&self) -> Option<&T> {
        self.features.get(&TypeId::of::<T>())?.downcast_ref()
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.frozen && self.running.is_none()
    }

    #[cfg(test)]
    pub(crate) fn freeze(&mut self) {
        self.frozen = true;
    }

    /// Registers `run`, which is called once when the graph is about to be frozen, however often it
    /// is registered.
    pub(crate) fn before_freeze(&mut self, run: fn(&Self)) {
        if !self.before_freeze.iter().any(|other| std::ptr::fn_addr_eq(*other, run)) {
            self.before_freeze.push(run);
        }
    }

    pub(crate) fn next_node_index(&self) -> usize {
        self.node_indices
    }

    /// Registers `run`, which is called with the index and name of each node that is destroyed,
    /// however often it is registered.
    pub(crate) fn at_node_end(&mut self, run: fn(&mut Self, usize, &str)) {
        if !self.at_node_end.iter().any(|other| std::ptr::fn_addr_eq(*other, run)) {
            self.at_node_end.push(run);
        }
    }

    /// Records that the graph cannot run in simulated time, with the reason and the way out.
    pub(crate) fn set_live_only(&mut self, reason: String) {
        self.live_only = Some(reason);
    }

    /// The domain in which its topics meet those of other graphs.
    pub(crate) fn joined(&self) -> Option<&GraphDomain> {
        self.joined.as_ref()
    }

    pub(crate) fn join(&mut self, domain: &GraphDomain) {
        domain.add(&self.domain);
        self.joined = Some(domain.clone());
        self.set_live_only(
            "two executors of a domain have no common order that can be repeated: put their nodes \
             into one executor, or run the program on simulated threads"
                .to_owned(),
        );
    }

    pub(crate) fn has_nodes(&self) -> bool {
        self.node_indices > 0
    }

    /// Whether a node or group has this full name.
    pub(crate) fn has_name(&self, full_name: &str) -> bool {
        self.node_names.contains(full_name)
    }

    pub(crate) fn loops(&self) -> impl Iterator<Item = &LoopInfo> {
        self.loops.values().map(|event_loop| &**event_loop)
    }

    pub(crate) fn loop_info(&self, event_loop: LoopId) -> &LoopInfo {
        &self.loops[event_loop]
    }

    pub(crate) fn loop_info_mut(&mut self, event_loop: LoopId) -> &mut LoopInfo {
        self.version += 1;
        Arc::make_mut(&mut self.loops[event_loop])
    }

    pub(crate) fn has_callback(&self, callback: CallbackId) -> bool {
        self.callbacks.contains(callback)
    }

    pub(crate) fn callback_name(&self, callback: CallbackId) -> &str {
        &self.callbacks[callback].name
    }

    pub(crate) fn set_deadline(&mut self, callback: CallbackId, deadline: Duration) {
        self.callback_specs[callback].deadline = Some(deadline);
    }

    /// Sets the deadline of the callbacks of this name that the loop gets from now on.
    pub(crate) fn set_later_deadline(&mut self, of: LoopId, callback: &str, deadline: Duration) {
        self.later_deadlines.insert((of, callback.into()), deadline);
    }

    pub(crate) fn set_policy(&mut self, node_index: usize, policy: FailurePolicy) {
        self.policies[node_index] = Some(policy);
        if let Some(running) = &self.running {
            running.failures.change(node_index, |control| control.policy = policy);
        }
    }

    pub(crate) fn set_priority(&mut self, event_loop: LoopId, priority: u8) {
        self.loop_info_mut(event_loop).priority = priority;
        if let Some(running) = &mut self.running {
            running.set_priority(event_loop, priority);
        }
    }

    /// Gives a loop a budget, or none.
    pub(crate) fn set_budget(&mut self, event_loop: LoopId, budget: Option<Budget>) {
        let name = self.loops[event_loop].full_name();
        let watch = self.budgets.set(event_loop, name, budget);
        self.change_loop(event_loop, move |body| set_budget(body, watch));
    }

    /// A topic that only the ends know which are given it.
    pub(crate) fn private_topic<M: Send + Sync + 'static>(&self, name: &str) -> Arc<Topic<M>> {
        let (digests, changed) = (self.digests.clone(), self.changed_topics.clone());
        Arc::new(Topic::new(name.into(), digests, changed, &self.domain, None))
    }

    /// Adds a queue that is no topic; its losses are reported under `name`. Returns its number
    /// among all topics.
    pub(crate) fn add_queue(&mut self, name: String, queue: Arc<dyn AnyTopic>) -> u64 {
        self.changed_topics.add(queue.clone());
        self.all_topics.add(name, queue)
    }

    /// Adds the cache of a transient-local publisher of `topic`.
    pub(crate) fn add_cache(&mut self, topic: Arc<dyn AnyTopic>, publisher: SourceId) {
        self.added.caches.push((topic, publisher));
    }

    pub(crate) fn add_service(&mut self, service: ServiceSpec) {
        let name = service.info.name.clone();
        self.left.push(name.clone()); // until it has an end
        self.services.insert(name, service);
    }

    pub(crate) fn service_spec(&self, name: &str) -> Option<&ServiceSpec> {
        self.services.get(name)
    }

    pub(crate) fn service_info(&mut self, name: &str) -> &mut ServiceInfo {
        self.version += 1;
        &mut self.services.get_mut(name).expect("the service was just created").info
    }

    pub(crate) fn next_source(&mut self) -> SourceId {
        let next = self.joined.as_ref().map_or(self.sources, GraphDomain::next_source);
        self.sources = next + 1;
        SourceId(next)
    }

    /// The number of changes so far of what [`info`](Self::info) describes.
    fn version(&self) -> u64 {
        self.version + self.digests.changes()
    }

    /// The description of the graph, which is shared until the next change.
    pub(crate) fn snapshot(&mut self) -> Arc<GraphInfo> {
        if let Some(last) = &self.snapshot
            && last.version == self.version()
        {
            return last.clone();
        }
        self.snapshot.insert(Arc::new(self.info())).clone()
    }

    pub(crate) fn loop_name(&self, event_loop: LoopId) -> Arc<LoopName> {
        self.loop_names[event_loop].clone()
    }

    pub(crate) fn info(&self) -> GraphInfo {
        GraphInfo {
            version: self.version(),
            loops: self.loops.clone(),
            callbacks: self.callbacks.clone(),
            topics: self.topics.values().map(|topic| self.topic_as_it_is(topic)).collect(),
            services: self.services.values().map(|service| service.info.clone()).collect(),
            inputs: self.inputs.iter().map(|input| input.name.clone()).collect(),
        }
    }

    fn topic_as_it_is(&self, topic: &TopicSpec) -> TopicInfo {
        let sources = topic.info.publishers.iter().map(|(_, source)| *source);
        let named = sources.clone().filter_map(|s| Some((s, self.digests.name_of(s)?))).collect();
        let digested = sources.filter(|source| self.digests.is_digested(*source)).collect();
        TopicInfo { digested, named, ..topic.info.clone() }
    }

    /// The topics by name, without those of services.
    pub(crate) fn erased_topics(&self) -> Vec<(String, Arc<dyn AnyTopic>)> {
        let topics = self.topics.iter();
        topics.map(|(name, topic)| (name.clone(), topic.erased.clone())).collect()
    }

    /// Adds a loop, to this place if the graph runs.
    fn add_loop(
        &mut self,
        mut info: LoopInfo,
        body: Box<dyn EventLoop>,
        LatePlace { worker, priority, budget }: LatePlace,
    ) -> LoopId {
        info.priority = priority;
        let id = LoopId(self.loop_ids);
        self.loop_ids += 1;
        self.version += 1;
        self.loop_names.insert(id, Arc::new(LoopName::from(&info)));
        self.loops.insert(id, Arc::new(info));
        self.bodies.insert(id, body);
        self.entities.insert(id, EntityPlaces::default());
        self.added.loops.push((id, worker));
        if budget.is_some() {
            self.set_budget(id, budget);
        }
        id
    }

    /// Adds node `name`, which is given to `connect` before, and is not added if that fails.
    pub(crate) fn create_node(
        &mut self,
        name: &str,
        body: Box<dyn EventLoop>,
        connect: impl FnOnce(&mut Self, &str) -> Result<()>,
    ) -> Result<LoopId> {
        self.check_open(|| format!("node {name}"))?;
        if self.node_names.contains(name) {
            let text = format!(
                "failed to create node {name}: there is one of this name; give one of them another \
                 name, or put it into another namespace"
            );
            return Err(Error::new(ErrorKind::AlreadyExists, text).in_node(name));
        }
        let place = match &self.running {
            None => LatePlace::default(),
            Some(running) => (running.late)(name, "", None).ok_or_else(|| no_core(name))?,
        };
        self.check_place(place, || format!("node {name}"))?;
        connect(self, name)?;
        self.node_names.insert(name.into());
        let index = self.next_node_index();
        self.node_indices += 1;
        self.policies.insert(index, None);
        Ok(self.add_loop(LoopInfo::new(name, "", index), body, place))
    }

    pub(crate) fn create_group(
        &mut self,
        node: &str,
        group: &str,
        node_index: usize,
        body: Box<dyn EventLoop>,
    ) -> Result<LoopId> {
        let info = LoopInfo::new(node, group, node_index);
        let name = info.full_name();
        if !self.policies.contains(node_index) {
            return Err(checks::gone(&format!("callback group {name}"), "node was destroyed"));
        }
        self.check_open(|| format!("callback group {name}"))?;
        if self.node_names.contains(&name) {
            let text = format!(
                "failed to create callback group {name}: there is one of this name; give one of \
                 them another name"
            );
            return Err(Error::new(ErrorKind::AlreadyExists, text).in_node(node));
        }
        let place = self.running.as_ref().and_then(|running| {
            let first = self.loops.iter().find(|(_, of)| of.node_index == node_index);
            let of_node = first.and_then(|(first, _)| running.worker_of(first));
            (running.late)(node, group, of_node)
        });
        let place = place.unwrap_or_default();
        self.check_place(place, || format!("callback group {name}"))?;
        self.node_names.insert(name);
        Ok(self.add_loop(info, body, place))
    }

    /// Adds a callback to `event_loop` and returns its number.
    pub(crate) fn add_callback(
        &mut self,
        event_loop: LoopId,
        name: String,
        mut spec: CallbackSpec,
    ) -> CallbackId {
        if !self.later_deadlines.is_empty() {
            let deadline = self.later_deadlines.get(&(event_loop, name.clone()));
            spec.deadline = deadline.copied();
        }
        let id = CallbackId(self.callback_ids);
        self.callback_ids += 1;
        let (callback, of) = (name.clone(), self.loop_name(event_loop));
        let entity = spec.target.entity;
        self.directory.add(id, CallbackName { callback, event_loop, of });
        self.callbacks.insert(id, Arc::new(CallbackInfo { event_loop, name }));
        self.callback_specs.insert(id, spec);
        self.own(End::Entity(id));
        self.added.callbacks.push(id);
        self.entities[event_loop].callbacks.insert((entity, id));
        self.loop_info_mut(event_loop).callbacks.push(id);
        id
    }

    fn named(&self, id: CallbackId) -> Named<'_> {
        let name = self.directory.get(id).expect("the graph has the callback");
        (id, &self.callback_specs[id], name)
    }

    /// Returns the topic `name`, and creates it at its first use.
    pub(crate) fn topic<M: Send + Sync + 'static>(
        &mut self,
        name: &str,
        node: &str,
    ) -> Result<Arc<Topic<M>>> {
        let joined = self.joined.as_ref().filter(|_| !name::is_internal(name));
        let shared = match joined.filter(|_| !self.topics.contains_key(name)) {
            None => None,
            Some(domain) => Some(domain.topic::<M>(name, node).map_err(|other| {
                let established = (&*other.established_by, other.message_type);
                checks::type_mismatch(("topic", name), (node, type_name::<M>()), established)
            })?),
        };
        let Self { topics, digests, changed_topics, all_topics, left, version, domain, .. } =
            &mut *self;
        let builder = topics.entry(name.into()).or_insert_with(|| {
            *version += 1;
            let (digests, changed) = (digests.clone(), changed_topics.clone());
            let (shared, of_domain) = shared.unzip();
            let topic = Topic::<M>::new(name.into(), digests, changed, domain, shared.clone());
            let topic = Arc::new(topic);
            if let Some(shared) = shared {
                shared.join(&topic);
            }
            changed_topics.add(topic.clone());
            let number = all_topics.add(name.into(), topic.clone());
            left.push(name.into()); // until it has an end
            TopicSpec {
                type_id: TypeId::of::<M>(),
                established_by: node.into(),
                info: TopicInfo {
                    name: name.into(),
                    message_type: type_name::<M>(),
                    publishers: Vec::new(),
                    subscriptions: Vec::new(),
                    digested: Vec::new(),
                    named: Vec::new(),
                },
                typed: Box::new(topic.clone()),
                erased: topic,
                number,
                endpoints: TopicEndpoints::new(domain, of_domain),
            }
        });
        if builder.type_id != TypeId::of::<M>() {
            let established = (&*builder.established_by, builder.info.message_type);
            let requested = (node, type_name::<M>());
            return Err(checks::type_mismatch(("topic", name), requested, established));
        }
        Ok(builder.typed.downcast_ref::<Arc<Topic<M>>>().expect("the type was compared").clone())
    }

    pub(crate) fn topic_info(&mut self, name: &str) -> &mut TopicInfo {
        self.version += 1;
        &mut self.topics.get_mut(name).expect("the topic was just created").info
    }
}

impl Drop for GraphBuilder {
    /// Drops the user's values, each on its own: two panics at once would abort the process.
    fn drop(&mut self) {
        // While the topics are kept, so that nothing of the user is dropped with these.
        drop((take(&mut self.publishers), take(&mut self.callback_specs)));
        for body in self.bodies.values_mut() {
            log_drop("a node", body.retire());
        }
        log_drop("an input", try_drop_each(self.inputs.drain(..)));
        log_drop("a feature of the graph", try_drop_each([take(&mut self.features)]));
        log_drop("a topic", try_drop_each([take(&mut self.added)]));
        log_drop("a topic", try_drop_each(self.changed_topics.take()));
        log_drop("a topic", try_drop_each([take(&mut self.all_topics)]));
        log_drop("a topic", try_drop_each(take(&mut self.services)));
        log_drop("a topic", try_drop_each(take(&mut self.topics)));
        // No later change does it.
        self.domain.collect();
    }
}

/// A graph of nodes. Clones are handles to the same graph, and may be used from any thread and in
/// callbacks: nodes come and go also while the executor runs.
///
/// ```
/// use ringspin_executor::{Graph, Message, QoS};
/// let graph = Graph::new();
/// let node = graph.create_node("counter", 0u32)?;
/// node.create_subscription("numbers", QoS::keep_last(1), |count, n: &Message<u32>, _| {
///     *count += **n;
/// })?;
/// assert_eq!(graph.info().topics[0].name, "/numbers");
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone)]
pub struct Graph {
    builder: Arc<Mutex<GraphBuilder>>,
    /// The builder's.
    domain: Arc<Domain>,
}

impl Default for Graph {
    fn default() -> Self {
        let builder = GraphBuilder::default();
        let domain = builder.domain.clone();
        Self { builder: Arc::new(Mutex::new(builder)), domain }
    }
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// The domain of the values of the graph that are replaced while others read them: for tests.
    #[doc(hidden)]
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Gives an event loop a priority without its node, for tools that tune a finished graph; see
    /// [`Node::set_priority`](crate::Node::set_priority).
    ///
    /// # Errors
    /// Fails for a loop that the graph does not have, an executor that was dropped, or a full
    /// worker.
    pub fn set_priority(&self, event_loop: LoopId, priority: u8) -> Result<()> {
        let mut builder = self.tuned(event_loop, "a priority")?;
        builder.set_priority(event_loop, priority);
        Ok(())
    }

    /// Gives an event loop a budget without its node, likewise; see
    /// [`Node::set_budget`](crate::Node::set_budget).
    ///
    /// # Errors
    /// Fails for a loop that the graph does not have, an executor that was dropped, or a full
    /// worker.
    pub fn set_budget(&self, event_loop: LoopId, budget: Option<Budget>) -> Result<()> {
        let mut builder = self.tuned(event_loop, "a budget")?;
        builder.set_budget(event_loop, budget);
        Ok(())
    }

    /// The builder, if it has this loop, to set `what` of it.
    fn tuned(&self, event_loop: LoopId, what: &str) -> Result<Builder<'_>> {
        let builder = self.builder();
        if !builder.loops.contains(event_loop) {
            let LoopId(id) = event_loop;
            let text = format!(
                "failed to set {what}: there is no event loop {id}; use one of `Graph::info`"
            );
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        builder.check_open_loop(event_loop, || what.to_owned())?;
        Ok(builder)
    }

    /// The timers with their callbacks, in order of creation, for tools that shift or list them.
    pub fn timers(&self) -> Vec<(CallbackId, Timer)> {
        let builder = self.builder();
        let timers = builder.callback_specs.iter().filter_map(|(id, spec)| match &spec.source {
            EventSource::Timer(control) => Some((id, Timer::new(control.clone()))),
            _ => None,
        });
        timers.collect()
    }

    /// Removes everything that nodes added to the graph, when its executor is dropped: callbacks
    /// that hold a [`Node`](crate::Node) or a [`Graph`] would otherwise keep themselves alive.
    /// Handles of the graph then find it empty, and creating anything fails.
    pub fn close(&self) {
        let mut open = self.builder();
        let mut closed = GraphBuilder::default();
        closed.frozen = true;
        let snapshot = open.snapshot(); // for monitors
        (closed.version, closed.snapshot) = (snapshot.version, Some(snapshot));
        closed.clock = open.clock.clone();
        closed.failures = open.failures.clone();
        let builder = std::mem::replace(&mut *open, closed);
        drop(open); // the drop of a state or callback may use the graph
        drop(builder);
    }

    /// The nodes that publish on a topic and the QoS that they offer, in order of creation; empty
    /// for an unknown topic. For recorders, which request what every publisher offers.
    pub fn offered_qos(&self, topic: &str) -> Vec<(String, QoS)> {
        self.builder().offered_qos(topic)
    }

    /// The graph as declared so far.
    pub fn info(&self) -> GraphInfo {
        self.builder().info()
    }
}

fn no_core(node: &str) -> Error {
    let text = format!(
        "failed to create node {node}: the mapping names no core for it, and has no default; name \
         it under a `[[core]]`, set `default_core`, or leave `balance = false` out"
    );
    Error::new(ErrorKind::NotFound, text).in_node(node)
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let builder = self.builder();
        f.debug_struct("Graph")
            .field("loops", &builder.loops.len())
            .field("callbacks", &builder.callbacks.len())
            .field("frozen", &builder.frozen)
            .finish()
    }
}

#[cfg(test)]
mod tests;
