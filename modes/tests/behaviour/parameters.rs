//! Parameters: changes are events, and overrides from outside reach the nodes.

use crate::{Log, entries, failure_of, in_every_mode, log, on_one_core, spawn_beside};
use ringspin_executor::{
    Arguments, Cause, Error, ErrorKind, Graph, Message, PARAMETER_CHANGES_MAX, ParameterChange,
    ParameterValue, QoS,
};
use ringspin_modes::{Executor, Mode, RunDigest};
use ringspin_simulation::Job;
use std::io::Write;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(1);

fn arguments(line: &[&str]) -> Arguments {
    Arguments::parse(["--ros-args"].iter().chain(line).copied()).unwrap().0
}

fn new_integer(change: &ParameterChange) -> i64 {
    match change.new {
        ParameterValue::Integer(value) => value,
        _ => panic!("{change:?}"),
    }
}

#[test]
fn a_change_from_another_nodes_callback_is_an_event_in_order() {
    in_every_mode(|mut executor| {
        let seen: Log<(u64, i64, i64)> = log();
        let pilot = executor.create_node("pilot", seen.clone()).unwrap();
        let gain = pilot.declare_parameter("gain", 0i64).unwrap();
        pilot
            .on_parameter_change(move |seen, changes, cx| {
                let value = new_integer(&changes[0]);
                assert!(gain.get() >= value, "the value is there before its event");
                seen.lock().unwrap().push((cx.event().sequence, value, gain.get() - value));
                if value == 30 {
                    cx.stop();
                }
            })
            .unwrap();
        let operator = executor.create_node("operator", 0i64).unwrap();
        let client = executor.graph().parameter_client("/pilot").unwrap();
        operator
            .create_timer(TICK, move |next, _| {
                // Fewer than can wait, however late the pilot's core is.
                for _ in 0..3.min(30 - *next) {
                    *next += 1;
                    client.set("gain", *next)?;
                }
                Ok::<(), Error>(())
            })
            .unwrap();
        executor.spin().unwrap();
        let order: Vec<_> = entries(&seen).into_iter().map(|(n, value, _)| (n, value)).collect();
        assert_eq!(order, (0..30).map(|n| (n, n as i64 + 1)).collect::<Vec<_>>());
    });
}

#[test]
fn changes_and_messages_keep_the_order_in_which_they_were_made() {
    in_every_mode(|mut executor| {
        let seen = log();
        let pilot = executor.create_node("pilot", seen.clone()).unwrap();
        let gain = pilot.declare_parameter("gain", 0i64).unwrap();
        let out = pilot.create_publisher::<i64>("numbers", QoS::default()).unwrap();
        pilot
            .create_subscription("numbers", QoS::default(), |seen, n: &Message<i64>, cx| {
                seen.lock().unwrap().push(("message", **n));
                if **n == 4 {
                    cx.stop();
                }
            })
            .unwrap();
        pilot
            .on_parameter_change(|seen, changes, _| {
                seen.lock().unwrap().push(("change", new_integer(&changes[0])));
            })
            .unwrap();
        executor.freeze().unwrap();
        out.publish(1).unwrap();
        gain.set(2).unwrap();
        gain.set(3).unwrap();
        out.publish(4).unwrap();
        executor.spin().unwrap();
        let (m, c) = ("message", "change");
        assert_eq!(entries(&seen), [(m, 1), (c, 2), (c, 3), (m, 4)]);
    });
}

