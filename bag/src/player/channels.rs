//! The ways of recorded topics into the graph: publishers and clients.

use super::{PlayError, Player, TimeBase};
use crate::message_types::{Carried, MessageTypes, publish_raw};
use crate::outlet::Outlet;
use crate::recording::{Definition, Topic};
use crate::requester::{Requester, service_of};
use ringspin_executor::{Durability, GraphInfo, Node, QoS, Reliability};
use ringspin_messages::RosMessage;
use ringspin_messages::rosgraph_msgs::msg::Clock;
use ringspin_ringbuf::Counter;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The way of the messages of one topic.
pub(super) enum Channel {
    /// They are published.
    Topic(Box<dyn Outlet>),
    /// They are events of a service, whose requests are sent.
    Service(Box<dyn Requester>),
}

/// The channels of a player, one for each topic name in the graph.
pub(super) struct Channels<'a> {
    node: &'a Node<()>,
    info: GraphInfo,
    types: &'a MessageTypes,
    /// With the names of their topics.
    pub(super) channels: Vec<(String, Channel)>,
    pub(super) raw_topics: Vec<Topic>,
    /// The number of responses of services.
    pub(super) responses: Arc<Counter>,
    /// The number of the channel and the recorded topic, by name in the graph.
    open: BTreeMap<String, (usize, Topic)>,
}

impl<'a> Channels<'a> {
    pub(super) fn new(node: &'a Node<()>, info: GraphInfo, types: &'a MessageTypes) -> Self {
        let (channels, raw_topics, open) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { node, info, types, channels, raw_topics, responses: Arc::default(), open }
    }

    /// The names of the topics in the graph.
    pub(super) fn topics(&self) -> Vec<String> {
        self.open.keys().cloned().collect()
    }

    /// Opens the channel of a recorded topic, unless it is open; returns its number.
    pub(super) fn open(&mut self, player: &Player, topic: &Topic) -> Result<usize, PlayError> {
        let name = player.remap.get(&topic.name).unwrap_or(&topic.name);
        if topic.serialization_format != "cdr" {
            let format = topic.serialization_format.clone();
            return Err(PlayError::Format { topic: name.clone(), format });
        }
        if let Some((channel, first)) = self.open.get(name) {
            let (first_hash, second_hash) = (first.hash(), topic.hash());
            let hashes = first_hash.as_ref().zip(second_hash.as_ref());
            if hashes.is_some_and(|(one, other)| one != other) || first.type_name != topic.type_name
            {
                return Err(PlayError::TwoTypes {
                    topic: name.clone(),
                    first: first.type_name.clone(),
                    first_hash,
                    second: topic.type_name.clone(),
                    second_hash,
                });
            }
            return Ok(*channel);
        }
        let channel = match self.requester(player, name, topic)? {
            Some(requester) => Channel::Service(requester),
            None => Channel::Topic(self.outlet(player, name, topic)?),
        };
        self.channels.push((name.clone(), channel));
        let number = self.channels.len() - 1;
        self.open.insert(name.clone(), (number, topic.clone()));
        Ok(number)
    }

    /// Opens the channel of `/clock`.
    pub(super) fn open_clock(&mut self, player: &Player) -> Result<usize, PlayError> {
        let clock = Topic {
            name: "/clock".into(),
            type_name: Clock::TYPE_NAME.into(),
            type_hash: Some(Clock::TYPE_HASH.into()),
            definition: Some(Definition {
                encoding: "ros2msg".into(),
                text: Clock::DEFINITION.into(),
            }),
            serialization_format: "cdr".into(),
            offered_qos: vec![QoS::clock().reliable()],
        };
        self.open(player, &clock)
    }

    /// The client for the recorded requests of a service, if they are to be sent.
    fn requester(
        &self,
        player: &Player,
        name: &str,
        topic: &Topic,
    ) -> Result<Option<Box<dyn Requester>>, PlayError> {
        let Some((service, type_name)) = service_of(name, &topic.type_name) else {
            return Ok(None);
        };
        let Some(create) = self.types.requester(type_name) else { return Ok(None) };
        if !player.service_requests {
            return Ok(None);
        }
        create(self.node, service, self.responses.clone())
            .map(Some)
            .map_err(|error| PlayError::Create { topic: name.into(), error })
    }

    fn outlet(
        &mut self,
        player: &Player,
        name: &str,
        topic: &Topic,
    ) -> Result<Box<dyn Outlet>, PlayError> {
        let publish = match self.types.carried(&self.info, name) {
            Carried::Nothing | Carried::Raw => {
                self.raw_topics.push(Topic { name: name.into(), ..topic.clone() });
                publish_raw
            }
            Carried::Typed(of) => {
                let recorded_hash = topic.hash();
                let is_same_hash = recorded_hash.as_ref().is_none_or(|hash| hash == of.hash);
                if of.name != topic.type_name || !is_same_hash {
                    return Err(PlayError::TypeMismatch {
                        topic: name.into(),
                        recorded: topic.type_name.clone(),
                        recorded_hash,
                        expected: of.name.into(),
                        expected_hash: of.hash.into(),
                    });
                }
                of.publish
            }
            Carried::Unknown(rust_type) => {
                return Err(PlayError::UnknownType {
                    topic: name.into(),
                    recorded: topic.type_name.clone(),
                    rust_type: rust_type.into(),
                });
            }
        };
        self.warn_of_definition(player, name, topic);
        let qos = player.qos.get(name).copied().unwrap_or_else(|| strongest(&topic.offered_qos));
        publish(self.node, name, qos)
            .map_err(|error| PlayError::Create { topic: name.into(), error })
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

/// The largest depth of a publisher that is taken over from a recording.
const DEPTH_MAX: usize = 1000;

/// A QoS that is compatible with every subscription that one of the recorded offers is compatible
/// with: the strongest of each policy.
fn strongest(offered: &[QoS]) -> QoS {
    // A depth of zero stands for the default of the middleware.
    let depth = offered.iter().map(QoS::depth).max().filter(|depth| *depth > 0);
    let depth = depth.unwrap_or(QoS::default().depth()).min(DEPTH_MAX);
    let mut qos = QoS::keep_last(depth);
    let any = |offers: fn(&QoS) -> bool| offered.iter().any(offers);
    if !offered.is_empty() && !any(|qos| qos.reliability() == Reliability::Reliable) {
        qos = qos.best_effort();
    }
    if any(|qos| qos.durability() == Durability::TransientLocal) {
        qos = qos.transient_local();
    }
    if let Some(deadline) = offered.iter().filter_map(QoS::deadline_period).min() {
        qos = qos.deadline(deadline);
    }
    qos
}
