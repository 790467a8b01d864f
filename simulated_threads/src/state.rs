//! The threads of a world: the ready ones in order, and the waits of the others with their
//! deadlines.
//!
//! The thread that has the turn reads and writes the state, under the lock of its world, which it
//! never holds over a wait. Without a chooser, ready threads run first-in first-out. Waits lie in
//! ordered maps, by their object and then their order, and by deadline: a wake-up and an expiry
//! take threads in an order that every run repeats, which no hash map would have. The digest takes
//! the time and the thread of each turn, so that two runs are compared by one number.

use crate::children::{Children, Looks};
use crate::choice::{Choices, Chooser, generator};
use crate::descriptors::Descriptors;
use crate::family::Family;
use crate::os;
use crate::report::Waiting;
use crate::signal_timers::{Signal, SignalTimers};
use crate::turn::Turn;
use crate::wait::{NEVER, Nanos, Slot, Wait, Woken};
use ringspin_modes::random::{SplitMix64, mix};
use ringspin_modes::threads::ThreadInfo;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How often threads may read the clock or yield at one instant, before that takes time: a loop
/// that waits for another time must see one.
const IDLE_CALLS_MAX: u32 = 1000;

/// How often a thread may yield after a pause before it pauses again.
const YIELDS_MAX: u32 = 10;

/// The first pause of a thread that yields, and the longest one. Each is longer than the last by a
/// sixteenth, so a loop that waits for a time sees it with such a part of the wait as delay.
const PAUSE_MIN: Nanos = 10_000;
const PAUSE_MAX: Nanos = 1_000_000;

/// How often a thread may be woken for a lock that another one has taken again, before that one
/// gives way: a loop that has a lock for nearly all the time would keep it forever.
const LOST_LOCKS_MAX: u32 = 16;

/// How many threads run before those that wait for descriptors are asked, if others are ready.
const POLL_INTERVAL: u64 = 64;

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
    /// The signals that other threads have sent it, until its next turn.
    pub(crate) signals: Vec<Signal>,
    /// How often in succession it was woken for a lock that was taken again before it ran.
    pub(crate) lost_locks: u32,
    /// How many times other threads had run when this wait began.
    runs: u64,
    is_expired: bool,
    /// Its last pause, and how often it has yielded since; zero once it waits for something.
    pause: Nanos,
    yields: u32,
}

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
    /// How many threads were created.
    pub(crate) created: u64,
    waits: u64,
    ready: VecDeque<Slot>,
    /// How many times a thread ran that was not idle.
    runs: u64,
    waiting: BTreeMap<(Wait, u64), Slot>,
    /// The threads that have not ended, by their handles.
    handles: BTreeMap<usize, Slot>,
    deadlines: BTreeSet<(Nanos, u64, Slot)>,
    pub(crate) descriptors: Descriptors,
    pub(crate) children: Children,
    pub(crate) family: Family,
    pub(crate) signal_timers: SignalTimers,
    pub(crate) random: SplitMix64,
    /// Chooses the next thread, if it is not the first that is ready.
    chooser: Option<Chooser>,
    /// Whether the first thread that is ready was chosen already.
    is_chosen: bool,
    /// Calls at this instant that read the clock or yield.
    idle_calls: u32,
    /// How many times threads ran at this instant.
    pub(crate) instant_switches: u64,
    /// A digest of which thread ran when.
    pub(crate) hash: u64,
}

