//! A thread that waits for changes of the graph: nodes and their entities that come or go.

use super::context::{Context, ContextHandle};
use super::entity::Entity;
use super::error::{check, forget};
use super::ffi;
use super::lock;
use super::node::{Node, NodeHandle};
use super::owned::{Owned, RclStruct};
use ringspin_executor::{Error, ErrorKind};
use ringspin_ringbuf::Flag;
use std::sync::Arc;
use std::thread::JoinHandle;

/// A guard condition of rcl. It may be used from any thread.
type GuardCondition = Owned<ffi::rcl_guard_condition_t>;

// SAFETY: the struct has no ties to a thread, only its initialization and
// `rcl_guard_condition_fini` change it, and both functions are those of a guard condition.
unsafe impl RclStruct for ffi::rcl_guard_condition_t {
    type Parent = Arc<ContextHandle>;

    unsafe fn free(this: *mut Self, _: &Self::Parent) {
        // SAFETY: as the caller promises.
        unsafe { ffi::rcl_guard_condition_fini(this) };
    }
}

fn guard_condition(context: &Context) -> Result<GuardCondition, Error> {
    let entity = Entity::plain("a guard condition");
    let _lock = lock::entities();
    // SAFETY: the guard condition is zero-initialized as rcl wants it, and the context is
    // initialized and kept alive by the handle.
    unsafe {
        let mut condition = ffi::rcl_get_zero_initialized_guard_condition();
        let options = ffi::rcl_guard_condition_get_default_options();
        let pointer = context.handle.pointer();
        let code = ffi::rcl_guard_condition_init(&mut condition, pointer, options);
        check(code, "create", &entity)?;
        Ok(Owned::new(condition, entity, context.handle.clone()))
    }
}

/// A wait set for two guard conditions: one for the end, one for changes of the graph.
struct WaitSet {
    set: ffi::rcl_wait_set_t,
    node: Arc<NodeHandle>,
    end: Arc<GuardCondition>,
}

// SAFETY: rcl's wait set is separate memory without ties to a thread.
unsafe impl Send for WaitSet {}

impl WaitSet {
    fn new(node: &Node, end: Arc<GuardCondition>) -> Result<Self, Error> {
        let node = node.handle.clone();
        let _lock = lock::entities();
        // SAFETY: the wait set is zero-initialized as rcl wants it, and the context is initialized
        // and kept alive by the guard condition.
        unsafe {
            let mut set = ffi::rcl_get_zero_initialized_wait_set();
            let (context, allocator) = (end.parent.pointer(), ffi::rcutils_get_default_allocator());
            let code = ffi::rcl_wait_set_init(&mut set, 0, 2, 0, 0, 0, 0, context, allocator);
            check(code, "prepare a wait set for", node.itself())?;
            Ok(Self { set, node, end })
        }
    }

    /// Waits for a change of the graph, or for the end.
    fn wait(&mut self) -> Result<(), Error> {
        let (set, none) = (&raw mut self.set, std::ptr::null_mut());
        // SAFETY: the wait set, the node and both guard conditions are initialized, and live until
        // the wait is over; no other thread uses the wait set.
        let code = unsafe {
            let graph = ffi::rcl_node_get_graph_guard_condition(self.node.pointer());
            let mut code = ffi::rcl_wait_set_clear(set);
            for condition in [graph, self.end.pointer().cast_const()] {
                if code == ffi::RCL_RET_OK as i32 {
                    code = ffi::rcl_wait_set_add_guard_condition(set, condition, none);
                }
            }
            if code == ffi::RCL_RET_OK as i32 { ffi::rcl_wait(set, -1) } else { code }
        };
        check(code, "wait for changes of the graph of", self.node.itself())
    }
}

impl Drop for WaitSet {
    fn drop(&mut self) {
        let _lock = lock::entities();
        // SAFETY: this is the only owner, and the context still lives.
        unsafe { ffi::rcl_wait_set_fini(&mut self.set) };
        forget();
    }
}

/// Calls a closure whenever the graph has changed, on a separate thread, until it is dropped.
pub(crate) struct GraphWatch {
    ends: Arc<(Flag, Arc<GuardCondition>)>,
    thread: Option<JoinHandle<()>>,
}

impl GraphWatch {
    /// Watches the graph from `node`.
    ///
    /// # Errors
    /// After a shutdown, and where no thread can be started.
    pub(crate) fn start(node: &Node, changed: impl Fn() + Send + 'static) -> Result<Self, Error> {
        let end = Arc::new(guard_condition(&node.context())?);
        let mut wait_set = WaitSet::new(node, end.clone())?;
        let ends = Arc::new((Flag::default(), end));
        let is_over = ends.clone();
        let watch = move || {
            while !is_over.0.is_raised() {
                if let Err(error) = wait_set.wait() {
                    tracing::error!(
                        %error,
                        "calls no longer learn that their server ended; give them timeouts"
                    );
                    return;
                }
                changed();
            }
        };
        let thread = std::thread::Builder::new().name("ringspin-graph".into()).spawn(watch);
        let thread = thread.map_err(|error| {
            let text = format!(
                "failed to start the thread that watches the graph: {error}; raise the limit of \
                 threads"
            );
            Error::new(ErrorKind::Io, text).caused_by(error)
        })?;
        Ok(Self { ends, thread: Some(thread) })
    }
}

impl Drop for GraphWatch {
    fn drop(&mut self) {
        self.ends.0.raise();
        // SAFETY: the guard condition is initialized, and may be triggered from any thread.
        unsafe { ffi::rcl_trigger_guard_condition(self.ends.1.pointer()) };
        forget();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that watches the graph panicked");
        }
    }
}
