//! Measurement of a profile: the graph runs live, on one core and then on several.
//!
//! The runs follow each other, each with a new graph. Profilers record on the threads of the
//! workers, one for each worker, and are taken out after the spin, so they share nothing. While one
//! core is measured beside busy ones, threads on the other cores run the same graph in simulated
//! time until their channel is dropped, which a panic does as well. The load is the graph itself,
//! because the slowdown depends on the work of both cores, and an artificial load would do other
//! work.

use super::{CallbackProfile, Profile, Profiler};
use ringspin_executor::{BoxError, Error, ErrorKind, Graph, GraphInfo, LoopId, Table};
use ringspin_modes::names::exact_name;
use ringspin_modes::{Executor, Mapping, Mode, Simulation, allowed_cores, graph_edges};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

/// The slowdown below which cores count as independent: repeated measurements of independent cores
/// differ by less.
const SLOWDOWN_PERCENT_MIN: u32 = 105;

/// The number of calls below which a callback does not count for the slowdown.
const CALLS_MIN: u64 = 5;

/// The simulated time after which a busy neighbour looks whether it is still needed.
const SLICE: Duration = Duration::from_millis(100);

impl Profile {
    /// Runs the graph that `build` declares live for `span` three times, and returns the
    /// measurements: on one core, on one core while the others are busy, and on all cores that this
    /// process may use, with connected loops on different cores. With a single core there is only
    /// the first run, and no cross-core hop is measured.
    ///
    /// The other cores are kept busy by the graph itself, in simulated time: it does its work
    /// without a pause. `build` is called for each of them, on its thread. If the graph cannot run
    /// in simulated time, the slowdown remains unknown. If cores slow each other down, only runs on
    /// one core count for durations of callbacks, unless a callback ran in the other one only.
    ///
    /// Other load on the machine disturbs the measurement; a longer span reduces its influence. The
    /// return value of `build` is kept until its run is over.
    ///
    /// # Errors
    /// An error with the error of `build` or of the executor.
    pub fn measure<T>(
        build: impl Fn(&Graph) -> Result<T, BoxError> + Sync,
        span: Duration,
    ) -> Result<Self, Error> {
        let single = observe(&build, Executor::single_core(), span)?;
        let cores = allowed_cores();
        if cores.len() < 2 {
            return Ok(single);
        }
        let beside = beside_busy_cores(&build, &cores, span)?;
        let slowdown = beside.and_then(|beside| slowdown(&single.callbacks, &beside.callbacks));
        let graph = Graph::new();
        let handles = build(&graph).map_err(|error| run_error(&error))?;
        let mapping = neighbours_apart(&graph.info(), &cores);
        drop((handles, graph));
        let multi = Executor::new(Mode::MultiCore(Some(mapping)));
        let multi = observe(&build, multi, span)?;
        single.merge_multi_core(multi, slowdown)
    }

    /// Merges the profile of a run on several cores that slow each other down by this percentage.
    fn merge_multi_core(
        self,
        mut multi: Self,
        slowdown_percent: Option<u32>,
    ) -> Result<Self, Error> {
        if slowdown_percent.is_some_and(|percent| percent > 100) {
            multi.callbacks.retain(|of| self.callbacks.iter().all(|own| own.key() != of.key()));
            multi.calls.retain(|of| self.calls.iter().all(|own| own.key() != of.key()));
        }
        if let Some(machine) = &mut multi.machine {
            machine.slowdown_percent = slowdown_percent;
        }
        self.merge(multi)
    }
}

/// Runs the graph on the first of `cores` while the others are busy with the same graph; `None` if
/// that does not run in simulated time.
fn beside_busy_cores<T>(
    build: &(impl Fn(&Graph) -> Result<T, BoxError> + Sync),
    cores: &[usize],
    span: Duration,
) -> Result<Option<Profile>, Error> {
    thread::scope(|scope| {
        let neighbours = cores[1..].iter().map(|&core| {
            // The sender is also dropped if `build` panics here.
            let (needed, is_needed) = mpsc::channel();
            (needed, scope.spawn(move || keep_busy(build, core, &is_needed)))
        });
        let (needed, neighbours): (Vec<_>, Vec<_>) = neighbours.unzip();
        let mapping = Mapping::new().default_core(cores[0]);
        let profile = observe(build, Executor::new(Mode::MultiCore(Some(mapping))), span)?;
        drop(needed);
        let kept_busy = neighbours.into_iter().map(|thread| matches!(thread.join(), Ok(Ok(true))));
        // All are joined before one of them counts.
        let kept_busy: Vec<bool> = kept_busy.collect();
        Ok(kept_busy.iter().all(|kept| *kept).then_some(profile))
    })
}

