//! Services and clients: callbacks in every form, calls from everywhere, and calls that end
//! without a response.

use futures::channel::oneshot;
use futures::executor::block_on;
use rclrs::*;
use ros_env::example_interfaces::srv::{AddTwoInts, AddTwoInts_Request, AddTwoInts_Response};
use ros_env::std_msgs::msg::Int64;
use ros_env::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use std::future::{Future, pending, ready};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Far more than any of these tests takes.
const LONG: Duration = Duration::from_secs(60);

type Request = AddTwoInts_Request;
type Response = AddTwoInts_Response;

/// An executor with a node.
fn node() -> (Executor, Node) {
    let executor = Context::default().create_basic_executor();
    let node = executor.create_node("node").unwrap();
    (executor, node)
}

/// Spins until `promise` resolves; its value.
fn spin_for<T: Send + 'static>(
    executor: &mut Executor,
    promise: Promise<T>,
) -> Result<T, oneshot::Canceled> {
    let (mut promise, notice) = executor.commands().create_notice(promise);
    let options = SpinOptions::new().until_promise_resolved(notice).timeout(LONG);
    executor.spin(options).first_error().unwrap();
    promise.try_recv().map(|value| value.expect("the spin ends with the promise"))
}

/// Runs `future` on the executor; its output.
fn run<T: Send + 'static>(
    executor: &mut Executor,
    future: impl Future<Output = T> + Send + 'static,
) -> T {
    let promise = executor.commands().run(future);
    spin_for(executor, promise).unwrap()
}

fn request(a: i64, b: i64) -> Request {
    Request { a, b }
}

fn sum(request: &Request) -> Response {
    Response { sum: request.a + request.b }
}

/// Calls a service with 1 and `b`; the sum of the response.
async fn call(node: &Node, service: &str, b: i64) -> i64 {
    let client = node.create_client::<AddTwoInts>(service).unwrap();
    let response: Response = client.call(request(1, b)).unwrap().await.unwrap();
    response.sum
}

fn is_error<T: std::fmt::Debug>(result: Result<T, RclrsError>, wanted: RclReturnCode) -> bool {
    matches!(result, Err(RclrsError::RclError { code, .. }) if code == wanted)
}

#[test]
fn callbacks_of_a_node_answer_in_every_form() {
    let (mut executor, node) = node();
    let _services = [
        node.create_service::<AddTwoInts, _>("sync", |request: Request| sum(&request)),
        node.create_service::<AddTwoInts, _>("sync_id", |request: Request, id: RequestId| {
            Response { sum: 10 * sum(&request).sum + id.sequence_number }
        }),
        node.create_service::<AddTwoInts, _>("sync_info", |request: Request, info: ServiceInfo| {
            assert!(info.received_timestamp.is_some());
            Response { sum: 20 * sum(&request).sum + info.request_id.sequence_number }
        }),
        node.create_async_service::<AddTwoInts, _>("async", |request: Request| async move {
            sum(&request)
        }),
        node.create_async_service::<AddTwoInts, _>("async_id", |it: Request, id: RequestId| {
            ready(Response { sum: 10 * sum(&it).sum + id.sequence_number })
        }),
        node.create_async_service::<AddTwoInts, _>("async_info", |it: Request, _: ServiceInfo| {
            ready(Response { sum: 20 * sum(&it).sum })
        }),
    ]
    .map(Result::unwrap);
    let sums = run(&mut executor, async move {
        let mut sums = Vec::new();
        for service in ["sync", "sync_id", "sync_info", "async", "async_id", "async_info"] {
            sums.push(call(&node, service, 2).await);
        }
        sums
    });
    assert_eq!(sums, [3, 30, 60, 3, 30, 60]);
}

#[test]
fn callbacks_of_a_worker_answer_in_every_form() {
    let (mut executor, node) = node();
    let worker = node.create_worker::<i64>(0);
    let mut own = 0;
    let _services = [
        worker.create_service::<AddTwoInts, _>("w", move |request: Request| {
            own += 100;
            Response { sum: own + sum(&request).sum }
        }),
        worker.create_service::<AddTwoInts, _>("w_id", |it: Request, id: RequestId| Response {
            sum: 10 * sum(&it).sum + id.sequence_number,
        }),
        worker.create_service::<AddTwoInts, _>("w_info", |it: Request, _: ServiceInfo| Response {
            sum: 20 * sum(&it).sum,
        }),
        worker.create_service::<AddTwoInts, _>("p", |total: &mut i64, request: Request| {
            *total += sum(&request).sum;
            Response { sum: *total }
        }),
        worker.create_service::<AddTwoInts, _>(
            "p_id",
            |total: &mut i64, request: Request, _: RequestId| {
                *total += sum(&request).sum;
                Response { sum: *total }
            },
        ),
        worker.create_service::<AddTwoInts, _>(
            "p_info",
            |total: &mut i64, request: Request, _: ServiceInfo| {
                *total += sum(&request).sum;
                Response { sum: *total }
            },
        ),
    ]
    .map(Result::unwrap);
    let sums = run(&mut executor, async move {
        let mut sums = Vec::new();
        for service in ["w", "w", "w_id", "w_info", "p", "p_id", "p_info"] {
            sums.push(call(&node, service, 2).await);
        }
        sums.push(worker.run(|total| *total).await.unwrap());
        sums
    });
    assert_eq!(sums, [103, 203, 30, 60, 3, 6, 9, 9]);
}

