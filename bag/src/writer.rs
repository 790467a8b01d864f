//! Writing recordings that rosbag2, Foxglove and the Python readers open.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use mcap::McapError;
use mcap::records::MessageHeader;
use ringspin_executor::Time;

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

/// A recording cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The target is there already.
    #[error("failed to create recording {0}: it exists; remove it, or choose another name")]
    Exists(PathBuf),
    /// The operating system refused to write.
    #[error("failed to write recording {path}: {problem}; check the free space and the rights")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        problem: io::Error,
    },
    /// A topic has no name, or more text than readers accept.
    #[error(
        "failed to record topic `{name}`: {problem}; give it a name, a type and at most 16 MiB of \
         definition"
    )]
    Topic {
        /// Its name.
        name: String,
        /// The problem.
        problem: String,
    },
    /// A topic that was not added.
    #[error("failed to record a message of topic {0}: it was not added; call `add_topic` first")]
    UnknownTopic(usize),
    /// A message is larger than readers accept.
    #[error(
        "failed to record a message of {bytes} bytes on topic {topic}: at most {MESSAGE_BYTES_MAX} \
         are allowed; split it"
    )]
    TooLarge {
        /// The name of the topic.
        topic: String,
        /// The size.
        bytes: usize,
    },
}

/// Writes a recording: a rosbag2 directory with one MCAP file, or the file alone.
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
    /// The rosbag2 directory; `None` for a single file.
    directory: Option<PathBuf>,
    file: PathBuf,
    mcap: mcap::Writer<BufWriter<File>>,
    topics: Vec<Topic>,
    /// The channel of each topic, and the number of its messages.
    channels: Vec<(u16, u64)>,
    times: Option<Range>,
}

impl Writer {
    /// Creates a recording at `path`: a file if the name ends in `.mcap`, else a directory.
    ///
    /// # Errors
    /// If there is a file or directory of this name, or none can be created.
    pub fn create(path: impl AsRef<Path>, options: WriteOptions) -> Result<Self, WriteError> {
        let path = path.as_ref();
        let is_file = path.extension().is_some_and(|extension| extension == "mcap");
        let (directory, file) = match is_file {
            true => (None, path.to_owned()),
            false => {
                let name = path.file_name().unwrap_or("recording".as_ref()).to_string_lossy();
                fs::create_dir(path).map_err(|problem| creation_error(path, problem))?;
                (Some(path.to_owned()), path.join(format!("{name}_0.mcap")))
            }
        };
        let created = File::create_new(&file).map_err(|problem| creation_error(&file, problem))?;
        Self::write_to(created, directory, file, options)
    }

    fn write_to(
        created: File,
        directory: Option<PathBuf>,
        file: PathBuf,
        options: WriteOptions,
    ) -> Result<Self, WriteError> {
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
            .map_err(|problem| write_error(&file, problem))?;
        Ok(Self { directory, file, mcap, topics: Vec::new(), channels: Vec::new(), times: None })
    }

    /// Adds a topic; the same topic again has the same id.
    ///
    /// # Errors
    /// If the topic has no name or type, there are 65535 topics, or the file cannot be written.
    pub fn add_topic(&mut self, topic: &Topic) -> Result<TopicId, WriteError> {
        if let Some(known) = self.topics.iter().position(|known| known == topic) {
            return Ok(TopicId(known));
        }
        let error = |problem: &str| WriteError::Topic {
            name: topic.name.clone(),
            problem: problem.to_owned(),
        };
        let (encoding, text) = match &topic.definition {
            Some(definition) => (definition.encoding.as_str(), definition.text.as_str()),
            None => ("", ""),
        };
        if topic.name.is_empty() || topic.type_name.is_empty() {
            return Err(error("it has no name or no type"));
        }
        if (topic.name.len() + topic.type_name.len() + text.len()) as u64
            > DESCRIPTION_BYTES_MAX / 2
        {
            return Err(error("its description is too long"));
        }
        let metadata = BTreeMap::from([
            ("offered_qos_profiles".to_owned(), qos::to_text(&topic.offered_qos)),
            ("topic_type_hash".to_owned(), topic.type_hash.clone().unwrap_or_default()),
        ]);
        let added = self.mcap.add_schema(&topic.type_name, encoding, text.as_bytes());
        let channel = added.and_then(|schema| {
            self.mcap.add_channel(schema, &topic.name, &topic.serialization_format, &metadata)
        });
        let channel = channel.map_err(|problem| match problem {
            McapError::TooManyChannels | McapError::TooManySchemas => error(&problem.to_string()),
            problem => write_error(&self.file, problem),
        })?;
        self.topics.push(topic.clone());
        self.channels.push((channel, 0));
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
    ) -> Result<(), WriteError> {
        let channel = self.channels.get_mut(topic.0);
        let (channel_id, count) = channel.ok_or(WriteError::UnknownTopic(topic.0))?;
        if data.len() as u64 > MESSAGE_BYTES_MAX {
            let topic = self.topics[topic.0].name.clone();
            return Err(WriteError::TooLarge { topic, bytes: data.len() });
        }
        let (log_time, publish_time) = (log_time.as_nanos(), publish_time.as_nanos());
        let header = MessageHeader { channel_id: *channel_id, sequence, log_time, publish_time };
        let written = self.mcap.write_to_known_channel(&header, data);
        written.map_err(|problem| write_error(&self.file, problem))?;
        *count += 1;
        self.times = Some(Range::with(self.times, log_time));
        Ok(())
    }

