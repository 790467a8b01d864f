//! The commands `run`, `verify` and `explore` for systems of processes.

use crate::certificate::Certificate;
use crate::explore::Search;
use crate::faults::Choice;
use crate::source::Source;
use crate::system::PLAY;
use crate::{Observer, Options, Report, RunEnd, System, run};
use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use ringspin_executor::{Error, ErrorKind, Result, Time};
use ringspin_modes::quantity::Nanos;
use ringspin_modes::{Schedule, TiePolicy};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a turn may take while a debugger may be attached.
const DEBUGGED_MAX: Duration = Duration::from_secs(24 * 60 * 60);

const MORE: &str = "\
For recordings, each with its own --help:
  bag      Look into recordings, compare, check and convert them
  replay   Replay recordings
  record   Record topics of ROS 2 (built with feature `ros2`)

Exit codes:
  0    all went well
  1    a process ended with another code than 0, was killed or did not end, runs differ, or
       `explore` has found an order or faults with which one fails
  2    the command line or the system is not usable
  130  the run was stopped by a signal
  N    of `run`: the code of the process that the system names in `end`";

/// Runs programs with ROS 2 nodes, as they are, in one deterministic order under simulated time.
#[derive(Debug, Parser)]
#[command(after_help = MORE)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a system once.
    Run {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        ties: Ties,
        /// Write a line for each event.
        #[arg(long, value_name = "FILE")]
        log: Option<PathBuf>,
        /// Record all topics: a file if the name ends in `.mcap`, else a rosbag2 directory.
        #[arg(long, value_name = "OUT")]
        record: Option<PathBuf>,
        /// Measure how long callbacks compute here, and write the durations that systems can name
        /// as their `profile`.
        #[arg(long, value_name = "FILE")]
        profile: Option<PathBuf>,
        /// Show the messages of this topic as JSON.
        #[arg(long, value_name = "TOPIC")]
        echo: Vec<String>,
        /// Write a certificate of the run, in JSON.
        #[arg(long, value_name = "FILE")]
        certificate: Option<PathBuf>,
        /// Wait for the keyboard before each event from this time on, while a debugger may be
        /// attached: Enter for the next event, a time such as `5 s` for the first one from then on,
        /// `c` for the end of the run, `q` to stop it.
        #[arg(
            long,
            value_name = "TIME",
            num_args = 0..=1,
            require_equals = true,
            default_missing_value = "0 s"
        )]
        step: Option<Nanos>,
    },
    /// Run a system several times, and compare all that happens.
    Verify {
        #[command(flatten)]
        common: Common,
        /// How often.
        #[arg(long, default_value_t = 3)]
        runs: usize,
        #[command(flatten)]
        ties: Ties,
        /// Write a certificate of the run, in JSON.
        #[arg(long, value_name = "FILE")]
        certificate: Option<PathBuf>,
        /// Compare the run with this certificate, too, of this machine or another one.
        #[arg(long, value_name = "FILE")]
        against: Option<PathBuf>,
    },
    #[command(name = PLAY, hide = true)]
    Source(Source),
    /// Run a system in many orders of simultaneous events, and with faults, until a process fails.
    Explore {
        #[command(flatten)]
        common: Common,
        /// The seeds.
        #[arg(long, value_name = "FROM..TO", default_value = "0..100", value_parser = seeds)]
        seeds: Range<u64>,
        /// The faults that runs get: `kill`, `restart`, `late`, `partition`, `loss`, `clock`, or
        /// one of them for a process, as in `restart:server`.
        #[arg(long, value_name = "FAULT,..", value_delimiter = ',')]
        faults: Vec<Choice>,
        /// The most faults in a run.
        #[arg(long, value_name = "NUMBER", default_value_t = 3)]
        faults_max: u64,
    },
}

