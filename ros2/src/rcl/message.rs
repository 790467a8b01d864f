//! Rust types that are ROS messages and services, and the C structs that they are copied to.

use super::entity::Entity;
use super::error::RosError;
use super::native_check::{Contents, Flaw};
use super::{message_check, type_support};
use r2r::{WrappedServiceTypeSupport, WrappedTypesupport};
use r2r_rcl::{self as ffi, rosidl_message_type_support_t, rosidl_service_type_support_t};
use std::any::{Any, TypeId};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// A Rust type that is a ROS message.
///
/// Every message that `r2r` has generated is one. Implement it for a type of your own that goes
/// over the wire as one of those:
///
/// ```
/// use ringspin_ros2::rcl::RosMessage;
/// struct Metres(f64);
/// type Wire = r2r::std_msgs::msg::Float64;
/// // SAFETY: type support, C struct and both functions are those of `Wire`.
/// unsafe impl RosMessage for Metres {
///     type Native = <Wire as RosMessage>::Native;
///     fn type_support() -> &'static r2r_rcl::rosidl_message_type_support_t {
///         <Wire as RosMessage>::type_support()
///     }
///     fn create() -> *mut Self::Native {
///         <Wire as RosMessage>::create()
///     }
///     unsafe fn destroy(native: *mut Self::Native) {
///         // SAFETY: as the caller promises.
///         unsafe { <Wire as RosMessage>::destroy(native) }
///     }
///     fn to_native(&self, native: &mut Self::Native) {
///         native.data = self.0;
///     }
///     fn from_native(native: &Self::Native) -> Self {
///         Self(native.data)
///     }
/// }
/// assert_eq!(Metres::type_name(), "std_msgs/msg/Float64");
/// ```
///
/// # Safety
/// `Native` is the C struct that `type_support` describes; `create` returns an initialized one (or
/// null), which `destroy` frees; `to_native` leaves it initialized, even when it panics.
pub unsafe trait RosMessage: Sized + Send + Sync + 'static {
    /// The C struct.
    type Native;

    /// The name of the ROS type, such as `std_msgs/msg/String`.
    fn type_name() -> String {
        type_support::name_of(Self::type_support())
    }

    /// The description of the C struct for the middleware.
    fn type_support() -> &'static rosidl_message_type_support_t;

    /// A new C struct with the type's default values; null if there is no memory.
    fn create() -> *mut Self::Native;

    /// Frees a C struct.
    ///
    /// # Safety
    /// `native` comes from [`create`](Self::create), and is not used again.
    unsafe fn destroy(native: *mut Self::Native);

    /// Copies the message to a C struct, whatever that one holds.
    ///
    /// A message of `r2r` that does not fit its ROS type, with too many elements or a NUL character
    /// within a string, is not copied: the sender gets
    /// [`RosError::Message`](crate::rcl::RosError::Message).
    ///
    /// # Panics
    /// As an implementation likes; the callers in this crate turn it into the same error.
    fn to_native(&self, native: &mut Self::Native);

    /// The message that a C struct holds.
    fn from_native(native: &Self::Native) -> Self;
}

// SAFETY: r2r generates these functions together, for one and the same C struct.
unsafe impl<T: WrappedTypesupport + Send + Sync + 'static> RosMessage for T {
    type Native = T::CStruct;

    fn type_support() -> &'static rosidl_message_type_support_t {
        T::get_ts()
    }

    fn create() -> *mut Self::Native {
        T::create_msg()
    }

    unsafe fn destroy(native: *mut Self::Native) {
        T::destroy_msg(native);
    }

    fn to_native(&self, native: &mut Self::Native) {
        match message_check::misfit(self, T::get_ts()) {
            Some(reason) => message_check::report(reason),
            None => self.copy_to_native(native),
        }
    }

    fn from_native(native: &Self::Native) -> Self {
        <T as WrappedTypesupport>::from_native(native)
    }
}

