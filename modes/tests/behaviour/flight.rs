//! The record of a live run, and its replay.

use ringspin_executor::{
    Context, Digest, DigestHasher, ErrorKind, Input, Latest, Message, QoS, Result, Time, Trigger,
};
use ringspin_modes::flight::{FlightBuilder, FlightTape};
use ringspin_modes::{Executor, FlightRecord, FlightWriter, Mode};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Keeps the record in memory.
struct InMemory(Sender<FlightRecord>);

impl FlightWriter for InMemory {
    fn write(self: Box<Self>, mut tape: FlightTape) -> Result<()> {
        let mut builder = FlightBuilder::new(tape.header().clone());
        while let Some(round) = tape.next_round(Duration::from_millis(5)) {
            for (log, part) in round.iter().enumerate() {
                assert_eq!(part.lost, 0);
                builder.add(log, part.entries.iter().copied());
            }
        }
        self.0.send(builder.finish()).unwrap();
        Ok(())
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
    run_spins(executor, 2)
}

fn run_spins(executor: &mut Executor, spins: u32) -> Vec<(String, u64)> {
    let finals = Finals::default();
    tangle(executor, &finals).unwrap();
    for _ in 0..spins {
        executor.spin_for(Duration::from_millis(100)).unwrap();
    }
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

/// Writes nothing until the run is over.
struct Slow(Receiver<()>, Sender<FlightRecord>);

impl FlightWriter for Slow {
    fn write(self: Box<Self>, mut tape: FlightTape) -> Result<()> {
        self.0.recv().unwrap();
        let mut builder = FlightBuilder::new(tape.header().clone());
        while let Some(round) = tape.next_round(Duration::from_secs(1)) {
            for (log, part) in round.iter().enumerate() {
                builder.add(log, part.entries.iter().copied());
                if part.lost > 0 {
                    builder.add_gap(log);
                }
            }
        }
        self.1.send(builder.finish()).unwrap();
        Ok(())
    }
}

#[test]
fn a_replay_ends_where_the_writer_was_too_slow() {
    let ((end, ended), (sender, record)) = (channel(), channel());
    let mut executor = Executor::single_core();
    executor.record_flight(Slow(ended, sender));
    let run = |executor: &mut Executor| -> Result<u64> {
        let node = executor.create_node("ring", 0u64)?;
        node.digest_state()?;
        let out = node.create_publisher("round", QoS::default())?;
        let again = out.clone();
        node.create_timer(Duration::from_millis(1), move |_, cx| {
            cx.cancel_timer();
            out.publish(1u64)
        })?;
        let round = move |count: &mut u64, n: &Message<u64>, cx: &mut Context<'_>| {
            *count += **n;
            if *count == 100_000 {
                cx.stop();
            }
            again.publish(**n)
        };
        node.create_subscription("round", QoS::default(), round)?;
        executor.spin()?;
        Ok(executor.statistics().dispatched())
    };
    let live = run(&mut executor).unwrap();
    end.send(()).unwrap();
    drop(executor);
    let record = Arc::new(record.recv().unwrap());
    assert!(record.gap().is_some());
    let replayed = replay(&record, &run).unwrap();
    assert_eq!(replayed, record.calls() as u64);
    assert!(1_000 < replayed && replayed < live, "{replayed} of {live}");
}

#[test]
fn another_program_is_named() {
    let run = |factor: u64| {
        move |executor: &mut Executor| -> Result<()> {
            let node = executor.create_node("talker", 0u64)?;
            node.digest_state()?;
            let out = node.create_publisher("chatter", QoS::default())?;
            node.create_timer(Duration::from_millis(1), move |count: &mut u64, _| {
                *count += if *count > 5 { factor } else { 1 };
                out.publish(*count)
            })?;
            executor.spin_for(Duration::from_millis(20))
        }
    };
    let ((), record) = record(Mode::SingleCore, &|executor| run(1)(executor).unwrap());
    let error = replay(&record, &run(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Diverged);
    let text = error.to_string();
    let named = "the replay differs from the record at entry 6, /talker `timer 1ms`, event 1#6";
    assert!(text.starts_with(named), "{text}");
    let another = |executor: &mut Executor| {
        executor.create_node("listener", ())?.create_timer(Duration::from_millis(2), |_, _| ())?;
        run(1)(executor)
    };
    let error = replay(&record, &another).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to replay: callback 0 of this graph is /listener `timer 2ms`, and of the record \
         /talker `timer 1ms`; replay with the program, arguments and parameters that were recorded"
    );
}

#[test]
fn data_that_two_loops_share_are_found() {
    let run = |executor: &mut Executor| -> Result<()> {
        let shared = Arc::new(Mutex::new(0u64));
        let writer = executor.create_node("writer", shared.clone())?;
        writer.create_timer(Duration::from_millis(3), |shared: &mut Arc<Mutex<u64>>, _| {
            busy(Duration::from_millis(2));
            *shared.lock().unwrap() += 1;
        })?;
        let reader = executor.create_node("reader", 0u64)?;
        reader.digest_state()?;
        reader.create_timer(Duration::from_micros(500), move |seen: &mut u64, _| {
            *seen = *shared.lock().unwrap();
        })?;
        executor.spin_for(Duration::from_millis(100))
    };
    if ringspin_modes::allowed_cores().len() < 2 {
        return;
    }
    // On a busy machine the loops may take turns, and nothing differs.
    let differs = |_| {
        let ((), record) = record(Mode::MultiCore(None), &|executor| run(executor).unwrap());
        replay(&record, &run).err()
    };
    let error = (0..20).find_map(differs).expect("the loops ran at one time");
    assert!(error.to_string().contains("/reader `timer 500µs`"), "{error}");
    assert!(error.to_string().contains("such as data that two loops share"), "{error}");
}

#[test]
fn spins_end_as_recorded_and_the_code_between_them_runs_again() {
    let run = |executor: &mut Executor| -> Vec<u64> {
        let node = executor.create_node("node", Vec::new()).unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let of_node = heard.clone();
        node.create_subscription(
            "in",
            QoS::default(),
            move |_: &mut Vec<u64>, n: &Message<u64>, _| {
                of_node.lock().unwrap().push(**n);
            },
        )
        .unwrap();
        node.create_timer(Duration::from_millis(2), |_, _| ()).unwrap();
        let out = node.create_publisher("in", QoS::default()).unwrap();
        executor.freeze().unwrap();
        for n in 0..20u64 {
            out.publish(n).unwrap();
            let events = match n % 3 {
                0 => executor.spin_some().unwrap(),
                1 => u64::from(executor.spin_once(Duration::from_millis(1)).unwrap()),
                _ => executor.spin_all(Duration::from_millis(1)).unwrap(),
            };
            heard.lock().unwrap().push(1_000 + events);
        }
        let heard = heard.lock().unwrap();
        heard.clone()
    };
    let (live, record) = record(Mode::SingleCore, &run);
    assert_eq!(replay(&record, &run), live);
}

#[cfg(feature = "flight")]
mod files {
    use super::*;
    use ringspin_modes::flight::FlightFile;

