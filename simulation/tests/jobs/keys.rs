//! Effect of each key of a job file.

use super::{PAIR, file, registry, run};
use ringspin_executor::{Arguments, QoS, Time};
use ringspin_modes::{Contention, Cores, Jitter, Mapping, Simulation, TiePolicy};
use ringspin_simulation::models::{Distribution, DurationRule, Durations, LinkRule, Links};
use ringspin_simulation::{JobFile, Registry};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn simulation(text: &str) -> Simulation {
    file(text).simulation().clone()
}

#[test]
fn an_empty_file_is_the_default_simulation() {
    assert_eq!(simulation(""), Simulation::default());
}

#[test]
fn every_key_of_a_simulation_counts() {
    let text = r#"
        seed = 7
        start = "1 s"
        end = "1.5 min"
        ties = "reverse"
        jitter = { max = "1 ms", seed = 3 }
        cores = "single"
        instant_dispatches_max = 5
        no_progress_max = "10 s"
        [[link]]
        topic = "/chatter"
        delay = "3 ms"
        [[execution]]
        node = "/listener"
        duration = "2 ms"
    "#;
    let expected = Simulation {
        start: Time::from_secs(1),
        end: Some(Time::from_secs(90)),
        seed: 7,
        ties: TiePolicy::Reverse,
        jitter: Jitter { max: MS, seed: 3 },
        links: Links::new()
            .rule(LinkRule::new("/chatter").delay(Distribution::fixed(3 * MS)))
            .into(),
        durations: Durations::new()
            .rule(DurationRule::new("/listener").duration(Distribution::fixed(2 * MS)))
            .into(),
        cores: Cores::Single,
        contention: Contention::default(),
        instant_dispatches_max: 5,
        no_progress_max: Some(Duration::from_secs(10)),
    };
    assert_eq!(simulation(text), expected);
    assert_eq!(file(text).into_simulation().unwrap(), expected);
}

#[test]
fn the_end_may_be_a_length() {
    let end = |text| simulation(text).end;
    assert_eq!(end("start = \"10 s\"\nfor = \"60 s\""), Some(Time::from_secs(70)));
    assert_eq!(end("start = \"10 s\"\nend = \"10 s\""), Some(Time::from_secs(10)));
    assert_eq!(end("start = \"10 s\""), None);
}

#[test]
fn ties_have_these_forms() {
    let ties = |text| simulation(text).ties;
    assert_eq!(ties("ties = \"fifo\""), TiePolicy::Fifo);
    assert_eq!(ties("ties = { shuffle = { seed = 4 } }"), TiePolicy::Shuffle { seed: 4 });
    assert_eq!(ties("ties = { shuffle = {} }"), TiePolicy::Shuffle { seed: 0 });
    assert_eq!(
        ties("ties = { pct = { seed = 4, depth = 3, steps = 100 } }"),
        TiePolicy::Pct { seed: 4, depth: 3, steps: 100 }
    );
    let mixed = TiePolicy::Mixed { seed: 4, steps: 100 };
    assert_eq!(ties("ties = { mixed = { seed = 4, steps = 100 } }"), mixed);
    let schedule = "t0.1:0>1,m7.12>3+250";
    let scripted = TiePolicy::Scripted(schedule.parse().unwrap());
    assert_eq!(ties(&format!("schedule = \"{schedule}\"")), scripted);
}

