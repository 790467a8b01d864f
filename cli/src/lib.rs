//! A ready-made command line for a program with a [`Registry`]: run, verify and explore its jobs.
//!
//! ```no_run
//! use ringspin_simulation::Registry;
//!
//! fn main() -> std::process::ExitCode {
//!     ringspin_cli::main(Registry::new().node("blinker", |graph, place| {
//!         place.create_node(graph, false)?;
//!         Ok(())
//!     }))
//! }
//! ```
//!
//! ```text
//! program run JOB [--seed N] [--schedule S] [--certificate FILE] [--trace FILE]
//! program verify JOB [--runs N] [--against FILE]
//! program explore JOB [--seeds 0..1000] [--keep-seed] [--order mixed|shuffle|pct:3|default]
//!                     [--jitter 1ms] [--threads N]
//! program check JOB
//! program nodes
//! program results merge DIR [--junit FILE] [--page FILE]
//! ```
//!
//! `run`, `verify`, `explore` and `replay` take several jobs, recordings (`replay --each`),
//! patterns of their names, and `--seeds`. They do a part of that list with `--shard K/N|auto`, and
//! keep the results for other machines with `--results DIR`.
//!
//! With feature `bag`, for [programs](Program) that name their message types:
//!
//! ```text
//! program replay BAG.. [--job JOB] [--record OUT] [--verify] [--topics T..] [--exclude T..]
//!                      [--remap FROM:=TO..] [--start-offset 5s] [--playback-duration 10s] ..
//! program bag info BAG
//! program bag check BAG
//! program bag recover BAG OUT
//! program bag convert BAG.. -o OUT [--topics T..] [--start-offset 5s] ..
//! program bag echo BAG.. [--topics T..] ..
//! program bag diff LEFT RIGHT [--ignore-stamps]
//! ```
//!
//! With feature `ros2` also `program record -o OUT [TOPIC..]`, which records topics of ROS 2.
//!
//! The exit code is 0 when all went well. `run` ends with the code with which a node ended the run,
//! if one did. Otherwise it is 1 when a callback failed, runs diverged, an order was found that
//! fails, recordings differ, or one is damaged; 2 when the command line, the job file, a recording
//! or the graph is not usable; 124 when the job's
//! watchdog found a callback that does not return. A panic of other code than a callback (a
//! `Digest`, a `Drop`) is a failed run. A builder that panics makes the graph unusable: 2, or 1 if
//! it panics only in a later run of `explore`.

#![forbid(unsafe_code)]

mod arguments;
#[cfg(feature = "bag")]
mod bag;
mod farm;
#[cfg(feature = "bag")]
mod not_offered;
#[cfg(feature = "ros2")]
mod record;
#[cfg(feature = "bag")]
mod replay;
#[cfg(feature = "bag")]
mod selection;
mod shard;

use arguments::{Command, CommandLine, Explore, JobArguments, ResultsCommand, Run, Verify};
use clap::Parser;
use farm::{Item, List, Seen, hash_of_text, listed};
use indicatif::{ProgressBar, ProgressStyle};
use ringspin_executor::{Arguments, BoxError, Error, ErrorKind};
use ringspin_modes::{Jitter, TiePolicy};
use ringspin_simulation::{
    Certificate, Counterexample, FreshProcess, Job, JobFile, Ran, Registry, Report, Uncontrolled,
    describe,
};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const FAILED: u8 = 1;
const UNUSABLE: u8 = 2;

