//! Services and clients: every call ends, in every mode, and in which order.

use crate::{Log, entries, failure_of, in_every_mode, in_every_mode_isolating, log, spawn_beside};
use ringspin_executor::{
    CallError, Context, ErrorKind, FailurePolicy, Graph, Message, QoS, Responder,
};
use ringspin_modes::Executor;
use ringspin_simulation::Job;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

type Answer = Result<i64, CallError>;

#[test]
fn several_clients_of_one_service_each_get_their_own_answers_in_order() {
    in_every_mode(|mut executor| {
        let server = executor.create_node("server", ()).unwrap();
        server.create_service("add", QoS::keep_all(30), |_, (a, b): &(i64, i64), _| a + b).unwrap();
        let done = log();
        let logs: Vec<Log<i64>> = (0..3).map(|_| log()).collect();
        for (n, answers) in (0i64..).zip(&logs) {
            let node = executor.create_node(&format!("client{n}"), answers.clone()).unwrap();
            let client = node.create_client::<(i64, i64), i64>("add", QoS::services()).unwrap();
            let (done, stop) = (done.clone(), executor.stop_handle());
            node.create_one_shot_timer(MS, move |_, _| {
                for call in 0..10 {
                    let (done, stop) = (done.clone(), stop.clone());
                    let sent = client.call((n * 100, call), move |answers, reply, _| {
                        answers.lock().unwrap().push(*reply.unwrap());
                        let mut done = done.lock().unwrap();
                        done.push(());
                        if done.len() == 3 * 10 {
                            stop.stop();
                        }
                    });
                    sent.unwrap();
                }
            })
            .unwrap();
        }
        executor.spin().unwrap();
        for (n, answers) in (0i64..).zip(&logs) {
            assert_eq!(entries(answers), (n * 100..n * 100 + 10).collect::<Vec<_>>());
        }
    });
}

/// A node that calls service `slow` with these numbers, one millisecond after the start, and stops
/// when all have their answers.
fn calling(
    executor: &Executor,
    numbers: &'static [i64],
    timeout: Option<Duration>,
) -> Log<(u64, Answer)> {
    let answers: Log<(u64, Answer)> = log();
    let node = executor.create_node("caller", answers.clone()).unwrap();
    let mut client = node.create_client::<i64, i64>("slow", QoS::services()).unwrap();
    if let Some(timeout) = timeout {
        client = client.with_timeout(timeout);
    }
    node.create_one_shot_timer(MS, move |_, _| {
        for &number in numbers {
            client.call(number, |answers, reply, cx| {
                let answer = (cx.event().sequence, reply.map(|reply| *reply));
                let mut answers = answers.lock().unwrap();
                answers.push(answer);
                if answers.len() == numbers.len() {
                    cx.stop();
                }
            })?;
        }
        Ok::<_, ringspin_executor::CallRefused<i64>>(())
    })
    .unwrap();
    answers
}

/// Keeps a request, to be answered later or never.
fn keep(
    kept: &mut Vec<(i64, Responder<i64>)>,
    number: &i64,
    responder: Responder<i64>,
    _: &mut Context<'_>,
) {
    kept.push((*number, responder));
}

#[test]
fn a_service_may_answer_later_and_in_another_order() {
    in_every_mode(|mut executor| {
        let answers = calling(&executor, &[1, 2, 3], None);
        let node = executor.create_node("server", Vec::<(i64, Responder<i64>)>::new()).unwrap();
        node.create_deferred_service("slow", QoS::services(), keep).unwrap();
        let (stop, seen) = (executor.stop_handle(), answers.clone());
        node.create_timer(5 * MS, move |kept, _| {
            if kept.len() == 3 {
                while let Some((number, responder)) = kept.pop() {
                    responder.respond(10 * number);
                }
            }
            if seen.lock().unwrap().len() == 3 {
                stop.stop();
            }
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&answers), [(2, Ok(30)), (1, Ok(20)), (0, Ok(10))]);
    });
}

#[test]
fn a_dropped_request_is_answered_by_an_error() {
    in_every_mode(|mut executor| {
        let answers = calling(&executor, &[7], None);
        let node = executor.create_node("server", ()).unwrap();
        node.create_deferred_service("slow", QoS::services(), |_, _: &i64, responder, _| {
            drop::<Responder<i64>>(responder);
        })
        .unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&answers), [(0, Err(CallError::Unanswered))]);
    });
}

