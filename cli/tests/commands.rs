//! The command line: its output and its exit codes.

#[path = "../../simulation/tests/jobs/registry.rs"]
mod registry;

use registry::{PAIR, registry};
use ringspin_cli::Program;
use ringspin_executor::{Context, Digest, DigestHasher, Message, QoS};
use ringspin_simulation::Registry;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// A folder with a job file.
struct Folder(TempDir);

impl Folder {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job.toml"), text).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs a command line, in which `$` is the folder, as in the output.
    fn run(&self, program: &Program, line: &str) -> (u8, String, String) {
        let folder = format!("{}/", self.0.path().display());
        let args = line.split_whitespace().map(|word| word.replace('$', &folder));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let args = ["program".to_owned()].into_iter().chain(args);
        let code = program.run_from(args, &mut out, &mut err);
        let text = |bytes| String::from_utf8(bytes).unwrap().replace(&folder, "$");
        (code, text(out), text(err))
    }
}

fn run(text: &str, line: &str) -> (u8, String, String) {
    Folder::new(text).run(&Program::new(registry()), line)
}

const SECOND: &str = "for = \"1 s\"\n";

#[test]
fn run_says_what_ran() {
    let (code, out, err) = run(&format!("{SECOND}{PAIR}"), "run $job.toml");
    assert_eq!((code, &*err), (0, ""));
    let start = "$job.toml: 20 dispatches up to 1.000000000 s, digest ";
    assert!(out.starts_with(start) && out.len() == start.len() + 32 + 1, "{out}");
}

#[test]
fn run_ends_with_the_nodes_own_exit_code() {
    let text = format!("{SECOND}{PAIR}parameters = {{ exit_at = 4 }}");
    let (code, out, err) = run(&text, "run $job.toml");
    assert_eq!((code, &*err), (7, ""));
    assert!(out.ends_with("\n  a node ended it with exit code 7\n"), "{out}");
}

#[test]
fn a_failure_is_one_and_what_cannot_run_is_two() {
    let text = format!("{SECOND}{PAIR}parameters = {{ fail_at = 4 }}");
    let (code, out, err) = run(&text, "run $job.toml");
    assert_eq!(code, 1);
    assert!(out.starts_with("$job.toml: 8 dispatches up to 0.400000000 s"), "{out}");
    assert!(err.starts_with("node /listener, callback `subscription /chatter` panicked"), "{err}");
    let isolated = format!("failures = \"isolate\"\n{text}");
    let (code, out, err) = run(&isolated, "run $job.toml");
    assert_eq!((code, &*err), (0, ""), "isolated nodes do not fail the run");
    assert!(out.contains("\n  node /listener, callback"), "{out}");
    for (text, line, said) in [
        ("sede = 1", "run $job.toml", "$job.toml is not a job file: "),
        ("", "run $job.toml", "$job.toml has no nodes"),
        ("", "run $other.toml", "failed to read the job file `$other.toml`"),
        ("[[node]]\ntype = \"taler\"", "check $job.toml", "$job.toml:2: there is no node type"),
        ("[[node]]\ntype = \"idle\"\n[[link]]\ntopic = \"/a\"", "run $job.toml", "$job.toml: link"),
        ("[[node]]\ntype = \"idle\"\n[[link]]\ntopic = \"/a\"", "verify $job.toml", "$job.toml: l"),
        ("[[node]]\ntype = \"idle\"\n[[link]]\ntopic = \"/a\"", "explore $job.toml", "$job.toml:"),
        ("[[node]]\ntype = \"idle\"", "run $job.toml --seed x", "error: invalid value 'x'"),
        ("[[node]]\ntype = \"idle\"", "run $job.toml --schedule x", "error: invalid value 'x'"),
        ("[[node]]\ntype = \"idle\"", "verify $job.toml --runs 2", "error: invalid value '2'"),
        ("[[node]]\ntype = \"idle\"", "explore $job.toml --seeds 5..5", "error: invalid value"),
        ("[[node]]\ntype = \"idle\"", "explore $job.toml --order pct:0", "error: invalid value"),
        ("[[node]]\ntype = \"idle\"", "explore $job.toml --jitter 5", "error: invalid value '5'"),
        (
            "for = \"1 s\"\n[[node]]\ntype = \"idle\"",
            "run $job.toml --trace $no/trace",
            "failed to write `$no/trace",
        ),
        ("[[node]]\ntype = \"talker\"", "run $job.toml", "$job.toml does not say when the run"),
        ("[[node]]\ntype = \"talker\"", "check $job.toml", "$job.toml does not say when the run"),
        ("[[node]]\ntype = \"talker\"", "verify $job.toml", "$job.toml does not say when the run"),
        ("[[node]]\ntype = \"talker\"", "explore $job.toml", "$job.toml does not say when"),
        ("", "nodes --ros-args -q", "unknown ROS argument `-q`"),
        ("", "", "Runs nodes of this program in simulated time"),
        ("", "frob", "error: unrecognized subcommand 'frob'"),
    ] {
        let (code, _, err) = run(text, line);
        assert_eq!(code, 2, "{line}: {err}");
        assert!(err.starts_with(said), "{line}: {err}");
    }
}

