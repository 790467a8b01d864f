//! An open recording: its files and topics.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ringspin_executor::{Error, ErrorKind, Result, Time};

use crate::metadata::{Metadata, TopicCount};
use crate::read::{Expected, ReadOptions, Reader};
use crate::recording::{Topic, TopicId, absolute};
use crate::source::Source;

/// An open recording.
///
/// ```no_run
/// use ringspin_bag::{Bag, ReadOptions};
///
/// let bag = Bag::open("recordings/drive")?;
/// for record in bag.read(&ReadOptions::default())? {
///     let record = record?;
///     println!("{} {}", record.log_time, bag.topics()[record.topic.0].name);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Bag {
    path: PathBuf,
    sources: Arc<[Source]>,
    files: Vec<BagFile>,
    topics: Vec<Topic>,
    counts: Vec<u64>,
    /// The numbers of messages in the indexes and in `metadata.yaml`.
    expected: Vec<Expected>,
    warnings: Vec<String>,
    ros_distro: Option<String>,
    compresses_messages: bool,
    /// Whether parts that cannot be read are left out.
    is_damaged: bool,
}

/// A file of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BagFile {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The log time of its earliest message; `None` without messages.
    pub start: Option<Time>,
    /// The log time of its latest message; `None` without messages.
    pub end: Option<Time>,
    /// The number of its messages.
    pub message_count: u64,
}

