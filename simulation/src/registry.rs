//! Node types by name, so that a [job file](crate::JobFile) can choose which nodes there are.

use ringspin_executor::{BoxError, Error, ErrorKind, Graph, Node, Result};
use std::collections::BTreeMap;
use std::fmt;

/// The node types that a program knows, by name.
///
/// ```
/// use ringspin_executor::{Message, QoS};
/// use ringspin_simulation::{JobFile, Registry};
/// use std::time::Duration;
///
/// let registry = Registry::new()
///     .node("camera", |graph, place| {
///         let camera = place.create_node(graph, 0u64)?;
///         let rate = camera.declare_parameter("rate", 10.0)?.get();
///         let images = camera.create_publisher("image", QoS::sensor_data())?;
///         camera.create_timer(Duration::from_secs_f64(1.0 / rate), move |count, _| {
///             *count += 1;
///             images.publish(*count)
///         })?;
///         Ok(())
///     })
///     .node("viewer", |graph, place| {
///         let viewer = place.create_node(graph, ())?;
///         viewer.create_subscription("image", QoS::sensor_data(), |_, _: &Message<u64>, _| {})?;
///         Ok(())
///     });
///
/// let file = JobFile::from_toml(r#"
///     for = "10 s"
///     [[node]]
///     type = "camera"
///     name = "front"
///     parameters = { rate = 25.0 }
///     [[node]]
///     type = "viewer"
///     remap = { image = "/front/image" }
/// "#)?;
/// assert_eq!(file.job(&registry)?.run()?.dispatches(), 250);
/// # Ok::<(), ringspin_executor::BoxError>(())
/// ```
#[derive(Default)]
pub struct Registry {
    types: BTreeMap<String, Build>,
    twice: Option<String>,
}

pub(crate) type Build = Box<dyn Fn(&Graph, &NodeConfig) -> Result<(), BoxError> + Send + Sync>;

/// Namespace and name of an instance of a node type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeConfig {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl NodeConfig {
    /// The namespace of the instance.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name of the instance within its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace and the name, as `/namespace/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace.trim_end_matches('/'), self.name)
    }

    /// Creates the node that belongs here.
    ///
    /// # Errors
    /// Fails for an invalid or duplicate name, or an executor that has ended.
    pub fn create_node<S: Send + 'static>(&self, graph: &Graph, state: S) -> Result<Node<S>> {
        graph.create_node_in(&self.namespace, &self.name, state)
    }
}

impl Registry {
    /// No node types.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers node type `name`: `build` adds an instance of it to a graph. It is called for each
    /// instance, in each run.
    ///
    /// A name that is taken is an error of [`check`](Self::check), and of every job that uses the
    /// registry.
    #[must_use]
    pub fn node(
        mut self,
        name: &str,
        build: impl Fn(&Graph, &NodeConfig) -> Result<(), BoxError> + Send + Sync + 'static,
    ) -> Self {
        if self.types.insert(name.into(), Box::new(build)).is_some() {
            self.twice.get_or_insert(name.into());
        }
        self
    }

    /// The names of the node types, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// Whether each name stands for one node type.
    ///
    /// # Errors
    /// An error for the first that was registered twice.
    pub fn check(&self) -> Result<()> {
        match &self.twice {
            None => Ok(()),
            Some(name) => Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("node type `{name}` is registered twice; give one of the two another name"),
            )),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Build> {
        self.types.get(name)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
