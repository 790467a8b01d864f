//! The problems of files, which decide inside the crate how far a damaged recording is read, and
//! their texts for callers.

use std::io;
use std::path::Path;

use ringspin_executor::{BoxError, Error, ErrorKind};

/// The problem of one file of a recording.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The content violates the format.
    #[error(
        "damaged at byte {offset}: {problem}; copy the file again, or write the messages that are \
         left to another one (`bag recover`)"
    )]
    Damaged { offset: u64, problem: String },
    /// A part is larger than this reader takes into memory.
    #[error("{part} of {bytes} bytes, at most {limit} are read; the file may be damaged")]
    TooLarge { part: &'static str, bytes: u64, limit: u64 },
    /// Chunks that overlap in time do not fit into memory together.
    #[error(
        "chunks of {bytes} bytes overlap in time, at most {limit} are kept open; sort the file by \
         log time (`mcap sort`)"
    )]
    Overlap { bytes: u64, limit: u64 },
    /// A compression other than `zstd` and `lz4`.
    #[error("unknown compression `{0}`; decompress the file with the tool that made it")]
    UnknownCompression(String),
    /// SQLite refused, or its tables are not those of rosbag2.
    #[error(
        "SQLite: {0}; check the file with `sqlite3 FILE 'pragma integrity_check'`, or write the \
         messages that are left to another one (`bag recover`)"
    )]
    Sqlite(String),
}

impl FileError {
    /// The error of `action`, as in "failed to open recording", for the file at `path`.
    pub(crate) fn of(self, action: &str, path: &Path) -> Error {
        let text = format!("{action}: {}: {self}", path.display());
        let kind = match &self {
            Self::Io(_) => ErrorKind::Io,
            Self::Overlap { .. } | Self::UnknownCompression(_) => ErrorKind::Unsupported,
            Self::Damaged { .. } | Self::TooLarge { .. } | Self::Sqlite(_) => ErrorKind::Parse,
        };
        let error = Error::new(kind, text).at_path(path);
        match self {
            Self::Io(cause) => error.caused_by(cause),
            _ => error,
        }
    }
}

/// The error of a source, a sink or another part, with the text that `reword` makes of its text.
/// An [`Error`] keeps its kind and subject; others are of `kind`.
pub(crate) fn reworded(
    error: BoxError,
    kind: ErrorKind,
    reword: impl FnOnce(&str) -> String,
) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error.reworded(reword),
        Err(cause) => Error::new(kind, reword(&cause.to_string())).caused_by(cause),
    }
}
