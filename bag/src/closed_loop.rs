//! Closed loop: a simulator outside of the graph, which waits for the graph and gets the messages
//! that the graph has published.

use crate::error::reworded;
use crate::inlet::{Entry, Inlet, Tap};
use crate::message_types::{Carried, MessageTypes, publish_raw, subscribe_raw};
use crate::outlet::Outlet;
use crate::recording::{Record, Topic, TopicId};
use ringspin_executor::{
    BoxError, Context, Delivery, Error, ErrorKind, ExternalInput, Graph, QoS, Result, Time,
};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of messages of one topic that may wait until the simulator is told.
const QUEUE_DEPTH: usize = 1000;

/// A simulator outside of the graph: another program, a file format, a physics engine.
///
/// It exchanges serialized messages, so that it needs no types of the graph. Back-pressure goes
/// both ways: a message is offered until every subscription has taken it, and the simulator is
/// asked for its next message only when the graph has nothing left to do and the simulator got all
/// published messages. In the live modes, where time does not wait, it is told whenever it is
/// asked.
///
/// For a simulator in Rust with typed messages, [`ExternalInput`] is enough.
pub trait DataSource: Send {
    /// The topics that the simulator publishes.
    fn inputs(&self) -> Vec<Topic>;

    /// The names of the topics with messages for the simulator.
    fn outputs(&self) -> Vec<String>;

    /// The next message that the simulator publishes; its topic is an index of
    /// [`inputs`](Self::inputs). `None` if there is none before it is told more.
    ///
    /// # Errors
    /// The reason why there is none; the run ends.
    fn next(&mut self) -> Result<Option<Offer>, BoxError>;

    /// The graph has nothing left to do at `now`. `published` are the messages on the
    /// [`outputs`](Self::outputs) since the last call; their topics are indices of it.
    ///
    /// # Errors
    /// The reason why the simulation cannot continue; the run ends.
    fn quiet(&mut self, now: Time, published: &[Record]) -> Result<(), BoxError>;
}

/// A message of a simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its time, in the time of the simulator: the first message of a live run is published at the
    /// start, and later ones as much later as they are here. A time that has passed counts as now.
    pub time: Time,
    /// Its topic.
    pub topic: TopicId,
    /// The serialized message.
    pub data: Vec<u8>,
}

/// Connects `source` to `graph` by a node of this name, after the nodes that it exchanges messages
/// with.
///
/// # Errors
/// A type differs, a topic has no known type, or a part of the node was not created.
pub fn connect(
    graph: &Graph,
    name: &str,
    types: &MessageTypes,
    source: impl DataSource + 'static,
) -> Result<()> {
    let refused =
        |error: Error| error.reworded(|text| format!("failed to connect the simulator: {text}"));
    let published = Published::default();
    let info = graph.info();
    let node = graph.create_node(name, ()).map_err(refused)?;
    let mut outlets = Vec::new();
    for topic in source.inputs() {
        let publish = match types.carried(&info, &topic.name) {
            Carried::Nothing | Carried::Raw => publish_raw,
            Carried::Typed(of) => {
                let is_same_hash = topic.hash().is_none_or(|hash| hash == of.hash);
                if of.name != topic.type_name || !is_same_hash {
                    return Err(mismatch(topic, format!("type {} ({})", of.name, of.hash)));
                }
                of.publish
            }
            Carried::Unknown(rust_type) => {
                return Err(mismatch(topic, format!("messages of type {rust_type}")));
            }
        };
        let qos = topic.offered_qos.first().copied().unwrap_or_default();
        let outlet = publish(&node, &topic.name, qos);
        outlets.push(outlet.map_err(|error| {
            let text = |text: &str| format!("failed to connect topic {}: {text}", topic.name);
            reworded(error, ErrorKind::Middleware, text).on_topic(&topic.name)
        })?);
    }
    let tap: Box<dyn Tap> = Box::new(published.clone());
    let outputs = node.create_callback_group("outputs", tap).map_err(refused)?;
    for (index, topic) in source.outputs().into_iter().enumerate() {
        let subscribe = match types.carried(&info, &topic) {
            Carried::Typed(of) => of.subscribe,
            Carried::Raw => subscribe_raw,
            _ => {
                let text = format!(
                    "failed to connect topic {topic}: no node publishes it with a known type; \
                     connect the simulator after the nodes, and add the type by \
                     `MessageTypes::with`"
                );
                return Err(Error::new(ErrorKind::TypeMismatch, text).on_topic(topic));
            }
        };
        let qos = QoS::keep_last(QUEUE_DEPTH).best_effort().held(usize::MAX).message_times();
        subscribe(&outputs, Inlet { topic, index, qos }).map_err(refused)?;
    }
    let input = Loop { source, outlets, published, offer: None, live: None };
    node.create_input(name, input).map_err(refused)?;
    Ok(())
}

