//! Which Rust types are ROS types: what a generic `create_publisher::<M>()`, which knows nothing of
//! `M` but its identity, asks.

use crate::action::{ActionType, RosAction};
use crate::rcl::{Mapping, MessageType, RosMessage, RosService, ServiceType};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The tables of all types of the ROS that this program was built with: written by build.rs.
mod generated {
    use crate::action::ActionType;
    use crate::rcl::{MessageType, ServiceType};
    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}

/// The names of all types that this program was built with, such as `std_msgs/msg/String`.
pub fn names() -> impl Iterator<Item = &'static str> {
    generated::NAMES.iter().copied()
}

/// The types that a program can send through ROS. Cheap to clone.
///
/// ```
/// use ringspin_ros2::Types;
/// use std::any::TypeId;
/// let types = Types::installed();
/// let table = types.message(TypeId::of::<r2r::std_msgs::msg::String>()).unwrap();
/// assert_eq!(table.name(), "std_msgs/msg/String");
/// assert!(types.message(TypeId::of::<String>()).is_none());
/// ```
#[derive(Clone, Default)]
pub struct Types {
    messages: Arc<BTreeMap<TypeId, &'static MessageType>>,
    services: Arc<BTreeMap<(TypeId, TypeId), &'static ServiceType>>,
    actions: Arc<BTreeMap<[TypeId; 3], &'static ActionType>>,
}

impl Types {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }

    /// Every message, service and action of the ROS that this program was built with, and what the
    /// actions consist of.
    pub fn installed() -> Self {
        static INSTALLED: OnceLock<Types> = OnceLock::new();
        let make = || {
            let messages = generated::MESSAGES.iter().map(|table| (table.rust_type(), *table));
            let services = generated::SERVICES.iter().map(|table| (key(table), *table));
            let actions = generated::ACTIONS.iter().map(|table| (action_key(table), *table));
            Types {
                messages: Arc::new(messages.collect()),
                services: Arc::new(services.collect()),
                actions: Arc::new(actions.collect()),
            }
        };
        INSTALLED.get_or_init(make).clone()
    }

    /// With `T`.
    #[must_use]
    pub fn with<T: RosMessage>(mut self) -> Self {
        Arc::make_mut(&mut self.messages).insert(TypeId::of::<T>(), MessageType::of::<T>());
        self
    }

    /// With a Rust type that goes over the wire as some ROS type.
    #[must_use]
    pub fn with_mapping<M: Mapping>(mut self) -> Self {
        let table = MessageType::mapped::<M>();
        Arc::make_mut(&mut self.messages).insert(table.rust_type(), table);
        self
    }

    /// With the service `S`, under the pair of its request and its response.
    #[must_use]
    pub fn with_service<S: RosService>(mut self) -> Self {
        let table = ServiceType::of::<S>();
        Arc::make_mut(&mut self.services).insert(key(table), table);
        self
    }

    /// With the action `A`, under its goal, result and feedback, and with what it consists of.
    #[must_use]
    pub fn with_action<A: RosAction>(self) -> Self {
        let table = ActionType::of::<A>();
        let mut types = self.with_service::<A::SendGoal>().with_service::<A::GetResult>();
        Arc::make_mut(&mut types.actions).insert(action_key(table), table);
        types.with::<A::FeedbackMessage>()
    }

    /// The table of the message type `rust_type`; `None` if that is none. O(log n).
    pub fn message(&self, rust_type: TypeId) -> Option<&'static MessageType> {
        self.messages.get(&rust_type).copied()
    }

    /// The table of the service with these messages; `None` if there is none. O(log n).
    pub fn service(&self, request: TypeId, response: TypeId) -> Option<&'static ServiceType> {
        self.services.get(&(request, response)).copied()
    }

    /// The table of the action with these messages; `None` if there is none. O(log n).
    pub fn action(
        &self,
        goal: TypeId,
        result: TypeId,
        feedback: TypeId,
    ) -> Option<&'static ActionType> {
        self.actions.get(&[goal, result, feedback]).copied()
    }
}

fn action_key(table: &ActionType) -> [TypeId; 3] {
    [table.goal, table.result, table.feedback].map(MessageType::rust_type)
}

fn key(table: &ServiceType) -> (TypeId, TypeId) {
    (table.request.rust_type(), table.response.rust_type())
}

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (messages, services) = (self.messages.len(), self.services.len());
        write!(f, "Types({messages} messages, {services} services, {} actions)", self.actions.len())
    }
}
