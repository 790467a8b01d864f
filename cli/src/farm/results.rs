//! Results of runs, in a folder that many processes share, on one machine or over NFS.
//!
//! Each process appends lines of JSON to its own file: on NFS, appends of two machines to one file
//! may overlap. The machine is part of the file's name, and a lock keeps the processes of one
//! machine apart. The lock ends with its process; the next process continues the file, after it has
//! removed a last line that was cut off. All files are read once, at the start: a run that another
//! process does meanwhile is done twice, and [merging](super::merge) compares the two. A line is
//! written before the next run starts, which survives a kill. It is also synced, at once if the run
//! failed, else within a second, which survives the end of the machine.

use crate::{Ended, unusable};
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_simulation::{Ran, Report};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, btree_map};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// How long the results of runs that did not fail may be in memory only.
const UNSYNCED_MAX: Duration = Duration::from_secs(1);

/// All that decides about a run. Two runs with one key have one result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Key {
    /// The hash of the executable file.
    pub(crate) build: String,
    pub(crate) command: String,
    /// The job or recording, as the command line named it.
    pub(crate) name: String,
    /// The hash of the job file, the configuration of its simulation, and the options.
    pub(crate) job: String,
    /// The hash of the recording's content; empty without one.
    pub(crate) recording: String,
    /// `None` for the job's own seed; in an exploration for the default order.
    pub(crate) seed: Option<u64>,
}

/// The part of a report that is kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) digest: String,
    pub(crate) exit_code: Option<u8>,
    /// The number of callbacks, and those that were not called.
    pub(crate) callbacks: usize,
    pub(crate) uncalled: Vec<String>,
}

impl Seen {
    pub(crate) fn of(report: &Report) -> Self {
        let callbacks = report.statistics().callbacks.iter();
        let callbacks = callbacks.filter(|callback| !callback.callback.starts_with("input "));
        let uncalled = callbacks.clone().filter(|callback| callback.dispatched == 0);
        Self {
            digest: report.digest().to_string(),
            exit_code: report.exit_code(),
            callbacks: callbacks.count(),
            uncalled: uncalled.map(|c| format!("{} `{}`", c.node, c.callback)).collect(),
        }
    }
}

/// The result of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(flatten)]
    pub(crate) key: Key,
    /// When it was written, in milliseconds since 1970.
    pub(crate) time_ms: u64,
    pub(crate) failure: Option<String>,
    /// The failure without the values that differ from run to run.
    pub(crate) cause: Option<String>,
    /// The failure, shrunk, with the command that shows it again.
    pub(crate) counterexample: Option<String>,
    #[serde(flatten)]
    pub(crate) seen: Option<Seen>,
}

impl Record {
    /// The result of a run that went well.
    pub(crate) fn new(key: Key) -> Self {
        Self {
            key,
            time_ms: now_ms(),
            failure: None,
            cause: None,
            counterexample: None,
            seen: None,
        }
    }

    pub(crate) fn of_run(key: Key, ran: &Ran) -> Self {
        Self {
            failure: ran.error.as_ref().map(ToString::to_string),
            cause: ran.cause(),
            seen: ran.report.as_ref().map(Seen::of),
            ..Self::new(key)
        }
    }
}

/// The runs that a process was started for, with those of all other shards.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) build: String,
    pub(crate) command: String,
    pub(crate) name: String,
    pub(crate) job: String,
    /// The first seed and the one after the last.
    pub(crate) seeds: Option<(u64, u64)>,
    /// Whether seeds after one that failed are run.
    pub(crate) keep_going: bool,
    pub(crate) time_ms: u64,
}

