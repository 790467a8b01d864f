//! The time of a process that says nothing, where the coordinator finds it once the process has
//! crashed.

use ringspin_process_protocol::SharedMemory;
use std::os::fd::AsRawFd;
use std::ptr;

/// A word of the memory that the processes of a run share; none where there is no such memory.
#[derive(Debug, Default)]
pub(crate) struct NotedTime(Option<usize>);

impl NotedTime {
    /// The word of this process.
    pub(crate) fn of(memory: Option<&SharedMemory>) -> Self {
        Self(memory.and_then(map))
    }

    /// Notes the time.
    pub(crate) fn note(&self, time: u64) {
        if let Some(address) = self.0 {
            // SAFETY: a word that is mapped for ever, to which no other process writes.
            unsafe { ptr::with_exposed_provenance_mut::<u64>(address).write_volatile(time) };
        }
    }
}

/// Maps the word; its address.
fn map(memory: &SharedMemory) -> Option<usize> {
    const PAGE: u64 = 1 << 16; // of any machine
    let at = memory.place_of_time().ok()?;
    let (page, file) = (at / PAGE * PAGE, memory.file().as_raw_fd());
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping of bytes that the file has.
    let start =
        unsafe { libc::mmap(ptr::null_mut(), PAGE as usize, access, kind, file, page as i64) };
    let address = start.expose_provenance() + (at - page) as usize;
    (start != libc::MAP_FAILED).then_some(address)
}
