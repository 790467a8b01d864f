//! Recording: the log of each worker, the clock whose readings are recorded, and the tape, from
//! which a thread takes what all workers logged.
//!
//! Only the worker's thread writes to its ring, and only the writer's thread reads it. A reading of
//! the clock belongs to the callback that runs on the same thread; see [`observed`].

use super::entry::{Entry, EntryKind};
use super::record::FlightHeader;
use crate::error::thread_not_started;
use ringspin_executor::observed::{self, RemoteItem};
use ringspin_executor::{
    CallbackId, Clock, Completion, Dispatch, EventId, EventOrigin, GraphChange, Recorder, Result,
    RosClock, Time,
};
use ringspin_ringbuf::spsc::{Consumer, Producer, ring};
use ringspin_ringbuf::{Counter, Flag};
use std::any::Any;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

/// The entries that wait for the writer, of all workers and of each at least.
const ENTRIES: usize = 1 << 16;
const ENTRIES_MIN: usize = 1 << 10;

/// The bytes of items of the middleware that wait for the writer, of all workers, and their number
/// of each.
const ITEM_BYTES: u64 = 128 << 20;
const ITEMS: usize = 1 << 14;

/// The bytes of an item beside its content, about.
const ITEM_EXTRA_BYTES: u64 = 128;

/// A clock that keeps what callbacks read from it.
pub(crate) struct RecordedClock(pub(crate) Arc<RosClock>);

impl Clock for RecordedClock {
    #[inline]
    fn now(&self) -> Time {
        let now = self.0.now();
        observed::note(now.as_nanos());
        now
    }

    fn begun_at(&self) -> Option<Time> {
        self.0.begun_at()
    }

    fn switches(&self) -> u64 {
        self.0.switches()
    }

    fn completion(&self) -> Time {
        self.0.now()
    }
}

/// Two recorders, of which the first one stays when others are exchanged.
pub(crate) struct Tee {
    pub(crate) first: Box<dyn Recorder>,
    pub(crate) next: Option<Box<dyn Recorder>>,
}

impl Tee {
    /// `first` before `next`, as far as there are any.
    pub(crate) fn before(
        first: Option<Box<dyn Recorder>>,
        next: Option<Box<dyn Recorder>>,
    ) -> Option<Box<dyn Recorder>> {
        match first {
            Some(first) => Some(Box::new(Self { first, next })),
            None => next,
        }
    }

    /// Replaces a recorder by `next`; of a tee, the second one.
    pub(crate) fn exchange(
        recorder: &mut Option<Box<dyn Recorder>>,
        next: Option<Box<dyn Recorder>>,
    ) -> Option<Box<dyn Recorder>> {
        let any = recorder.as_deref_mut().map(|recorder| recorder as &mut dyn Any);
        match any.and_then(|any| any.downcast_mut::<Self>()) {
            Some(tee) => std::mem::replace(&mut tee.next, next),
            None => std::mem::replace(recorder, next),
        }
    }
}

impl Recorder for Tee {
    fn taken(&mut self) {
        self.next.iter_mut().for_each(|next| next.taken());
        self.first.taken();
    }

    fn started(&mut self, dispatch: &Dispatch) {
        self.started_by(dispatch, EventOrigin::Other);
    }

    fn started_by(&mut self, dispatch: &Dispatch, origin: EventOrigin) {
        self.next.iter_mut().for_each(|next| next.started_by(dispatch, origin));
        self.first.started_by(dispatch, origin);
    }

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        self.first.finished(dispatch, completion);
        self.next.iter_mut().for_each(|next| next.finished(dispatch, completion));
    }

    fn skipped(&mut self, dispatch: &Dispatch, origin: EventOrigin) {
        self.first.skipped(dispatch, origin);
        self.next.iter_mut().for_each(|next| next.skipped(dispatch, origin));
    }

    fn changed(&mut self, change: &GraphChange) {
        self.first.changed(change);
        self.next.iter_mut().for_each(|next| next.changed(change));
    }
}

/// Writes a flight record while it is made.
pub trait FlightWriter: Send {
    /// Writes all [rounds](FlightTape::next_round) of `tape`. Runs on a separate thread.
    ///
    /// # Errors
    /// The record is not complete.
    fn write(self: Box<Self>, tape: FlightTape) -> Result<()>;
}

/// The entries of all logs of a run, for the writer.
///
/// They come in rounds. Everything that an entry of a round depends on is in it or in one before,
/// so a record that ends with any round can be replayed.
pub struct FlightTape {
    header: FlightHeader,
    rings: Vec<(Consumer<Entry>, Arc<Counter>)>,
    items: Vec<(Consumer<Arc<RemoteItem>>, Arc<Counter>)>,
    round: Vec<LogPart>,
    /// The entries of each log that wait for the next round.
    held: Vec<Vec<Entry>>,
    is_over: bool,
    clock: Arc<RosClock>,
    shared: Arc<Shared>,
}

