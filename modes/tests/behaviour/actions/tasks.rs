//! Goals that are sent and awaited in tasks.

use super::*;

#[test]
fn a_task_awaits_a_goal_its_feedback_and_its_end() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let (node, client) = client(graph);
        let seen: Log<Seen> = log();
        let log = seen.clone();
        node.spawn_with_state("goals", |state| async move {
            let see = |what| log.lock().unwrap().push(what);
            let rejected = client.send_goal_async(0).await.unwrap_err();
            see(Refused(rejected));
            let mut goal = client.send_goal_async(3).await?;
            let mut feedback = goal.feedback();
            while let Some(n) = feedback.next().await {
                assert_eq!(n.goal_id(), goal.goal_id());
                see(Seen::Feedback(*n));
            }
            let outcome = goal.result().await?;
            see(Ended(outcome.status, *outcome.result));
            assert_eq!(goal.result().await?.goal_id, goal.goal_id());
            assert_eq!(goal.overwritten_feedback(), 0);
            let mut far = client.send_goal_async(FAR).await?;
            assert!(far.feedback().next().await.is_some());
            let answer = far.cancel().await?;
            let info = GoalInfo { goal_id: far.goal_id(), stamp: far.stamp() };
            assert_eq!(answer.goals_canceling, [info]);
            see(Ended(far.result().await?.status, 0));
            let none = client.cancel_async(CancelGoalRequest::all()).await?;
            see(Seen::Cancel(none.return_code, none.goals_canceling.len()));
            state.with(|_, cx| cx.stop()).await;
            Ok::<(), SendGoalError>(())
        })
        .unwrap();
        executor.spin().unwrap();
        let expected = [
            Refused(SendGoalError::Rejected),
            Seen::Feedback(1),
            Seen::Feedback(2),
            Ended(GoalStatus::Succeeded, 3),
            Ended(GoalStatus::Canceled, 0),
            Seen::Cancel(CancelReturnCode::None, 0),
        ];
        assert_eq!(entries(&seen), expected);
    });
}

#[test]
fn awaiting_a_goal_of_a_node_that_fails_returns_an_error() {
    in_every_mode_isolating(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let (node, client) = client(graph);
        let waiting = graph.create_node("waiting", ()).unwrap();
        waiting.set_failure_policy(FailurePolicy::StopAll).unwrap();
        let seen: Log<CallError> = log();
        let ended = seen.clone();
        let fail = node.create_guard_condition("fail", |_, _| panic!("on purpose")).unwrap();
        waiting
            .spawn_with_state("wait", |state| async move {
                let mut goal = client.send_goal_async(FAR).await?;
                fail.trigger();
                while goal.feedback().next().await.is_some() {}
                let error = goal.result().await.unwrap_err();
                ended.lock().unwrap().push(error);
                let late = client.send_goal_async(FAR).await.unwrap_err();
                assert_eq!(late, SendGoalError::Call(CallError::ClientStopped));
                state.with(|_, cx| cx.stop()).await;
                Ok::<(), SendGoalError>(())
            })
            .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&seen), [CallError::ClientStopped]);
    });
}

#[test]
fn awaiting_a_refused_goal_returns_the_reason() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let node = graph.create_node("client", ()).unwrap();
        let options = ActionClientOptions { goals_max: 1, ..Default::default() };
        let client = node.create_action_client::<Count>("count", options).unwrap();
        let unserved = node.create_action_client::<Count>("unserved", options).unwrap();
        let early = client.send_goal_async(3);
        let seen: Log<SendGoalError> = log();
        let refused = seen.clone();
        node.spawn_with_state("goals", |state| async move {
            let accepted = client.send_goal_async(FAR);
            for goal in [early, unserved.send_goal_async(1), client.send_goal_async(5)] {
                let reason = goal.await.unwrap_err();
                refused.lock().unwrap().push(reason);
            }
            accepted.await?;
            state.with(|_, cx| cx.stop()).await;
            Ok::<(), SendGoalError>(())
        })
        .unwrap();
        executor.spin().unwrap();
        let reasons = [CallError::NotFrozen, CallError::NoService, CallError::TooManyCalls];
        assert_eq!(entries(&seen), reasons.map(SendGoalError::Call));
    });
}
