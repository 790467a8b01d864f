//! Example: measures a graph, searches for a mapping on the twin, and prints it as a mapping file.
//!
//! `cargo run --release --example tune`
//!
//! Two cameras and a lidar feed a fusion node; each detector works for some milliseconds. The
//! example measures the graph on this machine, then assigns its nodes to four cores.

use ringspin_executor::{BoxError, Graph, Message, QoS};
use ringspin_optimizer::{Chain, Model, Objective, Profile, SearchOptions, Twin, search};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

/// Declares the graph. With `works` false, callbacks skip their work: the twin adds their measured
/// durations.
fn build(graph: &Graph, works: bool) -> Result<(), BoxError> {
    let work = move |duration: Duration| {
        let start = Instant::now();
        while works && start.elapsed() < duration {
            std::hint::spin_loop();
        }
    };
    for (name, period, detection) in
        [("left", 20 * MS, 3 * MS), ("right", 20 * MS, 3 * MS), ("lidar", 50 * MS, 9 * MS)]
    {
        let sensor = graph.create_node(name, 0u64)?;
        let raw = sensor.create_publisher(&format!("{name}_raw"), QoS::keep_last(1))?;
        sensor.create_timer(period, move |n, _| {
            *n += 1;
            raw.publish(*n)
        })?;
        let detector = graph.create_node(&format!("{name}_detector"), ())?;
        let objects = detector.create_publisher("objects", QoS::keep_last(3))?;
        let raw = format!("{name}_raw");
        detector.create_subscription(&raw, QoS::keep_last(1), move |_, n: &Message<u64>, _| {
            work(detection);
            objects.publish(**n)
        })?;
    }
    let fusion = graph.create_node("fusion", ())?;
    fusion.create_subscription("objects", QoS::keep_last(3), move |_, _: &Message<u64>, _| {
        work(2 * MS);
    })?;
    Ok(())
}

fn main() -> Result<(), BoxError> {
    let profile = Profile::measure(|graph| build(graph, true), Duration::from_secs(1))?;
    let chain = |sensor: &str| {
        let path = [format!("/{sensor}"), format!("/{sensor}_detector"), "/fusion".into()];
        Chain::new(sensor, path).with_deadline(40 * MS)
    };
    let chains = ["left", "right", "lidar"].map(chain).to_vec();
    let twin = Twin::new(|graph: &Graph| build(graph, false), &profile, chains)?;

    let options = SearchOptions { evaluations: 300, priority_levels: 3, ..SearchOptions::new(4) };
    let objective = Objective::default();
    let found = search(&twin, &objective, &options, &mut |_| ControlFlow::Continue(()))?;

    let evaluation = twin.evaluate(&found.assignment)?;
    for (chain, latency) in twin.chains().iter().zip(&evaluation.chains) {
        let ms = |ns: u64| ns as f64 / 1e6;
        let of = &latency.release_to_end;
        let (mean, p99, max) = (ms(of.mean_ns), ms(of.p99_ns), ms(of.max_ns));
        let name = &chain.name;
        println!("# {name}, release to end: mean {mean:.2}, p99 {p99:.2}, max {max:.2} ms");
    }
    print!("{}", found.assignment.to_mapping(&[0, 1, 2, 3]).to_toml_string());
    Ok(())
}
