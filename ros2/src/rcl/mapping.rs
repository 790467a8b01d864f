//! The tables of types: of ROS types, and of types of a program's own that go over the wire as one.

use super::message::{MessageType, RosMessage, RosService, ServiceType};
use std::any::{Any, TypeId};
use std::ffi::c_void;
use std::marker::PhantomData;

/// How a Rust type goes over the wire as a ROS type: for types that a program has without ROS, too.
///
/// Unlike [`RosMessage`] it is safe to implement, and for types of other crates, too.
///
/// ```
/// use ringspin_ros2::{Types, rcl::{Mapping, RosMessage}};
/// use r2r::std_msgs::msg::Float64;
/// struct Metres(f64);
/// enum AsFloat {}
/// impl Mapping for AsFloat {
///     type Rust = Metres;
///     type Wire = Float64;
///     fn to_wire(metres: &Metres, wire: &mut <Float64 as RosMessage>::Native) {
///         wire.data = metres.0;
///     }
///     fn from_wire(wire: &<Float64 as RosMessage>::Native) -> Metres {
///         Metres(wire.data)
///     }
/// }
/// let types = Types::installed().with_mapping::<AsFloat>();
/// ```
pub trait Mapping: 'static {
    /// The type in the program.
    type Rust: Send + Sync + 'static;
    /// The type on the wire.
    type Wire: RosMessage;

    /// Copies `message` to the C struct of the ROS type, whatever that holds.
    ///
    /// # Panics
    /// If the message does not fit; that becomes an error of the publisher.
    fn to_wire(message: &Self::Rust, wire: &mut <Self::Wire as RosMessage>::Native);

    /// The message in a C struct, which may come from any process.
    fn from_wire(wire: &<Self::Wire as RosMessage>::Native) -> Self::Rust;
}

/// How two Rust types go over the wire as the request and the response of a ROS service.
///
/// ```
/// use r2r::std_srvs::srv::SetBool;
/// use ringspin_ros2::{Types, rcl::{Mapping, RosMessage, ServiceMapping}};
/// struct Switch(bool);
/// struct Switched(bool);
/// enum AsSetBool {}
/// impl ServiceMapping for AsSetBool {
///     type Wire = SetBool::Service;
///     type Request = AsRequest;
///     type Response = AsResponse;
/// }
/// enum AsRequest {}
/// impl Mapping for AsRequest {
///     type Rust = Switch;
///     type Wire = SetBool::Request;
///     fn to_wire(switch: &Switch, wire: &mut <SetBool::Request as RosMessage>::Native) {
///         wire.data = switch.0;
///     }
///     fn from_wire(wire: &<SetBool::Request as RosMessage>::Native) -> Switch {
///         Switch(wire.data)
///     }
/// }
/// enum AsResponse {}
/// impl Mapping for AsResponse {
///     type Rust = Switched;
///     type Wire = SetBool::Response;
///     fn to_wire(switched: &Switched, wire: &mut <SetBool::Response as RosMessage>::Native) {
///         wire.success = switched.0;
///     }
///     fn from_wire(wire: &<SetBool::Response as RosMessage>::Native) -> Switched {
///         Switched(wire.success)
///     }
/// }
/// let types = Types::installed().with_service_mapping::<AsSetBool>();
/// ```
pub trait ServiceMapping: 'static {
    /// The type on the wire.
    type Wire: RosService;
    /// The request.
    type Request: Mapping<Wire = <Self::Wire as RosService>::Request>;
    /// The response.
    type Response: Mapping<Wire = <Self::Wire as RosService>::Response>;
}

/// A ROS message, or a ROS service, as itself.
struct Itself<T>(PhantomData<T>);

impl<T: RosMessage> Mapping for Itself<T> {
    type Rust = T;
    type Wire = T;

    fn to_wire(message: &T, wire: &mut T::Native) {
        message.to_native(wire);
    }

    fn from_wire(wire: &T::Native) -> T {
        T::from_native(wire)
    }
}

impl<S: RosService> ServiceMapping for Itself<S> {
    type Wire = S;
    type Request = Itself<S::Request>;
    type Response = Itself<S::Response>;
}

impl ServiceType {
    /// The table of `S`.
    pub const fn of<S: RosService>() -> &'static Self {
        Self::mapped::<Itself<S>>()
    }

    /// The table of two Rust types and the ROS service that they go as.
    pub const fn mapped<M: ServiceMapping>() -> &'static Self {
        const {
            &Self {
                request: MessageType::mapped::<M::Request>(),
                response: MessageType::mapped::<M::Response>(),
                name: <M::Wire as RosService>::type_name,
                support: <M::Wire as RosService>::type_support,
            }
        }
    }
}

impl MessageType {
    /// The table of `T`.
    pub const fn of<T: RosMessage>() -> &'static Self {
        Self::mapped::<Itself<T>>()
    }

    /// The table of a Rust type and the ROS type that it goes as.
    pub const fn mapped<M: Mapping>() -> &'static Self {
        const {
            &Self {
                name: <M::Wire as RosMessage>::type_name,
                support: <M::Wire as RosMessage>::type_support,
                rust_type: TypeId::of::<M::Rust>,
                slot_type: TypeId::of::<Option<M::Rust>>,
                create: create::<M::Wire>,
                destroy: destroy::<M::Wire>,
                write: write::<M>,
                read: read::<M>,
            }
        }
    }
}

fn create<T: RosMessage>() -> *mut c_void {
    T::create().cast()
}

unsafe fn destroy<T: RosMessage>(native: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe { T::destroy(native.cast()) }
}

/// Copies `message` to the C struct of `M::Wire` at `native`; false if it is of another type.
unsafe fn write<M: Mapping>(message: &dyn Any, native: *mut c_void) -> bool {
    let Some(message) = message.downcast_ref::<M::Rust>() else { return false };
    // SAFETY: the caller has a C struct of `M::Wire` there, to itself.
    M::to_wire(message, unsafe { &mut *native.cast() });
    true
}

/// Puts the message at `native` into `slot`; false if that is for another type.
unsafe fn read<M: Mapping>(native: *const c_void, slot: &mut dyn Any) -> bool {
    let Some(slot) = slot.downcast_mut::<Option<M::Rust>>() else { return false };
    // SAFETY: the caller has a C struct of `M::Wire` there, to itself.
    *slot = Some(M::from_wire(unsafe { &*native.cast() }));
    true
}
