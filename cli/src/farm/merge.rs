//! Merging: the findings of all shards, which do not depend on their number.
//!
//! Every shard writes the plan of all shards, so runs of a shard that never started are reported as
//! missing. The newest plan of a job names the build and the job file that count; results of others
//! are only counted. An exploration that ends at its first failure may have run some higher seeds,
//! depending on the speed of shards and threads: these are left out. If a run was done twice,
//! possibly on two machines, its digests are compared.

use super::results::{Line, Plan, Record, read};
use super::{junit, page};
use crate::arguments::Merge;
use crate::{Ended, FAILED, Invocation, UNUSABLE, unusable};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

/// The findings of one job or recording.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) command: String,
    pub(super) name: String,
    /// Of each seed, in order; `None` is the default order, or the job's own seed.
    pub(super) runs: BTreeMap<Option<u64>, Record>,
    /// The number of runs that were planned and have no result, and the first of them.
    pub(super) missing: u64,
    pub(super) first_missing: Option<u64>,
    /// Seeds with several digests.
    pub(super) unequal: Vec<Option<u64>>,
}

/// Runs that failed for the same reason.
pub(super) struct Cause<'f> {
    pub(super) text: &'f str,
    pub(super) runs: usize,
    pub(super) lowest: &'f Record,
}

impl Findings {
    /// The runs that failed, by cause, that with the lowest seed first.
    pub(super) fn causes(&self) -> Vec<Cause<'_>> {
        let mut causes: Vec<Cause<'_>> = Vec::new();
        for record in self.runs.values() {
            let Some(failure) = &record.failure else { continue };
            let first_line = failure.lines().next().unwrap_or_default();
            let text = record.cause.as_deref().unwrap_or(first_line);
            match causes.iter_mut().find(|cause| cause.text == text) {
                Some(cause) => cause.runs += 1,
                None => causes.push(Cause { text, runs: 1, lowest: record }),
            }
        }
        causes
    }

    pub(super) fn failed(&self) -> usize {
        self.runs.values().filter(|record| record.failure.is_some()).count()
    }

    /// How many runs differ from all others.
    pub(super) fn digests(&self) -> usize {
        let seen = self.runs.values().filter_map(|record| record.seen.as_ref());
        seen.map(|seen| &seen.digest).collect::<BTreeSet<_>>().len()
    }

    /// The number of callbacks, and those that no run called.
    pub(super) fn uncalled(&self) -> (usize, Vec<&String>) {
        let mut seen = self.runs.values().filter_map(|record| record.seen.as_ref());
        let Some(first) = seen.next() else { return (0, Vec::new()) };
        let (mut callbacks, mut uncalled) = (first.callbacks, first.uncalled.iter().collect());
        for seen in seen {
            callbacks = callbacks.max(seen.callbacks);
            Vec::retain(&mut uncalled, |callback| seen.uncalled.contains(callback));
        }
        (callbacks, uncalled)
    }

    fn exit_codes(&self) -> BTreeMap<u8, usize> {
        let mut codes = BTreeMap::new();
        let seen = self.runs.values().filter_map(|record| record.seen.as_ref());
        for code in seen.filter_map(|seen| seen.exit_code) {
            *codes.entry(code).or_default() += 1;
        }
        codes
    }

    fn of(plans: &[Plan], records: &[Record]) -> Self {
        let newest = plans.iter().max_by_key(|plan| plan.time_ms).expect("a group has a plan");
        let is_newest = |build: &str, job: &str| build == newest.build && job == newest.job;
        let plans = || plans.iter().filter(|plan| is_newest(&plan.build, &plan.job));
        let mut records: Vec<_> =
            records.iter().filter(|record| is_newest(&record.key.build, &record.key.job)).collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.time_ms));
        let Plan { command, name, .. } = newest.clone();
        let mut findings = Self { command, name, ..Self::default() };
        for record in records {
            findings.add(record);
        }
        let failed = findings.runs.iter().find(|(_, record)| record.failure.is_some());
        let lowest = failed.map(|(seed, _)| *seed);
        let mut end = None;
        if let Some(lowest) = lowest.filter(|_| plans().all(|plan| !plan.keep_going)) {
            findings.runs.retain(|seed, _| *seed <= lowest);
            findings.unequal.retain(|seed| *seed <= lowest);
            end = Some(lowest.map_or(0, |seed| seed + 1));
        }
        let ranges = plans().filter_map(|plan| plan.seeds);
        findings.find_missing(ranges.collect(), end);
        findings
    }

    /// Adds an older record than those that are there.
    fn add(&mut self, record: &Record) {
        let Some(newer) = self.runs.get_mut(&record.key.seed) else {
            self.runs.insert(record.key.seed, record.clone());
            return;
        };
        if newer.key.recording != record.key.recording {
            return;
        }
        if let (Some(one), Some(other)) = (&newer.seen, &record.seen)
            && one.digest != other.digest
        {
            self.unequal.push(record.key.seed);
        }
        newer.seen = newer.seen.take().or(record.seen.clone());
        newer.failure = newer.failure.take().or(record.failure.clone());
        newer.cause = newer.cause.take().or(record.cause.clone());
        newer.counterexample = newer.counterexample.take().or(record.counterexample.clone());
    }

    /// Counts the seeds in the ranges, up to `end`, that have no result.
    fn find_missing(&mut self, mut ranges: Vec<(u64, u64)>, end: Option<u64>) {
        if ranges.is_empty() {
            self.missing = u64::from(self.runs.is_empty());
            return;
        }
        ranges.sort_unstable();
        let mut next = 0;
        for (from, to) in ranges {
            let (from, to) = (from.max(next), to.min(end.unwrap_or(to)));
            let mut expected = from;
            if from >= to {
                continue;
            }
            for seed in self.runs.range(Some(from)..Some(to)).filter_map(|(seed, _)| *seed) {
                if seed > expected {
                    self.first_missing.get_or_insert(expected);
                    self.missing += seed - expected;
                }
                expected = seed + 1;
            }
            if to > expected {
                self.first_missing.get_or_insert(expected);
                self.missing += to - expected;
            }
            next = to;
        }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, name, runs, .. } = self;
        let (digests, failed) = (self.digests(), self.failed());
        write!(f, "{command} {name}: {} runs, {digests} digests, {failed} failed", runs.len())?;
        for Cause { text, runs, lowest } in self.causes() {
            let seed = match lowest.key.seed {
                Some(seed) => format!(", lowest seed {seed}"),
                None => String::new(),
            };
            write!(f, "\n  {runs} failed{seed}: {text}")?;
        }
        for seed in &self.unequal {
            let seed = seed.map_or("its own seed".into(), |seed| format!("seed {seed}"));
            write!(
                f,
                "\n  two runs with {seed} have two digests; look for the reason with `verify`"
            )?;
        }
        for (code, runs) in self.exit_codes() {
            write!(f, "\n  a node ended {runs} of them with exit code {code}")?;
        }
        let (callbacks, uncalled) = self.uncalled();
        write!(f, "\n  {} of {callbacks} callbacks were called", callbacks - uncalled.len())?;
        uncalled.iter().try_for_each(|callback| write!(f, "\n  not called: {callback}"))?;
        if self.missing > 0 {
            write!(f, "\n  {} planned runs have no result", self.missing)?;
            let first = self.first_missing.map(|seed| format!(", the first with seed {seed}"));
            write!(f, "{}; run their shards again", first.unwrap_or_default())?;
        }
        let failed = self.runs.values().find(|record| record.failure.is_some());
        for line in failed.iter().flat_map(|record| shown(record)).flat_map(str::lines) {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}

