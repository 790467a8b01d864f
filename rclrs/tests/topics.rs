//! Publishers, subscriptions in every form, workers, and the ends of a spin.

mod common;

use common::{LONG, node, spin_until};
use futures::channel::oneshot;
use futures::executor::block_on;
use rclrs::*;
use ros_env::std_msgs::msg::{Int32, String as Text, rmw};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Seen = Arc<Mutex<Vec<String>>>;

/// Notes a text; returns the number of texts.
fn note(seen: &Seen, text: impl ToString) -> usize {
    let mut seen = seen.lock().unwrap();
    seen.push(text.to_string());
    seen.len()
}

/// Notes texts, and ends a promise after the last one.
#[derive(Clone)]
struct Notes {
    seen: Seen,
    all: Arc<Mutex<Option<oneshot::Sender<()>>>>,
    wanted: usize,
}

impl Notes {
    fn new(wanted: usize) -> (Self, Promise<()>) {
        let (all, done) = oneshot::channel();
        (Self { seen: Seen::default(), all: Arc::new(Mutex::new(Some(all))), wanted }, done)
    }

    fn add(&self, form: &str, number: impl ToString) {
        if note(&self.seen, format!("{form} {}", number.to_string())) == self.wanted {
            drop(self.all.lock().unwrap().take());
        }
    }

    fn sorted(&self) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap().clone();
        seen.sort();
        seen
    }
}

/// Publishes 1 and 2 before the first spin, and spins until all is noted.
fn publish_two(executor: &mut Executor, node: &Node, done: Promise<()>) {
    let publisher = node.create_publisher::<Int32>("numbers").unwrap();
    publisher.publish(Int32 { data: 1 }).unwrap();
    publisher.publish(&Int32 { data: 2 }).unwrap();
    spin_until(executor, done);
}

/// Subscribes with a callback that notes a number.
macro_rules! subscribe {
    ($node:ident.$create:ident, $notes:ident, $name:literal, |$($a:ident: $ty:ty),*| $n:expr) => {{
        let notes = $notes.clone();
        $node.$create("numbers", move |$($a: $ty),*| notes.add($name, $n)).unwrap()
    }};
}

#[test]
fn callbacks_of_a_node_take_messages_in_every_form() {
    let (mut executor, node) = node();
    let (notes, done) = Notes::new(12);
    let _plain = subscribe!(node.create_subscription, notes, "plain", |m: Int32| m.data);
    let _boxed = subscribe!(node.create_subscription, notes, "boxed", |m: Box<Int32>| m.data);
    let _loaned =
        subscribe!(node.create_subscription, notes, "loaned", |m: ReadOnlyLoanedMessage<Int32>| m
            .data);
    let _info = subscribe!(node.create_subscription, notes, "info", |m: Int32, i: MessageInfo| {
        assert!(i.source_timestamp.is_some() && i.received_timestamp.is_some());
        assert_eq!(i.publication_sequence_number, i.reception_sequence_number);
        m.data as u64 + i.publication_sequence_number
    });
    let later = notes.clone();
    let _later = node.create_async_subscription("numbers", move |m: Int32| {
        let later = later.clone();
        async move { later.add("later", m.data) }
    });
    let later_info = notes.clone();
    let _later_info = node.create_async_subscription("numbers", {
        move |m: Box<Int32>, info: MessageInfo| {
            let notes = later_info.clone();
            async move { notes.add("later info", m.data as u64 + info.publication_sequence_number) }
        }
    });
    publish_two(&mut executor, &node, done);
    let expected = [
        "boxed 1",
        "boxed 2",
        "info 1",
        "info 3",
        "later 1",
        "later 2",
        "later info 1",
        "later info 3",
        "loaned 1",
        "loaned 2",
        "plain 1",
        "plain 2",
    ];
    assert_eq!(notes.sorted(), expected);
}

