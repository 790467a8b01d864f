//! Lists that are done by shards in any number, some of them killed: the findings are the same.
//! Without a known command, this program is its own test, which starts itself with one.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use ringspin_executor::{BoxError, Graph};
use ringspin_simulation::{NodeConfig, Registry};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Fails with few seeds, for one of two reasons.
fn flaky(graph: &Graph, place: &NodeConfig) -> Result<(), BoxError> {
    let node = place.create_node(graph, ())?;
    let mut noise = node.create_random("noise")?;
    node.create_timer(Duration::from_millis(10), move |_, cx| {
        let drawn = noise.random_range(0..9000u32);
        cx.digest(&u64::from(drawn));
        match drawn {
            0..6 => Err("too \u{1b}[31m\"low\" <&>"),
            6 => Err("too high"),
            _ => Ok(()),
        }
    })?;
    node.create_subscription("silence", Default::default(), |_, _: &Unheard, _| ())?;
    Ok(())
}

type Unheard = ringspin_executor::Message<u64>;

fn registry() -> Registry {
    Registry::new()
        .node("flaky", flaky)
        .node("crash", |graph, place| {
            let node = place.create_node(graph, ())?;
            let mut noise = node.create_random("noise")?;
            node.create_timer(Duration::from_millis(100), move |_, _| {
                if noise.random_range(0..30u32) == 0 {
                    std::process::abort();
                }
            })?;
            Ok(())
        })
        .node("stuck", |graph, place| {
            let node = place.create_node(graph, ())?;
            node.create_timer(Duration::from_millis(100), |_, _| {
                loop {
                    std::thread::park();
                }
            })?;
            Ok(())
        })
        .node("other", |graph, place| {
            let node = place.create_node(graph, ())?;
            node.create_timer(Duration::from_millis(100), |_, cx| {
                cx.digest(&u64::from(std::process::id()));
            })?;
            Ok(())
        })
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("run" | "verify" | "explore" | "results") => ringspin_cli::main(registry()),
        Some("--list") => ExitCode::SUCCESS,
        // An emulated program cannot start itself.
        _ if std::env::var_os("RINGSPIN_TEST_RUNNER").is_some() => ExitCode::SUCCESS,
        _ => {
            findings_are_the_same_whatever_the_number_of_shards_and_kills();
            items_have_processes_of_their_own_and_crashes_are_results();
            shards_that_did_not_run_are_missing();
            two_machines_with_two_digests_are_a_finding();
            results_of_older_builds_and_jobs_do_not_count();
            the_engine_names_the_shard();
            what_cannot_be_used_is_said();
            println!("test result: ok");
            ExitCode::SUCCESS
        }
    }
}

struct Folder(TempDir);

impl Folder {
    /// A folder with a job of so many simulated seconds for each node type.
    fn new(types: &[&str], seconds: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in types {
            let text = format!(
                "seed = 1000\nfor = \"{seconds} s\"\nwatchdog = \"1 s\"\n[[node]]\ntype = \
                 \"{name}\"\n"
            );
            std::fs::write(folder.path().join(format!("{name}.toml")), text).unwrap();
        }
        Self(folder)
    }

    fn start(&self, line: &str) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.current_dir(self.0.path()).args(line.split_whitespace());
        for name in ["RINGSPIN_SHARD", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"] {
            command.env_remove(name);
        }
        command.env_remove("CI_NODE_INDEX").env_remove("AWS_BATCH_JOB_ARRAY_INDEX");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn run(&self, line: &str) -> (i32, String) {
        said(self.start(line).wait_with_output().unwrap())
    }

    /// How many lines there are in all files of a folder.
    fn lines(&self, folder: &str) -> usize {
        let Ok(entries) = std::fs::read_dir(self.0.path().join(folder)) else { return 0 };
        let files = entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
        files.map(|text| text.lines().count()).sum()
    }

    /// The findings of a folder: exit code, text, JUnit.
    fn merged(&self, folder: &str) -> (i32, String, String) {
        let (code, text) = self.run(&format!("results merge {folder} --junit j.xml --page p.html"));
        let read = |name: &str| std::fs::read_to_string(self.0.path().join(name)).unwrap();
        assert!(read("p.html").contains("<h2>As text</h2>"));
        roxmltree::Document::parse(&read("j.xml")).unwrap();
        (code, text, read("j.xml"))
    }
}

