//! Nodes that fail while there are goals, and goals that cannot be sent: every client is answered.

use super::*;

#[test]
fn goals_of_a_node_that_fails_are_aborted_wherever_their_handles_are() {
    in_every_mode_isolating(|mut executor| {
        let outside: Arc<Mutex<Running>> = Arc::default();
        let kept = outside.clone();
        let node =
            at_once(executor.graph(), GoalResponse::Accept, vec![], move |inside, handle| {
                match **handle.goal() {
                    1 => inside.push(handle),
                    2 => kept.lock().unwrap().push((0, handle)),
                    _ => panic!("three is too many"),
                }
            });
        node.create_timer(MS, |_, _| ()).unwrap();
        let watch = sending(executor.graph(), &[1, 2, 3, 4]);
        executor.spin().unwrap();
        let seen = watch.of("goal");
        let aborted = seen.iter().filter(|seen| **seen == Ended(GoalStatus::Aborted, 0)).count();
        let is_lost = |seen: &&Seen| {
            let gone = [CallError::ServiceStopped, CallError::Unanswered];
            matches!(seen, Seen::Failed(e) | Refused(SendGoalError::Call(e)) if gone.contains(e))
        };
        let lost = seen.iter().filter(is_lost).count();
        // The requests for the results of three goals were answered, or came too late; the fourth
        // goal was never seen.
        assert_eq!(aborted + lost, 4, "{seen:?}");
        assert_eq!(seen.iter().filter(|seen| **seen == Accepted).count(), 3, "{seen:?}");
        let (_, handle) = outside.lock().unwrap().pop().unwrap();
        assert_eq!(handle.status(), GoalStatus::Aborted);
        assert_eq!(executor.failures().len(), 1);
    });
}

/// The goal is on its way, and its result awaited, when the server fails.
#[test]
fn awaiting_the_result_of_a_node_that_fails_gets_an_answer() {
    in_every_mode_isolating(|mut executor| {
        let outside: Arc<Mutex<Running>> = Arc::default();
        let (kept, seen) = (outside.clone(), outside.clone());
        let node = at_once(executor.graph(), GoalResponse::Accept, (), move |(), handle| {
            kept.lock().unwrap().push((0, handle));
        });
        let watch = sending(executor.graph(), &[FAR]);
        let responded = watch.clone();
        node.create_timer(MS, move |(), _| {
            let mut running = seen.lock().unwrap();
            if responded.of("goal").len() > 3 {
                drop(running);
                panic!("in the middle of it");
            }
            count(&mut running);
        })
        .unwrap();
        executor.spin().unwrap();
        let seen = watch.of("goal");
        assert_eq!(seen.last(), Some(&Ended(GoalStatus::Aborted, 0)), "{seen:?}");
        assert_eq!(outside.lock().unwrap()[0].1.status(), GoalStatus::Aborted);
    });
}

#[test]
fn a_server_that_fails_to_decide_does_not_leave_the_client_waiting() {
    in_every_mode_isolating(|mut executor| {
        let node = executor.create_node("server", ()).unwrap();
        node.create_action_server::<Count, _>(
            "count",
            ActionServerOptions::default(),
            |_, _, _| panic!("undecided"),
            |_, _, _| CancelResponse::Reject,
            |_, _, _| (),
        )
        .unwrap();
        let watch = sending(executor.graph(), &[1]);
        executor.spin().unwrap();
        assert_eq!(watch.of("goal"), [Refused(CallError::Unanswered.into())]);
    });
}

#[test]
fn refused_goals_are_returned() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let node = graph.create_node("client", ()).unwrap();
        let options = ActionClientOptions { goals_max: 2, ..Default::default() };
        let client = node.create_action_client::<Count>("count", options).unwrap();
        let unserved = node.create_action_client::<Count>("unserved", options).unwrap();
        let refused = |result: Result<GoalId, CallRefused<Arc<u32>>>| {
            result.map_err(|refused| (*refused.request, refused.reason)).unwrap_err()
        };
        let early = client.send_goal(3, GoalCallbacks::new());
        assert_eq!(refused(early), (3, CallError::NotFrozen));
        let watch = Watch::new(3);
        let seen = watch.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            assert!(!unserved.server_is_ready());
            let nowhere = unserved.send_goal(1, GoalCallbacks::new());
            assert_eq!(refused(nowhere), (1, CallError::NoService));
            client.send_goal(3, seen.callbacks("first")).unwrap();
            // When the first one is at its end, its place is free.
            let (again, after) = (client.clone(), seen.clone());
            let second = seen.callbacks("second").on_result(move |_, outcome, cx| {
                after.see("second", Ended(outcome.unwrap().status, 0), cx);
                again.send_goal(1, after.callbacks("third")).unwrap();
            });
            client.send_goal(2, second).unwrap();
            let third = client.send_goal(5, GoalCallbacks::new());
            assert_eq!(refused(third), (5, CallError::TooManyCalls));
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(watch.of("first"), counted_to(3));
        assert_eq!(watch.of("third"), counted_to(1));
    });
}