    /// Writes the index and `metadata.yaml`.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let file_error = |problem| write_error(&self.file, problem);
        // Equal calls write equal bytes, whatever the file is called; rosbag2 replaces the name.
        let embedded = self.metadata("recording.mcap").to_record();
        let record = mcap::records::Metadata {
            name: "rosbag2".to_owned(),
            metadata: BTreeMap::from([("serialized_metadata".to_owned(), embedded)]),
        };
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let metadata = self.metadata(&name);
        self.mcap.write_metadata(&record).map_err(file_error)?;
        self.mcap.finish().map_err(file_error)?;
        let mut written = self.mcap.into_inner();
        written.flush().map_err(|problem| file_error(problem.into()))?;
        if let Some(directory) = self.directory {
            let path = directory.join(METADATA_FILE);
            let written = fs::write(&path, metadata.into_text());
            written.map_err(|problem| WriteError::Io { path, problem })?;
        }
        Ok(())
    }

    /// The metadata of the recording, as of a file called `name`.
    fn metadata(&self, name: &str) -> Metadata {
        // rosbag2's times have 63 bits.
        let signed = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
        let Range { first, last } = self.times.unwrap_or(Range { first: 0, last: 0 });
        let starting_time = || SinceEpoch { nanoseconds_since_epoch: signed(first) };
        let duration = || Nanoseconds { nanoseconds: signed(last - first) };
        let message_count = self.channels.iter().map(|(_, count)| count).sum();
        let topics = self.topics.iter().zip(&self.channels);
        let topics_with_message_count = topics.map(|(topic, (_, count))| TopicCount {
            topic_metadata: TopicMetadata::new(topic),
            message_count: *count,
        });
        Metadata {
            version: METADATA_VERSION,
            storage_identifier: "mcap".to_owned(),
            duration: duration(),
            starting_time: starting_time(),
            message_count,
            topics_with_message_count: topics_with_message_count.collect(),
            // The chunks are compressed, which is the storage's own matter.
            compression_format: Some(String::new()),
            compression_mode: Some(String::new()),
            relative_file_paths: vec![name.to_owned()],
            files: vec![FileInformation {
                path: name.to_owned(),
                starting_time: starting_time(),
                duration: duration(),
                message_count,
            }],
            custom_data: (),
            ros_distro: Some("jazzy".to_owned()),
        }
    }
}

fn creation_error(path: &Path, problem: io::Error) -> WriteError {
    match problem.kind() {
        io::ErrorKind::AlreadyExists => WriteError::Exists(path.into()),
        _ => WriteError::Io { path: path.into(), problem },
    }
}

fn write_error(path: &Path, problem: McapError) -> WriteError {
    let problem = match problem {
        McapError::Io(problem) => problem,
        other => io::Error::other(other),
    };
    WriteError::Io { path: path.into(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_an_error() {
        for compression in [None, Some(Compression::Zstd), Some(Compression::Lz4)] {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let options = WriteOptions { compression };
            let mut writer = Writer::write_to(full, None, "drive.mcap".into(), options).unwrap();
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
                // Numbers that do not compress.
                let data: Vec<_> =
                    (n..n + 4096).map(|i| i.wrapping_mul(0x9e3779b1) as u8).collect();
                let written = writer.write(TopicId(0), Time::ZERO, Time::ZERO, n, &data);
                error = error.or(written.err());
            }
            let error = error.expect("the disk is full").to_string();
            assert!(error.contains("drive.mcap: No space left"), "{error}");
            assert!(writer.finish().is_err());
        }
    }
}
