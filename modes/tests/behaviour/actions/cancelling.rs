//! Requests to cancel: accepted, rejected, too late, and by time.

use super::*;

#[test]
fn an_accepted_cancellation_is_completed_and_a_second_one_comes_too_late() {
    in_every_mode(|mut executor| {
        let graph = executor.graph();
        counting(graph, Default::default(), CancelResponse::Accept).unwrap();
        let (node, client) = client(graph);
        let watch = Watch::new(1);
        let seen = watch.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            let (again, cancels) = (client.clone(), seen.clone());
            let mut is_first = true;
            let callbacks = seen.callbacks("goal").on_feedback(move |_, n, _| {
                if std::mem::take(&mut is_first) {
                    let unknown = GoalId([7; 16]);
                    again
                        .cancel(CancelGoalRequest::goal(unknown), cancels.cancel("unknown"))
                        .unwrap();
                    again
                        .cancel(CancelGoalRequest::goal(n.goal_id()), cancels.cancel("first"))
                        .unwrap();
                    again
                        .cancel(CancelGoalRequest::goal(n.goal_id()), cancels.cancel("second"))
                        .unwrap();
                    again.cancel(CancelGoalRequest::all(), cancels.cancel("all")).unwrap();
                }
            });
            client.send_goal(FAR, callbacks).unwrap();
        })
        .unwrap();
        executor.spin().unwrap();
        let [Accepted, Ended(GoalStatus::Canceled, _)] = watch.of("goal")[..] else {
            panic!("{watch:?}", watch = watch.of("goal"));
        };
        use CancelReturnCode as Code;
        // The goal may end before the answers are there, which stops the executor: they are seen
        // in order, as far as they are seen.
        let seen: Vec<_> =
            entries(&watch.seen).into_iter().filter(|(of, _)| *of != "goal").collect();
        let all = [
            ("unknown", Seen::Cancel(Code::UnknownGoalId, 0)),
            ("first", Seen::Cancel(Code::None, 1)),
            ("second", Seen::Cancel(Code::GoalTerminated, 0)),
            ("all", Seen::Cancel(Code::None, 0)),
        ];
        assert!(seen.len() >= 2, "{seen:?}");
        assert_eq!(seen, all[..seen.len()]);
    });
}

#[test]
fn a_rejected_cancellation_leaves_the_goal_alone() {
    in_every_mode(|mut executor| {
        let state = (0, None::<GoalHandle<Count>>);
        let node = executor.create_node("server", state).unwrap();
        node.create_action_server::<Count, _>(
            "count",
            ActionServerOptions::default(),
            |_, _, _| GoalResponse::Accept,
            |(rejected, _), handle, _| {
                *rejected += 1;
                assert!(!handle.is_canceling());
                CancelResponse::Reject
            },
            |(_, goal), handle, _| *goal = Some(handle),
        )
        .unwrap();
        node.create_timer(MS, |(rejected, goal), _| {
            if let Some(handle) = goal.take_if(|_| *rejected == 2) {
                handle.succeed(*rejected).unwrap();
            }
        })
        .unwrap();
        let (node, client) = client(executor.graph());
        let watch = Watch::new(1);
        let seen = watch.clone();
        node.create_one_shot_timer(MS, move |_, _| {
            let id = client.send_goal(5, seen.callbacks("goal")).unwrap();
            client.cancel(CancelGoalRequest::goal(id), seen.cancel("cancel")).unwrap();
            client.cancel(CancelGoalRequest::all(), seen.cancel("cancel")).unwrap();
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(watch.of("goal"), [Accepted, Ended(GoalStatus::Succeeded, 2)]);
        let rejected = Seen::Cancel(CancelReturnCode::Rejected, 0);
        assert_eq!(watch.of("cancel"), [rejected.clone(), rejected]);
    });
}

#[test]
fn cancellation_by_time_takes_what_was_accepted_until_then() {
    // Goals are accepted at 1, 2, 3 and 4 ms, and the request comes at 10 ms.
    let canceled = |stamp_ms: u64, with_id: bool| {
        let watch = Watch::new(usize::MAX);
        let seen = watch.clone();
        let job = Job::new(move |graph| {
            counting(graph, Default::default(), CancelResponse::Accept)?;
            let (node, client) = client(graph);
            let last: Arc<Mutex<GoalId>> = Arc::default();
            for (ms, name) in (1u32..).zip(["1", "2", "3", "4"]) {
                let (client, seen, last) = (client.clone(), seen.clone(), last.clone());
                node.create_one_shot_timer(ms * MS, move |_, _| {
                    let callbacks = seen.callbacks(name).on_feedback(|_, _, _| ());
                    *last.lock().unwrap() = client.send_goal(FAR, callbacks).unwrap();
                })?;
            }
            let seen = seen.clone();
            node.create_one_shot_timer(10 * MS, move |_, _| {
                let stamp = Time::from_nanos(stamp_ms * 1_000_000);
                if with_id {
                    let goal_id = *last.lock().unwrap();
                    let request = CancelGoalRequest { goal_info: GoalInfo { goal_id, stamp } };
                    client.cancel(request, seen.cancel("cancel")).unwrap();
                } else {
                    client.cancel(CancelGoalRequest::before(stamp), seen.cancel("cancel")).unwrap();
                }
            })?;
            Ok(())
        });
        job.run_for(20 * MS).run().unwrap();
        let ended =
            |name: &&&str| matches!(watch.of(name).last(), Some(Ended(GoalStatus::Canceled, _)));
        let names: String = ["1", "2", "3", "4"].iter().filter(ended).copied().collect();
        let answer = Seen::Cancel(CancelReturnCode::None, names.len());
        assert_eq!(watch.of("cancel"), [answer]);
        names
    };
    assert_eq!(canceled(2, false), "12");
    assert_eq!(canceled(2, true), "124");
    assert_eq!(canceled(100, false), "1234");
    assert_eq!(canceled(0, false), "1234", "zero stands for all");
    assert_eq!(canceled(0, true), "4", "one goal");
}