/// A ROS service: a request, a response, and what ties them together.
///
/// Every service that `r2r` has generated is one.
///
/// # Safety
/// `type_support` is that of a service with these very messages.
pub unsafe trait RosService: 'static {
    /// The request.
    type Request: RosMessage;
    /// The response.
    type Response: RosMessage;

    /// The description of the service for the middleware.
    fn type_support() -> &'static rosidl_service_type_support_t;

    /// The name of the ROS type, such as `std_srvs/srv/SetBool`.
    fn type_name() -> String {
        let request = Self::Request::type_name();
        request.strip_suffix("_Request").unwrap_or(&request).into()
    }
}

// SAFETY: r2r generates type support and messages from one definition.
unsafe impl<S> RosService for S
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send + Sync + 'static,
    S::Response: Send + Sync + 'static,
{
    type Request = S::Request;
    type Response = S::Response;

    fn type_support() -> &'static rosidl_service_type_support_t {
        S::get_ts()
    }
}

/// The table of one message type: [`RosMessage`] for a type known only at run time.
#[derive(Clone, Copy)]
pub struct MessageType {
    pub(super) name: fn() -> String,
    pub(super) support: fn() -> &'static rosidl_message_type_support_t,
    pub(super) rust_type: fn() -> TypeId,
    pub(super) slot_type: fn() -> TypeId,
    pub(super) create: fn() -> *mut c_void,
    pub(super) destroy: unsafe fn(*mut c_void),
    pub(super) write: unsafe fn(&dyn Any, *mut c_void) -> bool,
    pub(super) read: unsafe fn(*const c_void, &mut dyn Any) -> bool,
}

impl MessageType {
    /// The name of the ROS type, such as `std_msgs/msg/String`.
    pub fn name(&self) -> String {
        (self.name)()
    }

    /// The Rust type.
    pub fn rust_type(&self) -> TypeId {
        (self.rust_type)()
    }

    pub(super) fn support(&self) -> &'static rosidl_message_type_support_t {
        (self.support)()
    }
}

impl std::fmt::Debug for MessageType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("MessageType").field(&self.name()).finish()
    }
}

/// The table of one service type: [`RosService`] for a type known only at run time.
#[derive(Debug)]
pub struct ServiceType {
    /// The request.
    pub request: &'static MessageType,
    /// The response.
    pub response: &'static MessageType,
    pub(super) name: fn() -> String,
    pub(super) support: fn() -> &'static rosidl_service_type_support_t,
}

impl ServiceType {
    /// The name of the ROS type, such as `std_srvs/srv/SetBool`.
    pub fn name(&self) -> String {
        (self.name)()
    }

    pub(super) fn support(&self) -> &'static rosidl_service_type_support_t {
        (self.support)()
    }
}

static LIVE: Mutex<usize> = Mutex::new(0);

