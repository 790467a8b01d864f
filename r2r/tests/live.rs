//! The API as applications use it, on the runtimes that they use, within one process.

use futures::executor::LocalPool;
use futures::future::ready;
use futures::task::LocalSpawnExt;
use futures::{FutureExt, StreamExt};
use r2r::rcl_interfaces::srv::GetParameters;
use r2r::sensor_msgs::msg::Imu;
use r2r::std_msgs::msg::{Int32, String as Text};
use r2r::std_srvs::srv::SetBool;
use r2r::{Context, NativeMsg, Node, QosProfile};
use serde_json::json;
use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const STEP: Duration = Duration::from_millis(100);

fn node(name: &str) -> Result<Node> {
    Ok(Node::create(Context::create()?, name, "")?)
}

#[test]
fn messages_reach_tasks_of_a_local_pool() -> Result {
    let mut node = node("local_pool")?;
    let messages = node.subscribe::<Text>("local_pool/in", QosProfile::default())?;
    let publisher = node.create_publisher::<Text>("local_pool/in", QosProfile::default())?;
    let mut timer = node.create_wall_timer(Duration::from_millis(1))?;
    let (mut pool, heard) = (LocalPool::new(), Rc::new(RefCell::new(Vec::new())));
    let spawner = pool.spawner();
    let all = heard.clone();
    spawner.spawn_local(messages.for_each(move |message| {
        all.borrow_mut().push(message.data);
        ready(())
    }))?;
    spawner.spawn_local(async move {
        for number in 0..5 {
            timer.tick().await.unwrap();
            publisher.publish(&Text { data: format!("hello {number}") }).unwrap();
        }
    })?;
    while heard.borrow().len() < 5 {
        node.spin_once(STEP);
        pool.run_until_stalled();
    }
    assert_eq!(*heard.borrow(), ["hello 0", "hello 1", "hello 2", "hello 3", "hello 4"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_end_with_their_node() -> Result {
    let mut node = node("ending")?;
    let mut messages = node.subscribe::<Int32>("ending/in", QosProfile::default())?;
    let publisher = node.create_publisher::<Int32>("ending/in", QosProfile::default())?;
    let mut timer = node.create_wall_timer(Duration::from_secs(1000))?;
    let spinning = tokio::task::spawn_blocking(move || {
        node.spin_once(STEP);
        publisher.publish(&Int32 { data: 7 }).unwrap();
        drop(node);
        publisher
    });
    let mut heard = Vec::new();
    while let Some(message) = messages.next().await {
        heard.push(message.data);
    }
    assert!(timer.tick().await.is_err());
    let publisher = spinning.await?;
    let error = publisher.publish(&Int32 { data: 8 }).unwrap_err();
    assert!(matches!(error, r2r::Error::RCL_RET_PUBLISHER_INVALID), "{error}");
    Ok(())
}

#[tokio::test]
async fn services_answer_and_calls_end() -> Result {
    let mut node = node("calling")?;
    let qos = QosProfile::services_default();
    let client = node.create_client::<SetBool::Service>("calling/set", qos.clone())?;
    let untyped = node.create_client_untyped("calling/set", "std_srvs/srv/SetBool", qos.clone())?;
    let available = Node::is_available(&client)?;
    let node = Arc::new(Mutex::new(node));
    let spun = node.clone();
    let spinning = tokio::task::spawn_blocking(move || {
        for _ in 0..40 {
            spun.lock().unwrap().spin_once(Duration::from_millis(5));
            std::thread::yield_now();
        }
    });
    let mut requests =
        node.lock().unwrap().create_service::<SetBool::Service>("calling/set", qos)?;
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            let message = format!("set to {}", request.message.data);
            let response = SetBool::Response { success: request.message.data, message };
            request.respond(response).unwrap();
        }
    });
    available.await?;
    let response = client.request(&SetBool::Request { data: true })?.await?;
    assert_eq!(response.message, "set to true");
    let response = untyped.request(serde_json::json!({}))?.await??;
    assert_eq!(response, serde_json::json!({ "success": false, "message": "set to false" }));
    spinning.await?;
    Ok(())
}