/// The reason for an exit code other than 0.
#[derive(Debug)]
enum Ended {
    /// The run, comparison or search failed, with this message.
    Failed(String),
    /// The command line, job file or graph is not usable, with this message.
    Unusable(String),
    /// The output is closed or full.
    Output(io::Error),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

fn unusable(error: impl std::fmt::Display) -> Ended {
    Ended::Unusable(error.to_string())
}

/// A program with the ready-made command line: its node types, and its message types.
///
/// ```no_run
/// use ringspin_cli::Program;
/// use ringspin_simulation::Registry;
///
/// fn main() -> std::process::ExitCode {
///     Program::new(Registry::new()).main()
/// }
/// ```
#[derive(Debug)]
pub struct Program {
    registry: Registry,
    #[cfg(feature = "bag")]
    types: ringspin_bag::MessageTypes,
}

impl Program {
    /// A program with the node types of `registry`.
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            #[cfg(feature = "bag")]
            types: ringspin_bag::MessageTypes::new(),
        }
    }

    /// Replays and records topics of `types` as messages of their structs. Topics of other types
    /// are carried as [`RawMessage`](ringspin_messages::RawMessage)s.
    #[cfg(feature = "bag")]
    #[must_use]
    pub fn messages(mut self, types: ringspin_bag::MessageTypes) -> Self {
        self.types = types;
        self
    }

    /// Runs the command of this process's command line.
    pub fn main(&self) -> ExitCode {
        let args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
        ExitCode::from(run_and_say(self, args, &mut io::stdout(), &mut io::stderr(), true))
    }

    /// Runs the command of any command line (the program's name first) with any outputs; returns
    /// the exit code.
    ///
    /// A watchdog ends the calling process. `verify` runs in this process only, because the process
    /// cannot be started again from a command line that is not its own.
    ///
    /// ```
    /// use ringspin_cli::Program;
    /// use ringspin_simulation::Registry;
    ///
    /// let program = Program::new(Registry::new().node("blinker", |graph, place| {
    ///     place.create_node(graph, false)?;
    ///     Ok(())
    /// }));
    /// let (mut out, mut err) = (Vec::new(), Vec::new());
    /// assert_eq!(program.run_from(["program", "nodes"], &mut out, &mut err), 0);
    /// assert_eq!(out, b"blinker\n");
    /// ```
    pub fn run_from<A: Into<String>>(
        &self,
        args: impl IntoIterator<Item = A>,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> u8 {
        run_and_say(self, args, out, err, false)
    }
}

/// The inputs and outputs of a command besides its arguments.
struct Invocation<'a> {
    registry: &'a Registry,
    #[cfg(feature = "bag")]
    types: &'a ringspin_bag::MessageTypes,
    /// How it was called.
    name: String,
    ros_arguments: Arguments,
    /// Whether this process does nothing else.
    alone: bool,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// The last run that was shown.
    seen: Option<Seen>,
}

/// Runs the command of this process's command line with the node types of `registry`.
pub fn main(registry: Registry) -> ExitCode {
    Program::new(registry).main()
}