#[test]
fn a_builder_that_panics_makes_every_command_unusable_and_names_the_line() {
    let program = Program::new(Registry::new().node("camera", |_, _| panic!("no camera")));
    for command in ["run", "verify", "explore", "check"] {
        let folder = Folder::new(&format!("{SECOND}[[node]]\ntype = \"camera\""));
        let (code, _, err) = folder.run(&program, &format!("{command} $job.toml"));
        let expected = "$job.toml:3: failed to build node /camera: it panicked: no camera\n";
        assert_eq!((code, &*err), (2, expected), "{command}");
    }
}

#[test]
fn help_is_no_error_and_names_the_exit_codes() {
    let (code, out, err) = run("", "--help");
    assert_eq!((code, &*err), (0, ""));
    assert!(out.contains("  124  the watchdog found"), "{out}");
    let (code, out, _) = run("", "nodes");
    assert_eq!((code, &*out), (0, "idle\nlistener\ntalker\n"));
    let twice = Program::new(registry().node("talker", |_, _| Ok(())));
    let (code, _, err) = Folder::new("").run(&twice, "nodes");
    assert_eq!(code, 2);
    assert!(err.starts_with("node type `talker` is registered twice"), "{err}");
}

#[test]
fn certificates_and_traces_go_to_files_or_the_output() {
    let folder = Folder::new(&format!("{SECOND}{PAIR}"));
    let line = "run $job.toml --seed 5 --certificate $c.json --trace $trace";
    let (code, out, err) = folder.run(&Program::new(registry()), line);
    assert_eq!((code, &*err), (0, ""));
    let certificate: serde_json::Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    assert_eq!(certificate["seed"], 5);
    assert!(out.contains(certificate["digest"].as_str().unwrap()), "{out}");
    let trace = folder.read("trace");
    assert_eq!(trace.lines().count(), 20);
    let lines: Vec<_> = trace.lines().collect();
    assert!(lines[0].starts_with("0.100000000 s /talker `timer 100ms` on event "), "{trace}");
    let second = "0.100000000 s /listener `subscription /chatter` on message 0 of /talker";
    assert_eq!(lines[1], second);

    let (code, out, _) = folder.run(&Program::new(registry()), "run $job.toml --certificate -");
    let certificate: serde_json::Value = serde_json::from_str(&out).expect("nothing else");
    assert_eq!((code, &certificate["dispatches"]), (0, &20.into()));
    let (_, out, _) = folder.run(&Program::new(registry()), "run $job.toml --trace -");
    assert_eq!(out, trace);
}

#[test]
fn a_failed_run_has_a_certificate_too() {
    let folder = Folder::new(&format!("{SECOND}{PAIR}parameters = {{ fail_at = 4 }}"));
    let (code, ..) = folder.run(&Program::new(registry()), "run $job.toml --certificate $c.json");
    assert_eq!(code, 1);
    assert!(folder.read("c.json").contains("that is one too many"));
}

