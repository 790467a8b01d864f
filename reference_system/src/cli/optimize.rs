//! `reference-system optimize`: computes a mapping for `--mode multi --mapping`.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use reference_system::gather::local_origin;
use reference_system::optimize::{
    BASELINES, LatencyEstimate, Target, Trial, Tuned, optimization_of, phases_of, trade_offs_of,
    tune,
};
use reference_system::table::{
    render_confirmed, render_estimates, render_phases, render_side_effects, render_strategies,
    render_trade_offs,
};
use ringspin_executor::StopHandle;
use ringspin_modes::{Mapping, allowed_cores};
use ringspin_optimizer::{
    Confirmed, Model, Objective, Profile, Progress, SearchOptions, Stop, Strategy, Twin,
};

use ringspin_report::{OptimizationData, ReportData, mapping_svg, render};

use super::output::{self, Output};
use super::progress::SearchBar;
use super::{WorkloadName, bench, crunch_limit, duration};
use reference_system::crunch::DEFAULT_CRUNCH_LIMIT;

#[derive(Debug, Args)]
#[command(after_help = "\
Without --profile, the system first runs live, to measure its callbacks and messages: --span on one
core, --span on one while the others are busy, and --span on all. Candidates are then judged by
simulation on the deterministic twin, so the cores need not exist. The mapping goes to --out, or to
stdout; run it with
  reference-system run --mode multi --mapping FILE

The picture of a mapping that stands in the README:
  reference-system optimize --workload lame --nominal --cores 4 --priorities 3 \\
    --evaluations 1500 --seed 2 --no-baselines --chart-out docs/mapping.svg

