//! The order of the threads of the processes, where it is not the usual one.
//!
//! Each process gets a file in memory: its first line is the policy, and the process adds a line
//! for each choice of another thread than the first one. The file stays open here, so it has all
//! choices of a process that was killed, too.

use nix::sys::memfd::{MFdFlags, memfd_create};
use ringspin_executor::Time;
use ringspin_modes::random::mix;
use ringspin_modes::{Deviation, Schedule, ScheduleEntry, TiePolicy};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// The environment variable with the number of the file's descriptor.
pub(crate) const ORDER: &str = "RINGSPIN_ORDER";

/// The order of the threads of a process.
#[derive(Debug)]
pub(crate) struct ThreadOrder {
    file: File,
    process: u32,
    date: u64,
}

impl ThreadOrder {
    /// The order of this process, of which the time is `date` at the begin of the run; `None` if it
    /// is the usual one.
    ///
    /// # Errors
    /// The file cannot be made.
    pub(crate) fn new(ties: &TiePolicy, process: u32, date: u64) -> io::Result<Option<Self>> {
        let own = |seed: u64| mix(seed ^ mix(u64::from(process) + 1));
        let line = match ties {
            TiePolicy::Fifo | TiePolicy::Reverse => return Ok(None),
            TiePolicy::Shuffle { seed } => format!("shuffle {}\n", own(*seed)),
            TiePolicy::Pct { seed, depth, steps } => {
                format!("pct {} {depth} {steps}\n", own(*seed))
            }
            TiePolicy::Mixed { seed, steps } => format!("mixed {} {steps}\n", own(*seed)),
            TiePolicy::Scripted(schedule) => {
                let of_process = schedule.process_threads.iter().filter(|(of, _)| *of == process);
                let threads = of_process.map(|(_, of)| {
                    let time = Time::from_nanos(of.time.as_nanos().saturating_add(date));
                    ScheduleEntry::Thread(Deviation { time, ..*of })
                });
                format!("{}\n", threads.collect::<Schedule>())
            }
        };
        let mut file = File::from(memfd_create("order", MFdFlags::MFD_CLOEXEC)?);
        file.write_all(line.as_bytes())?;
        Ok(Some(Self { file, process, date }))
    }

    /// The file, which the process inherits.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// How many choices there were, up to the last that is noted, and those of another thread than
    /// the first one, in words with the name of the process.
    pub(crate) fn choices(&self, name: &str) -> io::Result<(u64, Vec<(ScheduleEntry, String)>)> {
        let mut bytes = vec![0; self.file.metadata()?.len() as usize];
        self.file.read_exact_at(&mut bytes, 0)?;
        let text = String::from_utf8_lossy(&bytes);
        let (mut count, mut taken) = (0, Vec::new());
        for line in text.lines().skip(1) {
            let Some((before, deviation, words)) = self.read(line) else { continue };
            count = before + 1;
            let words = format!("at {}: {words} in {name}", deviation.time);
            taken.push((ScheduleEntry::ProcessThread(self.process, deviation), words));
        }
        Ok((count, taken))
    }

    /// The number of choices before, the deviation, and words about it.
    fn read<'a>(&self, line: &'a str) -> Option<(u64, Deviation, &'a str)> {
        let mut parts = line.splitn(5, ' ');
        let mut number = || parts.next()?.parse::<u64>().ok();
        let (before, now, choice, taken) = (number()?, number()?, number()?, number()?);
        let time = Time::from_nanos(now.saturating_sub(self.date));
        let deviation = Deviation { time, choice: choice as u32, taken: taken as u32 };
        Some((before, deviation, parts.next()?))
    }
}
