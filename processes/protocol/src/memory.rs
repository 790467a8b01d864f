//! The memory that the processes of a run share: for large contents of messages, and for turns that
//! a process did not send yet.
//!
//! The memory is one file, which the coordinator makes and every process inherits. Each process
//! writes to a part of it that no other one writes to, so nothing there needs a lock.
//!
//! Contents follow each other up to the end of the part. A frame with their place goes the way of
//! all frames. Receivers read the bytes when the frame arrives; the coordinator gives the memory
//! back once it has dropped its last copy of the frame.
//!
//! The begin of a part has the turns that a process sends with a later one. The coordinator reads
//! them there if the process is killed before: they have happened, however many turns it got at
//! once. So it does with the time, which a process that says nothing lets pass alone.

use crate::{LENGTH_BYTES, ReadError, Turn, read_frames};
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use nix::unistd::{Whence, lseek};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// From so many bytes on contents are in shared memory: the kernel's buffer of a socket holds
/// 212,992, and a reader and a writer of more than that wait for each other several times.
pub const SHARED_FROM: usize = 1 << 16;

/// The size of a process's part of the memory. Only the bytes that were written take memory.
const PART: u64 = 1 << 40;

/// The size of the begin of a part, which has turns that were not sent.
const UNSENT: u64 = 1 << 20;

/// Where contents begin: at the begin of a page, of any size that Linux has.
const PAGE: u64 = 1 << 16;

/// Where the begin has the time of the process, after which it has said nothing.
const TIME: u64 = UNSENT - size_of::<u64>() as u64;

/// Follows the last turn.
const NO_LENGTH: [u8; LENGTH_BYTES] = [0; LENGTH_BYTES];

/// The longest contents that are accepted, in bytes.
const LENGTH_MAX: u64 = 4 << 30;

/// The contents of a message, request or response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Payload {
    /// In the frame.
    Bytes(#[serde(with = "serde_bytes")] Vec<u8>),
    /// In the [`SharedMemory`].
    Shared {
        /// Where they begin.
        at: u64,
        /// The number of bytes.
        length: u64,
        /// Gives the memory back, in the coordinator.
        #[serde(skip)]
        lease: Lease,
    },
}

impl Payload {
    /// The number of bytes.
    pub fn length(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Shared { length, .. } => *length as usize,
        }
    }
}

/// Gives memory back once its last copy is dropped. All are equal.
#[derive(Clone, Debug, Default)]
pub struct Lease {
    /// Only dropped.
    _extent: Option<Arc<Extent>>,
}

impl PartialEq for Lease {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Lease {}

#[derive(Debug)]
struct Extent {
    file: Arc<File>,
    at: u64,
    length: u64,
}

impl Drop for Extent {
    fn drop(&mut self) {
        let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        let length = self.length.next_multiple_of(PAGE);
        // Memory that stays until the end of the run is all that a failure costs.
        let _ = fallocate(&*self.file, hole, self.at as i64, length as i64);
    }
}

/// Memory that the processes of a run share; see the module.
///
/// ```
/// use ringspin_process_protocol::{Payload, SHARED_FROM, SharedMemory};
/// let memory = SharedMemory::create()?.expect("files have no limit");
/// let (mut process, bytes) = (memory.of_process(3), vec![7; SHARED_FROM]);
/// let mut payload = process.put(&bytes);
/// assert!(matches!(payload, Payload::Shared { .. }) && memory.has(&payload, 3));
/// memory.lease(&mut payload);
/// assert_eq!(*memory.get(&payload)?, bytes);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SharedMemory {
    file: Arc<File>,
    /// The part of the process, and the bytes of it that were used.
    part: u64,
    used: u64,
    /// The bytes of frames in the turns that were not sent, and those that they take there.
    unsent: (usize, u64),
}

impl SharedMemory {
    /// New memory; `None` where the system limits the sizes of files, which would end a process
    /// that writes to it.
    ///
    /// # Errors
    /// The system's.
    pub fn create() -> io::Result<Option<Self>> {
        if getrlimit(Resource::RLIMIT_FSIZE)?.0 != RLIM_INFINITY {
            return Ok(None);
        }
        let file = memfd_create("ringspin messages", MFdFlags::MFD_CLOEXEC)?;
        Ok(Some(Self::from(File::from(file))))
    }

    /// The file of the memory.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The same memory, as this process uses it: after the bytes of an earlier program of the
    /// process, which has replaced itself by this one.
    pub fn of_process(&self, process: u32) -> Self {
        let part = u64::from(process) * PART;
        let seek = |from: u64, to| lseek(&*self.file, from as i64, to).map(|at| at as u64);
        let mut end = part + UNSENT;
        while let Ok(data) = seek(end, Whence::SeekData)
            && data < part + PART
            && let Ok(hole) = seek(data, Whence::SeekHole)
        {
            end = hole;
        }
        let used = (end - part).next_multiple_of(PAGE);
        Self { file: self.file.clone(), part, used, unsent: (0, 0) }
    }

