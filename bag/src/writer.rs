//! Writing recordings that rosbag2, Foxglove and the Python readers open.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcap::McapError;
use mcap::records::MessageHeader;
use ringspin_executor::{Error, ErrorKind, Result, Time};

use crate::limits::{DESCRIPTION_BYTES_MAX, MESSAGE_BYTES_MAX};
use crate::mcap_file::Range;
use crate::metadata::{
    FileInformation, METADATA_FILE, Metadata, Nanoseconds, SinceEpoch, TopicCount, TopicMetadata,
};
use crate::qos;
use crate::recording::{Topic, TopicId};

/// The version of `metadata.yaml`: that of ROS 2 Jazzy.
const METADATA_VERSION: u32 = 9;

/// The bytes of messages after which a chunk ends, as in rosbag2.
const CHUNK_BYTES: u64 = 768 << 10;

/// A compression of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Zstandard: smaller.
    Zstd,
    /// LZ4: faster.
    Lz4,
}

/// The form of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// The compression of chunks; none by default, as in rosbag2.
    pub compression: Option<Compression>,
}

/// Writes a recording: a rosbag2 directory of MCAP files, or one file alone.
///
/// Equal calls give equal bytes. Memory is that of one chunk and its index. Without
/// [`finish`](Self::finish), a directory has no `metadata.yaml`.
///
/// ```
/// use ringspin_bag::{Bag, Topic, WriteOptions, Writer};
/// use ringspin_executor::{QoS, Time};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("drive");
/// let mut writer = Writer::create(&path, WriteOptions::default())?;
/// let topic = writer.add_topic(&Topic {
///     name: "/chatter".into(),
///     type_name: "std_msgs/msg/String".into(),
///     type_hash: None,
///     definition: None,
///     serialization_format: "cdr".into(),
///     offered_qos: vec![QoS::default()],
/// })?;
/// let now = Time::from_secs(1);
/// writer.write(topic, now, now, 0, b"\0\x01\0\0\x03\0\0\0hi\0")?;
/// writer.finish()?;
/// assert_eq!(Bag::open(&path)?.message_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer {
    /// The rosbag2 directory and the name of its files; `None` for a single file.
    directory: Option<(PathBuf, String)>,
    options: WriteOptions,
    topics: Vec<Topic>,
    part: Part,
    /// The files before this one.
    complete: Vec<FileSummary>,
    /// The bytes of messages in a file, and the span of their log times.
    file_bytes: u64,
    file_span: u64,
    /// The span of a chunk's log times, and the start of this one.
    flush_every: Option<(u64, u64)>,
}

/// The file that is being written.
struct Part {
    path: PathBuf,
    mcap: mcap::Writer<BufWriter<File>>,
    /// The channel of each topic.
    channels: Vec<u16>,
    summary: FileSummary,
}

/// A file as `metadata.yaml` describes it.
struct FileSummary {
    name: String,
    /// The number of messages of each topic.
    counts: Vec<u64>,
    bytes: u64,
    times: Option<Range>,
}

impl Writer {
    /// Creates a recording at `path`: a file if the name ends in `.mcap`, else a directory.
    ///
    /// # Errors
    /// If there is a file or directory of this name, or none can be created.
    pub fn create(path: impl AsRef<Path>, options: WriteOptions) -> Result<Self> {
        let path = path.as_ref();
        let is_file = path.extension().is_some_and(|extension| extension == "mcap");
        let (directory, file) = if is_file {
            (None, path.to_owned())
        } else {
            let name = path.file_name().unwrap_or("recording".as_ref()).to_string_lossy();
            fs::create_dir(path).map_err(|problem| creation_error(path, problem))?;
            (Some((path.to_owned(), name.to_string())), path.join(format!("{name}_0.mcap")))
        };
        let part = Part::create(file, &options)?;
        let (topics, complete) = (Vec::new(), Vec::new());
        let (file_bytes, file_span) = (u64::MAX, u64::MAX);
        let flush_every = None;
        Ok(Self { directory, options, topics, part, complete, file_bytes, file_span, flush_every })
    }

