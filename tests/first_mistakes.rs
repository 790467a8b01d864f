//! The first mistakes of a user, run as programs: this one starts itself once for each mistake, and
//! compares the error that `main` returns, as the terminal shows it, with the expected text.

use ringspin::prelude::*;
use std::process::{Command, ExitCode, Termination};
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(1);

/// A mistake, its name, and the text after `Error: `.
type Mistake = (&'static str, fn() -> Result<()>, &'static str);

const MISTAKES: [Mistake; 21] = [
    (
        "publish before the spin",
        || Ok(node("talker")?.create_publisher("chatter", QoS::default())?.publish(1u64)?),
        "failed to publish on /chatter: the graph is still being built; publish from a callback, \
         freeze the graph first, or make the publisher transient-local",
    ),
    (
        "second node of one name",
        || {
            let executor = Executor::single_core();
            executor.create_node("talker", ())?;
            executor.create_node("talker", ()).map(drop)
        },
        "failed to create node /talker: there is one of this name; give one of them another name, \
         or put it into another namespace",
    ),
    (
        "period of zero",
        || node("listener")?.create_timer(Duration::ZERO, |_, _| ()).map(drop),
        "failed to create a timer of node /listener: timer period 0ns is out of range; use 1 ns to \
         584 years",
    ),
    (
        "missing mapping file",
        || ringspin::Mapping::load("missing.toml").map(drop),
        "failed to read the mapping file `missing.toml`: No such file or directory (os error 2); \
         check the path and its permissions",
    ),
    (
        "unknown key in a mapping",
        || "[[cores]]\nid = 0\n".parse::<ringspin::Mapping>().map(drop),
        "the text is not a mapping: TOML parse error at line 1, column 3",
    ),
    (
        "panic in a callback",
        || simulated(|| panic!("no lens")),
        "node /node, callback `timer 1ms` panicked on event 0#0 at ",
    ),
    (
        "error of a callback",
        || simulated(|| Err("no lens")),
        "node /node, callback `timer 1ms` failed on event 0#0 at ",
    ),
    (
        "invalid topic name",
        || node("talker")?.create_publisher::<u8>("two words", QoS::default()).map(drop),
        "invalid topic name \"two words\": only letters, digits, underscores and \
         slashes are allowed",
    ),
    ("invalid node name", || node("1st").map(drop), "invalid node name \"1st\": no part of it may"),
    (
        "two types on one topic",
        || {
            let node = node("talker")?;
            let _chatter = node.create_publisher::<u64>("chatter", QoS::default())?;
            node.create_publisher::<f64>("chatter", QoS::default()).map(drop)
        },
        "failed to use topic /chatter with f64 in node /talker: node /talker uses it with u64; use \
         the same type, or give one of them another name",
    ),
    (
        "incompatible QoS",
        || {
            let node = node("lidar")?;
            let _scan = node.create_publisher::<u64>("scan", QoS::sensor_data())?;
            node.create_subscription("scan", QoS::default(), |_, _: &Message<u64>, _| ()).map(drop)
        },
        "failed to connect node /lidar with node /lidar on topic /scan: the reliability offered is \
         best effort, but reliable is requested; let the publisher offer reliable",
    ),
    (
        "depth of zero",
        || {
            let qos = QoS::keep_last(0);
            node("n")?.create_subscription("t", qos, |_, _: &Message<u8>, _| ()).map(drop)
        },
        "failed to create a queue of /t: its depth of 0 is out of range; use 1 to ",
    ),
    (
        "unknown mode",
        || "fast".parse::<ringspin::Mode>().map(drop),
        "unknown mode \"fast\"; use `single`, `multi` or `deterministic`",
    ),
    (
        "unknown ROS argument",
        || Arguments::parse(["--ros-args", "x:=1"].map(String::from)).map(drop),
        "unknown ROS argument `x:=1`; a rule needs `-r` before it, a parameter `-p`",
    ),
    (
        "parameter of another type",
        || {
            let node = node("pilot")?;
            let _gain = node.declare_parameter("gain", 1.0)?;
            node.parameters().set("gain", 1i64)
        },
        "node /pilot: parameter `gain` is of type double, not integer; write it with a dot",
    ),
    (
        "undeclared parameter",
        || node("pilot")?.parameters().get("gain").map(drop),
        "node /pilot has no parameter `gain`; it has ",
    ),
    (
        "cycle without a delay",
        || {
            let mut executor = Executor::new("deterministic".parse()?);
            let node = executor.create_node("echo", ())?;
            let out = node.create_publisher("t", QoS::default())?;
            let first = out.clone();
            let again = move |_: &mut (), n: &Message<u64>, _: &mut Context<'_>| out.publish(**n);
            node.create_subscription("t", QoS::default(), again)?;
            node.create_one_shot_timer(PERIOD, move |_, _| first.publish(1))?;
            executor.spin()
        },
        "more than 1000000 callbacks ran at the simulated instant ",
    ),
    (
        "request too large by value",
        || {
            let flip = |_: &mut (), _: &[u8; 1 << 20], _: &mut Context<'_>| ();
            node("server")?.create_service("flip", QoS::services(), flip).map(drop)
        },
        "failed to create service /flip of node /server: [u8; 1048576] has 1048576 bytes and goes \
         by value, which is possible up to 16384 bytes; put its data into a `Vec` or `Box`",
    ),
    (
        "call before the start",
        || {
            let client = node("caller")?.create_client::<u8, u8>("flip", QoS::services())?;
            client.call_and_wait(1, PERIOD).map(drop)?;
            Ok(())
        },
        "the graph is still being built: call from a callback, or freeze the graph first",
    ),
    (
        "deadline after the start",
        || {
            let mut executor = Executor::single_core();
            let node = executor.create_node("brake", ())?;
            node.create_timer(PERIOD, |_, _| ())?;
            executor.freeze()?;
            node.set_deadline("timer 1ms", PERIOD)
        },
        "failed to add deadline of timer 1ms of node /brake: the executor has started; add it \
         before spinning",
    ),
    (
        "unwrap of an error",
        || {
            node("1st").map(drop).unwrap();
            Ok(())
        },
        "invalid node name \"1st\": no part of it may start with a digit",
    ),
];