#[test]
fn callbacks_of_a_worker_take_messages_and_payload() {
    let (mut executor, node) = node();
    let worker = node.create_worker(0i32);
    let (notes, done) = Notes::new(8);
    let _plain = subscribe!(worker.create_subscription, notes, "plain", |m: Int32| m.data);
    let _info =
        subscribe!(worker.create_subscription, notes, "info", |m: Int32, _i: MessageInfo| m.data);
    let _payload =
        subscribe!(worker.create_subscription, notes, "payload", |p: &mut i32, m: Int32| {
            *p += m.data;
            *p
        });
    let _all = subscribe!(
        worker.create_subscription,
        notes,
        "all",
        |_p: &mut i32, m: Box<Int32>, _i: MessageInfo| m.data
    );
    publish_two(&mut executor, &node, done);
    let expected =
        ["all 1", "all 2", "info 1", "info 2", "payload 1", "payload 3", "plain 1", "plain 2"];
    assert_eq!(notes.sorted(), expected);
}

#[test]
fn idiomatic_and_rmw_messages_meet_on_a_topic() {
    let (mut executor, node) = node();
    let (sender, text) = oneshot::channel();
    let sender = Mutex::new(Some(sender));
    let _subscription = node.create_subscription("text", move |message: rmw::String| {
        let _ = sender.lock().unwrap().take().unwrap().send(message.data.to_string());
    });
    let publisher = node.create_publisher::<Text>("text").unwrap();
    publisher.publish(Text { data: "hello".into() }).unwrap();
    let (mut text, notice) = executor.commands().create_notice(text);
    spin_until(&mut executor, notice);
    assert_eq!(text.try_recv().unwrap().as_deref(), Some("hello"));
}

#[test]
fn loaned_message_is_published() {
    let (mut executor, node) = node();
    let worker = node.create_worker(Vec::new());
    let _subscription = worker.create_subscription("n", |seen: &mut Vec<i32>, m: rmw::Int32| {
        seen.push(m.data);
    });
    let publisher = node.create_publisher::<rmw::Int32>("n").unwrap();
    let mut message = publisher.borrow_loaned_message().unwrap();
    message.data = 7;
    message.publish().unwrap();
    let done = worker.listen_until(|seen| (seen == &[7]).then_some(()));
    spin_until(&mut executor, done);
}

#[test]
fn message_that_ros_2_could_not_send_is_refused() {
    let (_executor, node) = node();
    let publisher = node.create_publisher::<Text>("text").unwrap();
    let error = publisher.publish(Text { data: "a\0b".into() }).unwrap_err();
    assert!(error.to_string().contains("data"), "{error}");
}

#[test]
fn callback_is_exchanged_also_by_itself() {
    let (mut executor, node) = node();
    let seen = Seen::default();
    let place = Arc::new(Mutex::new(None::<Subscription<Int32>>));
    let (this, first, second) = (place.clone(), seen.clone(), seen.clone());
    let (sender, done) = oneshot::channel();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let subscription = node.create_subscription("n", move |m: Int32| {
        note(&first, format!("first {}", m.data));
        let (second, sender) = (second.clone(), sender.clone());
        this.lock().unwrap().as_ref().unwrap().set_callback(move |m: Int32| {
            if note(&second, format!("second {}", m.data)) == 3 {
                sender.lock().unwrap().take().unwrap().send(()).unwrap();
            }
        });
    });
    *place.lock().unwrap() = Some(subscription.unwrap());
    let publisher = node.create_publisher::<Int32>("n").unwrap();
    for data in 0..3 {
        publisher.publish(Int32 { data }).unwrap();
    }
    spin_until(&mut executor, done);
    assert_eq!(*seen.lock().unwrap(), ["first 0", "second 1", "second 2"]);
}

