//! The services of the parameters of a node, for clients of this and of other processes.

use crate::event_loop::{EventLoop, State};
use ringspin::{Context, QoS, Responder, Result, Service};
use ringspin_adapter::{Carried, Type, lock};
use ringspin_messages::ParameterService;
use ringspin_messages::rcl_interfaces::srv;
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
    let parameters = node.parameters();
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
