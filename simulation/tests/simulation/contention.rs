//! Cores that slow each other down: hand-computed ends, and the work that each call gets done.

use proptest::prelude::*;
use ringspin_executor::{
    BoxError, Completion, Context, Dispatch, Graph, Message, QoS, Recorder, Time,
};
use ringspin_modes::{Chain, ChainSamples, Contention, Cores, Executor, Mapping, Simulation};
use ringspin_simulation::Job;
use ringspin_simulation::models::{Distribution, DurationRule, Durations, LinkRule, Links};
use std::any::Any;
use std::time::Duration;

pub(super) const MS: u64 = 1_000_000;

/// The calls that have ended: event loop, start and end in nanoseconds.
#[derive(Default)]
struct Spans(Vec<(u32, u64, u64)>);

impl Recorder for Spans {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        let span = (dispatch.time.as_nanos(), completion.time.as_nanos());
        self.0.push((dispatch.event_loop.0, span.0, span.1));
    }
}

/// The result of a run.
#[derive(Debug, PartialEq)]
pub(super) struct Ran {
    /// Sorted by start, then loop.
    pub(super) spans: Vec<(u32, u64, u64)>,
    pub(super) chains: Vec<ChainSamples>,
    pub(super) digest: String,
}

/// A mapping with a core for each of these lists of nodes.
fn mapping(cores: &[&[&str]]) -> Mapping {
    let cores = cores.iter().enumerate();
    cores.fold(Mapping::new(), |mapping, (id, nodes)| mapping.core(id, nodes.iter().copied()))
}

/// Two cores with this slowdown and rules, in milliseconds.
fn contended(slowdown_percent: u32, cores: &[&[&str]], rules: &[(&str, u64)]) -> Simulation {
    let contention = Contention { slowdown_percent, cores: cores.len() as u32 };
    Simulation { contention, ..mapped(mapping(cores), rules) }
}

/// Cores with these rules, in milliseconds.
pub(super) fn mapped(mapping: Mapping, rules: &[(&str, u64)]) -> Simulation {
    let takes = |&(node, ms): &(&str, u64)| {
        DurationRule::new(node).duration(Distribution::fixed(Duration::from_millis(ms)))
    };
    Simulation {
        durations: Durations { rules: rules.iter().map(takes).collect() }.into(),
        cores: Cores::Mapped(mapping),
        ..Simulation::default()
    }
}

/// Runs until `end_ms`, in slices of `slice_us`, and follows `chain`.
pub(super) fn run_sliced(
    graph: impl Fn(&Graph) -> Result<(), BoxError>,
    simulation: Simulation,
    end_ms: u64,
    slice_us: u64,
    chain: &[&str],
) -> Ran {
    let chain = (!chain.is_empty()).then(|| Chain::new("chain", chain.iter().copied()));
    let mut executor = Executor::deterministic(simulation)
        .with_chains(chain)
        .with_recorders(|_, _| Spans::default());
    graph(executor.graph()).unwrap();
    for _ in 0..(end_ms * 1_000).div_ceil(slice_us) {
        executor.spin_for(Duration::from_micros(slice_us)).unwrap();
    }
    let chains = executor.chains();
    let digest = executor.digest().unwrap().0.to_string();
    let recorder: Box<dyn Any> = executor.take_recorders().remove(0);
    let mut spans = recorder.downcast::<Spans>().unwrap().0;
    spans.sort_by_key(|(event_loop, start, _)| (*start, *event_loop));
    Ran { spans, chains, digest }
}

pub(super) fn run(
    graph: impl Fn(&Graph) -> Result<(), BoxError>,
    simulation: Simulation,
    end_ms: u64,
) -> Vec<(u32, u64, u64)> {
    let ran = run_sliced(graph, simulation, end_ms, end_ms * 1_000, &[]);
    let ms = |ns: u64| {
        assert_eq!(ns % MS, 0, "{:?}", ran.spans);
        ns / MS
    };
    ran.spans.iter().map(|&(of, start, end)| (of, ms(start), ms(end))).collect()
}

