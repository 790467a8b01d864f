//! The multi-core mode with event loops that run where there is time for them, on a thread per
//! core.
//!
//! Each [strand](ringspin_ringbuf::strand) has a worker with one event loop, or a few in graphs
//! with many. A thread runs the strands that are marked in its set, one event after the other, in
//! the order that a worker has for its loops. The thread that ran a strand last is its home, and
//! looks after its timers.
//!
//! | event | thread that runs the strand |
//! |---|---|
//! | published in a callback | that of the callback: it is awake, and has the message at hand |
//! | published elsewhere | the home, or an idle one while the home is in a [long](LONG) callback |
//! | a timer is due | the first one, or the home while the first is in a long callback |
//!
//! Before a thread runs a strand with long callbacks, or while several strands wait that would take
//! [longer](SHARED_FROM) together, it hands strands to threads that are idle: those with the
//! longest way before their messages first, because they decide when all is done. A thread that
//! goes idle takes strands that wait for a long callback, with an event or a timer that is due. So
//! a graph of short callbacks stays on one core, without a wake-up of another one, and in a graph
//! of long ones all cores work. The length of callbacks is that of the longest of the last ones; a
//! strand without a measurement counts as long. One that becomes long is a surprise: an idle thread
//! keeps a [watch] while others work, and helps then, too.
//!
//! A strand of loops that a mapping names has one thread, and is never handed to another. A thread
//! with a real-time priority runs only such strands, because it would not let others go first.

mod hints;
mod watch;

use super::live::{FOREVER, run_threads, time_to_sleep};
use super::warm_up::{LINES_MAX, WarmUp};
use super::{Exchange, Scheduler, Spin};
use crate::deterministic::Condition;
use crate::live_clock::SpinEnd;
use crate::mapping::{CorePlan, Mapping};
use crate::pace::Pace;
use crate::plan::{self, Sharing, StrandPlan};
use crate::thread;
use hints::{CURRENT, Shared, StrandHints, ThreadHints};
use ringspin_executor::wait::{Idle, Waiter};
use ringspin_executor::{
    Clock, Entrance, Error, ErrorKind, GraphInfo, LoopId, Picker, Result, RosClock, StopHandle,
    Time, Worker, WorkerThread,
};
use ringspin_ringbuf::{Counter, Strand, ticks};
use std::sync::Arc;
use std::time::Duration;
use watch::{WATCH, Watch};

/// A callback is long from here on: about three times the time in which a parked thread wakes and
/// runs a strand that was handed to it.
const LONG: Duration = Duration::from_micros(150);

/// Short callbacks that wait together are shared if they take so many times [`LONG`]: the thread
/// that runs them has them in its caches.
const SHARED_FROM: u64 = 3;

/// In the place of a deadline that has passed: the strand is marked for a thread.
const DUE: Time = Time::ZERO;

/// After so many events a strand has the memory that it needs.
const EVENTS: u8 = 8;

pub(crate) struct BalancedScheduler {
    strands: Vec<Strand<Worker>>,
    /// The loops of each strand that it had at the start.
    loops: Vec<Vec<LoopId>>,
    shared: Arc<Shared>,
    entrances: Vec<Entrance>,
    cores: Vec<CorePlan>,
    clock: Arc<RosClock>,
    pace: Pace,
    is_started: bool,
}

impl BalancedScheduler {
    /// Runs `workers` on a thread for each of `cores`. The turn of an event loop is so long at
    /// most.
    pub(crate) fn new(
        workers: Vec<Worker>,
        sharing: Sharing,
        cores: Vec<CorePlan>,
        clock: Arc<RosClock>,
        turn: Duration,
    ) -> Self {
        let thread = |shares: &bool| ThreadHints::new(*shares, workers.len());
        let threads = sharing.shares.iter().map(thread).collect();
        let first = sharing.shares.iter().position(|shares| *shares).unwrap_or(0);
        let strand = |plan: &StrandPlan| {
            let StrandPlan { rank, thread } = *plan;
            let hints = StrandHints { rank, ..Default::default() };
            hints.thread.set(thread);
            hints.home.set(thread.unwrap_or(first) as u64);
            hints
        };
        let strands = sharing.strands.iter().map(strand).collect();
        let watcher = Counter::default();
        let shared = Arc::new(Shared { threads, strands, first, watcher });
        shared.threads.iter().for_each(|thread| clock.wake(thread.set.clone()));
        let entrances = shared.threads.iter().zip(&workers);
        let entrances = entrances.map(|(thread, worker)| worker.entrance(&thread.set)).collect();
        let strand = |(index, worker): (usize, Worker)| {
            let (set, shared) = (worker.ready_set().clone(), shared.clone());
            set.wake_by(Arc::new(move || shared.wake(index)));
            Strand::new(worker, set, index)
        };
        let strands = workers.into_iter().enumerate().map(strand).collect();
        let pace = Pace::new(clock.real(), turn);
        let loops = sharing.loops;
        Self { strands, loops, shared, entrances, cores, clock, pace, is_started: false }
    }
}

