//! Runs of a job in fresh processes: the program is started again, comes to the same call, runs the
//! job once, and hands the trace to the process that asked.
//!
//! Within one process, everything that is chosen once per process stays the same: the keys of hash
//! maps that share a `RandomState`, lazy randomness, addresses, the process id, locale and
//! environment. Another process has others.

use super::report::Report;
use super::verify::describe_changes;
use super::{Ran, outcome};
use ringspin_executor::{
    CallbackId, Dispatch, Error, ErrorKind, EventId, LoopId, Result, SourceId, Time,
};
use ringspin_modes::allowed_cores;
use ringspin_modes::deterministic::{Record, Trace};
use ringspin_modes::thread::pin;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// The file for the reply of a fresh process.
const REPLY_VARIABLE: &str = "RINGSPIN_VERIFY_REPLY";
/// The call of [`Job::verify_in_processes`](crate::Job::verify_in_processes) that is to reply.
const CALL_VARIABLE: &str = "RINGSPIN_VERIFY_CALL";
/// How much of a process's error output is quoted.
const QUOTED_MAX: usize = 2000;

/// How a program is started again, for
/// [`Job::verify_in_processes`](crate::Job::verify_in_processes).
///
/// ```
/// use ringspin_simulation::FreshProcess;
///
/// // A program that verifies in `main`:
/// let again = FreshProcess::same_arguments();
/// // A test, from within the test itself:
/// let again = FreshProcess::this_test();
/// // Anything else:
/// let again = FreshProcess::new("target/debug/robot", ["verify", "--fast"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreshProcess {
    /// `None` for the running program.
    program: Option<PathBuf>,
    arguments: Vec<OsString>,
}

impl FreshProcess {
    /// The program at `program` with `arguments`.
    pub fn new<A: Into<OsString>>(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { program: Some(program.into()), arguments }
    }

    /// The running program with its own arguments.
    pub fn same_arguments() -> Self {
        Self { program: None, arguments: std::env::args_os().skip(1).collect() }
    }

    /// The running test program with the test `name` only, as `cargo test` prints the name.
    pub fn test(name: &str) -> Self {
        let arguments = ["--exact", name, "--include-ignored", "--nocapture"];
        Self { program: None, arguments: arguments.map(OsString::from).into() }
    }

    /// The test that calls this on its thread. With `--test-threads=1` tests share a thread: then
    /// as [`same_arguments`](Self::same_arguments), which runs other tests, too.
    pub fn this_test() -> Self {
        match std::thread::current().name() {
            None | Some("main") => Self::same_arguments(),
            Some(name) => Self::test(name),
        }
    }

    /// Runs the job once in fresh process number `run`, at `call`.
    pub(super) fn run(&self, call: &Call, run: usize) -> Result<Reply> {
        let failed = |reason: String| {
            let text = format!("failed to run the job in a fresh process (run {run}): {reason}");
            Error::new(ErrorKind::Io, text)
        };
        let io = |error: io::Error| failed(error.to_string());
        let folder = ReplyFolder::new().map_err(io)?;
        let file = folder.0.join("reply");
        let program = match &self.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().map_err(io)?,
        };
        let mut command = on_another_host(&program, run);
        command.args(&self.arguments).stdin(Stdio::null());
        command.env(REPLY_VARIABLE, &file).env(CALL_VARIABLE, &call.0);
        vary_environment(&mut command, run, &folder.0);
        let not_started = |reason: &str| {
            let program = program.display();
            failed(format!("failed to start `{program}`: {reason}; check the program"))
        };
        let output = output_on_some_cores(command, run);
        let output = output.map_err(|error| not_started(&error.to_string()))?;
        match Reply::read(&file) {
            Ok(reply) => Ok(reply),
            // Of the shell between, if it cannot start the program.
            Err(_) if matches!(output.status.code(), Some(126 | 127)) => {
                Err(not_started(String::from_utf8_lossy(&output.stderr).trim_end()))
            }
            Err(error) => Err(failed(no_reply(&program, &output, call, &error))),
        }
    }
}

/// The folder of a process's reply and temporary files, removed with them at the end.
struct ReplyFolder(PathBuf);

