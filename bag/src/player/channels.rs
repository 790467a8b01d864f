//! The ways of recorded topics into the graph: publishers and clients.

use super::{Player, TimeBase};
use crate::error::reworded;
use crate::evolution::{Evolution, EvolvingOutlet, Migration};
use crate::message_types::{Carried, MessageTypes, publish_raw};
use crate::outlet::Outlet;
use crate::recording::{Definition, Topic};
use crate::requester::{Requester, service_of};
use ringspin_executor::{BoxError, Error, ErrorKind, GraphInfo, Node, QoS, Result};
use ringspin_messages::rosgraph_msgs::msg::Clock;
use ringspin_ringbuf::Counter;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The way of the messages of one topic.
pub(super) enum Channel {
    /// They are published.
    Topic(Box<dyn Outlet>),
    /// They are events of a service; its requests are sent.
    Service(Box<dyn Requester>),
}

/// The channels of a player, one for each topic name in the graph.
pub(super) struct Channels<'a> {
    node: &'a Node<()>,
    info: GraphInfo,
    types: &'a MessageTypes,
    /// The channels with the names of their topics.
    pub(super) channels: Vec<(String, Channel)>,
    pub(super) raw_topics: Vec<Topic>,
    pub(super) migrations: Vec<Migration>,
    /// The number of responses of services.
    pub(super) responses: Arc<Counter>,
    /// The number of the channel and the recorded topic, by name in the graph.
    open: BTreeMap<String, (usize, Topic)>,
}

impl<'a> Channels<'a> {
    pub(super) fn new(node: &'a Node<()>, info: GraphInfo, types: &'a MessageTypes) -> Self {
        Self {
            node,
            info,
            types,
            channels: Vec::new(),
            raw_topics: Vec::new(),
            migrations: Vec::new(),
            responses: Arc::default(),
            open: BTreeMap::new(),
        }
    }

    /// The names of the topics in the graph.
    pub(super) fn topics(&self) -> Vec<String> {
        self.open.keys().cloned().collect()
    }

    /// Opens the channel of a recorded topic, unless it is open; returns its number.
    pub(super) fn open(&mut self, player: &Player, topic: &Topic) -> Result<usize> {
        let played = player.played_name(topic);
        // ROS arguments rename the topics of the nodes, and so those of the player.
        let resolved = self.node.resolve_topic_name(played);
        let name = &resolved.map_err(|error| not_created(played, error.into()))?;
        if topic.serialization_format != "cdr" {
            let text = format!(
                "failed to play topic {name}: its messages are serialized as {:?}, not as \"cdr\"; \
                 exclude the topic, or convert the recording",
                topic.serialization_format
            );
            return Err(Error::new(ErrorKind::Unsupported, text).on_topic(name));
        }
        if let Some((channel, first)) = self.open.get(name) {
            let (first_hash, second_hash) = (first.hash(), topic.hash());
            let hashes = first_hash.as_ref().zip(second_hash.as_ref());
            if hashes.is_some_and(|(one, other)| one != other) || first.type_name != topic.type_name
            {
                let text = format!(
                    "failed to play topic {name}: it was recorded with type {} ({}) and with type \
                     {} ({}); exclude or remap one of them",
                    first.type_name,
                    shown(&first_hash),
                    topic.type_name,
                    shown(&second_hash)
                );
                return Err(Error::new(ErrorKind::TypeMismatch, text).on_topic(name));
            }
            return Ok(*channel);
        }
        let channel = match self.requester(player, played, topic)? {
            Some(requester) => Channel::Service(requester),
            None => Channel::Topic(self.outlet(player, (played, name), topic)?),
        };
        self.channels.push((name.clone(), channel));
        let number = self.channels.len() - 1;
        self.open.insert(name.clone(), (number, topic.clone()));
        Ok(number)
    }

    /// Whether every topic with a QoS of its own is in a recording, or played.
    pub(super) fn check_qos(&self, player: &Player) -> Result<()> {
        let recorded = player.sources.iter().flat_map(|source| source.topics());
        let mut known: Vec<_> = recorded.map(|topic| player.played_name(topic).as_str()).collect();
        known.extend(self.open.keys().map(String::as_str));
        match player.qos.keys().find(|topic| !known.contains(&topic.as_str())) {
            None => Ok(()),
            Some(topic) => {
                let text = format!(
                    "failed to set the QoS of topic {topic}: it is not played; use its name in the \
                     graph, one of {}",
                    self.topics().join(", ")
                );
                Err(Error::new(ErrorKind::NotFound, text).on_topic(topic))
            }
        }
    }