#[test]
fn a_node_may_set_its_own_parameters_and_is_told_afterwards() {
    in_every_mode(|mut executor| {
        let seen = log();
        let node = executor.create_node("counter", seen.clone()).unwrap();
        let count = node.declare_parameter("count", 0i64).unwrap();
        let again = count.clone();
        node.create_timer(TICK, move |_, _| match again.get() {
            5.. => Ok(()),
            count => again.set(count + 1),
        })
        .unwrap();
        let lane = node.create_callback_group("lane", seen.clone()).unwrap();
        for (name, group) in [("node", &node), ("lane", &lane)] {
            let count = count.clone();
            group
                .on_parameter_change(move |seen, changes, cx| {
                    let mut seen = seen.lock().unwrap();
                    seen.push((name, new_integer(&changes[0])));
                    // Both groups have been told of five changes; the lane may be late.
                    if ["node", "lane"].iter().all(|name| seen.contains(&(name, 5))) {
                        cx.stop();
                    }
                    assert!(count.get() > 0);
                })
                .unwrap();
        }
        executor.spin().unwrap();
        for group in ["node", "lane"] {
            let seen: Vec<_> = entries(&seen).into_iter().filter(|s| s.0 == group).collect();
            assert!(seen.iter().map(|s| s.1).eq(1..=seen.len() as i64), "{group}: {seen:?}");
        }
    });
}

#[test]
fn another_thread_sets_while_the_executor_spins() {
    const SETS: i64 = 1000;
    for mut executor in [Executor::single_core(), on_one_core()] {
        let seen = log();
        let node = executor.create_node("pilot", seen.clone()).unwrap();
        let gain = node.declare_parameter("gain", 0i64).unwrap();
        node.on_parameter_change(|seen, changes, cx| {
            seen.lock().unwrap().push(new_integer(&changes[0]));
            if new_integer(&changes[0]) == SETS {
                cx.stop();
            }
        })
        .unwrap();
        executor.freeze().unwrap();
        let setter = spawn_beside(&executor, move || {
            for n in 1..=SETS {
                while let Err(error) = gain.set(n) {
                    assert_eq!(error.kind(), ErrorKind::LimitReached, "{error}");
                    std::thread::yield_now();
                }
            }
        });
        executor.spin().unwrap();
        setter.join().unwrap();
        assert_eq!(entries(&seen), (1..=SETS).collect::<Vec<_>>());
    }
}

#[test]
fn several_set_at_once_are_one_event_with_old_and_new_values() {
    in_every_mode(|mut executor| {
        let seen: Log<Vec<ParameterChange>> = log();
        let node = executor.create_node("pilot", seen.clone()).unwrap();
        let gain = node.declare_parameter("gain", 1.0).unwrap();
        let mode = node.declare_parameter("mode", String::from("slow")).unwrap();
        node.on_parameter_change(move |seen, changes, cx| {
            assert_eq!((gain.get(), mode.get()), (2.0, "fast".into()));
            seen.lock().unwrap().push(changes.to_vec());
            cx.stop();
        })
        .unwrap();
        executor.freeze().unwrap();
        let changes = [("mode", "fast".into()), ("gain", 2.0.into())];
        node.parameters().set_all(changes).unwrap();
        executor.spin().unwrap();
        let change = |name: &str, old: ParameterValue, new: ParameterValue| ParameterChange {
            name: name.into(),
            old,
            new,
        };
        let expected =
            [change("mode", "slow".into(), "fast".into()), change("gain", 1.0.into(), 2.0.into())];
        assert_eq!(entries(&seen), [expected]);
    });
}

#[test]
fn a_full_queue_hands_the_change_back_and_changes_nothing() {
    in_every_mode(|mut executor| {
        let seen = log();
        let node = executor.create_node("pilot", seen.clone()).unwrap();
        let gain = node.declare_parameter("gain", -1i64).unwrap();
        node.on_parameter_change(|seen, changes, cx| {
            seen.lock().unwrap().push(new_integer(&changes[0]));
            if seen.lock().unwrap().len() == PARAMETER_CHANGES_MAX {
                cx.stop();
            }
        })
        .unwrap();
        executor.freeze().unwrap();
        let max = PARAMETER_CHANGES_MAX as i64;
        (0..max).for_each(|n| gain.set(n).unwrap());
        let error = gain.set(max).unwrap_err();
        assert_eq!((error.kind(), error.node()), (ErrorKind::LimitReached, Some("/pilot")));
        assert!(error.to_string().contains("64 parameter changes"), "{error}");
        assert_eq!(gain.get(), max - 1);
        executor.spin().unwrap();
        assert_eq!(entries(&seen), (0..max).collect::<Vec<_>>());
        gain.set(max).unwrap();
        let refused = executor.statistics().refused;
        assert_eq!(refused, [(String::from("/pilot/__parameter_changes"), 1)]);
    });
}

