//! The end of a spin with a task, and of an executor: the answers of its handles afterwards.

use crate::{in_every_mode, log};
use ringspin_executor::{CallError, ErrorKind, Graph, Message, PublishError, QoS, Tick, Time};
use std::future::pending;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(3600);

#[test]
fn spin_ends_with_the_task_that_it_waits_for() {
    in_every_mode(|mut executor| {
        for n in 0..3 {
            let other = executor.create_node(&format!("other_{n}"), ()).unwrap();
            other.create_timer(MS, |_, _| ()).unwrap();
        }
        let node = executor.create_node("node", ()).unwrap();
        let mut pause = node.create_sleeper().unwrap();
        let first = node.spawn("first", async move { _ = pause.sleep(2 * MS).await }).unwrap();
        let mut pause = node.create_sleeper().unwrap();
        let second = node.spawn("second", async move { _ = pause.sleep(9 * MS).await }).unwrap();
        let endless = node.spawn("endless", pending::<()>()).unwrap();
        assert_eq!(executor.spin_until_finished(&first, LONG), Ok(true));
        assert!(!executor.stop_handle().is_stopped(), "the executor can continue");
        assert_eq!(executor.spin_until_finished(&first, LONG), Ok(true), "at once");
        assert_eq!(executor.spin_until_finished(&second, LONG), Ok(true));
        let before = executor.now();
        assert_eq!(executor.spin_until_finished(&endless, 5 * MS), Ok(false));
        assert!(executor.now() >= before + 5 * MS);
        endless.cancel();
        assert_eq!(executor.spin_until_finished(&endless, LONG), Ok(true));
    });
}

#[test]
fn wait_for_a_task_does_not_hide_a_stop_or_a_failure() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let endless = node.spawn("endless", pending::<()>()).unwrap();
        node.create_one_shot_timer(MS, |_, cx| cx.stop()).unwrap();
        let failing = node.create_one_shot_timer(MS, |_, _| Err::<(), _>("broken")).unwrap();
        failing.cancel();
        assert_eq!(executor.spin_until_finished(&endless, LONG), Ok(false));
        assert!(executor.stop_handle().is_stopped(), "the request stays");
        executor.stop_handle().reset();
        failing.reset();
        let error = executor.spin_until_finished(&endless, LONG).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CallbackFailed);
    });
}

#[test]
fn timers_know_when_they_were_due() {
    in_every_mode(|mut executor| {
        let times = log();
        let node = executor.create_node("node", times.clone()).unwrap();
        node.create_timer(2 * MS, |times, cx| {
            let mut times = times.lock().unwrap();
            times.push((cx.scheduled_time().unwrap(), cx.now()));
            if times.len() == 2 {
                std::thread::sleep(9 * MS); // a few periods, where time advances
            }
            if times.len() == 5 {
                cx.stop();
            }
        })
        .unwrap();
        let out = node.create_publisher("topic", QoS::default()).unwrap();
        node.create_subscription("topic", QoS::default(), |_, _: &Message<()>, cx| {
            assert_eq!(cx.scheduled_time(), None, "of messages nothing is scheduled");
        })
        .unwrap();
        let ticks = log();
        let (mut interval, seen) = (node.create_interval(MS).unwrap(), ticks.clone());
        node.spawn("ticks", async move {
            for _ in 0..2 {
                let tick: Tick = interval.tick().await;
                seen.lock().unwrap().push((tick.scheduled, tick.time));
                let _ = out.publish(());
            }
        })
        .unwrap();
        executor.spin().unwrap();
        let times = crate::entries(&times);
        assert!(times.iter().all(|(scheduled, now)| scheduled <= now), "{times:?}");
        let phase = |time: Time| time.as_nanos() % 2_000_000;
        assert!(times.iter().all(|(at, _)| phase(*at) == phase(times[0].0)), "{times:?}");
        assert!(times.is_sorted_by_key(|(scheduled, _)| *scheduled));
        let ticks = crate::entries(&ticks);
        assert!(ticks.iter().all(|(scheduled, time)| scheduled <= time), "{ticks:?}");
    });
}