#[test]
fn a_late_response_to_a_call_that_timed_out_is_ignored() {
    let run = || {
        let answers = log();
        let seen = answers.clone();
        let job = Job::new(move |graph| {
            let node = graph.create_node("server", Vec::new())?;
            node.create_deferred_service("slow", QoS::services(), keep)?;
            // The first response comes at 20 ms, when its call has timed out; the others at 40, 60.
            node.create_timer(20 * MS, |kept, _| {
                if !kept.is_empty() {
                    let (number, responder) = kept.remove(0);
                    responder.respond(number);
                }
            })?;
            let node = graph.create_node("caller", seen.clone())?;
            let client = node.create_client::<i64, i64>("slow", QoS::keep_all(3))?;
            for (at, timeout) in [(1, 10), (2, 50), (3, 500)] {
                let (client, seen) = (client.clone().with_timeout(timeout * MS), seen.clone());
                node.create_one_shot_timer(at * MS, move |_, _| {
                    let seen = seen.clone();
                    client.call(i64::from(at), move |_, reply, cx| {
                        let answer: Answer = reply.map(|reply| *reply);
                        seen.lock().unwrap().push((cx.now().as_nanos() / 1_000_000, answer));
                    })
                })?;
            }
            Ok(())
        });
        let report = job.run_for(Duration::from_secs(1)).run().unwrap();
        (entries(&answers), report.digest())
    };
    let (answers, digest) = run();
    assert_eq!(answers, [(11, Err(CallError::TimedOut)), (40, Ok(2)), (60, Ok(3))]);
    assert_eq!(run(), (answers, digest));
}

#[test]
fn calls_of_a_failed_server_end_with_an_error() {
    in_every_mode_isolating(|mut executor| {
        let answers = calling(&executor, &[1, 2, 3, 4], None);
        let node = executor.create_node("server", Vec::<Responder<i64>>::new()).unwrap();
        node.create_deferred_service(
            "slow",
            QoS::services(),
            |kept: &mut Vec<_>, &number: &i64, responder, _| {
                assert_ne!(number, 2, "two is too much");
                kept.push(responder);
            },
        )
        .unwrap();
        executor.spin().unwrap();
        let mut answers = entries(&answers);
        answers.sort_unstable_by_key(|(sequence, _)| *sequence);
        let [first, second, third, fourth] = answers[..] else { panic!("{answers:?}") };
        // The first was kept in the state, which went with the node.
        assert_eq!(first, (0, Err(CallError::Unanswered)));
        assert_eq!(second, (1, Err(CallError::Unanswered)));
        assert_eq!(third, (2, Err(CallError::ServiceStopped)));
        assert_eq!(fourth, (3, Err(CallError::ServiceStopped)));
    });
}

#[test]
fn a_refused_call_returns_its_request() {
    in_every_mode(|mut executor| {
        let outcomes = log();
        let node = executor.create_node("caller", ()).unwrap();
        let unserved = node.create_client::<i64, i64>("unserved", QoS::services()).unwrap();
        let busy = node.create_client::<i64, i64>("busy", QoS::keep_all(2)).unwrap();
        let small = node.create_client::<i64, i64>("small", QoS::services()).unwrap();
        let kept = executor.create_node("server", Vec::new()).unwrap();
        kept.create_deferred_service("busy", QoS::services(), keep).unwrap();
        kept.create_deferred_service("small", QoS::keep_all(1), keep).unwrap();
        let early = unserved.call(5, |_, _, _| ()).unwrap_err();
        assert_eq!((early.request, early.reason), (5, CallError::NotFrozen));
        let seen = outcomes.clone();
        node.create_one_shot_timer(MS, move |_, cx| {
            assert!(!unserved.service_is_ready() && busy.service_is_ready());
            let outcome = |result: Result<(), ringspin_executor::CallRefused<i64>>| {
                seen.lock()
                    .unwrap()
                    .push(result.map_err(|refused| (refused.request, refused.reason)));
            };
            outcome(unserved.call(1, |_, _, _| ()));
            for n in 0..3 {
                outcome(busy.call(n, |_, _, _| ()));
            }
            let wait = busy.call_and_wait(9, MS).unwrap_err();
            assert_eq!(wait, CallError::WouldBlock);
            assert!(wait.to_string().contains("call_async"), "it says what to do instead");
            // Nothing handles them before this callback returns, unless on another core.
            let refused = (0..10).find_map(|n| small.call(n, |_, _, _| ()).err());
            assert!(refused.is_none_or(|refused| refused.reason == CallError::ServiceFull));
            cx.stop();
        })
        .unwrap();
        executor.spin().unwrap();
        let expected =
            [Err((1, CallError::NoService)), Ok(()), Ok(()), Err((2, CallError::TooManyCalls))];
        assert_eq!(entries(&outcomes), expected);
    });
}