fn run_and_say<A: Into<String>>(
    program: &Program,
    args: impl IntoIterator<Item = A>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    alone: bool,
) -> u8 {
    let (code, said) = match run(program, args, (out, &mut *err), alone) {
        Ok(code) => return code,
        Err(Ended::Failed(said)) => (FAILED, said),
        Err(Ended::Unusable(said)) => (UNUSABLE, said),
        // The reader has closed the pipe, as `head` does, so no message is needed.
        Err(Ended::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return FAILED,
        Err(Ended::Output(error)) => (FAILED, format!("failed to write: {error}")),
    };
    // If that fails, the exit code is all that is left to say.
    let _ = writeln!(err, "{}", said.trim_end());
    code
}

fn run<A: Into<String>>(
    program: &Program,
    args: impl IntoIterator<Item = A>,
    (out, err): (&mut dyn Write, &mut dyn Write),
    alone: bool,
) -> Result<u8, Ended> {
    let (stronger, args) = Arguments::parse(args).map_err(unusable)?;
    let line = match CommandLine::try_parse_from(&args) {
        Ok(line) => line,
        #[cfg(feature = "bag")]
        Err(error) if error.use_stderr() => return Err(unusable(not_offered::explained(&error))),
        #[cfg(not(feature = "bag"))]
        Err(error) if error.use_stderr() => return Err(unusable(error)),
        Err(help) => {
            write!(out, "{help}")?;
            return Ok(0);
        }
    };
    let registry = &program.registry;
    registry.check().map_err(unusable)?;
    let ros_arguments = Arguments::from_env().map_err(unusable)?.overridden_by(stronger);
    let name = args.into_iter().next().unwrap_or_default();
    let mut invocation = Invocation {
        registry,
        #[cfg(feature = "bag")]
        types: &program.types,
        name,
        ros_arguments,
        alone,
        out,
        err,
        seen: None,
    };
    match line.command {
        Command::Run(run) => invocation.run(&run),
        Command::Verify(verify) => invocation.verify(&verify),
        Command::Explore(explore) => invocation.explore(&explore),
        Command::Results(ResultsCommand::Merge(merge)) => invocation.merge(&merge),
        Command::Check(job) => invocation.check(&job),
        Command::Nodes => {
            registry.names().try_for_each(|name| writeln!(invocation.out, "{name}"))?;
            Ok(0)
        }
        #[cfg(feature = "bag")]
        Command::Replay(replay) => invocation.replay(*replay),
        #[cfg(feature = "ros2")]
        Command::Record(record) => invocation.record(&record),
        #[cfg(feature = "bag")]
        Command::Bag(bag) => invocation.bag(bag),
    }
}

impl<'a> Invocation<'a> {
    fn job(&self, arguments: &JobArguments) -> Result<Job<'a>, Ended> {
        let file = JobFile::load(&arguments.job).map_err(unusable)?;
        let job = file.with_arguments(self.ros_arguments.clone()).job(self.registry);
        let job = job.map_err(unusable)?;
        Ok(job.simulate(|simulation| {
            simulation.seed = arguments.seed.unwrap_or(simulation.seed);
        }))
    }

    /// The job, if its graph can be built and started.
    fn startable(&self, arguments: &JobArguments) -> Result<Job<'a>, Ended> {
        let job = self.job(arguments)?;
        job.start().map_err(|error| in_file(&arguments.job, &error))?;
        job.check_end().map_err(unusable)?;
        Ok(job)
    }

    /// The hash of all that decides about a job's runs except code: its file, its configuration,
    /// and `options` of the command.
    fn hash_of_job(
        &self,
        arguments: &JobArguments,
        options: &dyn std::fmt::Debug,
    ) -> Result<String, Ended> {
        let configuration = self.job(arguments)?.configuration_hash();
        let text = std::fs::read_to_string(&arguments.job).map_err(unusable)?;
        Ok(hash_of_text(&format!("{configuration} {options:?} {text}")))
    }

    fn run(&mut self, run: &Run) -> Result<u8, Ended> {
        let single = [
            ("--schedule", run.schedule.is_some()),
            ("--certificate", run.certificate.is_some()),
            ("--trace", run.trace.is_some()),
        ];
        let list = List {
            command: "run",
            farm: &run.farm,
            names: listed(&run.jobs.jobs)?,
            seeds: run.seeds.clone(),
            single: single.iter().find(|(_, is_set)| *is_set).map(|(name, _)| *name),
            job: &|this, name| this.hash_of_job(&run.jobs.with(name, None), &()),
            recording: &|_| Ok(String::new()),
        };
        self.each(&list, &mut |this, item| this.run_one(run, item))
    }

    fn run_one(&mut self, run: &Run, item: &Item) -> Result<u8, Ended> {
        let arguments = &run.jobs.with(&item.name, item.seed);
        let job = self.job(arguments)?;
        let job = job.simulate(|simulation| {
            if let Some(schedule) = &run.schedule {
                simulation.ties = TiePolicy::Scripted(schedule.clone());
                simulation.jitter = Jitter::default();
            }
        });
        let ran = job.run_with_report(run.trace.is_some());
        let Ran { report: Some(mut report), error } = ran else {
            let error = ran.error.unwrap_or_else(|| "it did not start".into());
            return Err(in_file(&arguments.job, &error));
        };
        if let Some(path) = &run.trace {
            self.write(path, |out| write_trace(&mut report, out))?;
        }
        if let Some(path) = &run.certificate {
            let certificate = job.certificate(&report);
            self.write(path, |out| out.write_all(certificate.to_json().as_bytes()))?;
        }
        // A trace or certificate on the standard output is its only content.
        let is_output = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
        if !is_output(&run.trace) && !is_output(&run.certificate) {
            self.say_what_ran(&arguments.job, &report)?;
        }
        match error {
            None => Ok(report.exit_code().unwrap_or(0)),
            Some(error)
                if error.downcast_ref().map(Error::kind) == Some(ErrorKind::ScheduleNotApplied) =>
            {
                Err(in_file(&arguments.job, &error))
            }
            Some(error) => {
                let mut lines = report.deviations().to_vec();
                if !report.not_applied().is_empty() {
                    lines.push(format!("not applied: {}", report.not_applied()));
                }
                let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
                Err(Ended::Failed(format!("{lines}{error}")))
            }
        }
    }

    fn say_what_ran(&mut self, job: &Path, report: &Report) -> io::Result<()> {
        self.seen = Some(Seen::of(report));
        let (dispatches, end, digest) = (report.dispatches(), report.end(), report.digest());
        let job = job.display();
        writeln!(self.out, "{job}: {dispatches} dispatches up to {end}, digest {digest}")?;
        for failure in report.failures() {
            writeln!(self.out, "  {failure}")?;
        }
        for (events, count) in report.foreign() {
            writeln!(self.out, "  another thread caused {count} {events}")?;
        }
        match report.exit_code() {
            None => Ok(()),
            Some(code) => writeln!(self.out, "  a node ended it with exit code {code}"),
        }
    }

    fn verify(&mut self, verify: &Verify) -> Result<u8, Ended> {
        let list = List {
            command: "verify",
            farm: &verify.farm,
            names: listed(&verify.jobs.jobs)?,
            seeds: verify.seeds.clone(),
            single: verify.against.as_ref().map(|_| "--against"),
            job: &|this, name| this.hash_of_job(&verify.jobs.with(name, None), &verify.runs),
            recording: &|_| Ok(String::new()),
        };
        self.each(&list, &mut |this, item| this.verify_one(verify, item))
    }

    fn verify_one(&mut self, verify: &Verify, item: &Item) -> Result<u8, Ended> {
        let bar = bar(u64::from(verify.runs));
        let arguments = &verify.jobs.with(&item.name, item.seed);
        let job = self.startable(arguments)?.after_each_run(|| bar.inc(1));
        let runs = verify.runs as usize;
        let verified = match self.alone {
            true => job.verify_in_processes(runs, &FreshProcess::same_arguments()),
            false => job.verify(runs),
        };
        bar.finish_and_clear();
        let report = verified.map_err(|error| Ended::Failed(error.to_string()))?;
        self.say_what_ran(&arguments.job, &report)?;
        let fresh = match self.alone {
            true => format!(", {} of them in fresh processes", runs - 2),
            false => String::new(),
        };
        writeln!(self.out, "  {runs} runs were the same, dispatch by dispatch{fresh}")?;
        self.say_unseen(&Uncontrolled::of_run(&report))?;
        if let Some(path) = &verify.against {
            compare_with(path, &job.certificate(&report))?;
            writeln!(self.out, "  the same as certified by {}", path.display())?;
        }
        Ok(0)
    }

    /// Explores one job, all seeds of it.
    fn explore_alone(&mut self, explore: &Explore, arguments: &JobArguments) -> Result<u8, Ended> {
        // The first run is that in the default order.
        let bar = bar((explore.seeds.end - explore.seeds.start).saturating_add(1));
        let job = self.startable(arguments)?.after_each_run(|| bar.inc(1));
        let exploration = explore.exploration();
        let explored = match self.alone {
            true => without_panic_messages(|| job.explore(&exploration)),
            false => job.explore(&exploration),
        };
        bar.finish_and_clear();
        match explored {
            Ok(explored) => {
                writeln!(
                    self.out,
                    "{}: {} runs, {} of them in another order than by default, and none failed",
                    arguments.job.display(),
                    explored.runs,
                    explored.deviating,
                )?;
                for (code, runs) in explored.exit_codes {
                    writeln!(self.out, "  a node ended {runs} of them with exit code {code}")?;
                }
                Ok(0)
            }
            Err(error) => Err(match error.cause::<Counterexample>() {
                Some(found) => Ended::Failed(self.found(found, arguments)),
                None if error.kind() == ErrorKind::CallbackFailed => {
                    Ended::Failed(error.to_string())
                }
                None => unusable(error),
            }),
        }
    }

    /// The counterexample, and the command that shows it again.
    fn found(&self, found: &Counterexample, job: &JobArguments) -> String {
        let seed = job.seed.map(|seed| format!(" --seed {seed}")).unwrap_or_default();
        let quoted = |text: &str| match shlex::try_quote(text) {
            Ok(quoted) => quoted.into_owned(),
            Err(_) => text.to_owned(),
        };
        let (name, file) = (quoted(&self.name), quoted(&job.job.display().to_string()));
        let ros: Vec<_> = self
            .ros_arguments
            .listing()
            .iter()
            .map(|line| {
                let (flag, text) = line.split_once(' ').unwrap_or((line, ""));
                format!(" {flag} {}", quoted(text))
            })
            .collect();
        let ros = match ros.is_empty() {
            true => String::new(),
            false => format!(" --ros-args{}", ros.concat()),
        };
        let text = found.to_string();
        let text = text.rsplit_once('\n').map_or(&*text, |(found, _environment)| found);
        format!(
            "{text}\nto see it again: {name} run {file}{seed} --schedule '{}'{ros}",
            found.schedule
        )
    }

    fn check(&mut self, arguments: &JobArguments) -> Result<u8, Ended> {
        let job = self.job(arguments)?;
        let mut session = job.start().map_err(|error| in_file(&arguments.job, &error))?;
        job.check_end().map_err(unusable)?;
        let info = session.graph();
        // Each node has one default group.
        let nodes = info.loops.values().filter(|event_loop| event_loop.group.is_empty()).count();
        writeln!(
            self.out,
            "{}: {} nodes, {} callbacks, {} topics, {} services; it can be run",
            arguments.job.display(),
            nodes,
            info.callbacks.len(),
            info.topics.len(),
            info.services.len(),
        )?;
        self.say_unseen(&Uncontrolled::of(&info))?;
        Ok(0)
    }

    fn say_unseen(&mut self, uncontrolled: &Uncontrolled) -> io::Result<()> {
        uncontrolled.lines().try_for_each(|line| writeln!(self.out, "  {line}"))
    }

    /// Has `write` fill the file, or the standard output for `-`.
    fn write(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Ended> {
        if path == Path::new("-") {
            return Ok(write(self.out)?);
        }
        let written = File::create(path).and_then(|file| {
            let mut file = BufWriter::new(file);
            write(&mut file)?;
            file.flush()
        });
        written.map_err(|error| {
            unusable(format!("failed to write `{}`: {error}; check the path", path.display()))
        })
    }
}