    /// Opens the channel of `/clock`.
    pub(super) fn open_clock(&mut self, player: &Player) -> Result<usize> {
        self.open(player, &Topic::of::<Clock>("/clock", QoS::clock().reliable()))
    }

    /// The client for the recorded requests of a service, if they are to be sent.
    fn requester(
        &self,
        player: &Player,
        name: &str,
        topic: &Topic,
    ) -> Result<Option<Box<dyn Requester>>> {
        let Some((service, type_name)) = service_of(name, &topic.type_name) else {
            return Ok(None);
        };
        let Some(create) = self.types.requester(type_name) else { return Ok(None) };
        if !player.service_requests {
            return Ok(None);
        }
        create(self.node, service, self.responses.clone())
            .map(Some)
            .map_err(|error| not_created(name, error))
    }

    /// The publisher of a recorded topic that is `played` under a name, which stands for `name`.
    fn outlet(
        &mut self,
        player: &Player,
        (played, name): (&str, &str),
        topic: &Topic,
    ) -> Result<Box<dyn Outlet>> {
        let mut evolution = None;
        let publish = match self.types.carried(&self.info, name) {
            Carried::Nothing | Carried::Raw => {
                self.raw_topics.push(Topic { name: name.into(), ..topic.clone() });
                publish_raw
            }
            Carried::Typed(of) => {
                let recorded_hash = topic.hash();
                let is_same_hash = recorded_hash.as_ref().is_none_or(|hash| hash == of.hash);
                if of.name == topic.type_name && !is_same_hash && player.evolution {
                    let (migrated, migration) = Evolution::new(name, topic, of.definition)?;
                    self.migrations.push(migration);
                    evolution = Some(migrated);
                } else if of.name != topic.type_name || !is_same_hash {
                    let way_out = match of.name == topic.type_name {
                        true => "allow the evolution of definitions (`--allow-evolution`), ",
                        false => "",
                    };
                    let text = format!(
                        "failed to play topic {name}: it was recorded with type {} ({}), but a \
                         node of the graph has type {} ({}); {way_out}build the node with the \
                         recorded definition, or exclude or remap the topic",
                        topic.type_name,
                        shown(&recorded_hash),
                        of.name,
                        of.hash
                    );
                    return Err(Error::new(ErrorKind::TypeMismatch, text).on_topic(name));
                }
                of.publish
            }
            Carried::Unknown(rust_type) => {
                let text = format!(
                    "failed to play topic {name}: it was recorded with type {}, but a node of the \
                     graph has messages of type {rust_type}, which is no known ROS message; add \
                     the type by `MessageTypes::with`, or exclude or remap the topic",
                    topic.type_name
                );
                return Err(Error::new(ErrorKind::TypeMismatch, text).on_topic(name));
            }
        };
        self.warn_of_definition(player, name, topic);
        let qos = player.qos.get(name).copied().unwrap_or_else(|| topic.offer());
        let outlet = publish(self.node, played, qos).map_err(|error| not_created(name, error))?;
        Ok(match evolution {
            Some(evolution) => Box::new(EvolvingOutlet { evolution, outlet }),
            None => outlet,
        })
    }

    /// Warns of checks and settings that need a definition in another language than `ros2msg`. Its
    /// messages are played in any case.
    fn warn_of_definition(&self, player: &Player, topic: &str, recorded: &Topic) {
        let Topic { type_name, definition, .. } = recorded;
        let Some(Definition { encoding, .. }) = definition else { return };
        if encoding == "ros2msg" {
            return;
        }
        let is_typed = matches!(self.types.carried(&self.info, topic), Carried::Typed(_));
        if is_typed && recorded.hash().is_none() {
            tracing::warn!(
                topic,
                type_name,
                encoding,
                "the recorded definition is not parsed: the type is compared by its name only"
            );
        }
        if player.time_base == TimeBase::Stamp && self.types.definition(type_name).is_none() {
            tracing::warn!(
                topic,
                type_name,
                encoding,
                "the recorded definition is not parsed: messages have their log times, not the \
                 stamps of their headers; add the type by `MessageTypes::with`"
            );
        }
    }
}

/// The error of a publisher or client that was not created.
fn not_created(topic: &str, error: BoxError) -> Error {
    let text = |text: &str| format!("failed to play topic {topic}: {text}");
    reworded(error, ErrorKind::Middleware, text).on_topic(topic)
}

/// A hash as errors show it.
fn shown(hash: &Option<String>) -> &str {
    hash.as_deref().unwrap_or("hash not recorded")
}
