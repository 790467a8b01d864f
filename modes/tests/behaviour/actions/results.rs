//! Status and feedback of a goal, and its result, which is kept for a time.

use super::*;

/// The status arrays of action `count`, without the stamps, as a node sees them that looks on.
fn statuses(graph: &Graph) -> Log<Vec<GoalStatus>> {
    let seen: Log<Vec<GoalStatus>> = log();
    let node = graph.create_node("onlooker", seen.clone()).unwrap();
    let qos = QoS::keep_last(100).transient_local();
    node.create_subscription("count/_action/status", qos, |seen, all: &Message<_>, _| {
        let GoalStatusArray { status_list } = &**all;
        seen.lock().unwrap().push(status_list.iter().map(|entry| entry.status).collect());
    })
    .unwrap();
    seen
}

#[test]
fn every_change_of_status_is_published() {
    let seen: Mutex<Log<Vec<GoalStatus>>> = Mutex::default();
    let job = Job::new(|graph| {
        let options = ActionServerOptions { results_max: 1, ..Default::default() };
        counting(graph, options, CancelResponse::Accept)?;
        *seen.lock().unwrap() = statuses(graph);
        let (node, client) = client(graph);
        node.create_one_shot_timer(MS / 2, move |_, _| {
            client.send_goal(2, GoalCallbacks::new()).unwrap();
            let id = client.send_goal(FAR, GoalCallbacks::new()).unwrap();
            client.cancel(CancelGoalRequest::goal(id), |_, _, _| ()).unwrap();
            client.send_goal(3, GoalCallbacks::new()).unwrap();
        })?;
        Ok(())
    });
    job.run_for(Duration::from_secs(1)).run().unwrap();
    use GoalStatus::{Canceled, Canceling, Executing, Succeeded};
    let expected = [
        vec![Executing],
        vec![Executing, Executing],
        vec![Executing, Canceling],
        vec![Executing, Canceling, Executing],
        vec![Executing, Canceled, Executing],
        // With the second result, the first one is forgotten: after it was published.
        vec![Succeeded, Canceled, Executing],
        vec![Succeeded, Succeeded],
    ];
    assert_eq!(entries(&seen.lock().unwrap()), expected);
}

/// Asks for the results of a goal at these times, in milliseconds; the goal ends at 10 ms.
fn asked_at(times: &'static [u32], options: ActionServerOptions) -> Vec<(u64, GoalStatus, u32)> {
    let seen = log();
    let log = seen.clone();
    let job = Job::new(move |graph| {
        counting(graph, options, CancelResponse::Accept)?;
        let (node, client) = client(graph);
        let id: Arc<Mutex<GoalId>> = Arc::default();
        let (sent, sender) = (id.clone(), client.clone());
        node.create_one_shot_timer(MS / 2, move |_, _| {
            *sent.lock().unwrap() = sender.send_goal(10, GoalCallbacks::new()).unwrap();
        })?;
        for &time in times {
            let (id, client, log) = (id.clone(), client.clone(), log.clone());
            node.create_one_shot_timer(time * MS, move |_, _| {
                let log = log.clone();
                let asked = client.get_result(*id.lock().unwrap(), move |_, outcome, cx| {
                    let (outcome, ms) = (outcome.unwrap(), cx.now().as_nanos() / 1_000_000);
                    log.lock().unwrap().push((ms, outcome.status, *outcome.result));
                });
                asked.unwrap();
            })?;
        }
        Ok(())
    });
    job.run_for(Duration::from_secs(60)).run().unwrap();
    entries(&seen)
}