fn node(name: &str) -> Result<Node<()>> {
    // Leaked, so that the node keeps its executor.
    Box::leak(Box::new(Executor::single_core())).create_node(name, ())
}

/// Spins a node with a timer that calls `callback`.
fn simulated(callback: fn() -> Result<(), &'static str>) -> Result<()> {
    let mut executor = Executor::new("deterministic".parse()?);
    executor.create_node("node", ())?.create_timer(PERIOD, move |_, _| callback())?;
    executor.spin()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, name] = &arguments[..]
        && flag == "--mistake"
    {
        let (_, mistake, _) = MISTAKES.iter().find(|(other, ..)| other == name).unwrap();
        return mistake().report(); // as that of a `main` that returns it
    }
    let wrong = std::thread::scope(|scope| {
        let halves = MISTAKES.chunks(MISTAKES.len().div_ceil(2));
        let halves: Vec<_> = halves.map(|half| scope.spawn(|| wrong_texts(half))).collect();
        halves.into_iter().map(|half| half.join().unwrap()).sum::<usize>()
    });
    println!("{} first mistakes, {wrong} with another text", MISTAKES.len());
    ExitCode::from(u8::from(wrong > 0))
}

/// The number of mistakes that show another text than the expected one.
fn wrong_texts(mistakes: &[Mistake]) -> usize {
    let mut wrong = 0;
    for (name, _, expected) in mistakes {
        let program = std::env::current_exe().unwrap();
        let output = Command::new(program).args(["--mistake", name]).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stderr);
        // The message of the panic itself comes first.
        let prefixes = ["Error: ", "called `Result::unwrap()` on an `Err` value: "];
        let after_prefix =
            |line| prefixes.iter().find_map(|prefix| str::strip_prefix(line, prefix));
        let shown = shown.lines().find_map(after_prefix);
        if !shown.is_some_and(|shown| shown.starts_with(expected)) {
            eprintln!("{name}:\n  expected {expected}\n  shown    {}", shown.unwrap_or("nothing"));
            wrong += 1;
        }
    }
    wrong
}
