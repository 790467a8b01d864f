//! Benchmarks of ringspin and other clients over a real ROS 2. Each contender is a separate
//! process, and they take turns, so that other load on the machine affects all of them.
//!
//! ```text
//! eval "$(scripts/ros2-env)"
//! cargo run --release -p ringspin-ros2-benches --features r2r -- hop     # one hop at 1 kHz
//! cargo run --release -p ringspin-ros2-benches --features r2r -- system  # the reference system
//! cargo run --release -p ringspin-ros2-benches --features r2r -- idle    # 20 nodes at rest
//! cargo run --release -p ringspin-ros2-benches --features r2r -- timers  # 1,000 timers
//! cargo run --release -p ringspin-ros2-benches --features r2r -- spins   # 100,000 spins
//! ```
//! An optional number sets the number of rounds; more rounds estimate the spread better.
//!
//! `RINGSPIN_PATCHED_BENCH` names this program, built with the members `r2r` and `rclrs` in place
//! of the libraries (`scripts/bench-clients`): then it runs each of their contenders as well.

mod hop;
mod idle;
mod measure;
#[cfg(any(feature = "r2r", feature = "rclrs"))]
mod nodes;
#[cfg(feature = "r2r")]
mod on_r2r;
#[cfg(feature = "rclrs")]
mod on_rclrs;
mod spins;
mod system;
mod timers;

use measure::{BoxError, Figures};
use serde_json::Value;
use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};

/// A comparison with the names of its contenders; the first one is the floor.
struct Comparison {
    name: &'static str,
    contenders: &'static [&'static str],
    rounds: usize,
}

const COMPARISONS: [Comparison; 5] = [
    Comparison { name: "hop", contenders: hop::CONTENDERS, rounds: 5 },
    Comparison { name: "system", contenders: system::CONTENDERS, rounds: 3 },
    Comparison { name: "idle", contenders: idle::CONTENDERS, rounds: 2 },
    Comparison { name: "timers", contenders: timers::CONTENDERS, rounds: 3 },
    Comparison { name: "spins", contenders: spins::CONTENDERS, rounds: 1 },
];

/// The option with which this program runs a single contender.
const AS_CONTENDER: &str = "--contender";

fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        #[cfg(feature = "r2r")]
        [AS_CONTENDER, comparison, name] if is_on("r2r", name) => on_r2r::run(comparison, name),
        #[cfg(feature = "rclrs")]
        [AS_CONTENDER, comparison, name] if is_on("rclrs", name) => on_rclrs::run(comparison, name),
        [AS_CONTENDER, "hop", name] => hop::run(name),
        [AS_CONTENDER, "system", name] => system::run(name),
        [AS_CONTENDER, "idle", name] => idle::run(name),
        [AS_CONTENDER, "timers", name] => timers::run(name),
        [AS_CONTENDER, "spins", name] => spins::run(name),
        [name, ..] => {
            let found = COMPARISONS.iter().find(|comparison| comparison.name == name);
            let comparison = found.ok_or("name one of: hop, system, idle, timers, spins")?;
            let rounds = words.get(1).map_or(Ok(comparison.rounds), |rounds| rounds.parse())?;
            compare(comparison, rounds)
        }
        [] => COMPARISONS.iter().try_for_each(|comparison| compare(comparison, comparison.rounds)),
    }
}

/// Whether a contender runs on `library`.
fn is_on(library: &str, contender: &str) -> bool {
    contender.split(',').next() == Some(library)
}

/// The mark of a contender of a library on the member of its name.
const PATCHED: &str = ", patched";

fn compare(comparison: &Comparison, rounds: usize) -> Result<(), BoxError> {
    let patched = std::env::var_os("RINGSPIN_PATCHED_BENCH");
    let mut contenders = Vec::new();
    for name in comparison.contenders {
        let (is_r2r, is_rclrs) = (is_on("r2r", name), is_on("rclrs", name));
        if is_r2r && !cfg!(feature = "r2r") || is_rclrs && !cfg!(feature = "rclrs") {
            continue;
        }
        contenders.push((*name).to_owned());
        if (is_r2r || is_rclrs) && patched.is_some() {
            contenders.push(format!("{name}{PATCHED}"));
        }
    }
    let mut figures = vec![Figures::default(); contenders.len()];
    let load_before = measure::load();
    for _ in 0..rounds {
        for (name, figures) in contenders.iter().zip(&mut figures) {
            let child = spawn(comparison.name, name, patched.as_deref())?;
            match comparison.name {
                "idle" => figures.add(&idle::measure(child)?),
                _ => figures.add(&answer(child)?),
            }
        }
    }
    println!("{}: {rounds} rounds, load {load_before} to {}", comparison.name, measure::load());
    measure::print_table(&contenders, &figures);
    Ok(())
}

/// Starts a contender in its own ROS domain on the loopback interface.
fn spawn(comparison: &str, name: &str, patched: Option<&OsStr>) -> Result<Child, BoxError> {
    let mut command = if name.starts_with("rclpy") {
        let python = std::env::var_os("RINGSPIN_ROS_PYTHON").unwrap_or("python3".into());
        let mut command = Command::new(python);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peer.py")).arg(comparison);
        command
    } else {
        let (name, program) = match (name.strip_suffix(PATCHED), patched) {
            (Some(name), Some(program)) => (name, program.into()),
            _ => (name, std::env::current_exe()?),
        };
        let mut command = Command::new(program);
        command.args([AS_CONTENDER, comparison, name]);
        command
    };
    let domain = 101 + std::process::id() % 100;
    command.env("ROS_DOMAIN_ID", domain.to_string());
    command.env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
    Ok(command.stdout(Stdio::piped()).spawn()?)
}

/// The figures that a contender prints at its end.
fn answer(child: Child) -> Result<Value, BoxError> {
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("a contender failed: {}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let last = text.lines().last().ok_or("a contender printed nothing")?;
    Ok(serde_json::from_str(last)?)
}