fn mismatch(topic: Topic, expected: String) -> Error {
    let hash = topic.hash().unwrap_or_else(|| "no hash".into());
    let Topic { name, type_name, .. } = topic;
    let text = format!(
        "failed to connect topic {name}: the simulator has type {type_name} ({hash}), but a node \
         of the graph has {expected}; use one type"
    );
    Error::new(ErrorKind::TypeMismatch, text).on_topic(name)
}

/// The messages that the simulator is not told yet.
#[derive(Clone, Default)]
struct Published(Arc<Mutex<Vec<Entry>>>);

impl Tap for Published {
    fn take(&mut self, entry: Entry, _cx: &Context<'_>) -> Result<(), BoxError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        Ok(())
    }
}

/// Times in the live modes.
#[derive(Clone, Copy)]
struct Live {
    start: Time,
    /// The time of the simulator's first message.
    first: Option<Time>,
}

/// The input that asks a simulator.
struct Loop<D> {
    source: D,
    outlets: Vec<Box<dyn Outlet>>,
    published: Published,
    /// The next message.
    offer: Option<Offer>,
    live: Option<Live>,
}

impl<D: DataSource> Loop<D> {
    /// The time of the executor, in the time of the simulator.
    fn source_time(&self, time: Time) -> Time {
        match self.live {
            None => time,
            Some(Live { start, first }) => first.unwrap_or(Time::ZERO) + (time - start),
        }
    }

    /// Gives the published messages to the simulator, and asks for its next message unless there is
    /// one.
    fn tell(&mut self, now: Time) -> Result<(), BoxError> {
        let mut published = self.published.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = std::mem::take(&mut *published);
        drop(published);
        let record = |entry: Entry| -> Result<Record, BoxError> {
            Ok(Record {
                topic: TopicId(entry.topic),
                log_time: self.source_time(entry.log_time),
                publish_time: self.source_time(entry.publish_time),
                sequence: entry.id.sequence as u32,
                data: entry.body.encode()?.into_owned(),
            })
        };
        let published = entries.into_iter().map(record).collect::<Result<Vec<_>, _>>()?;
        let now = self.source_time(now);
        self.source.quiet(now, &published)?;
        if self.offer.is_none() {
            self.offer = self.source.next()?;
        }
        if let (Some(live), Some(offer)) = (&mut self.live, &self.offer) {
            live.first.get_or_insert(offer.time);
        }
        Ok(())
    }
}

impl<D: DataSource> ExternalInput for Loop<D> {
    fn start_live(&mut self, now: Time) {
        self.live = Some(Live { start: now, first: None });
    }

    fn next_time(&mut self) -> Option<Time> {
        match (&self.offer, self.live) {
            (Some(offer), None) => Some(offer.time),
            (Some(offer), Some(Live { start, first })) => {
                Some(start + (offer.time - first.unwrap_or(offer.time)))
            }
            // Nothing tells the simulator but its turn.
            (None, Some(_)) => Some(Time::ZERO),
            (None, None) => None,
        }
    }

    fn deliver(&mut self, now: Time) -> Result<Delivery, BoxError> {
        let Some(Offer { topic, data, .. }) = &self.offer else {
            self.tell(now)?;
            let is_offered = self.offer.is_some();
            return Ok(if is_offered { Delivery::Done } else { Delivery::Again });
        };
        let outlet = self.outlets.get_mut(topic.0).ok_or_else(|| {
            format!("the simulator has no topic {}; offer one of its inputs", topic.0)
        })?;
        let delivery = outlet.publish(data)?;
        if delivery == Delivery::Done {
            self.offer = None;
        }
        Ok(delivery)
    }

    fn quiet(&mut self, now: Time) -> Result<(), BoxError> {
        self.tell(now)
    }
}
