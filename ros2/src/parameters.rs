//! The parameters of a node as ROS 2 knows them: six services, and the events of their changes.
//!
//! A request is an event of the node's own event loop, so a parameter never changes while a
//! callback of the node's default group runs.

mod answers;
mod values;

use crate::late_responses::LateResponses;
use crate::occurrences::Occurrences;
use crate::rcl::{ErasedService, Node, Publisher, RequestId, RosError};
use crate::stamp::to_stamp;
use answers::{
    describe_parameters, get_parameter_types, get_parameters, list_parameters, set_parameters,
    set_parameters_atomically,
};
use ringspin_executor::{
    AnnouncedService, BoxError, MiddlewareService, ParameterClient, ParameterValue, QoS,
    RemoteNotifier, Time,
};
use ringspin_messages::rcl_interfaces::msg::{Parameter, ParameterEvent};
use ringspin_messages::rcl_interfaces::srv;
use ringspin_messages::{CdrService, RosService};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// One of the services.
struct ParameterService<S: RosService> {
    service: Arc<ErasedService>,
    late: LateResponses,
    parameters: ParameterClient,
    answer: fn(&ParameterClient, S::Request) -> S::Response,
    request: Option<(S::Request, RequestId)>,
    unanswered: Occurrences,
    overwritten: Occurrences,
}

impl<S: RosService> MiddlewareService for ParameterService<S> {
    fn name(&self) -> String {
        format!("service {}", self.service.name())
    }

    fn take(&mut self) -> Result<bool, BoxError> {
        let mut request = None;
        let id = self.service.take_request(&mut request)?;
        self.request = request.zip(id);
        Ok(self.request.is_some())
    }

    /// A response that cannot be sent, such as to a lost client, is no failure of the node.
    fn run(&mut self) -> Result<(), BoxError> {
        let Some((request, id)) = self.request.take() else { return Ok(()) };
        let response = (self.answer)(&self.parameters, request);
        match self.late.send_now(id, &response) {
            Ok(true) => {}
            Ok(false) => self.late.add(id, Box::new(response)),
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
                service = self.service.name(),
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
) -> Result<Vec<AnnouncedService>, RosError> {
    let offer = Offer { node, parameters };
    Ok(vec![
        offer.service::<srv::DescribeParameters::Service>(
            "describe_parameters",
            describe_parameters,
        )?,
        offer.service::<srv::GetParameterTypes::Service>(
            "get_parameter_types",
            get_parameter_types,
        )?,
        offer.service::<srv::GetParameters::Service>("get_parameters", get_parameters)?,
        offer.service::<srv::ListParameters::Service>("list_parameters", list_parameters)?,
        offer.service::<srv::SetParameters::Service>("set_parameters", set_parameters)?,
        offer.service::<srv::SetParametersAtomically::Service>(
            "set_parameters_atomically",
            set_parameters_atomically,
        )?,
    ])
}

struct Offer<'a> {
    node: &'a Node,
    parameters: &'a ParameterClient,
}

impl Offer<'_> {
    fn service<S: RosService>(
        &self,
        name: &str,
        answer: fn(&ParameterClient, S::Request) -> S::Response,
    ) -> Result<AnnouncedService, RosError> {
        let name = format!("{}/{name}", self.node.fully_qualified_name());
        let table = CdrService::of::<S>();
        let service = ErasedService::new(self.node, table, &name, &QoS::parameters())?;
        let remote_notifier = RemoteNotifier::default();
        let announced = remote_notifier.clone();
        service.on_new_request(move |count| announced.announce(count))?;
        let (service, parameters) = (Arc::new(service), self.parameters.clone());
        let service = ParameterService::<S> {
            late: LateResponses::new(service.clone()),
            service,
            parameters,
            answer,
            request: None,
            unanswered: Occurrences::default(),
            overwritten: Occurrences::default(),
        };
        Ok((Box::new(service), remote_notifier))
    }
}

/// Publishes changes of a node's parameters on `/parameter_events`.
pub(crate) struct ParameterEvents {
    node: String,
    publisher: Publisher<ParameterEvent>,
}

impl ParameterEvents {
    pub(crate) fn new(node: &Node) -> Result<Self, RosError> {
        let qos = QoS::parameter_events();
        let publisher = Publisher::new(node, "/parameter_events", &qos)?;
        Ok(Self { node: node.fully_qualified_name().into(), publisher })
    }

    pub(crate) fn declared(&self, parameter: &str, value: &ParameterValue, now: Option<Time>) {
        let new_parameters = vec![message_of(parameter, value)];
        self.publish(ParameterEvent { new_parameters, ..self.event(now) });
    }

    pub(crate) fn undeclared(&self, parameter: &str, value: &ParameterValue, now: Option<Time>) {
        let deleted_parameters = vec![message_of(parameter, value)];
        self.publish(ParameterEvent { deleted_parameters, ..self.event(now) });
    }

    pub(crate) fn set(&self, values: &[(String, ParameterValue)], now: Option<Time>) {
        let changed = values.iter().map(|(parameter, value)| message_of(parameter, value));
        let changed_parameters = changed.collect();
        self.publish(ParameterEvent { changed_parameters, ..self.event(now) });
    }

    /// An event at `now`; `None` for the real time.
    fn event(&self, now: Option<Time>) -> ParameterEvent {
        let wall = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let real = || Time::ZERO + wall();
        let stamp = to_stamp(now.unwrap_or_else(real));
        ParameterEvent { stamp, node: self.node.clone(), ..ParameterEvent::default() }
    }

    fn publish(&self, event: ParameterEvent) {
        if let Err(error) = self.publisher.publish(&event) {
            tracing::error!(node = self.node, %error, "failed to publish a parameter event");
        }
    }
}

fn message_of(parameter: &str, value: &ParameterValue) -> Parameter {
    Parameter { name: parameter.into(), value: values::to_message(value) }
}