impl Scheduler for BalancedScheduler {
    fn start(&mut self) {
        if !std::mem::replace(&mut self.is_started, true) {
            let anchor = self.clock.now();
            self.strands.iter_mut().for_each(|strand| strand.get_mut().start(anchor));
        }
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn end_after(&self, duration: Duration) -> SpinEnd {
        SpinEnd::after(duration, &self.clock)
    }

    fn run(&mut self, spin: Spin<'_>, end: SpinEnd, _: Condition<'_>) -> Result<()> {
        let Self { strands, shared, entrances, cores, clock, pace, .. } = self;
        for thread in &shared.threads {
            thread.is_idle.lower(); // as the last spin has left them
            thread.is_busy.lower();
        }
        shared.watcher.set(0);
        // Each runs once, so that its home knows its deadline. A spin may end before.
        for (index, strand) in strands.iter_mut().enumerate() {
            strand.get_mut().adopt_changes();
            shared.threads[shared.home(index)].set.mark(index);
        }
        let bodies = entrances.iter().enumerate().map(|(number, entrance)| {
            let core = Core { number, strands: &*strands, shared, entrance, clock };
            let pace = pace.clone();
            move |spin: Spin<'_>| Runner::new(core, pace).run(spin, end)
        });
        run_threads(cores.iter().zip(bodies), spin)
    }

    fn run_one(&mut self, _: Spin<'_>, _: SpinEnd) -> Result<bool> {
        Err(unsupported())
    }

    fn run_ready(&mut self, _: Spin<'_>) -> Result<u64> {
        Err(unsupported())
    }

    fn run_all(&mut self, _: Spin<'_>, _: SpinEnd) -> Result<u64> {
        Err(unsupported())
    }

    fn shared_cores(&self) -> Vec<usize> {
        let cores = self.cores.iter().zip(&self.shared.threads);
        cores.filter(|(_, thread)| thread.shares).map(|(plan, _)| plan.core).collect()
    }

    fn remap(&mut self, info: &GraphInfo, mapping: &Mapping) -> Result<()> {
        let Self { shared, loops, cores, .. } = self;
        let shares = shared.threads.iter().any(|thread| thread.shares);
        for (index, thread) in plan::moved_strands(info, mapping, loops, cores, shares)? {
            shared.strands[index].thread.set(thread);
            let home = shared.home(index);
            let shares = shared.threads[home].shares;
            let home = thread.unwrap_or(if shares { home } else { shared.first });
            shared.strands[index].home.set(home as u64);
        }
        Ok(())
    }

    fn each_recorder(&mut self, exchange: Exchange<'_>) {
        self.strands.iter_mut().for_each(|strand| exchange(strand.get_mut().recorder_mut()));
    }
}

/// The shared parts, for one thread.
#[derive(Clone, Copy)]
struct Core<'a> {
    number: usize,
    strands: &'a [Strand<Worker>],
    shared: &'a Shared,
    entrance: &'a Entrance,
    clock: &'a RosClock,
}

/// One thread.
struct Runner<'a> {
    core: Core<'a>,
    hints: &'a ThreadHints,
    pace: Pace,
    picker: Picker,
    /// The priority with which the picker has each strand.
    priorities: Vec<u8>,
    /// The worker that this thread has, between two events of its strand.
    held: Option<(usize, Box<Worker>)>,
    /// The first of the deadlines of the strands that are at home here.
    next_deadline: Time,
    /// The last reading of the clock, and how often it had got another source, and had begun.
    now: Time,
    source: (u64, bool),
    /// How often the graph was seen to change, in all and when each strand ran here.
    changes: u64,
    adopted: Vec<u64>,
    /// How many events of each strand ran here, up to [`EVENTS`].
    events: Vec<u8>,
    /// [`LONG`] in ticks; endless until their rate is known.
    long: u64,
    watch: Watch,
    warm_up: WarmUp,
}

