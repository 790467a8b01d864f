//! A world: threads of which one runs at a time, and the simulated time that they share.
//!
//! A thread runs until it waits for something. Then it hands over to the thread that has been ready
//! for the longest time. When no thread is ready, time jumps to the earliest deadline. Nothing here
//! is unsafe: the functions of libc that become these waits are in `interpose`.

use crate::choice::{Choices, Chooser, Order};
use crate::descriptors::Descriptors;
use crate::os;
use crate::random::{Random, mix};
use crate::report::Stuck;
use crate::settings::Settings;
use crate::turn::Turn;
use crate::wait::{NEVER, Nanos, Slot, Wait, Woken};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// How often threads may read the clock or yield at one instant, before that takes time: a loop
/// that waits for another time must see one.
const IDLE_CALLS_MAX: u32 = 1000;

/// The time that they take then.
const IDLE_CALL: Nanos = 10_000;

/// How many threads may run at one instant.
const INSTANT_SWITCHES_MAX: u64 = 10_000_000;

/// How many threads run before those that wait for descriptors are asked, if others are ready.
const POLL_INTERVAL: u64 = 64;

/// A thread of a world.
struct Seat {
    /// In order of creation, from zero; no other thread of the world ever has it.
    number: u64,
    turn: Arc<Turn>,
    /// Its `pthread_t`.
    handle: Option<usize>,
    wait: Wait,
    /// The futex for which it waits, or waited before, and its value at the begin.
    futex: Option<(usize, u32)>,
    /// The order of its wait among all waits.
    since: u64,
    deadline: Nanos,
    woken: Woken,
    /// How many times other threads had run when this wait began.
    runs: u64,
    is_expired: bool,
}

/// The state that threads change, each in its turn.
struct State {
    seats: Vec<Option<Seat>>,
    free: Vec<Slot>,
    created: u64,
    waits: u64,
    ready: VecDeque<Slot>,
    /// How many times a thread ran that was not idle.
    runs: u64,
    waiting: BTreeMap<(Wait, u64), Slot>,
    /// The numbers of threads that have not ended, by their handles.
    handles: BTreeMap<usize, u64>,
    deadlines: BTreeSet<(Nanos, u64, Slot)>,
    descriptors: Descriptors,
    random: Random,
    /// Chooses the next thread, if it is not the first that is ready.
    chooser: Option<Chooser>,
    /// Whether the first thread that is ready was chosen already.
    is_chosen: bool,
    /// Calls at this instant that read the clock or yield.
    idle_calls: u32,
    instant_switches: u64,
    hash: u64,
}

/// Is called with each new time; false if it wants no more.
type OnTime = Box<dyn Fn(Nanos) -> bool + Send>;

/// Threads that share a simulated time.
pub(crate) struct World {
    state: Mutex<State>,
    now: AtomicU64,
    switches: AtomicU64,
    steps: AtomicU64,
    running: AtomicI32,
    /// The operating system's number of the thread that ended last, until it is gone.
    ended: AtomicI32,
    is_over: AtomicBool,
    sockets: AtomicU64,
    settings: Settings,
    /// Whether all threads of the process are in this world.
    is_alone: bool,
    /// Whether a thread can lose its turn where it does not wait.
    is_explored: bool,
    on_time: Mutex<Vec<OnTime>>,
    on_stuck: Box<dyn Fn(Stuck) + Send + Sync>,
}

impl World {
    /// A world without threads. `on_stuck` is called by the last thread that ran, once none can go
    /// on; the world `is_alone` if it has all threads of the process. Without an `order`, the
    /// thread runs next that has been ready for the longest time.
    pub(crate) fn new(
        settings: Settings,
        is_alone: bool,
        order: Option<Order>,
        on_stuck: impl Fn(Stuck) + Send + Sync + 'static,
    ) -> Self {
        let state = State {
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
            random: Random::new(settings.seed),
            is_chosen: false,
            chooser: order.as_ref().map(Chooser::new),
            idle_calls: 0,
            instant_switches: 0,
            hash: 0,
        };
        Self {
            state: Mutex::new(state),
            now: AtomicU64::new(settings.start.as_nanos() as Nanos),
            switches: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            running: AtomicI32::new(0),
            ended: AtomicI32::new(0),
            is_over: AtomicBool::new(false),
            sockets: AtomicU64::new(0),
            settings,
            is_alone,
            is_explored: order.is_some(),
            on_time: Mutex::default(),
            on_stuck: Box::new(on_stuck),
        }
    }

    /// The time.
    pub(crate) fn now(&self) -> Nanos {
        self.now.load(Ordering::Relaxed)
    }