/// Keeps a core busy with the graph in simulated time, which never waits. Returns false if it did
/// not get to run before it was no longer needed.
fn keep_busy<T>(
    build: &impl Fn(&Graph) -> Result<T, BoxError>,
    core: usize,
    is_needed: &Receiver<()>,
) -> Result<bool, BoxError> {
    if !ringspin_modes::thread::pin(core) {
        return Err(format!("failed to pin a thread to core {core}").into());
    }
    let is_needed = || is_needed.try_recv() == Err(TryRecvError::Empty);
    let mut has_run = false;
    while is_needed() {
        let mut executor = Executor::deterministic(Simulation::default());
        let handles = build(executor.graph())?;
        // A graph that stops itself is built again.
        while is_needed() && !executor.stop_handle().is_stopped() {
            executor.spin_for(SLICE)?;
            has_run = true;
        }
        drop(handles);
    }
    Ok(has_run)
}

/// The duration of callbacks beside busy cores in percent of that alone; 100 if the difference is
/// not significant, `None` if too few calls were measured. Compares the medians of each callback,
/// and takes the median of these ratios, each weighted by the time of the callback.
fn slowdown(alone: &[CallbackProfile], beside: &[CallbackProfile]) -> Option<u32> {
    let ratio = |callback: &CallbackProfile| {
        let place = beside.binary_search_by(|other| other.key().cmp(&callback.key())).ok()?;
        let [alone, beside] = [&callback.durations, &beside[place].durations];
        let median_ns = alone.quantile(0.5).as_nanos() as u64;
        let counts = median_ns > 0 && alone.count.min(beside.count) >= CALLS_MIN;
        let percent = beside.quantile(0.5).as_nanos() as u64 * 100 / median_ns.max(1);
        counts.then_some((u32::try_from(percent).unwrap_or(u32::MAX), alone.total_ns))
    };
    let mut ratios: Vec<_> = alone.iter().filter_map(ratio).collect();
    ratios.sort_unstable();
    let half = ratios.iter().map(|(_, weight)| u128::from(*weight)).sum::<u128>().div_ceil(2);
    let mut below = 0;
    let middle = ratios.iter().find(|(_, weight)| {
        below += u128::from(*weight);
        below >= half
    });
    let (percent, _) = middle?;
    Some(if *percent < SLOWDOWN_PERCENT_MIN { 100 } else { *percent })
}

fn observe<T>(
    build: impl Fn(&Graph) -> Result<T, BoxError>,
    executor: Executor,
    span: Duration,
) -> Result<Profile, Error> {
    let mut executor = executor.with_recorders(|info, _| Profiler::new(info));
    let handles = build(executor.graph()).map_err(|error| run_error(&error))?;
    executor.spin_for(span).map_err(|error| run_error(&error))?;
    let info = executor.graph().info();
    let profile = Profile::of(&info, executor.take_recorders());
    drop(handles);
    Ok(profile)
}

fn run_error(error: &dyn std::fmt::Display) -> Error {
    let text = format!("failed to run the graph to measure it: {error}");
    Error::new(ErrorKind::CallbackFailed, text)
}