#[test]
fn both_sides_of_a_call_see_one_identifier() {
    let (mut executor, node) = node();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let ids = seen.clone();
    let note = move |request: Request, id: RequestId| {
        ids.lock().unwrap().push(id);
        sum(&request)
    };
    let _service = node.create_service::<AddTwoInts, _>("add", note).unwrap();
    let ids = run(&mut executor, async move {
        let first = node.create_client::<AddTwoInts>("add").unwrap();
        let second = node.create_client::<AddTwoInts>("add").unwrap();
        let mut ids = Vec::new();
        for client in [&first, &second, &first] {
            let promise = client.call::<_, (Response, RequestId)>(&request(1, 2)).unwrap();
            ids.push(promise.await.unwrap().1);
            let promise = client.call::<_, (Response, ServiceInfo)>(&request(1, 2)).unwrap();
            let (response, info) = promise.await.unwrap();
            assert_eq!((response.sum, info.received_timestamp.is_some()), (3, true));
            ids.push(info.request_id);
        }
        ids
    });
    assert_eq!(ids, *seen.lock().unwrap());
    let mut distinct = ids.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 6);
}

#[test]
fn callbacks_for_responses_run_in_every_form() {
    let (mut executor, node) = node();
    let _service =
        node.create_service::<AddTwoInts, _>("add", |request: Request| sum(&request)).unwrap();
    let client = node.create_client::<AddTwoInts>("add").unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |factor: i64| {
        let seen = seen.clone();
        move |response: Response| seen.lock().unwrap().push(factor * response.sum)
    };
    let (n, n_id, n_info) = (note(1), note(2), note(3));
    let (a, a_id, a_info) = (note(4), note(5), note(6));
    let promises = [
        client.call_then(request(1, 2), n),
        client.call_then(request(1, 2), move |it: Response, _: RequestId| n_id(it)),
        client.call_then(&request(1, 2), move |it: Response, _: ServiceInfo| n_info(it)),
        client.call_then_async(&request(1, 2), async move |it: Response| a(it)),
        client.call_then_async(request(1, 2), move |it: Response, _: RequestId| {
            a_id(it);
            ready(())
        }),
        client.call_then_async(request(1, 2), move |it: Response, _: ServiceInfo| async move {
            a_info(it);
        }),
    ];
    for promise in promises {
        spin_for(&mut executor, promise.unwrap()).unwrap();
    }
    assert_eq!(*seen.lock().unwrap(), [3, 6, 9, 12, 15, 18]);
}

#[test]
fn a_callback_of_a_node_and_a_worker_may_call() {
    let (mut executor, node) = node();
    let _service =
        node.create_service::<AddTwoInts, _>("add", |request: Request| sum(&request)).unwrap();
    let client = node.create_client::<AddTwoInts>("add").unwrap();
    let worker = node.create_worker::<Vec<Promise<Response>>>(Vec::new());
    let publisher = node.create_publisher::<Int64>("numbers").unwrap();
    let (sender, of_node) = oneshot::channel();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let caller = client.clone();
    let _in_node = node.create_subscription::<Int64, _>("numbers", move |number: Int64| {
        let sender = sender.lock().unwrap().take();
        let respond = move |response: Response| {
            sender.into_iter().for_each(|sender| sender.send(response.sum).unwrap());
        };
        drop(caller.call_then(request(number.data, 1), respond).unwrap());
    });
    let call = move |calls: &mut Vec<Promise<Response>>, number: Int64| {
        calls.push(client.call(request(number.data, 2)).unwrap());
    };
    let _in_worker = worker.create_subscription::<Int64, _>("numbers", call).unwrap();
    let of_worker = worker.listen_until(|calls| calls.pop());
    publisher.publish(Int64 { data: 40 }).unwrap();
    assert_eq!(spin_for(&mut executor, of_node), Ok(41));
    let response = run(&mut executor, async move { of_worker.await.unwrap().await.unwrap() });
    assert_eq!(response.sum, 42);
}

