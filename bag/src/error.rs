//! Errors of reading recordings.

use std::io;
use std::path::PathBuf;

/// The problem of one file of a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The content is not what the format prescribes.
    #[error(
        "damaged at byte {offset}: {problem}; copy the file again, or remove its index \
         (`mcap recover`) to read up to there"
    )]
    Damaged {
        /// The place in the file.
        offset: u64,
        /// The violated rule.
        problem: String,
    },
    /// A part is larger than this reader takes into memory.
    #[error("{part} of {bytes} bytes, at most {limit} are read; the file may be damaged")]
    TooLarge {
        /// The part, such as `chunk`.
        part: &'static str,
        /// Its size.
        bytes: u64,
        /// The largest size.
        limit: u64,
    },
    /// Chunks that overlap in time do not fit into memory together.
    #[error(
        "chunks of {bytes} bytes overlap in time, at most {limit} are kept open; sort the file by \
         log time (`mcap sort`)"
    )]
    Overlap {
        /// The size of the chunks that would be open.
        bytes: u64,
        /// The largest size.
        limit: u64,
    },
    /// A compression other than `zstd` and `lz4`.
    #[error("unknown compression `{0}`; decompress the file with the tool that made it")]
    UnknownCompression(String),
    /// SQLite refused, or its tables are not those of rosbag2.
    #[error("SQLite: {0}; check the file with `sqlite3 FILE 'pragma integrity_check'`")]
    Sqlite(String),
}

/// A recording cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no recording under this name.
    #[error(
        "failed to open recording {path}: {problem}; name a rosbag2 directory, or a file that ends \
         in .mcap, .db3, .mcap.zstd or .db3.zstd"
    )]
    NotARecording {
        /// The name.
        path: PathBuf,
        /// The missing part.
        problem: String,
    },
    /// `metadata.yaml` cannot be read.
    #[error(
        "failed to open recording: {path}: {problem}; correct the file, or remove it to read the \
         recording without it"
    )]
    Metadata {
        /// The file.
        path: PathBuf,
        /// The problem, with its line.
        problem: String,
    },
    /// A file of the recording cannot be read.
    #[error("failed to open recording: {path}: {problem}")]
    File {
        /// The file.
        path: PathBuf,
        /// The problem, with the way out.
        problem: FileError,
    },
}

/// Messages of an open recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A topic is asked for that the recording does not have.
    #[error("failed to read recording: it has {count} topics, but topic {asked} is asked for")]
    UnknownTopic {
        /// The index that is asked for.
        asked: usize,
        /// The number of topics.
        count: usize,
    },
    /// A file of the recording cannot be read.
    #[error("failed to read recording: {path}: {problem}")]
    File {
        /// The file.
        path: PathBuf,
        /// The problem, with the way out.
        problem: FileError,
    },
}
