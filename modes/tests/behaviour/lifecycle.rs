//! Managed nodes: transitions are events, and an inactive node publishes nothing.

use crate::{Log, entries, failure_of, in_every_mode, log};
use ringspin_executor::{
    BoxError, Cause, Context, ErrorKind, Graph, Lifecycle, LifecyclePublisher,
    LifecycleState as State, Message, Node, PublishError, QoS, Service, StateAccess, Subscription,
    Timer, Transition,
};
use ringspin_simulation::Job;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

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
        let failure = failure_of(&mut executor);
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

/// A node as in nav2, with its parts while it is configured.
#[derive(Default)]
struct Camera {
    image: Option<LifecyclePublisher<u64>>,
    timer: Option<Timer>,
    skip: Option<Subscription>,
    count: Option<Service>,
    images: u64,
}

impl Camera {
    /// Creates the parts; the last one fails if another node offers the service.
    fn configure(&mut self, node: &Node<Self>) -> Result<(), BoxError> {
        self.image = Some(node.create_lifecycle_publisher("image", QoS::default())?);
        let expose = |camera: &mut Self, _: &mut Context<'_>| {
            camera.images += 1;
            camera.image.as_ref().map_or(Ok(()), |image| image.publish(camera.images))
        };
        self.timer = Some(node.create_timer(MS, expose)?);
        let skip = |camera: &mut Self, images: &Message<u64>, _: &mut Context<'_>| {
            camera.images += **images;
        };
        self.skip = Some(node.create_subscription("skip", QoS::default(), skip)?);
        let count = |camera: &mut Self, (): &(), _: &mut Context<'_>| camera.images;
        self.count = Some(node.create_service("count", QoS::services(), count)?);
        Ok(())
    }

    fn release(&mut self) {
        self.image = None;
        self.timer.take().iter().for_each(Timer::destroy);
        self.skip.take().iter().for_each(Subscription::destroy);
        self.count.take().iter().for_each(Service::destroy);
    }
}

fn create_camera(graph: &Graph) -> Result<Lifecycle, BoxError> {
    let node = graph.create_node("camera", Camera::default())?;
    let own = node.clone();
    let lifecycle = node.lifecycle().on_configure(move |camera, _| camera.configure(&own));
    let lifecycle = lifecycle.on_cleanup(|camera, _| camera.release());
    Ok(lifecycle.on_error(|camera, _| camera.release()).create()?)
}

/// Takes the camera twice through its states, and gets images and their count while it is active.
async fn manage(node: Node<()>, heard: Log<String>) -> Result<(), BoxError> {
    let qos = QoS::services();
    let change = node.create_client::<Transition, bool>("camera/change_state", qos)?;
    let get = node.create_client::<(), State>("camera/get_state", qos)?;
    let count = node.create_client::<(), u64>("count", qos)?;
    let mut images = node.create_stream::<u64>("image", QoS::default())?;
    let mut last = 0;
    for round in 0..2 {
        for transition in [Transition::Configure, Transition::Activate, Transition::Configure] {
            let succeeded = *change.call_async(transition).await?;
            let state = *get.call_async(()).await?;
            heard.lock().unwrap().push(format!("{round}: {transition:?} {succeeded} {state:?}"));
        }
        while *images.next().await < last + 3 {}
        assert!(*change.call_async(Transition::Deactivate).await?);
        last = *count.call_async(()).await?;
        assert!(*change.call_async(Transition::Cleanup).await?);
        assert!(count.call_async(()).await.is_err(), "the service is gone");
    }
    Ok(())
}

fn create_manager(graph: &Graph, heard: Log<String>) -> Result<(), BoxError> {
    let node = graph.create_node("manager", ())?;
    let own = node.clone();
    node.spawn_with_state("manage", |state| async move {
        manage(own, heard).await?;
        state.with(|_, cx| cx.stop()).await;
        Ok::<(), BoxError>(())
    })?;
    Ok(())
}

