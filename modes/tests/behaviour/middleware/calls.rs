//! Calls that leave the process, and requests that come from outside.

use super::fake_middleware::{FakeMiddleware, Fault, Private};
use super::{MS, connect, in_every_way, on_all_cores, spin_on, stop_when};
use crate::{Log, StopOnPanic, entries, log, spawn_beside};
use ringspin_executor::{
    CallError, Client, Context, Node, QoS, RemoteClient, RemoteNode, RemoteNotifier, RemoteServer,
    Responder, ServiceTypes, TypeName,
};
use ringspin_modes::Executor;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

type Answer = Result<u64, CallError>;

fn numbers() -> ServiceTypes {
    ServiceTypes { request: TypeName::of::<u64>(), response: TypeName::of::<u64>() }
}

/// Offers `service` outside.
fn server(fake: &FakeMiddleware, service: &str) -> Box<dyn RemoteServer> {
    let qos = QoS::keep_all(1000);
    let server = fake.outside().serve(service, numbers(), qos, RemoteNotifier::default());
    server.unwrap().unwrap()
}

/// Calls `service` from outside.
fn caller(fake: &FakeMiddleware, service: &str) -> Arc<dyn RemoteClient> {
    let client =
        fake.outside().call(service, numbers(), QoS::services(), RemoteNotifier::default());
    client.unwrap().unwrap()
}

/// Answers all requests so far with the double; returns them.
fn answer_all(server: &mut dyn RemoteServer) -> Vec<u64> {
    let mut requests = Vec::new();
    let mut request: Option<u64> = None;
    while let Some(responder) = server.take(&mut request).unwrap() {
        let number = request.take().unwrap();
        responder.respond(&(2 * number)).unwrap();
        requests.push(number);
    }
    requests
}

/// The responses so far, and the numbers of their calls.
fn answers(client: &dyn RemoteClient) -> Vec<(i64, u64)> {
    let mut response: Option<u64> = None;
    std::iter::from_fn(|| {
        let number = client.take(&mut response).unwrap()?;
        Some((number, response.take().unwrap()))
    })
    .collect()
}

/// The numbers of all calls with a response so far.
fn all_answers(client: &dyn RemoteClient) -> Vec<i64> {
    let (mut response, mut numbers, mut empty) = (None::<u64>, Vec::new(), 0);
    while empty < 10_000 {
        match client.take(&mut response).unwrap() {
            Some(number) => numbers.push(number),
            None => empty += 1,
        }
    }
    numbers
}

/// A node that calls `service`, and the outcomes of its calls.
type Caller = (Node<Log<Answer>>, Client<Log<Answer>, u64, u64>, Log<Answer>);

fn calling(executor: &Executor, depth: usize) -> Caller {
    let ends = log();
    let node = executor.create_node("caller", ends.clone()).unwrap();
    let client = node.create_client::<u64, u64>("double", QoS::keep_last(depth)).unwrap();
    (node, client, ends)
}

/// Calls with `number`; its end goes to the log.
fn call(client: &Client<Log<Answer>, u64, u64>, number: u64) -> Result<(), CallError> {
    let called = client.call(number, |ends, reply, _| {
        ends.lock().unwrap().push(reply.map(|reply| *reply));
    });
    called.map_err(|refused| {
        assert_eq!(refused.request, number, "the request is handed back");
        refused.reason
    })
}

#[test]
fn two_processes_serve_each_other() {
    on_all_cores(|mut executor, fake| {
        let build =
            |executor: &Executor, fake: &FakeMiddleware, own: &str, other: &str, by: u64| {
                connect(executor, fake.another());
                let node = executor.create_node(own, ()).unwrap();
                node.create_service(own, QoS::services(), move |_, n: &u64, _| by * n).unwrap();
                node.create_client::<u64, u64>(other, QoS::services()).unwrap()
            };
        let triple = build(&executor, &fake, "double", "triple", 2);
        let mut peer = Executor::single_core();
        let double = build(&peer, &fake, "triple", "double", 3);
        executor.freeze().unwrap();
        peer.freeze().unwrap();
        let stops = [executor.stop_handle(), peer.stop_handle()];
        let stop_peer = StopOnPanic(peer.stop_handle());
        let calling = spawn_beside(&executor, move || {
            let _stop_peer = stop_peer;
            assert!(double.service_is_ready() && triple.service_is_ready());
            let forever = Duration::from_secs(60);
            let all: Vec<u64> = (0..50)
                .map(|n| {
                    let doubled = *double.call_and_wait(n, forever).unwrap();
                    *triple.call_and_wait(doubled, forever).unwrap()
                })
                .collect();
            stops.iter().for_each(|stop| stop.stop());
            all
        });
        let peer = thread::spawn(move || peer.spin().unwrap());
        executor.spin().unwrap();
        peer.join().unwrap();
        assert_eq!(calling.join().unwrap(), (0..50).map(|n| 6 * n).collect::<Vec<_>>());
    });
}