/// The part of one log in a round.
#[derive(Clone, Debug, Default)]
pub struct LogPart {
    /// The entries.
    pub entries: Vec<Entry>,
    /// The items of the middleware, to which entries of this round or later ones refer by their
    /// number in the log.
    pub items: Vec<Arc<RemoteItem>>,
    /// How many entries of this log were lost so far, because its ring was full.
    pub lost: u64,
}

#[derive(Default)]
struct Shared {
    /// Raised when no further entries come.
    is_closed: Flag,
    writer: OnceLock<Thread>,
}

impl FlightTape {
    /// The description of the run.
    pub fn header(&self) -> &FlightHeader {
        &self.header
    }

    /// The number of logs: one for each worker, and one for the spins.
    pub fn logs(&self) -> usize {
        self.rings.len()
    }

    /// Waits until a log is filling up, or for `timeout`; returns the next round, with a part of
    /// each log, or `None` after the last one.
    pub fn next_round(&mut self, timeout: Duration) -> Option<&[LogPart]> {
        if self.is_over {
            return None;
        }
        self.shared.writer.get_or_init(thread::current);
        if !self.shared.is_closed.is_raised() {
            thread::park_timeout(timeout);
        }
        self.is_over = self.shared.is_closed.is_raised();
        // A callback that depends on another one starts after that is logged. So of the entries up
        // to now, all that they depend on are found below.
        let now = self.clock.real().now().as_nanos();
        for (n, (ring, lost)) in self.rings.iter_mut().enumerate() {
            let (held, part) = (&mut self.held[n], &mut self.round[n]);
            part.entries.clear();
            part.entries.append(held);
            ring.pop_batch(|entry| part.entries.push(entry));
            part.lost = lost.get();
            // After the entries, so that the items of all of them are there.
            let (items, taken_bytes) = &mut self.items[n];
            part.items.clear();
            items.pop_batch(|item| part.items.push(item));
            taken_bytes.add_by_owner(part.items.iter().map(bytes_of).sum());
            if !self.is_over {
                let end = part.entries.partition_point(|entry| entry.order < now);
                held.extend(part.entries.drain(end..));
            }
        }
        Some(&self.round)
    }
}

/// The room that an item takes.
fn bytes_of(item: &Arc<RemoteItem>) -> u64 {
    item.bytes.len() as u64 + ITEM_EXTRA_BYTES
}

/// The items of a log.
struct ItemLog {
    ring: Producer<Arc<RemoteItem>>,
    /// The bytes that the writer took.
    taken_bytes: Arc<Counter>,
    pushed_bytes: u64,
    bytes_max: u64,
    pushed: u64,
}

impl ItemLog {
    /// The number of the item, `u64::MAX` if there is no room for it, and whether the log is
    /// filling up.
    fn push(&mut self, item: Arc<RemoteItem>) -> (u64, bool) {
        let pushed_bytes = self.pushed_bytes + bytes_of(&item);
        let waiting = pushed_bytes - self.taken_bytes.get();
        let is_filling_up = waiting > self.bytes_max / 4;
        if waiting > self.bytes_max || self.ring.push(item).is_err() {
            return (u64::MAX, true);
        }
        self.pushed_bytes = pushed_bytes;
        self.pushed += 1;
        (self.pushed - 1, is_filling_up)
    }
}

/// One log: the end of a ring at which a worker writes.
struct Log {
    ring: Producer<Entry>,
    lost: Arc<Counter>,
    items: ItemLog,
    shared: Arc<Shared>,
    pushed: usize,
    /// The writer is woken when these bits of the number of pushed entries are zero.
    wake_mask: usize,
    clock: Arc<RosClock>,
}

impl Log {
    #[inline]
    fn push(&mut self, mut entry: Entry) {
        if self.clock.is_followed() {
            entry.order = self.clock.real().now().as_nanos();
        }
        match self.ring.push(entry) {
            Ok(()) => {
                self.pushed = self.pushed.wrapping_add(1);
                if self.pushed & self.wake_mask == 0 {
                    self.wake();
                }
            }
            Err(_) => self.lost.add_by_owner(1),
        }
    }

    /// Pushes the observations of this thread since an event was taken.
    fn push_observations(&mut self, dispatch: &Dispatch) {
        self.push_items(dispatch);
        let Dispatch { callback, event, time, .. } = *dispatch;
        observed::end_record(|seen| {
            for &reading in &seen.readings {
                let entry = Entry::new(EntryKind::Read, callback, event, time);
                self.push(Entry { extra: reading, ..entry });
            }
            for &(receiver, number) in &seen.refused {
                let entry = Entry::new(EntryKind::Refused, CallbackId(receiver), event, time);
                self.push(Entry { extra: number.into(), ..entry });
            }
        });
    }

    /// Pushes the items that were taken from the middleware since the last call.
    fn push_items(&mut self, dispatch: &Dispatch) {
        let Dispatch { callback, event, time, .. } = *dispatch;
        observed::take_items(|item| {
            let (number, is_filling_up) = self.items.push(item);
            let entry = Entry::new(EntryKind::Item, callback, event, time);
            self.push(Entry { extra: number, ..entry });
            if is_filling_up {
                self.wake();
            }
        });
    }