#[test]
fn another_thread_may_wait_for_a_response() {
    in_every_mode(|mut executor| {
        let server = executor.create_node("server", 0).unwrap();
        server
            .create_service("count", QoS::services(), |calls: &mut i64, by: &i64, _| {
                *calls += by;
                *calls
            })
            .unwrap();
        // Keeps the deterministic mode from ending before the thread has called.
        server.create_timer(MS, |_, _| ()).unwrap();
        let node = executor.create_node("caller", ()).unwrap();
        let client = node.create_client::<i64, i64>("count", QoS::services()).unwrap();
        executor.freeze().unwrap();
        let stop = executor.stop_handle();
        let thread = spawn_beside(&executor, move || {
            let answers =
                [1, 2, 3].map(|by| *client.call_and_wait(by, Duration::from_secs(60)).unwrap());
            stop.stop();
            answers
        });
        executor.spin().unwrap();
        assert_eq!(thread.join().unwrap(), [1, 3, 6]);
    });
}

#[test]
fn a_waiting_thread_learns_that_the_client_is_gone() {
    let mut executor = Executor::single_core();
    let server = executor.create_node("server", Vec::new()).unwrap();
    server.create_deferred_service("never", QoS::services(), keep).unwrap();
    let node = executor.create_node("caller", ()).unwrap();
    let client = node.create_client::<i64, i64>("never", QoS::services()).unwrap();
    node.create_timer(MS, |_, _| -> Result<(), String> { Err("broken".into()) }).unwrap();
    node.set_failure_policy(FailurePolicy::IsolateNode).unwrap();
    executor.freeze().unwrap();
    let stop = executor.stop_handle();
    let thread = spawn_beside(&executor, move || {
        let error = client.call_and_wait(1, Duration::from_secs(60)).unwrap_err();
        stop.stop();
        error
    });
    while !thread.is_finished() {
        executor.spin_for(5 * MS).unwrap();
    }
    let error = thread.join().unwrap();
    let ends = [CallError::ClientStopped, CallError::Unanswered];
    assert!(ends.contains(&error), "{error:?}");
}

#[test]
fn a_failing_service_callback_is_a_failure_with_its_names() {
    in_every_mode(|mut executor| {
        calling(&executor, &[1], None);
        let node = executor.create_node("server", ()).unwrap();
        node.create_deferred_service(
            "slow",
            QoS::services(),
            |_, _: &i64, _: Responder<i64>, _| Err::<(), _>("no idea"),
        )
        .unwrap();
        let failure = failure_of(&mut executor);
        assert_eq!((&*failure.node, &*failure.callback), ("/server", "service /slow"));
    });
}

