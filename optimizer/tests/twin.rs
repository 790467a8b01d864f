//! The way from a profile file of another machine to the best assignment, through the public API.

use ringspin_executor::{BoxError, Graph, Message, Node, QoS};
use ringspin_modes::Executor;
use ringspin_optimizer::{Assignment, Chain, Evaluation, Model, Profile, Twin};
use ringspin_simulation::models::Profiler;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Two pipelines of a sensor and a worker; together they overload one core.
fn build(graph: &Graph) -> Result<(), BoxError> {
    for name in ["left", "right"] {
        let sensor = graph.create_node(&format!("{name}_sensor"), 0u32)?;
        let out = sensor.create_publisher(name, QoS::keep_last(1))?;
        sensor.create_timer(Duration::from_millis(10), move |n, _| {
            *n += 1;
            out.publish(*n)
        })?;
        let worker = graph.create_node(&format!("{name}_worker"), ())?;
        worker.create_subscription(name, QoS::keep_last(1), |_, _: &Message<u32>, _| {})?;
    }
    Ok(())
}

/// The profile of a small machine: a sensor takes 1 ms, a worker 5.9 ms, a message 0.1 ms on one
/// core and 0.5 ms between cores.
fn file() -> String {
    let one = |ns: u64| {
        format!(
            "{{ count = 1, total_ns = {ns}, min_ns = {ns}, max_ns = {ns}, \
             histogram = [[{ns}, 1]] }}"
        )
    };
    let callback = |node: &str, callback: &str, ns: u64| {
        format!(
            "[[callback]]\nnode = \"/{node}\"\ncallback = \"{callback}\"\n\
             durations = {}\n",
            one(ns)
        )
    };
    let rows = ["left", "right"].map(|name| {
        callback(&format!("{name}_sensor"), "timer 10ms", 1_000_000)
            + &callback(&format!("{name}_worker"), &format!("subscription /{name}"), 5_900_000)
    });
    let hops = ["left", "right"].map(|name| {
        format!(
            "[[hop]]\ntopic = \"/{name}\"\nfrom = \"/{name}_sensor\"\nto = \"/{name}_worker\"\n\
             same_core = {}\ncross_core = {}\n",
            one(100_000),
            one(500_000)
        )
    });
    format!(
        "version = 2\n\
         loops = [\"/left_sensor\", \"/left_worker\", \"/right_sensor\", \"/right_worker\"]\n\
         [machine]\nname = \"robot\"\narchitecture = \"aarch64\"\ncores = 4\n\
         {}{}",
        rows.concat(),
        hops.concat()
    )
}

/// All assignments of the four loops to two cores.
fn assignments(twin: &Twin<'_>) -> Vec<Assignment> {
    let loops = twin.loops().to_vec();
    let cores = |code: usize| (0..4).map(move |n| code >> n & 1).collect();
    (0..16).map(|code| Assignment::new(loops.clone(), cores(code), 2)).collect()
}

#[test]
fn a_profile_of_another_machine_is_optimized_here() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("robot.toml");
    std::fs::write(&path, file()).unwrap();
    let profile = Profile::load(&path).unwrap();
    let machine = profile.machine.as_ref().unwrap();
    assert_eq!((&*machine.architecture, machine.cores), ("aarch64", 4));
    let chains = ["left", "right"].map(|name| {
        Chain::new(name, [format!("/{name}_sensor"), format!("/{name}_worker")])
            .with_deadline(Duration::from_millis(7))
    });
    let twin = Twin::new(build, &profile, chains.to_vec()).unwrap();
    let twin = twin.with_horizon(Duration::from_secs(1));
    let assignments = assignments(&twin);
    let evaluate = || -> Vec<Evaluation> {
        assignments.iter().map(|assignment| twin.evaluate(assignment).unwrap()).collect()
    };
    let here = evaluate();
    let there = std::thread::scope(|scope| scope.spawn(evaluate).join().unwrap());
    assert_eq!(here, there);
    for (assignment, evaluation) in assignments.iter().zip(&here) {
        let [left_sensor, left, right_sensor, right] = assignment.cores() else { panic!() };
        let workers_apart = left != right;
        assert_eq!(evaluation.drops == 0, workers_apart, "{assignment:?}: {evaluation:?}");
        let misses = evaluation.chains.iter().map(|chain| chain.misses).sum::<u64>();
        let rows_apart = workers_apart && left == left_sensor && right == right_sensor;
        if workers_apart {
            assert_eq!(misses == 0, rows_apart, "{assignment:?}: {evaluation:?}");
        }
        if rows_apart {
            let of_both =
                evaluation.chains.iter().all(|chain| chain.release_to_end.max_ns == 7_000_000);
            assert!(of_both, "1 + 0.1 + 5.9: {evaluation:?}");
        }
    }
}

