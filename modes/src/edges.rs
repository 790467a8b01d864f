//! Edges of a graph, from a source to a callback: the subject of links, chains and measured hops.

use ringspin_executor::{CallbackId, GraphInfo, LoopId, SourceId};

/// The way from one source of messages, requests or responses to one callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphEdge<'a> {
    /// The topic or service.
    pub topic: &'a str,
    /// The publisher; for a service, a client's requests or the responses to it.
    pub source: SourceId,
    /// The loop that sends.
    pub from: LoopId,
    /// The callback that receives.
    pub callback: CallbackId,
    /// The loop that receives.
    pub to: LoopId,
}

/// All edges of a graph: of the topics, then of the services, each in the order of their names.
///
/// ```
/// use ringspin_executor::{Graph, Message, QoS};
/// use ringspin_modes::graph_edges;
/// let graph = Graph::new();
/// let out = graph.create_node("a", ())?.create_publisher::<u8>("t", QoS::default())?;
/// let b = graph.create_node("b", ())?;
/// b.create_subscription("t", QoS::default(), |_, _: &Message<u8>, _| {})?;
/// let info = graph.info();
/// let edges = graph_edges(&info);
/// assert_eq!((edges[0].topic, edges[0].from.0, edges[0].to.0), ("/t", 0, 1));
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
pub fn graph_edges(info: &GraphInfo) -> Vec<GraphEdge<'_>> {
    let loop_of = |callback: CallbackId| info.callbacks[callback].event_loop;
    let mut edges = Vec::new();
    for topic in &info.topics {
        for &(from, source) in &topic.publishers {
            edges.extend(topic.subscriptions.iter().map(|&callback| {
                let to = loop_of(callback);
                GraphEdge { topic: &topic.name, source, from, callback, to }
            }));
        }
    }
    for service in &info.services {
        let (Some(server), topic) = (service.server, &*service.name) else { continue };
        let at = loop_of(server);
        for client in &service.clients {
            let (source, callback, by) =
                (client.requests, client.callback, loop_of(client.callback));
            edges.push(GraphEdge { topic, source, from: by, callback: server, to: at });
            edges.push(GraphEdge { topic, source: client.responses, from: at, callback, to: by });
        }
    }
    edges
}
