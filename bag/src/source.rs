//! One file of a recording, of any format and compression.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempPath;

use crate::channel::{Channel, profiles};
use crate::error::FileError;
use crate::limits::{FILE_BYTES_FREE, FILE_RATIO_MAX};
use crate::mcap_file::{self, McapIndex, Range, Selection};
use crate::recording::{Record, Topic, TopicId};
use crate::sqlite_file::{SqliteCursor, SqliteIndex};

const MCAP_MAGIC: &[u8] = b"\x89MCAP0\r\n";
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
pub(crate) const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";

/// A file of a recording.
pub(crate) struct Source {
    /// The file as it was named.
    pub(crate) path: PathBuf,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// The decompressed file, which is deleted with the last reader.
    decompressed: Option<Arc<TempPath>>,
    index: Index,
    /// The topic of each channel; set when the topics of the recording are known.
    channels: Vec<Option<TopicId>>,
}

enum Index {
    Mcap(Arc<McapIndex>),
    Sqlite(SqliteIndex),
}

impl Source {
    /// Opens a file; `None` if its first bytes are of none of the formats. Of a damaged file, parts
    /// that cannot be read are left out.
    pub(crate) fn open(path: &Path, is_damaged: bool) -> Result<Option<Self>, FileError> {
        let size = std::fs::metadata(path)?.len();
        let mut magic = magic(path)?;
        let decompressed = match magic.starts_with(ZSTD_MAGIC) {
            true => Some(Arc::new(decompress(path, size)?)),
            false => None,
        };
        if let Some(path) = &decompressed {
            magic = self::magic(path)?;
        }
        let data: &Path = decompressed.as_ref().map_or(path, |decompressed| decompressed);
        let index = if magic.starts_with(MCAP_MAGIC) {
            Index::Mcap(Arc::new(McapIndex::read(File::open(data)?, is_damaged)?))
        } else if magic.starts_with(SQLITE_MAGIC) {
            Index::Sqlite(SqliteIndex::read(data, is_damaged)?)
        } else {
            return Ok(None);
        };
        let path = path.to_owned();
        Ok(Some(Self { path, size, decompressed, index, channels: Vec::new() }))
    }

    /// The name of the format, as rosbag2 calls it.
    pub(crate) fn storage(&self) -> &'static str {
        match &self.index {
            Index::Mcap(_) => "mcap",
            Index::Sqlite(_) => "sqlite3",
        }
    }

    /// Problems that do not prevent reading.
    pub(crate) fn warnings(&self) -> &[String] {
        match &self.index {
            Index::Mcap(index) => &index.warnings,
            Index::Sqlite(index) => &index.warnings,
        }
    }

    /// The damage behind the last message.
    pub(crate) fn damage(&self) -> Option<FileError> {
        let Index::Mcap(index) = &self.index else { return None };
        let (offset, problem) = index.damage.clone()?;
        Some(FileError::Damaged { offset, problem })
    }

    /// The log times; `None` without messages.
    pub(crate) fn times(&self) -> Option<Range> {
        match &self.index {
            Index::Mcap(index) => index.times,
            Index::Sqlite(index) => index.times,
        }
    }

    /// The channels, with problems of their descriptions.
    pub(crate) fn channels(&self, warnings: &mut Vec<String>) -> Vec<Channel> {
        match &self.index {
            Index::Mcap(index) => mcap_channels(index, warnings),
            Index::Sqlite(index) => index.channels(warnings),
        }
    }

    /// Sets the topic of a channel.
    pub(crate) fn assign(&mut self, channel: usize, topic: TopicId) {
        if self.channels.len() <= channel {
            self.channels.resize(channel + 1, None);
        }
        self.channels[channel] = Some(topic);
    }

    /// Reads the messages of the topics for which `is_selected`.
    pub(crate) fn read(
        &self,
        is_selected: impl Fn(TopicId) -> bool,
        times: Range,
        by_publish_time: bool,
        skip_checksums: bool,
    ) -> Result<SourceCursor, FileError> {
        let select = |topic: &Option<TopicId>| topic.filter(|topic| is_selected(*topic));
        let topics = self.channels.iter().map(select).collect();
        let data: &Path = self.decompressed.as_ref().map_or(&self.path, |path| path);
        let selection = Selection { topics, times, by_publish_time, skip_checksums };
        let cursor = match &self.index {
            Index::Mcap(index) => {
                let cursor = mcap_file::Cursor::new(File::open(data)?, index.clone(), selection)?;
                FormatCursor::Mcap(Box::new(cursor))
            }
            Index::Sqlite(index) => {
                FormatCursor::Sqlite(Box::new(SqliteCursor::new(data, index, selection)?))
            }
        };
        Ok(SourceCursor { cursor, _decompressed: self.decompressed.clone() })
    }
}

/// Reads the messages of a file.
pub(crate) struct SourceCursor {
    cursor: FormatCursor,
    _decompressed: Option<Arc<TempPath>>,
}

enum FormatCursor {
    Mcap(Box<mcap_file::Cursor>),
    Sqlite(Box<SqliteCursor>),
}

impl SourceCursor {
    /// The next message by time; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, FileError> {
        match &mut self.cursor {
            FormatCursor::Mcap(cursor) => cursor.next(),
            FormatCursor::Sqlite(cursor) => cursor.next(),
        }
    }
}

fn mcap_channels(index: &McapIndex, warnings: &mut Vec<String>) -> Vec<Channel> {
    let channel = |(number, channel): (&u16, &mcap_file::ChannelRecord)| {
        let schema = channel.schema.clone();
        let (type_name, definition) = schema.unzip();
        let metadata = |key: &str| channel.metadata.get(key).filter(|value| !value.is_empty());
        let topic = Topic {
            name: channel.topic.clone(),
            type_name: type_name.unwrap_or_default(),
            type_hash: metadata("topic_type_hash").cloned(),
            definition: definition.filter(|definition| !definition.encoding.is_empty()),
            serialization_format: channel.encoding.clone(),
            offered_qos: metadata("offered_qos_profiles")
                .map(|text| profiles(&channel.topic, text, warnings))
                .unwrap_or_default(),
        };
        let count = index.counts.get(number).copied().unwrap_or(0);
        Channel { number: usize::from(*number), topic, count }
    };
    index.channels.iter().map(channel).collect()
}

/// The first bytes of a file.
fn magic(path: &Path) -> io::Result<Vec<u8>> {
    let mut magic = Vec::new();
    File::open(path)?.take(16).read_to_end(&mut magic)?;
    Ok(magic)
}

/// Decompresses a file into a temporary one.
fn decompress(path: &Path, size: u64) -> Result<TempPath, FileError> {
    let limit = FILE_BYTES_FREE.max(size.saturating_mul(FILE_RATIO_MAX));
    let decoder = zstd::stream::read::Decoder::new(File::open(path)?)?;
    let mut file = tempfile::NamedTempFile::new()?;
    let bytes = io::copy(&mut decoder.take(limit.saturating_add(1)), &mut file)?;
    if bytes > limit {
        return Err(FileError::TooLarge { part: "decompressed file", bytes, limit });
    }
    Ok(file.into_temp_path())
}
