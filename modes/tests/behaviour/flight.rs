//! The record of a live run, and its replay.

use ringspin_executor::{Digest, DigestHasher, Input, Latest, Message, QoS, Result, Time, Trigger};
use ringspin_modes::flight::{FlightBuilder, FlightTape};
use ringspin_modes::{Executor, FlightRecord, FlightWriter, Mode};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Keeps the record in memory.
struct InMemory(Sender<FlightRecord>);

impl FlightWriter for InMemory {
    fn write(self: Box<Self>, mut tape: FlightTape) -> Result<()> {
        let mut builder = FlightBuilder::new(tape.header().clone());
        let mut entries = Vec::new();
        loop {
            let more = tape.wait(Duration::from_millis(5));
            for log in 0..tape.logs() {
                let lost = tape.take(log, &mut entries);
                assert_eq!(lost, 0);
                builder.add(log, entries.drain(..));
            }
            if !more {
                self.0.send(builder.finish()).unwrap();
                return Ok(());
            }
        }
    }
}

/// Builds a graph and spins it; returns the final states of its nodes.
type Run<'a, R> = &'a dyn Fn(&mut Executor) -> R;

fn record<R>(mode: Mode, run: Run<'_, R>) -> (R, Arc<FlightRecord>) {
    let (sender, record) = channel();
    let mut executor = Executor::new(mode);
    executor.record_flight(InMemory(sender));
    let result = run(&mut executor);
    drop(executor);
    (result, Arc::new(record.recv().unwrap()))
}

fn replay<R>(record: &Arc<FlightRecord>, run: Run<'_, R>) -> R {
    run(&mut Executor::new(Mode::Replay(record.clone())))
}

fn busy(duration: Duration) {
    let end = Instant::now() + duration;
    while Instant::now() < end {}
}

/// The final states of the nodes.
type Finals = Arc<Mutex<Vec<(String, u64)>>>;

/// A state that goes to the finals at its end.
struct State {
    hash: u64,
    name: String,
    finals: Finals,
}

impl State {
    fn add(&mut self, values: impl Digest) {
        self.hash = DigestHasher::of(&(self.hash, values));
    }
}

impl Digest for State {
    fn digest(&self, hasher: &mut DigestHasher) {
        self.hash.digest(hasher);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.finals.lock().unwrap().push((self.name.clone(), self.hash));
    }
}

/// Nodes whose states depend on the order of everything, and on the times that they read.
fn tangle(executor: &mut Executor, finals: &Finals) -> Result<()> {
    let state = |name: &str| State { hash: 0, name: name.into(), finals: finals.clone() };
    for n in 0..4u64 {
        let name = format!("source_{n}");
        let node = executor.create_node(&name, state(&name))?;
        node.digest_state()?;
        let out = node.create_publisher::<(u64, Time)>("samples", QoS::default())?;
        node.create_timer(Duration::from_micros(900 + 130 * n), move |state: &mut State, cx| {
            state.add((cx.now(), cx.scheduled_time()));
            busy(Duration::from_micros(20 * n));
            out.publish((state.hash, cx.now()))
        })?;
    }
    for n in 0..3u64 {
        let name = format!("filter_{n}");
        let node = executor.create_node(&name, state(&name))?;
        node.digest_state()?;
        let out = node.create_publisher::<(u64, Time)>(&format!("filtered_{n}"), QoS::default())?;
        let qos = QoS::keep_last(if n == 0 { 1 } else { 8 });
        let client = node.create_client::<u64, u64>("sum", QoS::default())?;
        node.create_subscription(
            "samples",
            qos,
            move |state: &mut State, sample: &Message<(u64, Time)>, cx| {
                state.add((sample.0, sample.1, sample.id().sequence));
                busy(Duration::from_micros(if n == 0 { 400 } else { 30 }));
                let _ =
                    client.call(state.hash, |state, sum, _| state.add(sum.map_or(0, |sum| *sum)));
                out.publish((state.hash, cx.now()))
            },
        )?;
    }
    let node = executor.create_node("sum", state("sum"))?;
    node.digest_state()?;
    node.create_service("sum", QoS::default(), |state: &mut State, request: &u64, _| {
        state.add(*request);
        state.hash
    })?;
    let node = executor.create_node("fusion", state("fusion"))?;
    node.digest_state()?;
    let input = |n| Input::<(u64, Time)>::new(&format!("filtered_{n}"), QoS::keep_last(3));
    node.create_synchronized_subscription(
        (input(0), input(1), input(2).optional()),
        Latest::new(Trigger::All),
        |state: &mut State, (a, b, c), _| state.add((a.0, b.0, c.map(|c| c.0))),
    )?;
    Ok(())
}

fn run_tangle(executor: &mut Executor) -> Vec<(String, u64)> {
    let finals = Finals::default();
    tangle(executor, &finals).unwrap();
    executor.spin_for(Duration::from_millis(150)).unwrap();
    executor.spin_for(Duration::from_millis(50)).unwrap();
    *executor = Executor::single_core(); // drops the states
    let mut finals = std::mem::take(&mut *finals.lock().unwrap());
    finals.sort();
    finals
}

#[test]
fn a_replay_ends_in_the_states_of_the_live_run() {
    for mode in [Mode::SingleCore, Mode::MultiCore(None)] {
        let (live, record) = record(mode, &run_tangle);
        assert_eq!(live.len(), 9);
        assert!(record.calls() > 500, "{record:?}");
        assert_eq!(replay(&record, &run_tangle), live);
        assert_eq!(replay(&record, &run_tangle), live);
    }
}