impl ReplyFolder {
    fn new() -> io::Result<Self> {
        #[cfg_attr(not(unix), expect(unused_mut))]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let process = std::process::id();
        let mut number = 0u64;
        loop {
            let path = std::env::temp_dir().join(format!("ringspin-verify-{process}-{number}"));
            match builder.create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                created => return created.map(|()| Self(path)),
            }
        }
    }
}

impl Drop for ReplyFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs `command` on one core every second time: a process inherits the cores of the thread that
/// starts it.
fn output_on_some_cores(mut command: Command, run: usize) -> io::Result<Output> {
    let started = move || {
        if run % 2 == 1
            && let Some(core) = allowed_cores().first()
        {
            pin(*core);
        }
        command.output()
    };
    let output = std::thread::Builder::new().spawn(started)?.join();
    output.unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
}

/// How `unshare` of util-linux gives a process namespaces where it may name the host and move the
/// clocks. Not every kernel and container permits that.
const NAMESPACES: [&str; 6] =
    ["--map-current-user", "--keep-caps", "--uts", "--time", "--fork", "--kill-child"];

/// The start of `program`, with another host name and uptime where that is possible.
fn on_another_host(program: &Path, run: usize) -> Command {
    static IS_POSSIBLE: LazyLock<bool> = LazyLock::new(|| {
        let tried = host("true".as_ref(), 1).stdin(Stdio::null()).output();
        tried.is_ok_and(|tried| tried.status.success())
    });
    if *IS_POSSIBLE { host(program, run) } else { Command::new(program) }
}

/// The start of `program` on host number `run`, which was started some days ago.
fn host(program: &Path, run: usize) -> Command {
    let seconds = (run % 1000 * 86_400).to_string();
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).args(["--monotonic", &seconds, "--boottime", &seconds]);
    command.args(["sh", "-c", "hostname \"$0\" && exec \"$@\""]);
    command.arg(format!("host-{run}")).arg(program);
    command
}

/// Gives a process another environment: its size moves the stack.
fn vary_environment(command: &mut Command, run: usize, folder: &Path) {
    let locale = ["C", "tr_TR.UTF-8", "C.UTF-8", "de_DE.UTF-8"][run % 4];
    let zone = ["Asia/Tokyo", "UTC", "America/St_Johns"][run % 3];
    let padding = "x".repeat(1 + run.wrapping_mul(1237) % 8192);
    command.env("TMPDIR", folder).env("LC_ALL", locale).env("LANG", locale).env("TZ", zone);
    command.env("PYTHONHASHSEED", run.to_string()).env("RINGSPIN_VERIFY_PADDING", padding);
    // glibc fills memory with it.
    command.env("MALLOC_PERTURB_", (run % 255 + 1).to_string());
}

fn no_reply(program: &Path, output: &Output, call: &Call, error: &io::Error) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let start = said.len().saturating_sub(QUOTED_MAX);
    let start = (start..=said.len()).find(|&n| said.is_char_boundary(n)).unwrap_or(0);
    format!(
        "`{}` ended ({}) without a result of the call at {}: {error}; start it with arguments \
         that lead to that call. It said: {}",
        program.display(),
        output.status,
        call.0,
        said[start..].trim_end(),
    )
}

/// Which call of a program verifies: where in the source, and how many calls there came before on
/// the same thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call(String);

thread_local! {
    static CALLS: RefCell<BTreeMap<String, u64>> = const { RefCell::new(BTreeMap::new()) };
}

impl Call {
    pub(super) fn next(location: &Location<'_>) -> Self {
        let place = location.to_string();
        let count = CALLS.with_borrow_mut(|calls| {
            let count = calls.entry(place.clone()).or_default();
            *count += 1;
            *count
        });
        Self(format!("{place}#{count}"))
    }
}

/// The run that this process was started for.
pub(super) struct Request {
    file: PathBuf,
    call: String,
}

impl Request {
    pub(super) fn from_env() -> Option<Self> {
        let file = std::env::var_os(REPLY_VARIABLE)?.into();
        Some(Self { file, call: std::env::var(CALL_VARIABLE).unwrap_or_default() })
    }

    pub(super) fn is_for(&self, call: &Call) -> bool {
        self.call == call.0
    }