    /// No thread runs any more.
    pub(crate) fn end_all(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Whether no thread runs any more.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// A number that changes with each step that a thread takes here.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// The number that the operating system gave the thread that runs; zero while one hands over.
    pub(crate) fn running(&self) -> i32 {
        self.running.load(Ordering::Relaxed)
    }

    /// How many threads were created.
    pub(crate) fn threads(&self) -> u64 {
        self.state().created
    }

    /// The settings.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether no thread of the process is outside.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// The number of processors.
    pub(crate) fn processors(&self) -> usize {
        self.settings.processors.get()
    }

    /// Whether threads may create sockets.
    pub(crate) fn allows_sockets(&self) -> bool {
        self.settings.allows_sockets
    }

    /// A socket is created.
    pub(crate) fn note_socket(&self) {
        self.sockets.fetch_add(1, Ordering::Relaxed);
    }

    /// How many sockets were created.
    pub(crate) fn sockets(&self) -> u64 {
        self.sockets.load(Ordering::Relaxed)
    }

    /// How often another thread than the last one ran.
    pub(crate) fn switches(&self) -> u64 {
        self.switches.load(Ordering::Relaxed)
    }

    /// A digest of which thread ran when.
    pub(crate) fn digest(&self) -> u64 {
        self.state().hash
    }

    /// From now on `on_time` is called with each new time, and now, until it returns false.
    pub(crate) fn follow(&self, on_time: impl Fn(Nanos) -> bool + Send + 'static) {
        if on_time(self.now()) {
            lock(&self.on_time).push(Box::new(on_time));
        }
    }

    /// Adds a thread, which is ready if it `is_ready`; otherwise it is the one that runs.
    pub(crate) fn add(&self, is_ready: bool) -> (Slot, Arc<Turn>) {
        let mut state = self.state();
        let turn = Arc::new(Turn::default());
        let number = state.created;
        state.created += 1;
        if !is_ready {
            self.running.store(os::this_thread(), Ordering::Relaxed);
        }
        let seat = Seat {
            number,
            turn: turn.clone(),
            handle: None,
            wait: Wait::Nothing,
            futex: None,
            since: 0,
            deadline: NEVER,
            woken: Woken::Ready,
            runs: 0,
            is_expired: false,
        };
        let slot = state.free.pop().unwrap_or_else(|| {
            state.seats.push(None);
            state.seats.len() - 1
        });
        state.seats[slot] = Some(seat);
        if is_ready {
            state.ready.push_back(slot);
        }
        (slot, turn)
    }

    /// Takes back the thread that was added last and could not be created.
    pub(crate) fn forget(&self, slot: Slot) {
        let mut state = self.state();
        state.ready.retain(|ready| *ready != slot);
        state.seats[slot] = None;
        state.free.push(slot);
    }

    /// The number of the thread at `slot`.
    pub(crate) fn number(&self, slot: Slot) -> u64 {
        self.state().seat(slot).number
    }

    /// The thread at `slot` has this handle.
    pub(crate) fn name(&self, slot: Slot, handle: usize) {
        let mut state = self.state();
        let number = state.seat(slot).number;
        state.seat_mut(slot).handle = Some(handle);
        state.handles.insert(handle, number);
    }

    /// The number of the thread with this handle, if it has not ended.
    pub(crate) fn thread_of(&self, handle: usize) -> Option<u64> {
        self.state().handles.get(&handle).copied()
    }

    /// The thread at `me`, which runs, ends: another one runs.
    pub(crate) fn end(&self, me: Slot) {
        let mut state = self.state();
        let seat = state.seats[me].take().expect("it runs");
        state.free.push(me);
        if let Some(handle) = seat.handle {
            state.handles.remove(&handle);
        }
        state.wake(Wait::Join(seat.number), usize::MAX);
        self.ended.store(seat.turn.thread(), Ordering::Relaxed);
        if let Some(next) = self.pick(state) {
            self.running.store(0, Ordering::Relaxed);
            next.give();
        }
    }

    /// The thread at `me`, which runs, waits until it is woken, or its deadline comes.
    pub(crate) fn wait(&self, me: Slot, wait: Wait, deadline: Nanos) -> Woken {
        let mut state = self.state();
        state.suspend(me, wait, deadline);
        self.switch(me, state);
        self.state().seat(me).woken
    }

    /// Waits like [`wait`](Self::wait) for the futex at `address`, which has this value.
    pub(crate) fn wait_for_futex(
        &self,
        me: Slot,
        address: usize,
        value: u32,
        deadline: Nanos,
    ) -> Woken {
        self.state().seat_mut(me).futex = Some((address, value));
        self.wait(me, Wait::Futex(address), deadline)
    }

    /// Sleeps until `deadline`; others run, also if it has come.
    pub(crate) fn sleep(&self, me: Slot, deadline: Nanos) {
        match deadline > self.now() {
            true => drop(self.wait(me, Wait::Sleep, deadline)),
            false => self.yield_now(me),
        }
    }

    /// Makes up to `count` threads ready that wait for `what`, in the order in which they began to;
    /// returns their number.
    pub(crate) fn wake(&self, what: Wait, count: usize) -> usize {
        self.state().wake(what, count)
    }

    /// All other threads that are ready run before the one at `me` goes on.
    pub(crate) fn yield_now(&self, me: Slot) {
        let mut state = self.state();
        match state.passes_time() {
            true => {
                let deadline = self.now() + IDLE_CALL;
                state.suspend(me, Wait::Sleep, deadline);
            }
            false => state.ready.push_back(me),
        }
        self.switch(me, state);
    }

    /// The thread at `me` could go on; in an exploration another one may run first.
    #[inline]
    pub(crate) fn pass(&self, me: Slot) {
        if self.is_explored {
            self.lose_turn(me);
        }
    }

    #[cold]
    fn lose_turn(&self, me: Slot) {
        let mut state = self.state();
        if state.ready.is_empty() {
            return;
        }
        state.ready.push_front(me);
        if let Some(next) = state.choose(self.now(), true)
            && next != me
        {
            state.ready.push_front(next);
            state.is_chosen = true;
            self.switch(me, state);
        }
    }

    /// The choices among threads so far.
    pub(crate) fn choices(&self) -> Choices {
        let state = self.state();
        let made = state.chooser.as_ref().map(Chooser::made);
        made.map(|(made, taken)| Choices { made, taken: taken.to_vec() }).unwrap_or_default()
    }

    /// Reads the clock for the thread at `me`.
    pub(crate) fn read_clock(&self, me: Slot) -> Nanos {
        self.pass(me);
        if self.state().passes_time() {
            self.sleep(me, self.now() + IDLE_CALL);
        }
        self.now()
    }

    /// Random bytes.
    pub(crate) fn fill(&self, bytes: &mut [u8]) {
        self.state().random.fill(bytes);
    }

    /// Calls `with` with the descriptors of the world, and the time.
    pub(crate) fn with_descriptors<R>(&self, with: impl FnOnce(&mut Descriptors, Nanos) -> R) -> R {
        with(&mut self.state().descriptors, self.now())
    }

    /// The scheduler at `me` has events: whether other threads are ready and go first.
    pub(crate) fn run_others(&self, me: Slot) -> bool {
        let state = self.state();
        if state.ready.is_empty() {
            return false;
        }
        drop(state);
        self.wait(me, Wait::Idle, self.now());
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        add_one(&self.steps);
        lock(&self.state)
    }

    /// Another thread runs until it is the turn of the one at `me` again.
    fn switch(&self, me: Slot, state: MutexGuard<'_, State>) {
        let own = state.seat(me).turn.clone();
        let next = self.pick(state);
        match next {
            Some(next) if Arc::ptr_eq(&next, &own) => return,
            Some(next) => {
                self.running.store(0, Ordering::Relaxed);
                next.give();
            }
            None => {}
        }
        self.take(&own);
    }

    /// Waits for the turn of the calling thread, and takes it.
    pub(crate) fn take(&self, own: &Turn) {
        own.wait();
        // A thread gives its heap and its stack back after its last turn: addresses that are given
        // out from now on would depend on when it does.
        match self.ended.swap(0, Ordering::Relaxed) {
            0 => {}
            ended => os::wait_for_end(ended),
        }
        self.running.store(own.thread(), Ordering::Relaxed);
    }

    /// Chooses the next thread. Nothing is chosen once no thread can go on.
    fn pick(&self, mut state: MutexGuard<'_, State>) -> Option<Arc<Turn>> {
        loop {
            if state.instant_switches.is_multiple_of(POLL_INTERVAL) || state.ready.is_empty() {
                state.poll();
            }
            if let Some(next) = state.next(self.now()) {
                state.instant_switches += 1;
                let (number, turn) = (state.seat(next).number, state.seat(next).turn.clone());
                state.hash = mix(mix(state.hash ^ self.now()) ^ number);
                add_one(&self.switches);
                if state.instant_switches < INSTANT_SWITCHES_MAX {
                    return Some(turn);
                }
                return self.stop(state, true);
            }
            match state.next_deadline() {
                _ if !self.is_alone && self.wake_from_outside(&mut state) => {}
                Some(deadline) => {
                    if deadline > self.now() {
                        self.now.store(deadline, Ordering::Relaxed);
                        (state.idle_calls, state.instant_switches) = (0, 0);
                        lock(&self.on_time).retain(|on_time| on_time(deadline));
                    }
                    state.expire(deadline);
                }
                None if state.tell_idle() => {}
                None => return self.stop(state, false),
            }
        }
    }
}

/// How often a world without a deadline looks for a wake-up from outside, and how long it rests in
/// real time before each look.
const LOOKS: u32 = 200;
const REST: Duration = Duration::from_millis(1);

impl World {
    /// Wakes the threads whose futexes have changed though none of this world has woken them: a
    /// thread outside has, as one that prints a test's result and holds the standard output. When
    /// no thread waits for a time, there may be one that is about to.
    fn wake_from_outside(&self, state: &mut State) -> bool {
        let looks = if state.next_deadline().is_none() { LOOKS } else { 1 };
        for look in 0..looks {
            if look > 0 {
                os::sleep(REST);
            }
            let changed = |slot: &Slot| {
                let seat = state.seat(*slot);
                let futex = seat.futex.filter(|_| matches!(seat.wait, Wait::Futex(_)));
                futex.is_some_and(|(address, value)| os::futex_value(address) != value)
            };
            let changed: Vec<_> = state.waiting.values().copied().filter(changed).collect();
            if !changed.is_empty() {
                changed.iter().for_each(|slot| state.resume(*slot, Woken::Ready));
                return true;
            }
        }
        false
    }