#[test]
fn the_command_line_is_stronger_than_the_file() {
    let text = format!("{SECOND}{PAIR}parameters = {{ exit_at = 4 }}");
    let (code, ..) = run(&text, "run $job.toml --ros-args -p listener:exit_at:=0");
    assert_eq!(code, 0);
}

#[test]
fn check_says_what_the_digest_does_not_see() {
    let (code, out, err) = run(&format!("{SECOND}{PAIR}"), "check $job.toml");
    assert_eq!((code, &*err), (0, ""));
    assert_eq!(
        out,
        "$job.toml: 2 nodes, 2 callbacks, 1 topics, 0 services; it can be run\n  \
         the digest does not see the state of /listener\n"
    );
}

#[test]
fn verify_compares_runs() {
    let (code, out, err) = run(&format!("{SECOND}{PAIR}"), "verify $job.toml --runs 4");
    assert_eq!((code, &*err), (0, ""));
    let same = "\n  4 runs were the same, dispatch by dispatch\n  \
                the digest does not see the state of /listener\n";
    assert!(out.ends_with(same), "{out}");

    let built = std::sync::Mutex::new(0);
    let fickle = registry().node("fickle", move |graph, place| {
        *built.lock().unwrap() += 1;
        let node = place.create_node(graph, *built.lock().unwrap())?;
        node.digest_state()?;
        node.create_timer(Duration::from_millis(500), |_: &mut i32, _| {})?;
        Ok(())
    });
    let fickle = Program::new(fickle);
    let folder = Folder::new(&format!("{SECOND}[[node]]\ntype = \"fickle\""));
    let (code, out, err) = folder.run(&fickle, "verify $job.toml");
    assert_eq!((code, &*out), (1, ""));
    assert!(err.starts_with("run 2 diverges from run 1 at dispatch 0"), "{err}");
}

/// Two timers at the same instants, and a node that minds which of them was first.
fn race() -> Registry {
    let ticker = |name: &'static str| {
        move |graph: &ringspin_executor::Graph, place: &ringspin_simulation::NodeConfig| {
            let node = place.create_node(graph, ())?;
            let out = node.create_publisher("ticks", QoS::keep_last(8))?;
            node.create_timer(Duration::from_millis(100), move |_, _| out.publish(name))?;
            Ok(())
        }
    };
    Registry::new().node("a", ticker("a")).node("b", ticker("b")).node("judge", |graph, place| {
        let node = place.create_node(graph, String::new())?;
        let picky = node.declare_parameter("picky", false)?.get();
        let hear = move |order: &mut String, name: &Message<&'static str>, _: &mut Context<'_>| {
            order.push_str(name);
            match picky && order.contains("bb") {
                true => Err("b was twice in a row"),
                false => Ok(()),
            }
        };
        node.create_subscription("ticks", QoS::keep_last(8), hear)?;
        Ok(())
    })
}

const RACE: &str = "for = \"1 s\"
[[node]]
type = \"a\"
[[node]]
type = \"b\"
[[node]]
type = \"judge\"
";

#[test]
fn explore_finds_an_order_and_prints_the_command_that_repeats_it() {
    let folder = Folder::new(&format!("{RACE}parameters = {{ picky = true }}"));
    let line = "explore $job.toml --seed 3 --seeds 0..100 --threads 2 --ros-args -p x:='1_2'";
    let (code, out, err) = folder.run(&Program::new(race()), line);
    assert_eq!((code, &*out), (1, ""));
    assert!(err.contains("b was twice in a row"), "{err}");
    assert!(!err.contains("RINGSPIN_SCHEDULE"), "{err}");
    let again = err.trim_end().rsplit_once("to see it again: program ").expect(&err).1;
    assert!(again.starts_with("run $job.toml --seed 3 --schedule 'p0."), "{again}");
    let again = shlex::split(&again.replace('$', "DOLLAR")).unwrap().join(" ");
    let (code, _, err) = folder.run(&Program::new(race()), &again.replace("DOLLAR", "$"));
    assert_eq!(code, 1);
    assert!(err.contains("/a `timer 100ms` only after /b `timer 100ms`\n"), "{err}");
    assert!(err.contains("b was twice in a row"), "{err}");
    let (code, ..) = folder.run(&Program::new(race()), "run $job.toml");
    assert_eq!(code, 0, "not in the default order");
}