#[derive(Debug, Args)]
struct Common {
    /// The system, or a launch file.
    #[arg(value_name = "SYSTEM", required_unless_present = "commands")]
    system: Option<PathBuf>,
    /// Arguments of the launch file.
    #[arg(value_name = "NAME:=VALUE")]
    arguments: Vec<String>,
    /// The simulated time after which the run ends, such as `10 s`.
    #[arg(long = "for", value_name = "TIME")]
    duration: Option<Nanos>,
    /// Another seed than the system's.
    #[arg(long)]
    seed: Option<u64>,
    /// How many turns processes may have at one instant; more are taken for a cycle of messages.
    #[arg(long, value_name = "NUMBER", default_value_t = Options::default().instant_turns_max)]
    instant_turns_max: u64,
    /// On how many cores processes compute at the same time, where the order does not decide about
    /// it: all by default. The result is that of one core.
    #[arg(long, value_name = "NUMBER")]
    cores: Option<NonZeroUsize>,
    /// Do not show the output of the processes.
    #[arg(long)]
    quiet: bool,
    /// Programs in place of a system: `-- COMMAND -- COMMAND`.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "system")]
    commands: Vec<String>,
}

/// The order of events of one instant.
#[derive(Debug, Args)]
struct Ties {
    /// Choose at random, with this seed.
    #[arg(long, value_name = "SEED", conflicts_with = "schedule")]
    shuffle: Option<u64>,
    /// Choose as `explore` has printed.
    #[arg(long)]
    schedule: Option<Schedule>,
}

impl Ties {
    fn policy(&self) -> TiePolicy {
        match (self.shuffle, &self.schedule) {
            (Some(seed), _) => TiePolicy::Shuffle { seed },
            (None, Some(schedule)) => TiePolicy::Scripted(schedule.clone()),
            (None, None) => TiePolicy::Fifo,
        }
    }
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("write it as 0..100")?;
    let number = |text: &str| text.parse().map_err(|error| format!("`{text}`: {error}"));
    Ok(number(from)?..number(to)?)
}