    /// Begins a further file of the directory after `bytes` of messages (before
    /// compression), or when the log times of one span `duration`. By default there is one file.
    ///
    /// # Errors
    /// If the recording is a single file.
    pub fn split(mut self, bytes: Option<u64>, duration: Option<Duration>) -> Result<Self> {
        if self.directory.is_none() && (bytes.is_some() || duration.is_some()) {
            let text = format!(
                "failed to split recording {}: it is a single file; choose a name without `.mcap`, \
                 for a directory",
                self.part.path.display()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text).at_path(&self.part.path));
        }
        self.file_bytes = bytes.unwrap_or(u64::MAX);
        self.file_span = duration.map_or(u64::MAX, |duration| duration.as_nanos() as u64);
        Ok(self)
    }

    /// Ends a chunk as well when its log times span `duration`: a process that is killed has
    /// written all messages but those since then. By default a chunk ends after 768 KiB.
    #[must_use]
    pub fn flush_every(mut self, duration: Duration) -> Self {
        self.flush_every = Some((duration.as_nanos() as u64, 0));
        self
    }

    /// Adds a topic; the same topic again has the same id.
    ///
    /// # Errors
    /// If the topic has no name or type, there are 65535 topics, or the file cannot be written.
    pub fn add_topic(&mut self, topic: &Topic) -> Result<TopicId> {
        if let Some(known) = self.topics.iter().position(|known| known == topic) {
            return Ok(TopicId(known));
        }
        let error = |problem: &str| {
            let text = format!(
                "failed to record topic `{}`: {problem}; give it a name, a type and at most 16 MiB \
                 of definition",
                topic.name
            );
            Error::new(ErrorKind::InvalidArgument, text).on_topic(&topic.name)
        };
        let (_, text) = definition(topic);
        if topic.name.is_empty() || topic.type_name.is_empty() {
            return Err(error("it has no name or no type"));
        }
        if (topic.name.len() + topic.type_name.len() + text.len()) as u64
            > DESCRIPTION_BYTES_MAX / 2
        {
            return Err(error("its description is too long"));
        }
        self.part.add_topic(topic).map_err(|problem| match problem {
            McapError::TooManyChannels | McapError::TooManySchemas => error(&problem.to_string()),
            problem => write_error(&self.part.path, problem),
        })?;
        self.topics.push(topic.clone());
        Ok(TopicId(self.topics.len() - 1))
    }

    /// Writes a message as it is serialized, with its header.
    ///
    /// # Errors
    /// If the topic was not added, the message has over [`MESSAGE_BYTES_MAX`] bytes, or the file
    /// cannot be written. After the latter, every further call fails, too.
    pub fn write(
        &mut self,
        topic: TopicId,
        log_time: Time,
        publish_time: Time,
        sequence: u32,
        data: &[u8],
    ) -> Result<()> {
        if topic.0 >= self.topics.len() {
            let text = format!(
                "failed to record a message of topic {}: it was not added; call `add_topic` first",
                topic.0
            );
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        if data.len() as u64 > MESSAGE_BYTES_MAX {
            let (topic, bytes) = (&self.topics[topic.0].name, data.len());
            let text = format!(
                "failed to record a message of {bytes} bytes on topic {topic}: at most \
                 {MESSAGE_BYTES_MAX} are allowed; split it"
            );
            return Err(Error::new(ErrorKind::LimitReached, text).on_topic(topic));
        }
        let (log_time, publish_time) = (log_time.as_nanos(), publish_time.as_nanos());
        let FileSummary { bytes, times, .. } = self.part.summary;
        let span = times.map_or(0, |times| log_time.saturating_sub(times.first));
        if bytes >= self.file_bytes || span >= self.file_span {
            self.next_file()?;
        }
        let Part { path, mcap, channels, summary } = &mut self.part;
        let header =
            MessageHeader { channel_id: channels[topic.0], sequence, log_time, publish_time };
        let written = mcap.write_to_known_channel(&header, data);
        written.map_err(|problem| write_error(path, problem))?;
        summary.counts[topic.0] += 1;
        summary.bytes += data.len() as u64;
        summary.times = Some(Range::with(summary.times, log_time));
        if let Some((span, start)) = &mut self.flush_every
            && log_time.saturating_sub(*start) >= *span
        {
            *start = log_time;
            mcap.flush().map_err(|problem| write_error(path, problem))?;
        }
        Ok(())
    }

    /// Begins a further file, which has all topics.
    fn next_file(&mut self) -> Result<()> {
        let Some((directory, name)) = &self.directory else { return Ok(()) };
        let number = self.complete.len() + 1;
        let mut next =
            Part::create(directory.join(format!("{name}_{number}.mcap")), &self.options)?;
        for topic in &self.topics {
            next.add_topic(topic).map_err(|problem| write_error(&next.path, problem))?;
        }
        let part = std::mem::replace(&mut self.part, next);
        self.complete.push(part.finish(&self.topics)?);
        Ok(())
    }

    /// Writes the index and `metadata.yaml`.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.complete.push(self.part.finish(&self.topics)?);
        let Some((directory, _)) = self.directory else { return Ok(()) };
        let path = directory.join(METADATA_FILE);
        let written = fs::write(&path, metadata(&self.topics, &self.complete).into_text());
        written.map_err(|problem| io_error(&path, problem))
    }
}