#[test]
fn typed_untyped_and_raw_ends_share_a_topic() -> Result {
    let mut node = node("mixed")?;
    let topic = "mixed/in";
    let qos = QosProfile::default();
    let mut typed = node.subscribe::<Int32>(topic, qos.clone())?;
    let mut untyped = node.subscribe_untyped(topic, "std_msgs/msg/Int32", qos.clone())?;
    let mut raw = node.subscribe_raw(topic, "std_msgs/msg/Int32", qos.clone())?;
    let of_struct = node.create_publisher::<Int32>(topic, qos.clone())?;
    let of_json = node.create_publisher_untyped(topic, "std_msgs/msg/Int32", qos.clone())?;
    of_struct.publish(&Int32 { data: 1 })?;
    of_json.publish(serde_json::json!({ "data": 2 }))?;
    of_json.publish_raw(&[0, 1, 0, 0, 3, 0, 0, 0])?;
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    while all.iter().any(|of| of.len() < 3) {
        node.spin_once(STEP);
        while let Some(Some(message)) = typed.next().now_or_never() {
            all[0].push(i64::from(message.data));
        }
        while let Some(Some(message)) = untyped.next().now_or_never() {
            all[1].push(message?["data"].as_i64().unwrap());
        }
        while let Some(Some(message)) = raw.next().now_or_never() {
            all[2].push(i64::from(message[4]));
        }
    }
    assert_eq!(all, [[1, 2, 3]; 3]);
    let error = node.create_publisher::<Text>(topic, qos).unwrap_err().to_string();
    assert!(error.contains("/mixed/in") && error.contains("std_msgs/msg/Int32"), "{error}");
    Ok(())
}

/// A message that another process could not get is refused in one process, too.
#[test]
fn messages_that_their_definitions_forbid_are_refused() -> Result {
    let (mut node, qos) = (node("forbidden")?, QosProfile::default);
    let mut heard = node.subscribe::<Imu>("forbidden/imu", qos())?;
    let imus = node.create_publisher::<Imu>("forbidden/imu", qos())?;
    let short = Imu { orientation_covariance: vec![0.0; 3], ..Default::default() };
    let texts = node.create_publisher::<Text>("forbidden/text", qos())?;
    let named = node.create_publisher_untyped("forbidden/text", "std_msgs/msg/String", qos())?;
    let cut = "ab\0c".to_owned();
    let mut requests = node.create_service::<SetBool::Service>("forbidden/set", qos())?;
    let set = node.create_client::<SetBool::Service>("forbidden/set", qos())?;
    let get = node.create_client::<GetParameters::Service>("forbidden/get", qos())?;
    let mut answer = set.request(&SetBool::Request { data: true })?;
    let request = loop {
        node.spin_once(STEP);
        if let Some(request) = requests.next().now_or_never().flatten() {
            break request;
        }
    };
    let response = |message| SetBool::Response { success: true, message };
    let results = [
        imus.publish(&short),
        imus.publish_native(&mut NativeMsg::from(&short)),
        texts.publish(&Text { data: cut.clone() }),
        named.publish(json!({ "data": cut })),
        get.request(&GetParameters::Request { names: vec![cut.clone()] }).map(drop),
        request.clone().respond(response(cut)),
    ];
    let fields = [
        "`orientation_covariance`",
        "`orientation_covariance`",
        "data",
        "data",
        "names[0]",
        "message",
    ];
    for (result, field) in results.into_iter().zip(fields) {
        let error = result.unwrap_err();
        assert!(matches!(error, r2r::Error::SerdeError { .. }), "{error}");
        assert!(error.to_string().contains(field), "{field}: {error}");
    }
    // Nothing of it was sent, and the request still waits for an answer.
    request.respond(response("done".into()))?;
    imus.publish(&Imu::default())?;
    while heard.next().now_or_never().flatten() != Some(Imu::default()) {
        node.spin_once(STEP);
    }
    let answer = loop {
        if let Some(answer) = (&mut answer).now_or_never() {
            break answer?;
        }
        node.spin_once(STEP);
    };
    assert_eq!(answer.message, "done");
    Ok(())
}

