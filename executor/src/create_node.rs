//! The creation of nodes, which brings the features of a node together: remapped names, parameters,
//! and the counterpart beyond the process.

use crate::event_loop::Body;
use crate::graph::{CreateNodeError, Graph, GraphBuilder, MiddlewareError};
use crate::middleware::RemoteNode;
use crate::name;
use crate::node::Node;
use crate::parameter::{NodeParameters, ParameterObserver};
use crate::parameter_value::ParameterValue;
use crate::sim_time::SimTime;
use std::sync::Arc;

impl Graph {
    /// Creates a node in the root namespace, before the start or while the executor runs, from
    /// callbacks and any other thread.
    ///
    /// A node that is created while the executor runs takes part when this returns. It lives until
    /// [`Node::destroy`], or as long as the executor: dropping the handle changes nothing.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let graph = Graph::new();
    /// # let fleet = graph.create_node("fleet", ())?;
    /// let (handle, mut robots) = (graph.clone(), 0);
    /// fleet.create_service("join", Default::default(), move |_, (): &(), _| {
    ///     robots += 1;
    ///     let robot = handle.create_node(&format!("robot{robots}"), robots);
    ///     robot.map(|robot| robot.full_name().to_owned())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CreateNodeError`] for an invalid or duplicate name, or an executor that is gone.
    pub fn create_node<S: Send + 'static>(
        &self,
        name: &str,
        state: S,
    ) -> Result<Node<S>, CreateNodeError> {
        self.create_node_in("/", name, state)
    }

    /// Creates a node that survives its failures: each time a callback of its default group fails,
    /// the state is replaced by a new one from `factory`, up to `restarts_max` times. The failure
    /// after that is handled by the policy.
    ///
    /// Callbacks keep what they captured, timers their phase, queues their messages, and tasks go
    /// on, except for a task that failed itself. A [lifecycle](Node::lifecycle) of the group begins
    /// anew, as unconfigured.
    ///
    /// # Errors
    /// The errors of [`create_node`](Self::create_node).
    pub fn create_restartable_node<S: Send + 'static>(
        &self,
        name: &str,
        restarts_max: u32,
        factory: impl FnMut() -> S + Send + 'static,
    ) -> Result<Node<S>, CreateNodeError> {
        self.create_node_with("/", name, Body::restartable(restarts_max, factory))
    }

    /// Creates a node in `namespace`, unless the graph's
    /// [arguments](Self::set_arguments) remap its name or namespace.
    ///
    /// # Errors
    /// The errors of [`create_node`](Self::create_node).
    pub fn create_node_in<S: Send + 'static>(
        &self,
        namespace: &str,
        name: &str,
        state: S,
    ) -> Result<Node<S>, CreateNodeError> {
        self.create_node_with(namespace, name, Body::new(state))
    }

    fn create_node_with<S: Send + 'static>(
        &self,
        namespace: &str,
        name: &str,
        body: Body<S>,
    ) -> Result<Node<S>, CreateNodeError> {
        let namespace = name::expand_namespace(namespace)?;
        name::validate_node_name(name)?;
        let mut builder = self.builder();
        let (namespace, name) = builder.remap_node(namespace, name)?;
        let full_name = name::qualify(&namespace, &name);
        let event_loop = builder.create_node(&full_name, body, connect)?;
        for middleware_service in builder.middleware_services_of(event_loop)? {
            let entity = builder.add_middleware_service(event_loop, middleware_service);
            builder.add_entity::<S>(event_loop, Box::new(entity));
        }
        let node_index = builder.loop_info(event_loop).node_index;
        let receives = builder.receives();
        drop(builder);
        let node = Node::new(self.clone(), namespace, name, full_name, node_index, event_loop);
        if receives {
            node.declare_use_sim_time()?;
        }
        Ok(node)
    }
}

/// Gives the node that is created next its counterpart and its parameters.
fn connect(builder: &mut GraphBuilder, full_name: &str) -> Result<(), MiddlewareError> {
    let remote = builder.create_remote_node(full_name)?;
    let sim_time = builder.sim_time().clone();
    let observer = remote.map(|node| -> Box<dyn ParameterObserver> {
        Box::new(RemoteParameters { node, sim_time })
    });
    builder.add_parameters(NodeParameters::new(full_name.into(), observer));
    Ok(())
}

/// Tells the counterpart of a node of the parameters that the node declares, sets and removes, and
/// when.
struct RemoteParameters {
    node: Arc<dyn RemoteNode>,
    sim_time: Arc<SimTime>,
}

impl ParameterObserver for RemoteParameters {
    fn declared(&self, parameter: &str, value: &ParameterValue) {
        self.node.parameter_declared(parameter, value, self.sim_time.now());
    }

    fn undeclared(&self, parameter: &str, value: &ParameterValue) {
        self.node.parameter_undeclared(parameter, value, self.sim_time.now());
    }

    fn set(&self, values: &[(String, ParameterValue)]) {
        self.node.parameters_set(values, self.sim_time.now());
    }
}
