//! Clients that send recorded requests again.
//!
//! ROS 2 records calls by service introspection: each end of a service publishes its events, with
//! the request or the response, on the topic `<service>/_service_event`.

use ringspin_executor::{BoxError, CallRefusal, Client, Node, QoS};
use ringspin_messages::{RosService, cdr};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The end of the name of a topic with events of a service.
const TOPIC_SUFFIX: &str = "/_service_event";
/// The end of the type name of such a topic.
const TYPE_SUFFIX: &str = "_Event";

/// The most calls without a response of a client.
const CALLS_MAX: usize = 1000;

/// Sends recorded requests of one service.
pub(crate) trait Requester: Send {
    /// Sends the request of the event `data`.
    ///
    /// # Errors
    /// The reason why the event cannot be read.
    fn request(&mut self, data: &[u8]) -> Result<Requested, BoxError>;
}

/// The outcome of a recorded event of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requested {
    /// The request is sent.
    Sent,
    /// The request is not taken now, and is to be offered again.
    Again,
    /// No node offers the service.
    NoService,
    /// The event is no request as the service received it, or is recorded without its contents.
    NoRequest,
}

/// The service and the name of its type of a topic with service events.
pub(crate) fn service_of<'a>(topic: &'a str, type_name: &'a str) -> Option<(&'a str, &'a str)> {
    Some((topic.strip_suffix(TOPIC_SUFFIX)?, type_name.strip_suffix(TYPE_SUFFIX)?))
}

/// The message of a service event: `service_msgs/msg/ServiceEventInfo`, then the contents.
#[derive(Deserialize)]
#[serde(bound = "Q: DeserializeOwned, P: DeserializeOwned")]
struct ServiceEvent<Q, P> {
    event_type: u8,
    _stamp: (i32, u32),
    _client_gid: [u8; 16],
    _sequence_number: i64,
    request: Vec<Q>,
    _response: Vec<P>,
}

/// `service_msgs/msg/ServiceEventInfo.REQUEST_RECEIVED`.
const REQUEST_RECEIVED: u8 = 1;

/// Sends requests of service type `S`.
pub(crate) struct TypedRequester<S: RosService> {
    client: Client<(), S::Request, S::Response>,
    /// The request that was not taken.
    refused: Option<S::Request>,
}

impl<S: RosService> TypedRequester<S> {
    pub(crate) fn new(node: &Node<()>, service: &str) -> Result<Self, BoxError> {
        let client = node.create_client(service, QoS::keep_all(CALLS_MAX))?;
        Ok(Self { client, refused: None })
    }
}

impl<S: RosService> Requester for TypedRequester<S> {
    fn request(&mut self, data: &[u8]) -> Result<Requested, BoxError> {
        let request = match self.refused.take() {
            Some(request) => request,
            None => {
                let event: ServiceEvent<S::Request, S::Response> = cdr::from_bytes(data)?;
                match event.request.into_iter().next() {
                    Some(request) if event.event_type == REQUEST_RECEIVED => request,
                    _ => return Ok(Requested::NoRequest),
                }
            }
        };
        let Err(refused) = self.client.call(request, |_, _, _| ()) else {
            return Ok(Requested::Sent);
        };
        match refused.reason {
            CallRefusal::NoService => Ok(Requested::NoService),
            CallRefusal::ServiceFull | CallRefusal::TooManyCalls => {
                self.refused = Some(refused.request);
                Ok(Requested::Again)
            }
            reason => Err(reason.into()),
        }
    }
}