impl<'a> Runner<'a> {
    fn new(core: Core<'a>, pace: Pace) -> Self {
        let strands = core.strands.len();
        let priorities = vec![0; strands];
        let hints = &core.shared.threads[core.number];
        hints.deadlines.iter().for_each(|deadline| deadline.set(Time::MAX.as_nanos()));
        Self {
            core,
            hints,
            pace,
            picker: Picker::new(&priorities),
            priorities,
            held: None,
            next_deadline: Time::MAX,
            now: Time::ZERO,
            source: (0, false),
            changes: 1,
            adopted: vec![0; strands],
            events: vec![0; strands],
            long: u64::MAX,
            watch: Watch::default(),
            warm_up: WarmUp::default(),
        }
    }

    fn run(mut self, spin: Spin<'_>, end: SpinEnd) {
        let mut thread = self.core.entrance.enter();
        self.hints.set.register_sleeper();
        thread::reduce_timer_slack();
        CURRENT.set(Some((self.core.shared, self.core.number)));
        self.work(&mut thread, spin.stop, &mut spin.wait.waiter(), end);
    }

    fn work(
        &mut self,
        thread: &mut WorkerThread,
        stop: &StopHandle,
        waiter: &mut Waiter,
        end: SpinEnd,
    ) {
        let clock = self.core.clock;
        let mut was_followed = true; // so that the clock is read first
        while !stop.is_stopped() {
            self.changes += u64::from(thread.pass());
            let due = self.next_deadline.min(end.by(clock));
            let ticks = (due != Time::MAX).then(ticks);
            self.picker.note_ticks(ticks);
            let is_followed = clock.is_followed();
            if is_followed || was_followed || !self.pace.is_ahead(due, ticks) {
                was_followed = is_followed;
                self.read();
                if end.has_come(self.now, clock) {
                    return;
                }
                self.mark_due();
            }
            match self.picker.pick(&self.hints.set) {
                Some(index) => {
                    if self.hints.is_idle.is_raised() {
                        self.hints.is_idle.lower();
                        self.watch.is_wanted = true;
                    }
                    if self.turn(index, thread) {
                        waiter.reset();
                    }
                }
                None => {
                    self.release();
                    if !self.hints.is_idle.is_raised() {
                        self.hints.is_idle.announce();
                    }
                    self.core.entrance.count_idle();
                    self.watch.look(self.core.shared, self.core.number, self.long);
                    if !self.help() && waiter.idle() == Idle::Park {
                        self.park(thread, end);
                        was_followed = true;
                    }
                }
            }
        }
    }

    /// Reads the clock.
    fn read(&mut self) {
        let clock = self.core.clock;
        let is_followed = clock.is_followed();
        let real = self.pace.read(clock.real());
        let source = (clock.switches(), clock.has_begun());
        let now = if is_followed { clock.now() } else { real };
        if source != std::mem::replace(&mut self.source, source) || now < self.now {
            self.mark_home(); // each worker has to know
        }
        self.now = now;
        if let Some(turn) = self.pace.turn_ticks() {
            self.picker.limit_turns(turn);
            let rate = turn as f64 / self.pace.turn().as_secs_f64();
            self.long = (LONG.as_secs_f64() * rate) as u64;
        }
    }

    /// Marks the strands that are at home here.
    #[cold]
    fn mark_home(&self) {
        let Core { number, shared, .. } = self.core;
        let at_home = (0..shared.strands.len()).filter(|index| shared.home(*index) == number);
        at_home.for_each(|index| self.hints.set.mark(index));
    }

    /// Marks the strands with a timer that is due.
    fn mark_due(&mut self) {
        if self.next_deadline > self.now {
            return;
        }
        let Core { number, shared, .. } = self.core;
        let first = &shared.threads[shared.first];
        let set = if first.is_busy.is_raised() { &self.hints.set } else { &first.set };
        for (index, deadline) in self.hints.deadlines.iter().enumerate() {
            if (1..=self.now.as_nanos()).contains(&deadline.get()) {
                deadline.set(DUE.as_nanos()); // until it has run
                if shared.home(index) == number {
                    let strand = &shared.strands[index];
                    strand.fetch();
                    let stays = strand.thread.get().is_some();
                    if stays { &self.hints.set } else { set }.mark(index);
                }
            }
        }
        self.find_next_deadline();
    }

    fn find_next_deadline(&mut self) {
        let deadlines = (0..self.hints.deadlines.len()).map(|index| self.hints.deadline(index));
        let deadlines = deadlines.filter(|deadline| *deadline != DUE);
        self.next_deadline = deadlines.min().unwrap_or(Time::MAX);
    }

