//! Certificates of runs: JSON documents like those of jobs, with the origin of each process.
//!
//! The results of two machines have to be equal. The origins may differ, such as in the build of a
//! library that decides about nothing: they are compared to explain a result that differs.

use crate::provenance::{Origin, hash};
use crate::{Report, System};
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_modes::TiePolicy;
use ringspin_simulation::{Platform, certificate_differences};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the format.
const FORMAT: u32 = 1;

/// The keys of the circumstances of a run; all others are its result.
const CIRCUMSTANCES: [&str; 4] = ["marks", "processes", "uncontrolled", "platform"];

/// A run, in a form to keep.
#[derive(Debug, Serialize)]
pub(crate) struct Certificate {
    certificate: u32,
    digest: String,
    end: String,
    end_ns: u64,
    messages: u64,
    turns: u64,
    failures: Vec<String>,
    /// XXH3-128 of the file of the system.
    system: String,
    /// XXH3-128 of the durations, with those of its profile.
    durations: String,
    seed: u64,
    for_ns: Option<u64>,
    ties: String,
    /// The digest after some numbers of lines of the log.
    marks: Vec<String>,
    processes: BTreeMap<String, Origin>,
    /// The remarks of processes on their sockets, children and signals, which no run controls.
    uncontrolled: Vec<String>,
    platform: Platform,
}

impl Certificate {
    /// The certificate of a run of `system`, which is in the file at `path` if it is in one.
    pub(crate) fn new(
        system: &System,
        path: Option<&Path>,
        ties: &TiePolicy,
        report: &Report,
    ) -> Self {
        let file = path.and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        Self {
            certificate: FORMAT,
            digest: format!("{:016x}", report.digest),
            end: format!("{:?}", report.end),
            end_ns: report.time.as_nanos(),
            messages: report.messages,
            turns: report.turns,
            failures: report.failures.clone(),
            system: hash(&file),
            durations: hash(format!("{:?}", system.duration).as_bytes()),
            seed: system.seed,
            for_ns: system.end_after.map(|time| time.0),
            ties: match ties {
                TiePolicy::Scripted(schedule) => format!("schedule {schedule}"),
                ties => format!("{ties:?}"),
            },
            marks: report.marks.clone(),
            processes: report.origins.clone(),
            uncontrolled: report.remarks.iter().cloned().collect(),
            platform: Platform::current(),
        }
    }

    /// Writes it to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut json = serde_json::to_string_pretty(self).expect("texts and numbers");
        json.push('\n');
        std::fs::write(path, json).map_err(|error| {
            let name = path.display();
            let text = format!("failed to write the certificate {name}: {error}; check the path");
            Error::new(ErrorKind::Io, text).at_path(path)
        })
    }

    /// Compares it with the certificate at `path`, possibly of another machine; returns the
    /// circumstances that differ, a line for each.
    ///
    /// # Errors
    /// The file is no certificate, or the results differ.
    pub(crate) fn compare(&self, path: &Path) -> Result<Vec<String>> {
        let name = path.display();
        let unusable = |kind, problem: &dyn std::fmt::Display| {
            let text = format!("failed to read the certificate {name}: {problem}");
            Error::new(kind, text).at_path(path)
        };
        let json = std::fs::read_to_string(path)
            .map_err(|error| unusable(ErrorKind::Io, &format!("{error}; check the path")))?;
        let ours = serde_json::to_value(self).expect("texts and numbers");
        let is_circumstance = |key: &str| CIRCUMSTANCES.contains(&key);
        let differences = |of: &dyn Fn(&str) -> bool| {
            let differences = certificate_differences(&ours, &json, of);
            differences.map_err(|error| unusable(error.kind(), &error))
        };
        let results = differences(&|key| !is_circumstance(key))?;
        let circumstances = differences(&|key| is_circumstance(key) && key != "marks")?;
        if results.is_empty() {
            return Ok(circumstances);
        }
        let mut text = format!("the run differs from the certificate {name}:");
        let mark = self.marks.iter().rev().find(|mark| json.contains(&format!("\"{mark}\"")));
        let equal = format!(
            "the logs of both runs (`--log`) are equal up to {}",
            mark.map_or("their beginning", |mark| mark)
        );
        for line in results.iter().chain([&equal]).chain(&circumstances) {
            text.push_str("\n  ");
            text.push_str(line);
        }
        Err(Error::new(ErrorKind::Diverged, text))
    }
}
