//! The 24 nodes of the reference system on any client library.

use crate::measure::{BoxError, figures};
use reference_system::crunch::number_cruncher;
use reference_system::description::{Connection, Kind, NodeDescription};
use reference_system::kpi::Collector;
use reference_system::message::{Message4kb, NodeName};
use ringspin_bench::process::CpuMeter;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The limit of the number cruncher, of all contenders.
pub(crate) const N: u64 = 64;
/// The duration of a run, of all contenders.
pub(crate) const DURATION: Duration = Duration::from_secs(10);

/// The ends of nodes in one client library.
pub(crate) trait Client {
    /// Calls `callback` with each message of `topic` and its arrival time.
    fn on(
        &mut self,
        topic: &str,
        depth: usize,
        callback: impl FnMut(Message4kb, u64) + Send + 'static,
    ) -> Result<(), BoxError>;

    /// Calls `callback` once per `period`, with the current time.
    fn each(
        &mut self,
        period: Duration,
        callback: impl FnMut(u64) + Send + 'static,
    ) -> Result<(), BoxError>;

    /// A function that publishes to `topic`, with a history of one message.
    fn publisher(
        &mut self,
        topic: &str,
    ) -> Result<impl Fn(&Message4kb) + Send + use<Self> + 'static, BoxError>;
}

/// Adds the ends of `node` to `client`.
pub(crate) fn add(
    client: &mut impl Client,
    node: &'static NodeDescription,
    collector: &Arc<Collector>,
) -> Result<(), BoxError> {
    let name = node.name;
    match node.kind {
        Kind::Sensor { period } => {
            let mut publish = output(client, name, name)?;
            client.each(period, move |started_ns| publish(Message4kb::new(), started_ns))
        }
        Kind::Transform { input } => transform(client, name, Connection { input, output: name }),
        Kind::Intersection { connections } => {
            connections.iter().try_for_each(|connection| transform(client, name, *connection))
        }
        Kind::Fusion { inputs, .. } => fusion(client, name, inputs),
        Kind::Cyclic { inputs, period } => cyclic(client, name, inputs, period),
        Kind::Command { input } => {
            let collector = collector.clone();
            client.on(input, 10, move |sample, _| {
                collector.sample_arrived(&sample);
            })
        }
    }
}

/// The latencies that `run` collects, and the processor time meanwhile.
pub(crate) fn measured(
    run: impl FnOnce(&Arc<Collector>) -> Result<(), BoxError>,
) -> Result<Value, BoxError> {
    let collector = Arc::new(Collector::new());
    let (meter, since) = (CpuMeter::start()?, Instant::now());
    run(&collector)?;
    let cpu_percent = meter.cpu_percent_of_one_core(since.elapsed())?;
    Ok(figures(&collector.report().sample_to_start, cpu_percent))
}

/// A function that publishes to `topic` as the node `name`, with the time at which its callback
/// started.
fn output<C: Client>(
    client: &mut C,
    name: &str,
    topic: &str,
) -> Result<impl FnMut(Message4kb, u64) + Send + use<C> + 'static, BoxError> {
    let (name, publish, mut sequence_number) = (NodeName::new(name)?, client.publisher(topic)?, 0);
    Ok(move |mut message: Message4kb, started_ns| {
        message.append(&name, sequence_number, 0, started_ns);
        sequence_number += 1;
        publish(&message);
    })
}

fn transform(client: &mut impl Client, name: &str, connection: Connection) -> Result<(), BoxError> {
    let mut publish = output(client, name, connection.output)?;
    client.on(connection.input, 1, move |mut sample, started_ns| {
        sample.set_prime_count(number_cruncher(N) as i64);
        publish(sample, started_ns);
    })
}

fn fusion(client: &mut impl Client, name: &str, inputs: [&str; 2]) -> Result<(), BoxError> {
    let state = Arc::new(Mutex::new((output(client, name, name)?, vec![None; inputs.len()])));
    for (index, input) in inputs.into_iter().enumerate() {
        let state = state.clone();
        client.on(input, 1, move |sample, started_ns| {
            let (publish, cached) = &mut *locked(&state);
            cached[index] = Some(sample);
            if cached.iter().all(Option::is_some) {
                let primes = number_cruncher(N) as i64;
                publish(merged(cached, primes), started_ns);
            }
        })?;
    }
    Ok(())
}

fn cyclic(
    client: &mut impl Client,
    name: &str,
    inputs: &[&str],
    period: Duration,
) -> Result<(), BoxError> {
    let mut publish = output(client, name, name)?;
    let cached = Arc::new(Mutex::new(vec![None; inputs.len()]));
    for (index, input) in inputs.iter().enumerate() {
        let cached = cached.clone();
        client.on(input, 1, move |sample, _| locked(&cached)[index] = Some(sample))?;
    }
    client.each(period, move |started_ns| {
        let primes = number_cruncher(N) as i64;
        let message = merged(&mut locked(&cached), primes);
        publish(message, started_ns);
    })
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn merged(cached: &mut [Option<Message4kb>], primes: i64) -> Message4kb {
    let mut message = Message4kb::new();
    cached.iter_mut().filter_map(Option::take).for_each(|sample| message.merge(&sample));
    message.set_prime_count(primes);
    message
}

/// Copies the fields of a message to another type: its arrays may be vectors of the same length.
macro_rules! copy {
    ($from:expr, $to:expr) => {
        $to.size = $from.size;
        for (to, from) in $to.stats.iter_mut().zip(&$from.stats) {
            to.timestamp = from.timestamp;
            to.sequence_number = from.sequence_number;
            to.dropped_samples = from.dropped_samples;
            to.node_name.copy_from_slice(&from.node_name);
        }
        $to.data.copy_from_slice(&$from.data);
    };
}
pub(crate) use copy;