#[test]
fn lifecycle_node_creates_and_destroys_its_parts_twice() {
    in_every_mode(|mut executor| {
        let heard = log();
        let lifecycle = create_camera(executor.graph()).unwrap();
        let before = executor.graph().info();
        create_manager(executor.graph(), heard.clone()).unwrap();
        executor.spin().unwrap();
        let expected =
            ["Configure true Inactive", "Activate true Active", "Configure false Active"];
        let twice: Vec<_> = (0..2).flat_map(|n| expected.map(|of| format!("{n}: {of}"))).collect();
        assert_eq!((entries(&heard), lifecycle.state()), (twice, State::Unconfigured));
        let after = executor.graph().info();
        let callbacks = |of: &ringspin_executor::GraphInfo| -> Vec<String> {
            let of_camera = of.callbacks.values().filter(|of| of.event_loop.0 == 0);
            of_camera.map(|of| of.name.clone()).collect()
        };
        assert_eq!(callbacks(&after), callbacks(&before));
        // Live, a worker may not have counted the last ones as removed yet.
        let statistics = executor.statistics();
        let parts = ["timer 1ms", "subscription /skip", "service /count"];
        let others = statistics.callbacks.iter().filter(|of| !parts.contains(&&*of.callback));
        let gone = statistics.dispatched() - others.map(|of| of.dispatched).sum::<u64>();
        assert!(gone >= 2 * (3 + 1), "{statistics:?}");
    });
}

#[test]
fn lifecycle_node_that_comes_and_goes_is_deterministic() {
    let run = || {
        let job = Job::new(|graph| {
            create_camera(graph)?;
            create_manager(graph, log())
        });
        job.run().unwrap().digest()
    };
    let digest = run();
    for _ in 0..20 {
        assert_eq!(run(), digest);
    }
}

#[test]
fn failed_transition_leaves_nothing_behind_and_can_be_tried_again() {
    in_every_mode(|mut executor| {
        let lifecycle = create_camera(executor.graph()).unwrap();
        let other = executor.create_node("other", ()).unwrap();
        let obstacle = other.create_service("count", QoS::services(), |_, (): &(), _| 0u64);
        let (service, qos) = ("camera/change_state", QoS::services());
        let change = other.create_client::<Transition, bool>(service, qos).unwrap();
        let names = |graph: &Graph| -> Vec<String> {
            graph.info().callbacks.values().map(|of| of.name.clone()).collect()
        };
        let graph = executor.graph().clone();
        let run = move |state: StateAccess<()>| async move {
            let before = names(&graph);
            assert!(!*change.call_async(Transition::Configure).await?);
            assert_eq!(names(&graph), before);
            obstacle?.destroy();
            assert!(*change.call_async(Transition::Configure).await?);
            assert_eq!(names(&graph).len(), before.len() - 1 + 3);
            state.with(|_, cx| cx.stop()).await;
            Ok::<(), BoxError>(())
        };
        other.spawn_with_state("try", run).unwrap();
        executor.spin().unwrap();
        assert_eq!((lifecycle.state(), executor.failures().len()), (State::Inactive, 0));
    });
}

#[test]
fn node_whose_error_is_not_handled_is_finalized() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("camera", ()).unwrap();
        let lifecycle = node
            .lifecycle()
            .on_configure(|_, _| Err::<(), _>("no camera"))
            .on_error(|_, cx| {
                cx.stop();
                Err::<(), _>("no way back")
            })
            .create()
            .unwrap();
        executor.freeze().unwrap();
        request(&lifecycle, &[Transition::Configure]);
        executor.spin_for(Duration::from_secs(20)).unwrap(); // to its end only if it fails
        assert_eq!(lifecycle.state(), State::Finalized);
    });
}

#[test]
fn destroyed_node_leaves_its_lifecycle_to_one_of_the_same_name() {
    in_every_mode(|executor| {
        let node = executor.create_node("camera", ()).unwrap();
        node.lifecycle().create().unwrap();
        let twice = node.lifecycle().create();
        assert_eq!(twice.unwrap_err().kind(), ErrorKind::AlreadyExists);
        node.destroy();
        let error = node.lifecycle().create().unwrap_err().to_string();
        assert!(error.contains("of node /camera: the node was destroyed"), "{error}");
        executor.create_node("camera", ()).unwrap().lifecycle().create().unwrap();
    });
}
