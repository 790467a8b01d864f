//! The parameters of a node as ROS 2 knows them: six services, and the events of their changes.
//!
//! A request is an event of the node's own event loop, so a parameter never changes while a
//! callback of the node's default group runs.

use crate::late_responses::LateResponses;
use crate::noted::note;
use crate::occurrences::Occurrences;
use crate::rcl::{Node, Publisher, RequestId, Service};
use ringspin_executor::observed::RemoteChannel;
use ringspin_executor::{
    AnnouncedService, BoxError, Error, MiddlewareService, ParameterClient, ParameterEventKind,
    ParameterValue, QoS, RemoteNotifier, Time,
};
use ringspin_messages::builtin_interfaces::msg::Time as Stamp;
use ringspin_messages::rcl_interfaces::msg::{self, Parameter, ParameterEvent};
use ringspin_messages::rcl_interfaces::srv;
use ringspin_messages::{CdrService, ParameterService};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// One of the services.
struct OfferedService<S: ParameterService> {
    responses: LateResponses,
    /// Its requests in a flight record.
    channel: Arc<RemoteChannel>,
    parameters: ParameterClient,
    request: Option<(S::Request, RequestId)>,
    unanswered: Occurrences,
    overwritten: Occurrences,
}

impl<S: ParameterService> MiddlewareService for OfferedService<S> {
    fn name(&self) -> String {
        format!("service {}", self.responses.service().name())
    }

    fn take(&mut self) -> Result<bool, BoxError> {
        let mut request = None;
        let noted = |bytes: &[u8]| note(&self.channel, 0, bytes);
        let id = self.responses.service().take_request_noting(&mut request, noted)?;
        self.request = request.zip(id);
        Ok(self.request.is_some())
    }

    /// A response that cannot be sent, such as to a lost client, is no failure of the node.
    fn run(&mut self) -> Result<(), BoxError> {
        let Some((request, id)) = self.request.take() else { return Ok(()) };
        let response = S::answer(&self.parameters, request);
        match self.responses.send_now(id, &response) {
            Ok(true) => {}
            Ok(false) => self.responses.add(id, Box::new(response)),
            Err(error) => {
                if let Some(unanswered) = self.unanswered.add(1) {
                    let message = "failed to answer requests about parameters";
                    tracing::warn!(%error, unanswered, "{message}");
                }
            }
        }
        Ok(())
    }

    fn overwritten(&mut self, missing: u64) {
        if let Some(overwritten) = self.overwritten.add(missing) {
            tracing::warn!(
                service = self.responses.service().name(),
                overwritten,
                "lost requests about parameters: too many came at once, and the oldest get no \
                 response; send fewer at a time"
            );
        }
    }
}

/// The services for `parameters`, those of `node`.
pub(crate) fn parameter_services(
    node: &Node,
    parameters: &ParameterClient,
) -> Result<Vec<AnnouncedService>, Error> {
    Ok(vec![
        service::<srv::GetParameters::Service>(node, parameters)?,
        service::<srv::SetParameters::Service>(node, parameters)?,
        service::<srv::SetParametersAtomically::Service>(node, parameters)?,
        service::<srv::ListParameters::Service>(node, parameters)?,
        service::<srv::DescribeParameters::Service>(node, parameters)?,
        service::<srv::GetParameterTypes::Service>(node, parameters)?,
    ])
}

fn service<S: ParameterService>(
    node: &Node,
    parameters: &ParameterClient,
) -> Result<AnnouncedService, Error> {
    let name = format!("{}/{}", node.fully_qualified_name(), S::NAME);
    let table = CdrService::of::<S>();
    let service = Service::of_table(node, table, &name, &QoS::parameters())?;
    let remote_notifier = RemoteNotifier::default();
    let announced = remote_notifier.clone();
    service.on_new_request(move |count| announced.announce(count))?;
    let service = OfferedService::<S> {
        responses: LateResponses::new(service),
        channel: Arc::new(table.request_channel(&name)),
        parameters: parameters.clone(),
        request: None,
        unanswered: Occurrences::default(),
        overwritten: Occurrences::default(),
    };
    Ok((Box::new(service), remote_notifier))
}

/// Publishes changes of a node's parameters on `/parameter_events`.
pub(crate) struct ParameterEvents {
    node: String,
    publisher: Publisher<ParameterEvent>,
}

impl ParameterEvents {
    pub(crate) fn new(node: &Node) -> Result<Self, Error> {
        let qos = QoS::parameter_events();
        let publisher = Publisher::new(node, "/parameter_events", &qos)?;
        Ok(Self { node: node.fully_qualified_name().into(), publisher })
    }

    /// Publishes an event at `now`; `None` for the real time.
    pub(crate) fn publish(
        &self,
        kind: ParameterEventKind,
        values: &[(String, ParameterValue)],
        now: Option<Time>,
    ) {
        let wall = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let stamp = Stamp::from_time(now.unwrap_or_else(|| Time::ZERO + wall()));
        let mut event =
            ParameterEvent { stamp, node: self.node.clone(), ..ParameterEvent::default() };
        let parameters = match kind {
            ParameterEventKind::Declared => &mut event.new_parameters,
            ParameterEventKind::Set => &mut event.changed_parameters,
            ParameterEventKind::Undeclared => &mut event.deleted_parameters,
        };
        parameters.extend(values.iter().map(|(name, value)| Parameter {
            name: name.clone(),
            value: msg::ParameterValue::from_value(value),
        }));
        if let Err(error) = self.publisher.publish(&event) {
            tracing::error!(node = self.node, %error, "failed to publish a parameter event");
        }
    }
}