/// Every client is announced the responses to all of them, and its takes drop those to others.
#[test]
fn clients_of_one_service_get_all_of_their_own_responses() {
    for others in [1, 4, 19] {
        in_every_way(|mut executor, fake| {
            connect(&executor, fake.another());
            let (node, first, ends) = calling(&executor, 3);
            let second = node.create_client::<u64, u64>("double", QoS::keep_last(3)).unwrap();
            let others = [(); 19].map(|()| caller(&fake, "/double")).into_iter().take(others);
            let others: Vec<_> = others.collect();
            let mut outside = server(&fake, "/double");
            executor.freeze().unwrap();
            for round in 0..10 {
                for (n, client) in (0..).zip([&first, &second, &first, &second]) {
                    for other in &others {
                        other.send(&(1_000 + n)).unwrap();
                    }
                    call(client, 10 * round + n).unwrap();
                }
                fake.flush();
                assert_eq!(answer_all(&mut *outside).len(), 4 * (others.len() + 1));
                spin_on(&mut executor, &fake);
                assert_eq!(ends.lock().unwrap().len() as u64, 4 * (round + 1), "all are answered");
            }
            let mut expected: Vec<_> =
                (0..10).flat_map(|r| (0..4).map(move |n| 10 * r + n)).collect();
            let mut ended: Vec<u64> = entries(&ends).into_iter().map(Result::unwrap).collect();
            expected.iter_mut().for_each(|n| *n *= 2);
            ended.sort_unstable();
            assert_eq!(ended, expected);
            for other in &others {
                let numbers: Vec<i64> = all_answers(&**other);
                assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
            }
        });
    }
}

#[test]
fn calls_continue_after_the_last_handle_of_their_client_is_dropped() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let (_node, client, ends) = calling(&executor, 3);
        let mut outside = server(&fake, "/double");
        executor.freeze().unwrap();
        (0..3).for_each(|n| call(&client, n).unwrap());
        drop(client);
        spin_on(&mut executor, &fake);
        assert_eq!(answer_all(&mut *outside), [0, 1, 2]);
        spin_on(&mut executor, &fake);
        let mut ended: Vec<u64> = entries(&ends).into_iter().map(Result::unwrap).collect();
        ended.sort_unstable();
        assert_eq!(ended, [0, 2, 4]);
    });
}

#[test]
fn a_server_in_the_process_is_preferred() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let (_node, client, ends) = calling(&executor, 10);
        let node = executor.create_node("server", ()).unwrap();
        node.create_service("double", QoS::services(), |_, n: &u64, _| 2 * n + 1).unwrap();
        let mut outside = server(&fake, "/double");
        assert_eq!(call(&client, 0), Err(CallError::NotFrozen));
        executor.freeze().unwrap();
        (1..4).for_each(|n| call(&client, n).unwrap());
        // Requests from outside are served, too.
        let asking = caller(&fake, "/double");
        assert_eq!(asking.send(&4u64).unwrap().number, 1);
        spin_on(&mut executor, &fake);
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&ends), [Ok(3), Ok(5), Ok(7)]);
        assert!(answer_all(&mut *outside).is_empty());
    });
}

#[test]
fn requests_from_outside_wait_their_turn_and_are_answered_from_any_thread() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let node = executor.create_node("server", Vec::new()).unwrap();
        let keep = |kept: &mut Vec<_>, n: &u64, responder: Responder<u64>, _: &mut Context<'_>| {
            // Every third request is let go without an answer.
            if !n.is_multiple_of(3) {
                kept.push(thread::spawn({
                    let n = *n;
                    move || responder.respond(2 * n)
                }));
            }
        };
        node.create_deferred_service("double", QoS::keep_all(1), keep).unwrap();
        let asking = caller(&fake, "/double");
        executor.freeze().unwrap();
        assert!(asking.is_available());
        let numbers: Vec<i64> = (0..30u64).map(|n| asking.send(&n).unwrap().number).collect();
        spin_on(&mut executor, &fake);
        drop(executor);
        let mut got = Vec::new();
        while got.len() < 20 {
            fake.flush();
            got.extend(answers(&*asking));
            thread::yield_now();
        }
        got.sort_unstable();
        let answered = (0..30u64).filter(|n| !n.is_multiple_of(3));
        let expected = answered.map(|n| (numbers[n as usize], 2 * n)).collect::<Vec<_>>();
        assert_eq!(got, expected);
    });
}

