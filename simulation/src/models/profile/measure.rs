//! Measurement of a profile: the graph runs live, on one core and then on several.

use super::{MeasureError, Profile, Profiler};
use ringspin_executor::{BoxError, Graph, GraphInfo};
use ringspin_modes::names::exact_name;
use ringspin_modes::{Executor, Mapping, Mode, allowed_cores, graph_edges};
use std::time::Duration;

impl Profile {
    /// Runs the graph that `build` declares live for `span` on one core, then again for `span` on
    /// all cores that this process may use, and returns the measurements of both runs. The second
    /// run places connected loops on different cores. With a single core there is no second run,
    /// and no cross-core hop is measured.
    ///
    /// Other load on the machine disturbs the measurement; a longer span reduces its influence. The
    /// return value of `build` is kept until its run is over.
    ///
    /// # Errors
    /// [`MeasureError::Run`] with the error of `build` or of the executor.
    pub fn measure<T>(
        build: impl Fn(&Graph) -> Result<T, BoxError>,
        span: Duration,
    ) -> Result<Self, MeasureError> {
        let single = observe(&build, Executor::single_core(), span)?;
        let cores = allowed_cores();
        if cores.len() < 2 {
            return Ok(single);
        }
        let graph = Graph::new();
        let handles = build(&graph).map_err(|error| run_error(&error))?;
        let mapping = neighbours_apart(&graph.info(), &cores);
        drop((handles, graph));
        let multi = Executor::new(Mode::MultiCore(Some(mapping)));
        Ok(single.merge(observe(&build, multi, span)?)?)
    }
}

fn observe<T>(
    build: impl Fn(&Graph) -> Result<T, BoxError>,
    executor: Executor,
    span: Duration,
) -> Result<Profile, MeasureError> {
    let mut executor = executor.with_recorders(|info, _| Profiler::new(info));
    let handles = build(executor.graph()).map_err(|error| run_error(&error))?;
    executor.spin_for(span).map_err(|error| run_error(&error))?;
    let info = executor.graph().info();
    let profile = Profile::of(&info, executor.take_recorders());
    drop(handles);
    Ok(profile)
}

fn run_error(error: &dyn std::fmt::Display) -> MeasureError {
    MeasureError::Run { reason: error.to_string() }
}

/// Places each loop, in topological order, on the core with the fewest connected loops, then the
/// fewest loops, so that most edges cross cores.
fn neighbours_apart(info: &GraphInfo, cores: &[usize]) -> Mapping {
    let edges = graph_edges(info);
    let mut core_of = vec![None; info.loops.len()];
    for id in info.topological_order() {
        let cost = |core: usize| {
            let is_there = |other: usize| core_of[other] == Some(core);
            let neighbours = edges.iter().filter(|edge| {
                edge.from == id && is_there(edge.to.0 as usize)
                    || edge.to == id && is_there(edge.from.0 as usize)
            });
            (neighbours.count(), core_of.iter().filter(|on| **on == Some(core)).count())
        };
        core_of[id.0 as usize] = (0..cores.len()).min_by_key(|&core| cost(core));
    }
    cores.iter().enumerate().fold(Mapping::new(), |mapping, (core, &id)| {
        let on_it = info.loops.iter().zip(&core_of).filter(|(_, on)| **on == Some(core));
        let names: Vec<String> =
            on_it.map(|(event_loop, _)| exact_name(&event_loop.full_name())).collect();
        if names.is_empty() { mapping } else { mapping.core(id, names) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
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
        Ok(third.create_subscription("b", QoS::default(), end)?)
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
        let read = Profile::from_toml(&profile.to_toml_string()).unwrap();
        assert_eq!(read, profile);
        let refused = Profile::measure(|_| Err::<(), _>("no graph".into()), Duration::ZERO);
        let text = refused.unwrap_err().to_string();
        assert_eq!(text, "failed to run the graph to measure it: no graph");
    }
}