#[test]
fn another_thread_waits_for_a_response() {
    let (mut executor, node) = node();
    let _service =
        node.create_async_service::<AddTwoInts, _>("add", |request: Request| async move {
            sum(&request)
        })
        .unwrap();
    let client = node.create_client::<AddTwoInts>("add").unwrap();
    let (sender, sums) = oneshot::channel();
    let caller = thread::spawn(move || {
        let add = |a| block_on(client.call::<_, Response>(request(a, a)).unwrap()).unwrap().sum;
        sender.send((0..100).map(add).sum::<i64>()).unwrap();
    });
    assert_eq!(spin_for(&mut executor, sums), Ok(9900));
    caller.join().unwrap();
}

#[test]
fn a_service_takes_another_callback() {
    let (mut executor, node) = node();
    let add = |number: i64| move |request: Request| Response { sum: number + request.b };
    let service = node.create_service::<AddTwoInts, _>("node", add(10)).unwrap();
    let worker = node.create_worker::<i64>(1000);
    let in_worker = worker.create_service::<AddTwoInts, _>("worker", add(10)).unwrap();
    let sums = run(&mut executor, async move {
        let mut sums = vec![call(&node, "node", 1).await];
        service.set_async_callback(move |request: Request| ready(add(20)(request)));
        sums.push(call(&node, "node", 1).await);
        let this = Arc::downgrade(&service);
        service.set_callback(move |request: Request| {
            this.upgrade().unwrap().set_callback(add(40));
            add(30)(request)
        });
        sums.extend([call(&node, "node", 1).await, call(&node, "node", 1).await]);
        sums.push(call(&node, "worker", 1).await);
        in_worker.set_worker_callback(move |total: &mut i64, request: Request| Response {
            sum: *total + request.b,
        });
        sums.push(call(&node, "worker", 1).await);
        sums
    });
    assert_eq!(sums, [11, 21, 31, 41, 11, 1001]);
}

#[test]
fn futures_of_an_async_service_run_side_by_side() {
    let (mut executor, node) = node();
    let mut waiting = None::<oneshot::Sender<()>>;
    // The first request is answered after the second one.
    let answer = move |request: Request| {
        let waits = match waiting.take() {
            Some(first) => {
                first.send(()).unwrap();
                None
            }
            None => {
                let (sender, waits) = oneshot::channel();
                waiting = Some(sender);
                Some(waits)
            }
        };
        async move {
            if let Some(waits) = waits {
                waits.await.unwrap();
            }
            sum(&request)
        }
    };
    let _service = node.create_async_service::<AddTwoInts, _>("add", answer).unwrap();
    let client = node.create_client::<AddTwoInts>("add").unwrap();
    let first = client.call::<_, Response>(request(1, 1)).unwrap();
    let second = client.call::<_, Response>(request(2, 2)).unwrap();
    assert_eq!(spin_for(&mut executor, first).unwrap().sum, 2);
    assert_eq!(spin_for(&mut executor, second).unwrap().sum, 4);
}

#[test]
fn a_call_without_a_server_is_cancelled() {
    let (mut executor, node) = node();
    let client = node.create_client::<AddTwoInts>("nowhere").unwrap();
    assert!(!client.service_is_ready().unwrap());
    let promise = client.call::<_, Response>(request(1, 2)).unwrap();
    assert!(spin_for(&mut executor, promise).is_err());
    let called = client.call_then(request(1, 2), |_: Response| panic!("no response")).unwrap();
    assert!(spin_for(&mut executor, called).is_err());
}

#[test]
fn a_call_of_a_server_that_ends_is_cancelled() {
    let (mut executor, node) = node();
    let other = executor.create_node("other").unwrap();
    let (sender, arrived) = oneshot::channel();
    let mut sender = Some(sender);
    let never = move |_: Request| {
        sender.take().into_iter().for_each(|sender| sender.send(()).unwrap());
        pending::<Response>()
    };
    let service = other.create_async_service::<AddTwoInts, _>("never", never).unwrap();
    let client = node.create_client::<AddTwoInts>("never").unwrap();
    let promise = client.call::<_, Response>(request(1, 2)).unwrap();
    spin_for(&mut executor, arrived).unwrap();
    drop((other, service));
    assert!(spin_for(&mut executor, promise).is_err());
}

/// Calls before the first spin, until a call is refused; the promises, and the error.
fn call_until_refused(client: &Client<AddTwoInts>) -> (Vec<Promise<Response>>, String) {
    let mut promises = Vec::new();
    loop {
        match client.call(request(promises.len() as i64, 1)) {
            Ok(promise) => promises.push(promise),
            Err(error) => return (promises, error.to_string()),
        }
        assert!(promises.len() < 2000, "calls without a limit");
    }
}