    /// No thread runs any more.
    fn stop(&self, state: MutexGuard<'_, State>, is_livelock: bool) -> Option<Arc<Turn>> {
        let seats = state.seats.iter().flatten();
        let threads = seats.map(|seat| (seat.number, seat.turn.thread(), seat.wait));
        let threads = threads.collect();
        drop(state); // their names are read from files, which are closed
        // None is to be watched any more: a report with backtraces takes its time.
        self.running.store(0, Ordering::Relaxed);
        (self.on_stuck)(Stuck::new(self.now(), is_livelock, threads));
        None
    }
}

impl State {
    fn seat(&self, slot: Slot) -> &Seat {
        self.seats[slot].as_ref().expect("the thread has not ended")
    }

    fn seat_mut(&mut self, slot: Slot) -> &mut Seat {
        self.seats[slot].as_mut().expect("the thread has not ended")
    }

    fn suspend(&mut self, slot: Slot, wait: Wait, deadline: Nanos) {
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

    fn resume(&mut self, slot: Slot, woken: Woken) {
        let seat = self.seat_mut(slot);
        let (wait, since, deadline) = (seat.wait, seat.since, seat.deadline);
        (seat.wait, seat.woken) = (Wait::Nothing, woken);
        self.waiting.remove(&(wait, since));
        if deadline != NEVER {
            self.deadlines.remove(&(deadline, since, slot));
        }
        self.ready.push_back(slot);
    }

    /// The threads that wait for `what`, in the order in which they began to.
    fn waiting_for(&self, what: Wait) -> impl Iterator<Item = Slot> {
        self.waiting.range((what, 0)..=(what, u64::MAX)).map(|(_, slot)| *slot)
    }

    fn wake(&mut self, what: Wait, count: usize) -> usize {
        let woken: Vec<_> = self.waiting_for(what).take(count).collect();
        woken.iter().for_each(|slot| self.resume(*slot, Woken::Ready));
        woken.len()
    }

    /// Takes the next thread of those that are ready and not idle.
    fn choose(&mut self, now: Nanos, runs: bool) -> Option<Slot> {
        let Some(chooser) = self.chooser.as_mut().filter(|_| self.ready.len() > 1) else {
            return self.ready.pop_front();
        };
        let number = |slot: &Slot| self.seats[*slot].as_ref().map_or(0, |seat| seat.number);
        let numbers: Vec<_> = self.ready.iter().map(number).collect();
        self.ready.remove(chooser.choose(now, &numbers, runs))
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

    fn next_deadline(&self) -> Option<Nanos> {
        let thread = self.deadlines.first().map(|(deadline, ..)| *deadline);
        let timer = self.descriptors.next_deadline();
        thread.into_iter().chain(timer).min()
    }

    /// Threads and timers that wait for a time up to `now` are ready: schedulers after all others.
    fn expire(&mut self, now: Nanos) {
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
    fn tell_idle(&mut self) -> bool {
        let Some(slot) = self.waiting_for(Wait::Idle).next() else { return false };
        self.resume(slot, Woken::Quiet);
        true
    }

    /// Makes threads ready whose descriptors are.
    fn poll(&mut self) {
        let waiting: Vec<_> = self.waiting_for(Wait::Descriptors).collect();
        for slot in waiting {
            let number = self.seat(slot).number;
            if self.descriptors.is_ready(number) {
                self.resume(slot, Woken::Ready);
            }
        }
    }

    /// Whether reading the clock or yielding takes time by now.
    fn passes_time(&mut self) -> bool {
        self.idle_calls += 1;
        self.idle_calls > IDLE_CALLS_MAX
    }
}

/// Counts, without other threads that do so at this moment.
fn add_one(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Locks without waiting: the lock is only ever held for a moment, by a thread that runs. A wait
/// for it would be one that the world decides about.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
}