/// Places each loop, in topological order, on the core with the fewest connected loops, then the
/// fewest loops, so that most edges cross cores.
fn neighbours_apart(info: &GraphInfo, cores: &[usize]) -> Mapping {
    let edges = graph_edges(info);
    let mut core_of = Table::<LoopId, usize>::new();
    for id in info.topological_order() {
        let cost = |core: usize| {
            let is_there = |other: LoopId| core_of.get(other) == Some(&core);
            let neighbours = edges.iter().filter(|edge| {
                edge.from == id && is_there(edge.to) || edge.to == id && is_there(edge.from)
            });
            (neighbours.count(), core_of.values().filter(|on| **on == core).count())
        };
        let best = (0..cores.len()).min_by_key(|&core| cost(core));
        core_of.extend(best.map(|core| (id, core)));
    }
    cores.iter().enumerate().fold(Mapping::new(), |mapping, (core, &id)| {
        let on_it = info.loops.iter().filter(|(id, _)| core_of.get(*id) == Some(&core));
        let names: Vec<String> =
            on_it.map(|(_, event_loop)| exact_name(&event_loop.full_name())).collect();
        if names.is_empty() { mapping } else { mapping.core(id, names) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{DurationHistogram, ProfiledMachine};
    use ringspin_executor::{Context, Message, QoS};

    /// Three nodes in a row; the second has a callback group without receivers.
    fn row(graph: &Graph) -> Result<(), BoxError> {
        let first = graph.create_node("first", 0u8)?;
        let out = first.create_publisher("a", QoS::default())?;
        first.create_timer(Duration::from_millis(1), move |n, _| {
            *n = n.wrapping_add(1);
            out.publish(*n)
        })?;
        let second = graph.create_node("second", ())?;
        let out = second.create_publisher("b", QoS::default())?;
        second.create_subscription("a", QoS::default(), move |_, n: &Message<u8>, _| {
            out.publish(**n)
        })?;
        let slow = second.create_callback_group("slow", ())?;
        slow.create_timer(Duration::from_secs(3600), |_, _| {})?;
        let third = graph.create_node("third", ())?;
        let end = |_: &mut (), n: &Message<u8>, cx: &mut Context<'_>| {
            if **n == 30 {
                cx.stop();
            }
        };
        third.create_subscription("b", QoS::default(), end)?;
        Ok(())
    }

    #[test]
    fn connected_loops_are_placed_on_different_cores() {
        let graph = Graph::new();
        row(&graph).unwrap();
        let mapping = neighbours_apart(&graph.info(), &[4, 7]);
        let core = |id| &mapping.cores.iter().find(|core| core.id == id).unwrap().nodes;
        assert_eq!(core(4), &["/first:", "/second:slow", "/third:"]);
        assert_eq!(core(7), &["/second:"]);
        assert_eq!(neighbours_apart(&graph.info(), &[3]).cores[0].nodes.len(), 4);
    }

    #[test]
    fn a_live_run_has_callbacks_and_hops() {
        // The graph stops itself after 30 messages.
        let profile = Profile::measure(row, Duration::from_secs(600)).unwrap();
        assert_eq!(profile.loops, ["/first", "/second", "/second:slow", "/third"]);
        assert_eq!(profile.callbacks.len(), 3);
        assert!(profile.same_core("/a", "/first", "/second").is_some());
        let crosses = profile.cross_core("/b", "/second", "/third").is_some();
        assert_eq!(crosses, allowed_cores().len() > 1);
        let slowdown = profile.machine.as_ref().unwrap().slowdown_percent;
        assert_eq!(slowdown.is_some(), allowed_cores().len() > 1);
        let read = Profile::from_toml(&profile.to_toml_string()).unwrap();
        assert_eq!(read, profile);
        let refused = Profile::measure(|_| Err::<(), _>("no graph".into()), Duration::ZERO);
        let text = refused.unwrap_err().to_string();
        assert_eq!(text, "failed to run the graph to measure it: no graph");
    }

    /// The profiles of callbacks with these durations in microseconds.
    fn callbacks(durations_us: &[(&str, &[u64])]) -> Vec<CallbackProfile> {
        let profile = |(name, us): &(&str, &[u64])| CallbackProfile {
            node: "/node".into(),
            callback: (*name).into(),
            later: false,
            durations: DurationHistogram::of(us.iter().map(|us| us * 1_000)).unwrap(),
        };
        durations_us.iter().map(profile).collect()
    }

    #[test]
    fn slowdown_is_that_of_the_callbacks_with_the_most_work() {
        let alone = callbacks(&[("a", &[100; 9]), ("b", &[10; 20]), ("c", &[1; 50])]);
        let of = |beside: &[(&str, &[u64])]| slowdown(&alone, &callbacks(beside));
        let usual = of(&[("a", &[190; 9]), ("b", &[50; 9]), ("c", &[1; 9])]);
        assert!(usual.is_some_and(|percent| percent.abs_diff(190) <= 2), "{usual:?}");
        let preempted = of(&[("a", &[100, 100, 100, 100, 100, 900, 900]), ("b", &[10; 9])]);
        assert_eq!(preempted, Some(100));
        assert_eq!(of(&[("a", &[104; 9])]), Some(100), "not significant");
        assert_eq!(of(&[("a", &[80; 9])]), Some(100));
        assert_eq!(of(&[("a", &[190; 4]), ("d", &[190; 9])]), None, "too few calls");
    }

    #[test]
    fn durations_beside_other_cores_are_left_out_if_they_are_longer() {
        let profile = |callbacks| {
            let machine = Some(ProfiledMachine::here());
            Profile { callbacks, machine, ..Profile::default() }
        };
        let single = profile(callbacks(&[("a", &[100])]));
        let multi = profile(callbacks(&[("a", &[190]), ("b", &[20])]));
        let count = |slowdown| {
            let merged = single.clone().merge_multi_core(multi.clone(), slowdown).unwrap();
            assert_eq!(merged.machine.unwrap().slowdown_percent, slowdown);
            merged.callbacks.iter().map(|of| of.durations.count).collect::<Vec<_>>()
        };
        assert_eq!(count(Some(190)), [1, 1]);
        assert_eq!(count(Some(100)), [2, 1]);
        assert_eq!(count(None), [2, 1]);
    }

    #[test]
    fn graph_that_does_not_run_in_simulated_time_has_no_slowdown() {
        let build = |graph: &Graph| {
            row(graph)?;
            let node = graph.create_node("live", ())?;
            let fails = |_: &mut (), cx: &mut Context<'_>| match cx.now().as_nanos() < 1 << 60 {
                true => Err("simulated time".into()),
                false => Ok::<_, BoxError>(()),
            };
            node.create_timer(Duration::from_millis(1), fails)?;
            Ok(())
        };
        let profile = Profile::measure(build, Duration::from_secs(600)).unwrap();
        assert_eq!(profile.machine.unwrap().slowdown_percent, None);
    }
}