#[test]
fn calls_without_a_service_in_the_process_leave_it() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let (_node, client, ends) = calling(&executor, 3);
        assert!(!client.service_is_ready());
        assert_eq!(call(&client, 0), Err(CallError::NotFrozen));
        executor.freeze().unwrap();
        assert_eq!(call(&client, 0), Err(CallError::NoService));
        let mut outside = server(&fake, "/double");
        assert!(client.service_is_ready());
        fake.fail(Fault::Send, 1);
        assert_eq!(call(&client, 0), Err(CallError::Unsent));
        for round in 0..3 {
            (1..4).for_each(|n| call(&client, 10 * round + n).unwrap());
            assert_eq!(call(&client, 0), Err(CallError::TooManyCalls));
            fake.flush();
            // Another thread calls.
            let answered =
                thread::scope(|scope| scope.spawn(|| answer_all(&mut *outside)).join().unwrap());
            assert_eq!(answered, [1, 2, 3].map(|n| 10 * round + n));
            spin_on(&mut executor, &fake);
        }
        let numbers = (0..3).flat_map(|round| (1..4).map(move |n| 10 * round + n));
        assert_eq!(entries(&ends), numbers.map(|n| Ok(2 * n)).collect::<Vec<_>>());
    });
}

#[test]
fn timeout_frees_the_slot_and_a_late_response_is_ignored() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let (_node, client, ends) = calling(&executor, 2);
        let client = client.with_timeout(MS);
        let patient = client.clone().with_timeout(Duration::from_secs(600));
        let seen = ends.clone();
        stop_when(&executor, move || seen.lock().unwrap().len() == 2);
        let mut outside = server(&fake, "/double");
        executor.freeze().unwrap();
        (1..3).for_each(|n| call(&client, n).unwrap());
        assert_eq!(call(&client, 3), Err(CallError::TooManyCalls));
        executor.spin().unwrap();
        assert_eq!(entries(&ends), [Err(CallError::TimedOut); 2]);
        // The same slots, while the answers to the first calls are under way.
        (3..5).for_each(|n| call(&patient, n).unwrap());
        fake.flush();
        assert_eq!(answer_all(&mut *outside), [1, 2, 3, 4]);
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&ends)[2..], [Ok(6), Ok(8)]);
        assert!(executor.failures().is_empty());
    });
}

#[test]
fn calls_end_when_all_servers_that_could_answer_are_gone() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let (node, client, ends) = calling(&executor, 10);
        let seen = ends.clone();
        let asking = client.clone();
        node.spawn("ask", async move {
            let end = asking.call_async(1).await.map(|reply| *reply);
            seen.lock().unwrap().push(end);
        })
        .unwrap();
        let mut first = server(&fake, "/double");
        executor.freeze().unwrap();
        spin_on(&mut executor, &fake);
        (2..11).for_each(|n| call(&client, n).unwrap());
        assert_eq!(call(&client, 0), Err(CallError::TooManyCalls));
        fake.flush();
        // One was answered before the crash, of which the loop learns in the same moment.
        let mut request: Option<u64> = None;
        first.take(&mut request).unwrap().unwrap().respond(&2u64).unwrap();
        fake.crash("/double");
        spin_on(&mut executor, &fake);
        let mut ended = entries(&ends);
        ended.sort_by_key(Result::is_err);
        assert_eq!(ended[0], Ok(2));
        assert_eq!(ended[1..], [Err(CallError::ServerLost); 9]);
        assert_eq!(call(&client, 0), Err(CallError::NoService));
        // Another server answers, though the first one is reported as gone once more.
        for round in 1..4 {
            let mut next = server(&fake, "/double");
            (0..10).for_each(|n| call(&client, n).unwrap());
            fake.flush();
            assert_eq!(answer_all(&mut *next).len(), 10);
            fake.crash("/double");
            spin_on(&mut executor, &fake);
            assert_eq!(
                entries(&ends)[10 * round..],
                [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| Ok(2 * n))
            );
        }
        assert!(executor.failures().is_empty());
    });
}

/// The graph of a middleware learns of a new server before it misses the old one.
#[test]
fn calls_to_a_server_that_is_gone_end_while_another_one_answers() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let (_node, client, ends) = calling(&executor, 10);
        let _first = server(&fake, "/double");
        executor.freeze().unwrap();
        (0..5).for_each(|n| call(&client, n).unwrap());
        fake.flush();
        fake.crash("/double");
        let mut second = server(&fake, "/double");
        (5..10).for_each(|n| call(&client, n).unwrap());
        fake.flush();
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&ends), [Err(CallError::ServerLost); 5]);
        assert_eq!(answer_all(&mut *second), [5, 6, 7, 8, 9]);
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&ends)[5..], [5, 6, 7, 8, 9].map(|n| Ok(2 * n)));
    });
}

