//! `reference-system report`: runs the measurements and writes the page.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reference_system::gather::{Gathered, ReportOptions, gather};
use ringspin_report::{OptimizationData, ReportData, overview_svg, render};
use ringspin_simulation::timeline::{Timeline, write_chrome_trace};
use serde::de::DeserializeOwned;

use super::output::Output;
use super::progress::GatherBar;
use super::{ReportArguments, bench};

/// The simulated time of each twin; takes some ten milliseconds of real time.
const SIMULATED: Duration = Duration::from_secs(60);

/// The output files, opened before the first run.
struct Files {
    page: Output,
    data: Option<Output>,
    trace: Option<Output>,
    chart: Option<Output>,
}

pub(super) fn report(arguments: &ReportArguments, quiet: bool) -> Result<()> {
    // Input files are read first, so that a wrong name truncates no output file.
    let optimization: Option<OptimizationData> =
        arguments.optimization.as_deref().map(|path| read(path, "an optimization")).transpose()?;
    let kept: Option<ReportData> =
        arguments.data.as_deref().map(|path| read(path, "a report's data")).transpose()?;
    let create = |path: &Path| Output::create(path, false);
    let files = Files {
        page: create(&arguments.out)?,
        data: arguments.data_out.as_deref().map(create).transpose()?,
        trace: arguments.trace_out.as_deref().map(create).transpose()?,
        chart: arguments.chart_out.as_deref().map(create).transpose()?,
    };
    let (mut data, timelines) = match kept {
        Some(data) => (data, Vec::new()),
        None => run(arguments, quiet)?,
    };
    data.optimization = optimization.or(data.optimization);
    write(files, &data, &timelines)?;
    eprintln!("the report is in `{}`", arguments.out.display());
    Ok(())
}

fn run(arguments: &ReportArguments, quiet: bool) -> Result<(ReportData, Vec<(String, Timeline)>)> {
    bench::note_debug_build();
    let options = ReportOptions {
        modes: bench::distinct(arguments.modes.clone()),
        crunch_limits: arguments.n.clone(),
        duration: arguments.duration,
        simulated: SIMULATED,
        command: command_line(),
    };
    let listener = bench::listen_for_ctrl_c()?;
    let interrupted = listener.stop_handle();
    let bar = GatherBar::new(quiet);
    let gathered = gather(&options, |step| {
        if step.index == 0 {
            eprintln!("{} live runs: about {} s", step.total, step.remaining.as_secs_f64().ceil());
        }
        bar.show(step);
        if interrupted.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    drop(bar);
    let Gathered { data, timelines, interrupted, .. } =
        gathered.map_err(anyhow::Error::from_boxed)?;
    if interrupted {
        eprintln!("note: interrupted: the report has the completed runs only");
    }
    Ok((data, timelines))
}

/// The command line, with the program name instead of its path.
pub(super) fn command_line() -> String {
    let mut words = vec!["reference-system".to_owned()];
    words.extend(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

fn write(files: Files, data: &ReportData, timelines: &[(String, Timeline)]) -> Result<()> {
    let Files { page, data: data_file, trace, chart } = files;
    page.write_with(|out| out.write_all(render(data).as_bytes()))?;
    if let Some(file) = data_file {
        file.write_json(data)?;
    }
    if let Some(file) = trace {
        // Data read from a file contains only the parts of timelines that the page shows.
        let parts = || data.timelines.iter().map(|part| (part.title.as_str(), &part.timeline));
        let named: Vec<(&str, &Timeline)> = match timelines.is_empty() {
            true => parts().collect(),
            false => timelines.iter().map(|(name, timeline)| (name.as_str(), timeline)).collect(),
        };
        file.write_with(|out| write_chrome_trace(out, &named))?;
    }
    if let Some(file) = chart {
        let Some(svg) = overview_svg(data) else {
            bail!(
                "there is nothing to draw for --chart-out: no live run has a counted sample; \
                   use --duration 2s or more"
            );
        };
        file.write_with(|out| out.write_all(svg.as_bytes()))?;
    }
    Ok(())
}

fn read<T: DeserializeOwned>(path: &Path, what: &str) -> Result<T> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("failed to read `{}`; check the path", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("`{}` is not {what}; write it again", path.display()))
}