    /// The contents, in the memory if they are large and there is room.
    pub fn put(&mut self, bytes: &[u8]) -> Payload {
        let (at, length) = (self.part + self.used, bytes.len() as u64);
        let is_large = (SHARED_FROM as u64..=LENGTH_MAX).contains(&length);
        if !is_large || self.file.write_all_at(bytes, at).is_err() {
            return Payload::Bytes(bytes.to_vec());
        }
        // The bytes at the begin were read long ago.
        self.used = (self.used + length).next_multiple_of(PAGE);
        if self.used > PART - LENGTH_MAX {
            self.used = UNSENT;
        }
        Payload::Shared { at, length, lease: Lease::default() }
    }

    /// Keeps the new frames of turns that are sent with later ones: the coordinator finds them if
    /// the process is killed before. False if there is no room.
    pub fn keep(&mut self, turns: &Turn) -> bool {
        let (count, at) = self.unsent;
        let new = &turns.frames()[count..];
        let length = (new.len() as u64).to_le_bytes();
        let entry = [&length[..], new, &NO_LENGTH].concat();
        let end = at + (entry.len() - NO_LENGTH.len()) as u64;
        let has_room = end + NO_LENGTH.len() as u64 <= TIME
            && self.file.write_all_at(&entry, self.part + at).is_ok();
        if has_room {
            self.unsent = (turns.frames().len(), end);
        }
        has_room
    }

    /// Where in the file the process notes its time, in nanoseconds since 1970, which it tells
    /// later: the coordinator finds it if the process is killed before. It can be mapped.
    ///
    /// # Errors
    /// The system's.
    pub fn place_of_time(&self) -> io::Result<u64> {
        let at = self.part + TIME;
        self.file.write_all_at(&[0; size_of::<u64>()], at)?;
        Ok(at)
    }

    /// The time that a process has noted last; `None` if it has noted none.
    pub fn noted_time(&self, process: u32) -> Option<u64> {
        let mut bytes = [0; size_of::<u64>()];
        self.file.read_exact_at(&mut bytes, u64::from(process) * PART + TIME).ok()?;
        Some(u64::from_le_bytes(bytes)).filter(|time| *time > 0)
    }

    /// Gives the begin of a part back, of a process that has ended.
    pub fn free(&self, process: u32) {
        Extent { file: self.file.clone(), at: u64::from(process) * PART, length: UNSENT };
    }

    /// The turns were sent.
    ///
    /// # Errors
    /// The system's.
    pub fn forget(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.unsent) == (0, 0) {
            return Ok(());
        }
        self.file.write_all_at(&NO_LENGTH, self.part)
    }

    /// The frames that a process has kept, and did not send.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn kept<T: DeserializeOwned>(&self, process: u32) -> Result<Vec<T>, ReadError> {
        let mut bytes = vec![0; UNSENT as usize];
        let count = self.file.read_at(&mut bytes, u64::from(process) * PART)?;
        bytes.truncate(count);
        let end = bytes.len() + NO_LENGTH.len();
        bytes.resize(end, 0);
        let (mut frames, mut at) = (Vec::new(), 0);
        loop {
            let begin = at + NO_LENGTH.len();
            let length = u64::from_le_bytes(std::array::from_fn(|n| bytes[at + n])) as usize;
            if length == 0 {
                return Ok(frames);
            }
            at = begin.saturating_add(length);
            let turn = bytes.get(begin..at).filter(|_| at + NO_LENGTH.len() <= end);
            let turn = turn.ok_or_else(|| ReadError::Rubbish(format!("{length} bytes")))?;
            read_frames(turn, &mut frames)?;
        }
    }

    /// Whether these contents can be of this process: their place is in its part, after the
    /// begin, up to where something was written.
    pub fn has(&self, payload: &Payload, process: u32) -> bool {
        let Payload::Shared { at, length, .. } = payload else { return true };
        let written = self.file.metadata().map_or(0, |of| of.len());
        let begin = u64::from(process).saturating_mul(PART);
        let end = begin.saturating_add(PART).min(written);
        let own_end = at.checked_add(*length);
        begin.saturating_add(UNSENT) <= *at
            && *length <= LENGTH_MAX
            && own_end.is_some_and(|own| own <= end)
    }

    /// The bytes of contents.
    ///
    /// # Errors
    /// They are not there.
    pub fn get<'a>(&self, payload: &'a Payload) -> io::Result<Cow<'a, [u8]>> {
        let (at, length) = match payload {
            Payload::Bytes(bytes) => return Ok(Cow::Borrowed(bytes)),
            Payload::Shared { at, length, .. } => (*at, *length),
        };
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(Cow::Owned(bytes))
    }

    /// The memory of the contents is given back with the last copy of them.
    pub fn lease(&self, payload: &mut Payload) {
        if let Payload::Shared { at, length, lease } = payload {
            let (file, at, length) = (self.file.clone(), *at, *length);
            *lease = Lease { _extent: Some(Arc::new(Extent { file, at, length })) };
        }
    }
}