#[test]
fn publishers_and_clients_of_an_executor_that_is_gone_say_so() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("node", ()).unwrap();
        let mut publishers = Vec::new();
        for (n, qos) in [QoS::default(), QoS::keep_all(1), QoS::keep_last(1).transient_local()]
            .into_iter()
            .enumerate()
        {
            let topic = format!("topic_{n}");
            node.create_subscription(&topic, qos, |_, _: &Message<u32>, _| ()).unwrap();
            publishers.push(node.create_publisher::<u32>(&topic, qos).unwrap());
        }
        publishers.push(node.create_publisher("unheard", QoS::default()).unwrap());
        node.create_service("service", QoS::services(), |_, n: &u32, _| *n).unwrap();
        let client = node.create_client::<u32, u32>("service", QoS::services()).unwrap();
        let lifecycle = node.lifecycle().create().unwrap();
        let gain = node.declare_parameter("gain", 1.0).unwrap();
        node.on_parameter_change(|_, _, _| ()).unwrap();
        executor.spin_for(MS).unwrap();
        publishers.iter().for_each(|out| out.publish(1).unwrap());
        drop(executor);
        for out in &publishers {
            for n in 0..3 {
                let error = out.publish(n).unwrap_err();
                assert!(error.to_string().contains("the executor was dropped"), "{error}");
                assert!(matches!(error, PublishError::Gone(back) if *back == n));
            }
            let mut loan = out.loan().unwrap();
            *loan = 7;
            assert!(matches!(loan.publish(), Err(PublishError::Gone(back)) if *back == 7));
        }
        let request = lifecycle.request(ringspin_executor::Transition::Configure);
        assert!(matches!(request, Err(PublishError::Gone(_))));
        let refused = client.call(1, |_, _, _| ()).unwrap_err();
        assert_eq!(refused.reason, CallError::ClientStopped);
        assert_eq!(client.call_and_wait(1, LONG).unwrap_err(), CallError::ClientStopped);
        gain.set(2.0).unwrap();
        assert_eq!(gain.get(), 2.0);
        let late = node.create_timer(MS, |_, _| ()).unwrap_err();
        assert_eq!((late.kind(), late.node()), (ErrorKind::InvalidState, Some("/node")));
        assert!(late.to_string().contains("the executor was dropped"), "{late}");
        assert!(node.parameters().list().is_empty(), "its table went with the executor");
    });
}

/// Callbacks that hold their own node or graph keep neither once the executor goes.
#[test]
fn executor_that_is_dropped_drops_its_callbacks() {
    for freezes in [false, true] {
        in_every_mode(|mut executor| {
            let held = Arc::new(());
            let node = Arc::new(executor.create_node("node", held.clone()).unwrap());
            let (kept, graph, own) = (held.clone(), executor.graph().clone(), node.clone());
            node.create_timer(MS, move |_, cx| {
                let _ = (&kept, &graph, &own);
                cx.stop();
            })
            .unwrap();
            let (kept, own) = (held.clone(), node.clone());
            node.spawn("task", async move {
                let _kept = (kept, own);
                pending::<()>().await;
            })
            .unwrap();
            let (kept, graph) = (held.clone(), executor.graph().clone());
            let positive = move |value: &f64| {
                let _ = (&kept, &graph);
                if *value > 0.0 { Ok(()) } else { Err("not positive".to_string()) }
            };
            node.parameter("gain").default(1.0).constraint(positive).declare().unwrap();
            if freezes {
                executor.spin().unwrap();
            }
            drop(executor);
            assert_eq!(Arc::strong_count(&held), 1);
            assert_eq!(Arc::strong_count(&node), 1);
        });
    }
}

/// The state of a node, which asks its graph when it is dropped.
struct Asks(Graph, Sender<usize>);

impl Drop for Asks {
    fn drop(&mut self) {
        self.1.send(self.0.info().loops.len()).unwrap();
    }
}

#[test]
fn state_may_ask_its_graph_while_the_executor_is_dropped() {
    in_every_mode(|executor| {
        let (tell, told) = channel();
        executor.create_node("asks", Asks(executor.graph().clone(), tell)).unwrap();
        let dropping = std::thread::spawn(move || drop(executor));
        assert_eq!(told.recv_timeout(Duration::from_secs(20)), Ok(0));
        dropping.join().unwrap();
    });
}
