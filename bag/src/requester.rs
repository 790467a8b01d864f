//! Clients that send recorded requests again.
//!
//! ROS 2 records calls by service introspection: each end of a service publishes its events, with
//! the request or the response, on the topic `<service>/_service_event`. The calls of an action are
//! those of its services `send_goal`, `cancel_goal` and `get_result`. Goals keep their recorded
//! identities, which the requests to cancel and the requests for results refer to.

use ringspin_executor::action::messages::{
    CancelGoalRequest, CancelGoalResponse, GetResultRequest, GetResultResponse, GoalId, GoalInfo,
    SendGoalRequest, SendGoalResponse,
};
use ringspin_executor::{BoxError, CallError, Client, Context, Node, QoS};
use ringspin_messages::builtin_interfaces::msg;
use ringspin_messages::{RosAction, RosService, cdr};
use ringspin_ringbuf::Counter;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The end of the name of a topic with events of a service.
const TOPIC_SUFFIX: &str = "/_service_event";
/// The end of the type name of such a topic.
const TYPE_SUFFIX: &str = "_Event";

/// The most requests of a service without a response.
const CALLS_MAX: usize = 1000;

/// Sends recorded requests of one service.
pub(crate) trait Requester: Send {
    /// Sends the request of the event `data`.
    ///
    /// # Errors
    /// The reason why the event cannot be read, or a service that does not respond.
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

/// The ends of the names of the topics that the server of an action publishes.
const SERVER_SUFFIXES: [&str; 2] = ["/_action/feedback", "/_action/status"];
/// The end of the name of the topic with recorded goals of an action.
const GOALS_SUFFIX: &str = "/_action/send_goal/_service_event";

/// The topic with recorded goals of the action that has a server which publishes `topic`.
pub(crate) fn goals_topic_of(topic: &str) -> Option<String> {
    let action = SERVER_SUFFIXES.iter().find_map(|suffix| topic.strip_suffix(suffix))?;
    Some(format!("{action}{GOALS_SUFFIX}"))
}

/// The service and the name of its type of a topic with service events.
pub(crate) fn service_of<'a>(topic: &'a str, type_name: &'a str) -> Option<(&'a str, &'a str)> {
    Some((topic.strip_suffix(TOPIC_SUFFIX)?, type_name.strip_suffix(TYPE_SUFFIX)?))
}

/// The beginning of a service event: `service_msgs/msg/ServiceEventInfo`, then the request. The
/// response after it is not read.
#[derive(Deserialize)]
#[serde(bound = "W: DeserializeOwned")]
struct ServiceEvent<W> {
    event_type: u8,
    _stamp: (i32, u32),
    _client_gid: [u8; 16],
    _sequence_number: i64,
    request: Vec<W>,
}

/// `service_msgs/msg/ServiceEventInfo.REQUEST_RECEIVED`.
const REQUEST_RECEIVED: u8 = 1;

/// Converts a recorded request.
type Convert<W, Q> = fn(W) -> Result<Q, BoxError>;

/// Sends requests that are recorded as `W`, to a service with requests `Q` and responses `P`.
struct TypedRequester<W, Q: Send + Sync + 'static, P: Send + Sync + 'static> {
    client: Client<(), Q, P>,
    convert: Convert<W, Q>,
    responses: Arc<Counter>,
    /// The request that was not taken.
    refused: Option<Q>,
}

/// Creates a requester of a service with requests `Q` and responses `P`.
fn create<W, Q, P>(
    node: &Node<()>,
    service: &str,
    responses: Arc<Counter>,
    convert: Convert<W, Q>,
) -> Result<Box<dyn Requester>, BoxError>
where
    W: DeserializeOwned + 'static,
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    let client = node.create_client::<Q, P>(service, QoS::keep_all(CALLS_MAX))?;
    Ok(Box::new(TypedRequester { client, convert, responses, refused: None }))
}

/// Creates a requester of a service of type `S`.
pub(crate) fn of_service<S: RosService>(
    node: &Node<()>,
    service: &str,
    responses: Arc<Counter>,
) -> Result<Box<dyn Requester>, BoxError> {
    create::<_, S::Request, S::Response>(node, service, responses, Ok)
}

/// Creates a requester of the service of action `A` that takes goals.
pub(crate) fn of_goals<A: RosAction>(
    node: &Node<()>,
    service: &str,
    responses: Arc<Counter>,
) -> Result<Box<dyn Requester>, BoxError> {
    create::<([u8; 16], A::Goal), SendGoalRequest<A>, SendGoalResponse>(
        node,
        service,
        responses,
        |(id, goal)| Ok(SendGoalRequest { goal_id: GoalId(id), goal: Arc::new(goal) }),
    )
}

/// Creates a requester of the service of action `A` that has the results.
pub(crate) fn of_results<A: RosAction>(
    node: &Node<()>,
    service: &str,
    responses: Arc<Counter>,
) -> Result<Box<dyn Requester>, BoxError> {
    create::<[u8; 16], GetResultRequest, GetResultResponse<A>>(node, service, responses, |id| {
        Ok(GetResultRequest { goal_id: GoalId(id) })
    })
}

/// Creates a requester of the service of an action that cancels goals.
pub(crate) fn of_cancels(
    node: &Node<()>,
    service: &str,
    responses: Arc<Counter>,
) -> Result<Box<dyn Requester>, BoxError> {
    create::<([u8; 16], msg::Time), CancelGoalRequest, CancelGoalResponse>(
        node,
        service,
        responses,
        |(id, stamp)| {
            // The executor's time would be zero, which stands for every goal.
            if stamp.sec < 0 {
                return Err(format!("the stamp of {} s is before the epoch", stamp.sec).into());
            }
            let (goal_id, stamp) = (GoalId(id), stamp.to_time());
            Ok(CancelGoalRequest { goal_info: GoalInfo { goal_id, stamp } })
        },
    )
}

impl<W, Q, P> Requester for TypedRequester<W, Q, P>
where
    W: DeserializeOwned,
    Q: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    fn request(&mut self, data: &[u8]) -> Result<Requested, BoxError> {
        let request = match self.refused.take() {
            Some(request) => request,
            None => {
                let event: ServiceEvent<W> = cdr::from_bytes(data)?;
                match event.request.into_iter().next() {
                    Some(request) if event.event_type == REQUEST_RECEIVED => {
                        (self.convert)(request)?
                    }
                    _ => return Ok(Requested::NoRequest),
                }
            }
        };
        let responses = self.responses.clone();
        let count = move |(): &mut (), reply: Result<_, _>, _: &mut Context<'_>| {
            if reply.is_ok() {
                responses.add_by_owner(1);
            }
        };
        let Err(refused) = self.client.call(request, count) else {
            return Ok(Requested::Sent);
        };
        match refused.reason {
            CallError::NoService => Ok(Requested::NoService),
            CallError::ServiceFull => {
                self.refused = Some(refused.request);
                Ok(Requested::Again)
            }
            // Its queue has room, so the server takes requests and keeps them: waiting may not end.
            CallError::TooManyCalls => Err(format!(
                "service {} has not responded to {CALLS_MAX} requests; have it respond, or exclude \
                 its recorded events",
                self.client.service()
            )
            .into()),
            reason => Err(reason.into()),
        }
    }
}
