//! The owner of a struct of rcl: sets its callback, and frees it once.

use super::callback::{Callback, OnNew, Trampoline};
use super::entity::{Entity, c_name, copied};
use super::error::{check, failure, forget, is_ok};
use super::ffi;
use super::node::{Node, NodeHandle};
use super::qos::to_rmw;
use super::type_support::Resolved;
use super::{exit, lock};
use ringspin_executor::{Error, QoS};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::Arc;

/// A function of rcl that sets the callback of a `T`.
pub(super) type SetCallback<T> = unsafe extern "C" fn(*const T, Trampoline, *const c_void) -> i32;

/// A struct of rcl that has to be freed.
///
/// # Safety
/// The struct has no ties to a thread, and only its initialization and `free` change it.
/// `SET_CALLBACK` and `free` call the functions of rcl for this struct.
pub(super) unsafe trait RclStruct: Sized {
    /// The owner of the memory to which the struct points.
    type Parent: Clone + Send + Sync + 'static;
    /// `None` for a struct without callbacks.
    const SET_CALLBACK: Option<SetCallback<Self>> = None;

    /// Frees the struct.
    ///
    /// # Safety
    /// The struct was initialized with `parent`, and is not used again.
    unsafe fn free(this: *mut Self, parent: &Self::Parent);
}

/// An initialized struct of rcl, its name in errors, and its parent, which it keeps alive.
pub(super) struct Owned<T: RclStruct> {
    raw: Box<UnsafeCell<T>>,
    /// The number under which it is freed.
    number: u64,
    callback: Callback,
    pub(super) entity: Entity,
    pub(super) parent: T::Parent,
}

// SAFETY: the struct has no ties to a thread, as `RclStruct` demands, and its parent is `Send`.
unsafe impl<T: RclStruct> Send for Owned<T> {}
// SAFETY: only initialization and `drop` change the struct, as `RclStruct` demands. The functions
// of rcl that are called in between are thread-safe for a struct that does not change, as the
// headers of rcl say, except three kinds. Those that ask the graph or take an event hold the lock
// for entities. A take of messages needs a typed or raw subscription exclusively, and an endpoint
// has one. A take of requests or responses holds the lock of the message it writes to. A take uses
// the reader in the middleware, and sending uses the writer, so they can run at the same time. The
// exit of the process changes it as well, after all takes have stopped, and while nothing can take
// the lock for entities, send or set a callback.
unsafe impl<T: RclStruct> Sync for Owned<T> {}

impl<T: RclStruct> Owned<T> {
    /// # Safety
    /// `raw` was initialized with `parent`, and has no other owner. The caller has the lock for
    /// entities.
    pub(super) unsafe fn new(raw: T, entity: Entity, parent: T::Parent) -> Self {
        let raw = Box::new(UnsafeCell::new(raw));
        let (address, of) = (raw.get() as usize, parent.clone());
        // SAFETY: it is called once, with the lock for entities: by `drop`, or at the exit, after
        // which nothing takes that lock, and no thread sends.
        let free = move || unsafe { T::free(address as *mut T, &of) };
        Self { raw, number: exit::add(free), callback: Callback::default(), entity, parent }
    }

    /// The address of the struct, which is initialized.
    pub(super) fn pointer(&self) -> *mut T {
        self.raw.get()
    }

    /// Calls `notify` whenever an item arrives; replaces an earlier callback.
    pub(super) fn on_new(
        &self,
        notify: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        self.set_callback(Some(Box::new(notify)))
    }

    fn set_callback(&self, closure: Option<Box<OnNew>>) -> Result<(), Error> {
        let Some(set) = T::SET_CALLBACK else { return Ok(()) };
        self.callback.set(closure, |function, data| {
            // At the exit of the process this waits for its end.
            let _use = lock::one_use();
            // SAFETY: the struct is initialized; `data` belongs to `function` and lives until this
            // is called again, in `drop` at the latest.
            let code = unsafe { set(self.pointer(), function, data) };
            self.check(code, "set the callback of")
        })
    }

    /// `Ok` if `code` says so.
    pub(super) fn check(&self, code: i32, action: &'static str) -> Result<(), Error> {
        check(code, action, &self.entity)
    }

