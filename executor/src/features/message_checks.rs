//! Checks of messages by the definitions of their types, so that a message which a middleware could
//! not send is refused in every mode. The graph does not know definitions: it asks functions for
//! the check of a type, once for each publisher.

use crate::delivery::topic::MessageCheck;
use crate::running::graph::{Graph, GraphBuilder};
use std::any::{Any, TypeId};
use std::fmt;

type CheckOf = Box<dyn Fn(TypeId) -> Option<MessageCheck> + Send>;

/// The sources of checks, in the order in which they are asked.
#[derive(Default)]
struct MessageChecks(Vec<CheckOf>);

/// Checks a part of a service or action, which is `name`: a violation is logged, because the error
/// of a call has no text.
pub(crate) fn is_valid(check: Option<MessageCheck>, part: &dyn Any, name: fmt::Arguments) -> bool {
    let checked = check.map_or(Ok(()), |check| check(part));
    checked.inspect_err(|error| tracing::error!("refused {name}: {error}")).is_ok()
}

impl GraphBuilder {
    /// The check of messages of type `M`: the first one that was registered, or that of the
    /// middleware.
    pub(crate) fn message_check<M: 'static>(&self) -> Option<MessageCheck> {
        let message = TypeId::of::<M>();
        let registered = self.look::<MessageChecks>().map_or(&[][..], |checks| &checks.0);
        registered
            .iter()
            .find_map(|check_of| check_of(message))
            .or_else(|| self.middleware()?.message_check(message))
    }
}

impl Graph {
    /// Checks the messages of publishers that are created later, if `check_of` returns a check for
    /// their type: a message that it refuses reaches no subscription, and is handed back by
    /// [`PublishError::Invalid`](crate::PublishError::Invalid). Requests, responses, goals,
    /// feedback and results are checked as well: they are refused by
    /// [`CallError::Invalid`](crate::CallError::Invalid) or
    /// [`GoalError::Invalid`](crate::GoalError::Invalid), and the log has the reason.
    ///
    /// Where several functions know a type, the earlier one applies. A function is called with the
    /// graph locked, and must not use it.
    ///
    /// ```
    /// use ringspin_executor::{Graph, MessageCheck, QoS};
    /// use std::any::TypeId;
    /// let graph = Graph::new();
    /// graph.check_messages(|message| {
    ///     let check: MessageCheck = |message| match message.downcast_ref::<String>() {
    ///         Some(text) if text.len() > 10 => Err("the text has more than 10 bytes".into()),
    ///         _ => Ok(()),
    ///     };
    ///     (message == TypeId::of::<String>()).then_some(check)
    /// });
    /// let node = graph.create_node("talker", ())?;
    /// let chatter = node.create_publisher("chatter", QoS::default())?;
    /// let refused = chatter.publish("a long story".to_owned()).unwrap_err();
    /// assert!(refused.to_string().ends_with("/chatter: the text has more than 10 bytes"));
    /// assert_eq!(refused.into_message().as_deref(), Some("a long story"));
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn check_messages(
        &self,
        check_of: impl Fn(TypeId) -> Option<MessageCheck> + Send + 'static,
    ) {
        self.builder().feature::<MessageChecks>().0.push(Box::new(check_of));
    }
}