    #[cold]
    fn wake(&self) {
        self.shared.writer.get().into_iter().for_each(Thread::unpark);
    }
}

/// The entry of an event of this origin.
fn entry_of(
    (message, timer, other): (EntryKind, EntryKind, EntryKind),
    dispatch: &Dispatch,
    origin: EventOrigin,
) -> Entry {
    let Dispatch { time, callback, event, .. } = *dispatch;
    match origin {
        EventOrigin::Message { .. } => Entry::new(message, callback, event, time),
        EventOrigin::Other => Entry::new(other, callback, event, time),
        EventOrigin::Timer(due) => {
            Entry { extra: due.as_nanos(), ..Entry::new(timer, callback, event, time) }
        }
    }
}

/// The kinds of events with a callback, and without one.
const CALLED: (EntryKind, EntryKind, EntryKind) =
    (EntryKind::Message, EntryKind::Timer, EntryKind::Other);
const SKIPPED: (EntryKind, EntryKind, EntryKind) =
    (EntryKind::Skipped, EntryKind::Skipped, EntryKind::Skipped);

impl Recorder for Log {
    #[inline]
    fn taken(&mut self) {
        observed::record();
    }

    fn started(&mut self, dispatch: &Dispatch) {
        self.started_by(dispatch, EventOrigin::Other);
    }

    #[inline]
    fn started_by(&mut self, dispatch: &Dispatch, origin: EventOrigin) {
        self.push(entry_of(CALLED, dispatch, origin));
        self.push_items(dispatch); // also of a callback that ends the process
    }

    #[inline]
    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        self.push_observations(dispatch);
        let (extra, sequence) =
            (completion.digest.unwrap_or(0), completion.digest.is_some().into());
        let entry =
            Entry::new(EntryKind::Finished, dispatch.callback, EventId::NONE, completion.time);
        self.push(Entry { extra, sequence, ..entry });
    }

    fn skipped(&mut self, dispatch: &Dispatch, origin: EventOrigin) {
        self.push(entry_of(SKIPPED, dispatch, origin));
        self.push_observations(dispatch);
    }
}

/// The recorder of a run: it has a log for each worker and one for the spins, and joins the thread
/// of the writer at its end.
pub(crate) struct FlightRecorder {
    spins: Log,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl FlightRecorder {
    /// Starts `writer` on a thread; returns the recorder, and the logs of the workers.
    pub(crate) fn start(
        writer: Box<dyn FlightWriter>,
        header: FlightHeader,
        clock: &Arc<RosClock>,
        workers: usize,
    ) -> Result<(Self, Vec<Box<dyn Recorder>>)> {
        let shared = Arc::<Shared>::default();
        let entries = (ENTRIES / (workers + 1)).next_power_of_two().max(ENTRIES_MIN);
        let (mut rings, mut item_rings) = (Vec::new(), Vec::new());
        let mut log = || {
            let ((item_ring, items), taken_bytes) = (ring(ITEMS), Arc::<Counter>::default());
            item_rings.push((items, taken_bytes.clone()));
            let ((ring, consumer), lost) = (ring(entries), Arc::<Counter>::default());
            rings.push((consumer, lost.clone()));
            let items = ItemLog {
                ring: item_ring,
                taken_bytes,
                pushed_bytes: 0,
                bytes_max: ITEM_BYTES / workers.max(1) as u64,
                pushed: 0,
            };
            let (shared, clock) = (shared.clone(), clock.clone());
            Log { ring, lost, items, shared, pushed: 0, wake_mask: entries / 4 - 1, clock }
        };
        let logs: Vec<Log> = (0..workers).map(|_| log()).collect();
        let spins = log();
        let (round, held) = (vec![LogPart::default(); rings.len()], vec![Vec::new(); rings.len()]);
        let (clock, is_over) = (clock.clone(), false);
        let items = item_rings;
        let tape_shared = shared.clone();
        let tape =
            FlightTape { header, rings, items, round, held, is_over, clock, shared: tape_shared };
        let thread = thread::Builder::new().name("ringspin-flight".into());
        let thread = thread.spawn(move || writer.write(tape));
        let thread = Some(thread.map_err(|error| thread_not_started(&error.to_string()))?);
        let logs = logs.into_iter().map(|log| Box::new(log) as Box<dyn Recorder>).collect();
        Ok((Self { spins, shared, thread }, logs))
    }

    /// A spin has ended.
    pub(crate) fn spun(&mut self) {
        let now = self.spins.clock.now();
        self.spins.push(Entry::new(EntryKind::Spun, CallbackId(0), EventId::NONE, now));
    }
}

impl Drop for FlightRecorder {
    fn drop(&mut self) {
        self.shared.is_closed.raise();
        let Some(thread) = self.thread.take() else { return };
        thread.thread().unpark();
        match thread.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the flight record is not complete"),
            Err(_) => tracing::error!("the flight record is not complete: its writer panicked"),
        }
    }
}
