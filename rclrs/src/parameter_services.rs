//! The services of the parameters of a node, for clients of this and of other processes.

use crate::event_loop::{EventLoop, State};
use ringspin::parameter::ParameterClient;
use ringspin::{Context, QoS, Responder, Result, Service};
use ringspin_adapter::{Carried, Type, lock};
use ringspin_messages::rcl_interfaces::msg::{Parameter, ParameterDescriptor, ParameterValue};
use ringspin_messages::rcl_interfaces::srv;
use ringspin_messages::{ParameterService, ParameterStore};
use std::slice::from_ref;
use std::sync::Mutex;

/// Requests that may wait at a service.
const REQUESTS_MAX: usize = 100;

/// The services of a node that its application has not replaced.
#[derive(Default)]
pub(crate) struct ParameterServices(Mutex<Vec<Service>>);

impl ParameterServices {
    /// Offers the services in the node's event loop, until its end.
    ///
    /// # Errors
    /// For a service that has another type in this process.
    pub(crate) fn offer(&self, event_loop: &EventLoop<()>) -> Result<()> {
        let services = [
            offer_one::<srv::GetParameters::Service>(event_loop)?,
            offer_one::<srv::SetParameters::Service>(event_loop)?,
            offer_one::<srv::SetParametersAtomically::Service>(event_loop)?,
            offer_one::<srv::ListParameters::Service>(event_loop)?,
            offer_one::<srv::DescribeParameters::Service>(event_loop)?,
            offer_one::<srv::GetParameterTypes::Service>(event_loop)?,
        ];
        lock(&self.0).extend(services);
        Ok(())
    }

    /// Ends the service of this name, if it is one of them: the application offers it itself.
    pub(crate) fn yield_to_application(&self, name: &str) {
        lock(&self.0).extract_if(.., |it| it.name() == name).for_each(|it| it.destroy());
    }
}

fn offer_one<S: ParameterService>(event_loop: &EventLoop<()>) -> Result<Service> {
    let node = &event_loop.node;
    let service = node.resolve_service_name(&format!("~/{}", S::NAME))?;
    event_loop.app.set_type(&service, Type::Service(Carried::service_table::<S>()))?;
    let parameters = Answers(node.parameters());
    let answer = move |_: &mut State<()>,
                       request: &Carried,
                       responder: Responder<Carried>,
                       _: &mut Context<'_>| {
        // A responder that is dropped ends the call. The type was checked: that does not happen.
        if let Ok(request) = request.get::<S::Request>() {
            responder.respond(Carried::new(S::answer(&parameters, request)));
        }
    };
    node.create_deferred_service(&service, QoS::keep_all(REQUESTS_MAX), answer)
}

/// The parameters of a node as rclrs answers requests for them: each one that is not declared is
/// not set, where rclcpp leaves the other ones out as well.
struct Answers(ParameterClient);

impl ParameterStore for Answers {
    fn names(&self) -> Vec<String> {
        self.0.names()
    }

    fn get(&self, names: &[String]) -> Vec<ParameterValue> {
        let get = |name| ParameterStore::get(&self.0, from_ref(name)).pop().unwrap_or_default();
        names.iter().map(get).collect()
    }

    fn describe(&self, names: &[String]) -> Vec<ParameterDescriptor> {
        let not_set =
            |name: &String| ParameterDescriptor { name: name.clone(), ..Default::default() };
        let describe =
            |name| self.0.describe(from_ref(name)).pop().unwrap_or_else(|| not_set(name));
        names.iter().map(describe).collect()
    }

    fn set_all(&self, parameters: Vec<Parameter>) -> std::result::Result<(), String> {
        ParameterStore::set_all(&self.0, parameters)
    }
}
