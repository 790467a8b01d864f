//! A node: a name in the graph, under which entities are made.

use super::context::{Context, ContextHandle};
use super::entity::{Entity, c_name, copied};
use super::error::check;
use super::ffi;
use super::owned::{Owned, RclStruct};
use super::{fast_dds, lock, logging};
use ringspin_executor::Error;
use std::ffi::{CStr, CString, c_char};
use std::sync::{Arc, Weak};

/// Settings of a node.
#[derive(Clone, Copy, Debug)]
pub struct NodeOptions {
    /// Whether its log messages are published on `/rosout`.
    pub rosout: bool,
    /// Whether the arguments of the context rename it and its topics. Off for names that have been
    /// remapped before.
    pub use_global_arguments: bool,
}

impl Default for NodeOptions {
    /// Both on, as in ROS 2.
    fn default() -> Self {
        Self { rosout: true, use_global_arguments: true }
    }
}

/// A node of the ROS graph. Cheap to clone; the last clone or entity of it that is dropped takes
/// it off the graph.
#[derive(Clone)]
pub struct Node {
    pub(super) handle: Arc<NodeHandle>,
}

impl Node {
    /// A node `name` in `namespace`, which is empty or starts with a slash.
    ///
    /// ROS 2 allows several nodes of one name.
    ///
    /// # Errors
    /// For an invalid name or namespace, and after a shutdown of `context`.
    pub fn new(
        context: &Context,
        namespace: &str,
        name: &str,
        options: NodeOptions,
    ) -> Result<Self, Error> {
        Ok(Self { handle: Arc::new(NodeHandle::new(context, namespace, name, options)?) })
    }

    /// Its name with its namespace, as remapped, such as `/robot/camera`.
    pub fn fully_qualified_name(&self) -> &str {
        &self.handle.name
    }

    /// A handle that does not keep it.
    pub(crate) fn downgrade(&self) -> WeakNode {
        WeakNode(Arc::downgrade(&self.handle))
    }

    /// The context that it was made with.
    pub fn context(&self) -> Context {
        Context { handle: self.handle.rcl.parent.clone() }
    }
}

/// A node that may be gone.
pub(crate) struct WeakNode(Weak<NodeHandle>);

impl WeakNode {
    pub(crate) fn upgrade(&self) -> Option<Node> {
        Some(Node { handle: self.0.upgrade()? })
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("name", &self.handle.name).finish()
    }
}

// SAFETY: the struct has no ties to a thread, only its initialization and `rcl_node_fini` change
// it, and both functions are those of a node.
unsafe impl RclStruct for ffi::rcl_node_t {
    type Parent = Arc<ContextHandle>;

    unsafe fn free(this: *mut Self, _: &Self::Parent) {
        let _logging = logging::lock();
        // SAFETY: as the caller promises. Every entity keeps its node, so all entities have been
        // dropped.
        unsafe {
            logging::end_log_of(this);
            ffi::rcl_node_fini(this);
        }
    }
}

/// rcl's node with its names.
pub(super) struct NodeHandle {
    rcl: Owned<ffi::rcl_node_t>,
    name: String,
    logger: CString,
}

impl NodeHandle {
    pub(super) fn context(&self) -> &ContextHandle {
        &self.rcl.parent
    }

    fn new(
        context: &Context,
        namespace: &str,
        name: &str,
        options: NodeOptions,
    ) -> Result<Self, Error> {
        let entity = Entity::plain(format!("node {name:?} in namespace {namespace:?}"));
        let (c_name_, c_namespace) = (c_name("node", name)?, c_name("namespace", namespace)?);
        let locks = (lock::entities(), logging::lock());
        context.handle.settings.into_iter().for_each(fast_dds::apply);
        // SAFETY: strings and options outlive the call, the node is zero-initialized as rcl wants
        // it, the context is initialized and kept alive by the handle.
        unsafe {
            let mut node = ffi::rcl_get_zero_initialized_node();
            let mut settings = ffi::rcl_node_get_default_options();
            settings.enable_rosout = options.rosout;
            settings.use_global_arguments = options.use_global_arguments;
            // The node has no arguments; rcl asks for them also where it ignores those of the
            // context.
            let (allocator, none) = (settings.allocator, std::ptr::null());
            let code = ffi::rcl_parse_arguments(0, none, allocator, &mut settings.arguments);
            check(code, "prepare", &entity)?;
            let (name, namespace) = (c_name_.as_ptr(), c_namespace.as_ptr());
            let pointer = context.handle.pointer();
            let code = ffi::rcl_node_init(&mut node, name, namespace, pointer, &settings);
            let result = check(code, "create", &entity);
            ffi::rcl_node_options_fini(&mut settings);
            result?;
            let logger = CStr::from_ptr(ffi::rcl_node_get_logger_name(&node)).into();
            let name = copied(ffi::rcl_node_get_fully_qualified_name(&node));
            let entity = Entity::plain(format!("node {name:?}"));
            let rcl = Owned::new(node, entity, context.handle.clone());
            // The table of logs keeps the address of the node, which is final only now.
            let is_logged = match options.rosout {
                true => logging::publish_log_of(rcl.pointer(), &rcl.entity),
                false => Ok(()),
            };
            drop(locks); // the end of a node takes them, too
            is_logged?;
            Ok(Self { rcl, name, logger })
        }
    }

    pub(super) fn pointer(&self) -> *mut ffi::rcl_node_t {
        self.rcl.pointer()
    }

    pub(super) fn logger_name(&self) -> *const c_char {
        self.logger.as_ptr()
    }

    /// The name of an entity of this node in errors.
    pub(super) fn entity(&self, kind: &str, name: &str, type_name: &str) -> Entity {
        Entity::of_node(kind, name, type_name, &self.name)
    }

    /// The name of the node itself in errors.
    pub(super) fn itself(&self) -> &Entity {
        &self.rcl.entity
    }
}