/// How many C structs of messages this process holds. It does not grow while messages flow: each
/// publisher and subscription has one, a service and a client two, and uses it again.
pub fn live_messages() -> usize {
    *LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count_live(change: isize) {
    let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    *live = live.wrapping_add_signed(change);
}

/// A C struct of a message, which is used again and again.
pub(super) struct Native {
    pointer: NonNull<c_void>,
    table: &'static MessageType,
    contents: Contents,
}

// SAFETY: the C struct is memory of its own, and messages are `Send`.
unsafe impl Send for Native {}

impl Native {
    pub(super) fn new(table: &'static MessageType, entity: &Entity) -> Result<Self, RosError> {
        let pointer = NonNull::new((table.create)()).ok_or_else(|| {
            let code = ffi::RCL_RET_BAD_ALLOC as i32;
            super::error::failure(code, "create a message for", entity)
        })?;
        count_live(1);
        Ok(Self { pointer, table, contents: Contents::of(table.support()) })
    }

    /// An error if it holds what its type forbids, or what a Rust message cannot.
    fn check(&self, entity: &Entity) -> Result<(), RosError> {
        // SAFETY: the C struct is of this table, initialized, and borrowed.
        match unsafe { self.contents.flaw(self.pointer.as_ptr().cast()) } {
            None => Ok(()),
            Some(Flaw(reason)) => {
                Err(RosError::Message { entity: entity.text(), reason: reason.into() })
            }
        }
    }

    /// Copies `message` into it.
    pub(super) fn write(&mut self, message: &dyn Any, entity: &Entity) -> Result<(), RosError> {
        let pointer = self.pointer.as_ptr();
        message_check::take_report();
        // SAFETY: the C struct is of this table, initialized, and borrowed exclusively. Where the
        // copy panics it stays initialized, as `RosMessage` promises.
        let copy = || unsafe { (self.table.write)(message, pointer) };
        let written = catch_unwind(AssertUnwindSafe(copy));
        if let Some(reason) = message_check::take_report() {
            return Err(RosError::Message { entity: entity.text(), reason: reason.into() });
        }
        match written {
            Ok(true) => self.check(entity),
            Ok(false) => Err(RosError::OtherType { entity: entity.text() }),
            Err(panic) => Err(RosError::Message { entity: entity.text(), reason: reason(&*panic) }),
        }
    }

    /// Copies it out into `slot`, an `Option` of the message.
    pub(super) fn read(&self, slot: &mut dyn Any, entity: &Entity) -> Result<(), RosError> {
        self.check(entity)?;
        // SAFETY: the C struct is of this table, initialized, and borrowed.
        match unsafe { (self.table.read)(self.pointer.as_ptr(), slot) } {
            true => Ok(()),
            false => Err(RosError::OtherType { entity: entity.text() }),
        }
    }

    /// Where rcl reads or writes the message.
    pub(super) fn as_ptr(&self) -> *mut c_void {
        self.pointer.as_ptr()
    }

    /// An error unless `slot` is an `Option` of the message.
    pub(super) fn check_slot(&self, slot: &dyn Any, entity: &Entity) -> Result<(), RosError> {
        match slot.type_id() == (self.table.slot_type)() {
            true => Ok(()),
            false => Err(RosError::OtherType { entity: entity.text() }),
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: it comes from `create` of this table, and this is its only owner.
        unsafe { (self.table.destroy)(self.pointer.as_ptr()) };
        count_live(-1);
    }
}

/// The text of a panic.
fn reason(panic: &(dyn Any + Send)) -> Box<str> {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("the copy panicked").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        static CREATED: Cell<usize> = const { Cell::new(0) };
        static DESTROYED: Cell<usize> = const { Cell::new(0) };
    }

    /// A number that is not negative; its C structs are counted.
    #[derive(Debug, PartialEq)]
    struct Counted(f64);

    type Wire = r2r::std_msgs::msg::Float64;

    // SAFETY: type support, C struct and both functions are those of `Wire`.
    unsafe impl RosMessage for Counted {
        type Native = <Wire as RosMessage>::Native;
        fn type_support() -> &'static rosidl_message_type_support_t {
            <Wire as RosMessage>::type_support()
        }
        fn create() -> *mut Self::Native {
            CREATED.set(CREATED.get() + 1);
            <Wire as RosMessage>::create()
        }
        unsafe fn destroy(native: *mut Self::Native) {
            DESTROYED.set(DESTROYED.get() + 1);
            // SAFETY: as the caller promises.
            unsafe { <Wire as RosMessage>::destroy(native) }
        }
        fn to_native(&self, native: &mut Self::Native) {
            assert!(self.0 >= 0.0, "{} is negative", self.0);
            native.data = self.0;
        }
        fn from_native(native: &Self::Native) -> Self {
            Self(native.data)
        }
    }

    #[test]
    fn a_c_struct_is_used_again_and_freed_once() {
        let entity = Entity::plain("the test");
        let mut native = Native::new(MessageType::of::<Counted>(), &entity).unwrap();
        for number in [1.0, 2.0] {
            native.write(&Counted(number), &entity).unwrap();
            let mut slot = None::<Counted>;
            native.read(&mut slot, &entity).unwrap();
            assert_eq!(slot, Some(Counted(number)));
        }
        let error = native.write(&Counted(-1.0), &entity).unwrap_err().to_string();
        assert!(error.contains("the test") && error.contains("-1 is negative"), "{error}");
        assert!(matches!(native.write(&1.0_f64, &entity), Err(RosError::OtherType { .. })));
        assert!(matches!(native.read(&mut 1.0, &entity), Err(RosError::OtherType { .. })));
        native.write(&Counted(3.0), &entity).unwrap();
        assert_eq!((CREATED.get(), DESTROYED.get()), (1, 0));
        drop(native);
        assert_eq!((CREATED.get(), DESTROYED.get()), (1, 1));
    }
}
