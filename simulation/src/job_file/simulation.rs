//! Keys of a job file that describe the simulation.

use super::Source;
use super::document::{CoresKeys, Document, Ties};
use crate::models::{Durations, Links, Profile};
use ringspin_executor::{Error, ErrorKind, Result, Time};
use ringspin_modes::deterministic::{Contention, Cores, Jitter, Simulation, TiePolicy};
use ringspin_modes::mapping::Mapping;
use ringspin_modes::quantity::Nanos;
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;

/// The simulation of `document`; reads the files that it names.
pub(super) fn read(document: &Document, source: &Source) -> Result<Simulation> {
    let default = Simulation::default();
    let (durations, contention) = durations(document, source)?;
    let start = Time::from_nanos(document.start.map_or(0, |start| start.0));
    let instant_dispatches_max =
        document.instant_dispatches_max.map_or(default.instant_dispatches_max, |max| max.get());
    Ok(Simulation {
        start,
        end: end(document, start, source)?,
        seed: document.seed,
        ties: ties(document, source)?,
        jitter: document.jitter.as_ref().map_or(default.jitter, |jitter| Jitter {
            max: duration(jitter.get_ref().max),
            seed: jitter.get_ref().seed,
        }),
        links: links(document, source)?.into(),
        durations: durations.into(),
        contention,
        cores: match &document.cores {
            None | Some(CoresKeys::Unlimited) => Cores::Unlimited,
            Some(CoresKeys::Single) => Cores::Single,
            Some(CoresKeys::Mapping(path)) => {
                let mapping = Mapping::load(source.path(path));
                Cores::Mapped(mapping.map_err(|error| unusable(path, &error, source))?)
            }
        },
        instant_dispatches_max,
        no_progress_max: document.no_progress_max.map(duration),
    })
}

pub(super) fn duration(nanos: Nanos) -> Duration {
    Duration::from_nanos(nanos.0)
}

fn end(document: &Document, start: Time, source: &Source) -> Result<Option<Time>> {
    match (&document.end, &document.duration) {
        (None, None) => Ok(None),
        (Some(_), Some(both)) => {
            Err(source.wrong(both.span(), "`end` and `for` both say when the run ends; keep one"))
        }
        (Some(end), None) => {
            let time = Time::from_nanos(end.get_ref().0);
            match time < start {
                false => Ok(Some(time)),
                true => Err(source.wrong(
                    end.span(),
                    format!("the end, {time}, is before the start, {start}; correct one of them"),
                )),
            }
        }
        (None, Some(length)) => match start.as_nanos().checked_add(length.get_ref().0) {
            Some(ns) => Ok(Some(Time::from_nanos(ns))),
            None => Err(source.wrong(
                length.span(),
                "`for` ends later than simulated time can be told, which is 584 years; shorten it",
            )),
        },
    }
}

fn ties(document: &Document, source: &Source) -> Result<TiePolicy> {
    if let Some(schedule) = &document.schedule {
        let other = match (&document.ties, &document.jitter) {
            (Some(ties), _) => Some(("ties", ties.span())),
            (None, jitter) => jitter.as_ref().map(|jitter| ("jitter", jitter.span())),
        };
        return match other {
            None => Ok(TiePolicy::Scripted(schedule.clone())),
            Some((key, span)) => Err(source.wrong(
                span,
                format!("`schedule` says in which order events go, and how late; remove `{key}`"),
            )),
        };
    }
    Ok(match document.ties.as_ref().map(Spanned::get_ref) {
        None | Some(Ties::Fifo) => TiePolicy::Fifo,
        Some(Ties::Reverse) => TiePolicy::Reverse,
        Some(&Ties::Shuffle { seed }) => TiePolicy::Shuffle { seed },
        Some(&Ties::Mixed { seed, steps }) => TiePolicy::Mixed { seed, steps: steps.get() },
        Some(&Ties::Pct { seed, depth, steps }) => {
            TiePolicy::Pct { seed, depth: depth.get(), steps: steps.get() }
        }
    })
}

fn links(document: &Document, source: &Source) -> Result<Links> {
    let rules = Links { rules: document.link.clone() };
    let Some(path) = &document.delays else {
        return Ok(rules);
    };
    let file = source.path(path);
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let file = file.display();
        let problem = format!("failed to read the delays `{file}`: {error}; check the path");
        source.at(path.span()).error(ErrorKind::Io, problem).caused_by(error)
    })?;
    let delays = Links::from_rslcpp_csv(&text, &file.display().to_string());
    Ok(delays.map_err(|error| unusable(path, &error, source))?.and(rules))
}

/// The durations of callbacks, and how much cores slow each other down.
fn durations(document: &Document, source: &Source) -> Result<(Durations, Contention)> {
    let rules = Durations { rules: document.execution.clone() };
    let Some(path) = &document.profile else {
        return Ok((rules, Contention::default()));
    };
    let profile = Profile::load(source.path(path));
    let profile = profile.map_err(|error| unusable(path, &error, source))?;
    Ok((Durations::from_profile(&profile).and(rules), profile.contention()))
}

fn unusable(path: &Spanned<PathBuf>, error: &dyn std::error::Error, source: &Source) -> Error {
    source.at(path.span()).error(ErrorKind::InvalidArgument, error)
}
