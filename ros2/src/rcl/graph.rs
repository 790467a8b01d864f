//! The graph of ROS 2: nodes, topics, services, and their ends.

use super::entity::{c_name, copied};
use super::error::check;
use super::ffi;
use super::lock;
use super::node::Node;
use super::qos::from_rmw;
use ringspin_executor::{Error, QoS};
use std::ffi::c_char;
use std::time::{Duration, Instant};

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeName {
    /// Its namespace, such as `/` or `/robot`.
    pub namespace: String,
    /// Its base name.
    pub name: String,
}

/// One end of a topic: a publisher, or a subscription.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its node.
    pub node: NodeName,
    /// The type that it has for the topic.
    pub type_name: String,
    /// Its quality of service, as far as it tells; a depth of 0 is "not told".
    pub qos: QoS,
    /// Its identity in the middleware.
    pub id: [u8; 16],
}

type Infos = unsafe extern "C" fn(
    *const ffi::rcl_node_t,
    *mut ffi::rcutils_allocator_t,
    *const c_char,
    bool,
    *mut ffi::rmw_topic_endpoint_info_array_t,
) -> i32;

type Count = unsafe extern "C" fn(*const ffi::rcl_node_t, *const c_char, *mut usize) -> i32;

/// The graph as a node sees it now. It becomes complete only a while after the context was
/// made: peers have to be found first.
impl Node {
    /// The nodes, this one included, by namespace and name. Nodes of one name come as often as
    /// they are.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn nodes(&self) -> Result<Vec<NodeName>, Error> {
        let _lock = lock::entities();
        // SAFETY: the node is initialized; the arrays are empty before, freed after, and have the
        // same size.
        let mut nodes = unsafe {
            let allocator = ffi::rcutils_get_default_allocator();
            let mut names = ffi::rcutils_get_zero_initialized_string_array();
            let mut spaces = ffi::rcutils_get_zero_initialized_string_array();
            let node = self.handle.pointer();
            let code = ffi::rcl_get_node_names(node, allocator, &mut names, &mut spaces);
            let result = check(code, "list the nodes seen from", self.handle.itself());
            let pairs = strings(&spaces).into_iter().zip(strings(&names));
            let nodes: Vec<_> =
                pairs.map(|(namespace, name)| NodeName { namespace, name }).collect();
            ffi::rcutils_string_array_fini(&mut names);
            ffi::rcutils_string_array_fini(&mut spaces);
            result.map(|()| nodes)
        }?;
        nodes.sort();
        Ok(nodes)
    }

    /// The topics, by name, with their types: usually one.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn topics(&self) -> Result<Vec<(String, Vec<String>)>, Error> {
        self.names_and_types("list the topics seen from", |node, allocator, found| {
            // SAFETY: as `names_and_types` promises.
            unsafe { ffi::rcl_get_topic_names_and_types(node, allocator, false, found) }
        })
    }

    /// The services, by name, with their types: usually one.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn services(&self) -> Result<Vec<(String, Vec<String>)>, Error> {
        self.names_and_types("list the services seen from", |node, allocator, found| {
            // SAFETY: as `names_and_types` promises.
            unsafe { ffi::rcl_get_service_names_and_types(node, allocator, found) }
        })
    }

    /// Asks with a node that is initialized, an allocator, and an empty list.
    fn names_and_types(
        &self,
        action: &'static str,
        ask: impl Fn(
            *const ffi::rcl_node_t,
            *mut ffi::rcutils_allocator_t,
            *mut ffi::rcl_names_and_types_t,
        ) -> i32,
    ) -> Result<Vec<(String, Vec<String>)>, Error> {
        let _lock = lock::entities();
        // SAFETY: the list is empty before, freed after, and has as many types as names.
        let mut found = unsafe {
            let mut allocator = ffi::rcutils_get_default_allocator();
            let mut found = ffi::rmw_get_zero_initialized_names_and_types();
            let code = ask(self.handle.pointer(), &mut allocator, &mut found);
            let result = check(code, action, self.handle.itself());
            let names = strings(&found.names).into_iter().enumerate();
            let all: Vec<_> =
                names.map(|(n, name)| (name, strings(&*found.types.add(n)))).collect();
            ffi::rmw_names_and_types_fini(&mut found);
            result.map(|()| all)
        }?;
        found.sort();
        Ok(found)
    }

    /// How many publishers `topic` has, those of this process included. The name is taken as it
    /// is: absolute, and not remapped.
    ///
    /// # Errors
    /// For an invalid name, and after a shutdown.
    pub fn count_publishers(&self, topic: &str) -> Result<usize, Error> {
        self.count("count the publishers seen from", topic, ffi::rcl_count_publishers)
    }

    /// How many subscriptions `topic` has; as [`count_publishers`](Self::count_publishers).
    ///
    /// # Errors
    /// For an invalid name, and after a shutdown.
    pub fn count_subscriptions(&self, topic: &str) -> Result<usize, Error> {
        self.count("count the subscriptions seen from", topic, ffi::rcl_count_subscribers)
    }

    fn count(&self, action: &'static str, topic: &str, ask: Count) -> Result<usize, Error> {
        let topic = c_name("topic", topic)?;
        let _lock = lock::entities();
        let mut count = 0;
        // SAFETY: the node is initialized, and the name and `count` outlive the call.
        let code = unsafe { ask(self.handle.pointer(), topic.as_ptr(), &mut count) };
        check(code, action, self.handle.itself())?;
        Ok(count)
    }

    /// The publishers of `topic`: with their nodes, types and quality of service.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn publishers(&self, topic: &str) -> Result<Vec<Endpoint>, Error> {
        let ask = ffi::rcl_get_publishers_info_by_topic;
        self.endpoints("list the publishers seen from", topic, ask, false)
    }

    /// The publishers of a topic by its name in DDS, such as `rt/chatter` for `/chatter`; their
    /// types have the names that DDS has for them.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn dds_publishers(&self, topic: &str) -> Result<Vec<Endpoint>, Error> {
        let ask = ffi::rcl_get_publishers_info_by_topic;
        self.endpoints("list the publishers seen from", topic, ask, true)
    }

    /// The identities of the servers of `service`, where the middleware has them: those of the
    /// publishers of its responses, on a topic that ROS 2 names so.
    pub(super) fn servers(&self, service: &str) -> Result<Vec<[u8; 16]>, Error> {
        let servers = self.dds_publishers(&format!("rr{service}Reply"))?;
        Ok(servers.into_iter().map(|server| server.id).collect())
    }

    /// The subscriptions of `topic`; as [`publishers`](Self::publishers).
    ///
    /// # Errors
    /// After a shutdown.
    pub fn subscriptions(&self, topic: &str) -> Result<Vec<Endpoint>, Error> {
        let ask = ffi::rcl_get_subscriptions_info_by_topic;
        self.endpoints("list the subscriptions seen from", topic, ask, false)
    }

    fn endpoints(
        &self,
        action: &'static str,
        topic: &str,
        ask: Infos,
        is_mangled: bool,
    ) -> Result<Vec<Endpoint>, Error> {
        let topic = c_name("topic", topic)?;
        let _lock = lock::entities();
        // SAFETY: the node is initialized and the name outlives the call; the array is empty
        // before, and freed after.
        unsafe {
            let mut allocator = ffi::rcutils_get_default_allocator();
            let mut found = ffi::rmw_get_zero_initialized_topic_endpoint_info_array();
            let node = self.handle.pointer();
            let code = ask(node, &mut allocator, topic.as_ptr(), is_mangled, &mut found);
            let result = check(code, action, self.handle.itself());
            let all: Vec<_> =
                (0..found.size).map(|n| endpoint(&*found.info_array.add(n))).collect();
            ffi::rmw_topic_endpoint_info_array_fini(&mut found, &mut allocator);
            result.map(|()| all)
        }
    }

    /// Waits until `ready` returns true, up to `timeout`; returns whether it did. For the start of
    /// a program only: it looks every few milliseconds.
    ///
    /// # Errors
    /// The first error that `ready` returns.
    ///
    /// ```no_run
    /// # use ringspin_executor::Error;
    /// # use ringspin_ros2::rcl::{Context, Node, NodeOptions};
    /// # use std::time::Duration;
    /// # let node = Node::new(&Context::new(&[])?, "", "pilot", NodeOptions::default())?;
    /// let second = Duration::from_secs(1);
    /// let found = node.wait_for(second, |node| Ok(node.count_publishers("/scan")? > 0))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn wait_for(
        &self,
        timeout: Duration,
        mut ready: impl FnMut(&Self) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        const STEP: Duration = Duration::from_millis(2);
        let start = Instant::now();
        loop {
            if ready(self)? {
                return Ok(true);
            }
            let Some(left) = timeout.checked_sub(start.elapsed()) else { return Ok(false) };
            std::thread::sleep(STEP.min(left));
        }
    }
}

/// # Safety
/// `array` is empty or filled by rcl.
unsafe fn strings(array: &ffi::rcutils_string_array_t) -> Vec<String> {
    // SAFETY: rcl fills so many places with strings that end with NUL, or null pointers.
    (0..array.size).map(|n| unsafe { copied(*array.data.add(n)) }).collect()
}

/// # Safety
/// `info` is filled by rcl.
unsafe fn endpoint(info: &ffi::rmw_topic_endpoint_info_t) -> Endpoint {
    // SAFETY: rcl fills the strings, which end with NUL, or are null pointers.
    let [namespace, name, type_name] =
        [info.node_namespace, info.node_name, info.topic_type].map(|text| unsafe { copied(text) });
    let qos = from_rmw(&info.qos_profile);
    Endpoint { node: NodeName { namespace, name }, type_name, qos, id: info.endpoint_gid }
}
