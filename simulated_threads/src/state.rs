//! The threads of a world: which of them are ready, and for what and until when the others wait.

use crate::choice::{Choices, Chooser, Order};
use crate::descriptors::Descriptors;
use crate::random::{Random, mix};
use crate::report::Waiting;
use crate::turn::Turn;
use crate::wait::{NEVER, Nanos, Slot, Wait, Woken};
use ringspin_modes::threads::ThreadInfo;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// How often threads may read the clock or yield at one instant, before that takes time: a loop
/// that waits for another time must see one.
const IDLE_CALLS_MAX: u32 = 1000;

/// How often a thread may be woken for a lock that another one has taken again, before that one
/// gives way: a loop that has a lock for nearly all the time would keep it forever.
const LOST_LOCKS_MAX: u32 = 16;

/// How many threads run before those that wait for descriptors are asked, if others are ready.
const POLL_INTERVAL: u64 = 64;

/// A thread of a world.
pub(crate) struct Seat {
    /// Its number is in order of creation, from zero; no other thread of the world ever has it.
    pub(crate) thread: ThreadInfo,
    pub(crate) turn: Arc<Turn>,
    /// Its `pthread_t`.
    handle: Option<usize>,
    pub(crate) wait: Wait,
    /// The futex for which it waits, or waited before.
    pub(crate) futex: Option<FutexWait>,
    /// The order of its wait among all waits.
    since: u64,
    deadline: Nanos,
    pub(crate) woken: Woken,
    /// How often in succession it was woken for a lock that was taken again before it ran.
    pub(crate) lost_locks: u32,
    /// How many times other threads had run when this wait began.
    runs: u64,
    is_expired: bool,
}

/// A thread's wait for a futex.
#[derive(Clone, Copy)]
pub(crate) struct FutexWait {
    pub(crate) address: usize,
    /// The value of the futex at the begin.
    pub(crate) value: u32,
    /// The value of the futex at the wake-up.
    value_at_wake: u32,
    /// Once a wake-up has ended the wait: the value of the futex when the thread ran, and how many
    /// steps threads had made then.
    pub(crate) end: Option<(u32, u64)>,
}

impl FutexWait {
    pub(crate) fn new(address: usize, value: u32) -> Self {
        Self { address, value, value_at_wake: 0, end: None }
    }

    /// Whether the wake-up that ended this wait was for a lock that the thread did not get, as it
    /// begins to wait again after so many steps. Another thread has changed the futex in between;
    /// or the value is the number of the wake-up, as for a writer of the standard library's
    /// `RwLock`, and the thread did nothing else.
    pub(crate) fn is_lost(&self, again: &Self, steps: u64) -> bool {
        let Some((value_at_end, steps_at_end)) = self.end else { return false };
        again.address == self.address
            && match again.value == self.value {
                true => value_at_end != self.value_at_wake,
                false => again.value == self.value_at_wake && steps == steps_at_end,
            }
    }
}

/// The state that threads change, each in its turn.
pub(crate) struct State {
    seats: Vec<Option<Seat>>,
    free: Vec<Slot>,
    created: u64,
    waits: u64,
    ready: VecDeque<Slot>,
    /// How many times a thread ran that was not idle.
    runs: u64,
    waiting: BTreeMap<(Wait, u64), Slot>,
    /// The threads that have not ended, by their handles.
    handles: BTreeMap<usize, Slot>,
    deadlines: BTreeSet<(Nanos, u64, Slot)>,
    pub(crate) descriptors: Descriptors,
    pub(crate) random: Random,
    /// Chooses the next thread, if it is not the first that is ready.
    chooser: Option<Chooser>,
    /// Whether the first thread that is ready was chosen already.
    is_chosen: bool,
    /// Calls at this instant that read the clock or yield.
    idle_calls: u32,
    instant_switches: u64,
    hash: u64,
}

impl State {
    /// No threads. Without an `order`, the thread runs next that has been ready for the longest
    /// time.
    pub(crate) fn new(seed: u64, order: Option<&Order>) -> Self {
        Self {
            seats: Vec::new(),
            free: Vec::new(),
            created: 0,
            waits: 0,
            ready: VecDeque::new(),
            runs: 0,
            waiting: BTreeMap::new(),
            handles: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            descriptors: Descriptors::default(),
            random: Random::new(seed),
            is_chosen: false,
            chooser: order.map(Chooser::new),
            idle_calls: 0,
            instant_switches: 0,
            hash: 0,
        }
    }

    /// How many threads were created.
    pub(crate) fn created(&self) -> u64 {
        self.created
    }

    /// A digest of which thread ran when.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Makes `digest` part of the digest.
    pub(crate) fn note(&mut self, digest: u64) {
        self.hash = mix(self.hash ^ digest);
    }

