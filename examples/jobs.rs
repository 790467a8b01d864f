//! A program with job files that select nodes, parameters, delays and durations.
//!
//! ```text
//! cargo run --features cli --example jobs -- run examples/jobs/nominal.toml --certificate -
//! cargo run --features cli --example jobs -- verify examples/jobs/degraded.toml --runs 5
//! cargo run --features cli --example jobs -- explore examples/jobs/race.toml
//! cargo run --features cli --example jobs -- run examples/jobs/partition.toml
//! cargo run --features cli --example jobs -- check examples/jobs/nominal.toml
//! ```
//!
//! Exploring `race.toml` finds the order that breaks the fusion, and prints the command that
//! reproduces it. Without arguments, `nominal.toml` is run. Jobs are always deterministic; they
//! ignore `RINGSPIN_MODE`.

use ringspin::sim::{NodeConfig, Registry};
use ringspin::{BoxError, Context, Digest, Graph, Message, QoS, Time, cli};
use std::process::ExitCode;
use std::time::Duration;

const NOMINAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/jobs/nominal.toml");

/// An image or a scan.
#[derive(Clone, Digest)]
struct Measurement {
    stamp: Time,
    number: u64,
}

#[derive(Digest)]
struct Obstacles {
    stamp: Time,
    image_age_ms: u64,
}

#[allow(clippy::disallowed_methods, reason = "the command line is main's, not a node's")]
fn main() -> ExitCode {
    let registry = Registry::new()
        .node("camera", |graph, place| sensor(graph, place, "image"))
        .node("lidar", |graph, place| sensor(graph, place, "points"))
        .node("fusion", fusion)
        .node("planner", planner);
    match std::env::args().nth(1) {
        Some(_) => cli::main(registry),
        None => {
            let (out, err) = (&mut std::io::stdout(), &mut std::io::stderr());
            cli::Program::new(registry).run_from(["jobs", "run", NOMINAL], out, err).into()
        }
    }
}

/// Publishes measurements at its `rate`.
fn sensor(graph: &Graph, place: &NodeConfig, topic: &str) -> Result<(), BoxError> {
    let sensor = place.create_node(graph, 0u64)?;
    sensor.digest_state()?;
    let rate = sensor.declare_parameter("rate", 10.0)?.get();
    let out = sensor.create_publisher(topic, QoS::sensor_data())?.digested();
    sensor.create_timer(Duration::from_secs_f64(1.0 / rate), move |number, cx| {
        *number += 1;
        out.publish(Measurement { stamp: cx.now(), number: *number })
    })?;
    Ok(())
}

/// Detects obstacles in points, with the latest image. Fails if the image is older than
/// `image_age_ms_max`.
fn fusion(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    let fusion = place.create_node(graph, None::<Measurement>)?;
    fusion.digest_state()?;
    let age_ms_max = fusion.declare_parameter("image_age_ms_max", 1_000i64)?.get().unsigned_abs();
    let obstacles = fusion.create_publisher("obstacles", QoS::default())?.digested();
    fusion.create_subscription("image", QoS::sensor_data(), |latest, image, _| {
        *latest = Some(Measurement::clone(image));
    })?;
    let find = move |latest: &mut Option<Measurement>,
                     points: &Message<Measurement>,
                     _: &mut Context<'_>|
          -> Result<(), BoxError> {
        let Some(image) = latest else { return Ok(()) };
        let image_age_ms = points.stamp.since(image.stamp).as_millis() as u64;
        if image_age_ms > age_ms_max {
            return Err(format!(
                "points {} came with image {}, which is {image_age_ms} ms older",
                points.number, image.number
            )
            .into());
        }
        Ok(obstacles.publish(Obstacles { stamp: points.stamp, image_age_ms })?)
    };
    fusion.create_subscription("points", QoS::sensor_data(), find)?;
    Ok(())
}

/// Plans around obstacles, and ends the run after `plans_max` plans unless that is zero. The exit
/// code is 3 if the latency from measurement to plan ever exceeded `latency_ms_max`.
fn planner(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    let planner = place.create_node(graph, (0i64, 0u64))?;
    planner.digest_state()?;
    let plans_max = planner.declare_parameter("plans_max", 0i64)?.get();
    let latency_ms_max = planner.declare_parameter("latency_ms_max", 100i64)?.get();
    let out = planner.create_publisher("plan", QoS::default())?.digested();
    planner.create_subscription("obstacles", QoS::default(), move |state, seen, cx| {
        let (plans, latency_ms) = state;
        let seen: &Message<Obstacles> = seen;
        *plans += 1;
        *latency_ms = (*latency_ms).max(cx.now().since(seen.stamp).as_millis() as u64);
        if *plans == plans_max {
            cx.exit(if *latency_ms > latency_ms_max.unsigned_abs() { 3 } else { 0 });
        }
        out.publish(*plans)
    })?;
    Ok(())
}
