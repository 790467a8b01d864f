//! A recording of numbers, and a program with nodes that add them up.

use ringspin_bag::{Bag, Definition, MessageTypes, Topic, WriteOptions, Writer};
use ringspin_cli::Program;
use ringspin_executor::{BoxError, Graph, Message, QoS, Time};
use ringspin_messages::rosgraph_msgs::msg::Clock;
use ringspin_messages::std_msgs::msg::{Int32, Int64};
use ringspin_messages::{RosMessage, cdr};
use ringspin_simulation::{NodeConfig, Registry};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// The time of the first message.
pub(crate) const START: Time = Time::from_secs(1_700_000_000);

/// A folder with the recording `drive`.
pub(crate) struct Drive(TempDir);

impl Drive {
    /// A recording of `/number` with the first `count` numbers, one each second.
    pub(crate) fn new(count: u32) -> Self {
        let drive = Self(tempfile::tempdir().unwrap());
        let mut writer = Writer::create(drive.path("drive"), WriteOptions::default()).unwrap();
        let definition = Definition { encoding: "ros2msg".into(), text: Int32::DEFINITION.into() };
        let topic = Topic {
            name: "/number".into(),
            type_name: Int32::TYPE_NAME.into(),
            type_hash: Some(Int32::TYPE_HASH.into()),
            definition: Some(definition),
            serialization_format: "cdr".into(),
            offered_qos: vec![QoS::default()],
        };
        let topic = writer.add_topic(&topic).unwrap();
        for n in 0..count {
            let time = START + Duration::from_secs(n.into());
            let data = cdr::to_bytes(&Int32 { data: n as i32 }).unwrap();
            writer.write(topic, time, time, n, &data).unwrap();
        }
        writer.finish().unwrap();
        drive
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn bag(&self, name: &str) -> Bag {
        Bag::open(self.path(name)).unwrap()
    }

    /// Replaces `$` by the folder.
    pub(crate) fn words(&self, line: &str) -> Vec<String> {
        let folder = format!("{}/", self.0.path().display());
        line.split_whitespace().map(|word| word.replace('$', &folder)).collect()
    }

    /// Replaces the folder by `$`.
    pub(crate) fn text(&self, output: Vec<u8>) -> String {
        let folder = format!("{}/", self.0.path().display());
        String::from_utf8(output).unwrap().replace(&folder, "$")
    }

    /// Runs a command line, in which `$` is the folder, as in the output.
    #[allow(dead_code, reason = "not every test uses it")]
    pub(crate) fn run(&self, line: &str) -> (u8, String, String) {
        let words = ["program".to_owned()].into_iter().chain(self.words(line));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = program(line.contains("--job")).run_from(words, &mut out, &mut err);
        (code, self.text(out), self.text(err))
    }
}

/// Publishes on `to` what `map` makes of each number and the state.
fn maps(
    (graph, place): (&Graph, &NodeConfig),
    to: &str,
    map: impl Fn(&mut i32, i32) -> Result<i32, BoxError> + Send + 'static,
) -> Result<(), BoxError> {
    let node = place.create_node(graph, 0)?;
    let out = node.create_publisher(to, QoS::default())?;
    node.create_subscription("number", QoS::default(), move |state, n: &Message<Int32>, _| {
        Ok::<_, BoxError>(out.publish(Int32 { data: map(state, n.data)? })?)
    })?;
    Ok(())
}

fn sum(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    maps((graph, place), "sum", |sum, number| {
        *sum += number;
        Ok(*sum)
    })
}

/// Ends the run with exit code 7 at the fourth number.
fn limit(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    let node = place.create_node(graph, ())?;
    node.create_subscription("number", QoS::default(), |(), n: &Message<Int32>, cx| {
        if n.data == 3 {
            cx.exit(7);
        }
    })?;
    Ok(())
}

/// Ends the run with exit code 7 at its fourth message.
fn fourth(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    let node = place.create_node(graph, 0)?;
    node.create_subscription("number", QoS::default(), |count, _: &Message<Int32>, cx| {
        *count += 1;
        if *count == 4 {
            cx.exit(7);
        }
    })?;
    Ok(())
}

/// Has another type than the recording for its topic.
fn other(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    let node = place.create_node(graph, ())?;
    node.create_subscription("number", QoS::default(), |(), _: &Message<Int64>, _| ())?;
    Ok(())
}

/// Publishes how many messages came before in this process.
fn leaks(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    static COUNT: AtomicI32 = AtomicI32::new(0);
    maps((graph, place), "leak", |_, _| Ok(COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// Publishes the id of this process.
fn process(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    maps((graph, place), "process", |_, _| Ok(std::process::id() as i32))
}

fn fails(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    maps((graph, place), "none", |_, n| if n < 4 { Ok(n) } else { Err("four is too much".into()) })
}

/// The program of the tests: with `sum` alone, or for job files with all nodes.
pub(crate) fn program(has_all: bool) -> Program {
    let types = MessageTypes::new().with::<Int32>().with::<Int64>().with::<Clock>();
    let mut registry = Registry::new().node("sum", sum);
    if has_all {
        registry = registry
            .node("limit", limit)
            .node("fourth", fourth)
            .node("other", other)
            .node("leaks", leaks)
            .node("process", process)
            .node("fails", fails);
    }
    Program::new(registry).messages(types)
}
