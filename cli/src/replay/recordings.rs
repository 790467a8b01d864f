//! The recordings that the runs of a replay write, and their comparison.

use crate::arguments::Replay;
use ringspin_bag::diff::{DiffOptions, first_difference};
use ringspin_bag::{Bag, ReadOptions, WriteOptions, Writer};
use ringspin_executor::BoxError;
use ringspin_ringbuf::Counter;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// The time after which messages of a live recording are on the disk, if others follow.
pub(crate) const FLUSHED_EVERY: Duration = Duration::from_secs(1);

/// The targets of the runs of a replay.
pub(super) struct Recordings {
    /// `None` if nothing is recorded.
    first: Option<PathBuf>,
    /// Whether the first run is that of another process.
    has_first: bool,
    /// For the recordings that are only compared.
    folder: TempDir,
    /// The number of runs so far.
    runs: Counter,
    is_live: bool,
}

/// The target of one run.
pub(super) struct Recording {
    path: PathBuf,
    is_first: bool,
    is_live: bool,
}

impl Recordings {
    pub(super) fn new(replay: &Replay, is_live: bool) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("ringspin-replay-").tempdir()?;
        let compared = replay.verify.then(|| folder.path().join("first"));
        let (has_first, runs) = (replay.recording_of_first.is_some(), Counter::default());
        let first = replay.recording_of_first.clone().or(replay.record.clone()).or(compared);
        Ok(Self { first, has_first, folder, runs, is_live })
    }

    /// The recording of the first run; the folder is that of no recording if there is none.
    pub(super) fn first(&self) -> &Path {
        self.first.as_deref().unwrap_or(self.folder.path())
    }

    /// The target of the next run, if it is to be recorded.
    pub(super) fn next(&self) -> Option<Recording> {
        let first = self.first.as_ref()?;
        let run = self.runs.next();
        let is_first = run == 0 && !self.has_first;
        // Of the same name, which is in the metadata.
        let name = first.file_name().unwrap_or("recording".as_ref());
        let path = match is_first {
            true => first.clone(),
            false => self.folder.path().join(run.to_string()).join(name),
        };
        Some(Recording { path, is_first, is_live: self.is_live })
    }

    /// Compares a complete recording with the first one, byte for byte, and removes it.
    pub(super) fn compare(&self, recording: Recording) -> Result<(), BoxError> {
        if recording.is_first {
            return Ok(());
        }
        let path = &recording.path;
        let difference = match are_equal(self.first(), path)? {
            true => None,
            false => Some(difference(self.first(), path)?),
        };
        if path.is_dir() {
            fs::remove_dir_all(path)?
        } else {
            fs::remove_file(path)?
        }
        match difference {
            None => Ok(()),
            Some(text) => Err(format!(
                "the recording differs from that of the first run (left: first run, right: this \
                 one):\n{text}"
            )
            .into()),
        }
    }
}

impl Recording {
    /// Creates the recording.
    pub(super) fn create(&self, replay: &Replay) -> Result<Writer, BoxError> {
        if let Some(folder) = self.path.parent().filter(|_| !self.is_first) {
            fs::create_dir_all(folder)?;
        }
        let options = WriteOptions { compression: replay.compression };
        let writer = Writer::create(&self.path, options)?;
        Ok(match self.is_live {
            true => writer.flush_every(FLUSHED_EVERY),
            false => writer,
        })
    }
}

/// Whether two recordings have the same files with the same bytes.
fn are_equal(left: &Path, right: &Path) -> io::Result<bool> {
    if !left.is_dir() {
        return have_equal_bytes(left, right);
    }
    let names = |folder: &Path| -> io::Result<Vec<_>> {
        let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
        let mut names = names.collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    };
    let (ours, theirs) = (names(left)?, names(right)?);
    if ours != theirs {
        return Ok(false);
    }
    for name in ours {
        if !have_equal_bytes(&left.join(&name), &right.join(&name))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether two files have the same bytes; memory is that of two small buffers.
fn have_equal_bytes(left: &Path, right: &Path) -> io::Result<bool> {
    use io::Read;
    let open = |path| Ok::<_, io::Error>(io::BufReader::new(fs::File::open(path)?).bytes());
    let (mut left, mut right) = (open(left)?, open(right)?);
    loop {
        match (left.next().transpose()?, right.next().transpose()?) {
            (None, None) => return Ok(true),
            (ours, theirs) if ours != theirs => return Ok(false),
            _ => {}
        }
    }
}

/// The first message that differs, as text.
fn difference(left: &Path, right: &Path) -> Result<String, BoxError> {
    let (left, right) = (Bag::open(left)?, Bag::open(right)?);
    let all = ReadOptions::default();
    let messages = (left.read(&all)?, right.read(&all)?);
    let found = first_difference(
        (left.topics(), messages.0),
        (right.topics(), messages.1),
        &DiffOptions::default(),
    )?;
    let order = || "the messages are equal, in another order, or with another QoS".into();
    Ok(found.map_or_else(order, |difference| difference.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_bag::Topic;
    use ringspin_executor::{QoS, Time};
    use ringspin_messages::std_msgs::msg::UInt8;

    #[test]
    fn killed_live_replay_has_recorded_all_but_the_last_second() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.mcap");
        let replay = Replay { record: Some(path.clone()), ..Replay::default() };
        let recordings = Recordings::new(&replay, true).unwrap();
        let mut writer = recordings.next().unwrap().create(&replay).unwrap();
        let topic = writer.add_topic(&Topic::of::<UInt8>("/n", QoS::default())).unwrap();
        for n in 0..10 {
            let time = Time::from_secs(100) + Duration::from_millis(400 * n);
            writer.write(topic, time, time, 0, &[0, 1, 0, 0, 7]).unwrap();
        }
        let read = Bag::open(&path).unwrap().read(&ReadOptions::default()).unwrap();
        // A process that is killed does not drop its writer.
        std::mem::forget(writer);
        assert_eq!(read.map_while(Result::ok).count(), 10);
    }
}
