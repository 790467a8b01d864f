//! The knowledge that the threads of a multi-core executor have of each other.
//!
//! Threads read it without a lock while others write it. But for the sets, in which each thread
//! finds the strands that it is to run, these are hints: a value that is out of date makes a thread
//! take a strand that another one would have taken, or leave it for the next look.

use crossbeam_utils::CachePadded;
use ringspin_executor::Time;
use ringspin_ringbuf::{CacheLines, Counter, Flag, ReadySet};
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

pub(super) struct Shared {
    pub(super) threads: Vec<ThreadHints>,
    /// By strand.
    pub(super) strands: Vec<StrandHints>,
    /// The first thread that runs strands without a thread.
    pub(super) first: usize,
    /// The number of the idle thread that keeps the watch, plus one; zero if none does.
    pub(super) watcher: Counter,
}

pub(super) struct ThreadHints {
    /// The strands that it is to run.
    pub(super) set: Arc<ReadySet>,
    /// It runs the strands that have no thread.
    pub(super) shares: bool,
    /// The flags change with each event, so they are not in the line that others read to mark a
    /// strand.
    pub(super) is_idle: CachePadded<Flag>,
    /// It is in a callback that is long, as far as is known. The watcher may raise it, too.
    pub(super) is_busy: CachePadded<Flag>,
    pub(super) event: CachePadded<CurrentEvent>,
    /// The deadline of each strand that is at home here, in nanoseconds. The thread writes them;
    /// others read them while it is busy.
    pub(super) deadlines: Box<[Counter]>,
}

/// The event that a thread runs.
#[derive(Default)]
pub(super) struct CurrentEvent {
    /// Its strand, plus one; zero between two events.
    pub(super) strand: Counter,
    /// How many there were.
    pub(super) number: Counter,
}

/// A thread, if there is one. It changes only between two spins.
#[derive(Default)]
pub(super) struct FixedThread(Counter);

impl FixedThread {
    #[inline]
    pub(super) fn get(&self) -> Option<usize> {
        (self.0.get() as usize).checked_sub(1)
    }

    pub(super) fn set(&self, thread: Option<usize>) {
        self.0.set(thread.map_or(0, |thread| thread as u64 + 1));
    }
}

/// Written by the thread that runs the strand, the length with each event.
#[derive(Default)]
pub(super) struct StrandHints {
    pub(super) home: Counter,
    /// The length of a callback in ticks: of the longest of the last ones.
    pub(super) length: CachePadded<Counter>,
    /// How many loops a message passes from here on, at most.
    pub(super) rank: u32,
    /// The thread that it stays on.
    pub(super) thread: FixedThread,
    /// The memory of its worker, once a thread has run some of its events.
    pub(super) lines: OnceLock<CacheLines>,
}

thread_local! {
    /// The address of the hints of this thread, if it runs strands.
    pub(super) static CURRENT: Cell<Option<(*const Shared, usize)>> = const { Cell::new(None) };
}

impl StrandHints {
    /// Starts to fetch the memory of the worker, which is in no near cache if the strand rested for
    /// long, and along chains of pointers.
    #[inline]
    pub(super) fn fetch(&self) {
        if let Some(lines) = self.lines.get() {
            lines.fetch();
        }
    }
}

impl Shared {
    /// Marks a strand that rests, for the thread that is to run it.
    pub(super) fn wake(&self, index: usize) {
        let current = CURRENT.get().filter(|(shared, _)| std::ptr::eq(*shared, self));
        let current = current.map(|(_, thread)| thread);
        let strand = &self.strands[index];
        let thread = match current.filter(|thread| self.threads[*thread].shares) {
            Some(thread) => strand.thread.get().unwrap_or(thread),
            None => {
                let home = self.home(index);
                let moves = strand.thread.get().is_none();
                let is_busy = moves && self.threads[home].is_busy.is_raised();
                is_busy.then(|| self.idle(0)).flatten().unwrap_or(home)
            }
        };
        if current == Some(thread) {
            strand.fetch();
        }
        self.threads[thread].set.mark(index);
    }

    pub(super) fn home(&self, index: usize) -> usize {
        self.strands[index].home.get() as usize
    }

    /// The thread that has to run a strand, if it is not `number` and that one may not.
    pub(super) fn thread_instead(&self, index: usize, number: usize) -> Option<usize> {
        match self.strands[index].thread.get() {
            Some(thread) => (thread != number).then_some(thread),
            None => (!self.threads[number].shares).then_some(self.first),
        }
    }

    /// The strands without a thread that are marked in `set`.
    pub(super) fn moving_in(&self, set: &ReadySet) -> impl Iterator<Item = usize> {
        let moves = |index: &usize| self.strands[*index].thread.get().is_none();
        let is_marked = |index: &usize| set.next(*index) == Some(*index);
        (0..self.strands.len()).filter(moves).filter(is_marked)
    }

    /// The first thread from `start` on that is idle, and shares strands.
    pub(super) fn idle(&self, start: usize) -> Option<usize> {
        let is_idle = |of: &ThreadHints| of.shares && of.is_idle.is_announced();
        (start..self.threads.len()).find(|thread| is_idle(&self.threads[*thread]))
    }

    /// The threads that are busy.
    pub(super) fn busy(&self) -> impl Iterator<Item = usize> {
        let is_busy = |thread: &usize| self.threads[*thread].is_busy.is_announced();
        (0..self.threads.len()).filter(is_busy)
    }

    /// The strands without a thread that are at home on this one, with their deadlines, but for
    /// the one that it runs.
    pub(super) fn deadlines_of(&self, thread: usize) -> impl Iterator<Item = (usize, Time)> {
        let running = self.threads[thread].event.strand.get();
        let moves = move |index: &usize| {
            self.strands[*index].thread.get().is_none()
                && self.home(*index) == thread
                && *index as u64 + 1 != running
        };
        (0..self.strands.len())
            .filter(moves)
            .map(move |index| (index, self.threads[thread].deadline(index)))
    }
}

impl ThreadHints {
    pub(super) fn new(shares: bool, strands: usize) -> Self {
        Self {
            set: Arc::new(ReadySet::new(strands)),
            shares,
            is_idle: CachePadded::default(),
            is_busy: CachePadded::default(),
            event: CachePadded::default(),
            deadlines: (0..strands).map(|_| Counter::default()).collect(),
        }
    }

    #[inline]
    pub(super) fn deadline(&self, index: usize) -> Time {
        Time::from_nanos(self.deadlines[index].get())
    }
}
