//! Configuration from environment variables, and the watchdog of a process: each in a child.

use super::{PAIR, file, registry};
use ringspin_modes::exploration::SCHEDULE_VARIABLE;
use ringspin_modes::{Executor, Mode};
use ringspin_simulation::Exploration;
use std::process::{Command, Output};
use std::time::Duration;

/// Says to a child which part it is to play.
const PART: &str = "RINGSPIN_TEST_PART";

fn is_child() -> bool {
    std::env::var_os(PART).is_some()
}

/// Runs `test` again in a child, with `variables`.
fn child(test: &str, variables: &[(&str, &str)]) -> Output {
    let runner = std::env::var("RINGSPIN_TEST_RUNNER").unwrap_or_default();
    let program = std::env::current_exe().unwrap().display().to_string();
    let words: Vec<_> = runner.split_whitespace().chain([&*program]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args([test, "--exact", "--nocapture"]).env(PART, "child");
    let all = ["RINGSPIN_MODE", "RINGSPIN_MAPPING", "RINGSPIN_SIMULATION", "RINGSPIN_MIDDLEWARE"];
    for name in all {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn a_callback_that_does_not_return_ends_the_process_with_124() {
    let text =
        format!("for = \"1 s\"\nwatchdog = \"20 ms\"\n{PAIR}parameters = {{ stuck_at = 3 }}");
    if is_child() {
        file(&text).job(&registry()).unwrap().run().unwrap();
        unreachable!("it does not return");
    }
    let test = "environment::a_callback_that_does_not_return_ends_the_process_with_124";
    let output = child(test, &[]);
    assert_eq!(output.status.code(), Some(124));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("20ms of real time: /listener `subscription /chatter`"), "{err}");
}

/// Prints the draw, when the run ended, and how many calls there were.
fn run_from_env() {
    let mut executor = match Executor::from_env_with(ringspin_simulation::load_simulation) {
        Ok(executor) => executor,
        Err(error) => return println!("error: {error}"),
    };
    let node = executor.create_node("node", ()).unwrap();
    let mut random = node.create_random("dice").unwrap();
    println!("draw: {}", ringspin_executor::rand_core::Rng::next_u64(&mut random));
    node.create_timer(Duration::from_secs(1), |_, _| {}).unwrap();
    executor.spin_until(ringspin_executor::Time::from_secs(30)).unwrap();
    println!("end: {}, {} calls", executor.now(), executor.statistics().dispatched());
}

#[test]
fn a_binary_is_simulated_as_a_file_says() {
    if is_child() {
        return run_from_env();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("s.toml"), "seed = 7\nend = \"12 s\"").unwrap();
    std::fs::write(path("job.toml"), "seed = 7\n[[node]]\ntype = \"a\"").unwrap();
    std::fs::write(path("mapping.toml"), "default_core = 0").unwrap();
    let simulated = |mode: &str, file: &str, mapping: &str| {
        let variables =
            [("RINGSPIN_MODE", mode), ("RINGSPIN_SIMULATION", file), ("RINGSPIN_MAPPING", mapping)];
        let test = "environment::a_binary_is_simulated_as_a_file_says";
        String::from_utf8(child(test, &variables).stdout).unwrap()
    };
    let draw = |seed| {
        let graph = ringspin_executor::Graph::new();
        graph.set_seed(seed).unwrap();
        let node = graph.create_node("node", ()).unwrap();
        let mut random = node.create_random("dice").unwrap();
        format!("draw: {}\n", ringspin_executor::rand_core::Rng::next_u64(&mut random))
    };
    let out = simulated("deterministic", "", "");
    assert!(out.contains(&draw(0)) && out.contains("end: 30.000000000 s, 30 calls\n"), "{out}");
    let out = simulated("deterministic", &path("s.toml"), "");
    assert!(out.contains(&draw(7)) && out.contains("end: 12.000000000 s, 12 calls\n"), "{out}");
    let refused = "error: RINGSPIN_SIMULATION is set, but mode \"single\" simulates nothing; unset \
                   it or use `deterministic`\n";
    for mode in ["", "single"] {
        let out = simulated(mode, &path("s.toml"), "");
        assert!(out.contains(refused), "{out}");
    }
    let out = simulated("multi", &path("s.toml"), &path("mapping.toml"));
    assert!(out.contains(&refused.replace("single", "multi")), "{out}");
    let out = simulated("deterministic", &path("s.toml"), &path("mapping.toml"));
    assert!(out.contains("error: RINGSPIN_MAPPING is set"), "{out}");
    let out = simulated("deterministic", &path("job.toml"), "");
    let error = format!("error: {}:3: `node` belongs to a job", path("job.toml"));
    assert!(out.contains(&error), "{out}");
    let out = simulated("deterministic", &path("no.toml"), "");
    assert!(out.contains("error: failed to read the job file"), "{out}");
}

#[test]
fn a_deterministic_executor_has_the_seed_of_its_simulation() {
    let draw = |mode| {
        let executor = Executor::new(mode);
        let node = executor.create_node("node", ()).unwrap();
        let mut random = node.create_random("dice").unwrap();
        ringspin_executor::rand_core::Rng::next_u64(&mut random)
    };
    let seeded = |seed| {
        Mode::Deterministic(Box::new(ringspin_modes::Simulation { seed, ..Default::default() }))
    };
    assert_eq!(draw(seeded(0)), draw(Mode::SingleCore));
    assert_ne!(draw(seeded(1)), draw(Mode::SingleCore));
}

#[test]
fn the_environment_chooses_the_middleware() {
    if is_child() {
        return run_from_env();
    }
    let connected = |middleware: &str| {
        let test = "environment::the_environment_chooses_the_middleware";
        let variables = [("RINGSPIN_MODE", "deterministic"), ("RINGSPIN_MIDDLEWARE", middleware)];
        String::from_utf8(child(test, &variables).stdout).unwrap()
    };
    assert!(connected("none").contains("end: 30.000000000 s"));
    let unknown = connected("dds");
    assert!(unknown.contains("error: unknown middleware \"dds\"; use `none`"), "{unknown}");
    let ros2 = connected("ros2");
    assert!(ros2.contains("build it with feature `ros2`"), "{ros2}");
}

#[test]
fn an_empty_schedule_in_the_environment_is_the_default_order() {
    if is_child() {
        let (file, registry) = (file(&format!("for = \"1 s\"\n{PAIR}")), registry());
        let job = file.job(&registry).unwrap();
        let explored = job.explore(&Exploration { seeds: 0..3, ..Exploration::default() });
        println!("{} runs", explored.unwrap().runs);
        return;
    }
    let test = "environment::an_empty_schedule_in_the_environment_is_the_default_order";
    let output = child(test, &[(SCHEDULE_VARIABLE, "")]);
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("1 runs"), "{out}");
}