/// Panics, in the method with this name, once `b` was twice in a row.
struct Touchy {
    method: &'static str,
    order: String,
}

impl Touchy {
    fn judge(&self, method: &str) {
        assert!(self.method != method || !self.order.contains("bb"), "b was twice in a row");
    }
}

impl Digest for Touchy {
    fn digest(&self, _: &mut DigestHasher) {
        self.judge("digest");
    }
}

impl Drop for Touchy {
    fn drop(&mut self) {
        self.judge("drop");
    }
}

#[test]
fn explore_finds_the_order_in_which_a_digest_or_a_drop_panics() {
    for (method, said) in [
        ("digest", "the digest of its state panicked: b was twice in a row"),
        ("drop", "dropping the state of /touchy panicked at 1.000000000 s: b was twice in a row"),
    ] {
        let registry = race().node("touchy", move |graph, place| {
            let node = place.create_node(graph, Touchy { method, order: String::new() })?;
            node.digest_state()?;
            let hear = |state: &mut Touchy, name: &Message<&'static str>, _: &mut Context<'_>| {
                state.order.push_str(name);
            };
            node.create_subscription("ticks", QoS::keep_last(8), hear)?;
            Ok(())
        });
        let program = Program::new(registry);
        let folder = Folder::new(&RACE.replace("judge", "touchy"));
        let (code, ..) = folder.run(&program, "run $job.toml");
        assert_eq!(code, 0, "{method}: not in the default order");
        let (code, out, err) = folder.run(&program, "explore $job.toml --seeds 0..100");
        assert_eq!((code, &*out), (1, ""), "{method}");
        assert!(err.contains(said), "{method}: {err}");
        let again = err.trim_end().rsplit_once("to see it again: program ").expect(&err).1;
        let (code, _, err) = folder.run(&program, &again.replace('\'', ""));
        assert_eq!(code, 1, "{method}");
        assert!(err.contains(said), "{method}: {err}");
    }
}

#[test]
fn explore_reports_a_builder_that_panics_in_a_later_run() {
    // The first build is a check; the second is the run in the default order.
    for (panics_at, expected) in [(1, 2), (2, 1), (3, 1), (10, 1)] {
        let built = AtomicU32::new(0);
        let registry = race().node("fragile", move |graph, place| {
            let built = built.fetch_add(1, Ordering::Relaxed) + 1;
            assert!(built < panics_at, "no more nodes");
            place.create_node(graph, ())?;
            Ok(())
        });
        let program = Program::new(registry);
        let folder = Folder::new(&RACE.replace("judge", "fragile"));
        let line = "explore $job.toml --seeds 0..20 --threads 2";
        let (code, out, err) = folder.run(&program, line);
        assert_eq!((code, &*out), (expected, ""), "{panics_at}: {err}");
        let said = "failed to build node /fragile: it panicked: no more nodes";
        assert!(err.contains(&format!("$job.toml:7: {said}")), "{panics_at}: {err}");
    }
}

#[test]
fn explore_that_finds_nothing_says_how_much_it_saw() {
    for order in ["mixed", "shuffle", "pct:2", "shuffle --jitter 1ms"] {
        let line = format!("explore $job.toml --seeds 10..30 --order {order}");
        let (code, out, err) = Folder::new(RACE).run(&Program::new(race()), &line);
        assert_eq!((code, &*err), (0, ""));
        let start = "$job.toml: 20 runs, ";
        let end = " of them in another order than by default, and none failed\n";
        assert!(out.starts_with(start) && out.ends_with(end), "{out}");
        assert_ne!(out, format!("{start}0{end}"), "{order}");
    }
}