#[test]
fn a_slow_reader_keeps_the_newest_messages() -> Result {
    let mut node = node("slow")?;
    let qos = QosProfile::default().keep_last(3);
    let mut messages = node.subscribe::<Int32>("slow/in", qos.clone())?;
    let mut last = node.subscribe::<Int32>("slow/last", qos.clone())?;
    let publisher = node.create_publisher::<Int32>("slow/in", qos.clone())?;
    let end = node.create_publisher::<Int32>("slow/last", qos)?;
    for data in 0..100 {
        publisher.publish(&Int32 { data })?;
    }
    end.publish(&Int32 { data: 0 })?;
    while last.next().now_or_never().is_none() {
        node.spin_once(STEP);
    }
    let mut kept = Vec::new();
    while let Some(Some(message)) = messages.next().now_or_never() {
        kept.push(message.data);
    }
    assert_eq!(kept, [97, 98, 99]);
    Ok(())
}

#[test]
fn a_second_node_of_one_name_gets_a_number() -> Result {
    let nodes = [node("twin")?, node("twin")?, node("twin")?];
    assert_eq!(nodes.each_ref().map(|node| node.name().unwrap()), ["twin", "twin_2", "twin_3"]);
    drop(nodes);
    assert_eq!(node("twin")?.name()?, "twin");
    Ok(())
}

#[test]
fn names_may_have_substitutions() -> Result {
    let mut node = Node::create(Context::create()?, "named", "/robot")?;
    let qos = QosProfile::default;
    let mut heard = node.subscribe::<Int32>("{ns}/{node}/in", qos())?;
    node.create_publisher::<Int32>("~/in", qos())?.publish(&Int32 { data: 1 })?;
    node.spin_once(STEP);
    assert_eq!(heard.next().now_or_never().flatten().map(|message| message.data), Some(1));
    let error = node.subscribe::<Int32>("{host}/in", qos()).map(drop).unwrap_err().to_string();
    assert!(error.contains("TOPIC_NAME_INVALID"), "{error}");
    let _served = node.create_service::<SetBool::Service>("{namespace}/set", qos())?;
    let client = node.create_client::<SetBool::Service>("set", qos())?;
    assert!(Node::is_available(&client)?.now_or_never().is_some());
    Ok(())
}

#[test]
fn a_wait_for_subscriptions_ends_with_its_publisher() -> Result {
    let mut node = node("waiting")?;
    let publisher = node.create_publisher::<Int32>("waiting/in", QosProfile::default())?;
    let waits = [(); 2].map(|()| publisher.wait_for_inter_process_subscribers());
    let clone = publisher.clone();
    node.destroy_publisher(publisher);
    for wait in waits {
        assert!(wait?.now_or_never().unwrap().is_err());
    }
    assert!(clone.wait_for_inter_process_subscribers().is_err());
    Ok(())
}

#[test]
fn errors_name_the_input_and_the_way_out() -> Result {
    let mut node = node("wrong")?;
    let qos = QosProfile::default;
    let topic = "wrong/in";
    let _reliable = node.subscribe::<Int32>(topic, qos().reliable())?;
    let results = [
        node.subscribe_untyped(topic, "std_msgs/msg/Strin", qos()).map(drop),
        node.subscribe_raw(topic, "my_msgs/msg/String", qos()).map(drop),
        node.create_client_untyped("wrong/set", "std_srvs/srv/SetBol", qos()).map(drop),
        node.create_publisher::<Int32>(topic, qos().best_effort()).map(drop),
        node.create_publisher::<Text>(topic, qos()).map(drop),
        node.create_publisher::<Text>("wrong topic", qos()).map(drop),
    ];
    let expected = [
        ["std_msgs/msg/Strin (", "std_msgs/msg/String"],
        ["my_msgs/msg/String (", "RINGSPIN_MESSAGES"],
        ["std_srvs/srv/SetBol (", "std_srvs/srv/SetBool"],
        ["/wrong/in", "reliab"],
        ["/wrong/in", "std_msgs/msg/Int32"],
        ["TOPIC_NAME_INVALID", ""],
    ];
    for (result, parts) in results.into_iter().zip(expected) {
        let error = result.unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{parts:?}: {error}");
    }
    Ok(())
}
