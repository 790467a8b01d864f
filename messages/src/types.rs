//! The registry of Rust types that are ROS types. A generic `create_publisher::<M>()`, which knows
//! only the identity of `M`, looks its table up.

mod action;
mod lifecycle;
mod named;
mod primitives;

pub use named::NamedTypes;

use crate::{
    CdrService, CdrType, GeneratedMessage, RosAction, RosMessage, RosService, TypeVisitor,
    visit_types,
};
use action::ActionTypes;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The types that a program can send through ROS. Cheap to clone.
///
/// A type goes over the wire by its CDR bytes. The sourced ROS must have it, by the same
/// definition, when a publisher, subscription, service or client of it is created; this program
/// need not have been built with it.
///
/// ```
/// use ringspin_messages::std_msgs;
/// use ringspin_messages::Types;
/// use std::any::TypeId;
/// let types = Types::installed();
/// let table = types.message(TypeId::of::<std_msgs::msg::String>()).unwrap();
/// assert_eq!(table.name(), "std_msgs/msg/String");
/// // Numbers, `bool` and `String` go as the messages of `std_msgs` with one such field.
/// let table = types.message(TypeId::of::<u64>()).unwrap();
/// assert_eq!(table.name(), "std_msgs/msg/UInt64");
/// assert!(types.message(TypeId::of::<(u64, u64)>()).is_none());
/// ```
///
/// Packages that a build script has generated are added as a whole: it is a
/// [`TypeVisitor`].
///
/// ```
/// # mod my_msgs_crate {
/// #     pub fn visit_types(_: &mut impl ringspin_messages::TypeVisitor) {}
/// # }
/// let mut types = ringspin_messages::Types::installed();
/// my_msgs_crate::visit_types(&mut types);
/// ```
#[derive(Clone, Default)]
pub struct Types {
    messages: Arc<BTreeMap<TypeId, &'static CdrType>>,
    services: Arc<BTreeMap<(TypeId, TypeId), &'static CdrService>>,
}

impl TypeVisitor for Types {
    fn message<M: GeneratedMessage>(&mut self) {
        self.add_message(CdrType::of::<M>());
    }

    fn service<S: RosService>(&mut self) {
        self.add_service(CdrService::of::<S>());
    }

    fn action<A: RosAction>(&mut self) {
        self.add_action(ActionTypes::of::<A>());
    }
}

impl Types {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }

    /// Every message, service and action of the common packages, which are the modules of
    /// `ringspin_messages`, and the messages and services of the actions. Also Rust's numbers,
    /// `bool` and `String`, as messages of `std_msgs`, and the services of a
    /// [lifecycle](ringspin_executor::Node::lifecycle), as those of `lifecycle_msgs`.
    pub fn installed() -> Self {
        static INSTALLED: OnceLock<Types> = OnceLock::new();
        let make = || {
            let mut types = Types::none();
            visit_types(&mut types);
            primitives::MESSAGES.iter().for_each(|table| types.add_message(table));
            lifecycle::SERVICES.iter().for_each(|table| types.add_service(table));
            types
        };
        INSTALLED.get_or_init(make).clone()
    }

    /// With the message type of a Rust struct, such as one with `#[derive(RosMessage)]`.
    ///
    /// ```
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Reading;
    /// # impl ringspin_messages::RosMessage for Reading {
    /// #     const TYPE_NAME: &'static str = "my_msgs/msg/Reading";
    /// #     const DEFINITION: &'static str = "";
    /// #     const TYPE_HASH: &'static str = "";
    /// # }
    /// use ringspin_messages::Types;
    /// let types = Types::installed().with_message::<Reading>();
    /// ```
    #[must_use]
    pub fn with_message<M: RosMessage>(self) -> Self {
        self.with_table(CdrType::of::<M>())
    }

    /// With the message type of `table`, such as that of a
    /// [`CdrMapping`](crate::CdrMapping).
    #[must_use]
    pub fn with_table(mut self, table: &'static CdrType) -> Self {
        self.add_message(table);
        self
    }

    /// With the service `S`, under the pair of its request and its response.
    #[must_use]
    pub fn with_service<S: RosService>(self) -> Self {
        self.with_service_table(CdrService::of::<S>())
    }

    /// With the service of `table`, such as [`CdrService::mapped`].
    #[must_use]
    pub fn with_service_table(mut self, table: &'static CdrService) -> Self {
        self.add_service(table);
        self
    }

    /// With the action `A`, which consists of services and topics.
    #[must_use]
    pub fn with_action<A: RosAction>(mut self) -> Self {
        self.add_action(ActionTypes::of::<A>());
        self
    }

    fn add_message(&mut self, table: &'static CdrType) {
        Arc::make_mut(&mut self.messages).insert(table.rust_type(), table);
    }

    fn add_service(&mut self, table: &'static CdrService) {
        let types = (table.request().rust_type(), table.response().rust_type());
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
    pub fn message(&self, rust_type: TypeId) -> Option<&'static CdrType> {
        self.messages.get(&rust_type).copied()
    }

    /// The table of the service with these messages; `None` if there is none. O(log n).
    pub fn service(&self, request: TypeId, response: TypeId) -> Option<&'static CdrService> {
        self.services.get(&(request, response)).copied()
    }
}

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (messages, services) = (self.messages.len(), self.services.len());
        write!(f, "Types({messages} messages, {services} services)")
    }
}
