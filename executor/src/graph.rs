//! The graph while it is built, and its description for everyone who wants to look at it.
//!
//! Nodes declare what they publish and subscribe to; `freeze` (in [`crate::frozen`]) then turns the
//! graph into workers. Afterwards nothing can be added, and nothing has to be looked up.

use crate::arguments::Arguments;
use crate::control::CallbackCounters;
use crate::event::{CallbackId, LoopId, SourceId};
use crate::event_loop::{Body, EventLoop, Target};
use crate::name::{self, NameError};
use crate::node::Node;
use crate::parameter::NodeParameters;
use crate::qos::QoS;
use crate::topic::{AnyTopic, Topic};
use std::any::{Any, TypeId, type_name};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// Why a node or callback group was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreateNodeError {
    /// The name or namespace is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The graph has a node or group of this name.
    #[error("there is already a {kind} named {name}; give one of them another name{hint}")]
    Duplicate {
        /// "node" or "callback group".
        kind: &'static str,
        /// The fully qualified name.
        name: String,
        /// A further way out.
        hint: &'static str,
    },
    /// A remapping rule gives the node a name that another one has.
    #[error(
        "remapping rule `{rule}` gives node {original} the name {name}, which another node has; \
         put the name of the node that is meant before the rule, as in `node:__node:=other`"
    )]
    Remapped {
        /// The rule.
        rule: String,
        /// The fully qualified name in the program.
        original: String,
        /// The fully qualified name by the rule.
        name: String,
    },
    /// The executor is already running.
    #[error("the graph is frozen; create {0} before spinning")]
    Frozen(String),
}

/// Why a publisher, subscription or timer was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreateError {
    /// The topic name is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Two ends of a topic disagree about its message type.
    #[error(
        "topic {topic} carries {established} (from node {by}), but node {node} uses it with \
         {requested}; use one type or two topics"
    )]
    TypeMismatch {
        /// The fully qualified topic name.
        topic: String,
        /// The type with which the topic was first used.
        established: &'static str,
        /// The node that used it first.
        by: String,
        /// The node whose request was refused.
        node: String,
        /// The type that was refused.
        requested: &'static str,
    },
    /// A subscription's depth is out of range.
    #[error("topic {topic}: a depth of {depth} is out of range; use 1 to {max}", max = MAX_DEPTH)]
    Depth {
        /// The fully qualified topic name.
        topic: String,
        /// The depth as given.
        depth: usize,
    },
    /// A timer's period is zero, or over 584 years.
    #[error("node {node}: a timer cannot have a period of {period:?}; use 1 ns to 584 years")]
    Period {
        /// The node.
        node: String,
        /// The period as given.
        period: std::time::Duration,
    },
    /// The node has a lifecycle.
    #[error("node {node} already has a lifecycle; clone its handle")]
    Lifecycle {
        /// The node.
        node: String,
    },
    /// The executor is already running.
    #[error("the graph is frozen; node {node} has to create `{what}` before spinning")]
    Frozen {
        /// The node.
        node: String,
        /// What it wanted to create.
        what: String,
    },
}

const MAX_DEPTH: usize = ringspin_ringbuf::keep_last::MAX_DEPTH;

/// An event loop: one callback group of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopInfo {
    /// The node's fully qualified name.
    pub node: String,
    /// The group; empty for the default group.
    pub group: String,
    /// The node, numbered in order of creation.
    pub node_index: usize,
    /// Its callbacks, in order of creation.
    pub callbacks: Vec<CallbackId>,
    /// Its priority among the loops of its worker; higher goes first.
    pub priority: u8,
}

impl LoopInfo {
    /// `/node`, or `/node:group` if it is not the default group.
    pub fn full_name(&self) -> String {
        match &*self.group {
            "" => self.node.clone(),
            group => format!("{}:{group}", self.node),
        }
    }
}

/// A callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackInfo {
    /// The loop that runs it.
    pub event_loop: LoopId,
    /// For example `subscription /points` or `timer 100ms`.
    pub name: String,
}

/// A topic and its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicInfo {
    /// The fully qualified name.
    pub name: String,
    /// The Rust type of its messages.
    pub message_type: &'static str,
    /// The loops that publish on it, and under which number, in order of creation.
    pub publishers: Vec<(LoopId, SourceId)>,
    /// The callbacks that receive it, in order of creation.
    pub subscriptions: Vec<CallbackId>,
}

/// The description of a graph: who is there, and who feeds whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphInfo {
    /// Indexed by [`LoopId`].
    pub loops: Vec<LoopInfo>,
    /// Indexed by [`CallbackId`].
    pub callbacks: Vec<CallbackInfo>,
    /// In the order of their names.
    pub topics: Vec<TopicInfo>,
}

