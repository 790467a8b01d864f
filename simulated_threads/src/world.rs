//! A world: threads of which one runs at a time, and the simulated time that they share.
//!
//! A thread runs until it waits for something. Then it hands over to the thread that has been ready
//! for the longest time. When no thread is ready, time jumps to the earliest deadline. Nothing here
//! is unsafe: the functions of libc that become these waits are in `interpose`.

use crate::choice::Chooser;
use crate::coordinator::{self, Coordinator, Event, Rest};
use crate::descriptors::{self, Descriptors};
use crate::report::Stuck;
use crate::settings::Settings;
use crate::signal_timers::Signal;
use crate::state::{FutexWait, State};
use crate::trace::Trace;
use crate::turn::Turn;
use crate::wait::{NEVER, Nanos, Slot, Wait, Woken};
use crate::{binary, os, output, outside};
use ringspin_modes::threads::ThreadInfo;
use ringspin_ringbuf::{Counter, Flag};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};

/// The time that reading the clock takes once threads have done so too often.
const IDLE_CALL: Nanos = 10_000;

/// Is called with each new time; false if it wants no more.
type OnTime = Box<dyn Fn(Nanos) -> bool + Send>;

/// Threads that share a simulated time.
pub(crate) struct World {
    state: Mutex<State>,
    now: Counter,
    process: Counter,
    parent: OnceLock<u32>,
    /// How often another thread than the last one ran.
    pub(crate) switches: Counter,
    /// Changes with each step that a thread takes here.
    pub(crate) steps: Counter,
    running: AtomicI32,
    /// The operating system's number of the thread that ended last, until it no longer exists.
    ended: AtomicI32,
    /// Whether no thread runs any more.
    pub(crate) is_over: Flag,
    /// The sockets and the child processes that were created.
    pub(crate) sockets: Counter,
    pub(crate) children: Counter,
    /// The files that were opened for reading, with hashes of their contents at the first time;
    /// `None` once they are reported.
    pub(crate) files: Mutex<Option<BTreeMap<PathBuf, u64>>>,
    /// The file with the order of threads.
    trace: Mutex<Option<Trace>>,
    pub(crate) settings: Settings,
    /// Whether all threads of the process are in this world.
    pub(crate) is_alone: bool,
    /// Whether a thread can lose its turn where it does not wait.
    is_explored: bool,
    on_time: Mutex<Vec<OnTime>>,
    end: OnceLock<(Nanos, fn() -> !)>,
    on_stuck: Box<dyn Fn(Stuck) + Send + Sync>,
}

