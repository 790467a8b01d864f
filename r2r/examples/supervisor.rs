//! A supervisor that knows its robots by names only, written against r2r as its users do: tokio on
//! one thread, robots that come and go, topics, services and parameters by the names of their
//! types, messages as bytes.
//!
//! It ends after eight robots. Run it as it is, and twice with `RINGSPIN_MODE=deterministic`.

use futures::StreamExt;
use r2r::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use r2r::sensor_msgs::msg::BatteryState;
use r2r::std_srvs::srv::Trigger;
use r2r::{Clock, ClockType, Context, Node, QosProfile};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{LocalSet, spawn_blocking, spawn_local};
use tokio::time::{sleep, timeout};

/// A robot, until it is told to dock: its battery drains from thread to topic.
async fn robot(context: Context, number: usize) -> r2r::Result<()> {
    let mut node = Node::create(context, &format!("robot_{number}"), "fleet")?;
    let battery = node.create_publisher::<BatteryState>(
        &format!("robot_{number}/battery"),
        QosProfile::default().transient_local(),
    )?;
    let mut requests = node.create_service::<Trigger::Service>(
        &format!("robot_{number}/dock"),
        QosProfile::default(),
    )?;
    let (level, mut levels) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut percentage = 1.0;
        while level.blocking_send(percentage).is_ok() {
            std::thread::sleep(Duration::from_millis(rand::random_range(5..10)));
            percentage *= rand::random_range(0.97..0.99);
        }
    });
    let has_docked = Arc::new(AtomicBool::new(false));
    let ended = has_docked.clone();
    spawn_blocking(move || {
        while !ended.load(Ordering::Relaxed) {
            node.spin_once(Duration::from_millis(2));
        }
    });
    loop {
        tokio::select! {
            Some(percentage) = levels.recv() => {
                battery.publish(&BatteryState { percentage, ..BatteryState::default() })?;
            }
            Some(request) = requests.next() => {
                let message = format!("robot_{number} docks");
                request.respond(Trigger::Response { success: true, message })?;
                break;
            }
        }
    }
    has_docked.store(true, Ordering::Relaxed);
    Ok(())
}

/// Reports what the supervisor knows.
fn report(levels: &BTreeMap<String, f64>, sizes: usize, clock: &mut Clock) -> DiagnosticArray {
    let status = levels.iter().map(|(name, level)| DiagnosticStatus {
        level: u8::from(*level < 0.7),
        name: name.clone(),
        values: vec![KeyValue { key: "percentage".into(), value: format!("{level:.3}") }],
        hardware_id: sizes.to_string(),
        ..DiagnosticStatus::default()
    });
    let mut message = DiagnosticArray { status: status.collect(), ..DiagnosticArray::default() };
    message.header.stamp = Clock::to_builtin_time(&clock.get_now().unwrap());
    message
}

/// The topics of batteries that are not watched.
fn new_batteries(node: &Node, known: &BTreeMap<String, f64>) -> r2r::Result<Vec<(String, String)>> {
    let topics = node.get_topic_names_and_types()?.into_iter();
    let mut topics: Vec<_> = topics
        .filter(|(name, _)| name.ends_with("/battery") && !known.contains_key(name))
        .map(|(name, types)| (name, types.into_iter().next().unwrap()))
        .collect();
    topics.sort();
    Ok(topics)
}

async fn supervise(mut node: Node) -> r2r::Result<()> {
    let diagnostics =
        node.create_publisher::<DiagnosticArray>("/diagnostics", QosProfile::default())?;
    let mut clock = Clock::create(ClockType::SystemTime)?;
    let (batteries, mut news) = mpsc::unbounded_channel();
    let (mut levels, mut bytes, mut docked) = (BTreeMap::new(), 0, 0);
    while docked < 8 {
        node.spin_once(Duration::ZERO);
        for (topic, type_name) in new_batteries(&node, &levels)? {
            let mut messages = node.subscribe_untyped(&topic, &type_name, QosProfile::default())?;
            let mut raw = node.subscribe_raw(&topic, &type_name, QosProfile::default())?;
            levels.insert(topic.clone(), 1.0);
            let batteries = batteries.clone();
            spawn_local(async move {
                while let Some(Ok(message)) = messages.next().await {
                    let size = raw.next().await.map_or(0, |bytes| bytes.len());
                    let level = message["percentage"].as_f64().unwrap();
                    if batteries.send((topic.clone(), level, size)).is_err() {
                        return;
                    }
                }
            });
        }
        let Ok(Some((topic, level, size))) = timeout(Duration::from_millis(5), news.recv()).await
        else {
            continue;
        };
        bytes += size;
        let before = levels.insert(topic.clone(), level).unwrap_or(1.0);
        diagnostics.publish(&report(&levels, bytes, &mut clock))?;
        if before >= 0.5 && level < 0.5 {
            let name = topic.replace("/battery", "/dock");
            let client =
                node.create_client_untyped(&name, "std_srvs/srv/Trigger", QosProfile::default())?;
            let answer = client.request(serde_json::json!({}))?.await??;
            println!("{}, {bytes} bytes", answer["message"]);
            docked += 1;
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::create()?;
    let node = Node::create(context.clone(), "supervisor", "fleet")?;
    let fleet = async move {
        for number in 0..8 {
            spawn_local(robot(context.clone(), number));
            sleep(Duration::from_millis(20)).await;
        }
    };
    let set = LocalSet::new();
    set.spawn_local(fleet);
    Ok(set.run_until(supervise(node)).await?)
}