impl Bag {
    /// Opens a rosbag2 directory, or one file: MCAP or SQLite3, also compressed with zstd.
    ///
    /// Reads the index only; a file without index is read whole.
    ///
    /// # Errors
    /// If `path` is no recording, or its index cannot be read. A file without its end is no error:
    /// it is read up to there, with a [warning](Self::warnings).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), false)
    }

    /// Opens a damaged recording without the parts that cannot be read: chunks of MCAP files, rows
    /// of SQLite3 files, whole files. [`warnings`](Self::warnings) name them.
    ///
    /// Reads all messages for that. Readers do not compare counts at their end.
    ///
    /// # Errors
    /// If `path` is no recording, or none of its files can be read.
    pub fn open_damaged(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), true)
    }

    fn open_with(path: &Path, is_damaged: bool) -> Result<Self> {
        let found = std::fs::metadata(path).map_err(|error| no_recording(path, error))?;
        let mut warnings = Vec::new();
        let mut metadata = None;
        let files = match found.is_dir() {
            false => vec![path.to_owned()],
            true => {
                metadata = match Metadata::read(path) {
                    Err(problem) if is_damaged => {
                        warnings.push(problem.to_string());
                        None
                    }
                    read => read?,
                };
                match &metadata {
                    Some(metadata) => metadata.files(path),
                    None => {
                        let files = files_by_name(path).map_err(|e| no_recording(path, e))?;
                        warnings
                            .push("metadata.yaml is missing: the files are read by name".into());
                        files
                    }
                }
            }
        };
        if files.is_empty() {
            return Err(no_recording(path, "it names no file"));
        }
        let mut sources = Vec::new();
        for path in files {
            let opened = Source::open(&path, is_damaged)
                .map_err(|problem| problem.of("failed to open recording", &path))
                .and_then(|opened| {
                    opened.ok_or_else(|| no_recording(&path, "it is neither MCAP nor SQLite3"))
                });
            let opened = match opened {
                Err(problem) if is_damaged => {
                    warnings.push(problem.to_string());
                    continue;
                }
                opened => opened?,
            };
            let name = path.display();
            warnings.extend(opened.warnings().iter().map(|problem| format!("{name}: {problem}")));
            sources.push(opened);
        }
        if sources.is_empty() {
            return Err(no_recording(path, warnings.join("; ")));
        }
        Ok(Self { is_damaged, ..Self::new(path, sources, metadata, warnings) })
    }

    fn new(
        path: &Path,
        mut sources: Vec<Source>,
        metadata: Option<Metadata>,
        mut warnings: Vec<String>,
    ) -> Self {
        let mut topics = Topics::default();
        let mut files = Vec::new();
        for source in &mut sources {
            let mut message_count = 0;
            for channel in source.channels(&mut warnings) {
                let topic = topics.merge(channel.topic);
                topics.counts[topic.0] += channel.count;
                message_count += channel.count;
                source.assign(channel.number, topic);
            }
            files.push(BagFile {
                path: source.path.clone(),
                size: source.size,
                start: source.times().map(|times| Time::from_nanos(times.first)),
                end: source.times().map(|times| Time::from_nanos(times.last)),
                message_count,
            });
        }
        let mut expected = Vec::new();
        if let Some(metadata) = &metadata {
            topics.describe(metadata, &mut warnings);
            topics.expect(metadata, &mut expected);
        }
        for (n, (topic, count)) in topics.topics.iter().zip(&topics.counts).enumerate() {
            let (name, topics) = (topic.name.clone(), vec![TopicId(n)]);
            expected.push(Expected { by: "the index", name, topics, count: *count });
        }
        Self {
            path: path.to_owned(),
            sources: sources.into(),
            files,
            topics: topics.topics,
            counts: topics.counts,
            expected,
            warnings,
            compresses_messages: metadata.as_ref().is_some_and(Metadata::compresses_messages),
            is_damaged: false,
            ros_distro: metadata.and_then(|metadata| metadata.ros_distro),
        }
    }

    /// The path under which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The topics. Channels of one name and type are one topic, in all files.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// The topic of this name; the first one if the recording has several types under it.
    pub fn topic(&self, name: &str) -> Option<TopicId> {
        let name = absolute(name);
        self.topics.iter().position(|topic| topic.name == name).map(TopicId)
    }

    /// The number of messages of each topic.
    pub fn message_counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of messages that each topic had when it was recorded, as far as an index or
    /// `metadata.yaml` says: larger than what can be read of a damaged recording.
    pub fn recorded_counts(&self) -> Vec<u64> {
        let recorded = |topic| {
            let counts = self.expected.iter().filter(|of| of.topics.contains(&topic));
            counts.map(|of| of.count).max().unwrap_or(0)
        };
        (0..self.topics.len()).map(TopicId).map(recorded).collect()
    }

    /// The number of messages.
    pub fn message_count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The log time of the earliest message; `None` without messages.
    pub fn start(&self) -> Option<Time> {
        self.files.iter().filter_map(|file| file.start).min()
    }

    /// The log time of the latest message; `None` without messages.
    pub fn end(&self) -> Option<Time> {
        self.files.iter().filter_map(|file| file.end).max()
    }

    /// The time from the earliest to the latest message.
    pub fn duration(&self) -> Duration {
        self.end().unwrap_or_default() - self.start().unwrap_or_default()
    }

    /// The format: `mcap` or `sqlite3`.
    pub fn storage(&self) -> &'static str {
        self.sources.first().map_or("", Source::storage)
    }

    /// The files.
    pub fn files(&self) -> &[BagFile] {
        &self.files
    }

    /// The ROS distribution of the recorder, if `metadata.yaml` has it.
    pub fn ros_distro(&self) -> Option<&str> {
        self.ros_distro.as_deref()
    }

    /// Problems that do not prevent reading, such as a missing end.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Reads messages, one at a time, in the order of their times.
    ///
    /// # Errors
    /// If a topic is asked for that does not exist, or a file cannot be opened.
    pub fn read(&self, options: &ReadOptions) -> Result<Reader> {
        if let Some(asked) = options.topics.iter().flatten().find(|t| t.0 >= self.topics.len()) {
            let text = format!(
                "failed to read recording: it has {} topics, but topic {} is asked for",
                self.topics.len(),
                asked.0
            );
            return Err(Error::new(ErrorKind::NotFound, text).at_path(&self.path));
        }
        let is_cdr = |topic: &Topic| topic.serialization_format == "cdr";
        let compressed = self.topics.iter().map(|t| self.compresses_messages || is_cdr(t));
        let compressed = compressed.collect();
        let expected = if self.is_damaged { Vec::new() } else { self.expected.clone() };
        let warnings = self.warnings.clone();
        Reader::new(Arc::clone(&self.sources), options, compressed, expected, warnings)
    }
}