#[test]
fn a_thread_that_waits_learns_that_the_server_is_gone() {
    on_all_cores(|mut executor, fake| {
        connect(&executor, fake.another());
        let (_node, client, _ends) = calling(&executor, 2);
        let mut first = server(&fake, "/double");
        executor.freeze().unwrap();
        let (stop, bus) = (executor.stop_handle(), fake.clone());
        let calling = spawn_beside(&executor, move || {
            let ends = [(); 5].map(|()| client.call_and_wait(1, Duration::from_secs(600)));
            stop.stop();
            ends.map(|end| end.map(|reply| *reply))
        });
        let crashing = spawn_beside(&executor, move || {
            let mut request: Option<u64> = None;
            while first.take(&mut request).unwrap().is_none() {
                thread::yield_now();
            }
            bus.crash("/double");
        });
        executor.spin().unwrap();
        crashing.join().unwrap();
        let mut expected = [Err(CallError::NoService); 5];
        expected[0] = Err(CallError::ServerLost);
        assert_eq!(calling.join().unwrap(), expected);
    });
}

#[test]
fn a_thread_that_does_not_wait_any_longer_frees_its_slot() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let (_node, client, ends) = calling(&executor, 2);
        let mut outside = server(&fake, "/double");
        executor.freeze().unwrap();
        for n in 0..6 {
            let end = client.call_and_wait(n, Duration::ZERO).map(|reply| *reply);
            assert_eq!(end.unwrap_err(), CallError::TimedOut);
        }
        (6..8).for_each(|n| call(&client, n).unwrap());
        fake.flush();
        assert_eq!(answer_all(&mut *outside), (0..8).collect::<Vec<_>>());
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&ends), [Ok(12), Ok(14)]);
    });
}

#[test]
fn destroyed_client_leaves_the_middleware() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        executor.freeze().unwrap();
        let mut outside = server(&fake, "/double");
        for has_call in [false, true] {
            let (node, client, ends) = calling(&executor, 2);
            spin_on(&mut executor, &fake);
            if has_call {
                call(&client, 1).unwrap();
                fake.flush();
                assert_eq!(answer_all(&mut *outside), [1]);
                spin_on(&mut executor, &fake);
                assert_eq!(entries(&ends), [Ok(2)]);
            }
            assert_eq!(fake.clients("/double"), 1);
            drop(client);
            node.destroy();
            drop(node);
            spin_on(&mut executor, &fake);
            assert_eq!(fake.clients("/double"), 0);
        }
    });
}

#[test]
fn a_task_awaits_responses_from_outside() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another());
        let (node, client, ends) = calling(&executor, 2);
        let seen = ends.clone();
        node.spawn("ask", async move {
            for n in 1..4 {
                let end = client.call_async(n).await.map(|reply| *reply);
                seen.lock().unwrap().push(end);
            }
        })
        .unwrap();
        let mut outside = server(&fake, "/double");
        executor.freeze().unwrap();
        for n in 1..4 {
            spin_on(&mut executor, &fake);
            fake.flush();
            assert_eq!(answer_all(&mut *outside), [n]);
        }
        spin_on(&mut executor, &fake);
        assert_eq!(entries(&ends), [Ok(2), Ok(4), Ok(6)]);
    });
}

#[test]
fn without_a_bypass_only_types_that_are_not_carried_stay_within() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another().not_bypassed());
        let ends: Log<u64> = log();
        let node = executor.create_node("caller", ends.clone()).unwrap();
        let private = node.create_client::<Private, u64>("private", QoS::services()).unwrap();
        let carried = node.create_client::<u64, u64>("double", QoS::services()).unwrap();
        let server = executor.create_node("server", ()).unwrap();
        server.create_service("private", QoS::services(), |_, n: &Private, _| n.0 + 1).unwrap();
        server.create_service("double", QoS::services(), |_, n: &u64, _| 2 * n).unwrap();
        executor.freeze().unwrap();
        private.call(Private(1), |ends, n, _| ends.lock().unwrap().push(*n.unwrap())).unwrap();
        spin_on(&mut executor, &fake);
        carried.call(4, |ends, n, _| ends.lock().unwrap().push(*n.unwrap())).unwrap();
        (0..3).for_each(|_| spin_on(&mut executor, &fake));
        assert_eq!(entries(&ends), [2, 8]);
    });
}

#[test]
fn publishing_only_nothing_is_called_or_served_outside() {
    in_every_way(|mut executor, fake| {
        connect(&executor, fake.another().publishing_only());
        let (_node, client, ends) = calling(&executor, 2);
        let _outside = server(&fake, "/double");
        let node = executor.create_node("server", ()).unwrap();
        node.create_service("triple", QoS::services(), |_, n: &u64, _| 3 * n).unwrap();
        executor.freeze().unwrap();
        assert!(!client.service_is_ready());
        assert_eq!(call(&client, 1), Err(CallError::NoService));
        assert!(!caller(&fake, "/triple").is_available());
        assert_eq!(entries(&ends), []);
    });
}
