//! Messages that violate the definition of their type are refused when they are published: in each
//! mode, without ROS 2.

use ringspin::action::{
    Action, ActionClientOptions, ActionServerOptions, CancelResponse, GoalCallbacks, GoalError,
    GoalHandle, GoalResponse,
};
use ringspin::message::ReturnedMessage;
use ringspin::messages::MessageChecks;
use ringspin::messages::geometry_msgs::msg::Twist;
use ringspin::messages::shape_msgs::msg::SolidPrimitive;
use ringspin::messages::std_msgs::msg::String as Text;
use ringspin::prelude::*;
use ringspin::{CallError, ErrorKind, PublishError, Reply};
use ringspin_test_msgs::test_msgs::msg::BoundedSequences;
use std::any::TypeId;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn executors() -> [Executor; 3] {
    ["single", "multi", "deterministic"].map(|mode| Executor::new(mode.parse().unwrap()))
}

fn solid(dimensions: &[f64]) -> SolidPrimitive {
    SolidPrimitive { dimensions: dimensions.to_vec(), ..Default::default() }
}

/// The message of a refusal, and its text.
#[track_caller]
fn refusal<M>(published: Result<(), PublishError<M>>) -> (ReturnedMessage<M>, String) {
    let error = published.expect_err("the message violates its definition");
    let text = error.to_string();
    match error {
        PublishError::Invalid { message, .. } => (message, text),
        other => panic!("{other}"),
    }
}

const TOO_LONG: &str = "failed to publish on /solids: failed to serialize \
    ringspin_messages::shape_msgs::msg::SolidPrimitive: dimensions: field `dimensions` of \
    shape_msgs/msg/SolidPrimitive has length 4, but its definition says at most 3";

#[test]
fn a_message_that_is_too_long_is_handed_back_and_reaches_no_subscription() {
    for mut executor in executors() {
        let talker = executor.create_node("talker", ()).unwrap();
        let solids = talker.create_publisher("solids", QoS::default()).unwrap();
        let publish = move |_: &mut (), _: &mut Context<'_>| {
            let (message, text) = refusal(solids.publish(solid(&[1.0, 2.0, 3.0, 4.0])));
            assert_eq!(text, TOO_LONG);
            assert_eq!(message.into_inner(), solid(&[1.0, 2.0, 3.0, 4.0]));
            let mut lent = solids.loan().unwrap();
            lent.dimensions = vec![9.0; 5];
            let (message, text) = refusal(lent.publish());
            assert!(text.contains("length 5"), "{text}");
            // It can be mended where it lies.
            let mut mended = solids.resume(message).unwrap();
            mended.dimensions.truncate(3);
            mended.publish().unwrap();
            solids.publish(solid(&[1.0])).unwrap();
        };
        talker.create_one_shot_timer(MS, publish).unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (listener, told) = (executor.create_node("listener", ()).unwrap(), heard.clone());
        let note = move |_: &mut (), solid: &Message<SolidPrimitive>, cx: &mut Context<'_>| {
            told.lock().unwrap().push(SolidPrimitive::clone(solid));
            if solid.dimensions.len() == 1 {
                cx.stop();
            }
        };
        listener.create_subscription("solids", QoS::default(), note).unwrap();
        executor.spin().unwrap();
        assert_eq!(*heard.lock().unwrap(), [solid(&[9.0; 3]), solid(&[1.0])]);
    }
}

#[test]
fn a_callback_that_returns_the_refusal_fails_with_it() {
    for mut executor in executors() {
        let talker = executor.create_node("talker", ()).unwrap();
        let solids = talker.create_publisher("solids", QoS::default()).unwrap();
        let publish = move |_: &mut (), _: &mut Context<'_>| solids.publish(solid(&[0.0; 4]));
        talker.create_one_shot_timer(MS, publish).unwrap();
        let error = executor.spin().unwrap_err().to_string();
        assert!(error.contains("/talker") && error.contains(TOO_LONG), "{error}");
    }
}

#[test]
fn publishers_with_other_policies_refuse_as_well() {
    let executor = Executor::single_core();
    let node = executor.create_node("talker", ()).unwrap();
    let latched = QoS::default().transient_local();
    let texts = node.create_publisher("texts", latched).unwrap().digested();
    let (message, error) = refusal(texts.publish(text("a\0b")));
    assert!(error.contains("std_msgs::msg::String: data: a string has a NUL"), "{error}");
    let error = ringspin::Error::from(texts.publish(message.into_inner()).unwrap_err());
    assert_eq!((error.kind(), error.topic()), (ErrorKind::InvalidArgument, Some("/texts")));
    texts.publish(text("ab")).unwrap();
}