#[test]
fn dropped_subscription_gets_nothing() {
    let (mut executor, node) = node();
    let seen = Seen::default();
    let noted = seen.clone();
    let subscription = node.create_subscription("n", move |m: Int32| {
        note(&noted, m.data);
    });
    let publisher = node.create_publisher::<Int32>("n").unwrap();
    assert_eq!(publisher.get_subscription_count(), Ok(1));
    drop(subscription);
    assert_eq!(publisher.get_subscription_count(), Ok(0));
    publisher.publish(Int32 { data: 1 }).unwrap();
    let spun = executor.spin(SpinOptions::spin_once().timeout(Duration::ZERO));
    assert!(spun[0].is_timeout());
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn node_stays_while_it_has_a_subscription() {
    let (mut executor, node) = node();
    let worker = node.create_worker(0);
    let _subscription = worker.create_subscription("n", |sum: &mut i32, m: Int32| *sum += m.data);
    let done = worker.listen_until(|sum| (*sum == 3).then_some(()));
    drop((node, worker));
    let other = executor.create_node("other").unwrap();
    let publisher = other.create_publisher::<Int32>("n").unwrap();
    publisher.publish(Int32 { data: 3 }).unwrap();
    spin_until(&mut executor, done);
}

#[test]
fn worker_runs_functions_and_calls_its_listeners() {
    let (mut executor, node) = node();
    let worker = node.create_worker(1);
    let seen = Seen::default();
    let noted = seen.clone();
    let listener = worker.listen(move |value| {
        note(&noted, *value);
    });
    let first = worker.run(|value| {
        *value += 1;
        *value
    });
    let (second, notice) = worker.run_with_notice(|value| *value * 10);
    spin_until(&mut executor, notice);
    assert_eq!(futures::executor::block_on(first), Ok(2));
    assert_eq!(futures::executor::block_on(second), Ok(20));
    assert_eq!(seen.lock().unwrap().last().unwrap(), "2");
    drop(listener);
    let (_, notice) = worker.run_with_notice(|value| *value = 5);
    spin_until(&mut executor, notice);
    assert!(!seen.lock().unwrap().contains(&"5".to_owned()));
}

#[test]
fn spins_end_as_their_options_say() {
    let (mut executor, node) = node();
    let short = Duration::from_millis(1);
    for options in [SpinOptions::new(), SpinOptions::spin_once()] {
        let spun = executor.spin(options.timeout(short));
        assert!(spun.len() == 1 && spun[0].is_timeout(), "{spun:?}");
        spun.timeout_ok().first_error().unwrap();
    }
    let (never, until) = oneshot::channel();
    let spun = executor.spin(SpinOptions::new().until_promise_resolved(until).timeout(short));
    assert!(spun[0].is_timeout());
    drop(never);
    let (_, until) = oneshot::channel();
    let spun = executor.spin(SpinOptions::new().until_promise_resolved(until).timeout(LONG));
    assert_eq!(spun, []);
    let commands = executor.commands().clone();
    let _subscription = node.create_subscription("n", move |_: Int32| commands.halt_spinning());
    node.create_publisher("n").unwrap().publish(Int32::default()).unwrap();
    assert_eq!(executor.spin(SpinOptions::new().timeout(LONG)), []);
    node.create_publisher("n").unwrap().publish(Int32::default()).unwrap();
    let (executor, errors) =
        futures::executor::block_on(executor.spin_async(SpinOptions::new().timeout(LONG)));
    assert!(errors.is_empty());
    assert_eq!(executor.commands().context().domain_id(), node.domain_id());
}

#[test]
fn commands_run_futures_and_create_nodes_while_the_executor_spins() {
    let (mut executor, _node) = node();
    let commands = executor.commands().clone();
    let done = executor.commands().run(async move {
        let node = commands.create_node("later").unwrap();
        let subscribed = commands.create_node("subscriber").unwrap();
        let publisher = node.create_publisher::<Int32>("late").unwrap();
        let (sender, received) = oneshot::channel();
        let sender = Mutex::new(Some(sender));
        let _subscription = subscribed.create_subscription("late", move |m: Int32| {
            sender.lock().unwrap().take().unwrap().send(m.data).unwrap();
        });
        publisher.notify_on_subscriber_ready().await.unwrap();
        publisher.publish(Int32 { data: 5 }).unwrap();
        assert_eq!(received.await, Ok(5));
    });
    spin_until(&mut executor, done);
}

#[test]
fn dropped_query_ends_its_future() {
    let (mut executor, _node) = node();
    let (alive, mut ended) = oneshot::channel::<()>();
    let query = executor.commands().query(async move {
        let _alive = alive;
        std::future::pending::<()>().await;
    });
    let _ = executor.spin(SpinOptions::new().timeout(Duration::from_millis(1)));
    assert_eq!(ended.try_recv(), Ok(None));
    drop(query);
    let done = executor.commands().run(async move {
        assert!(ended.await.is_err());
    });
    spin_until(&mut executor, done);
}

#[test]
fn nodes_outlive_their_executor_and_end_with_their_last_handle() {
    let (mut executor, node) = node();
    let (alive, mut future_ended) = oneshot::channel::<()>();
    let (kept, mut callback_ended) = oneshot::channel::<()>();
    let (of_future, of_callback) = (node.clone(), node.clone());
    let _detached = executor.commands().run(async move {
        let _kept = (alive, of_future);
        std::future::pending::<()>().await;
    });
    let subscription = node.create_subscription("n", move |_: Int32| {
        let _kept = (&kept, &of_callback);
    });
    let _ = executor.spin(SpinOptions::new().timeout(Duration::from_millis(1)));
    drop(executor);
    assert!(future_ended.try_recv().is_err());
    let publisher = node.create_publisher::<Int32>("n").unwrap();
    publisher.publish(Int32::default()).unwrap();
    assert_eq!(callback_ended.try_recv(), Ok(None));
    let weak = Arc::downgrade(&node);
    drop((publisher, subscription, node));
    assert!(callback_ended.try_recv().is_err());
    assert!(weak.upgrade().is_none());
}

#[test]
fn panic_of_a_callback_or_future_ends_the_spin() {
    let spin = |mut executor: Executor| {
        let spin = AssertUnwindSafe(|| executor.spin(SpinOptions::new().timeout(LONG)));
        *catch_unwind(spin).unwrap_err().downcast::<String>().unwrap()
    };
    let (executor, _node) = node();
    let _detached = executor.commands().run(async { panic!("a future") });
    let text = spin(executor);
    assert!(text.contains("a future"), "{text}");
    let (executor, node) = node();
    let _subscription = node.create_subscription("n", |_: Int32| panic!("a callback"));
    node.create_publisher("n").unwrap().publish(Int32::default()).unwrap();
    let text = spin(executor);
    assert!(text.contains("/node") && text.contains("a callback"), "{text}");
}

fn code_of(error: RclrsError) -> Option<RclReturnCode> {
    match error {
        RclrsError::RclError { code, .. } => Some(code),
        _ => None,
    }
}

#[test]
fn promises_of_a_worker_end_with_the_executor() {
    let (mut executor, node) = node();
    let worker = node.create_worker(1);
    spin_until(&mut executor, worker.run_with_notice(|number| *number += 1).1);
    let waits = (worker.run(|number| *number), worker.listen_until(|_| None::<()>));
    drop(executor);
    assert!(block_on(waits.0).is_err() && block_on(waits.1).is_err());
    // Later ones, too, also of a later worker.
    for worker in [worker, node.create_worker(1)] {
        assert!(block_on(worker.run(|number| *number)).is_err());
        assert!(block_on(worker.listen_until(|_| Some(()))).is_err());
    }
    let late = node.commands().create_node("late").unwrap();
    assert!(block_on(late.notify_on_graph_change(|| true)).is_err());
}

/// Over ROS 2 they meet as well, once it has discovered them.
#[cfg(not(ros_is_sourced))]
#[test]
fn executors_of_one_domain_meet() {
    let (ours, others) = (common::context(), common::context());
    let mut executor = ours.create_basic_executor();
    let node = executor.create_node("listener").unwrap();
    let (notes, done) = Notes::new(2);
    let _heard = subscribe!(node.create_subscription, notes, "heard", |n: Int32| n.data);
    let (talker, stranger) = (ours.create_basic_executor(), others.create_basic_executor());
    let elsewhere = stranger.create_node("talker").unwrap();
    let node = talker.create_node("talker").unwrap();
    let error = node.create_publisher::<Text>("numbers").unwrap_err().to_string();
    assert!(error.contains("std_msgs/msg/Int32"), "{error}");
    let publisher = node.create_publisher::<Int32>("numbers").unwrap();
    assert_eq!(publisher.get_subscription_count(), Ok(1));
    executor.spin(SpinOptions::spin_once().timeout(Duration::ZERO));
    let unheard = elsewhere.create_publisher::<Int32>("numbers").unwrap();
    unheard.publish(Int32 { data: 3 }).unwrap();
    let thread = std::thread::spawn(move || {
        publisher.publish(Int32 { data: 1 }).unwrap();
        publisher.publish(Int32 { data: 2 }).unwrap();
        talker
    });
    spin_until(&mut executor, done);
    assert_eq!(notes.sorted(), ["heard 1", "heard 2"]);
    drop(thread.join().unwrap());
}

#[test]
fn names_follow_namespace_and_arguments() {
    let args = ["--ros-args", "-r", "chatter:=/radio", "-r", "__ns:=/robot"].map(String::from);
    let context = Context::new(args, InitOptions::new()).unwrap();
    let executor = context.create_basic_executor();
    let node = executor.create_node("talker".namespace("/ignored")).unwrap();
    assert_eq!(node.fully_qualified_name(), "/robot/talker");
    assert_eq!((&*node.name(), &*node.namespace()), ("talker", "/robot"));
    assert_eq!(node.logger().name(), "robot.talker");
    let publisher = node.create_publisher::<Int32>("chatter").unwrap();
    assert_eq!(publisher.topic_name(), "/radio");
    let substituted = node.create_publisher::<Int32>("{ns}/{node}/speed").unwrap();
    assert_eq!(substituted.topic_name(), "/robot/talker/speed");
    let error = node.create_publisher::<Int32>("{host}/speed").unwrap_err();
    assert!(error.to_string().contains("{host}/speed"), "{error}");
    assert_eq!(code_of(error), Some(RclReturnCode::TopicNameInvalid));
    let code = executor.create_node("not a name").unwrap_err();
    assert_eq!(code_of(code), Some(RclReturnCode::NodeInvalidName));
    let code = node.create_publisher::<Int32>("a topic").unwrap_err();
    assert_eq!(code_of(code), Some(RclReturnCode::TopicNameInvalid));
    assert!(node.create_publisher::<Text>("chatter").is_err());
}

#[test]
fn graph_is_described() {
    let (executor, node) = node();
    let other = executor.create_node("other".namespace("/far")).unwrap();
    let _publisher = node.create_publisher::<Int32>("n".keep_last(3).transient_local()).unwrap();
    let _subscription = other.create_subscription("/n", |_: Int32| ()).unwrap();
    let types = ["std_msgs/msg/Int32".to_owned()];
    assert_eq!(node.get_topic_names_and_types().unwrap()["/n"], types);
    assert_eq!(node.get_publisher_names_and_types_by_node("node", "/").unwrap()["/n"], types);
    let of_other = node.get_subscription_names_and_types_by_node("other", "/far").unwrap();
    assert_eq!(of_other["/n"], types);
    let of_other = node.get_publisher_names_and_types_by_node("other", "/far").unwrap();
    assert!(!of_other.contains_key("/n"));
    assert_eq!((node.count_publishers("n"), node.count_subscriptions("n")), (Ok(1), Ok(1)));
    let publisher = node.get_publishers_info_by_topic("n").unwrap().remove(0);
    assert_eq!((&*publisher.node_name, &*publisher.node_namespace), ("node", "/"));
    let qos = publisher.qos_profile;
    // Fast DDS does not tell the depth.
    let depth = if cfg!(ros_is_sourced) { 0 } else { 3 };
    assert_eq!(qos.history, QoSHistoryPolicy::KeepLast { depth });
    assert_eq!(qos.durability, QoSDurabilityPolicy::TransientLocal);
    let names: Vec<_> = node.get_node_names().unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["node", "other"]);
}
