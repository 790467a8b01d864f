//! A world: threads of which one runs at a time, and the simulated time that they share.
//!
//! A thread runs until it waits for something. Then it hands over to the thread that has been ready
//! for the longest time. When no thread is ready, time jumps to the earliest deadline. Nothing here
//! is unsafe: the functions of libc that become these waits are in `interpose`.

use crate::choice::{Choices, Order};
use crate::descriptors::Descriptors;
use crate::report::Stuck;
use crate::settings::Settings;
use crate::state::{FutexWait, State};
use crate::trace::Trace;
use crate::turn::Turn;
use crate::wait::{Nanos, Slot, Wait, Woken};
use crate::{os, output, outside};
use ringspin_modes::threads::ThreadInfo;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};

/// The time that reading the clock or yielding takes once threads have done so too often.
const IDLE_CALL: Nanos = 10_000;

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
    children: AtomicU64,
    /// The file with the order of threads.
    trace: Mutex<Option<Trace>>,
    settings: Settings,
    /// Whether all threads of the process are in this world.
    is_alone: bool,
    /// Whether a thread can lose its turn where it does not wait.
    is_explored: bool,
    on_time: Mutex<Vec<OnTime>>,
    end: OnceLock<(Nanos, fn() -> !)>,
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
        Self {
            state: Mutex::new(State::new(settings.seed, order.as_ref())),
            now: AtomicU64::new(settings.start.as_nanos() as Nanos),
            switches: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            running: AtomicI32::new(0),
            ended: AtomicI32::new(0),
            is_over: AtomicBool::new(false),
            sockets: AtomicU64::new(0),
            children: AtomicU64::new(0),
            trace: Mutex::default(),
            settings,
            is_alone,
            is_explored: order.is_some(),
            on_time: Mutex::default(),
            end: OnceLock::new(),
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

    /// The number that the operating system gave the thread that runs; zero while one hands over,
    /// or works for another world.
    pub(crate) fn running(&self) -> i32 {
        self.running.load(Ordering::Relaxed)
    }

    /// The thread that runs begins to work for another world, or ends to.
    pub(crate) fn set_elsewhere(&self, is_elsewhere: bool) {
        let running = if is_elsewhere { 0 } else { os::this_thread() };
        self.running.store(running, Ordering::Relaxed);
    }

    /// How many threads were created.
    pub(crate) fn threads(&self) -> u64 {
        self.state().created()
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

    /// A child process is created.
    pub(crate) fn note_child(&self) {
        self.children.fetch_add(1, Ordering::Relaxed);
    }

    /// How many child processes were created.
    pub(crate) fn children(&self) -> u64 {
        self.children.load(Ordering::Relaxed)
    }

    /// Writes or compares the order of threads from now on.
    pub(crate) fn set_trace(&self, trace: Trace) {
        *lock(&self.trace) = Some(trace);
    }

    /// Ends the trace, if there is one: its file is complete.
    pub(crate) fn end_trace(&self) {
        let ended = lock(&self.trace).take().map_or(Ok(()), |mut trace| trace.finish());
        ended.unwrap_or_else(|problem| output::die(&problem));
    }

    fn trace(&self, thread: &ThreadInfo) {
        let mut trace = lock(&self.trace);
        let noted = trace.as_mut().map_or(Ok(()), |trace| trace.note(self.now(), thread));
        noted.unwrap_or_else(|problem| output::die(&problem));
    }

    /// How often another thread than the last one ran.
    pub(crate) fn switches(&self) -> u64 {
        self.switches.load(Ordering::Relaxed)
    }

    /// A digest of which thread ran when.
    pub(crate) fn digest(&self) -> u64 {
        self.state().hash()
    }

    /// Makes `digest`, of what an executor did, part of that of the world.
    pub(crate) fn note(&self, digest: u64) {
        self.state().note(digest);
    }

    /// The program ends when time would pass `end`, after a call of `finish`.
    pub(crate) fn set_end(&self, end: Nanos, finish: fn() -> !) {
        let _ = self.end.set((end, finish));
    }

    /// From now on `on_time` is called with each new time, and now, until it returns false.
    pub(crate) fn follow(&self, on_time: impl Fn(Nanos) -> bool + Send + 'static) {
        if on_time(self.now()) {
            lock(&self.on_time).push(Box::new(on_time));
        }
    }

    /// Adds a thread, which is ready if it `is_ready`; otherwise it is the one that runs.
    pub(crate) fn add(&self, is_ready: bool) -> (Slot, Arc<Turn>) {
        if !is_ready {
            self.running.store(os::this_thread(), Ordering::Relaxed);
        }
        self.state().add(is_ready)
    }

    /// Takes back the thread that was added last and could not be created.
    pub(crate) fn forget(&self, slot: Slot) {
        self.state().forget(slot);
    }

    /// The number of the thread at `slot`.
    pub(crate) fn number(&self, slot: Slot) -> u64 {
        self.state().seat(slot).thread.number
    }

    /// The thread at `slot` has this handle.
    pub(crate) fn set_handle(&self, slot: Slot, handle: usize) {
        self.state().set_handle(slot, handle);
    }

    /// The thread with this handle, if it has not ended.
    pub(crate) fn with_handle(&self, handle: usize) -> Option<Slot> {
        self.state().with_handle(handle)
    }

    /// The thread at `slot` has this name.
    pub(crate) fn set_name(&self, slot: Slot, name: &str) {
        let name = Arc::from(name);
        self.state().seat_mut(slot).thread.name = name;
    }

    /// The thread at `me`, which runs, ends: another one runs.
    pub(crate) fn end(&self, me: Slot) {
        let mut state = self.state();
        let seat = state.remove(me);
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

    /// Waits like [`wait`](Self::wait) for the futex `word`, which has this value.
    pub(crate) fn wait_for_futex(
        &self,
        me: Slot,
        word: &AtomicU32,
        value: u32,
        deadline: Nanos,
    ) -> Woken {
        let (futex, steps) = (FutexWait::new(ptr::from_ref(word).addr(), value), self.steps());
        let mut state = self.state();
        let seat = state.seat_mut(me);
        let is_lost = seat.futex.replace(futex).is_some_and(|last| last.is_lost(&futex, steps));
        seat.lost_locks = if is_lost { seat.lost_locks + 1 } else { 0 };
        drop(state);
        let woken = self.wait(me, Wait::Futex(futex.address), deadline);
        if woken == Woken::Ready {
            let end = (word.load(Ordering::SeqCst), self.steps() + 1);
            self.state().seat_mut(me).futex.iter_mut().for_each(|futex| futex.end = Some(end));
        }
        woken
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

    /// Wakes threads like [`wake`](Self::wake), as the thread at `me` has released the lock that
    /// they wait for, a futex with this value. Where the next of them starves, others run first.
    pub(crate) fn release(&self, me: Slot, lock: Wait, count: usize, value: u32) -> usize {
        let mut state = self.state();
        let starves = state.prepare_wake(lock, value);
        let woken = state.wake(lock, count);
        drop(state);
        if starves {
            self.yield_now(me);
        }
        woken
    }

    /// The thread at `me` has lost a lock so many times in succession.
    pub(crate) fn set_lost_locks(&self, me: Slot, times: u32) {
        self.state().seat_mut(me).lost_locks = times;
    }

    /// All other threads that are ready run before the one at `me` goes on.
    pub(crate) fn yield_now(&self, me: Slot) {
        let mut state = self.state();
        match state.passes_time() {
            true => {
                let deadline = self.now() + IDLE_CALL;
                state.suspend(me, Wait::Sleep, deadline);
            }
            false => state.requeue(me),
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
        if state.has_ready() && state.choose_instead(me, self.now()) {
            self.switch(me, state);
        }
    }

    /// The choices among threads so far.
    pub(crate) fn choices(&self) -> Choices {
        self.state().choices()
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
        if !self.state().has_ready() {
            return false;
        }
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
        // It is dropped in the turn of the thread at `me`: memory that is given back while another
        // one runs would move what that one allocates.
        let next = self.pick(state);
        match &next {
            Some(next) if Arc::ptr_eq(next, &own) => return,
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
            if let Some(next) = state.take_next(self.now()) {
                add_one(&self.switches);
                let max = self.settings.instant_switches_max;
                if state.instant_switches() > max {
                    return self.stop(state, Some(max));
                }
                self.trace(&state.seat(next).thread);
                return Some(state.seat(next).turn.clone());
            }
            match state.next_deadline() {
                _ if !self.is_alone && outside::wake(&mut state) => {}
                Some(deadline) => {
                    if let Some((end, finish)) = self.end.get().filter(|(end, _)| deadline > *end) {
                        self.now.store(*end, Ordering::Relaxed);
                        drop(state);
                        finish();
                    }
                    if deadline > self.now() {
                        self.now.store(deadline, Ordering::Relaxed);
                        state.begin_instant();
                        lock(&self.on_time).retain(|on_time| on_time(deadline));
                    }
                    state.expire(deadline);
                }
                None if state.tell_idle() => {}
                None => return self.stop(state, None),
            }
        }
    }

    /// No thread runs any more: each waits, or they ran more than so many times at this instant.
    fn stop(&self, state: MutexGuard<'_, State>, switches: Option<u64>) -> Option<Arc<Turn>> {
        let threads = state.threads();
        drop(state); // the report may be written to a file
        // None is to be watched any more: a report with backtraces takes its time.
        self.running.store(0, Ordering::Relaxed);
        (self.on_stuck)(Stuck::new(self.now(), switches, threads));
        None
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