/// A host that has one guest after another: each is destroyed when it has worked three times.
fn build_host(graph: &Graph, calls: &Arc<AtomicU64>) -> Result<(), BoxError> {
    const MS: Duration = Duration::from_millis(1);
    let host = graph.create_node("host", None::<(Node<()>, Arc<AtomicU64>)>)?;
    let (graph, calls) = (graph.clone(), calls.clone());
    host.create_timer(MS, move |guest, _| {
        if let Some((node, worked)) = guest {
            if worked.load(SeqCst) >= 3 {
                node.destroy();
                *guest = None;
            }
            return Ok(());
        }
        let (node, worked) = (graph.create_node("guest", ())?, Arc::<AtomicU64>::default());
        let (calls, own) = (calls.clone(), worked.clone());
        node.create_timer(MS, move |_, _| {
            let start = Instant::now();
            while start.elapsed() < MS / 10 {}
            calls.fetch_add(1, SeqCst);
            own.fetch_add(1, SeqCst);
        })?;
        *guest = Some((node, worked));
        Ok::<(), BoxError>(())
    })?;
    Ok(())
}

#[test]
fn cost_of_a_node_that_comes_and_goes_is_in_the_profile_and_the_evaluation() {
    let calls = Arc::<AtomicU64>::default();
    let mut executor = Executor::single_core().with_recorders(|info, _| Profiler::new(info));
    build_host(executor.graph(), &calls).unwrap();
    while calls.load(SeqCst) < 7 {
        executor.spin_for(Duration::from_millis(10)).unwrap(); // the third guest is there
    }
    let info = executor.graph().info();
    let profile = Profile::of(&info, executor.take_recorders());
    assert_eq!(profile.loops, ["/host"]);
    let guest = profile.callbacks.iter().find(|of| of.node == "/guest").unwrap();
    assert_eq!((&*guest.callback, guest.later), ("timer 1ms", true));
    assert_eq!(guest.durations.count, calls.load(SeqCst));
    assert!(guest.durations.min_ns >= 100_000, "{:?}", guest.durations);
    assert_eq!(Profile::from_toml(&profile.to_toml_string()).unwrap(), profile);

    let load = |profile: &Profile, core| {
        let calls = Arc::default();
        let twin = Twin::new(move |graph| build_host(graph, &calls), profile, vec![]).unwrap();
        let twin = twin.with_horizon(Duration::from_millis(50));
        let assignment = Assignment::new(twin.loops().to_vec(), vec![core], 2);
        twin.evaluate(&assignment).unwrap().core_loads
    };
    let mut without = profile.clone();
    without.callbacks.retain(|of| !of.later);
    // Guests run on the first core.
    let [beside, first] = [load(&profile, 1), load(&profile, 0)];
    assert!(beside[0] > 0.025 && first[0] > load(&without, 0)[0] + 0.025, "{beside:?}, {first:?}");
    assert_eq!(load(&without, 1)[0], 0.0);
}