    /// Runs one event of a strand that is marked; whether there was one.
    fn turn(&mut self, index: usize, thread: &mut WorkerThread) -> bool {
        if !self.hold(index, thread) {
            return false;
        }
        let length = &self.core.shared.strands[index].length;
        let known = length.get(); // zero at first: it may be long
        let is_long = known == 0 || known >= self.long;
        if is_long {
            self.hints.is_busy.announce();
            self.hand_on(index, known);
        } else if self.hints.set.marked() > 2
            && self.waiting() >= self.long.saturating_mul(SHARED_FROM)
        {
            self.hand_on(index, known);
        }
        let Some((_, worker)) = &mut self.held else { return false };
        if self.adopted[index] != self.changes {
            self.adopted[index] = self.changes;
            worker.adopt_changes();
            let priority = worker.priority();
            if priority != std::mem::replace(&mut self.priorities[index], priority) {
                self.picker.remove(index);
                self.picker.add(index, priority);
            }
        }
        let now = worker.note_time(self.now);
        while worker.expire_one(now) {}
        let event = &self.hints.event;
        event.number.add_by_owner(1);
        event.strand.set(index as u64 + 1);
        if std::mem::take(&mut self.watch.is_wanted) {
            watch::call(self.core.shared, self.core.number);
        }
        let began = ticks();
        let dispatched = worker.dispatch_next().is_some();
        event.strand.set(0);
        if dispatched {
            let took = ticks().wrapping_sub(began);
            length.set(took.max(known - known / 8).max(1));
            let events = &mut self.events[index];
            if *events < EVENTS {
                *events += 1;
                if *events == EVENTS {
                    let Core { strands, shared, .. } = self.core;
                    shared.strands[index].lines.get_or_init(|| {
                        let mut lines = worker.cache_lines();
                        lines.add(&strands[index]);
                        lines
                    });
                }
            }
        }
        if self.hints.is_busy.is_raised() {
            self.hints.is_busy.lower();
        }
        self.put_back();
        // Changes of the graph mark a strand without an event, and that mark may have been taken
        // off with the others.
        if self.held.is_none() && thread.pass() {
            self.changes += 1;
            self.hints.set.mark(index);
        }
        dispatched
    }

    /// Takes the worker of a marked strand, unless this thread has it; whether it has it now.
    fn hold(&mut self, index: usize, thread: &mut WorkerThread) -> bool {
        if self.held.as_ref().is_some_and(|(held, _)| *held == index) {
            return true;
        }
        self.release();
        let Core { number, strands, shared, .. } = self.core;
        let Some(worker) = strands[index].take_marked(&self.hints.set) else { return false };
        // Read only now: up to here another thread may have run the strand and become its home.
        if shared.home(index) != number {
            if let Some(thread) = shared.thread_instead(index, number) {
                // It was marked here before the mapping changed.
                strands[index].put(worker);
                strands[index].hand_on(&self.hints.set, &shared.threads[thread].set);
                return false;
            }
            shared.strands[index].home.set(number as u64);
            self.read(); // no earlier time than that of the thread before
        }
        worker.resume_on(thread);
        self.held = Some((index, worker));
        true
    }

    /// After an event: notes the next deadline, and lets a strand rest that has nothing to do.
    fn put_back(&mut self) {
        let Some((index, worker)) = self.held.take() else { return };
        let deadline = worker.next_deadline().unwrap_or(Time::MAX);
        self.set_deadline(index, deadline.max(DUE + Duration::from_nanos(1)));
        if worker.settle() {
            self.core.strands[index].rest(worker, &self.hints.set);
        } else {
            self.hints.set.mark(index); // it was taken off where another thread had the worker
            self.held = Some((index, worker));
        }
    }

    /// Puts back the worker that this thread has, with its mark.
    fn release(&mut self) {
        if let Some((index, worker)) = self.held.take() {
            self.core.strands[index].put(worker);
        }
    }

    fn set_deadline(&mut self, index: usize, deadline: Time) {
        let before = self.hints.deadline(index);
        self.hints.deadlines[index].set(deadline.as_nanos());
        if deadline < self.next_deadline && deadline != DUE {
            self.next_deadline = deadline;
        } else if before == self.next_deadline && before != deadline {
            self.find_next_deadline();
        }
    }

    /// Hands strands that would wait for a callback of `running`, which takes `length` ticks, to
    /// threads that are idle: a ready one to each, of those with the longest way before their
    /// messages, and all that will be due.
    #[cold]
    fn hand_on(&mut self, running: usize, length: u64) {
        let Core { number, shared, .. } = self.core;
        let Some(first) = shared.idle(0) else { return };
        let (mut idle, mut last) = (Some(first), first);
        while let Some(thread) = idle {
            let waiting = shared.moving_in(&self.hints.set).filter(|index| *index != running);
            let Some(index) = waiting.max_by_key(|index| shared.strands[*index].rank) else {
                break;
            };
            self.hand(index, thread);
            (idle, last) = (shared.idle(thread + 1), thread);
        }
        let seconds = LONG.as_secs_f64() * length as f64 / self.long as f64;
        let end = self.now + Duration::from_secs_f64(seconds);
        for (index, deadline) in shared.deadlines_of(number) {
            if deadline < end && index != running {
                last = shared.idle(last + 1).or_else(|| shared.idle(0)).unwrap_or(last);
                self.hand(index, last);
            }
        }
    }

