//! Promises that rclrs 0.8.0 does not keep: `scripts/compare-clients` runs this file on it as well,
//! where each test has to fail.

use futures::channel::oneshot;
use rclrs::*;
use ros_env::std_msgs::msg::Int32;
use ros_env::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const STEP: Duration = Duration::from_millis(20);
/// Longer than anything here takes where a promise is kept.
const LONG: Duration = Duration::from_secs(20);

fn node(name: &str) -> (Executor, Node) {
    let executor = Context::default().create_basic_executor();
    let node = executor.create_node(name).unwrap();
    (executor, node)
}

fn spin_until(executor: &mut Executor, promise: Promise<()>) {
    let options = SpinOptions::new().until_promise_resolved(promise).timeout(LONG);
    executor.spin(options).first_error().unwrap();
}

/// A list that callbacks extend.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, entry: impl Display) {
        self.0.lock().unwrap().push(entry.to_string());
    }

    fn entries(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Prints the order of its callbacks: of three subscriptions, three services and three timers, all
/// of them ready before the spin.
#[test]
#[ignore = "a process of the test below"]
fn ready_at_once() {
    let (mut executor, node) = node("ready");
    let log = Log::default();
    let own = std::process::id();
    let parts = ["a", "b", "c"].map(|name| {
        let publisher = node.create_publisher::<Int32>(&*format!("ready_{own}/{name}")).unwrap();
        let seen = log.clone();
        let note = move |_: Int32| seen.note(format_args!("message {name}"));
        let subscription = node.create_subscription(&*format!("ready_{own}/{name}"), note).unwrap();
        let seen = log.clone();
        let answer = move |_: Trigger_Request| {
            seen.note(format_args!("request {name}"));
            Trigger_Response::default()
        };
        let service = format!("ready_{own}/{name}_service");
        let server = node.create_service::<Trigger, _>(&*service, answer).unwrap();
        let client = node.create_client::<Trigger>(&*service).unwrap();
        spin_until(&mut executor, publisher.notify_on_subscriber_ready());
        spin_until(&mut executor, client.notify_on_service_ready());
        (name, publisher, subscription, server, client)
    });
    let mut kept = Vec::new();
    for &(name, ref publisher, _, _, ref client) in &parts {
        let seen = log.clone();
        let note = move || seen.note(format_args!("timer {name}"));
        let timer = node.create_timer_oneshot(STEP, note).unwrap();
        publisher.publish(Int32 { data: 1 }).unwrap();
        let call: Promise<Trigger_Response> = client.call(Trigger_Request::default()).unwrap();
        kept.push((timer, call));
    }
    thread::sleep(5 * STEP);
    while log.entries().len() < 9 {
        executor.spin(SpinOptions::new().timeout(STEP));
    }
    println!("order: {}", log.entries().join(", "));
}

#[test]
fn callbacks_that_are_ready_have_one_order_in_all_processes() {
    let program = std::env::current_exe().unwrap();
    let start = |_| {
        let mut command = Command::new(&program);
        command.args(["--exact", "ready_at_once", "--ignored", "--nocapture"]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut orders = BTreeSet::new();
    for _ in 0..10 {
        for process in [(); 5].map(start) {
            let output = process.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
            let text = String::from_utf8(output.stdout).unwrap();
            let (_, order) = text.split_once("order: ").expect("it prints the order");
            orders.insert(order.lines().next().unwrap_or_default().to_owned());
        }
    }
    assert!(orders.len() == 1, "{} orders: {orders:#?}", orders.len());
}

#[test]
fn panic_of_a_callback_reaches_the_caller_of_spin() {
    let (mut executor, node) = node("panics");
    let _timer = node.create_timer_oneshot(STEP, || panic!("a callback")).unwrap();
    let spin = AssertUnwindSafe(|| executor.spin(SpinOptions::new().timeout(LONG)));
    assert!(catch_unwind(spin).is_err());
}

#[test]
fn callbacks_of_all_spins_run_on_one_thread() {
    let (mut executor, node) = node("threads");
    let log = Log::default();
    for _ in 0..5 {
        let (sender, fired) = oneshot::channel();
        let (seen, mut sender) = (log.clone(), Some(sender));
        let note = move || {
            seen.note(format_args!("{:?}", thread::current().id()));
            sender.take().into_iter().for_each(|sender| sender.send(()).unwrap());
        };
        let _timer = node.create_timer_oneshot(STEP, note).unwrap();
        spin_until(&mut executor, fired);
    }
    let threads = log.entries().into_iter().collect::<BTreeSet<_>>();
    assert_eq!(threads.len(), 1, "threads {threads:?}");
}

#[test]
fn promise_of_an_earlier_spin_does_not_end_a_later_one() {
    let (mut executor, node) = node("promises");
    let (early, promise) = oneshot::channel();
    executor.spin(SpinOptions::new().until_promise_resolved(promise).timeout(STEP));
    let (sender, mut fired) = oneshot::channel();
    let mut sender = Some(sender);
    let fire = move || sender.take().into_iter().for_each(|sender| sender.send(()).unwrap());
    let _timer = node.create_timer_oneshot(5 * STEP, fire).unwrap();
    early.send(()).unwrap();
    executor.spin(SpinOptions::new().timeout(20 * STEP));
    assert_eq!(fired.try_recv(), Ok(Some(())));
}

#[test]
fn call_without_a_server_ends() {
    let (mut executor, node) = node("calls");
    let client = node.create_client::<Trigger>("calls/nowhere").unwrap();
    let called: Promise<Trigger_Response> = client.call(Trigger_Request::default()).unwrap();
    let ended = executor.commands().run(async move {
        assert!(called.await.is_err());
    });
    spin_until(&mut executor, ended);
}

#[test]
fn listener_is_called_after_each_callback() {
    let (mut executor, node) = node("listens");
    let worker = node.create_worker(0);
    let log = Log::default();
    let seen = log.clone();
    let _listener = worker.listen(move |count: &mut i32| seen.note(*count));
    let _timers =
        [(); 3].map(|()| worker.create_timer_oneshot(STEP, |count: &mut i32| *count += 1));
    thread::sleep(5 * STEP);
    while log.entries().last().is_none_or(|last| last != "3") {
        executor.spin(SpinOptions::new().timeout(STEP));
    }
    let mut counts = log.entries();
    counts.dedup();
    assert_eq!(counts, ["1", "2", "3"]);
}

#[test]
fn sum_of_times_saturates() {
    let time = Clock::system().now() + Duration::MAX;
    assert_eq!(time.nsec, i64::MAX);
}