impl Plan {
    pub(crate) fn new(key: &Key, seeds: Option<(u64, u64)>, keep_going: bool) -> Self {
        let Key { build, command, name, job, .. } = key.clone();
        Self { build, command, name, job, seeds, keep_going, time_ms: now_ms() }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Plan(Plan),
    Run(Record),
}

/// The results that are there and, with a folder, the file of this process in it.
pub(crate) struct Results(Mutex<Store>);

#[derive(Default)]
struct Store {
    /// The results of this build.
    known: BTreeMap<Key, Known>,
    own: Option<OwnFile>,
}

struct Known {
    failure: Option<String>,
    counterexample: Option<String>,
}

impl Results {
    /// The results of `folder`, which is created; without one they are in memory only. Notes on
    /// lines that cannot be read go to `notes`.
    pub(crate) fn open(folder: Option<&Path>, notes: &mut dyn Write) -> Result<Self, Ended> {
        let mut store = Store::default();
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder).map_err(|error| failed("create", folder, &error))?;
            // First this one: it removes a line that was cut off.
            store.own = Some(OwnFile::open(folder, notes)?);
            let build = build()?;
            for line in read(folder, notes)? {
                match line {
                    Line::Run(record) if record.key.build == build => store.add(record),
                    _ => {}
                }
            }
        }
        Ok(Self(Mutex::new(store)))
    }

    /// A writer of results to `folder` that does not look which are there.
    pub(crate) fn to_add(folder: &Path, notes: &mut dyn Write) -> Result<Self, Ended> {
        let own = Some(OwnFile::open(folder, notes)?);
        Ok(Self(Mutex::new(Store { own, ..Store::default() })))
    }

    fn store(&self) -> std::sync::MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The failure of the run with this key, if it failed, if it is there.
    pub(crate) fn failure(&self, key: &Key) -> Option<Option<String>> {
        self.store().known.get(key).map(|known| known.failure.clone())
    }

    /// The lowest of these seeds that failed, if it is wanted, with its failure and its
    /// counterexample; first of all comes the default order.
    pub(crate) fn lowest(
        &self,
        key: &Key,
        seeds: &Range<u64>,
        wanted: impl Fn(Option<u64>) -> bool,
    ) -> Option<(Option<u64>, String, Option<String>)> {
        let store = self.store();
        let default = store.known.get_key_value(&Key { seed: None, ..key.clone() });
        default.into_iter().chain(store.of_seeds(key, seeds)).find_map(|(key, known)| {
            let failure = known.failure.clone().filter(|_| wanted(key.seed))?;
            Some((key.seed, failure, known.counterexample.clone()))
        })
    }

    /// How many of these seeds have a result.
    pub(crate) fn count(&self, key: &Key, seeds: &Range<u64>) -> usize {
        self.store().of_seeds(key, seeds).count()
    }

    pub(crate) fn plan(&self, plan: Plan) -> Result<()> {
        self.store().append(&Line::Plan(plan), true)
    }

    pub(crate) fn add(&self, record: Record) -> Result<()> {
        let mut store = self.store();
        store.append(&Line::Run(record.clone()), record.failure.is_some())?;
        store.add(record);
        Ok(())
    }

    /// Syncs the file.
    pub(crate) fn finish(self) -> Result<()> {
        let store = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        store.own.map_or(Ok(()), |own| own.file.sync_data().map_err(|e| not_written(&own, &e)))
    }
}

impl Store {
    fn of_seeds(&self, key: &Key, seeds: &Range<u64>) -> btree_map::Range<'_, Key, Known> {
        let at = |seed| Key { seed: Some(seed), ..key.clone() };
        self.known.range(at(seeds.start)..at(seeds.end))
    }

    fn add(&mut self, record: Record) {
        let Record { key, failure, counterexample, .. } = record;
        let known = self.known.entry(key).or_insert(Known { failure: None, counterexample: None });
        known.failure = failure.or(known.failure.take());
        known.counterexample = counterexample.or(known.counterexample.take());
    }

    fn append(&mut self, line: &Line, sync: bool) -> Result<()> {
        let Some(own) = &mut self.own else { return Ok(()) };
        let mut text = serde_json::to_string(line).expect("texts and numbers can be written");
        text.push('\n');
        own.write(&text, sync).map_err(|error| not_written(own, &error))
    }
}