impl Part {
    fn create(path: PathBuf, options: &WriteOptions) -> Result<Self> {
        let created = File::create_new(&path).map_err(|problem| creation_error(&path, problem))?;
        Self::write_to(created, path, options)
    }

    fn write_to(created: File, path: PathBuf, options: &WriteOptions) -> Result<Self> {
        let mcap = mcap::WriteOptions::new()
            .profile("ros2")
            .library("ringspin")
            .chunk_size(Some(CHUNK_BYTES))
            .compression(options.compression.map(|compression| match compression {
                Compression::Zstd => mcap::Compression::Zstd,
                Compression::Lz4 => mcap::Compression::Lz4,
            }))
            // The bytes would depend on the number of threads.
            .compression_threads(0)
            // A chunk is written whole, so that an interrupted recording has all before it.
            .disable_seeking(true)
            .create(BufWriter::new(created))
            .map_err(|problem| write_error(&path, problem))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let summary = FileSummary { name, counts: Vec::new(), bytes: 0, times: None };
        Ok(Self { path, mcap, channels: Vec::new(), summary })
    }

    fn add_topic(&mut self, topic: &Topic) -> Result<(), McapError> {
        let metadata = BTreeMap::from([
            ("offered_qos_profiles".to_owned(), qos::to_text(&topic.offered_qos)),
            ("topic_type_hash".to_owned(), topic.type_hash.clone().unwrap_or_default()),
        ]);
        let (encoding, text) = definition(topic);
        let schema = self.mcap.add_schema(&topic.type_name, encoding, text.as_bytes())?;
        let format = &topic.serialization_format;
        self.channels.push(self.mcap.add_channel(schema, &topic.name, format, &metadata)?);
        self.summary.counts.push(0);
        Ok(())
    }

    /// Writes the index.
    fn finish(mut self, topics: &[Topic]) -> Result<FileSummary> {
        let file_error = |problem| write_error(&self.path, problem);
        // Equal calls write equal bytes, regardless of the name of the file; rosbag2 replaces the
        // name.
        let mut summary = self.summary;
        let name = std::mem::replace(&mut summary.name, "recording.mcap".to_owned());
        let embedded = metadata(topics, std::slice::from_ref(&summary)).to_record();
        let record = mcap::records::Metadata {
            name: "rosbag2".to_owned(),
            metadata: BTreeMap::from([("serialized_metadata".to_owned(), embedded)]),
        };
        self.mcap.write_metadata(&record).map_err(file_error)?;
        self.mcap.finish().map_err(file_error)?;
        let mut written = self.mcap.into_inner();
        written.flush().map_err(|problem| file_error(problem.into()))?;
        Ok(FileSummary { name, ..summary })
    }
}