impl GraphInfo {
    /// The loop of a callback.
    pub fn loop_of(&self, callback: CallbackId) -> &LoopInfo {
        &self.loops[self.callbacks[callback.0 as usize].event_loop.0 as usize]
    }

    /// All loops so that, cycles aside, publishers come before their subscribers, and a chain stays
    /// together: the reverse postorder of a depth-first search. Linear in the size of the graph.
    pub fn topological_order(&self) -> Vec<LoopId> {
        let mut successors = vec![Vec::new(); self.loops.len()];
        for topic in &self.topics {
            for &(publisher, _) in &topic.publishers {
                let loops = topic.subscriptions.iter();
                let loops = loops.map(|c| self.callbacks[c.0 as usize].event_loop.0 as usize);
                successors[publisher.0 as usize].extend(loops);
            }
        }
        let mut visited = vec![false; self.loops.len()];
        let mut order = Vec::with_capacity(self.loops.len());
        // Roots and successors in reverse order of creation, because the result is reversed.
        successors.iter_mut().for_each(|next| next.sort_unstable());
        for root in (0..self.loops.len()).rev() {
            if std::mem::replace(&mut visited[root], true) {
                continue;
            }
            let mut path = vec![(root, successors[root].len())];
            while let Some((node, left)) = path.last_mut() {
                if *left == 0 {
                    order.push(LoopId(*node as u32));
                    path.pop();
                    continue;
                }
                *left -= 1;
                let next = successors[*node][*left];
                if !std::mem::replace(&mut visited[next], true) {
                    path.push((next, successors[next].len()));
                }
            }
        }
        order.reverse();
        order
    }
}

/// What is known of a callback besides its name.
pub(crate) struct CallbackDraft {
    /// Where within its loop its events go.
    pub(crate) target: Target,
    /// How many of its events can be ready at once.
    pub(crate) capacity: usize,
    /// For a timer, its period in nanoseconds.
    pub(crate) period: Option<u64>,
    pub(crate) counters: Arc<CallbackCounters>,
}

struct TopicDraft {
    type_id: TypeId,
    established_by: String,
    info: TopicInfo,
    /// An `Arc<Topic<M>>`.
    typed: Box<dyn Any + Send>,
    erased: Arc<dyn AnyTopic>,
}

/// The graph under construction.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) frozen: bool,
    pub(crate) node_names: BTreeSet<String>,
    node_count: usize,
    pub(crate) loops: Vec<LoopInfo>,
    pub(crate) bodies: Vec<Box<dyn EventLoop>>,
    pub(crate) callbacks: Vec<CallbackInfo>,
    pub(crate) callback_drafts: Vec<CallbackDraft>,
    topics: BTreeMap<String, TopicDraft>,
    sources: u32,
    pub(crate) arguments: Arguments,
    /// Which overrides of the arguments some node declared.
    pub(crate) used_overrides: BTreeSet<usize>,
    /// Of each node, indexed by its number.
    pub(crate) parameters: Vec<Arc<NodeParameters>>,
}

impl Draft {
    pub(crate) fn next_source(&mut self) -> SourceId {
        self.sources += 1;
        SourceId(self.sources - 1)
    }

    pub(crate) fn info(&self) -> GraphInfo {
        GraphInfo {
            loops: self.loops.clone(),
            callbacks: self.callbacks.clone(),
            topics: self.topics.values().map(|topic| topic.info.clone()).collect(),
        }
    }

    pub(crate) fn erased_topics(&self) -> Vec<(String, Arc<dyn AnyTopic>)> {
        self.topics.iter().map(|(name, topic)| (name.clone(), topic.erased.clone())).collect()
    }

