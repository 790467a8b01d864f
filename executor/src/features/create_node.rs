//! The creation of nodes. A thread that creates a node holds the lock of the graph, remaps the
//! name, creates the counterpart in the middleware, and adds the parameters and the services of the
//! middleware. It is the one place that knows these features of a node together, so that none of
//! them has to know the others.

use crate::base::error::Result;
use crate::base::name;
use crate::features::graph_arguments::NodeArguments;
use crate::features::parameter::{NodeParameters, ParameterObserver};
use crate::running::event_loop::Body;
use crate::running::graph::{Graph, GraphBuilder};
use crate::running::node::{Node, NodeHandle};

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
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for an invalid or duplicate name, or an executor that has ended.
    pub fn create_node<S: Send + 'static>(&self, name: &str, state: S) -> Result<Node<S>> {
        self.create_node_in("/", name, state)
    }

    /// Creates a node that survives its failures: each time a callback of its default group fails,
    /// the state is replaced by a new one from `factory`, up to `restarts_max` times. The failure
    /// after that is handled by the policy.
    ///
    /// Callbacks keep their captured values, timers their phase, and queues their messages. Tasks
    /// continue, except for a task that failed itself. A [lifecycle](Node::lifecycle) of the group
    /// begins anew, as unconfigured.
    ///
    /// # Errors
    /// Fails for an invalid or duplicate name, or an executor that has ended.
    pub fn create_restartable_node<S: Send + 'static>(
        &self,
        name: &str,
        restarts_max: u32,
        factory: impl FnMut() -> S + Send + 'static,
    ) -> Result<Node<S>> {
        self.create_node_with("/", name, Body::restartable(restarts_max, factory), None)
    }

    /// Creates a node in `namespace`, unless the graph's
    /// [arguments](Self::set_arguments) remap its name or namespace.
    ///
    /// # Errors
    /// Fails for an invalid namespace, an invalid or duplicate name, or an executor that has ended.
    pub fn create_node_in<S: Send + 'static>(
        &self,
        namespace: &str,
        name: &str,
        state: S,
    ) -> Result<Node<S>> {
        self.create_node_with(namespace, name, Body::new(state), None)
    }

    /// Creates a node with separate ROS arguments, which precede those of the graph: remapping
    /// rules, also of its name, and overrides of parameters. Log levels in them have no effect.
    ///
    /// ```
    /// use ringspin_executor::{Arguments, Graph, NodeArguments};
    ///
    /// let graph = Graph::new();
    /// let (arguments, _) = Arguments::parse(["--ros-args", "-r", "__node:=left", "-p", "id:=1"])?;
    /// let own = NodeArguments { arguments, ..NodeArguments::default() };
    /// let node = graph.create_node_with_arguments("/", "wheel", (), own)?;
    /// assert_eq!(node.full_name(), "/left");
    /// assert_eq!(node.declare_parameter("id", 0)?.get(), 1);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`create_node_in`](Self::create_node_in).
    pub fn create_node_with_arguments<S: Send + 'static>(
        &self,
        namespace: &str,
        name: &str,
        state: S,
        arguments: NodeArguments,
    ) -> Result<Node<S>> {
        self.create_node_with(namespace, name, Body::new(state), Some(arguments))
    }

    fn create_node_with<S: Send + 'static>(
        &self,
        namespace: &str,
        name: &str,
        body: Body<S>,
        mut arguments: Option<NodeArguments>,
    ) -> Result<Node<S>> {
        let namespace = name::expand_namespace(namespace)?;
        name::validate_node_name(name)?;
        let mut builder = self.builder();
        if let Some(arguments) = &mut arguments {
            builder.add_rules(arguments);
        }
        let (namespace, name) = builder.remap_node(arguments.as_ref(), namespace, name)?;
        let full_name = name::qualify(&namespace, &name);
        let event_loop = builder.create_node(&full_name, Box::new(body), connect)?;
        if let Some(arguments) = arguments {
            builder.add_node_arguments(&full_name, arguments);
        }
        for middleware_service in builder.middleware_services_of(event_loop)? {
            let entity = builder.add_middleware_service(event_loop, middleware_service);
            builder.add_entity::<S>(event_loop, Box::new(entity));
        }
        let node_index = builder.loop_info(event_loop).node_index;
        let receives = builder.receives();
        drop(builder);
        let (graph, base_name, owner) = (self.clone(), name, None);
        let handle =
            NodeHandle { graph, namespace, base_name, full_name, node_index, event_loop, owner };
        if receives {
            handle.declare_use_sim_time()?;
        }
        Ok(Node::new(handle))
    }
}

/// Adds the counterpart and the parameters of the node that is created next.
fn connect(builder: &mut GraphBuilder, full_name: &str) -> Result<()> {
    let remote = builder.create_remote_node(full_name)?;
    let sim_time = builder.sim_time().clone();
    let observer = remote.map(|node| -> ParameterObserver {
        Box::new(move |kind, values| node.parameters_changed(kind, values, sim_time.now()))
    });
    builder.add_parameters(NodeParameters::new(full_name.into(), observer));
    Ok(())
}