fn not_written(own: &OwnFile, error: &io::Error) -> Error {
    let path = own.path.display();
    let text = format!("failed to write `{path}`: {error}; make room, and run the same again");
    Error::new(ErrorKind::Io, text).at_path(&own.path)
}

/// The file to which this process alone appends.
struct OwnFile {
    file: File,
    path: PathBuf,
    synced: Instant,
}

impl OwnFile {
    fn open(folder: &Path, notes: &mut dyn Write) -> Result<Self, Ended> {
        let host = gethostname::gethostname();
        let host = host.to_string_lossy();
        for number in 1u32.. {
            let path = folder.join(format!("{host}-{number}.jsonl"));
            let options = OpenOptions::new().read(true).append(true).create(true).clone();
            let mut file = options.open(&path).map_err(|error| failed("open", &path, &error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(failed("lock", &path, &error)),
            }
            heal(&mut file, &path, notes).map_err(|error| failed("mend", &path, &error))?;
            return Ok(Self { file, path, synced: Instant::now() });
        }
        unreachable!("there are fewer processes than numbers")
    }

    fn write(&mut self, line: &str, sync: bool) -> io::Result<()> {
        self.file.write_all(line.as_bytes())?;
        if sync || self.synced.elapsed() > UNSYNCED_MAX {
            self.file.sync_data()?;
            self.synced = Instant::now();
        }
        Ok(())
    }
}

/// Removes a last line without an end, of a process that was killed.
fn heal(file: &mut File, path: &Path, notes: &mut dyn Write) -> io::Result<()> {
    let (mut content, mut last) = (Vec::new(), [b'\n']);
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == [b'\n'] {
        return Ok(());
    }
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut content)?;
    let whole = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    file.set_len(whole as u64)?;
    writeln!(notes, "note: the last line of `{}` was cut off and is removed", path.display())
}

/// All lines of a folder and the folders in it. Those that cannot be read are noted: their runs are
/// done again.
pub(crate) fn read(folder: &Path, notes: &mut dyn Write) -> Result<Vec<Line>, Ended> {
    let mut paths = Vec::new();
    let found = std::fs::read_dir(folder).and_then(|_| add_paths(folder, &mut paths));
    found.map_err(|error| failed("read", folder, &error))?;
    paths.retain(|path| path.extension() == Some("jsonl".as_ref()));
    let mut lines = Vec::new();
    for path in paths {
        let content = std::fs::read(&path).map_err(|error| failed("read", &path, &error))?;
        for (number, line) in content.split_inclusive(|byte| *byte == b'\n').enumerate() {
            match serde_json::from_slice(line) {
                Ok(line_read) if line.ends_with(b"\n") => lines.push(line_read),
                _ => {
                    let (path, number) = (path.display(), number + 1);
                    writeln!(notes, "note: line {number} of `{path}` is not whole and is skipped")?;
                }
            }
        }
    }
    Ok(lines)
}

