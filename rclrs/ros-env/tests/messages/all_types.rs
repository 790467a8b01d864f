//! Each type against its definition, and against its struct in `ringspin_messages`.

use super::model::{Encoder, definitions};
use ringspin_executor::DigestHasher;
use ringspin_message_generator::{Definitions, TypeName};
use ringspin_messages::cdr::{from_bytes, to_bytes};
use ringspin_messages::{GeneratedMessage, GeneratedService, RosAction, RosMessage, RosService};
use ringspin_rclrs_test_msgs::visit_types as visit_test_types;
use rosidl_runtime_rs::{Action, Message, RmwMessage, Service, TypeVisitor};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A type as `ringspin_messages` has it.
#[derive(Debug, PartialEq)]
struct Known {
    definition: &'static str,
    hash: &'static str,
    /// Its default; empty for services and actions.
    bytes: Vec<u8>,
}

impl Known {
    fn of<M: GeneratedMessage>() -> Self {
        let bytes = to_bytes(&M::default()).unwrap();
        Self { definition: M::DEFINITION, hash: M::TYPE_HASH, bytes }
    }

    fn marker(hash: &'static str) -> Self {
        Self { definition: "", hash, bytes: Vec::new() }
    }
}

#[derive(Default)]
struct KnownTypes(BTreeMap<&'static str, Known>);

impl ringspin_messages::TypeVisitor for KnownTypes {
    fn message<M: GeneratedMessage>(&mut self) {
        self.0.insert(M::TYPE_NAME, Known::of::<M>());
    }

    fn service<S: GeneratedService>(&mut self) {
        self.0.insert(S::TYPE_NAME, Known::marker(S::TYPE_HASH));
    }

    fn action<A: RosAction>(&mut self) {
        self.0.insert(A::TYPE_NAME, Known::marker(A::TYPE_HASH));
    }
}

/// Checks each type, and removes it from the known ones.
struct EachType<'a> {
    definitions: &'a Definitions,
    known: BTreeMap<&'static str, Known>,
    seed: u64,
}

impl EachType<'_> {
    /// Compares a message with its known struct, and removes that.
    fn compare<M: GeneratedMessage>(&mut self) {
        let known = self.known.remove(M::TYPE_NAME);
        assert_eq!(known, Some(Known::of::<M>()), "{}", M::TYPE_NAME);
        self.read::<M>();
    }

    /// The message in random data of either byte order, of which it has all bytes.
    fn read<M: GeneratedMessage>(&self) -> M {
        let name = TypeName::parse(M::TYPE_NAME).unwrap();
        let [little, big] = Encoder::encode(self.definitions, &name, self.seed);
        let [message, swapped] = [&little, &big].map(|bytes| from_bytes::<M>(bytes).unwrap());
        assert_eq!(to_bytes(&message).unwrap(), little, "{name}");
        assert_eq!(to_bytes(&swapped).unwrap(), little, "{name}");
        let json = serde_json::to_string(&message).unwrap();
        // JSON has no infinity, and its reader rounds the last bit of numbers.
        if !json.contains("null") {
            let message: M = serde_json::from_str(&json).unwrap();
            assert_eq!(to_bytes(&message).unwrap().len(), little.len(), "{json}");
        }
        message
    }
}

impl TypeVisitor for EachType<'_> {
    fn message<M: Message>(&mut self) {
        let name = <M as RosMessage>::TYPE_NAME;
        self.compare::<M>();
        assert_eq!(<M::RmwMsg as RmwMessage>::TYPE_NAME, name);
        assert_eq!(Known::of::<M::RmwMsg>(), Known::of::<M>(), "{name}");
        let (idiomatic, rmw) = (self.read::<M>(), self.read::<M::RmwMsg>());
        assert_eq!(DigestHasher::of(&idiomatic), DigestHasher::of(&rmw), "{name}");
        let bytes = to_bytes(&rmw).unwrap();
        let borrowed = M::into_rmw_message(Cow::Borrowed(&idiomatic));
        assert_eq!(to_bytes(&*borrowed).unwrap(), bytes, "{name}");
        let owned = M::into_rmw_message(Cow::Owned(idiomatic.clone()));
        assert_eq!(to_bytes(&*owned).unwrap(), bytes, "{name}");
        assert_eq!(to_bytes(&M::from_rmw_message(rmw)).unwrap(), bytes, "{name}");
    }

    fn service<S: Service>(&mut self) {
        let known = self.known.remove(S::Ros::TYPE_NAME);
        assert_eq!(known, Some(Known::marker(S::Ros::TYPE_HASH)));
        let name = S::Ros::TYPE_NAME;
        assert_eq!(<S::Request as RosMessage>::TYPE_NAME, format!("{name}_Request"));
        assert_eq!(<S::Response as RosMessage>::TYPE_NAME, format!("{name}_Response"));
        type Event<S> = <<S as Service>::Ros as RosService>::Event;
        assert_eq!(Event::<S>::TYPE_NAME, format!("{name}_Event"));
        let event = self.known.remove(Event::<S>::TYPE_NAME).unwrap();
        assert_eq!(event.definition, Event::<S>::DEFINITION);
        assert_eq!(event.hash, Event::<S>::TYPE_HASH);
        let event = TypeName::parse(Event::<S>::TYPE_NAME).unwrap();
        let [little, _] = Encoder::encode(self.definitions, &event, self.seed);
        let message: Event<S> = from_bytes(&little).unwrap();
        assert_eq!(to_bytes(&message).unwrap(), little);
    }

    fn action<A: Action>(&mut self) {
        let known = self.known.remove(A::Ros::TYPE_NAME);
        assert_eq!(known, Some(Known::marker(A::Ros::TYPE_HASH)));
        let (id, goal, result) = ([7; 16], self.read::<A::Goal>(), self.read::<A::Result>());
        let bytes = (to_bytes(&goal).unwrap(), to_bytes(&result).unwrap());
        let (sent, goal) = A::Ros::into_goal(A::Ros::goal_request(id, goal));
        let response = A::Ros::goal_response(true, (1, 2));
        assert!(A::Ros::is_accepted(&response));
        let requested = A::Ros::requested_result(&A::Ros::result_request(id));
        let (status, result) = A::Ros::into_result(A::Ros::result_response(4, result));
        assert_eq!((sent, requested, status), (id, id, 4));
        assert_eq!((to_bytes(&goal).unwrap(), to_bytes(&result).unwrap()), bytes);
        let feedback: A::Feedback = self.read();
        let bytes = to_bytes(&feedback).unwrap();
        let (sent, feedback) = A::Ros::into_feedback(A::Ros::feedback_message(id, feedback));
        assert_eq!((sent, to_bytes(&feedback).unwrap()), (id, bytes));
        assert_eq!(
            <<A::CancelGoalService as Service>::Ros as RosService>::TYPE_NAME,
            "action_msgs/srv/CancelGoal"
        );
    }
}

#[test]
fn all_types_are_those_of_ringspin_messages() {
    let definitions = &definitions();
    for seed in 0..8 {
        let mut known = KnownTypes::default();
        ringspin_messages::visit_types(&mut known);
        ringspin_test_msgs::visit_types(&mut known);
        assert!(known.0.len() > 330, "only {} types", known.0.len());
        let mut each = EachType { definitions, known: known.0, seed };
        ros_env::visit_types(&mut each);
        visit_test_types(&mut each);
        let missing: Vec<_> = each.known.keys().collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
