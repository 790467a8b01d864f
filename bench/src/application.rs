//! A latency benchmark of an application's graph.

use crate::turns::{Step, Variant, measure_turn, take_turns};
use crate::{Permissions, System, wake_ups};
use ringspin_executor::{BoxError, Graph, GraphInfo, StopHandle};
use ringspin_modes::{Chain, ChainSamples, Executor, Mode, allowed_cores};
use ringspin_report::results::{Callback, Results, SCHEMA, Series, Turn};
use ringspin_simulation::models::DurationHistogram;
use ringspin_simulation::timeline::{Span, Timeline, TimelineRecorder};
use std::ops::ControlFlow;
use std::time::Duration;

/// The number of calls that the recorder of each worker keeps: 40 MiB.
const CALLS_MAX: usize = 1 << 20;

/// The time in which bare threads are woken up, for each policy.
const WAKE_UPS: Duration = Duration::from_secs(1);

/// Measures a graph: the latencies of its chains, how late its timers are, how long its callbacks
/// take, and how late the system wakes up a bare thread.
///
/// ```
/// use ringspin_bench::{Bench, Chain};
/// use ringspin_executor::{Message, QoS};
/// use ringspin_modes::Mode;
/// use std::time::Duration;
///
/// let bench = Bench::new("talker and listener", Duration::from_millis(50))
///     .without_wake_ups()
///     .chain(Chain::new("all", ["/talker", "/listener"]));
/// let modes = [("single".to_owned(), Mode::SingleCore)];
/// let results = bench.run(&modes, |graph| {
///     let talker = graph.create_node("talker", ())?;
///     let chatter = talker.create_publisher("chatter", QoS::default())?;
///     talker.create_timer(Duration::from_millis(5), move |_, _| chatter.publish(1u8))?;
///     let listener = graph.create_node("listener", ())?;
///     listener.create_subscription("chatter", QoS::default(), |_, _: &Message<u8>, _| {})?;
///     Ok(())
/// })?;
/// assert!(!results.cells[0].pooled("all").is_empty());
/// # Ok::<(), ringspin_executor::BoxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bench {
    title: String,
    chains: Vec<Chain>,
    duration: Duration,
    turns: usize,
    wakes_up: bool,
}

impl Bench {
    /// A benchmark of three turns of this duration for each mode.
    pub fn new(title: impl Into<String>, duration: Duration) -> Self {
        Self { title: title.into(), chains: Vec::new(), duration, turns: 3, wakes_up: true }
    }

    /// Adds a chain to be measured.
    #[must_use]
    pub fn chain(mut self, chain: Chain) -> Self {
        self.chains.push(chain);
        self
    }

    /// Sets the number of turns. With fewer than two, there are no intervals.
    #[must_use]
    pub fn turns(self, turns: usize) -> Self {
        Self { turns, ..self }
    }

    /// Leaves the wake-up latency of bare threads out, which takes two seconds.
    #[must_use]
    pub fn without_wake_ups(self) -> Self {
        Self { wakes_up: false, ..self }
    }

    /// Runs the graph that `build` declares in each of the live modes, in turns. What `build`
    /// returns is kept until its run is over. Ctrl-C ends the benchmark with the turns so far.
    ///
    /// # Errors
    /// The error of `build` or of the executor, and also for
    /// a chain that the graph cannot have.
    pub fn run<T>(
        &self,
        modes: &[(String, Mode)],
        build: impl Fn(&Graph) -> Result<T, BoxError>,
    ) -> Result<Results, BoxError> {
        let system = System::default();
        let stop = StopHandle::default();
        let mut results = Results {
            schema: SCHEMA,
            title: self.title.clone(),
            command: std::env::args().next().unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION").into(),
            machine: system.machine(),
            findings: system.findings(Permissions::here(), None),
            turn_s: self.duration.as_secs_f64(),
            before: system.conditions(),
            ..Results::default()
        };
        if self.wakes_up {
            results.wake_ups = wake_ups(&allowed_cores(), &[None, Some(80)], WAKE_UPS, &stop);
        }
        let variant = |(name, _): &(String, Mode)| Variant {
            name: name.clone(),
            n: None,
            cost: self.duration,
        };
        let variants: Vec<Variant> = modes.iter().map(variant).collect();
        take_turns(&mut results, &variants, self.turns, |_, step: &Step<'_>| {
            self.turn(modes[step.variant].1.clone(), &build)
        })?;
        Ok(results)
    }

    fn turn<T>(
        &self,
        mode: Mode,
        build: &impl Fn(&Graph) -> Result<T, BoxError>,
    ) -> Result<ControlFlow<(), Turn>, BoxError> {
        let mut executor = Executor::new(mode.clone())
            .with_recorders(|_, _| TimelineRecorder::new(CALLS_MAX))
            .with_chains(self.chains.iter().cloned());
        executor.stop_on_ctrl_c()?;
        let _handles = build(executor.graph())?;
        executor.freeze()?;
        let turn = measure_turn(&mut executor, |executor| executor.spin_for(self.duration))?;
        if executor.stop_handle().is_stopped() {
            return Ok(ControlFlow::Break(()));
        }
        let info = executor.graph().info();
        let timeline = Timeline::of(executor.take_recorders(), &info, &mode)?;
        let samples = executor.chains();
        let chains = self.chains.iter().zip(&samples);
        Ok(ControlFlow::Continue(Turn {
            latencies: chains.map(|(chain, samples)| latencies(chain, samples)).collect(),
            periods: periods(&timeline, &info),
            callbacks: callbacks(&timeline),
            ..turn
        }))
    }
}

/// The latencies of a chain, from the start of the first callback to the end of the last one.
fn latencies(chain: &Chain, samples: &ChainSamples) -> Series {
    let deadline_ns = chain.deadline.map(|of| u64::try_from(of.as_nanos()).unwrap_or(u64::MAX));
    Series { deadline_ns, ..Series::new(&chain.name, samples.start_to_end_ns.clone()) }
}

/// The calls of each callback that was called, with its name.
fn by_callback(timeline: &Timeline) -> impl Iterator<Item = (usize, String, Vec<&Span>)> {
    let all = timeline.callbacks().iter().enumerate();
    all.filter_map(|(index, callback)| {
        let calls = timeline.spans().iter().filter(|span| span.callback == index);
        let calls: Vec<&Span> = calls.collect();
        let name = format!("{} {}", callback.event_loop, callback.name);
        (!calls.is_empty()).then_some((index, name, calls))
    })
}

/// The distances of successive starts of each timer.
fn periods(timeline: &Timeline, info: &GraphInfo) -> Vec<Series> {
    let is_timer = |index: &usize| {
        info.callbacks.values().nth(*index).is_some_and(|of| of.name.starts_with("timer "))
    };
    let timers = by_callback(timeline).filter(|(index, ..)| is_timer(index));
    let series = |(_, name, calls): (usize, String, Vec<&Span>)| {
        let starts = calls.windows(2).map(|pair| pair[1].start_ns - pair[0].start_ns);
        Series::new(name, starts.collect())
    };
    timers.map(series).collect()
}

fn callbacks(timeline: &Timeline) -> Vec<Callback> {
    let of = |(_, name, calls): (usize, String, Vec<&Span>)| {
        let durations = calls.iter().map(|call| call.end_ns - call.start_ns);
        Some(Callback { name, durations: DurationHistogram::of(durations)? })
    };
    by_callback(timeline).filter_map(of).collect()
}