#[test]
fn a_greater_depth_raises_the_limits_of_calls() {
    let (mut executor, node) = node();
    let serve = |options| {
        node.create_service::<AddTwoInts, _>(options, |request: Request| sum(&request)).unwrap()
    };
    let _services = [serve("deep".keep_last(1500)), serve("plain".keep_last(3))];
    let client = |options| node.create_client::<AddTwoInts>(options).unwrap();
    let (plain, refused) = call_until_refused(&client("deep".keep_last(3)));
    assert_eq!(plain.len(), 1000);
    assert!(refused.contains("/deep: 1000 calls of this client have no response"), "{refused}");
    assert!(refused.contains("\"/deep\".keep_last(10000)"), "{refused}");
    // The other 500 requests that wait at the service.
    let (deep, refused) = call_until_refused(&client("deep".keep_all()));
    assert_eq!(deep.len(), 500);
    assert!(refused.contains("/deep: the service's queue of requests is full"), "{refused}");
    let (shallow, refused) = call_until_refused(&client("plain".keep_last(1200)));
    assert_eq!(shallow.len(), 1000);
    assert!(refused.contains("/plain: the service's queue of requests is full"), "{refused}");
    let sums = run(&mut executor, async move {
        let mut sums = 0;
        for promise in plain.into_iter().chain(deep).chain(shallow) {
            sums += promise.await.unwrap().sum;
        }
        sums
    });
    assert_eq!(sums, 2 * (1..=1000).sum::<i64>() + (1..=500).sum::<i64>());
}

#[test]
fn a_response_that_its_definition_does_not_allow_is_dropped() {
    let (mut executor, node) = node();
    let _service = node
        .create_service::<Trigger, _>("text", |_: Trigger_Request| Trigger_Response {
            success: true,
            message: "a\0b".into(),
        })
        .unwrap();
    let client = node.create_client::<Trigger>("text").unwrap();
    let promise = client.call::<_, Trigger_Response>(Trigger_Request::default()).unwrap();
    assert!(spin_for(&mut executor, promise).is_err());
}

#[test]
fn a_client_is_told_of_its_service() {
    let (mut executor, node) = node();
    let client = node.create_client::<AddTwoInts>("later".keep_last(3)).unwrap();
    let is_ready = client.notify_on_service_ready();
    assert!(!client.service_is_ready().unwrap());
    let later = node.clone();
    let create = async move {
        later.create_service::<AddTwoInts, _>("later", |request: Request| sum(&request)).unwrap()
    };
    let service = run(&mut executor, create);
    spin_for(&mut executor, is_ready).unwrap();
    assert!(client.service_is_ready().unwrap());
    drop(service);
    let gone = client.clone();
    let is_gone = node.notify_on_graph_change(move || !gone.service_is_ready().unwrap());
    spin_for(&mut executor, is_gone).unwrap();
}

#[test]
fn a_server_of_this_process_is_ready_before_the_spin() {
    let (_executor, node) = node();
    let client = node.create_client::<AddTwoInts>("add").unwrap();
    let _service =
        node.create_service::<AddTwoInts, _>("add", |request: Request| sum(&request)).unwrap();
    assert!(client.service_is_ready().unwrap());
}

#[test]
fn names_are_resolved_and_checked() {
    let executor = Context::default().create_basic_executor();
    let node = executor.create_node("node".namespace("/robot")).unwrap();
    let serve = |name| node.create_service::<AddTwoInts, _>(name, |request: Request| sum(&request));
    let (service, own) = (serve("add").unwrap(), serve("~/add").unwrap());
    assert_eq!((&*service.service_name(), &*own.service_name()), ("/robot/add", "/robot/node/add"));
    let client = node.create_client::<AddTwoInts>("add").unwrap();
    assert_eq!(client.service_name(), "/robot/add");
    let client = node.create_client::<AddTwoInts>("{namespace}/{node}/add").unwrap();
    assert_eq!(client.service_name(), own.service_name());
    let invalid = RclReturnCode::ServiceNameInvalid;
    assert!(is_error(serve("1st"), invalid));
    assert!(is_error(serve("{name}/add"), invalid));
    assert!(is_error(node.create_client::<AddTwoInts>("1st"), invalid));
    assert!(is_error(node.create_client::<Trigger>("add"), RclReturnCode::Error));
    assert!(is_error(serve("add"), RclReturnCode::Error));
    drop(service);
    serve("add").unwrap();
}
