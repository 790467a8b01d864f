//! The items of a list, one after the other: those of this shard without a result.
//!
//! The program is started again for each item, with the same arguments and the item: the files of a
//! pattern may have changed meanwhile. In a process that does something else besides, the items are
//! done in that process.

use super::results::{Key, Plan, Record, Results, build};
use crate::arguments::Farm;
use crate::{Ended, FAILED, Invocation, UNUSABLE, unusable};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// A job or recording with a seed, which is done on its own.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Item {
    /// The job or recording, as the command line named it.
    pub(crate) name: String,
    /// `None` for the job's own.
    pub(crate) seed: Option<u64>,
}

/// The items of a command.
pub(crate) struct List<'l> {
    pub(crate) command: &'static str,
    pub(crate) farm: &'l Farm,
    pub(crate) names: Vec<String>,
    pub(crate) seeds: Option<Range<u64>>,
    /// The option that is for a single item, if one is set.
    pub(crate) single: Option<&'static str>,
    /// The hash of the job with this name.
    pub(crate) job: &'l dyn Fn(&Invocation<'_>, &str) -> Result<String, Ended>,
    /// The hash of the recording with this name.
    pub(crate) recording: &'l dyn Fn(&str) -> Result<String, Ended>,
}

/// The item that a process was started for.
#[derive(Serialize, Deserialize)]
struct Chosen<'c> {
    item: Cow<'c, Item>,
    /// The key of its result, if that is kept.
    key: Option<Key>,
}

type One<'o> = &'o mut dyn FnMut(&mut Invocation<'_>, &Item) -> Result<u8, Ended>;

impl List<'_> {
    fn seeds_of_each(&self) -> u64 {
        self.seeds.as_ref().map_or(1, |seeds| seeds.end - seeds.start)
    }

    fn count(&self) -> u64 {
        (self.names.len() as u64).saturating_mul(self.seeds_of_each())
    }

    fn item(&self, number: u64) -> Item {
        let each = self.seeds_of_each();
        Item {
            name: self.names[(number / each) as usize].clone(),
            seed: self.seeds.as_ref().map(|seeds| seeds.start + number % each),
        }
    }

    /// Writes the plan, which is that of all shards.
    fn plan(&self, invocation: &Invocation<'_>, results: &Results) -> Result<(), Ended> {
        let seeds = self.seeds.as_ref().map(|seeds| (seeds.start, seeds.end));
        for name in &self.names {
            let key = Key { recording: String::new(), ..self.key(invocation, name, false)? };
            results.plan(Plan::new(&key, seeds, true)).map_err(unusable)?;
        }
        Ok(())
    }

    /// The key of the results with this name, without a seed.
    fn key(&self, invocation: &Invocation<'_>, name: &str, whole: bool) -> Result<Key, Ended> {
        Ok(Key {
            build: build()?,
            command: self.command.into(),
            name: name.into(),
            job: (self.job)(invocation, name)?,
            recording: if whole { (self.recording)(name)? } else { String::new() },
            seed: None,
        })
    }
}