    fn add_loop<S: Send + 'static>(&mut self, info: LoopInfo, state: S) -> LoopId {
        self.loops.push(info);
        self.bodies.push(Box::new(Body::new(state)));
        LoopId(self.loops.len() as u32 - 1)
    }

    /// Adds a node, or a group of node `node_index` when `group` is not empty.
    pub(crate) fn create_loop<S: Send + 'static>(
        &mut self,
        node: String,
        group: &str,
        node_index: Option<usize>,
        state: S,
    ) -> Result<LoopId, CreateNodeError> {
        let index = node_index.unwrap_or(self.node_count);
        let group = group.into();
        let info = LoopInfo { node, group, node_index: index, callbacks: vec![], priority: 0 };
        let name = info.full_name();
        if self.frozen {
            return Err(CreateNodeError::Frozen(name));
        }
        if !self.node_names.insert(name.clone()) {
            let (kind, hint) = match node_index {
                None => ("node", ", or put it into another namespace"),
                Some(_) => ("callback group", ""),
            };
            return Err(CreateNodeError::Duplicate { kind, name, hint });
        }
        if node_index.is_none() {
            self.node_count += 1;
            self.parameters.push(Arc::new(NodeParameters::new(info.node.clone())));
        }
        Ok(self.add_loop(info, state))
    }

    /// Adds a callback to `event_loop` and returns its number.
    pub(crate) fn add_callback(
        &mut self,
        event_loop: LoopId,
        name: String,
        draft: CallbackDraft,
    ) -> CallbackId {
        let id = CallbackId(self.callbacks.len() as u32);
        self.callbacks.push(CallbackInfo { event_loop, name });
        self.callback_drafts.push(draft);
        self.loops[event_loop.0 as usize].callbacks.push(id);
        id
    }

    /// The typed body of a loop.
    pub(crate) fn body<S: 'static>(&mut self, event_loop: LoopId) -> &mut Body<S> {
        let body = self.bodies[event_loop.0 as usize].as_any_mut();
        body.downcast_mut().expect("a node handle has the state type of its loop")
    }

    /// The topic `name`, created if nobody used it before.
    pub(crate) fn topic<M: Send + Sync + 'static>(
        &mut self,
        name: &str,
        node: &str,
    ) -> Result<Arc<Topic<M>>, CreateError> {
        let draft = self.topics.entry(name.into()).or_insert_with(|| {
            let topic = Arc::new(Topic::<M>::new(name.into()));
            TopicDraft {
                type_id: TypeId::of::<M>(),
                established_by: node.into(),
                info: TopicInfo {
                    name: name.into(),
                    message_type: type_name::<M>(),
                    publishers: Vec::new(),
                    subscriptions: Vec::new(),
                },
                typed: Box::new(topic.clone()),
                erased: topic,
            }
        });
        if draft.type_id != TypeId::of::<M>() {
            return Err(CreateError::TypeMismatch {
                topic: name.into(),
                established: draft.info.message_type,
                by: draft.established_by.clone(),
                node: node.into(),
                requested: type_name::<M>(),
            });
        }
        Ok(draft.typed.downcast_ref::<Arc<Topic<M>>>().expect("the type was compared").clone())
    }

    pub(crate) fn topic_info(&mut self, name: &str) -> &mut TopicInfo {
        &mut self.topics.get_mut(name).expect("the topic was just created").info
    }
}

/// A graph of nodes. Clones are handles to the same graph.
///
/// ```
/// use ringspin_executor::{Graph, Message, QoS};
/// let graph = Graph::new();
/// let node = graph.create_node("counter", 0u32)?;
/// node.create_subscription("numbers", QoS::keep_last(1), |count, n: &Message<u32>, _| {
///     *count += **n;
/// })?;
/// assert_eq!(graph.info().topics[0].name, "/numbers");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Graph {
    draft: Arc<Mutex<Draft>>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn draft(&self) -> MutexGuard<'_, Draft> {
        // A panic while building leaves a draft that is smaller, not broken.
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a node in the root namespace.
    ///
    /// # Errors
    /// [`CreateNodeError`] for an invalid or duplicate name, or a frozen graph.
    pub fn create_node<S: Send + 'static>(
        &self,
        name: &str,
        state: S,
    ) -> Result<Node<S>, CreateNodeError> {
        self.create_node_in("/", name, state)
    }

    /// Creates a node in `namespace`, unless the graph's
    /// [arguments](Self::set_arguments) remap its name or namespace.
    ///
    /// # Errors
    /// As [`create_node`](Self::create_node).
    pub fn create_node_in<S: Send + 'static>(
        &self,
        namespace: &str,
        name: &str,
        state: S,
    ) -> Result<Node<S>, CreateNodeError> {
        let namespace = name::expand_namespace(namespace)?;
        name::validate_node_name(name)?;
        let mut draft = self.draft();
        let (namespace, name) = draft.remap_node(namespace, name)?;
        let full_name = name::qualify(&namespace, &name);
        let event_loop = draft.create_loop(full_name.clone(), "", None, state)?;
        let node_index = draft.loops[event_loop.0 as usize].node_index;
        Ok(Node::new(self.clone(), namespace, name, full_name, node_index, event_loop))
    }

    /// The graph as declared so far.
    pub fn info(&self) -> GraphInfo {
        self.draft().info()
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let draft = self.draft();
        f.debug_struct("Graph")
            .field("loops", &draft.loops.len())
            .field("callbacks", &draft.callbacks.len())
            .field("frozen", &draft.frozen)
            .finish()
    }
}

/// Checks a subscription's depth.
pub(crate) fn check_depth(topic: &str, qos: QoS) -> Result<(), CreateError> {
    match qos.depth() {
        1..=MAX_DEPTH => Ok(()),
        depth => Err(CreateError::Depth { topic: topic.into(), depth }),
    }
}