/// Compares a run with the certificate at `path`.
fn compare_with(path: &Path, certificate: &Certificate) -> Result<(), Ended> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| unusable(format!("failed to read `{name}`: {error}; check the path")))?;
    let differences = certificate
        .differences(&text)
        .map_err(|error| unusable(format!("`{name}` is no certificate: {error}")))?;
    match differences.is_empty() {
        true => Ok(()),
        false => {
            let lines: String = differences.iter().map(|line| format!("\n  {line}")).collect();
            Err(Ended::Failed(format!("the run differs from the certificate `{name}`:{lines}")))
        }
    }
}

/// Errors of the job file name it; others are of the graph.
fn in_file(job: &Path, error: &BoxError) -> Ended {
    let names_it = error.downcast_ref::<Error>().is_some_and(|error| error.path() == Some(job));
    match names_it {
        true => unusable(error),
        false => unusable(format!("{}: {error}", job.display())),
    }
}

/// The panics of the other runs have the same text as the reported one.
fn without_panic_messages<R>(explore: impl FnOnce() -> R) -> R {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let explored = explore();
    std::panic::set_hook(hook);
    explored
}

/// A line for each dispatch.
fn write_trace(report: &mut Report, out: &mut dyn Write) -> io::Result<()> {
    let trace = report.take_trace().unwrap_or_default();
    let mut records = trace.records.iter();
    records.try_for_each(|record| writeln!(out, "{}", describe(record, report.graph())))
}

/// Drawn on stderr if that is a terminal.
fn bar(runs: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} runs, {eta} left");
    ProgressBar::new(runs).with_style(style.expect("the template is well formed"))
}