#[test]
fn messages_of_other_packages_are_checked_once_the_graph_has_their_types() {
    let sequences = BoundedSequences { byte_values: vec![0; 4], ..Default::default() };
    let executor = Executor::single_core();
    let mut checks = MessageChecks::default();
    ringspin_test_msgs::visit_types(&mut checks);
    executor.graph().check_messages(move |message| checks.check_of(message));
    let node = executor.create_node("talker", ()).unwrap();
    let out = node.create_publisher("sequences", QoS::default()).unwrap();
    let (_, text) = refusal(out.publish(sequences));
    let expected = "field `byte_values` of test_msgs/msg/BoundedSequences has length 4, but its \
                    definition says at most 3";
    assert!(text.ends_with(expected), "{text}");
}

fn text(data: &str) -> Text {
    Text { data: data.into() }
}

#[test]
fn requests_and_responses_are_checked() {
    for mut executor in executors() {
        let server = executor.create_node("server", ()).unwrap();
        let answer = |_: &mut (), request: &Text, _: &mut Context<'_>| match &*request.data {
            "bad" => text("\0"),
            _ => request.clone(),
        };
        server.create_service("echo", QoS::services(), answer).unwrap();
        let node = executor.create_node("client", ()).unwrap();
        let client = node.create_client::<Text, Text>("echo", QoS::services()).unwrap();
        let call = move |_: &mut (), _: &mut Context<'_>| {
            let refused = client.call(text("\0"), |_, _, _| ()).unwrap_err();
            assert_eq!((refused.reason, refused.request), (CallError::Invalid, text("\0")));
            let invalid =
                |_: &mut (), reply: Result<Reply<Text>, CallError>, _: &mut Context<'_>| {
                    assert_eq!(reply.unwrap_err(), CallError::Invalid);
                };
            client.call(text("bad"), invalid).unwrap();
            client.call(text("good"), |_, reply, cx| {
                assert_eq!(*reply.unwrap(), text("good"));
                cx.stop();
            })
        };
        node.create_one_shot_timer(MS, call).unwrap();
        executor.spin().unwrap();
    }
}

struct Tell;

impl Action for Tell {
    type Goal = Text;
    type Result = Text;
    type Feedback = Text;
}

#[test]
fn goals_feedback_and_results_are_checked() {
    for mut executor in executors() {
        let server = executor.create_node("server", ()).unwrap();
        let accepted = |_: &mut (), goal: GoalHandle<Tell>, _: &mut Context<'_>| {
            let refused = goal.publish_feedback(text("\0")).unwrap_err();
            assert_eq!((refused.reason, refused.value), (GoalError::Invalid, text("\0")));
            let refused = goal.succeed(text("\0")).unwrap_err();
            assert_eq!((refused.reason, refused.value), (GoalError::Invalid, text("\0")));
            goal.succeed(text("good"))
        };
        let options = ActionServerOptions::default();
        let accept = |_: &mut (), _: &Text, _: &mut Context<'_>| GoalResponse::Accept;
        let cancel = |_: &mut (), _: &GoalHandle<Tell>, _: &mut Context<'_>| CancelResponse::Accept;
        server.create_action_server::<Tell, _>("tell", options, accept, cancel, accepted).unwrap();
        let node = executor.create_node("client", ()).unwrap();
        let options = ActionClientOptions::default();
        let client = node.create_action_client::<Tell>("tell", options).unwrap();
        let send = move |_: &mut (), _: &mut Context<'_>| {
            let refused = client.send_goal(text("\0"), GoalCallbacks::new()).unwrap_err();
            assert_eq!((refused.reason, &*refused.request), (CallError::Invalid, &text("\0")));
            let callbacks = GoalCallbacks::new().on_result(|_, outcome, cx| {
                assert_eq!(*outcome.unwrap().result, text("good"));
                cx.stop();
            });
            client.send_goal(text("good"), callbacks).unwrap();
        };
        node.create_one_shot_timer(MS, send).unwrap();
        executor.spin().unwrap();
    }
}

#[test]
fn a_type_without_strings_and_lengths_has_no_check() {
    let checks = MessageChecks::of_common_packages();
    assert!(checks.check_of(TypeId::of::<Twist>()).is_none());
    assert!(checks.check_of(TypeId::of::<SolidPrimitive>()).is_some());
}
