//! Nodes.

mod actions;
mod ends;
mod graph;
mod parameters;
mod sim_time;

pub use graph::TopicEndpointInfo;

use crate::clock::{Clock, ClockType};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::link::Link;
use crate::lock;
use crate::node_shared::{IsAvailablePollable, NodeShared, invalid_name};
use crate::parameter::{Parameter, ParameterValue, WrongParameterType};
use crate::time_source::TimeSource;
use crate::timer::{ClockTimer, Timer};
use futures::TryFutureExt;
use futures::channel::oneshot;
use indexmap::IndexMap;
use ringspin::ErrorKind;
use ringspin::time::Clock as _;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often `spin_once` looks for what something waits for that no event announces.
const LOOK_PERIOD: Duration = Duration::from_millis(10);

/// A node. Its publishers, streams, timers, services and clients end with it.
///
/// Its streams and futures get their events while its context's executor runs: from the first
/// [`spin_once`](Self::spin_once), publication or call on.
pub struct Node {
    /// The parameters: those of the command line first, then those that a
    /// [handler](Self::make_parameter_handler) sets.
    pub params: Arc<Mutex<IndexMap<String, Parameter>>>,
    shared: Arc<NodeShared>,
    logger: String,
    /// The events that a `spin_once` has returned for.
    seen: u64,
    ros_clock: Arc<Mutex<Clock>>,
    time_source: TimeSource,
}

impl Node {
    /// Creates a node. Its namespace may lack the slash at its begin; arguments of the command line
    /// may give it other names, and values of parameters. A second node of one name gets a number,
    /// as in `talker_2`, and a warning.
    ///
    /// # Errors
    /// [`Error::RCL_RET_NODE_INVALID_NAME`] for a name that ROS 2 does not allow; another one if
    /// arguments of the command line give two nodes one name.
    pub fn create(ctx: Context, name: &str, namespace: &str) -> Result<Self> {
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        let node =
            ctx.0.create_node("r2r", (namespace, name), || ()).map_err(|error| {
                match error.kind() {
                    ErrorKind::InvalidName => {
                        invalid_name(&error, Error::RCL_RET_NODE_INVALID_NAME)
                    }
                    _ => Error::other(error),
                }
            })?;
        let given = node.take_parameter_overrides().into_iter();
        let params = given.map(|(name, value)| (name, Parameter::new(value.into()))).collect();
        let ros_clock = Arc::new(Mutex::new(Clock::create(ClockType::RosTime)?));
        let time_source = TimeSource::default();
        time_source.attach_ros_clock(Arc::downgrade(&ros_clock))?;
        let logger = node.full_name().trim_start_matches('/').replace('/', ".");
        let shared = NodeShared {
            context: ctx.0,
            node,
            activity: Arc::default(),
            conditions: Mutex::default(),
        };
        Ok(Self {
            params: Arc::new(Mutex::new(params)),
            shared: Arc::new(shared),
            logger,
            seen: 0,
            ros_clock,
            time_source,
        })
    }

    /// The name without the namespace.
    ///
    /// # Errors
    /// None.
    pub fn name(&self) -> Result<String> {
        Ok(self.names().1.to_owned())
    }

    /// The namespace and the name.
    ///
    /// # Errors
    /// None.
    pub fn fully_qualified_name(&self) -> Result<String> {
        Ok(self.shared.node.full_name().to_owned())
    }

    /// The namespace.
    ///
    /// # Errors
    /// None.
    pub fn namespace(&self) -> Result<String> {
        let namespace = self.names().0;
        Ok(if namespace.is_empty() { "/".into() } else { namespace.into() })
    }

    fn names(&self) -> (&str, &str) {
        let full_name = self.shared.node.full_name();
        full_name.rsplit_once('/').unwrap_or(("", full_name))
    }

    /// The name of the node's logger.
    pub fn logger(&self) -> &str {
        &self.logger
    }

    /// The value of a parameter, as its Rust type, or an `Option` of it.
    ///
    /// # Errors
    /// [`Error::ParameterWrongType`].
    pub fn get_parameter<T>(&self, name: &str) -> Result<T>
    where
        ParameterValue: TryInto<T, Error = WrongParameterType>,
    {
        let value = lock(&self.params).get(name).map(|parameter| parameter.value.clone());
        value.unwrap_or(ParameterValue::NotSet).try_into().map_err(|error| {
            Error::ParameterWrongType {
                name: name.to_owned(),
                expected_type: error.expected_type_name,
                actual_type: error.actual_type_name,
            }
        })
    }

    /// Waits until something arrived for this node since the last call, `timeout` at most: a
    /// message, a tick, a request, a response. Tasks that waited for it have been woken then.
    ///
    /// The context's executor takes everything that comes, whether or not this is called.
    pub fn spin_once(&mut self, timeout: Duration) {
        self.shared.context.start();
        let begin = Instant::now();
        loop {
            let is_waiting = self.shared.look();
            let left = timeout.saturating_sub(begin.elapsed());
            let pause = if is_waiting { left.min(LOOK_PERIOD) } else { left };
            if self.shared.activity.wait(&mut self.seen, pause) || pause == left {
                return;
            }
        }
    }

    /// A future that waits until the service or action of `client` has a server; a thread has to
    /// spin the client's node meanwhile.
    ///
    /// # Errors
    /// [`Error::RCL_RET_CLIENT_INVALID`] once that node is destroyed.
    pub fn is_available(
        client: &dyn IsAvailablePollable,
    ) -> Result<impl Future<Output = Result<()>> + Unpin + use<>> {
        let (sender, receiver) = oneshot::channel();
        client.register_poll_available(sender)?;
        Ok(receiver.map_err(|_| Error::RCL_RET_CLIENT_INVALID))
    }

    /// Creates a timer whose time never goes back.
    ///
    /// # Errors
    /// For a period of zero, and when the context has ended.
    pub fn create_wall_timer(&mut self, period: Duration) -> Result<Timer> {
        self.timer(period, None)
    }

    /// Creates a timer of the node's [clock](Self::get_ros_clock).
    ///
    /// # Errors
    /// For a period of zero, and when the context has ended.
    pub fn create_timer(&mut self, period: Duration) -> Result<Timer> {
        let of_clock = Arc::new(ClockTimer::new(period));
        self.time_source.attach_timer(&of_clock);
        self.timer(period, Some(of_clock))
    }

    fn timer(&self, period: Duration, of_clock: Option<Arc<ClockTimer>>) -> Result<Timer> {
        let node = &self.shared.node;
        let interval = node.create_interval(period).map_err(Error::other)?;
        let link = Link::new(&self.shared.activity);
        Ok(Timer::new(interval, link, node.clock().now(), of_clock))
    }

    /// The node's source of simulated time.
    pub fn get_time_source(&self) -> TimeSource {
        self.time_source.clone()
    }

    /// The node's clock, which its [time source](Self::get_time_source) sets.
    pub fn get_ros_clock(&self) -> Arc<Mutex<Clock>> {
        self.ros_clock.clone()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.shared.node.destroy();
        self.shared.activity.close();
        lock(&self.shared.conditions).clear();
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.shared.node.full_name()).finish()
    }
}
