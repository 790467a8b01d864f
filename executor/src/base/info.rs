//! The description of a graph: nodes, topics, callbacks and timers. The graph writes it under its
//! lock and hands out immutable snapshots, one for each version; schedulers place loops by it, and
//! tools, recorders and monitors resolve numbers to names with it.

use crate::base::event::{CallbackId, LoopId, SourceId};
use crate::base::table::Table;
use std::sync::Arc;

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
    /// Whether its state is [shown](crate::Node::digest_state) to the digest of a run.
    pub digested: bool,
}

impl LoopInfo {
    /// A group without callbacks; the default group if `group` is empty.
    pub(crate) fn new(node: &str, group: &str, node_index: usize) -> Self {
        let (node, group, callbacks) = (node.into(), group.into(), Vec::new());
        Self { node, group, node_index, callbacks, priority: 0, digested: false }
    }

    /// `/node`, or `/node:group` if it is not the default group.
    pub fn full_name(&self) -> String {
        full_name(&self.node, &self.group)
    }
}

/// Names a callback that is no longer there.
pub(crate) fn destroyed(callback: CallbackId) -> String {
    format!("callback {} (destroyed)", callback.0)
}

/// `node`, or `node:group` if it is not the default group.
pub(crate) fn full_name(node: &str, group: &str) -> String {
    match group {
        "" => node.to_owned(),
        group => format!("{node}:{group}"),
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
    /// The [`digested`](crate::Publisher::digested) publishers, in order of creation.
    pub digested: Vec<SourceId>,
    /// The publishers that were [named](crate::Publisher::named), with their names.
    pub named: Vec<(SourceId, String)>,
}

/// The description of a graph: its nodes and callbacks, and the topics between them. A snapshot;
/// clones share the entries of loops and callbacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphInfo {
    /// The number of changes of the graph so far: another version is another graph.
    pub version: u64,
    /// The event loops.
    pub loops: Table<LoopId, Arc<LoopInfo>>,
    /// The callbacks.
    pub callbacks: Table<CallbackId, Arc<CallbackInfo>>,
    /// Sorted by name.
    pub topics: Vec<TopicInfo>,
    /// Sorted by name.
    pub services: Vec<ServiceInfo>,
    /// The names of the [inputs](crate::ExternalInput), in order of creation.
    pub inputs: Vec<String>,
}

/// A service and its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInfo {
    /// The fully qualified name.
    pub name: String,
    /// The Rust type of its requests.
    pub request_type: &'static str,
    /// The Rust type of its responses.
    pub response_type: &'static str,
    /// The callback that answers, if any node offers the service.
    pub server: Option<CallbackId>,
    /// The ends that call it, in order of creation.
    pub clients: Vec<ClientInfo>,
}

/// A client of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientInfo {
    /// The callback to which the responses are events.
    pub callback: CallbackId,
    /// The number under which it calls: the source of the server's events.
    pub requests: SourceId,
    /// The number of the responses to it: the source of the callback's events.
    pub responses: SourceId,
}

impl GraphInfo {
    /// The loop of a callback.
    pub fn loop_of(&self, callback: CallbackId) -> &LoopInfo {
        &self.loops[self.callbacks[callback].event_loop]
    }

    /// The topic and the loop of a publisher.
    pub fn publisher(&self, source: SourceId) -> Option<(&TopicInfo, LoopId)> {
        self.topics.iter().find_map(|topic| {
            let publishers = &mut topic.publishers.iter();
            publishers.find(|(_, id)| *id == source).map(|(by, _)| (topic, *by))
        })
    }

    /// The loop and the name of a callback, as in "/planner `subscription /points`"; of one that
    /// the graph does not have, "callback 17 (destroyed)".
    pub fn name_of(&self, callback: CallbackId) -> String {
        let Some(CallbackInfo { name, .. }) = self.callbacks.get(callback).map(|of| &**of) else {
            return destroyed(callback);
        };
        format!("{} `{name}`", self.loop_of(callback).full_name())
    }

    /// All loops so that, cycles aside, publishers come before their subscribers, and a chain stays
    /// together: the reverse postorder of a depth-first search. Linear in the size of the graph.
    pub fn topological_order(&self) -> Vec<LoopId> {
        let loop_of = |callback: CallbackId| self.callbacks[callback].event_loop;
        let mut successors = self.loops.map(|_, _| Vec::new());
        for topic in &self.topics {
            for &(publisher, _) in &topic.publishers {
                successors[publisher].extend(topic.subscriptions.iter().copied().map(loop_of));
            }
        }
        for service in &self.services {
            if let Some(server) = service.server {
                let clients = service.clients.iter().map(|client| loop_of(client.callback));
                clients.for_each(|client| successors[client].push(loop_of(server)));
            }
        }
        let mut visited = self.loops.map(|_, _| false);
        let mut order = Vec::with_capacity(self.loops.len());
        // Roots and successors in reverse order of creation, because the result is reversed.
        successors.values_mut().for_each(|next| next.sort_unstable());
        for root in self.loops.keys().rev() {
            if std::mem::replace(&mut visited[root], true) {
                continue;
            }
            let mut path = vec![(root, successors[root].len())];
            while let Some((node, left)) = path.last_mut() {
                if *left == 0 {
                    order.push(*node);
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