An objective is a list of terms, the most important first: misses, drops, jitter (of the planner,
above its limit); p99, mean, max of the latency from release to end; start-p99, start-mean,
start-max of that from sample to start; cores, peak. --objective mean is the goal of the paper.
The output also lists the Pareto front of the search: candidates of which none is better in mean,
p99, maximum, jitter and cores at once; and timers that would better the objective if they started
later, which is up to the nodes and not part of a mapping.
Ctrl-C ends the search, or the measurements, with the best so far and exit code 0.
A duration is a number and its unit: 500ms, 15s, 2min.")]
pub(crate) struct OptimizeArguments {
    /// The work of the callbacks.
    #[arg(long, value_enum, default_value_t)]
    workload: WorkloadName,
    /// The limit of the number cruncher [default: 4096]; not for `--workload lame`.
    #[arg(long, value_parser = crunch_limit)]
    n: Option<u64>,
    /// The number of cores; default: those of this process.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    cores: Option<u16>,
    /// The terms to optimize, the most important first.
    #[arg(long, default_value_t)]
    objective: Objective,
    /// The deadline of the hot path; a longer latency is a miss. LaME's chains have their own
    /// deadlines.
    #[arg(long, value_name = "DURATION", value_parser = duration::nonzero)]
    deadline: Option<Duration>,
    /// The jitter that the behaviour planner's timer may have, as a standard deviation.
    #[arg(long, value_name = "DURATION", default_value = "1ms", value_parser = duration::nonzero)]
    planner_jitter: Duration,
    /// The seed of the search.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of candidates that each strategy may evaluate.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    evaluations: u32,
    /// The number of priorities that loops can have on their core; with 1, the priorities of the
    /// nodes stay.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=16))]
    priorities: u8,
    /// Let cores have two threads, of which one has a SCHED_FIFO priority and preempts callbacks of
    /// the other. Where the mapping runs, that needs CAP_SYS_NICE or a limit (`ulimit -r`).
    #[arg(long)]
    realtime: bool,
    /// The number of threads that simulate candidates; default: one per core. Does not change the
    /// result.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The simulated time of each candidate.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::nonzero)]
    horizon: Duration,
    /// Skip the baseline strategies.
    #[arg(long)]
    no_baselines: bool,
    /// Read the profile of a machine (TOML) instead of measuring this one.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Use the costs of LaME's specification, or of a calibrated crunch, and messages without cost,
    /// instead of measuring this machine.
    #[arg(long, conflicts_with_all = ["profile", "profile_out"])]
    nominal: bool,
    /// Write the measured profile (TOML).
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    profile_out: Option<PathBuf>,
    /// The duration of each live run: the three for the profile, and each turn of --live.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration::nonzero)]
    span: Duration,
    /// Measure the best candidates live on this machine, in turns with the default mapping; the
    /// best measured one wins.
    #[arg(long)]
    live: bool,
    /// The number of candidates to measure.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    best: u8,
    /// The number of turns of each candidate.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    turns: u8,
    /// Write the mapping (TOML) to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write a page (HTML) with the search, the graph by core, and predicted and measured
    /// latencies.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the graph by core as SVG.
    #[arg(long, value_name = "FILE")]
    chart_out: Option<PathBuf>,
    /// Write the data of the page (JSON), for `reference-system report --optimization`.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) fn optimize(arguments: &OptimizeArguments, quiet: bool) -> Result<()> {
    let target = target(arguments)?;
    let ids = core_ids(arguments)?;
    let create = |path: &Option<PathBuf>| {
        path.as_deref().map(|path| Output::create(path, false)).transpose()
    };
    let out = create(&arguments.out)?;
    let page = create(&arguments.report)?;
    let pictures =
        Pictures { page, json: create(&arguments.json)?, chart: create(&arguments.chart_out)? };
    let listener = bench::listen_for_ctrl_c()?;
    let interrupted = listener.stop_handle();
    let profile = profile(arguments, &target)?;
    let twin = target.twin(&profile).context(match &arguments.profile {
        Some(path) => format!("failed to use `{}`", path.display()),
        None => "failed to use the measured profile".to_owned(),
    })?;
    twin.assumptions().iter().for_each(|assumption| eprintln!("note: {assumption}"));
    let twin = twin.with_horizon(arguments.horizon);
    let tuned = search(arguments, &twin, ids.len(), &interrupted, quiet)?;
    let mut text = format!("{}\n", render_strategies(&tuned, &arguments.objective));
    let mut winner = tuned.best(1).remove(0);
    let mut confirmed = Vec::new();
    if arguments.live {
        let trial = Trial {
            target: &target,
            cores: &ids,
            span: arguments.span,
            turns: arguments.turns.into(),
        };
        let measured = measure(arguments, &trial, &twin, &tuned, &interrupted, quiet)?;
        confirmed = named(measured, &tuned);
        if let Some((_, best)) = confirmed.iter().min_by(|(_, a), (_, b)| a.score.cmp(&b.score)) {
            winner = best.assignment.clone();
        }
    }
    let estimates = [("tuned", &winner), ("default", &tuned.default)];
    let estimates =
        estimates.map(|(name, assignment)| LatencyEstimate::new(&twin, name, assignment));
    let estimates = estimates.into_iter().collect::<Result<Vec<_>, _>>();
    let estimates = estimates.map_err(anyhow::Error::from_boxed)?;
    text += &render_estimates(twin.chains(), &estimates);
    text += &format!("\n{}", render_side_effects(twin.timers(), &estimates));
    let trade_offs = trade_offs_of(&tuned, &winner);
    text += &format!("\n{}", render_trade_offs(&trade_offs));
    let advice = twin.advise_phases(&winner, &arguments.objective);
    let phases = phases_of(&twin, &advice.map_err(anyhow::Error::from_boxed)?);
    text += &render_phases(&phases);
    if arguments.live {
        text += &format!("\n{}", render_confirmed(twin.chains(), &confirmed));
    }
    if !pictures.is_empty() {
        let (objective, chosen) = (&arguments.objective, (&winner, &ids[..]));
        let chains = twin.chains();
        let data =
            optimization_of(&tuned, objective, chains, &estimates, &phases, &confirmed, chosen);
        pictures.write(data)?;
    }
    let mapping: Mapping = winner.to_mapping(&ids);
    match out {
        Some(file) => file.write_text(&mapping.to_toml_string())?,
        None => {
            let _ = write!(text, "\n{}", mapping.to_toml_string());
        }
    }
    output::print(&text)
}

fn target(arguments: &OptimizeArguments) -> Result<Target> {
    let lame = arguments.workload == WorkloadName::Lame;
    if lame && (arguments.n.is_some() || arguments.deadline.is_some()) {
        bail!(
            "--n and --deadline apply to the crunches and the hot path, and `--workload lame` has \
             its own costs and deadlines: leave them out"
        );
    }
    let n = arguments.n.unwrap_or(DEFAULT_CRUNCH_LIMIT);
    Ok(Target {
        workload: arguments.workload.into(),
        n,
        deadline: arguments.deadline,
        planner_jitter: arguments.planner_jitter,
    })
}

/// The operating system's numbers of the cores for the mapping.
fn core_ids(arguments: &OptimizeArguments) -> Result<Vec<usize>> {
    let here = allowed_cores();
    let Some(count) = arguments.cores.map(usize::from) else { return Ok(here) };
    if count <= here.len() {
        return Ok(here[..count].to_vec());
    }
    if arguments.live {
        bail!(
            "--live measures on the cores of this process, and it may use {}, not {count}: give \
             `--cores {}`, or leave --live out",
            here.len(),
            here.len()
        );
    }
    Ok((0..count).collect())
}