#[test]
fn parameters_set_while_the_graph_is_built_are_not_reported() {
    in_every_mode(|mut executor| {
        let seen = log();
        let node = executor.create_node("pilot", seen.clone()).unwrap();
        let gain = node.declare_parameter("gain", 1i64).unwrap();
        node.on_parameter_change(|seen, changes, cx| {
            seen.lock().unwrap().push((changes[0].old.clone(), changes[0].new.clone()));
            cx.stop();
        })
        .unwrap();
        gain.set(2).unwrap();
        executor.freeze().unwrap();
        gain.set(3).unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&seen), [(2i64.into(), 3i64.into())]);
    });
}

#[test]
fn a_failing_change_callback_is_named_like_any_other() {
    in_every_mode(|mut executor| {
        let node = executor.create_node("pilot", ()).unwrap();
        let gain = node.declare_parameter("gain", 1i64).unwrap();
        node.on_parameter_change(|_, _, _| Err::<(), _>("cannot follow")).unwrap();
        executor.freeze().unwrap();
        gain.set(2).unwrap();
        let failure = failure_of(&mut executor);
        assert_eq!((&*failure.node, &*failure.callback), ("/pilot", "parameter change"));
        assert_eq!(failure.cause, Cause::Error("cannot follow".into()));
    });
}

/// A node that doubles its gain in steps, as often as the parameter `steps` says.
fn doubling(graph: &Graph) -> Result<(), ringspin_executor::BoxError> {
    let node = graph.create_node("pilot", ())?;
    let steps = node.declare_parameter("steps", 3i64)?;
    let gain = node.declare_parameter("gain", 1.0)?;
    let again = gain.clone();
    node.on_parameter_change(move |(), _, _| match gain.get() < 2f64.powi(steps.get() as i32) {
        true => gain.set(gain.get() * 2.0),
        false => Ok(()),
    })?;
    node.create_timer(TICK, move |(), _| again.set(1.0))?;
    Ok(())
}

#[test]
fn changes_are_part_of_the_digest_and_overrides_of_the_configuration() {
    let digest = |line: &[&str]| -> (RunDigest, u64) {
        let job = Job::new(doubling).with_arguments(arguments(line));
        let report = job.run_for(10 * TICK).run().unwrap();
        (report.digest(), report.dispatches())
    };
    let usual = digest(&[]);
    assert_eq!(usual.1, 10 * (1 + 4), "per tick the timer, one event, and three more");
    assert_eq!(digest(&[]), usual);
    assert_eq!(digest(&["-p", "steps:=3"]), usual);
    let other = digest(&["-p", "pilot:steps:=5"]);
    assert_eq!(other.1, 10 * (1 + 6));
    assert_ne!(other.0, usual.0);
    assert_eq!(digest(&["-p", "/pilot:steps:=5"]), other);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"/**:\n  ros__parameters:\n    steps: 5\n").unwrap();
    assert_eq!(digest(&["--params-file", file.path().to_str().unwrap()]), other);
}

#[test]
fn an_override_that_does_not_fit_ends_the_build() {
    let job = Job::new(doubling).with_arguments(arguments(&["-p", "gain:=1"]));
    let error = job.run().unwrap_err().to_string();
    assert!(error.starts_with("`-p gain:=1`: node /pilot: parameter `gain`"), "{error}");
}

/// Collects log lines as text.
#[derive(Clone, Default)]
struct Collector(Log<u8>);