impl Invocation<'_> {
    /// Does the items of this shard by `one`; returns the greatest exit code.
    pub(crate) fn each(&mut self, list: &List<'_>, one: One<'_>) -> Result<u8, Ended> {
        let (farm, count) = (list.farm, list.count());
        if let Some(chosen) = &farm.item {
            let chosen: Chosen = serde_json::from_str(chosen).map_err(unusable)?;
            let code = one(self, &chosen.item);
            if let Some((key, folder)) = chosen.key.zip(farm.results.as_deref()) {
                let results = Results::to_add(folder, self.err)?;
                self.keep(&results, key, &code)?;
            }
            return code;
        }
        if count == 1 && farm.shard.is_none() && farm.results.is_none() {
            return one(self, &list.item(0));
        }
        if let Some(option) = list.single {
            return Err(unusable(format!("`{option}` is for a single job; leave it out")));
        }
        let results = Results::open(farm.results.as_deref(), self.err)?;
        let (shard, keeps) = (farm.shard.unwrap_or_default(), farm.results.is_some());
        if keeps {
            list.plan(self, &results)?;
        }
        let (mut worst, mut mine, mut there) = (0, 0u64, 0u64);
        let mut of_name: Option<(String, Key)> = None;
        for number in (0..count).filter(|number| shard.has(*number)) {
            mine += 1;
            let item = list.item(number);
            if keeps && of_name.as_ref().is_none_or(|(name, _)| *name != item.name) {
                of_name = Some((item.name.clone(), list.key(self, &item.name, true)?));
            }
            let key = of_name.as_ref().map(|(_, key)| Key { seed: item.seed, ..key.clone() });
            let code = match key.as_ref().and_then(|key| results.failure(key)) {
                Some(failure) => {
                    there += 1;
                    failure.map_or(Ok(0), |failure| Err(Ended::Failed(failure)))
                }
                None if self.alone => self.start(&item, key, &results),
                None => {
                    let code = one(self, &item);
                    key.map_or(Ok(()), |key| self.keep(&results, key, &code))?;
                    code
                }
            };
            worst = worst.max(self.say(code)?);
        }
        writeln!(self.out, "{mine} of {count} items, {there} of them were there already")?;
        results.finish().map_err(unusable)?;
        Ok(worst)
    }

    /// Prints the error of one item of several; returns its exit code.
    pub(super) fn say(&mut self, code: Result<u8, Ended>) -> Result<u8, Ended> {
        let (code, said) = match code {
            Ok(code) => return Ok(code),
            Err(Ended::Failed(said)) => (FAILED, said),
            Err(Ended::Unusable(said)) => (UNUSABLE, said),
            Err(output) => return Err(output),
        };
        writeln!(self.err, "{}", said.trim_end())?;
        Ok(code)
    }

    /// Keeps the result of an item. One that could not be used is none: it may depend on the
    /// machine.
    fn keep(&mut self, results: &Results, key: Key, code: &Result<u8, Ended>) -> Result<(), Ended> {
        let seen = self.seen.take();
        let failure = match code {
            Ok(0) => None,
            Ok(code) => Some(format!("a node ended it with exit code {code}")),
            Err(Ended::Failed(said)) => Some(said.clone()),
            Err(_) => return Ok(()),
        };
        let record = Record { failure, seen, ..Record::new(key) };
        results.add(record).map_err(unusable)
    }

    /// Starts a process for an item. It keeps the result itself unless it crashes.
    fn start(&mut self, item: &Item, key: Option<Key>, results: &Results) -> Result<u8, Ended> {
        let chosen = Chosen { item: Cow::Borrowed(item), key: key.clone() };
        let chosen = serde_json::to_string(&chosen);
        let chosen = chosen.expect("texts and numbers can be written");
        let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
        // ROS arguments come last.
        let ros = arguments.iter().position(|argument| argument == "--ros-args");
        let at = ros.unwrap_or(arguments.len());
        arguments.splice(at..at, [OsString::from("--item"), OsString::from(chosen)]);
        self.out.flush()?;
        let program = std::env::current_exe()?;
        let status = Command::new(program).args(arguments).status()?;
        let Some((code, said)) = crash(status) else {
            return Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED));
        };
        let seed = item.seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
        let failure = format!("{}{seed}: {said}", item.name);
        writeln!(self.err, "{failure}")?;
        // A process that was killed may have done nothing wrong.
        if let (Some(key), false) = (key, said.ends_with("killed")) {
            let record = Record { failure: Some(failure), ..Record::new(key) };
            results.add(record).map_err(unusable)?;
        }
        Ok(code)
    }
}

/// The exit code and the description of a process that did not end by itself.
fn crash(status: ExitStatus) -> Option<(u8, String)> {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let crashes = [libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV];
        let said = match crashes.contains(&signal) {
            true => format!("its process crashed ({status})"),
            false => "its process was killed".into(),
        };
        return Some((128u8.saturating_add(signal as u8), said));
    }
    (status.code() == Some(124)).then(|| (124, "the watchdog ended its process".into()))
}

/// The files that the command line names, each once, and in the same order on every machine.
pub(crate) fn listed(names: &[String]) -> Result<Vec<String>, Ended> {
    let mut names = expand(names)?;
    names.sort();
    names.dedup();
    Ok(names)
}

/// The files that the command line names, with those of patterns in the place of these.
pub(crate) fn expand(names: &[String]) -> Result<Vec<String>, Ended> {
    let mut expanded = Vec::new();
    for name in names {
        if Path::new(name).exists() || !name.contains(['*', '?', '[']) {
            expanded.push(name.clone());
            continue;
        }
        let wrong = |error: &dyn std::fmt::Display| {
            unusable(format!("failed to find the files of `{name}`: {error}; check the pattern"))
        };
        let before = expanded.len();
        for path in glob::glob(name).map_err(|error| wrong(&error))? {
            let path = path.map_err(|error| wrong(&error))?;
            expanded.push(path.to_string_lossy().into_owned());
        }
        if expanded.len() == before {
            return Err(wrong(&"none matches"));
        }
    }
    Ok(expanded)
}