    /// Whether there was something: not if `code` is `none`.
    pub(super) fn check_some(
        &self,
        code: i32,
        none: u32,
        action: &'static str,
    ) -> Result<bool, Error> {
        if is_ok(code) {
            return Ok(true);
        }
        if code == none as i32 {
            forget();
            return Ok(false);
        }
        Err(failure(code, action, &self.entity))
    }
}

impl<T: RclStruct> Drop for Owned<T> {
    fn drop(&mut self) {
        // Without the lock for entities: a running callback may wait for another thread that makes
        // entities.
        let _ = self.set_callback(None);
        let _lock = lock::entities();
        if let Some(free) = exit::remove(self.number) {
            free();
        }
        forget();
    }
}

/// The node of an entity, and the name of the entity, as expanded and remapped.
#[derive(Clone)]
pub(super) struct InNode {
    pub(super) node: Arc<NodeHandle>,
    pub(super) name: String,
}

macro_rules! node_entities {
    ($(
        $raw:ident: $kind:literal of $kind_of_name:literal, $support:ident, $options:ident,
        $empty:ident, $defaults:ident, $init:ident, $name:ident, $fini:ident, $set_callback:expr;
    )*) => {$(
        // SAFETY: the struct has no ties to a thread, only `init` and `fini` change it, and the
        // functions are those of this struct.
        unsafe impl RclStruct for ffi::$raw {
            type Parent = InNode;
            const SET_CALLBACK: Option<SetCallback<Self>> = $set_callback;

            unsafe fn free(this: *mut Self, parent: &InNode) {
                // SAFETY: as the caller promises; the node is that of the initialization.
                unsafe { ffi::$fini(this, parent.node.pointer()) };
            }
        }

        impl Owned<ffi::$raw> {
            /// Creates the entity `name` of `node`, with default options that `adjust` has changed.
            pub(super) fn create(
                node: &Node,
                name: &str,
                resolved: &Resolved<'_, ffi::$support>,
                qos: &QoS,
                adjust: impl FnOnce(&mut ffi::$options),
            ) -> Result<Self, Error> {
                let node = node.handle.clone();
                let entity = node.entity($kind, name, resolved.name);
                let given = c_name($kind_of_name, name)?;
                let _lock = lock::entities();
                // SAFETY: the name and the options outlive the call, the type support is static,
                // the struct is empty as rcl wants it, and the handle keeps the node alive.
                unsafe {
                    let mut options = ffi::$defaults();
                    options.qos = to_rmw(qos);
                    adjust(&mut options);
                    let mut raw = ffi::$empty();
                    let pointer = node.pointer();
                    let given = given.as_ptr();
                    let code = ffi::$init(&mut raw, pointer, resolved.support, given, &options);
                    check(code, "create", &entity)?;
                    let name = copied(ffi::$name(&raw));
                    let entity = node.entity($kind, &name, resolved.name);
                    Ok(Self::new(raw, entity, InNode { node, name }))
                }
            }
        }
    )*};
}

node_entities! {
    rcl_publisher_t: "publisher" of "topic",
        rosidl_message_type_support_t, rcl_publisher_options_t,
        rcl_get_zero_initialized_publisher, rcl_publisher_get_default_options,
        rcl_publisher_init, rcl_publisher_get_topic_name, rcl_publisher_fini, None;
    rcl_subscription_t: "subscription" of "topic",
        rosidl_message_type_support_t, rcl_subscription_options_t,
        rcl_get_zero_initialized_subscription, rcl_subscription_get_default_options,
        rcl_subscription_init, rcl_subscription_get_topic_name, rcl_subscription_fini,
        Some(ffi::rcl_subscription_set_on_new_message_callback);
    rcl_client_t: "client" of "service",
        rosidl_service_type_support_t, rcl_client_options_t,
        rcl_get_zero_initialized_client, rcl_client_get_default_options,
        rcl_client_init, rcl_client_get_service_name, rcl_client_fini,
        Some(ffi::rcl_client_set_on_new_response_callback);
    rcl_service_t: "service" of "service",
        rosidl_service_type_support_t, rcl_service_options_t,
        rcl_get_zero_initialized_service, rcl_service_get_default_options,
        rcl_service_init, rcl_service_get_service_name, rcl_service_fini,
        Some(ffi::rcl_service_set_on_new_request_callback);
}