impl Write for Collector {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The warnings of `executor` when it is frozen.
fn warnings(executor: &mut Executor) -> Vec<String> {
    let collector = Collector::default();
    let writer = collector.clone();
    let subscriber =
        tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    tracing::subscriber::with_default(subscriber, || executor.freeze().unwrap());
    let logged = String::from_utf8(entries(&collector.0)).unwrap();
    logged.lines().filter(|line| line.contains(" WARN ")).map(Into::into).collect()
}

/// A misspelt name in a file or on the command line is ignored by rclcpp without a word.
#[test]
fn freezing_warns_of_overrides_of_undeclared_parameters() {
    in_every_mode(|executor| {
        let line = ["-p", "gain:=2.0", "-p", "gian:=2.0", "-p", "use_sim_time:=false"];
        let mut executor = executor.with_arguments(arguments(&line));
        let node = executor.create_node("pilot", ()).unwrap();
        node.declare_parameter("gain", 1.0).unwrap();
        let warnings = warnings(&mut executor);
        assert!(matches!(&*warnings, [one] if one.contains("`-p gian:=2.0`")), "{warnings:?}");
    });
}

/// The deterministic mode has simulated time; live modes need a publisher of `/clock`.
#[test]
fn live_modes_warn_of_a_clock_without_middleware() {
    let warnings_of = |executor: Executor| {
        let line = ["-p", "use_sim_time:=true"];
        warnings(&mut executor.with_arguments(arguments(&line)))
    };
    for live in [Executor::single_core(), Executor::new(Mode::MultiCore(None))] {
        let warnings = warnings_of(live);
        assert!(matches!(&*warnings, [one] if one.contains("no middleware brings a /clock")));
    }
    assert!(warnings_of(Executor::deterministic(Default::default())).is_empty());
}

#[test]
fn remapped_ends_meet_on_the_new_topic() {
    in_every_mode(|executor| {
        let rules = ["-r", "chatter:=/radio", "-r", "listener:hearsay:=radio"];
        let mut executor = executor.with_arguments(arguments(&rules));
        let heard = log();
        let talker = executor.create_node("talker", ()).unwrap();
        let out = talker.create_publisher::<u8>("chatter", QoS::default()).unwrap();
        let listener = executor.create_node("listener", heard.clone()).unwrap();
        listener
            .create_subscription("hearsay", QoS::default(), |heard, n: &Message<u8>, cx| {
                heard.lock().unwrap().push(**n);
                cx.stop();
            })
            .unwrap();
        executor.freeze().unwrap();
        out.publish(7).unwrap();
        executor.spin().unwrap();
        assert_eq!(entries(&heard), [7]);
        assert_eq!(executor.monitor().unwrap().info().topics.len(), 1);
    });
}

/// Runs itself in a process with its own environment and command line.
#[test]
fn environment_and_command_line_are_read_and_the_latter_wins() {
    const NAME: &str = "parameters::environment_and_command_line_are_read_and_the_latter_wins";
    const VARIABLE: &str = "RINGSPIN_ROS_ARGS";
    if std::env::var_os(VARIABLE).is_some() {
        let (executor, rest) =
            Executor::from_args_and_env_with(ringspin_simulation::load_simulation).unwrap();
        assert!(rest.contains(&"--exact".into()) && !rest.contains(&"--ros-args".into()));
        let node = executor.create_node("pilot", ()).unwrap();
        assert_eq!(node.full_name(), "/by_line/pilot");
        assert_eq!(node.declare_parameter("both", 0i64).unwrap().get(), 2);
        assert_eq!(node.declare_parameter("words", String::new()).unwrap().get(), "a b");
        let executor = Executor::from_env_with(ringspin_simulation::load_simulation).unwrap();
        let node = executor.create_node("pilot", ()).unwrap();
        assert_eq!(node.full_name(), "/by_env/pilot");
        assert_eq!(node.declare_parameter("both", 0i64).unwrap().get(), 1);
        return;
    }
    let run = |variable: &str, line: &[&str]| {
        let mut child = crate::this_program();
        child.args(["--exact", NAME, "--"]).args(line).env(VARIABLE, variable);
        let output = child.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let variable = "-p both:=1 -p 'words:=a b' -r __ns:=/by_env";
    let line = ["--ros-args", "-p", "both:=2", "-r", "__ns:=/by_line"];
    let (success, output) = run(variable, &line);
    assert!(success && output.contains("1 passed"), "{output}");
    let (success, output) = run("-p both", &line);
    assert!(!success && output.contains("name:=value"), "{output}");
}