/// Runs the command of this process's command line.
pub fn main() -> ExitCode {
    let line = match Line::try_parse() {
        Ok(line) => line,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    ExitCode::from(line.command.run().unwrap_or_else(|error| {
        eprintln!("{error}");
        match error.kind() {
            ErrorKind::Diverged => 1,
            ErrorKind::InvalidState => 130,
            _ => 2,
        }
    }))
}

fn is_stopped() -> bool {
    STOPPED.get().is_some()
}

/// Set once a signal has asked for the end.
static STOPPED: OnceLock<()> = OnceLock::new();

impl Common {
    /// The system, with the seed of the schedule if that has one.
    fn system(&self, ties: &TiePolicy) -> Result<System> {
        let mut system = match &self.system {
            Some(path) => System::load(path, &self.arguments)?,
            None => System::of_commands(self.commands.split(|word| word == "--"))?,
        };
        system.end_after = self.duration.or(system.end_after);
        system.is_cut = self.duration.is_some();
        system.seed = match ties {
            TiePolicy::Scripted(Schedule { seed: Some(seed), .. }) => *seed,
            _ => self.seed.unwrap_or(system.seed),
        };
        Ok(system)
    }

    /// The options that all commands have.
    fn options(&self) -> Options {
        let default = Options::default();
        let cores = self.cores.map_or(default.cores, NonZeroUsize::get);
        Options { is_stopped, instant_turns_max: self.instant_turns_max, cores, ..default }
    }

    fn run(&self, system: &System, options: Options, step: Option<Nanos>) -> Result<Report> {
        let mut terminal = Terminal::new(self.quiet, system.end_after, step);
        let report = run(system, options, &mut terminal);
        terminal.progress.finish_and_clear();
        report
    }
}

/// The output of a run, and its progress where there is a terminal.
struct Terminal {
    is_quiet: bool,
    /// The remarks of the simulation that were shown.
    said: BTreeSet<String>,
    progress: ProgressBar,
    /// The time from which on the run pauses before each event.
    steps_from: Option<Nanos>,
}

impl Terminal {
    fn new(is_quiet: bool, end: Option<Nanos>, steps_from: Option<Nanos>) -> Self {
        let millis = end.map(|end| end.0 / 1_000_000);
        let progress = millis.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        let template = match millis {
            Some(_) => "{bar:30} {pos} of {len} ms simulated, {eta} left",
            None => "{spinner} {pos} ms simulated in {elapsed}",
        };
        progress.set_style(ProgressStyle::with_template(template).expect("a template"));
        Self { is_quiet, said: BTreeSet::new(), progress, steps_from }
    }
}

impl Observer for Terminal {
    fn line(&mut self, time: Time, process: &str, is_error: bool, line: &str) {
        // A remark of the simulation on what several programs do is shown once.
        let is_remark = line.starts_with("ringspin: ");
        if self.is_quiet || is_remark && !self.said.insert(line.to_owned()) {
            return;
        }
        let line = format!("[{time} {process}] {line}\n");
        let _ = self.progress.suspend(|| match is_error {
            false => std::io::stdout().write_all(line.as_bytes()),
            true => std::io::stderr().write_all(line.as_bytes()),
        });
    }

    fn time(&mut self, time: Time) {
        self.progress.set_position(time.as_nanos() / 1_000_000);
    }

    fn pauses(&mut self, time: Time) -> bool {
        self.steps_from.is_some_and(|from| time.as_nanos() >= from.0)
    }

    fn pause(&mut self, time: Time, event: &str, process: Option<u32>) {
        let process = process.map_or(String::new(), |number| format!(" (process {number})"));
        self.steps_from = self.progress.suspend(|| {
            eprint!("[{time}] next: {event}{process} > ");
            loop {
                let mut line = String::new();
                let is_over = std::io::stdin().read_line(&mut line).is_ok_and(|count| count == 0);
                match line.trim() {
                    _ if is_over || is_stopped() => return None,
                    "" => return self.steps_from,
                    "c" => return None,
                    "q" => {
                        STOPPED.get_or_init(|| ());
                        return None;
                    }
                    text => match text.parse() {
                        Ok(time) => return Some(time),
                        Err(error) => eprint!("Enter, a time (`{text}`: {error}), `c` or `q` > "),
                    },
                }
            }
        });
    }
}

fn describe(report: &Report) -> String {
    let end = match report.end {
        RunEnd::Time => "the end of its time".into(),
        RunEnd::Process(code) => format!("the end of its process, with code {code}"),
        RunEnd::Message => "a message on its topic".into(),
        RunEnd::Processes => "the end of all processes".into(),
        RunEnd::Failure => "a failure".into(),
        RunEnd::Quiet => "a wait of all processes, none for a time".into(),
    };
    let Report { time, messages, turns, digest, .. } = report;
    format!("{time} up to {end}: {messages} messages, {turns} turns, digest {digest:016x}")
}

/// The exit code of a run; its failures are said.
fn code(report: &Report) -> u8 {
    report.failures.iter().chain(&report.unused_rules).for_each(|line| eprintln!("{line}"));
    match report.end {
        RunEnd::Process(code @ 1..) => code,
        _ if !report.failures.is_empty() => 1,
        _ if !report.unused_rules.is_empty() => 2,
        _ => 0,
    }
}

impl Command {
    fn run(&self) -> Result<u8> {
        let stop = ctrlc::set_handler(|| STOPPED.get_or_init(|| ()).to_owned());
        stop.map_err(|error| Error::new(ErrorKind::Unsupported, error.to_string()))?;
        match self {
            Self::Run { common, ties, log, record, profile, echo, certificate, step } => {
                let begun = Instant::now();
                let ties = ties.policy();
                let system = common.system(&ties)?;
                let mut options = Options {
                    ties: ties.clone(),
                    record: log.clone(),
                    recording: record.clone(),
                    profile: profile.clone(),
                    echo: echo.clone(),
                    certifies: certificate.is_some(),
                    ..common.options()
                };
                if step.is_some() {
                    options.turn_max = DEBUGGED_MAX;
                }
                let report = common.run(&system, options, *step)?;
                let real = begun.elapsed().as_secs_f64();
                eprintln!("{}; {real:.3} s", describe(&report));
                if let Some(path) = certificate {
                    let file = common.system.as_deref();
                    Certificate::new(&system, file, &ties, &report).write(path)?;
                }
                Ok(code(&report))
            }
            Self::Source(source) => source.play().map(|()| 0),
            Self::Verify { common, runs, ties, certificate, against } => {
                verify(common, *runs, &ties.policy(), certificate.as_deref(), against.as_deref())
            }
            Self::Explore { common, seeds, faults, faults_max } => {
                explore(common, seeds.clone(), faults, *faults_max)
            }
        }
    }
}

fn verify(
    common: &Common,
    runs: usize,
    ties: &TiePolicy,
    certificate: Option<&Path>,
    against: Option<&Path>,
) -> Result<u8> {
    let system = common.system(ties)?;
    let folder = tempfile::tempdir().map_err(|error| {
        Error::new(ErrorKind::Io, format!("failed to make a folder for the records: {error}"))
    })?;
    let path = |run: usize| folder.path().join(run.to_string());
    let certifies = certificate.or(against).is_some();
    let (mut failed, mut certified) = (0, None);
    for run in 1..=runs.max(2) {
        let (ties, record) = (ties.clone(), Some(path(run)));
        let options = Options { ties, record, certifies, ..common.options() };
        let report = common.run(&system, options, None)?;
        eprintln!("run {run}: {}", describe(&report));
        failed = failed.max(code(&report));
        if run > 1
            && let Some(difference) = first_difference(&path(1), &path(run))
        {
            let text = format!("run {run} differs from run 1\n{difference}");
            return Err(Error::new(ErrorKind::Diverged, text));
        }
        certified = Some(report);
    }
    if let Some(report) = certified.filter(|_| certifies) {
        let own = Certificate::new(&system, common.system.as_deref(), ties, &report);
        certificate.map_or(Ok(()), |path| own.write(path))?;
        for line in against.map_or(Ok(Vec::new()), |path| own.compare(path))? {
            eprintln!("the result is equal, but {line}");
        }
    }
    Ok(failed)
}

/// The first line that differs, in words, with the last event of the same process before it.
fn first_difference(left: &Path, right: &Path) -> Option<String> {
    let lines = |path| File::open(path).ok().map(|file| BufReader::new(file).lines());
    let (mut left, mut right) = (lines(left)?, lines(right)?);
    let mut before: Vec<String> = Vec::new();
    loop {
        let (one, two) = (left.next(), right.next());
        let text = |line: Option<std::io::Result<String>>| line?.ok();
        let (one, two) = (text(one), text(two));
        if one == two {
            before.push(one?);
            if before.len() > 1000 {
                before.drain(..500);
            }
            continue;
        }
        let process = |line: &str| line.split(' ').nth(2).map(str::to_owned);
        let name = one.as_deref().or(two.as_deref()).and_then(process);
        let cause = before.iter().rev().find(|line| process(line) == name);
        let end = "the end of the run".to_owned();
        return Some(format!(
            "  run 1: {}\n  other: {}\n  after: {}",
            one.as_ref().unwrap_or(&end),
            two.as_ref().unwrap_or(&end),
            cause.map_or("nothing", |line| line),
        ));
    }
}

fn explore(common: &Common, seeds: Range<u64>, faults: &[Choice], faults_max: u64) -> Result<u8> {
    let system = common.system(&TiePolicy::Fifo)?;
    let named = faults.iter().filter_map(|choice| choice.process.as_deref());
    if let Some(name) = named.into_iter().find(|name| system.place(name).is_none()) {
        let text = format!("`--faults` names `{name}`, which is no process of the system");
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    let progress = |done: &str| {
        if std::io::stderr().is_terminal() {
            eprint!("\r{done}\x1b[K\r");
        }
    };
    let (range, system, progress) = (seeds.clone(), &system, &progress);
    let options = common.options();
    let search = Search { system, seeds: range, faults, faults_max, options, progress };
    let Some(found) = search.explore()? else {
        println!("no order fails of those with the seeds {} to {}", seeds.start, seeds.end);
        return Ok(0);
    };
    println!("{found}");
    let mut words: Vec<_> = std::env::args().take(1).collect();
    words.extend(["run".into(), "--schedule".into(), found.schedule.to_string()]);
    words.extend(common.duration.map(|duration| format!("--for={duration}")));
    words.extend(common.seed.map(|seed| format!("--seed={seed}")));
    let max = Some(common.instant_turns_max);
    let is_own = |max: &u64| *max != Options::default().instant_turns_max;
    words.extend(max.filter(is_own).map(|max| format!("--instant-turns-max={max}")));
    words.extend(common.system.iter().map(|path| path.display().to_string()));
    words.extend(common.arguments.iter().cloned());
    if !common.commands.is_empty() {
        words.push("--".into());
        words.extend(common.commands.iter().cloned());
    }
    let again = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
    println!("to see it again: {again}");
    Ok(1)
}
