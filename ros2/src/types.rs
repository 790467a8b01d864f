//! The registry of Rust types that are ROS types. A generic `create_publisher::<M>()`, which knows
//! only the identity of `M`, looks its table up.

mod primitives;

use crate::action::{self, ActionTypes, RosAction};
use crate::lifecycle;
use crate::rcl::{Mapping, MessageType, RosMessage, RosService, ServiceMapping, ServiceType};
use ringspin_messages::CdrType;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The tables of all types of the ROS that this program was built with: written by build.rs.
mod generated {
    use crate::action::ActionTypes;
    use crate::rcl::{MessageType, ServiceType};
    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}

/// The types that a program can send through ROS. Cheap to clone.
///
/// ```
/// use ringspin_ros2::Types;
/// use std::any::TypeId;
/// let types = Types::installed();
/// let table = types.message(TypeId::of::<r2r::std_msgs::msg::String>()).unwrap();
/// assert_eq!(table.name(), "std_msgs/msg/String");
/// // Numbers, `bool` and `String` go as the messages of `std_msgs` with one such field.
/// let table = types.message(TypeId::of::<u64>()).unwrap();
/// assert_eq!(table.name(), "std_msgs/msg/UInt64");
/// assert!(types.message(TypeId::of::<(u64, u64)>()).is_none());
/// ```
#[derive(Clone, Default)]
pub struct Types {
    messages: Arc<BTreeMap<TypeId, &'static MessageType>>,
    services: Arc<BTreeMap<(TypeId, TypeId), &'static ServiceType>>,
    serialized: Arc<BTreeMap<TypeId, &'static CdrType>>,
}

impl Types {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }

    /// Every message, service and [action](crate::action::FromRos) of the ROS that this program was
    /// built with, and what the actions consist of. Also Rust's numbers, `bool` and `String`, as
    /// messages of `std_msgs`, and the services of a
    /// [lifecycle](ringspin_executor::Node::lifecycle), as those of `lifecycle_msgs`.
    pub fn installed() -> Self {
        static INSTALLED: OnceLock<Types> = OnceLock::new();
        let make = || {
            let mut types = Types::none();
            let messages = generated::MESSAGES.iter().chain(primitives::MESSAGES);
            messages.for_each(|table| types.add_message(table));
            let services = generated::SERVICES.iter().chain(lifecycle::SERVICES);
            services.for_each(|table| types.add_service(table));
            generated::ACTIONS.iter().for_each(|tables| types.add_action(tables));
            types
        };
        INSTALLED.get_or_init(make).clone()
    }

    /// With `T`.
    #[must_use]
    pub fn with<T: RosMessage>(mut self) -> Self {
        self.add_message(MessageType::of::<T>());
        self
    }

    /// With a message type of a Rust struct, such as `ringspin_messages::sensor_msgs::msg::Imu`,
    /// which goes over the wire by its CDR bytes, without a C struct in between.
    ///
    /// The sourced ROS must have the type when a publisher or subscription of it is created, with
    /// the same type hash; this program need not have been built with it.
    ///
    /// ```
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Imu;
    /// # impl ringspin_messages::RosMessage for Imu {
    /// #     const TYPE_NAME: &'static str = "sensor_msgs/msg/Imu";
    /// #     const DEFINITION: &'static str = "";
    /// #     const TYPE_HASH: &'static str = "";
    /// # }
    /// use ringspin_ros2::Types;
    /// let types = Types::installed().with_message::<Imu>();
    /// ```
    #[must_use]
    pub fn with_message<M: ringspin_messages::RosMessage>(self) -> Self {
        self.with_table(CdrType::of::<M>())
    }

    /// With the message type of `table`; see [`with_message`](Self::with_message).
    #[must_use]
    pub fn with_table(mut self, table: &'static CdrType) -> Self {
        Arc::make_mut(&mut self.serialized).insert(table.rust_type(), table);
        self
    }

    /// With a Rust type that goes over the wire as some ROS type.
    #[must_use]
    pub fn with_mapping<M: Mapping>(mut self) -> Self {
        self.add_message(MessageType::mapped::<M>());
        self
    }

    /// With the service `S`, under the pair of its request and its response.
    #[must_use]
    pub fn with_service<S: RosService>(mut self) -> Self {
        self.add_service(ServiceType::of::<S>());
        self
    }

    /// With a pair of Rust types that go over the wire as the messages of some ROS service.
    #[must_use]
    pub fn with_service_mapping<M: ServiceMapping>(mut self) -> Self {
        self.add_service(ServiceType::mapped::<M>());
        self
    }

    /// With the action [`FromRos<F>`](crate::action::FromRos), which consists of services and
    /// topics.
    #[must_use]
    pub fn with_action<F: RosAction>(mut self) -> Self {
        self.add_action(ActionTypes::of::<F>());
        self
    }

    fn add_message(&mut self, table: &'static MessageType) {
        Arc::make_mut(&mut self.messages).insert(table.rust_type(), table);
    }

    fn add_service(&mut self, table: &'static ServiceType) {
        let types = (table.request.rust_type(), table.response.rust_type());
        Arc::make_mut(&mut self.services).insert(types, table);
    }

    fn add_action(&mut self, tables: &ActionTypes) {
        self.add_service(tables.send_goal);
        self.add_service(tables.get_result);
        self.add_message(tables.feedback);
        self.add_service(action::CANCEL_GOAL);
        self.add_message(action::STATUS);
    }

    /// The table of the message type `rust_type`; `None` if that is none. O(log n).
    pub fn message(&self, rust_type: TypeId) -> Option<&'static MessageType> {
        self.messages.get(&rust_type).copied()
    }

    /// The table of the message type `rust_type`, if it goes by its CDR bytes. O(log n).
    pub fn serialized(&self, rust_type: TypeId) -> Option<&'static CdrType> {
        self.serialized.get(&rust_type).copied()
    }

    /// The table of the service with these messages; `None` if there is none. O(log n).
    pub fn service(&self, request: TypeId, response: TypeId) -> Option<&'static ServiceType> {
        self.services.get(&(request, response)).copied()
    }
}

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let messages = self.messages.len() + self.serialized.len();
        let services = self.services.len();
        write!(f, "Types({messages} messages, {services} services)")
    }
}