    fn recorded(path: &std::path::Path, spins: u32) -> Vec<(String, u64)> {
        let mut executor = Executor::new(Mode::MultiCore(None));
        executor.record_flight(FlightFile::create(path).unwrap());
        run_spins(&mut executor, spins)
    }

    #[test]
    fn a_file_is_replayed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.mcap");
        let live = recorded(&path, 2);
        let record = Arc::new(FlightRecord::load(&path).unwrap());
        assert!(record.calls() > 500 && record.gap().is_none(), "{record:?}");
        assert_eq!(replay(&record, &run_tangle), live);
        let error = FlightFile::create(&path).err().unwrap().to_string();
        assert!(error.ends_with("; remove it, or choose another name"), "{error}");
    }

    #[test]
    fn a_file_that_ends_anywhere_is_replayed_as_far_as_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (path, cut) = (folder.path().join("run.mcap"), folder.path().join("cut.mcap"));
        recorded(&path, 8);
        let bytes = std::fs::read(&path).unwrap();
        let all = FlightRecord::load(&path).unwrap().calls();
        let mut calls = Vec::new();
        for part in 0..16 {
            std::fs::write(&cut, &bytes[..bytes.len() * part / 16]).unwrap();
            match FlightRecord::load(&cut) {
                Ok(record) => {
                    calls.push(record.calls());
                    replay(&Arc::new(record), &|executor| run_spins(executor, 8));
                }
                Err(error) => assert!(error.to_string().contains("cut.mcap"), "{error}"),
            }
        }
        assert!(calls.iter().any(|calls| 0 < *calls && *calls < all), "{calls:?} of {all}");
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.mcap");
        std::fs::write(&path, "no MCAP").unwrap();
        assert_eq!(FlightRecord::load(&path).unwrap_err().kind(), ErrorKind::Parse);
        assert_eq!(FlightRecord::load(folder.path()).unwrap_err().kind(), ErrorKind::Io);
    }
}