/// Nodes `a`, `b`, ... with a timer of these periods, in milliseconds.
pub(super) fn timers(graph: &Graph, periods_ms: &[u64]) -> Result<(), BoxError> {
    for (name, ms) in ["a", "b", "c"].into_iter().zip(periods_ms) {
        let node = graph.create_node(name, ())?;
        node.create_timer(Duration::from_millis(*ms), |_, _| {})?;
    }
    Ok(())
}

/// A node that forwards its messages.
fn relay(graph: &Graph, name: &str, input: &str) -> Result<(), BoxError> {
    let node = graph.create_node(name, ())?;
    let out = node.create_publisher(name, QoS::keep_last(1))?;
    let pass = move |_: &mut (), n: &Message<u8>, _: &mut Context<'_>| out.publish(**n);
    node.create_subscription(input, QoS::keep_last(1), pass)?;
    Ok(())
}

/// `a` sends every 20 ms, and `b` passes it on to `c`; `other` has a timer of 10 ms.
pub(super) fn row(graph: &Graph) -> Result<(), BoxError> {
    let a = graph.create_node("a", ())?;
    let out = a.create_publisher("a", QoS::keep_last(1))?;
    a.create_timer(Duration::from_millis(20), move |_, _| out.publish(1u8))?;
    relay(graph, "b", "a")?;
    let c = graph.create_node("c", ())?;
    c.create_subscription("b", QoS::keep_last(1), |_, _: &Message<u8>, _| {})?;
    let other = graph.create_node("other", ())?;
    other.create_timer(Duration::from_millis(10), |_, _| {})?;
    Ok(())
}

#[test]
fn callbacks_that_begin_together_slow_each_other_down() {
    let two = |graph: &Graph| timers(graph, &[20, 20]);
    let simulation = contended(200, &[&["a"], &["b"]], &[("a", 4), ("b", 4)]);
    assert_eq!(run(two, simulation, 30), [(0, 20, 28), (1, 20, 28)]);
    // After 4 ms, 2 ms of `a` are done, and 1 ms is left.
    let simulation = contended(200, &[&["a"], &["b"]], &[("a", 3), ("b", 2)]);
    assert_eq!(run(two, simulation, 30), [(0, 20, 25), (1, 20, 24)]);
    // One core is never beside itself.
    let simulation = contended(200, &[&["a", "b"]], &[("a", 4), ("b", 4)]);
    assert_eq!(run(two, simulation, 30), [(0, 20, 24), (1, 24, 28)]);
}

#[test]
fn end_of_a_callback_moves_when_another_one_begins_and_ends() {
    // 2 ms alone, then 4 ms beside `b`, which needs 2 ms, then 2 ms alone.
    let simulation = contended(200, &[&["a"], &["b"]], &[("a", 6), ("b", 2)]);
    let staggered = |graph: &Graph| timers(graph, &[20, 22]);
    assert_eq!(run(staggered, simulation, 35), [(0, 20, 28), (1, 22, 26)]);
}

#[test]
fn slowdown_grows_with_the_number_of_busy_cores() {
    // At 300 % 1 ms of each is done by 23; at 200 % another one by 25; then the rest alone.
    let rules = [("a", 1), ("b", 2), ("c", 3)];
    let simulation = contended(300, &[&["a"], &["b"], &["c"]], &rules);
    let three = |graph: &Graph| timers(graph, &[20, 20, 20]);
    assert_eq!(run(three, simulation, 35), [(0, 20, 23), (1, 20, 25), (2, 20, 26)]);
}

#[test]
fn messages_leave_at_the_moved_end() {
    let rules = [("a", 2), ("b", 3), ("c", 1), ("other", 4)];
    let cores: [&[&str]; 2] = [&["a", "b", "c"], &["other"]];
    // From 20 to 28 `other` is busy: `a` takes 4 ms, and 2 ms of `b` are done.
    let expected = [(3, 10, 14), (0, 20, 24), (3, 20, 28), (1, 24, 29), (2, 29, 30)];
    assert_eq!(run(row, contended(200, &cores, &rules), 29), expected);
    let ran = run_sliced(row, contended(200, &cores, &rules), 35, 35_000, &["/a", "/b", "/c"]);
    // At 30 ms, `other` and `c` begin at the same time. Nothing is left of `c`.
    assert_eq!(ran.chains[0].sample_to_start_ns, [9 * MS]);
    assert_eq!(ran.chains[0].release_to_end_ns, [10 * MS]);
    assert_eq!(ran.chains[0].steps_reached, 3);
}

