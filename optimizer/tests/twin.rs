//! The way from a profile file of another machine to the best assignment, through the public API.

use ringspin_executor::{BoxError, Graph, Message, QoS};
use ringspin_optimizer::{Assignment, Chain, Evaluation, Model, Profile, Twin};
use std::time::Duration;

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