impl World {
    /// A world without threads, which is never freed: threads may stand still in it for the rest of
    /// the process. `on_stuck` is called by the last thread that ran, once none can
    /// continue; the world `is_alone` if it has all threads of the process. Without a `chooser`,
    /// the thread runs next that has been ready for the longest time.
    pub(crate) fn new(
        settings: Settings,
        is_alone: bool,
        chooser: Option<Chooser>,
        on_stuck: impl Fn(Stuck) + Send + Sync + 'static,
    ) -> &'static Self {
        let world = Self {
            is_explored: chooser.is_some(),
            state: Mutex::new(State::new(settings.seed, chooser)),
            now: Counter::default(),
            process: Counter::default(),
            parent: OnceLock::new(),
            switches: Counter::default(),
            steps: Counter::default(),
            running: AtomicI32::new(0),
            ended: AtomicI32::new(0),
            is_over: Flag::default(),
            sockets: Counter::default(),
            children: Counter::default(),
            files: Mutex::new(Some(BTreeMap::new())),
            trace: Mutex::default(),
            settings,
            is_alone,
            on_time: Mutex::default(),
            end: OnceLock::new(),
            on_stuck: Box::new(on_stuck),
        };
        world.now.set(world.settings.start.as_nanos() as Nanos);
        Box::leak(Box::new(world))
    }

    /// The time.
    pub(crate) fn now(&self) -> Nanos {
        self.now.get()
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

    /// The world begins at `start`, as this process of several, which `parent` has started.
    pub(crate) fn begin_as(&self, start: Nanos, process: u32, parent: Option<u32>) {
        parent.into_iter().for_each(|parent| _ = self.parent.set(parent));
        self.process.set(process.into());
        self.set_now(start);
    }

    /// The number of the process in its run; zero without one.
    pub(crate) fn process(&self) -> u32 {
        self.process.get() as u32
    }

    /// The number of the process that has started this one in the run, if one has.
    pub(crate) fn parent(&self) -> Option<u32> {
        self.parent.get().copied()
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

    pub(crate) fn number(&self, slot: Slot) -> u64 {
        self.state().seat(slot).thread.number
    }

    /// The thread with this handle, if it has not ended.
    pub(crate) fn with_handle(&self, handle: usize) -> Option<Slot> {
        self.state().with_handle(handle)
    }

    /// A child process was created; its number is negative if it is unknown.
    pub(crate) fn add_child(&self, child: i32) {
        self.children.add(1);
        self.state().children.add(child);
    }

    /// A file was opened for reading. The watchdog does not count the time that its hash takes.
    /// In a run of processes the coordinator hashes it, if anyone asks.
    pub(crate) fn note_file(&self, file: &File) {
        if !file.metadata().is_ok_and(|data| data.is_file() && data.len() > 0) {
            return;
        }
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        let Ok(path) = std::fs::read_link(link) else { return };
        if lock(&self.files).as_ref().is_none_or(|files| files.contains_key(&path)) {
            return;
        }
        let is_joined = self.coordinator().is_some();
        if is_joined {
            coordinator::tell_opened(&path);
        }
        self.set_elsewhere(true);
        let hash = if is_joined { Ok(0) } else { binary::content_hash(file) };
        self.set_elsewhere(false);
        if let (Ok(hash), Some(files)) = (hash, lock(&self.files).as_mut()) {
            files.insert(path, hash);
        }
    }

    /// Waits in real time for child processes, while threads wait for what they do. The watchdog
    /// does not count that.
    fn wait_for_children(&self, state: &mut State) -> bool {
        if !state.waits_for_children(self.coordinator().is_none()) {
            return false;
        }
        self.set_elsewhere(true);
        let is_ready = state.wait_for_children(self.settings.blocked_max, self.settings.busy_max);
        self.set_elsewhere(false);
        is_ready
    }

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

    /// The thread at `me`, which runs, waits until it is woken, or its deadline comes, or a signal.
    /// An end of its wait without one of them, after `pthread_cancel`, is a wake-up.
    pub(crate) fn wait(&self, me: Slot, wait: Wait, deadline: Nanos) -> Woken {
        if wait.is_cancellation_point() {
            os::test_cancel();
        }
        let mut state = self.state();
        if deadline > self.now() {
            state.end_pauses(me);
        }
        state.suspend(me, wait, deadline);
        self.switch(me, state);
        let mut state = self.state();
        let seat = state.seat_mut(me);
        let (woken, signals) = (seat.woken, std::mem::take(&mut seat.signals));
        drop(state);
        match (woken, os::deliver(&signals)) {
            (Woken::Interrupted { .. }, Some(restarts)) => Woken::Interrupted { restarts },
            (Woken::Interrupted { .. }, None) => {
                if wait.is_cancellation_point() {
                    os::test_cancel();
                }
                Woken::Ready
            }
            (woken, _) => woken,
        }
    }

    /// Waits like [`wait`](Self::wait) for the futex `word`, which has this value.
    pub(crate) fn wait_for_futex(
        &self,
        me: Slot,
        word: &AtomicU32,
        value: u32,
        deadline: Nanos,
    ) -> Woken {
        let (futex, steps) = (FutexWait::new(ptr::from_ref(word).addr(), value), self.steps.get());
        let mut state = self.state();
        let seat = state.seat_mut(me);
        let is_lost = seat.futex.replace(futex).is_some_and(|last| last.is_lost(&futex, steps));
        seat.lost_locks = if is_lost { seat.lost_locks + 1 } else { 0 };
        drop(state);
        let woken = self.wait(me, Wait::Futex(futex.address), deadline);
        if woken == Woken::Ready {
            let end = (word.load(Ordering::SeqCst), self.steps.get() + 1);
            self.state().seat_mut(me).futex.iter_mut().for_each(|futex| futex.end = Some(end));
        }
        woken
    }

    /// Sleeps until `deadline`; others run, also if it is reached. Returns the time that is left
    /// after a signal.
    pub(crate) fn sleep(&self, me: Slot, deadline: Nanos) -> Nanos {
        if deadline <= self.now() {
            self.yield_now(me);
        }
        while deadline > self.now() {
            if let Woken::Interrupted { .. } = self.wait(me, Wait::Sleep, deadline) {
                return deadline - self.now();
            }
        }
        0
    }

    /// Wakes threads like [`wake`](State::wake), as the thread at `me` has released the lock that
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

    /// All other threads that are ready run before the one at `me` continues.
    pub(crate) fn yield_now(&self, me: Slot) {
        let mut state = self.state();
        match state.pause(me, self.now()) {
            Some(end) => state.suspend(me, Wait::Sleep, end),
            None => state.requeue(me),
        }
        self.switch(me, state);
    }

    /// The thread at `me` has looked for events, or read the processor's counter, without a wait.
    /// That counts as a yield.
    pub(crate) fn pause(&self, me: Slot) {
        let mut state = self.state();
        if let Some(end) = state.pause(me, self.now()) {
            state.suspend(me, Wait::Sleep, end);
            self.switch(me, state);
        }
    }

    /// The thread at `me` could continue; in an exploration another one may run first.
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

    pub(crate) fn read_clock(&self, me: Slot) -> Nanos {
        self.pass(me);
        let mut state = self.state();
        if state.passes_time() {
            state.suspend(me, Wait::Sleep, self.now() + IDLE_CALL);
            self.switch(me, state);
        } else {
            drop(state);
        }
        self.step()
    }

    /// The time that a clock shows, after the step that a reading takes.
    pub(crate) fn step(&self) -> Nanos {
        if self.settings.clock_step_ns > 0 {
            self.set_now(self.now() + self.settings.clock_step_ns);
        }
        self.now()
    }

    fn set_now(&self, now: Nanos) {
        self.now.set(now);
        lock(&self.on_time).retain(|on_time| on_time(now));
    }

    /// Random bytes.
    pub(crate) fn fill(&self, bytes: &mut [u8]) {
        let random = &mut self.state().random;
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&random.draw().to_le_bytes()[..chunk.len()]);
        }
    }

    /// Calls `with` with the descriptors of the world, and the time.
    pub(crate) fn with_descriptors<R>(&self, with: impl FnOnce(&mut Descriptors, Nanos) -> R) -> R {
        with(&mut self.state().descriptors, self.now())
    }

    /// The scheduler at `me` has events: other threads that are ready go first.
    pub(crate) fn run_others(&self, me: Slot) {
        let has_ready = self.state().has_ready();
        if has_ready {
            self.wait(me, Wait::Idle, self.now());
        }
    }

    /// The state, for the thread that runs. It is held for a moment: never over a wait.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.steps.add_by_owner(1);
        lock(&self.state)
    }

    /// Another thread runs until it is the turn of the one at `me` again.
    fn switch<'a>(&'a self, me: Slot, state: MutexGuard<'a, State>) {
        let own = state.seat(me).turn.clone();
        // It is dropped in the turn of the thread at `me`: memory that is given back while another
        // one runs would move that one's allocations.
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

    /// Chooses the next thread. Nothing is chosen once no thread can continue.
    fn pick<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Option<Arc<Turn>> {
        loop {
            if let Some(next) = state.take_next(self.now()) {
                self.switches.add_by_owner(1);
                let max = self.settings.instant_switches_max;
                if state.instant_switches > max {
                    return self.stop(state, Some(max));
                }
                self.trace(&state.seat(next).thread);
                return Some(state.seat(next).turn.clone());
            }
            match state.next_deadline() {
                _ if !self.is_alone && outside::wake(&mut state) => {}
                _ if self.wait_for_children(&mut state) => {}
                deadline if let Some(coordinator) = self.coordinator() => {
                    state = self.ask(coordinator, state, deadline);
                }
                Some(deadline) => {
                    if let Some((end, finish)) = self.end.get().filter(|(end, _)| deadline > *end) {
                        self.now.set(*end);
                        drop(state);
                        finish();
                    }
                    self.advance(&mut state, deadline);
                }
                None if state.tell_idle() => {}
                None => return self.stop(state, None),
            }
        }
    }

    /// Time is `now`: threads that wait for it are ready.
    fn advance(&self, state: &mut State, now: Nanos) {
        if now > self.now() {
            self.set_now(now);
            state.begin_instant();
        }
        state.expire(now);
    }

    /// The coordinator of the process, if this is the world of all its threads.
    pub(crate) fn coordinator(&self) -> Option<Coordinator> {
        coordinator::get().filter(|_| self.is_alone)
    }

    /// All threads wait: the coordinator of several processes decides how the world continues. It
    /// is called without the lock, and may take its time.
    fn ask<'a>(
        &'a self,
        coordinator: Coordinator,
        state: MutexGuard<'a, State>,
        deadline: Option<Nanos>,
    ) -> MutexGuard<'a, State> {
        let (now, deadline) = (self.now(), deadline.unwrap_or(NEVER));
        let (switches, digest) = (self.switches.get(), state.hash);
        drop(state);
        let running = self.running.swap(0, Ordering::Relaxed); // the watchdog looks at none
        let (has_sockets, used_sockets) = descriptors::sockets();
        let rest = Rest { now, deadline, switches, digest, has_sockets, used_sockets };
        let next = (coordinator.rest)(rest);
        descriptors::allow_sockets(has_sockets);
        self.running.store(running, Ordering::Relaxed);
        let mut state = self.state();
        self.advance(&mut state, next.now);
        while let Some(event) = (coordinator.event)().known() {
            if let Event::Ended(process) = event {
                state.family.end(process);
            }
            let signal = coordinator::program().and_then(|program| (program.signal_of)(event));
            signal.into_iter().for_each(|signal| state.signal(Signal::sent(signal)));
        }
        if next.wakes {
            state.wake(Wait::Process, usize::MAX);
            state.wake(Wait::File, usize::MAX);
        }
        state
    }

    /// No thread runs any more: each waits, or they ran more than so many times at this instant.
    fn stop(&self, state: MutexGuard<'_, State>, switches: Option<u64>) -> Option<Arc<Turn>> {
        let threads = state.threads();
        drop(state); // the report may be written to a file
        // None is to be watched any more: a report with backtraces takes its time.
        self.running.store(0, Ordering::Relaxed);
        (self.on_stuck)(Stuck { now: self.now(), switches, threads });
        None
    }
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