impl State {
    /// No threads. Without a `chooser`, the thread runs next that has been ready for the longest
    /// time.
    pub(crate) fn new(seed: u64, chooser: Option<Chooser>) -> Self {
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
            children: Children::default(),
            family: Family::default(),
            signal_timers: SignalTimers::default(),
            random: generator(seed),
            is_chosen: false,
            chooser,
            idle_calls: 0,
            instant_switches: 0,
            hash: 0,
        }
    }

    /// Makes `digest` part of the digest.
    pub(crate) fn note(&mut self, digest: u64) {
        self.hash = mix(self.hash ^ digest);
    }

    /// The choices among threads so far.
    pub(crate) fn choices(&self) -> Choices {
        self.chooser.as_ref().map(Chooser::made).unwrap_or_default()
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
            signals: Vec::new(),
            lost_locks: 0,
            runs: 0,
            is_expired: false,
            pause: 0,
            yields: 0,
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

    pub(crate) fn threads(&self) -> Vec<Waiting> {
        let seats = self.seats.iter().flatten();
        let waiting = |seat: &Seat| Waiting {
            thread: seat.thread.clone(),
            system_number: seat.turn.thread(),
            wait: seat.wait,
        };
        seats.map(waiting).collect()
    }

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

    /// Ends the wait of the thread at `slot`, unless only its event does.
    pub(crate) fn interrupt(&mut self, slot: Slot) {
        if self.seat(slot).wait.can_be_interrupted() {
            self.resume(slot, Woken::Interrupted { restarts: true });
        }
    }

    /// Sends a signal to the thread at `slot`, which does not run.
    pub(crate) fn send(&mut self, slot: Slot, signal: Signal) {
        self.seat_mut(slot).signals.push(signal);
        self.interrupt(slot);
    }

    /// Sends a signal to the process, no thread of which runs: to the oldest one.
    pub(crate) fn signal(&mut self, signal: Signal) {
        let seats = self.seats.iter().enumerate();
        let numbers = seats.filter_map(|(slot, seat)| Some((seat.as_ref()?.thread.number, slot)));
        if let Some((_, slot)) = numbers.min() {
            self.send(slot, signal);
        }
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

    /// Whether another thread than the one at `me`, which runs and could continue, is chosen to run
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

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        let thread = self.deadlines.first().map(|(deadline, ..)| *deadline);
        let timer = self.descriptors.next_deadline();
        thread.into_iter().chain(timer).chain(self.signal_timers.next_deadline()).min()
    }

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
        for signal in self.signal_timers.expire(now) {
            self.signal(signal);
        }
    }

    /// Tells the first idle scheduler that no thread is ever ready by itself; false if there is
    /// none.
    pub(crate) fn tell_idle(&mut self) -> bool {
        let Some(slot) = self.waiting_for(Wait::Idle).next() else { return false };
        self.resume(slot, Woken::Quiet);
        true
    }

    /// Makes threads ready that wait for descriptors which are ready.
    fn poll(&mut self) {
        self.descriptors.send_unsent();
        let waiting: Vec<_> = self.waiting_for(Wait::Descriptors).collect();
        for slot in waiting {
            let number = self.seat(slot).thread.number;
            if self.descriptors.is_ready(number) {
                self.resume(slot, Woken::Ready);
            }
        }
        let posted: Vec<_> =
            self.semaphores().filter(|at| os::value_of_semaphore(*at) > 0).collect();
        for semaphore in posted {
            self.wake(Wait::Semaphore(semaphore), 1);
        }
    }

    /// The addresses of the semaphores for which threads wait, and which other processes may share.
    fn semaphores(&self) -> impl Iterator<Item = usize> {
        let all = (Wait::Semaphore(0), 0)..=(Wait::Semaphore(usize::MAX), u64::MAX);
        self.waiting.range(all).filter_map(|((wait, _), _)| match wait {
            Wait::Semaphore(at) => os::is_shared(*at).then_some(*at),
            _ => None,
        })
    }

    /// Whether a thread waits for a descriptor to which a child process may write, or a semaphore
    /// that it may share, and it is to be waited for before time advances. `is_last` if there is no
    /// other process for which the world could wait.
    pub(crate) fn waits_for_children(&self, is_last: bool) -> bool {
        let waits = || {
            self.waiting_for(Wait::Descriptors).next().is_some()
                || self.semaphores().next().is_some()
        };
        let is_due = !self.children.are_slow || (is_last && self.next_deadline().is_none());
        !self.children.is_empty() && is_due && waits()
    }

    /// Waits in real time until a thread is ready that waits for a descriptor or a semaphore; false
    /// if none is, and no child process is to be waited for any more: none has computed for
    /// `idle_max`, or one did for `max`.
    pub(crate) fn wait_for_children(&mut self, idle_max: Duration, max: Duration) -> bool {
        let mut looks = Looks::new(idle_max, max);
        loop {
            self.poll();
            if self.has_ready() {
                return true;
            }
            if !looks.rest(&mut self.children) {
                return false;
            }
        }
    }

    /// The thread at `me` does not only yield: its next pause is a short one again.
    pub(crate) fn end_pauses(&mut self, me: Slot) {
        let seat = self.seat_mut(me);
        (seat.pause, seat.yields) = (0, 0);
    }

    /// The end of the pause of the thread at `me`, which yields; `None` if that takes no time yet.
    /// No pause outlasts the next deadline, at which another thread may change something.
    pub(crate) fn pause(&mut self, me: Slot, now: Nanos) -> Option<Nanos> {
        let takes_time = self.passes_time();
        let next = self.next_deadline().filter(|next| *next > now).unwrap_or(NEVER);
        let seat = self.seat_mut(me);
        seat.yields += 1;
        if !takes_time && (seat.pause == 0 || seat.yields < YIELDS_MAX) {
            return None;
        }
        seat.pause = (seat.pause + seat.pause / 16).clamp(PAUSE_MIN, PAUSE_MAX);
        seat.yields = 0;
        Some((now + seat.pause).min(next))
    }

    /// Whether reading the clock or yielding takes time by now.
    pub(crate) fn passes_time(&mut self) -> bool {
        self.idle_calls += 1;
        self.idle_calls > IDLE_CALLS_MAX
    }
}