fn profile(arguments: &OptimizeArguments, target: &Target) -> Result<Profile> {
    if let Some(path) = &arguments.profile {
        return Ok(Profile::load(path)?);
    }
    if arguments.nominal {
        return target.nominal(Duration::ZERO).map_err(anyhow::Error::from_boxed);
    }
    bench::note_debug_build();
    let file = arguments.profile_out.as_deref().map(|p| Output::create(p, false)).transpose()?;
    let runs = if allowed_cores().len() > 1 { 3 } else { 1 };
    eprintln!("measuring this machine for about {:?}", runs * arguments.span);
    let profile = target.measure(arguments.span).map_err(anyhow::Error::from_boxed)?;
    if let Some(file) = file {
        file.write_text(&profile.to_toml_string())?;
    }
    Ok(profile)
}

fn search(
    arguments: &OptimizeArguments,
    twin: &Twin<'_>,
    cores: usize,
    interrupted: &StopHandle,
    quiet: bool,
) -> Result<Tuned> {
    let stop = Stop::default();
    let mut options = SearchOptions::new(cores);
    options.seed = arguments.seed;
    options.evaluations = arguments.evaluations as usize;
    options.priority_levels = arguments.priorities;
    options.thread_levels = if arguments.realtime { 2 } else { 1 };
    options.threads = arguments.threads.map_or_else(|| allowed_cores().len().max(1), usize::from);
    options.exact_candidates_max = u64::from(arguments.evaluations);
    options.stop = stop.clone();
    let mut strategies = vec![Strategy::Genetic];
    if !arguments.no_baselines {
        strategies.extend(BASELINES);
        strategies.push(Strategy::Exact);
    }
    let mut bar = SearchBar::new(quiet);
    let tuned = tune(twin, &arguments.objective, &strategies, options, &mut |progress| {
        let Progress { strategy, evaluations, budget, best, .. } = *progress;
        bar.show(strategy.name(), evaluations, budget, &arguments.objective.describe(best));
        if interrupted.is_stopped() {
            stop.stop();
        }
    })?;
    drop(bar);
    if interrupted.is_stopped() {
        eprintln!("note: interrupted: this is the best mapping so far");
    }
    Ok(tuned)
}

/// Further output files, opened before the first run.
struct Pictures {
    page: Option<Output>,
    json: Option<Output>,
    chart: Option<Output>,
}

impl Pictures {
    fn is_empty(&self) -> bool {
        self.page.is_none() && self.json.is_none() && self.chart.is_none()
    }

    fn write(self, data: OptimizationData) -> Result<()> {
        if let Some(file) = self.json {
            file.write_json(&data)?;
        }
        if let Some(file) = self.chart {
            let svg = mapping_svg(&data).context("the graph is too large to be drawn")?;
            file.write_text(&svg)?;
        }
        let Some(file) = self.page else { return Ok(()) };
        let mut remarks = Vec::new();
        if cfg!(debug_assertions) {
            remarks.push("A debug build: the measured figures are meaningless.".into());
        }
        let origin = local_origin(&super::report::command_line(), remarks);
        let data = ReportData { origin, optimization: Some(data), ..ReportData::default() };
        file.write_text(&render(&data))
    }
}

/// Measures the best candidates and the default mapping live, in turns.
fn measure(
    arguments: &OptimizeArguments,
    trial: &Trial<'_>,
    twin: &Twin<'_>,
    tuned: &Tuned,
    interrupted: &StopHandle,
    quiet: bool,
) -> Result<Vec<Confirmed>> {
    let mut candidates = tuned.best(arguments.best.into());
    if !candidates.contains(&tuned.default) {
        candidates.push(tuned.default.clone());
    }
    let runs = trial.turns * candidates.len();
    eprintln!("{runs} live runs of {:?}", arguments.span);
    let mut bar = SearchBar::new(quiet);
    let confirmed = trial.confirm(twin, &arguments.objective, &candidates, |done| {
        bar.show("live", done, runs, "");
        !interrupted.is_stopped()
    });
    confirmed.map_err(anyhow::Error::from_boxed)
}

/// Names the candidates; the default is the last one.
fn named(confirmed: Vec<Confirmed>, tuned: &Tuned) -> Vec<(String, Confirmed)> {
    let name = |(n, candidate): (usize, Confirmed)| match candidate.assignment == tuned.default {
        true => ("default".to_owned(), candidate),
        false => (format!("tuned {}", n + 1), candidate),
    };
    confirmed.into_iter().enumerate().map(name).collect()
}