impl From<File> for SharedMemory {
    /// The memory of a run that is in this file.
    fn from(file: File) -> Self {
        Self { file: Arc::new(file), part: 0, used: UNSENT, unsent: (0, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gid, Sample, Up};
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn memory_is_used_while_a_copy_of_the_contents_is_there() {
        let memory = SharedMemory::create().unwrap().unwrap();
        let used = || memory.file.metadata().unwrap().blocks() * 512;
        let mut processes = [memory.of_process(0), memory.of_process(7)];
        let contents: Vec<_> = (0..8).map(|n| vec![n; SHARED_FROM + usize::from(n)]).collect();
        let mut payloads = Vec::new();
        for (n, bytes) in contents.iter().enumerate() {
            let mut payload = processes[n % 2].put(bytes);
            assert!(memory.has(&payload, [0, 7][n % 2]) && !memory.has(&payload, [7, 0][n % 2]));
            memory.lease(&mut payload);
            payloads.push(payload);
        }
        let copies = payloads.clone();
        assert!(used() >= 8 * SHARED_FROM as u64);
        drop(payloads);
        for (payload, bytes) in copies.iter().zip(&contents) {
            assert_eq!(*memory.get(payload).unwrap(), **bytes);
        }
        drop(copies);
        assert_eq!(used(), 0);

        let mut left = processes[1].put(&contents[0]);
        memory.lease(&mut left);
        let next = memory.of_process(7).put(&contents[1]);
        assert_eq!(*memory.get(&left).unwrap(), contents[0]);
        assert_eq!(*memory.get(&next).unwrap(), contents[1]);
        assert_eq!(processes[0].put(&[1, 2]), Payload::Bytes(vec![1, 2]));
    }

    #[test]
    fn turns_that_were_not_sent_are_found() {
        let memory = SharedMemory::create().unwrap().unwrap();
        let kept = || memory.kept::<Up>(3).unwrap();
        assert_eq!(kept(), []);
        let (mut process, mut turn) = (memory.of_process(3), Turn::default());
        let frames = [Up::End { now: 1 }, Up::End { now: 2 }, Up::End { now: 3 }];
        for count in 1..=3 {
            turn.push(&frames[count - 1]);
            assert!(process.keep(&turn));
            assert_eq!(kept(), frames[..count]);
        }
        turn.send(io::sink()).unwrap();
        process.forget().unwrap();
        assert_eq!(kept(), []);
        turn.push(&frames[2]);
        assert!(process.keep(&turn));
        assert_eq!(kept(), frames[2..]);
        let payload = Payload::Bytes(vec![7; UNSENT as usize]);
        let (from, number, sent) = (Gid::default(), 1, 0);
        turn.push(&Up::Publish(Sample { from, number, sent, payload }));
        assert!(!process.keep(&turn));
        assert_eq!(kept(), frames[2..]);
        memory.file.write_all_at(&[255; 99], 3 * PART).unwrap();
        assert!(matches!(memory.kept::<Up>(3), Err(ReadError::Rubbish(_))));
    }

    #[test]
    fn places_that_no_process_has_written_are_found() {
        let memory = SharedMemory::create().unwrap().unwrap();
        let payload = |at, length| Payload::Shared { at, length, lease: Lease::default() };
        assert!(!memory.has(&payload(0, 9), 0) && memory.get(&payload(0, 9)).is_err());
        memory.of_process(1).put(&vec![1; SHARED_FROM]);
        assert!(memory.has(&payload(PART - 9, 9), 0) && !memory.has(&payload(PART - 9, 10), 0));
        let first = PART + UNSENT;
        assert!(memory.has(&payload(first, 9), 1) && !memory.has(&payload(first, 9), 0));
        assert!(!memory.has(&payload(first - 1, 9), 1));
        assert!(!memory.has(&payload(PART + UNSENT + 1, SHARED_FROM as u64), 1));
        assert!(!memory.has(&payload(0, LENGTH_MAX + 1), 0));
        assert!(!memory.has(&payload(u64::MAX, 9), u32::MAX));
    }
}
