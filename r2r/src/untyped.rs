//! Messages of types that are known by name only, as JSON.

use crate::action_codec::{ActionCodec, UntypedTypes};
use crate::error::{Error, Result};
use crate::message::{WrappedServiceTypeSupport, WrappedTypesupport};
use ringspin_adapter::Carried;
use ringspin_messages::{
    CdrService, CdrType, GeneratedMessage, GeneratedService, RosAction, TypeVisitor,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use uuid::Uuid;

/// A message type by its table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Untyped {
    pub(crate) table: &'static CdrType,
    /// The message of the type that `Value` describes; missing fields have their defaults.
    pub(crate) from_json: fn(Value) -> Result<Carried>,
    pub(crate) from_bytes: fn(&[u8]) -> Result<Carried>,
    pub(crate) to_json: fn(&Carried) -> Result<Value>,
}

/// A service type by the tables of its messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UntypedService {
    pub(crate) table: &'static CdrService,
    pub(crate) request: Untyped,
    pub(crate) response: Untyped,
}

/// Every type that this program was built with, by name.
#[derive(Default)]
struct Types {
    messages: BTreeMap<&'static str, Untyped>,
    services: BTreeMap<&'static str, UntypedService>,
    actions: BTreeMap<&'static str, fn() -> UntypedAction>,
}

/// An action type by its functions.
pub(crate) type UntypedAction = ActionCodec<UntypedTypes>;

static TYPES: LazyLock<Types> = LazyLock::new(|| {
    let mut types = Types::default();
    ringspin_messages::visit_types(&mut types);
    crate::types::own::visit_types(&mut types);
    types
});

impl Untyped {
    fn of<M: WrappedTypesupport>() -> Self {
        Self {
            table: Carried::table::<M>(),
            from_json: from_json::<M>,
            from_bytes: |bytes| Ok(Carried::new(M::from_serialized_bytes(bytes)?)),
            to_json: to_json::<M>,
        }
    }

    /// # Errors
    /// [`Error::InvalidMessageType`].
    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = TYPES.messages.get(name).copied();
        found.ok_or_else(|| unknown(name, TYPES.messages.keys()))
    }
}

/// The type `name` as a topic carries its bytes: one that this program was built with, or, if it
/// `is_over_ros2`, one of the sourced ROS 2.
///
/// # Errors
/// [`Error::InvalidMessageType`].
#[cfg_attr(not(ros_is_sourced), allow(unused_variables))]
pub(crate) fn raw_table(name: &str, is_over_ros2: bool) -> Result<&'static CdrType> {
    match Untyped::named(name) {
        Ok(untyped) => Ok(untyped.table),
        #[cfg(ros_is_sourced)]
        Err(_) if is_over_ros2 => crate::installed_types::table(name),
        Err(error) => Err(error),
    }
}

impl UntypedService {
    /// # Errors
    /// [`Error::InvalidMessageType`].
    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = TYPES.services.get(name).copied();
        found.ok_or_else(|| unknown(name, TYPES.services.keys()))
    }
}

impl UntypedAction {
    fn of<A: RosAction>() -> Self {
        ActionCodec {
            send_goal: <A::SendGoal as WrappedServiceTypeSupport>::table(),
            get_result: <A::GetResult as WrappedServiceTypeSupport>::table(),
            feedback: Carried::table::<A::FeedbackMessage>(),
            goal_request: |id, goal| {
                Ok(Carried::checked(A::goal_request(id.into_bytes(), described(goal)?))?)
            },
            is_accepted: |response| Ok(A::is_accepted(&response.get()?)),
            result_request: |id| Carried::new(A::result_request(id.into_bytes())),
            read_result: |response| {
                let (status, result) = A::into_result(response.get()?);
                Ok((status, Ok(serde_json::to_value(result)?)))
            },
            read_feedback: |message| {
                let (id, feedback) = A::into_feedback(message.get()?);
                Ok((Uuid::from_bytes(id), Ok(serde_json::to_value(feedback)?)))
            },
        }
    }

    /// # Errors
    /// [`Error::InvalidMessageType`].
    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = TYPES.actions.get(name);
        found.map(|of| of()).ok_or_else(|| unknown(name, TYPES.actions.keys()))
    }
}

impl TypeVisitor for Types {
    fn message<M: GeneratedMessage>(&mut self) {
        self.messages.insert(M::TYPE_NAME, Untyped::of::<M>());
    }

    fn service<S: GeneratedService>(&mut self) {
        let (request, response) = (Untyped::of::<S::Request>(), Untyped::of::<S::Response>());
        let table = <S as WrappedServiceTypeSupport>::table();
        self.services.insert(S::TYPE_NAME, UntypedService { table, request, response });
    }

    fn action<A: RosAction>(&mut self) {
        self.actions.insert(<A as RosAction>::TYPE_NAME, UntypedAction::of::<A>);
    }
}

/// The error for a type that this program does not have.
fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a &'static str>) -> Error {
    let package = name.split('/').next().unwrap_or_default();
    let prefix = format!("{package}/");
    let near: Vec<_> = known.copied().filter(|known| known.starts_with(&prefix)).collect();
    let hint = match near.is_empty() {
        true => format!(
            "no package {package:?} was there when the program was built: source its workspace, or \
             name the folder of packages by RINGSPIN_MESSAGES"
        ),
        false => format!("the package has {}", near.join(", ")),
    };
    Error::InvalidMessageType { msgtype: format!("{name} ({hint})") }
}

fn from_json<M: WrappedTypesupport>(value: Value) -> Result<Carried> {
    Ok(Carried::checked(described::<M>(value)?)?)
}

/// The message that `value` describes; missing fields have their defaults.
fn described<M: WrappedTypesupport>(value: Value) -> Result<M> {
    let mut whole = serde_json::to_value(M::default())?;
    merge(&mut whole, value);
    Ok(serde_json::from_value(whole)?)
}

fn to_json<M: WrappedTypesupport>(message: &Carried) -> Result<Value> {
    Ok(serde_json::to_value(message.get::<M>()?)?)
}

/// Puts the fields of `value` into `whole`.
fn merge(whole: &mut Value, value: Value) {
    match (whole, value) {
        (Value::Object(whole), Value::Object(fields)) => {
            for (name, field) in fields {
                merge(whole.entry(name).or_insert(Value::Null), field);
            }
        }
        (whole, value) => *whole = value,
    }
}
