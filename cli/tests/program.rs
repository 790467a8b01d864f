//! The command line of a whole program: without a known command, it is its own test, which starts
//! itself with one.

use ringspin_executor::{BoxError, Graph};
use ringspin_simulation::{NodeConfig, Registry};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::LazyLock;
use std::time::Duration;

static RANDOM: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
static SHARED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static ADDRESS: u64 = 0;

/// A node that shows `value` in each of its calls.
fn shows(graph: &Graph, place: &NodeConfig, value: fn() -> u64) -> Result<(), BoxError> {
    let node = place.create_node(graph, ())?;
    node.digest_state()?;
    node.create_timer(Duration::from_millis(100), move |_, cx| cx.digest(&value()))?;
    Ok(())
}

struct Undroppable;

impl Drop for Undroppable {
    fn drop(&mut self) {
        panic!("not droppable");
    }
}

fn registry() -> Registry {
    Registry::new()
        .node("sound", |graph, place| shows(graph, place, || 7))
        .node("lazy", |graph, place| shows(graph, place, || *RANDOM))
        .node("hasher", |graph, place| shows(graph, place, || SHARED.hash_one("planner")))
        .node("address", |graph, place| shows(graph, place, || (&raw const ADDRESS) as u64))
        .node("pid", |graph, place| shows(graph, place, || u64::from(std::process::id())))
        .node("undroppable", |graph, place| {
            let node = place.create_node(graph, Undroppable)?;
            node.create_timer(Duration::from_millis(100), |_, _| ())?;
            Ok(())
        })
        .node("folder", |graph, place| {
            shows(graph, place, || std::env::temp_dir().as_os_str().len() as u64)
        })
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("run" | "verify" | "explore") => ringspin_cli::main(registry()),
        Some("--list") => ExitCode::SUCCESS,
        // An emulated program cannot start itself.
        _ if std::env::var_os("RINGSPIN_TEST_RUNNER").is_some() => ExitCode::SUCCESS,
        _ => {
            verify_finds_what_is_the_same_throughout_a_process();
            verify_compares_with_a_certificate();
            explore_ends_with_one_when_nodes_panic_as_they_are_dropped();
            println!("test result: ok");
            ExitCode::SUCCESS
        }
    }
}

/// Starts this program; returns its exit code and output.
fn program(folder: &Path, line: &str) -> (i32, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.current_dir(folder).args(line.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout) + &text(output.stderr))
}

fn folder(node_type: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("for = \"1 s\"\n[[node]]\ntype = \"{node_type}\"\n");
    std::fs::write(folder.path().join("job.toml"), text).unwrap();
    folder
}

fn verify_finds_what_is_the_same_throughout_a_process() {
    let sound = program(folder("sound").path(), "verify job.toml --runs 5");
    assert_eq!(sound.0, 0, "{}", sound.1);
    let end = "\n  5 runs were the same, dispatch by dispatch, 3 of them in fresh processes\n";
    assert!(sound.1.ends_with(end), "{}", sound.1);
    for node_type in ["lazy", "hasher", "address", "pid", "folder"] {
        let (code, text) = program(folder(node_type).path(), "verify job.toml");
        assert_eq!(code, 1, "{node_type}: {text}");
        assert!(text.starts_with("run 3 diverges from run 1 at dispatch 0: "), "{text}");
        assert!(text.contains(&format!("0.100000000 s /{node_type} `timer 100ms`")), "{text}");
    }
}

/// Two panics at once would abort the process.
fn explore_ends_with_one_when_nodes_panic_as_they_are_dropped() {
    let folder = folder("undroppable");
    let text = std::fs::read_to_string(folder.path().join("job.toml")).unwrap();
    let text = text + "name = \"a\"\n[[node]]\ntype = \"undroppable\"\nname = \"b\"\n";
    std::fs::write(folder.path().join("job.toml"), text).unwrap();
    for line in ["run job.toml", "explore job.toml --seeds 0..5"] {
        let (code, text) = program(folder.path(), line);
        assert_eq!(code, 1, "{line}: {text}");
        for node in ["/a", "/b"] {
            assert!(text.contains(&format!("dropping the state of {node} panicked")), "{text}");
        }
    }
}

fn verify_compares_with_a_certificate() {
    let folder = folder("sound");
    let path = folder.path();
    assert_eq!(program(path, "run job.toml --certificate c.json").0, 0);
    let (code, text) = program(path, "verify job.toml --against c.json");
    assert_eq!(code, 0, "{text}");
    assert!(text.ends_with("\n  the same as certified by c.json\n"), "{text}");

    let certificate = std::fs::read_to_string(path.join("c.json")).unwrap();
    let other = certificate.replacen("\"digest\": \"", "\"digest\": \"0", 1);
    let other = other.replace("\"dispatched\": 10", "\"dispatched\": 11");
    let other = other.replace("\"os\": \"", "\"os\": \"x");
    std::fs::write(path.join("other.json"), other).unwrap();
    let (code, text) = program(path, "verify job.toml --against other.json");
    assert_eq!(code, 1, "{text}");
    let lines: Vec<_> =
        text.lines().filter(|line| line.contains(" in the certificate, ")).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].contains("callbacks[0]: ") && lines[0].contains("/sound `timer"), "{text}");
    assert!(text.contains("  digest: \"0") && text.contains("counts.dispatched: 11 in"), "{text}");

    for (text, said) in [("{", "`bad.json` is no certificate: "), ("{}", "version null instead")] {
        std::fs::write(path.join("bad.json"), text).unwrap();
        let (code, text) = program(path, "verify job.toml --against bad.json");
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(said), "{text}");
    }
    let (code, text) = program(path, "verify job.toml --against no.json");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("failed to read `no.json`"), "{text}");
}