#[test]
fn a_result_is_kept_for_its_time_and_then_the_goal_is_unknown() {
    use GoalStatus::{Succeeded, Unknown};
    let early_and_late = asked_at(&[5, 9, 11, 10_010, 10_011], Default::default());
    let expected = [
        (10, Succeeded, 10),
        (10, Succeeded, 10),
        (11, Succeeded, 10),
        (10_010, Succeeded, 10),
        (10_011, Unknown, 0),
    ];
    assert_eq!(early_and_late, expected);
    let at_once = ActionServerOptions { result_timeout: Duration::ZERO, ..Default::default() };
    assert_eq!(asked_at(&[9, 11], at_once), [(10, Succeeded, 10), (11, Unknown, 0)]);
    let for_ever = ActionServerOptions { result_timeout: Duration::MAX, ..Default::default() };
    assert_eq!(asked_at(&[50_000], for_ever), [(50_000, Succeeded, 10)]);
    let none = ActionServerOptions { results_max: 0, ..Default::default() };
    assert_eq!(asked_at(&[9, 11], none), [(10, Succeeded, 10), (11, Unknown, 0)]);
}

#[test]
fn a_result_that_does_not_come_in_time_is_given_up_and_ignored_later() {
    let watch = Watch::new(usize::MAX);
    let seen = watch.clone();
    let job = Job::new(move |graph| {
        counting(graph, Default::default(), CancelResponse::Accept)?;
        let (node, client) = client(graph);
        let client = client.with_timeout(MS).with_result_timeout(5 * MS);
        let seen = seen.clone();
        node.create_one_shot_timer(MS / 2, move |_, _| {
            client.send_goal(4, seen.callbacks("in time")).unwrap();
            client.send_goal(8, seen.callbacks("late")).unwrap();
        })?;
        Ok(())
    });
    job.run_for(100 * MS).run().unwrap();
    assert_eq!(watch.of("in time"), counted_to(4));
    let mut late = counted_to(8);
    late.truncate(1 + 5); // accepted, and feedback until 5.5 ms
    late.push(Seen::Failed(CallError::TimedOut));
    assert_eq!(watch.of("late"), late);
}

#[test]
fn feedback_that_is_never_read_displaces_none_of_other_clients() {
    let watch = Watch::new(usize::MAX);
    let seen = watch.clone();
    let job = Job::new(move |graph| {
        counting(graph, Default::default(), CancelResponse::Accept)?;
        let idle = graph.create_node("idle", ())?;
        let unread = client_of(&idle);
        idle.spawn("unread", async move {
            let mut goals = Vec::new();
            for n in 0..32 {
                goals.push(unread.send_goal_async(12).await?);
                if n % 8 == 7 {
                    goals[n].result().await?;
                }
            }
            std::future::pending::<Result<(), SendGoalError>>().await
        })?;
        let (node, client) = client(graph);
        let seen = seen.clone();
        node.create_one_shot_timer(100 * MS, move |_, _| {
            client.send_goal(40, seen.callbacks("read")).unwrap();
        })?;
        Ok(())
    });
    job.run_for(200 * MS).run().unwrap();
    assert_eq!(watch.of("read"), counted_to(40));
}

#[test]
fn a_slow_listener_loses_the_oldest_feedback_and_can_count_it() {
    let seen = log();
    let log = seen.clone();
    let job = Job::new(move |graph| {
        counting(graph, Default::default(), CancelResponse::Accept)?;
        let node = graph.create_node("client", ())?;
        let options = ActionClientOptions { feedback_depth: 3, ..Default::default() };
        let client = node.create_action_client::<Count>("count", options)?;
        let log = log.clone();
        node.spawn("goal", async move {
            let mut goal = client.send_goal_async(10).await?;
            goal.result().await?;
            let mut feedback = goal.feedback();
            while let Some(n) = feedback.next().await {
                log.lock().unwrap().push(*n);
            }
            log.lock().unwrap().push(100 + goal.overwritten_feedback() as u32);
            Ok::<(), SendGoalError>(())
        })?;
        Ok(())
    });
    job.run_for(100 * MS).run().unwrap();
    assert_eq!(entries(&seen), [7, 8, 9, 106]);
}
