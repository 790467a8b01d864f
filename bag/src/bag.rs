//! An open recording: its files and topics.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ringspin_executor::Time;

use crate::error::{OpenError, ReadError};
use crate::metadata::{Metadata, TopicCount};
use crate::read::{ReadOptions, Reader};
use crate::recording::{Topic, TopicId};
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
pub struct Bag {
    path: PathBuf,
    sources: Arc<[Source]>,
    files: Vec<BagFile>,
    topics: Vec<Topic>,
    counts: Vec<u64>,
    warnings: Vec<String>,
    ros_distro: Option<String>,
    compresses_messages: bool,
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
    /// If `path` is no recording, or one whose index cannot be read. A file whose end is missing
    /// is no error: it is read up to there, with a [warning](Self::warnings).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let not_found = |problem: String| OpenError::NotARecording { path: path.into(), problem };
        let found = std::fs::metadata(path).map_err(|error| not_found(error.to_string()))?;
        let mut warnings = Vec::new();
        let mut metadata = None;
        let files = match found.is_dir() {
            false => vec![path.to_owned()],
            true => {
                metadata = Metadata::read(path)?;
                match &metadata {
                    Some(metadata) => metadata.files(path),
                    None => {
                        let files = files_by_name(path).map_err(|e| not_found(e.to_string()))?;
                        warnings
                            .push("metadata.yaml is missing: the files are read by name".into());
                        files
                    }
                }
            }
        };
        if files.is_empty() {
            return Err(not_found("it names no file".into()));
        }
        let mut sources = Vec::new();
        for path in files {
            let opened = Source::open(&path);
            let opened = opened
                .map_err(|problem| OpenError::File { path: path.clone(), problem })?
                .ok_or_else(|| OpenError::NotARecording {
                    path: path.clone(),
                    problem: "it is neither MCAP nor SQLite3".into(),
                })?;
            let name = path.display();
            warnings.extend(opened.warnings().iter().map(|problem| format!("{name}: {problem}")));
            sources.push(opened);
        }
        Ok(Self::new(path, sources, metadata, warnings))
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
        if let Some(metadata) = &metadata {
            topics.describe(metadata, &mut warnings);
        }
        Self {
            path: path.to_owned(),
            sources: sources.into(),
            files,
            topics: topics.topics,
            counts: topics.counts,
            warnings,
            compresses_messages: metadata.as_ref().is_some_and(Metadata::compresses_messages),
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
        self.topics.iter().position(|topic| topic.name == name).map(TopicId)
    }

    /// The number of messages of each topic.
    pub fn message_counts(&self) -> &[u64] {
        &self.counts
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
    pub fn read(&self, options: &ReadOptions) -> Result<Reader, ReadError> {
        if let Some(asked) = options.topics.iter().flatten().find(|t| t.0 >= self.topics.len()) {
            return Err(ReadError::UnknownTopic { asked: asked.0, count: self.topics.len() });
        }
        let is_cdr = |topic: &Topic| topic.serialization_format == "cdr";
        let compressed = self.topics.iter().map(|t| self.compresses_messages || is_cdr(t));
        let compressed = compressed.collect();
        Reader::new(Arc::clone(&self.sources), options, compressed, self.warnings.clone())
    }
}

/// Collects the topics of all files.
#[derive(Default)]
struct Topics {
    topics: Vec<Topic>,
    counts: Vec<u64>,
}

impl Topics {
    /// The topic of a channel, with the channel's publishers and whatever was not known yet.
    fn merge(&mut self, channel: Topic) -> TopicId {
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