    /// Hands the run to the process that asked, and ends this one.
    pub(super) fn reply(&self, ran: Ran) -> ! {
        let code = match Reply::of(ran).write(&self.file) {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("failed to write `{}`: {error}", self.file.display());
                1
            }
        };
        std::process::exit(code)
    }
}

/// A run in another process.
pub(super) struct Reply {
    pub(super) summary: Summary,
    pub(super) trace: Trace,
}

/// The part of a run that is compared besides its trace.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) failed: Option<String>,
    pub(super) digest: String,
    /// All that is known of the graph.
    graph_hash: String,
    /// A line for each thing in the graph.
    pub(super) graph: Vec<String>,
    /// A line for each thing that was counted.
    pub(super) outcome: Vec<String>,
    /// The changes of the graph in words, each with the number of dispatches before it.
    pub(super) changes: Vec<(usize, String)>,
    records: usize,
    sent: usize,
}

impl Summary {
    pub(super) fn of(report: &Report, trace: &Trace) -> Self {
        let info = report.graph();
        Self {
            failed: None,
            digest: report.digest().to_string(),
            graph_hash: outcome::hash(&format!("{info:?}")),
            graph: outcome::listing(info).lines().map(String::from).collect(),
            outcome: outcome::outcome(report),
            changes: describe_changes(trace),
            records: trace.records.len(),
            sent: trace.sent.len(),
        }
    }

    pub(super) fn has_graph_of(&self, other: &Self) -> bool {
        (&self.graph, &self.graph_hash) == (&other.graph, &other.graph_hash)
    }
}

impl Reply {
    fn of(ran: Ran) -> Self {
        let mut report = ran.report;
        let trace = report.as_mut().and_then(|report| report.trace.take()).unwrap_or_default();
        let failed = ran.error.map(|error| error.to_string());
        let summary = report.map(|report| Summary::of(&report, &trace)).unwrap_or_default();
        Self { summary: Summary { failed, ..summary }, trace }
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        let summary = toml::to_string(&self.summary).map_err(io::Error::other)?;
        write_words([summary.len() as u64], &mut out)?;
        out.write_all(summary.as_bytes())?;
        for record in &self.trace.records {
            write_words(to_words(record), &mut out)?;
        }
        for (EventId { source, sequence }, cause) in &self.trace.sent {
            write_words([source.0.into(), *sequence, *cause as u64], &mut out)?;
        }
        out.flush()
    }

    fn read(path: &Path) -> io::Result<Self> {
        let mut from = BufReader::new(File::open(path)?);
        let mut summary = String::new();
        let [length] = read_words(&mut from)?;
        from.by_ref().take(length).read_to_string(&mut summary)?;
        let summary: Summary = toml::from_str(&summary).map_err(io::Error::other)?;
        let mut trace = Trace::default();
        for _ in 0..summary.records {
            trace.records.push(of_words(read_words(&mut from)?));
        }
        for _ in 0..summary.sent {
            let [source, sequence, cause] = read_words(&mut from)?;
            let source = SourceId(source as u32);
            trace.sent.push((EventId { source, sequence }, cause as usize));
        }
        Ok(Self { summary, trace })
    }
}

/// A record as numbers, of which each fits into its place.
fn to_words(record: &Record) -> [u64; 7] {
    let Dispatch { time, event_loop, callback, event } = record.dispatch;
    [
        time.as_nanos(),
        event_loop.0.into(),
        callback.0.into(),
        event.source.0.into(),
        event.sequence,
        record.digest.is_some().into(),
        record.digest.unwrap_or(0),
    ]
}

fn of_words([time, event_loop, callback, source, sequence, shows, digest]: [u64; 7]) -> Record {
    let dispatch = Dispatch {
        time: Time::from_nanos(time),
        event_loop: LoopId(event_loop as u32),
        callback: CallbackId(callback as u32),
        event: EventId { source: SourceId(source as u32), sequence },
    };
    Record { dispatch, digest: (shows != 0).then_some(digest) }
}

fn write_words<const N: usize>(words: [u64; N], out: &mut impl Write) -> io::Result<()> {
    words.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
}

fn read_words<const N: usize>(from: &mut impl Read) -> io::Result<[u64; N]> {
    let mut words = [0; N];
    for word in &mut words {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        *word = u64::from_le_bytes(bytes);
    }
    Ok(words)
}