/// The failure in the form that says most.
pub(super) fn shown(record: &Record) -> Option<&str> {
    record.counterexample.as_deref().or(record.failure.as_deref())
}

/// The findings of each job and recording, and the number of results of older ones.
fn findings(lines: Vec<Line>) -> (Vec<Findings>, usize) {
    let mut groups: BTreeMap<(String, String), (Vec<Plan>, Vec<Record>)> = BTreeMap::new();
    for line in lines {
        match line {
            Line::Plan(plan) => {
                let group = groups.entry((plan.command.clone(), plan.name.clone()));
                group.or_default().0.push(plan);
            }
            Line::Run(record) => {
                let group = groups.entry((record.key.command.clone(), record.key.name.clone()));
                group.or_default().1.push(record);
            }
        }
    }
    let mut left_out = 0;
    let mut found = Vec::new();
    for (plans, records) in groups.into_values() {
        let Some(newest) = plans.iter().max_by_key(|plan| plan.time_ms) else {
            left_out += records.len();
            continue;
        };
        let is_old =
            |record: &&Record| (&record.key.build, &record.key.job) != (&newest.build, &newest.job);
        left_out += records.iter().filter(is_old).count();
        found.push(Findings::of(&plans, &records));
    }
    (found, left_out)
}

impl Invocation<'_> {
    pub(crate) fn merge(&mut self, merge: &Merge) -> Result<u8, Ended> {
        let lines = read(&merge.folder, self.err)?;
        let (findings, left_out) = findings(lines);
        if findings.is_empty() {
            let folder = merge.folder.display();
            return Err(unusable(format!(
                "`{folder}` has no results; write some with `--results {folder}`"
            )));
        }
        let mut text = String::new();
        for found in &findings {
            writeln!(text, "{found}").expect("a string takes all");
        }
        if left_out > 0 {
            writeln!(
                text,
                "{left_out} results of other builds or of changed jobs are left out; use one build \
                 for all shards"
            )
            .expect("a string takes all");
        }
        self.out.write_all(text.as_bytes())?;
        if let Some(path) = &merge.junit {
            self.write(path, |out| out.write_all(junit::report(&findings).as_bytes()))?;
        }
        if let Some(path) = &merge.page {
            self.write(path, |out| out.write_all(page::page(&findings, &text).as_bytes()))?;
        }
        let has_failed = |found: &Findings| found.failed() > 0 || !found.unequal.is_empty();
        Ok(match findings.iter().any(has_failed) {
            true => FAILED,
            false if findings.iter().any(|found| found.missing > 0) => UNUSABLE,
            false => 0,
        })
    }
}
