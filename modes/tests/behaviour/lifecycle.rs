//! Managed nodes: transitions are events, and what is not active does not speak.

use crate::{entries, in_every_mode, log};
use ringspin_executor::{
    Cause, Lifecycle, LifecycleState as State, Message, PublishError, QoS, Transition,
};
use ringspin_modes::SpinError;

fn request(lifecycle: &Lifecycle, transitions: &[Transition]) {
    transitions.iter().for_each(|&transition| lifecycle.request(transition).unwrap());
}

#[test]
fn transitions_run_in_the_order_of_their_requests() {
    in_every_mode(|mut executor| {
        let ran = log();
        let node = executor.create_node("camera", ran.clone()).unwrap();
        let lifecycle = node
            .lifecycle()
            .on_configure(|ran, cx| ran.lock().unwrap().push(("configure", cx.event().sequence)))
            .on_activate(|ran, cx| ran.lock().unwrap().push(("activate", cx.event().sequence)))
            .on_deactivate(|ran, cx| ran.lock().unwrap().push(("deactivate", cx.event().sequence)))
            .on_cleanup(|ran, cx| ran.lock().unwrap().push(("cleanup", cx.event().sequence)))
            .on_shutdown(|ran, cx| {
                ran.lock().unwrap().push(("shutdown", cx.event().sequence));
                cx.stop();
            })
            .create()
            .unwrap();
        executor.freeze().unwrap();
        use Transition::{Activate, Cleanup, Configure, Deactivate, Shutdown};
        // The second one is not possible, so it does nothing.
        request(&lifecycle, &[Configure, Configure, Activate, Deactivate, Cleanup, Shutdown]);
        executor.spin().unwrap();
        let expected =
            [("configure", 0), ("activate", 2), ("deactivate", 3), ("cleanup", 4), ("shutdown", 5)];
        assert_eq!(entries(&ran), expected);
        assert_eq!(lifecycle.state(), State::Finalized);
    });
}

#[test]
fn a_transition_that_fails_leaves_the_node_where_it_was() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("camera", 0).unwrap();
        let states = log();
        let lifecycle = node
            .lifecycle()
            .on_configure(|attempts, _| {
                *attempts += 1;
                if *attempts < 3 { Err("no camera yet") } else { Ok(()) }
            })
            .on_shutdown(|_, cx| cx.stop())
            .create()
            .unwrap();
        let (watched, seen) = (lifecycle.clone(), states.clone());
        let look = node.create_publisher("look", QoS::default()).unwrap();
        node.create_subscription("look", QoS::default(), move |_, _: &Message<()>, _| {
            seen.lock().unwrap().push(watched.state());
        })
        .unwrap();
        executor.freeze().unwrap();
        for _ in 0..3 {
            request(&lifecycle, &[Transition::Configure]);
            look.publish(()).unwrap();
        }
        request(&lifecycle, &[Transition::Shutdown]);
        executor.spin().unwrap();
        assert_eq!(entries(&states), [State::Unconfigured, State::Unconfigured, State::Inactive]);
        assert!(executor.failures().is_empty());
    });
}

#[test]
fn only_an_active_node_is_heard_but_it_listens_always() {
    in_every_mode(|mut executor| {
        let heard = log();
        let node = executor.create_node("relay", ()).unwrap();
        let input = node.create_publisher::<u32>("in", QoS::default()).unwrap();
        let lifecycle = node.lifecycle().create().unwrap();
        let out = lifecycle.publisher(node.create_publisher("out", QoS::default()).unwrap());
        let relay = out.clone();
        node.create_subscription("in", QoS::keep_last(8), move |(), n: &Message<u32>, _| {
            relay.publish(**n)
        })
        .unwrap();
        let listener = executor.create_node("listener", heard.clone()).unwrap();
        listener
            .create_subscription("out", QoS::default(), |heard, n: &Message<u32>, cx| {
                heard.lock().unwrap().push(**n);
                if **n == 6 {
                    cx.stop();
                }
            })
            .unwrap();
        executor.freeze().unwrap();
        use Transition::{Activate, Configure, Deactivate};
        input.publish(1).unwrap();
        request(&lifecycle, &[Configure]);
        input.publish(2).unwrap();
        request(&lifecycle, &[Activate]);
        (3..5).for_each(|n| input.publish(n).unwrap());
        request(&lifecycle, &[Deactivate]);
        input.publish(5).unwrap();
        request(&lifecycle, &[Activate]);
        input.publish(6).unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&heard), [3, 4, 6]);
        assert_eq!(out.ignored(), 3);
    });
}

#[test]
fn a_panic_in_a_transition_is_the_nodes_failure_and_requests_are_bounded() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("camera", ()).unwrap();
        let lifecycle =
            node.lifecycle().on_configure(|_, _| -> () { panic!("no lens") }).create().unwrap();
        executor.freeze().unwrap();
        request(&lifecycle, &[Transition::Configure; 16]);
        let error = lifecycle.request(Transition::Activate).unwrap_err();
        assert!(matches!(error, PublishError::Full(back) if *back == Transition::Activate));
        let Err(SpinError::Failed(failure)) = executor.spin() else { panic!("it has to fail") };
        assert_eq!((&*failure.node, &*failure.callback), ("/camera", "lifecycle"));
        assert_eq!(failure.cause, Cause::Panic("no lens".into()));
        assert_eq!(lifecycle.state(), State::Unconfigured);
    });
}

/// The new state has seen no transition, so the node waits for them again.
#[test]
fn restarted_node_is_unconfigured() {
    in_every_mode(|mut executor| {
        let states = log();
        let node = executor.graph().create_restartable_node("camera", 3, || false).unwrap();
        let lifecycle = node
            .lifecycle()
            .on_configure(|configured, _| *configured = true)
            .on_activate(|configured, _| assert!(*configured, "without a configuration"))
            .create()
            .unwrap();
        let (watched, seen) = (lifecycle.clone(), states.clone());
        let failing = node.create_publisher("fail", QoS::default()).unwrap();
        node.create_subscription("fail", QoS::default(), |_, _: &Message<()>, _| {
            Err::<(), _>("broken")
        })
        .unwrap();
        let look = node.create_publisher("look", QoS::default()).unwrap();
        node.create_subscription("look", QoS::default(), move |_, last: &Message<bool>, cx| {
            seen.lock().unwrap().push(watched.state());
            if **last {
                cx.stop();
            }
        })
        .unwrap();
        executor.freeze().unwrap();
        use Transition::{Activate, Configure, Shutdown};
        request(&lifecycle, &[Configure]);
        failing.publish(()).unwrap();
        look.publish(false).unwrap();
        request(&lifecycle, &[Configure, Activate]);
        look.publish(false).unwrap();
        failing.publish(()).unwrap();
        look.publish(false).unwrap();
        request(&lifecycle, &[Shutdown]);
        failing.publish(()).unwrap();
        look.publish(true).unwrap();
        executor.spin().unwrap();
        let expected = [State::Unconfigured, State::Active, State::Unconfigured, State::Finalized];
        assert_eq!(entries(&states), expected);
        assert_eq!(executor.failures().len(), 3);
    });
}