fn failed(to: &str, path: &Path, error: &io::Error) -> Ended {
    let path = path.display();
    unusable(format!("failed to {to} `{path}`: {error}; `--results` is a folder for results"))
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The hash of the executable file: another build has other results. Libraries that are linked
/// when it starts are not part of it.
pub(crate) fn build() -> Result<String, Ended> {
    static BUILD: OnceLock<String> = OnceLock::new();
    if let Some(build) = BUILD.get() {
        return Ok(build.clone());
    }
    let path = std::env::current_exe().map_err(unusable)?;
    let build = hash_of_files(&path).map_err(|error| failed("read", &path, &error))?;
    Ok(BUILD.get_or_init(|| build).clone())
}

/// The hash of a file, or of all files of a folder with their names.
pub(crate) fn hash_of_files(path: &Path) -> io::Result<String> {
    let (mut hasher, mut paths) = (Xxh3::new(), Vec::new());
    add_paths(path, &mut paths)?;
    let mut buffer = vec![0; 1 << 20];
    for file in paths {
        hasher.update(file.strip_prefix(path).unwrap_or(&file).as_os_str().as_encoded_bytes());
        let mut file = File::open(file)?;
        while let length @ 1.. = file.read(&mut buffer)? {
            hasher.update(&buffer[..length]);
        }
    }
    Ok(format!("{:032x}", hasher.digest128()))
}

pub(crate) fn hash_of_text(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

/// Adds the file, or all files of the folder and the folders in it, in order.
fn add_paths(path: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        paths.push(path.into());
        return Ok(());
    }
    let entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
    let mut entries: Vec<_> = entries.iter().map(std::fs::DirEntry::path).collect();
    entries.sort();
    entries.iter().try_for_each(|path| add_paths(path, paths))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seed: u64, failure: Option<&str>) -> Record {
        let text = String::from;
        Record {
            key: Key {
                build: build().unwrap(),
                command: text("run"),
                name: text("job.toml"),
                job: text("j"),
                recording: text(""),
                seed: Some(seed),
            },
            time_ms: 0,
            failure: failure.map(text),
            cause: None,
            counterexample: None,
            seen: None,
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_removed_and_the_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut notes = Vec::new();
        let results = Results::open(Some(folder.path()), &mut notes).unwrap();
        results.add(record(1, None)).unwrap();
        results.add(record(2, Some("late"))).unwrap();
        let path = results.store().own.as_ref().unwrap().path.clone();
        results.finish().unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in 1..40 {
            std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            let mut notes = Vec::new();
            assert_eq!(read(folder.path(), &mut notes).unwrap().len(), 1, "before it is mended");
            assert!(String::from_utf8(notes).unwrap().contains("line 2 of "));
            let mut notes = Vec::new();
            let results = Results::open(Some(folder.path()), &mut notes).unwrap();
            assert!(String::from_utf8(notes).unwrap().contains("was cut off and is removed"));
            assert_eq!(results.failure(&record(1, None).key), Some(None));
            assert_eq!(results.failure(&record(2, None).key), None);
            results.add(record(2, Some("late"))).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{cut}");
        }
    }

    #[test]
    fn two_writers_have_two_files_and_the_next_one_goes_on_with_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Results::open(Some(folder.path()), &mut io::sink()).unwrap();
        let (one, two) = (open(), open());
        one.add(record(1, None)).unwrap();
        two.add(record(2, None)).unwrap();
        drop(one);
        let three = open();
        assert_eq!(three.failure(&record(1, None).key), Some(None));
        assert_eq!(three.failure(&record(2, None).key), Some(None));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn the_lowest_seed_that_failed_is_found_and_keeps_its_counterexample() {
        let results = Results::open(None, &mut io::sink()).unwrap();
        for (seed, failure) in [(9, Some("a")), (3, None), (5, Some("b")), (7, Some("c"))] {
            results.add(record(seed, failure)).unwrap();
        }
        let shrunk = Record { counterexample: Some("few".into()), ..record(5, Some("b")) };
        results.add(shrunk).unwrap();
        results.add(record(5, Some("b"))).unwrap();
        let key = record(0, None).key;
        let lowest = |seeds, wanted: fn(Option<u64>) -> bool| results.lowest(&key, &seeds, wanted);
        assert_eq!(lowest(0..10, |_| true), Some((Some(5), "b".into(), Some("few".into()))));
        assert_eq!(lowest(6..9, |_| true), Some((Some(7), "c".into(), None)));
        assert_eq!(lowest(0..10, |seed| seed > Some(7)), Some((Some(9), "a".into(), None)));
        assert_eq!(lowest(0..5, |_| true), None);
        assert_eq!(results.count(&key, &(0..9)), 3);
        let other = Key { job: "k".into(), ..key.clone() };
        assert_eq!(results.lowest(&other, &(0..10), |_| true), None);
    }
}