#[test]
fn a_schedule_replaces_ties_and_jitter() {
    let text = format!("ties = \"reverse\"\njitter = {{ max = \"1 ms\" }}\n{RACE}");
    let folder = Folder::new(&text);
    let certificate = |line: &str| {
        let line = format!("run $job.toml --certificate - {line}");
        let (code, out, err) = folder.run(&Program::new(race()), &line);
        assert_eq!((code, &*err), (0, ""));
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    let plain = certificate("");
    assert_eq!(plain["ties"], "reverse");
    assert!(plain["schedule"].as_str().unwrap().contains("+"), "{plain}");
    let again = certificate(&format!("--schedule {}", plain["schedule"].as_str().unwrap()));
    assert_eq!(again["digest"], plain["digest"]);
    assert_eq!(again["schedule"], plain["schedule"]);
    let (code, _, err) =
        folder.run(&Program::new(race()), "run $job.toml --schedule t0.1:0>1,t900:5>77");
    assert_eq!(code, 2);
    let stale = "$job.toml: failed to apply these entries of the schedule: t900:5>77; ";
    assert!(err.starts_with(stale), "{err}");
    let scripted = certificate("--schedule t0.1:0>1");
    assert_eq!(scripted["schedule"], "t0.1:0>1");
    std::fs::write(folder.path("job.toml"), RACE).unwrap();
    let without = certificate("--schedule t0.1:0>1");
    assert_eq!(scripted["configuration"], without["configuration"]);
}

#[test]
fn explore_finds_losses_on_virtual_cores_and_prints_the_command_that_repeats_them() {
    let lossy = Registry::new()
        .node("a", |graph, place| {
            let node = place.create_node(graph, 0u32)?;
            let out = node.create_publisher("ticks", QoS::keep_last(8))?;
            node.create_timer(Duration::from_millis(100), move |n, _| {
                *n += 1;
                out.publish(*n)
            })?;
            Ok(())
        })
        .node("judge", |graph, place| {
            let node = place.create_node(graph, 0u32)?;
            let hear = |last: &mut u32, n: &Message<u32>, _: &mut Context<'_>| {
                let lost = **n - *last - 1;
                *last = **n;
                if lost > 2 { Err("three were lost") } else { Ok(()) }
            };
            node.create_subscription("ticks", QoS::keep_last(8), hear)?;
            Ok(())
        });
    let text = "seed = 1\nfor = \"2 s\"\ncores = \"single\"\n\
        [[node]]\ntype = \"a\"\n[[node]]\ntype = \"judge\"\n\
        [[link]]\ntopic = \"/ticks\"\nloss = 0.15\n\
        [[execution]]\nnode = \"/judge\"\nduration = \"10 ms\"\n";
    let lossy = Program::new(lossy);
    let folder = Folder::new(text);
    for order in ["default", "mixed", "shuffle", "pct:2"] {
        let line = format!("explore $job.toml --seeds 100..2000 --order {order}");
        let (code, out, err) = folder.run(&lossy, &line);
        assert_eq!((code, &*out), (1, ""), "{err}");
        assert!(err.contains("of /a on /ticks lost for /judge `subscription /ticks`"), "{err}");
        let again = err.trim_end().rsplit_once("to see it again: program ").expect(&err).1;
        let losses = again.strip_prefix("run $job.toml --schedule 'l").expect(&err);
        assert_eq!(losses.matches(",l").count(), 2, "three losses: {err}");
        let (code, _, err) = folder.run(&lossy, &again.replace('\'', ""));
        assert_eq!(code, 1);
        assert!(err.contains("three were lost"), "{err}");
    }
    let (code, _, err) = folder.run(&lossy, "explore $job.toml --seeds 0..200 --keep-seed");
    assert_eq!((code, &*err), (0, ""));
}

#[test]
fn explore_counts_the_exit_codes_of_nodes() {
    let text = format!("{SECOND}{PAIR}parameters = {{ exit_at = 4 }}");
    let (code, out, err) = run(&text, "explore $job.toml --seeds 0..5");
    assert_eq!((code, &*err), (0, ""));
    assert!(out.ends_with("none failed\n  a node ended 5 of them with exit code 7\n"), "{out}");
}

#[test]
fn explore_needs_a_job_that_can_pass() {
    let text = format!("{SECOND}{PAIR}parameters = {{ fail_at = 4 }}");
    let (code, _, err) = run(&text, "explore $job.toml --seeds 0..5");
    assert_eq!(code, 1);
    assert!(err.starts_with("the job fails in the default order already: "), "{err}");
}