    /// The choices among threads so far.
    pub(crate) fn choices(&self) -> Choices {
        let made = self.chooser.as_ref().map(Chooser::made);
        made.map(|(made, taken)| Choices { made, taken: taken.to_vec() }).unwrap_or_default()
    }

    /// Adds a thread, which is ready if it `is_ready`.
    pub(crate) fn add(&mut self, is_ready: bool) -> (Slot, Arc<Turn>) {
        let turn = Arc::new(Turn::default());
        let thread = ThreadInfo { number: self.created, name: "".into() };
        self.created += 1;
        let seat = Seat {
            thread,
            turn: turn.clone(),
            handle: None,
            wait: Wait::Nothing,
            futex: None,
            since: 0,
            deadline: NEVER,
            woken: Woken::Ready,
            lost_locks: 0,
            runs: 0,
            is_expired: false,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.seats.push(None);
            self.seats.len() - 1
        });
        self.seats[slot] = Some(seat);
        if is_ready {
            self.ready.push_back(slot);
        }
        (slot, turn)
    }

    /// Takes back the thread that was added last and could not be created.
    pub(crate) fn forget(&mut self, slot: Slot) {
        self.ready.retain(|ready| *ready != slot);
        self.seats[slot] = None;
        self.free.push(slot);
    }

    /// The thread at `slot`, which runs, has ended.
    pub(crate) fn remove(&mut self, slot: Slot) -> Seat {
        let seat = self.seats[slot].take().expect("it runs");
        self.free.push(slot);
        if let Some(handle) = seat.handle {
            self.handles.remove(&handle);
        }
        self.wake(Wait::Join(seat.thread.number), usize::MAX);
        seat
    }

    /// The thread at `slot` has this handle.
    pub(crate) fn set_handle(&mut self, slot: Slot, handle: usize) {
        self.seat_mut(slot).handle = Some(handle);
        self.handles.insert(handle, slot);
    }

    /// The thread with this handle, if it has not ended.
    pub(crate) fn with_handle(&self, handle: usize) -> Option<Slot> {
        self.handles.get(&handle).copied()
    }

    pub(crate) fn seat(&self, slot: Slot) -> &Seat {
        self.seats[slot].as_ref().expect("the thread has not ended")
    }

    pub(crate) fn seat_mut(&mut self, slot: Slot) -> &mut Seat {
        self.seats[slot].as_mut().expect("the thread has not ended")
    }

    /// All threads, and what they wait for.
    pub(crate) fn threads(&self) -> Vec<Waiting> {
        let seats = self.seats.iter().flatten();
        let waiting = |seat: &Seat| Waiting {
            thread: seat.thread.clone(),
            system_number: seat.turn.thread(),
            wait: seat.wait,
        };
        seats.map(waiting).collect()
    }

    /// The threads that wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = Slot> {
        self.waiting.values().copied()
    }

    /// The thread at `slot`, which runs, waits.
    pub(crate) fn suspend(&mut self, slot: Slot, wait: Wait, deadline: Nanos) {
        let (since, runs) = (self.waits, self.runs);
        self.waits += 1;
        let seat = self.seat_mut(slot);
        (seat.wait, seat.since, seat.deadline) = (wait, since, deadline);
        (seat.runs, seat.is_expired) = (runs, false);
        self.waiting.insert((wait, since), slot);
        if deadline != NEVER {
            self.deadlines.insert((deadline, since, slot));
        }
    }

    /// The thread at `slot`, which waits, is ready, after all others that are.
    pub(crate) fn resume(&mut self, slot: Slot, woken: Woken) {
        let seat = self.seat_mut(slot);
        let (wait, since, deadline) = (seat.wait, seat.since, seat.deadline);
        (seat.wait, seat.woken) = (Wait::Nothing, woken);
        self.waiting.remove(&(wait, since));
        if deadline != NEVER {
            self.deadlines.remove(&(deadline, since, slot));
        }
        self.ready.push_back(slot);
    }

    /// The thread at `slot`, which runs, is ready, after all others that are.
    pub(crate) fn requeue(&mut self, slot: Slot) {
        self.ready.push_back(slot);
    }

    /// Whether a thread is ready.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The threads that wait for `what`, in the order in which they began to.
    fn waiting_for(&self, what: Wait) -> impl Iterator<Item = Slot> {
        self.waiting.range((what, 0)..=(what, u64::MAX)).map(|(_, slot)| *slot)
    }

    /// Makes up to `count` threads ready that wait for `what`, in the order in which they began to;
    /// returns their number.
    pub(crate) fn wake(&mut self, what: Wait, count: usize) -> usize {
        for woken in 0..count {
            let first = self.waiting_for(what).next();
            let Some(slot) = first else { return woken };
            self.resume(slot, Woken::Ready);
        }
        count
    }

    /// Whether the next thread to be woken from `lock`, which has this value, starves.
    pub(crate) fn prepare_wake(&mut self, lock: Wait, value: u32) -> bool {
        let Some(slot) = self.waiting_for(lock).next() else { return false };
        let seat = self.seat_mut(slot);
        if let (Wait::Futex(_), Some(futex)) = (lock, &mut seat.futex) {
            futex.value_at_wake = value;
        }
        seat.lost_locks >= LOST_LOCKS_MAX
    }

    /// Takes the next thread of those that are ready and not idle.
    fn choose(&mut self, now: Nanos, runs: bool) -> Option<Slot> {
        let Some(chooser) = self.chooser.as_mut().filter(|_| self.ready.len() > 1) else {
            return self.ready.pop_front();
        };
        let thread = |slot: &Slot| self.seats[*slot].as_ref().map(|seat| &seat.thread);
        let threads: Vec<_> = self.ready.iter().filter_map(thread).collect();
        let chosen = chooser.choose(now, &threads, runs);
        self.ready.remove(chosen)
    }

    /// Whether another thread than the one at `me`, which runs and could go on, is chosen to run
    /// next.
    pub(crate) fn choose_instead(&mut self, me: Slot, now: Nanos) -> bool {
        self.ready.push_front(me);
        let Some(next) = self.choose(now, true).filter(|next| *next != me) else { return false };
        self.ready.push_front(next);
        self.is_chosen = true;
        true
    }

    /// Takes the next thread that is ready. Schedulers are, as soon as no other one is, and others
    /// ran.
    fn next(&mut self, now: Nanos) -> Option<Slot> {
        let chosen = match std::mem::take(&mut self.is_chosen) {
            true => self.ready.pop_front(),
            false => self.choose(now, false),
        };
        if let Some(slot) = chosen {
            self.runs += 1;
            return Some(slot);
        }
        let is_due = |slot: &Slot| {
            let seat = self.seat(*slot);
            seat.is_expired || seat.runs != self.runs
        };
        let due = self.waiting_for(Wait::Idle).find(is_due)?;
        self.resume(due, Woken::Ready);
        self.ready.pop_back()
    }

    /// Takes the next thread that can run at this instant, and notes it in the digest.
    pub(crate) fn take_next(&mut self, now: Nanos) -> Option<Slot> {
        if self.instant_switches.is_multiple_of(POLL_INTERVAL) || self.ready.is_empty() {
            self.poll();
        }
        let next = self.next(now)?;
        self.instant_switches += 1;
        self.hash = mix(mix(self.hash ^ now) ^ self.seat(next).thread.number);
        Some(next)
    }

    /// How many times threads ran at this instant.
    pub(crate) fn instant_switches(&self) -> u64 {
        self.instant_switches
    }

    /// The earliest deadline.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        let thread = self.deadlines.first().map(|(deadline, ..)| *deadline);
        let timer = self.descriptors.next_deadline();
        thread.into_iter().chain(timer).min()
    }

    /// A new instant begins.
    pub(crate) fn begin_instant(&mut self) {
        (self.idle_calls, self.instant_switches) = (0, 0);
    }

    /// Threads and timers that wait for a time up to `now` are ready: schedulers after all others.
    pub(crate) fn expire(&mut self, now: Nanos) {
        self.descriptors.expire(now);
        let due = self.deadlines.iter().take_while(|(deadline, ..)| *deadline <= now);
        let due: Vec<_> = due.map(|(.., slot)| *slot).collect();
        for slot in due {
            match self.seat(slot).wait {
                Wait::Idle => self.seat_mut(slot).is_expired = true,
                _ => self.resume(slot, Woken::TimedOut),
            }
        }
    }

    /// Tells the first idle scheduler that no thread is ever ready by itself; false if there is
    /// none.
    pub(crate) fn tell_idle(&mut self) -> bool {
        let Some(slot) = self.waiting_for(Wait::Idle).next() else { return false };
        self.resume(slot, Woken::Quiet);
        true
    }

    /// Makes threads ready whose descriptors are.
    fn poll(&mut self) {
        let waiting: Vec<_> = self.waiting_for(Wait::Descriptors).collect();
        for slot in waiting {
            let number = self.seat(slot).thread.number;
            if self.descriptors.is_ready(number) {
                self.resume(slot, Woken::Ready);
            }
        }
    }

    /// Whether reading the clock or yielding takes time by now.
    pub(crate) fn passes_time(&mut self) -> bool {
        self.idle_calls += 1;
        self.idle_calls > IDLE_CALLS_MAX
    }
}