#[test]
fn files_are_found_beside_the_job_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("mapping.toml", "[[core]]\nid = 5\nnodes = [\"/talker\", \"/listener\"]");
    write("delays.csv", "Topic Name,Delay Type,Fixed Delay_ms,Measured\n/chatter,FIXED,4,\n");
    write(
        "profile.toml",
        "version = 2\n[[callback]]\nnode = \"/listener\"\ncallback = \"subscription /chatter\"\n\
         [callback.durations]\ncount = 1\ntotal_ns = 7\nmin_ns = 7\nmax_ns = 7\n\
         histogram = [[7, 1]]",
    );
    write("robot.yaml", "/talker:\n  ros__parameters:\n    period_ms: 250\n");
    write(
        "job.toml",
        &format!(
            "for = \"1 s\"\ncores = {{ mapping = \"mapping.toml\" }}\ndelays = \"delays.csv\"\n\
             profile = \"profile.toml\"\nros_args = [\"--params-file\", \"robot.yaml\"]\n{PAIR}\n\
             [[link]]\ntopic = \"/chatter\"\ndelay = \"5 ms\"\n\
             [[execution]]\nnode = \"/listener\"\nscale = 2.0\n",
        ),
    );
    let file = JobFile::load(folder.path().join("job.toml")).unwrap_or_else(|e| panic!("{e}"));
    let simulation = file.simulation();
    assert_eq!(simulation.cores, Cores::Mapped(Mapping::new().core(5, ["/talker", "/listener"])));
    let delays: Vec<_> = simulation
        .links
        .as_deref()
        .unwrap()
        .downcast::<Links>()
        .unwrap()
        .rules
        .iter()
        .map(|rule| rule.delay.clone())
        .collect();
    assert_eq!(delays, [4, 5].map(|ms| Distribution::fixed(ms * MS)), "the later rule wins");
    let durations =
        &simulation.durations.as_deref().unwrap().downcast::<Durations>().unwrap().rules;
    assert_eq!((durations.len(), durations[1].scale), (2, Some(2.0)));
    let report = file.job(&registry()).unwrap().run().unwrap();
    // At 1 s, the fourth message is under way.
    assert_eq!(report.dispatches(), 4 + 3);
}

/// A node type that keeps the parameters it gets.
fn curious(seen: &Arc<Mutex<Vec<String>>>) -> Registry {
    let seen = seen.clone();
    Registry::new().node("curious", move |graph, place| {
        let node = place.create_node(graph, ())?;
        let mut lines = vec![format!("{} {}", place.full_name(), node.full_name())];
        lines.push(node.declare_parameter("flag", false)?.get().to_string());
        lines.push(node.declare_parameter("count", 0i64)?.get().to_string());
        lines.push(node.declare_parameter("limits.low", 0.0)?.get().to_string());
        lines.push(node.declare_parameter("limits.high", 0.0)?.get().to_string());
        lines.push(node.declare_parameter("frame", String::new())?.get());
        lines.push(format!("{:?}", node.declare_parameter("flags", vec![true])?.get()));
        lines.push(format!("{:?}", node.declare_parameter("counts", vec![0i64])?.get()));
        lines.push(format!("{:?}", node.declare_parameter("bytes", vec![0u8])?.get()));
        lines.push(format!("{:?}", node.declare_parameter("weights", vec![0.0])?.get()));
        lines.push(format!("{:?}", node.declare_parameter("names", vec![String::new()])?.get()));
        lines.push(format!("{:?}", node.declare_parameter("none", vec![1.5])?.get()));
        let out = node.create_publisher::<u8>("out", QoS::default())?;
        lines.push(out.topic().into());
        seen.lock().unwrap().extend(lines);
        Ok(())
    })
}

#[test]
fn a_node_gets_its_place_its_parameters_and_its_names() {
    let text = r#"
        endless = true
        ros_args = ["-p", "count:=1", "-p", "frame:=base", "-r", "out:=/weak"]
        [[node]]
        type = "curious"
        name = "front"
        namespace = "/sensors"
        remap = { out = "/front/out" }
        [node.parameters]
        flag = true
        count = 5
        limits = { low = -1.5 }
        "limits.high" = 2.5
        flags = [true, false]
        counts = [1, 2]
        bytes = [7, 255]
        weights = [0.5, 1.0]
        names = ["a", "b"]
        none = []
        [[node]]
        type = "curious"
    "#;
    let seen = Arc::default();
    let registry = curious(&seen);
    file(text).job(&registry).unwrap().run().unwrap();
    let first = [
        "/sensors/front /sensors/front",
        "true",
        "5",
        "-1.5",
        "2.5",
        "base",
        "[true, false]",
        "[1, 2]",
        "[7, 255]",
        "[0.5, 1.0]",
        "[\"a\", \"b\"]",
        "[]",
        "/front/out",
    ];
    let second = ["/curious /curious", "false", "1"];
    let lines: Vec<String> = std::mem::take(&mut seen.lock().unwrap());
    assert_eq!(lines[..first.len()], first);
    assert_eq!(lines[first.len()..][..second.len()], second);
    assert_eq!(lines.last().unwrap(), "/weak");

    let line = ["--ros-args", "-p", "count:=9", "-r", "out:=/strong"];
    let (stronger, _) = Arguments::parse(line).unwrap();
    file(text).with_arguments(stronger).job(&registry).unwrap().run().unwrap();
    let lines = seen.lock().unwrap();
    assert_eq!((&*lines[2], &*lines[first.len() - 1]), ("9", "/strong"));
}

