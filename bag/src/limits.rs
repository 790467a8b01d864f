//! Bounds on the memory that a reader takes, regardless of the sizes in a file.

/// The largest chunk of messages, and the largest message, in bytes: 256 MiB.
pub const CHUNK_BYTES_MAX: u64 = 256 << 20;

/// The largest message that is written, in bytes: 128 MiB.
pub const MESSAGE_BYTES_MAX: u64 = 128 << 20;

/// The most bytes of chunks that overlap in time and are therefore open together: 1 GiB.
pub const OPEN_BYTES_MAX: u64 = 1 << 30;

/// The largest index of a file, in bytes: 256 MiB, enough for a terabyte of messages.
pub const INDEX_BYTES_MAX: u64 = 256 << 20;

/// The largest description of a topic or of a type, and the largest `metadata.yaml`: 16 MiB.
pub const DESCRIPTION_BYTES_MAX: u64 = 16 << 20;

/// The size up to which any compressed file is decompressed: 1 GiB. Beyond, it may be larger by
/// [`FILE_RATIO_MAX`] than its compressed form.
pub const FILE_BYTES_FREE: u64 = 1 << 30;

/// The largest ratio of a file over [`FILE_BYTES_FREE`] to its compressed form.
pub const FILE_RATIO_MAX: u64 = 1000;