#[test]
fn links_delay_messages_from_the_moved_end() {
    let rules = [("a", 2), ("b", 3), ("c", 1), ("other", 4)];
    let mut simulation = contended(200, &[&["a", "b", "c"], &["other"]], &rules);
    let delay = LinkRule::new("/a").delay(Distribution::fixed(Duration::from_millis(5)));
    simulation.links = Links { rules: vec![delay] }.into();
    // `a` ends at 24, so its message arrives at 29. 1 ms of `b` is done when `other` begins at 30.
    let expected = [(3, 10, 14), (0, 20, 24), (3, 20, 26), (1, 29, 34), (3, 30, 37), (2, 34, 36)];
    assert_eq!(run(row, simulation, 38), expected);
}

#[test]
fn logical_execution_time_holds_unless_the_moved_end_is_later() {
    let arrival = |logical: u64, other: u64| {
        let rules = [("other", other)];
        let mut simulation = contended(200, &[&["a", "b", "c", "d"], &["other"]], &rules);
        let mut durations =
            simulation.durations.as_deref().unwrap().downcast::<Durations>().unwrap().clone();
        let logical = Duration::from_millis(logical);
        let rule = DurationRule::new("a").duration(Distribution::fixed(Duration::from_millis(3)));
        durations.rules.push(rule.logical(logical));
        simulation.durations = durations.into();
        let job = Job::new(|graph| {
            row(graph)?;
            let d = graph.create_node("d", Vec::new())?;
            let arrived = |at: &mut Vec<u64>, _: &Message<u8>, cx: &mut Context<'_>| {
                at.push(cx.now().as_nanos() / MS);
            };
            d.create_subscription("a", QoS::keep_last(1), arrived)?;
            Ok(())
        });
        let mut session = job.simulate(|settings| *settings = simulation).start().unwrap();
        session.run_until(Time::from_nanos(39 * MS)).unwrap();
        let arrived = session.state::<Vec<u64>>("/d").unwrap()[0];
        (arrived - 20, session.report().overruns().to_vec())
    };
    let late = |count| vec![("/a `timer 20ms`".to_owned(), count)];
    // The call takes 3 ms alone, and 5 ms beside 2 ms of `other`.
    assert_eq!(arrival(4, 0), (4, vec![]));
    assert_eq!(arrival(7, 2), (7, vec![]));
    assert_eq!(arrival(4, 2), (5, late(1)));
    assert_eq!(arrival(2, 2), (5, late(1)));
}

#[test]
fn calls_that_send_and_quiet_ones_are_slowed_down_by_their_own_duration() {
    let rules = [("b", 1), ("other", 4)];
    let mut simulation = contended(200, &[&["a", "b", "c"], &["other"]], &rules);
    let mut durations =
        simulation.durations.as_deref().unwrap().downcast::<Durations>().unwrap().clone();
    let fixed = |ms| Distribution::fixed(Duration::from_millis(ms));
    durations.rules.push(DurationRule::new("a").duration(fixed(9)).sending(fixed(2)));
    durations.rules.push(DurationRule::new("c").duration(fixed(1)).sending(fixed(9)));
    simulation.durations = durations.into();
    // `other` is busy from 20 to 28; 2 ms of `a`, 1 ms of `b`, and 1 ms of `c`.
    let expected = [(3, 10, 14), (0, 20, 24), (3, 20, 28), (1, 24, 26), (2, 26, 28)];
    assert_eq!(run(row, simulation, 29), expected);
}

/// Panics when a call has ended.
struct Clumsy;

impl Recorder for Clumsy {
    fn started(&mut self, _: &Dispatch) {}

    fn finished(&mut self, _: &Dispatch, _: Completion) {
        panic!("no space")
    }
}