/// Collects the topics of all files.
#[derive(Default)]
struct Topics {
    topics: Vec<Topic>,
    counts: Vec<u64>,
}

impl Topics {
    /// The topic of a channel, with the channel's publishers and the properties that were not known
    /// yet.
    fn merge(&mut self, mut channel: Topic) -> TopicId {
        channel.name = absolute(channel.name);
        let is_same = |topic: &Topic| {
            let hashes = topic.type_hash.as_ref().zip(channel.type_hash.as_ref());
            topic.name == channel.name
                && (topic.type_name == channel.type_name || channel.type_name.is_empty())
                && topic.serialization_format == channel.serialization_format
                && hashes.is_none_or(|(a, b)| a == b)
        };
        let Some(same) = self.topics.iter().position(is_same) else {
            self.topics.push(channel);
            self.counts.push(0);
            return TopicId(self.topics.len() - 1);
        };
        let topic = &mut self.topics[same];
        topic.type_hash = topic.type_hash.take().or(channel.type_hash);
        topic.definition = topic.definition.take().or(channel.definition);
        for qos in channel.offered_qos {
            if !topic.offered_qos.contains(&qos) {
                topic.offered_qos.push(qos);
            }
        }
        TopicId(same)
    }

    /// Adds hash and QoS from `metadata.yaml` where the files have none, and topics without
    /// messages.
    fn describe(&mut self, metadata: &Metadata, warnings: &mut Vec<String>) {
        for TopicCount { topic_metadata, .. } in &metadata.topics_with_message_count {
            let name = &topic_metadata.name;
            let offered_qos = topic_metadata.offered_qos().unwrap_or_else(|problem| {
                warnings.push(format!("the QoS of topic {name} cannot be read: {problem}"));
                Vec::new()
            });
            let hash = topic_metadata.type_description_hash.clone();
            let described = Topic {
                name: name.clone(),
                type_name: topic_metadata.type_name.clone(),
                type_hash: hash.filter(|hash| !hash.is_empty()),
                definition: None,
                serialization_format: topic_metadata.serialization_format.clone(),
                offered_qos: Vec::new(),
            };
            let topic = self.merge(described);
            let topic = &mut self.topics[topic.0];
            if topic.offered_qos.is_empty() {
                topic.offered_qos = offered_qos;
            }
        }
    }

    /// Adds the numbers of messages that `metadata.yaml` has, if it has any.
    fn expect(&self, metadata: &Metadata, expected: &mut Vec<Expected>) {
        let listed = &metadata.topics_with_message_count;
        let names: BTreeSet<_> = self.topics.iter().map(|topic| &topic.name).collect();
        for name in names.into_iter().filter(|_| !listed.is_empty()) {
            let counts = listed.iter().filter(|of| absolute(&*of.topic_metadata.name) == *name);
            let count = counts.map(|of| of.message_count).sum();
            let topics = (0..self.topics.len()).filter(|n| self.topics[*n].name == *name);
            let (name, topics) = (name.clone(), topics.map(TopicId).collect());
            expected.push(Expected { by: "metadata.yaml", name, topics, count });
        }
    }
}

/// The error of a path that is no recording.
fn no_recording(path: &Path, problem: impl std::fmt::Display) -> Error {
    let text = format!(
        "failed to open recording {}: {problem}; name a rosbag2 directory, or a file that ends in \
         .mcap, .db3, .mcap.zstd or .db3.zstd",
        path.display()
    );
    Error::new(ErrorKind::NotFound, text).at_path(path)
}

/// The recorded files of a directory without `metadata.yaml`, by name.
fn files_by_name(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".zstd").unwrap_or(&name);
        if (name.ends_with(".mcap") || name.ends_with(".db3")) && path.is_file() {
            files.push(path);
        }
    }
    // A split recording has numbers of any length: `drive_2` is before `drive_10`.
    files.sort_by_cached_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(files)
}