fn said(output: Output) -> (i32, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout) + &text(output.stderr))
}

/// Starts all shards at once, kills all as soon as there are so many lines, and starts them again,
/// for each of the kills; then lets them end.
fn explore(folder: &Folder, results: &str, (shards, kills): (u64, &[usize]), options: &str) {
    let start = |k: u64| {
        folder.start(&format!(
            "explore flaky.toml --seeds 1..151 --threads 2 --shard {k}/{shards} --results \
             {results} {options}"
        ))
    };
    for lines in kills {
        let mut children: Vec<_> = (1..=shards).map(start).collect();
        while folder.lines(results) < *lines
            && children.iter_mut().any(|child| child.try_wait().unwrap().is_none())
        {
            std::thread::yield_now();
        }
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    let children: Vec<_> = (1..=shards).map(start).collect();
    for child in children {
        let (code, text) = said(child.wait_with_output().unwrap());
        assert!(code == 0 || code == 1, "{code} {text}");
    }
}

fn findings_are_the_same_whatever_the_number_of_shards_and_kills() {
    for (options, runs) in [("", "explore flaky.toml: 9 runs"), ("-k", "explore flaky.toml: 151 ")]
    {
        let folder = Folder::new(&["flaky"], 1);
        explore(&folder, "one", (1, &[]), options);
        let expected = folder.merged("one");
        assert_eq!(expected.0, 1);
        assert!(expected.1.starts_with(runs), "{}", expected.1);
        assert!(expected.1.contains("  1 of 2 callbacks were called\n  not called: /flaky `subs"));
        assert!(expected.1.contains("to see it again: "), "{}", expected.1);
        let shards = prop::sample::select(vec![1u64, 2, 3, 8]);
        let kills = prop::collection::vec(1usize..200, 0..4);
        let mut runner =
            TestRunner::new(Config { cases: 6, failure_persistence: None, ..Config::default() });
        let case = std::cell::Cell::new(0);
        let tested = runner.run(&(shards, kills), |(shards, kills)| {
            case.set(case.get() + 1);
            let results = format!("many{}", case.get());
            explore(&folder, &results, (shards, &kills), options);
            let (code, text, junit) = folder.merged(&results);
            // A line that was cut off in a file of a shard that no longer runs stays noted.
            let notes = |line: &&str| !line.starts_with("note: ");
            let text: Vec<_> = text.lines().filter(notes).collect();
            prop_assert_eq!((code, text), (expected.0, expected.1.lines().collect()));
            prop_assert_eq!(&junit, &expected.2);
            Ok(())
        });
        tested.unwrap();
    }
}

fn items_have_processes_of_their_own_and_crashes_are_results() {
    let folder = Folder::new(&["crash", "flaky", "stuck"], 1);
    // The file `stuck.toml` is left out by the pattern.
    let line = "run [cf]*.toml --seeds 0..8 --results r";
    let (code, text) = folder.run(line);
    assert!(text.contains("crash.toml, seed ") && text.contains("its process crashed"), "{text}");
    assert!(text.contains("16 of 16 items, 0 of them were there already"), "{text}");
    assert_eq!(code, 134, "{text}");
    let before = folder.merged("r");
    assert_eq!(before.0, 1);
    assert!(before.1.contains("run crash.toml: 8 runs, ") && !before.1.contains("no result"));
    assert!(before.2.contains("name=\"run crash.toml\" tests=\"8\" failures=\""), "{}", before.2);
    let (code, text) = folder.run(line);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("16 of 16 items, 16 of them were there already"), "{text}");
    assert!(text.contains("its process crashed"), "{text}");
    assert_eq!(folder.merged("r"), before);
    // The same without results, and in fresh processes.
    let (code, text) = folder.run("run stuck.toml flaky.toml --seeds 0..1");
    assert!(code == 124 && text.contains("stuck.toml, seed 0: the watchdog ended"), "{text}");
    let (code, text) = folder.run("verify flaky.toml --seeds 0..2 --shard 2/2 --results v");
    assert!(code == 0 && text.contains("3 runs were the same"), "{text}");
    assert!(text.contains("1 of 2 items, 0 of them"), "{text}");
}