#[test]
fn a_service_has_one_server_and_one_pair_of_types() {
    let graph = Graph::new();
    let (a, b) = (graph.create_node("a", ()).unwrap(), graph.create_node("b", ()).unwrap());
    a.create_service("same", QoS::services(), |_, n: &u8, _| *n).unwrap();
    let error = b.create_service("same", QoS::services(), |_, n: &u8, _| *n).unwrap_err();
    assert_eq!((error.kind(), error.topic()), (ErrorKind::AlreadyExists, Some("/same")));
    assert!(error.to_string().contains("in node /b: node /a offers it"), "{error}");
    let error = b.create_client::<u8, String>("same", QoS::services()).unwrap_err();
    assert!(error.to_string().contains("u8 -> u8") && error.to_string().contains("/b"), "{error}");
    let error = b.create_client::<u8, u8>("same", QoS::keep_all(0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let error = b.create_client::<u8, u8>("1st", QoS::services()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidName);
}

/// A service node also hears a topic: requests and messages keep the order in which they came.
#[test]
fn requests_are_ordered_with_messages() {
    let order = log();
    let seen = order.clone();
    let job = Job::new(move |graph| {
        let node = graph.create_node("server", seen.clone())?;
        node.create_service("ask", QoS::services(), |seen, n: &u32, _| {
            seen.lock().unwrap().push(("request", *n));
        })?;
        node.create_subscription("tell", QoS::default(), |seen, n: &Message<u32>, _| {
            seen.lock().unwrap().push(("message", **n));
        })?;
        let caller = graph.create_node("caller", ())?;
        let (ask, tell) = (
            caller.create_client::<u32, ()>("ask", QoS::services())?,
            caller.create_publisher::<u32>("tell", QoS::default())?,
        );
        caller.create_one_shot_timer(MS, move |_, _| {
            for n in 0..3 {
                tell.publish(n).unwrap();
                ask.call(n, |_, _, _| ()).unwrap();
            }
        })?;
        Ok(())
    });
    job.run().unwrap();
    let pair = |n| [("message", n), ("request", n)];
    assert_eq!(entries(&order), [pair(0), pair(1), pair(2)].concat());
}

/// The first of two calls that time out together panics; the node is restarted, and the second one
/// and later ones end all the same.
#[test]
fn a_failure_at_one_timeout_does_not_lose_the_others() {
    let ends: Log<(u64, CallError)> = log();
    let seen = ends.clone();
    let job = Job::new(move |graph| {
        let server = graph.create_node("server", Vec::new())?;
        server.create_deferred_service("slow", QoS::services(), keep)?;
        let node = graph.create_restartable_node("caller", 9, || ())?;
        let client = node.create_client::<i64, i64>("slow", QoS::services())?;
        let client = client.with_timeout(10 * MS);
        for at in [1, 1, 5] {
            let (client, seen) = (client.clone(), seen.clone());
            node.create_one_shot_timer(at * MS, move |_, _| {
                let seen = seen.clone();
                client.call(0, move |_, reply, cx: &mut Context<'_>| {
                    seen.lock()
                        .unwrap()
                        .push((cx.now().as_nanos() / 1_000_000, reply.unwrap_err()));
                    assert!(entries(&seen).len() > 1, "the first one fails");
                })
            })?;
        }
        Ok(())
    });
    let report = job.run_for(Duration::from_secs(1)).run().unwrap();
    assert_eq!(report.failures().len(), 1);
    assert_eq!(entries(&ends), [11, 11, 15].map(|ms| (ms, CallError::TimedOut)));
}

#[test]
fn calls_continue_after_the_last_handle_of_their_client_is_dropped() {
    in_every_mode(|mut executor| {
        let server = executor.create_node("server", Vec::<(i64, Responder<i64>)>::new()).unwrap();
        server.create_deferred_service("slow", QoS::services(), keep).unwrap();
        let (answers, dropped): (Log<Answer>, Log<()>) = (log(), log());
        let is_dropped = dropped.clone();
        server
            .create_timer(MS, move |kept, _| {
                if kept.len() == 3 && !entries(&is_dropped).is_empty() {
                    kept.drain(..).for_each(|(number, responder)| responder.respond(10 * number));
                }
            })
            .unwrap();
        let node = executor.create_node("caller", answers.clone()).unwrap();
        let client = node.create_client::<i64, i64>("slow", QoS::services()).unwrap();
        let (awaiting, mut client) = (node.clone(), Some(client));
        node.create_one_shot_timer(MS, move |_, _| {
            let client = client.take().unwrap();
            for n in [1, 2] {
                let sent = client.call(n, |answers, reply, _| {
                    answers.lock().unwrap().push(reply.map(|reply| *reply));
                });
                sent.unwrap();
            }
            let reply = client.call_async(3);
            let waiting = awaiting.spawn_with_state("await", |state| async move {
                let reply = reply.await.map(|reply| *reply);
                state.with(move |answers, _| answers.lock().unwrap().push(reply)).await;
            });
            waiting.unwrap();
            drop(client);
            dropped.lock().unwrap().push(());
        })
        .unwrap();
        let (graph, ended) = (executor.graph().clone(), answers.clone());
        node.create_timer(MS, move |_, cx| {
            // The client ends with its calls.
            if entries(&ended).len() == 3 && graph.info().services[0].clients.is_empty() {
                cx.stop();
            }
        })
        .unwrap();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        assert_eq!(entries(&answers), [Ok(10), Ok(20), Ok(30)]);
        assert!(executor.graph().info().services[0].clients.is_empty());
    });
}