    /// How many ticks the short callbacks take that wait for this thread, if another one is idle. A
    /// long one hands on by itself.
    fn waiting(&self) -> u64 {
        let Core { shared, .. } = self.core;
        if shared.idle(0).is_none() {
            return 0;
        }
        let waiting = shared.moving_in(&self.hints.set);
        let lengths = waiting.map(|index| shared.strands[index].length.get());
        lengths.filter(|length| *length < self.long).sum()
    }

    fn hand(&mut self, index: usize, thread: usize) {
        if self.hints.deadline(index) != Time::MAX {
            self.set_deadline(index, DUE);
        }
        let to = &self.core.shared.threads[thread];
        to.is_idle.lower(); // it is about to wake, and gets no more until it is idle again
        self.core.strands[index].hand_on(&self.hints.set, &to.set);
        tracing::trace!(strand = index, from = self.core.number, to = thread, "handed on");
    }

    /// Takes a strand that waits for a long callback of another thread, with an event or a timer
    /// that is due; whether there was one.
    fn help(&mut self) -> bool {
        let Core { number, strands, shared, .. } = self.core;
        if !self.hints.shares {
            return false;
        }
        let marked = shared.busy().flat_map(|thread| shared.moving_in(&shared.threads[thread].set));
        let ready = marked.filter(|index| !strands[*index].is_idle());
        let due = self.helped().filter(|(_, deadline)| *deadline <= self.now);
        for index in ready.chain(due.map(|(index, _)| index)) {
            if let Some(worker) = strands[index].take() {
                self.hints.set.mark(index);
                strands[index].put(worker);
                tracing::trace!(strand = index, to = number, "taken");
                return true;
            }
        }
        false
    }

    /// The strands with timers that wait for a long callback, with their deadlines: those of busy
    /// threads, and those of this one, which may be marked for a busy thread.
    fn helped(&self) -> impl Iterator<Item = (usize, Time)> {
        let Core { number, shared, .. } = self.core;
        let own = shared.busy().next().map(|_| number);
        shared.busy().chain(own).flat_map(|thread| shared.deadlines_of(thread))
    }

    /// When this thread has to look for a timer, its own or one that it [helps](Self::help).
    fn next_look(&self) -> Time {
        let helped = self.helped().filter(|_| self.hints.shares);
        helped.map(|(_, deadline)| deadline).fold(self.next_deadline, Time::min)
    }

    /// Sleeps until a strand is marked or due.
    fn park(&mut self, thread: &mut WorkerThread, end: SpinEnd) {
        let Core { entrance, clock, .. } = self.core;
        self.read();
        let left = match clock.is_followed() {
            true => Some(FOREVER),
            false => time_to_sleep(clock, self.now, self.next_look().min(end.by(clock))),
        };
        let Some(left) = left else { return std::hint::spin_loop() };
        entrance.count_sleep();
        if self.watch.keeps(self.core.shared, self.core.number) && left > WATCH {
            return thread.pause(|| self.hints.set.sleep(WATCH));
        }
        thread.pause(|| self.hints.set.sleep(self.warm_up.shorten(left)));
        if self.hints.set.is_empty() {
            self.warm_up.after_by(left, clock.real(), || fetch_home(self.core));
        }
    }
}

/// Fetches the memory of the strands that are at home on this thread.
fn fetch_home(Core { number, shared, .. }: Core<'_>) {
    let mut left = LINES_MAX;
    for (index, hints) in shared.strands.iter().enumerate() {
        if shared.home(index) == number
            && let Some(lines) = hints.lines.get()
            && lines.len() <= left
        {
            left -= lines.len();
            lines.fetch();
        }
    }
}

impl Drop for Runner<'_> {
    /// Puts the worker back, also after a panic outside of the callbacks.
    fn drop(&mut self) {
        CURRENT.set(None);
        self.release();
    }
}

fn unsupported() -> Error {
    let text = "the multi-core mode has a thread per core; use `spin`, `spin_for` or `spin_until`";
    Error::new(ErrorKind::Unsupported, text)
}
