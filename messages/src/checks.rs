//! The checks of message types, for a graph that knows a message only by its Rust type.

use crate::cdr::{self, CdrError};
use crate::{GeneratedMessage, RosMessage, TypeVisitor, visit_types};
use ringspin_executor::{BoxError, MessageCheck};
use serde::Serialize;
use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The checks of messages by their definitions, for
/// [`Graph::check_messages`](ringspin_executor::Graph::check_messages). An executor has those of
/// the common packages; those of other packages are added before the first publisher:
///
/// ```
/// # mod my_msgs_crate {
/// #     pub fn visit_types(_: &mut impl ringspin_messages::TypeVisitor) {}
/// # }
/// use ringspin_executor::Graph;
/// use ringspin_messages::MessageChecks;
/// let graph = Graph::new();
/// let mut checks = MessageChecks::default();
/// my_msgs_crate::visit_types(&mut checks);
/// graph.check_messages(move |message| checks.check_of(message));
/// ```
#[derive(Debug, Default)]
pub struct MessageChecks(BTreeMap<TypeId, (&'static str, MessageCheck)>);

impl TypeVisitor for MessageChecks {
    fn message<M: GeneratedMessage>(&mut self) {
        self.add::<M>();
    }
}

impl MessageChecks {
    /// The checks of the common packages, which are the modules of this crate.
    pub fn of_common_packages() -> &'static Self {
        static CHECKS: OnceLock<MessageChecks> = OnceLock::new();
        CHECKS.get_or_init(|| {
            let mut checks = Self::default();
            visit_types(&mut checks);
            checks
        })
    }

    /// With the check of a Rust struct, such as one with `#[derive(RosMessage)]`.
    #[must_use]
    pub fn with_message<M: RosMessage>(mut self) -> Self {
        self.add::<M>();
        self
    }

    fn add<M: RosMessage>(&mut self) {
        self.0.insert(TypeId::of::<M>(), (M::DEFINITION, check::<M>));
    }

    /// The check of messages of type `message`; `None` for an unknown type, and for one whose
    /// definition has neither strings nor limits, so that each value has a serialization. In a time
    /// for the length of the definition.
    pub fn check_of(&self, message: TypeId) -> Option<MessageCheck> {
        let (definition, check) = self.0.get(&message)?;
        has_limits(definition).then_some(*check)
    }
}

/// Checks a message of type `M`.
pub(crate) fn check<M: Serialize + 'static>(message: &dyn Any) -> Result<(), BoxError> {
    let message = message.downcast_ref::<M>().ok_or(CdrError::OtherType)?;
    Ok(cdr::check(message)?)
}

/// Whether a type in `definition` is a string, in which there may be a NUL, or an array with a
/// length or a bound.
pub(crate) fn has_limits(definition: &str) -> bool {
    definition.lines().any(|line| {
        let of_field = line.split_whitespace().next().unwrap_or_default();
        let (element, length) = of_field.split_once('[').unwrap_or((of_field, "]"));
        !of_field.starts_with('#')
            && (length != "]" || element.starts_with("string") || element.starts_with("wstring"))
    })
}