#[test]
fn recorder_that_panics_at_a_moved_end_is_reported() {
    let simulation = contended(200, &[&["a"], &["b"]], &[("a", 4), ("b", 4)]);
    let mut executor = Executor::deterministic(simulation).with_recorders(|_, _| Clumsy);
    timers(executor.graph(), &[20, 20]).unwrap();
    let error = executor.spin_for(Duration::from_millis(30)).unwrap_err().to_string();
    assert!(
        error.contains("the recorder panicked at 0.028") && error.contains("no space"),
        "{error}"
    );
    assert_eq!(executor.take_recorders().len(), 1);
}

#[test]
fn without_a_slowdown_nothing_changes() {
    let rules = [("a", 2), ("b", 3), ("c", 1), ("other", 4)];
    let cores: [&[&str]; 2] = [&["a", "b", "c"], &["other"]];
    let run = |simulation| run_sliced(row, simulation, 500, 500_000, &["/a", "/b", "/c"]);
    let mut plain = contended(100, &cores, &rules);
    let independent = run(plain.clone());
    plain.contention = Contention::default();
    assert_eq!(run(plain), independent);
    assert_ne!(run(contended(101, &cores, &rules)).digest, independent.digest);
    let one: [&[&str]; 1] = [&["a", "b", "c", "other"]];
    assert_eq!(run(contended(100, &one, &rules)), run(contended(300, &one, &rules)));
}

/// The work of each call, from the rates over its span: those of `spans` that overlap it are on
/// other cores.
fn work_done(spans: &[(u32, u64, u64)], slowdown_percent: u32, cores: usize) -> Vec<f64> {
    let span_of = |&(_, start, end): &(u32, u64, u64)| (start, end);
    let of_call = |call: &(u32, u64, u64)| {
        let (start, end) = span_of(call);
        let mut times: Vec<u64> = spans.iter().flat_map(|s| [s.1, s.2]).collect();
        times.retain(|time| (start..=end).contains(time));
        times.sort_unstable();
        let rate = |from: u64, to: u64| {
            let is_busy = |s: &&(u32, u64, u64)| s.1 <= from && s.2 >= to;
            let others = spans.iter().filter(is_busy).count() - 1;
            let extra = f64::from(slowdown_percent - 100) / 100.0;
            1.0 / (1.0 + extra * others as f64 / (cores - 1) as f64)
        };
        let parts = times.windows(2).filter(|pair| pair[0] < pair[1]);
        parts.map(|pair| (pair[1] - pair[0]) as f64 * rate(pair[0], pair[1])).sum()
    };
    spans.iter().map(of_call).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(60)
    })]

    #[test]
    fn each_call_gets_its_work_done(
        took_us in prop::collection::vec(1_u64..9_000, 4),
        cores in prop::collection::vec(0_usize..3, 4),
        slowdown_percent in 101_u32..400,
    ) {
        let names = ["a", "b", "c", "other"];
        let by_core: Vec<Vec<&str>> = (0..3)
            .map(|core| (0..4).filter(|n| cores[*n] == core).map(|n| names[n]).collect())
            .collect();
        let used: Vec<&[&str]> =
            by_core.iter().map(Vec::as_slice).filter(|core| !core.is_empty()).collect();
        let mut simulation = contended(slowdown_percent, &used, &[]);
        let takes = |(name, us): (&str, &u64)| {
            DurationRule::new(name).duration(Distribution::fixed(Duration::from_micros(*us)))
        };
        let rules = names.into_iter().zip(&took_us).map(takes).collect();
        simulation.durations = Durations { rules }.into();
        let chain = ["/a", "/b", "/c"];
        let ran = run_sliced(row, simulation.clone(), 300, 300_000, &chain);
        let done = work_done(&ran.spans, slowdown_percent, used.len().max(2));
        let ended = ran.spans.iter().zip(done).filter(|(span, _)| span.2 <= 300 * MS);
        for (span, done) in ended {
            let work_ns = took_us[span.0 as usize] as f64 * 1e3;
            // A nanosecond is lost at each change of speed, of which a call has few.
            prop_assert!((done - work_ns).abs() < 100.0, "{span:?}: {done} of {work_ns}");
        }
        // Neither repetition nor slices change anything.
        let again = run_sliced(row, simulation, 300, 1_500, &chain);
        prop_assert_eq!(&again.spans, &ran.spans);
        prop_assert_eq!(again, ran);
    }
}
