//! `reference-system optimize`: computes a mapping for `--mode multi --mapping`.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use reference_system::optimize::{Estimate, Tuned, TuningTarget, optimization_of, phases_of, tune};
use reference_system::table::{
    render_confirmed, render_estimates, render_phases, render_search, render_side_effects,
};
use ringspin_executor::StopHandle;
use ringspin_modes::{Mapping, allowed_cores};
use ringspin_optimizer::{
    Confirmed, Model, Objective, Profile, SearchOptions, SearchProgress, Twin, confirm,
};

use ringspin_bench::System;
use ringspin_bench::results::Results;
use ringspin_report::render;
use serde_json::Value;

use super::output::{self, Output};
use super::progress::Bar;
use super::{bench, crunch_limit, duration};
use reference_system::crunch::DEFAULT_CRUNCH_LIMIT;

#[derive(Debug, Args)]
#[command(after_help = "\
Without --profile, the system first runs live, to measure its callbacks and messages: --span on one
core, --span on one while the others are busy, and --span on all. Candidates are then judged by
simulation on the deterministic twin, so the cores need not exist. The mapping goes to --out, or to
stdout; run it with
  reference-system run --mode multi --mapping FILE

An objective is a list of terms, the most important first: misses, drops, jitter (of the planner,
above its limit); p99, mean, max of the latency from release to end; start-p99, start-mean,
start-max of that from sample to start; cores, peak. --objective mean is the goal of the paper.
The output also lists timers that would better the objective if they started later, which is up to
the nodes and not part of a mapping.
Ctrl-C ends the search, or the measurements, with the best so far and exit code 0.
A duration is a number and its unit: 500ms, 15s, 2min.")]
pub(crate) struct OptimizeArguments {
    /// The limit of the number cruncher.
    #[arg(long, default_value_t = DEFAULT_CRUNCH_LIMIT, value_parser = crunch_limit)]
    n: u64,
    /// The number of cores; default: those of this process.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    cores: Option<u16>,
    /// The terms to optimize, the most important first.
    #[arg(long, default_value_t)]
    objective: Objective,
    /// The deadline of the hot path; a longer latency is a miss.
    #[arg(long, value_name = "DURATION", value_parser = duration::nonzero)]
    deadline: Option<Duration>,
    /// The jitter that the behaviour planner's timer may have, as a standard deviation.
    #[arg(long, value_name = "DURATION", default_value = "1ms", value_parser = duration::nonzero)]
    planner_jitter: Duration,
    /// The seed of the search.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of candidates that the search may evaluate.
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
    /// Read the profile of a machine (TOML) instead of measuring this one.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Use the cost of a calibrated crunch, and messages without cost, instead of measuring this
    /// machine.
    #[arg(long, conflicts_with_all = ["profile", "profile_out"])]
    nominal: bool,
    /// Write the measured profile (TOML).
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    profile_out: Option<PathBuf>,
    /// The duration of each live run: the three for the profile, and each turn of --live.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration::nonzero)]
    span: Duration,
    /// Measure the mapping live on this machine, in turns with round-robin; the better one
    /// wins.
    #[arg(long)]
    live: bool,
    /// The number of turns of each.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    turns: u8,
    /// Write the mapping (TOML) to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write a page (HTML) with the search, and predicted and measured latencies.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the data of the page (JSON).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) fn optimize(arguments: &OptimizeArguments, quiet: bool) -> Result<()> {
    let &OptimizeArguments { n, deadline, planner_jitter, .. } = arguments;
    let target = TuningTarget { n, deadline, planner_jitter };
    let ids = core_ids(arguments)?;
    let create = |path: &Option<PathBuf>| {
        path.as_deref().map(|path| Output::create(path, false)).transpose()
    };
    let out = create(&arguments.out)?;
    let page = create(&arguments.report)?;
    let json = create(&arguments.json)?;
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
    let mut text = format!("{}\n", render_search(&tuned, &arguments.objective));
    let mut winner = tuned.found.assignment.clone();
    let mut confirmed = Vec::new();
    if arguments.live {
        let live = (&target, &ids[..]);
        let measured = measure(arguments, live, &twin, &tuned, &interrupted, quiet)?;
        confirmed = measured.into_iter().map(|of| (name(&of, &tuned), of)).collect();
        if let Some((_, best)) = confirmed.iter().min_by(|(_, a), (_, b)| a.score.cmp(&b.score)) {
            winner = best.assignment.clone();
        }
    }
    let estimates = [("tuned", &winner), ("round-robin", &tuned.round_robin)];
    let estimate = |(name, of)| Ok((name, twin.evaluate(of)?));
    let estimates: Vec<Estimate> = estimates.into_iter().map(estimate).collect::<Result<_>>()?;
    text += &render_estimates(twin.chains(), &estimates);
    text += &format!("\n{}", render_side_effects(twin.timers(), &estimates));
    let phases = phases_of(&twin, &twin.advise_phases(&winner, &arguments.objective)?);
    text += &render_phases(&phases);
    if arguments.live {
        text += &format!("\n{}", render_confirmed(twin.chains(), &confirmed));
    }
    let (objective, chains) = (&arguments.objective, twin.chains());
    let data = optimization_of(&tuned, objective, chains, &phases, &confirmed, &winner);
    if let Some(file) = json {
        file.write_json(&data)?;
    }
    if let Some(file) = page {
        file.write_text(&page_of(&data))?;
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

fn profile(arguments: &OptimizeArguments, target: &TuningTarget) -> Result<Profile> {
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
    let mut options = SearchOptions::new(cores);
    options.seed = arguments.seed;
    options.evaluations = arguments.evaluations as usize;
    options.priority_levels = arguments.priorities;
    options.thread_levels = if arguments.realtime { 2 } else { 1 };
    options.threads = arguments.threads.map_or_else(|| allowed_cores().len().max(1), usize::from);
    let mut bar = Bar::new(quiet);
    let tuned = tune(twin, &arguments.objective, &options, &mut |progress| {
        let SearchProgress { evaluations, budget, best } = *progress;
        bar.show_part("search", evaluations, budget, &arguments.objective.describe(best));
        match interrupted.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    drop(bar);
    if interrupted.is_stopped() {
        eprintln!("note: interrupted: this is the best mapping so far");
    }
    Ok(tuned)
}

/// The page of a search on this machine.
fn page_of(data: &Value) -> String {
    let results = Results {
        title: "A mapping of the Autoware reference system".into(),
        command: output::command_line(),
        machine: System::default().machine(),
        ..Results::default()
    };
    render(&[("this machine".to_owned(), results)], Some(data))
}

/// Measures the best mapping and round-robin live, in turns.
fn measure(
    arguments: &OptimizeArguments,
    (target, cores): (&TuningTarget, &[usize]),
    twin: &Twin<'_>,
    tuned: &Tuned,
    interrupted: &StopHandle,
    quiet: bool,
) -> Result<Vec<Confirmed>> {
    let mut candidates = vec![tuned.found.assignment.clone()];
    if !candidates.contains(&tuned.round_robin) {
        candidates.push(tuned.round_robin.clone());
    }
    let turns = usize::from(arguments.turns);
    let (runs, mut done) = (turns * candidates.len(), 0);
    eprintln!("{runs} live runs of {:?}", arguments.span);
    let mut bar = Bar::new(quiet);
    let objective = &arguments.objective;
    let confirmed = confirm(twin, objective, &candidates, turns, |_, assignment| {
        bar.show_part("live", done, runs, "");
        done += 1;
        let is_over = interrupted.is_stopped();
        (!is_over).then(|| target.run(assignment, cores, arguments.span)).transpose()
    });
    confirmed.map_err(anyhow::Error::from_boxed)
}

fn name(confirmed: &Confirmed, tuned: &Tuned) -> String {
    let is_round_robin = confirmed.assignment == tuned.round_robin;
    if is_round_robin { "round-robin" } else { "tuned" }.to_owned()
}