impl FileSummary {
    fn message_count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// The encoding and the text.
fn definition(topic: &Topic) -> (&str, &str) {
    topic.definition.as_ref().map_or(("", ""), |found| (&found.encoding, &found.text))
}

/// The metadata of a recording of these files.
fn metadata(topics: &[Topic], files: &[FileSummary]) -> Metadata {
    // rosbag2's times have 63 bits.
    let signed = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    let start = |range: Range| SinceEpoch { nanoseconds_since_epoch: signed(range.first) };
    let duration = |range: Range| Nanoseconds { nanoseconds: signed(range.last - range.first) };
    let times = files.iter().filter_map(|file| file.times);
    let whole = times.reduce(|a, b| Range::with(Some(Range::with(Some(a), b.first)), b.last));
    let count = |topic: usize| files.iter().filter_map(|file| file.counts.get(topic)).sum();
    let none = Range { first: 0, last: 0 };
    Metadata {
        version: METADATA_VERSION,
        storage_identifier: "mcap".to_owned(),
        duration: duration(whole.unwrap_or(none)),
        starting_time: start(whole.unwrap_or(none)),
        message_count: files.iter().map(FileSummary::message_count).sum(),
        topics_with_message_count: topics
            .iter()
            .enumerate()
            .map(|(number, topic)| TopicCount {
                topic_metadata: TopicMetadata::new(topic),
                message_count: count(number),
            })
            .collect(),
        // The chunks are compressed, which is the storage's own matter.
        compression_format: Some(String::new()),
        compression_mode: Some(String::new()),
        relative_file_paths: files.iter().map(|file| file.name.clone()).collect(),
        files: files
            .iter()
            .map(|file| FileInformation {
                path: file.name.clone(),
                starting_time: start(file.times.unwrap_or(none)),
                duration: duration(file.times.unwrap_or(none)),
                message_count: file.message_count(),
            })
            .collect(),
        custom_data: (),
        ros_distro: Some("jazzy".to_owned()),
    }
}

fn creation_error(path: &Path, problem: io::Error) -> Error {
    if problem.kind() != io::ErrorKind::AlreadyExists {
        return io_error(path, problem);
    }
    let text = format!(
        "failed to create recording {}: it exists; remove it, or choose another name",
        path.display()
    );
    Error::new(ErrorKind::AlreadyExists, text).at_path(path)
}

fn write_error(path: &Path, problem: McapError) -> Error {
    io_error(
        path,
        match problem {
            McapError::Io(problem) => problem,
            other => io::Error::other(other),
        },
    )
}

fn io_error(path: &Path, problem: io::Error) -> Error {
    let text = format!(
        "failed to write recording {}: {problem}; check the free space and the rights",
        path.display()
    );
    Error::new(ErrorKind::Io, text).at_path(path).caused_by(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_an_error() {
        // Numbers that do not compress.
        let noise: Vec<_> = (0..14_096u32).map(|i| i.wrapping_mul(0x9e3779b1) as u8).collect();
        for compression in [None, Some(Compression::Zstd), Some(Compression::Lz4)] {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let options = WriteOptions { compression };
            let folder = tempfile::tempdir().unwrap();
            let mut writer = Writer::create(folder.path().join("a.mcap"), options.clone()).unwrap();
            writer.part = Part::write_to(full, "drive.mcap".into(), &options).unwrap();
            let topic = Topic {
                name: "/noise".into(),
                type_name: "std_msgs/msg/UInt64".into(),
                type_hash: None,
                definition: None,
                serialization_format: "cdr".into(),
                offered_qos: Vec::new(),
            };
            let mut error = writer.add_topic(&topic).err();
            for n in 0..10_000u32 {
                let data = &noise[n as usize..][..4096];
                let written = writer.write(TopicId(0), Time::ZERO, Time::ZERO, n, data);
                error = error.or(written.err());
            }
            let error = error.expect("the disk is full").to_string();
            assert!(error.contains("drive.mcap: No space left"), "{error}");
            assert!(writer.finish().is_err());
        }
    }

    #[test]
    fn recording_of_a_killed_process_has_all_but_the_messages_since_the_last_flush() {
        let folder = tempfile::tempdir().unwrap();
        let written = |flush: fn(Writer) -> Writer, name: &str| {
            let path = folder.path().join(name);
            let mut writer = flush(Writer::create(&path, WriteOptions::default()).unwrap());
            let topic = Topic {
                name: "/n".into(),
                type_name: "std_msgs/msg/UInt64".into(),
                type_hash: None,
                definition: None,
                serialization_format: "cdr".into(),
                offered_qos: Vec::new(),
            };
            let topic = writer.add_topic(&topic).unwrap();
            for n in 0..10 {
                let time = Time::from_secs(100) + Duration::from_millis(400 * n);
                writer.write(topic, time, time, n as u32, &[0; 12]).unwrap();
            }
            // A process that is killed does not drop its writer.
            let read = crate::Bag::open(&path).unwrap().read(&Default::default()).unwrap();
            std::mem::forget(writer);
            read.map_while(std::result::Result::ok).count()
        };
        // Flushes with messages 0, 3, 6 and 9.
        assert_eq!(written(|writer| writer.flush_every(Duration::from_secs(1)), "a.mcap"), 10);
        assert_eq!(written(|writer| writer.flush_every(Duration::from_millis(1300)), "b.mcap"), 9);
        assert_eq!(written(|writer| writer, "c.mcap"), 0);
    }
}