#[test]
fn node_ends_the_run_with_its_exit_code() {
    let text = format!("for = \"60 s\"\n{PAIR}parameters = {{ exit_at = 4 }}");
    let report = run(&text);
    assert_eq!((report.exit_code(), report.end()), (Some(7), Time::from_nanos(400_000_000)));
}

#[test]
fn messages_end_the_run() {
    let ends = |when: &str| run(&format!("for = \"60 s\"\nend_when = {when}\n{PAIR}")).end();
    assert_eq!(ends("{ topic = \"/chatter\" }"), Time::from_nanos(100_000_000));
    assert_eq!(ends("{ topic = \"/chatter\", messages = 20 }"), Time::from_secs(2));
    assert_eq!(ends("{ topic = \"/chatter\", messages = 1000 }"), Time::from_secs(60));
}

#[test]
fn failures_stop_the_run_or_isolate_the_node() {
    let text = |failures: &str| {
        format!("for = \"1 s\"\nfailures = \"{failures}\"\n{PAIR}parameters = {{ fail_at = 3 }}")
    };
    let report = run(&text("isolate"));
    assert_eq!((report.failures().len(), report.dispatches()), (1, 10 + 3));
    let error = file(&text("stop")).job(&registry()).unwrap().run().unwrap_err().to_string();
    assert!(error.contains("/listener") && error.contains("one too many"), "{error}");
}

#[test]
fn no_progress_is_an_error() {
    let text = "for = \"60 s\"\nno_progress_max = \"10 s\"\n[[node]]\ntype = \"talker\"";
    let error = file(text).job(&registry()).unwrap().run().unwrap_err().to_string();
    assert!(error.contains("for more than 10s"), "{error}");
}

#[test]
fn the_seed_is_that_of_delays_and_of_nodes() {
    let dice = || {
        Registry::new().node("dice", |graph, place| {
            let node = place.create_node(graph, 0u64)?;
            node.digest_state()?;
            let mut random = node.create_random("dice")?;
            node.create_timer(Duration::from_secs(1), move |last, _| {
                *last = ringspin_executor::rand_core::Rng::next_u64(&mut random);
            })?;
            Ok(())
        })
    };
    let digest = |seed: u64, registry: &Registry| {
        let text = format!("seed = {seed}\nfor = \"5 s\"\n[[node]]\ntype = \"dice\"");
        file(&text).job(registry).unwrap().run().unwrap().digest()
    };
    assert_eq!(digest(7, &dice()), digest(7, &dice()));
    assert_ne!(digest(7, &dice()), digest(8, &dice()));
    let late = |seed: u64| {
        let delay = "[[link]]\ntopic = \"/chatter\"\ndelay = { uniform = [\"1 ms\", \"9 ms\"] }";
        run(&format!("seed = {seed}\nfor = \"5 s\"\n{PAIR}{delay}")).digest()
    };
    assert_eq!(late(7), late(7));
    assert_ne!(late(7), late(8));
}

#[test]
fn job_of_a_file_runs_like_any_job() {
    let registry = registry();
    let job = file(&format!("for = \"1 s\"\n{PAIR}")).job(&registry).unwrap();
    let mut session = job.start().unwrap();
    assert_eq!(*session.state::<u64>("/talker").unwrap(), 0);
    assert_eq!(session.step().unwrap().unwrap().callback, "/talker `timer 100ms`");
    let job = job.check(|_| Err("never good".into()));
    let error = job.verify(2).unwrap_err().to_string();
    assert!(error.starts_with("run 1 failed: ") && error.contains("never good"), "{error}");
}

#[test]
fn the_registry_can_be_asked() {
    let registry = registry();
    assert_eq!(registry.names().collect::<Vec<_>>(), ["idle", "listener", "talker"]);
    assert_eq!(format!("{registry:?}"), r#"{"idle", "listener", "talker"}"#);
    assert_eq!(registry.check(), Ok(()));
}