fn shards_that_did_not_run_are_missing() {
    let folder = Folder::new(&["other"], 1);
    let shard = |k| folder.run(&format!("run other.toml --seeds 0..10 --shard {k}/3 --results r"));
    assert_eq!(shard(1).0, 0);
    assert_eq!(shard(3).0, 0);
    let (code, text, junit) = folder.merged("r");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("3 planned runs have no result, the first with seed 1"), "{text}");
    assert!(junit.contains("<error message=\"3 runs have no result\"/>"), "{junit}");
    assert_eq!(shard(2).0, 0);
    let (code, text, _) = folder.merged("r");
    assert!(code == 0 && text.starts_with("run other.toml: 10 runs, 10 digests, 0 f"), "{text}");
}

fn two_machines_with_two_digests_are_a_finding() {
    let folder = Folder::new(&["other"], 1);
    for k in 1..=2 {
        let line = format!("explore other.toml --seeds 0..4 --shard {k}/2 --results r");
        let (code, text) = folder.run(&line);
        assert_eq!(code, 0, "{text}");
    }
    // Each shard has run the default order.
    let (code, text, _) = folder.merged("r");
    assert_eq!((code, text.contains("two digests")), (1, true), "{text}");
}

fn results_of_older_builds_and_jobs_do_not_count() {
    let folder = Folder::new(&["flaky"], 1);
    assert_eq!(folder.run("explore flaky.toml --seeds 0..20 -k --results r").0, 1);
    let job = folder.0.path().join("flaky.toml");
    let text = std::fs::read_to_string(&job).unwrap();
    std::fs::write(&job, text.replace("1 s\"\nwatch", "10 ms\"\nwatch")).unwrap();
    let (code, text) = folder.run("explore flaky.toml --seeds 0..20 -k --results r");
    assert!(code == 0 && text.contains("20 runs, and 0 were there already"), "{text}");
    let (code, text, _) = folder.merged("r");
    assert!(code == 0 && text.contains("22 results of other builds or of changed jobs"), "{text}");
}

fn the_engine_names_the_shard() {
    let folder = Folder::new(&["other"], 1);
    let mut command = Command::new(std::env::current_exe().unwrap());
    let line = "run other.toml --seeds 0..10 --shard auto --results r";
    command.current_dir(folder.0.path()).args(line.split_whitespace());
    let command = command.env("JOB_COMPLETION_INDEX", "2").env("JOB_COMPLETIONS", "4");
    let (code, text) = said(command.output().unwrap());
    assert!(code == 0 && text.contains("2 of 10 items"), "{text}");
    let (_, text, _) = folder.merged("r");
    assert!(text.contains("8 planned runs have no result, the first with seed 0"), "{text}");
    let (code, text) = folder.run("explore other.toml --shard auto");
    assert!(code == 2 && text.contains("no engine has started this process"), "{text}");
}

fn what_cannot_be_used_is_said() {
    let folder = Folder::new(&["flaky"], 1);
    std::fs::create_dir(folder.0.path().join("empty")).unwrap();
    for (line, part) in [
        ("explore flaky.toml --shard 0/8", "1/8 to 8/8"),
        ("run no*.toml", "failed to find the files of `no*.toml`: none matches"),
        ("run [.toml", "failed to find the files of `[.toml`: "),
        ("run flaky.toml --seeds 0..2 --trace t", "`--trace` is for a single job"),
        ("run flaky.toml --seed 1 --seeds 0..2", "cannot be used with"),
        ("run flaky.toml none.toml --results r", "failed to read the job file `none.toml`"),
        ("run flaky.toml --results flaky.toml", "`--results` is a folder for results"),
        ("results merge none", "failed to read `none`"),
        ("results merge empty", "`empty` has no results"),
    ] {
        let (code, text) = folder.run(line);
        assert!(code == 2 && text.contains(part), "{line}: {code} {text}");
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let line = "explore flaky.toml --shard 1/2";
    command.current_dir(folder.0.path()).args(line.split_whitespace());
    let (code, text) = said(command.env("RINGSPIN_SCHEDULE", "").output().unwrap());
    assert!(code == 2 && text.contains("RINGSPIN_SCHEDULE is one run of one job"), "{text}");
}
