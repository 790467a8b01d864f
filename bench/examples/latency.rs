//! A latency benchmark of an application's graph: a sensor, a filter and a controller, on one core
//! and on all of them.
//!
//! ```sh
//! cargo run --release --example latency
//! ```
//!
//! It writes `target/latency.json` and `target/latency.html`. `reference-system compare-results`
//! reads such files of several machines.

use ringspin::bench::{Bench, Chain, page, save};
use ringspin::{BoxError, Graph, Message, Mode, QoS};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

fn build(graph: &Graph) -> Result<(), BoxError> {
    let sensor = graph.create_node("sensor", ())?;
    let samples = sensor.create_publisher("samples", QoS::default())?;
    sensor.create_timer(Duration::from_millis(10), move |_, cx| {
        samples.publish(cx.now().as_nanos())
    })?;
    let filter = graph.create_node("filter", 0u64)?;
    let filtered = filter.create_publisher("filtered", QoS::default())?;
    filter.create_subscription(
        "samples",
        QoS::default(),
        move |sum, sample: &Message<u64>, _| {
            *sum = (0..20_000).fold(**sample, |sum, n| black_box(sum ^ n));
            filtered.publish(*sum)
        },
    )?;
    let controller = graph.create_node("controller", ())?;
    controller.create_subscription("filtered", QoS::default(), |_, _: &Message<u64>, _| {})?;
    Ok(())
}

fn main() -> Result<(), BoxError> {
    let chain = Chain::new("sensor to controller", ["/sensor", "/filter", "/controller"]);
    let bench = Bench::new("A controller", Duration::from_millis(500))
        .chain(chain.with_deadline(Duration::from_millis(2)));
    let modes = [("single", Mode::SingleCore), ("multi", Mode::MultiCore(None))];
    let results = bench.run(&modes.map(|(name, mode)| (name.to_owned(), mode)), build)?;
    for cell in &results.cells {
        let mut latencies = cell.pooled("sensor to controller");
        latencies.sort_unstable();
        if let (Some(last), middle) = (latencies.last(), latencies.len() / 2) {
            println!("{}: median {} ns, maximum {last} ns", cell.name, latencies[middle]);
        }
    }
    std::fs::create_dir_all("target")?;
    save(&results, Path::new("target/latency.json"))?;
    std::fs::write("target/latency.html", page(&[("latency".into(), results)]))?;
    Ok(())
}
