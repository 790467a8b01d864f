//! The virtual cores: events that are ready, and the threads that are free for them or busy.
//!
//! As long as callbacks take no time and nothing else is asked for, the worker's own ready ring is
//! all that is needed. Otherwise the [`VirtualCoreScheduler`] takes its events out, and keeps those
//! of a busy thread waiting while others run. A core has one thread, or several of different
//! priority: while a higher one is busy, the lower ones begin nothing.

use super::contention::{Contention, RunningCall, RunningCalls};
use super::ties::{Candidate, Chooser, TakenEvents};
use super::timing::Call;
use crate::error::catch_part;
use crate::mapping::{LoopName, Placement};
use crate::schedule::{Deviation, Kept, Postponement, Taken};
use ringspin_executor::{
    CallbackId, GraphInfo, LoopId, LoopInfo, Monitor, Picker, ReadyEvent, Result, Table, Time,
    Worker,
};
use ringspin_ringbuf::ReadySet;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::sync::Arc;

/// An event that is ready.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) event: ReadyEvent,
    /// Its sequence number among the events of all loops.
    order: u64,
    /// When it became ready.
    pub(super) since: Time,
}

impl Pending {
    fn is_notice(&self) -> bool {
        self.event.callback.is_none()
    }
}

/// The ready events of all loops.
pub(super) struct VirtualCoreScheduler {
    loops: Table<LoopId, VirtualLoop>,
    loop_of: Table<CallbackId, LoopId>,
    /// The threads of the cores: by core, then by falling priority.
    threads: Vec<Thread>,
    /// Whether threads choose as live workers do.
    sweeps: bool,
    /// Where later loops go, unless each has a core.
    placement: Option<Arc<Placement>>,
    /// The first events of the loops with free threads; for threads without a picker.
    next: BTreeSet<(u64, u32)>,
    /// The ends of the running calls, and their threads.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
    arrived: u64,
    /// The running calls, if their ends move: cores slow each other down, or a core has several
    /// threads.
    running: Option<RunningCalls>,
}

struct VirtualLoop {
    thread: u32,
    /// Its index on its thread.
    place: u32,
    priority: u8,
    pending: VecDeque<Pending>,
}

impl VirtualLoop {
    fn new(thread: u32, place: u32, priority: u8) -> Self {
        Self { thread, place, priority, pending: VecDeque::new() }
    }
}

/// A thread of a virtual core, and its event loops.
pub(super) struct VirtualThread {
    /// The number of the core in the mapping. Threads of one core stand together, by falling
    /// priority.
    pub(super) core: usize,
    pub(super) loops: Vec<LoopId>,
}

struct Thread {
    /// The number of its core.
    core: u32,
    /// Its loops, and some that were destroyed; those of the start are sorted by descending
    /// dispatch priority if it has a picker.
    loops: Vec<LoopId>,
    /// The places of the destroyed loops.
    free: Vec<u32>,
    busy: bool,
    /// How it chooses among its loops, as a live worker does; `None` if by age of the events.
    sweep: Option<(Picker, ReadySet)>,
}

impl Thread {
    fn new(core: u32, loops: Vec<LoopId>, sweep: Option<(Picker, ReadySet)>) -> Self {
        Self { core, loops, free: Vec::new(), busy: false, sweep }
    }

    /// The loops with pending events, if the thread has a picker.
    fn ready(&self) -> impl Iterator<Item = LoopId> {
        let set = self.sweep.as_ref().map(|(_, set)| set);
        let mut start = 0;
        std::iter::from_fn(move || {
            let place = set?.next(start).filter(|place| *place >= start)?;
            start = place + 1;
            Some(self.loops[place])
        })
    }

    /// Adds a loop; returns its place.
    fn add(&mut self, id: LoopId, priority: u8) -> u32 {
        let place = self.free.pop().map_or(self.loops.len(), |place| place as usize);
        match self.loops.get_mut(place) {
            Some(of) => *of = id,
            None => self.loops.push(id),
        }
        if let Some((picker, set)) = &mut self.sweep {
            set.reserve(place + 1);
            picker.add(place, priority);
        }
        place as u32
    }

    /// Changes the priority of the loop at `place`.
    fn set_priority(&mut self, place: u32, priority: u8) {
        if let Some((picker, _)) = &mut self.sweep {
            picker.remove(place as usize);
            picker.add(place as usize, priority);
        }
    }

    /// Removes the loop at `place`, of which no event is pending.
    fn remove(&mut self, place: u32) {
        if let Some((picker, _)) = &mut self.sweep {
            picker.remove(place as usize);
        }
        self.free.push(place);
    }
}

impl VirtualCoreScheduler {
    /// There is a core for each loop.
    pub(super) fn unlimited(info: &GraphInfo) -> Self {
        let thread = |(core, id)| VirtualThread { core, loops: vec![id] };
        Self::new(info, info.loops.keys().enumerate().map(thread).collect(), None)
    }

    /// With threads that run these loops, in the order of the live mode.
    pub(super) fn on_cores(
        info: &GraphInfo,
        (threads, placement): (Vec<VirtualThread>, Arc<Placement>),
        contention: Contention,
    ) -> Self {
        let mut scheduler = Self::new(info, threads, Some(placement));
        let core_of: Vec<u32> = scheduler.threads.iter().map(|thread| thread.core).collect();
        let is_contended = core_of.last().is_some_and(|last| *last > 0) && !contention.is_none();
        let preempts = core_of.windows(2).any(|pair| pair[0] == pair[1]);
        scheduler.running =
            (is_contended || preempts).then(|| RunningCalls::new(contention, core_of));
        scheduler
    }

    fn new(
        info: &GraphInfo,
        threads: Vec<VirtualThread>,
        placement: Option<Arc<Placement>>,
    ) -> Self {
        let priority = |id: &LoopId| info.loops[*id].priority;
        let mut cores: Vec<usize> = threads.iter().map(|thread| thread.core).collect();
        cores.dedup();
        let thread = |VirtualThread { core, mut loops }| {
            loops.sort_by_key(|id| Reverse(priority(id)));
            let picker = || Picker::new(&loops.iter().map(priority).collect::<Vec<_>>());
            let sweep = placement.as_ref().map(|_| (picker(), ReadySet::new(loops.len())));
            Thread::new(cores.partition_point(|before| *before < core) as u32, loops, sweep)
        };
        let threads: Vec<_> = threads.into_iter().map(thread).collect();
        let mut loops = Table::new();
        for (n, thread) in threads.iter().enumerate() {
            for (place, id) in thread.loops.iter().enumerate() {
                loops.insert(*id, VirtualLoop::new(n as u32, place as u32, priority(id)));
            }
        }
        let (next, ends) = (BTreeSet::new(), BinaryHeap::new());
        let loop_of = info.callbacks.map(|_, callback| callback.event_loop);
        let sweeps = placement.is_some() && !threads.is_empty();
        Self { loops, loop_of, threads, sweeps, placement, next, ends, arrived: 0, running: None }
    }

    /// The graph has changed: new loops go where the mapping says, or to new cores if there is one
    /// for each loop. Linear in loops and callbacks.
    pub(super) fn extend(&mut self, info: &GraphInfo) {
        self.loop_of = info.callbacks.map(|_, callback| callback.event_loop);
        let is_gone = |id: &LoopId| !info.loops.contains(*id);
        for id in self.loops.keys().filter(is_gone).collect::<Vec<_>>() {
            let VirtualLoop { thread, place, ref pending, .. } = self.loops[id];
            let thread = &mut self.threads[thread as usize];
            if pending.is_empty() && !thread.busy {
                thread.remove(place);
                self.loops.remove(id);
            }
        }
        for (id, event_loop) in info.loops.iter() {
            match self.loops.get_mut(id) {
                None => {
                    let thread = self.thread_of(info, event_loop);
                    self.add_loop(id, thread, event_loop.priority);
                }
                Some(of) if of.priority != event_loop.priority => {
                    of.priority = event_loop.priority;
                    self.threads[of.thread as usize].set_priority(of.place, of.priority);
                }
                Some(_) => {}
            }
        }
    }

    /// The thread of a new loop; `None` if it gets a new one.
    fn thread_of(&self, info: &GraphInfo, of: &LoopInfo) -> Option<usize> {
        let placement = self.placement.as_ref()?;
        let of_node = info.loops.iter().find(|(_, other)| other.node_index == of.node_index);
        let of_node = of_node.and_then(|(id, _)| self.loops.get(id));
        let name = LoopName { node: &of.node, group: &of.group };
        placement.worker_of(name, of_node.map(|of_node| of_node.thread as usize))
    }

    fn add_loop(&mut self, id: LoopId, thread: Option<usize>, priority: u8) {
        let unused = || self.threads.iter().position(|thread| thread.free.len() == 1);
        let thread = thread.or_else(unused).unwrap_or_else(|| {
            let core = self.threads.last().map_or(0, |last| last.core + 1);
            self.threads.push(Thread::new(core, Vec::new(), None));
            self.threads.len() - 1
        });
        let place = self.threads[thread].add(id, priority);
        self.loops.insert(id, VirtualLoop::new(thread as u32, place, priority));
    }

    /// Whether thread `n` can begin a call: no call of it runs, and none of a higher thread of its
    /// core.
    fn is_free(&self, n: usize) -> bool {
        let thread = &self.threads[n];
        let mut higher =
            self.threads[..n].iter().rev().take_while(|other| other.core == thread.core);
        !thread.busy && !higher.any(|other| other.busy)
    }

    /// Whether threads choose as live workers do, which expire all due timers first.
    pub(super) fn sweeps(&self) -> bool {
        self.sweeps
    }

    /// Takes over what became ready.
    pub(super) fn take_over(&mut self, worker: &mut Worker, now: Time, monitor: &Monitor) {
        while let Some(event) = worker.take_ready() {
            let pending = Pending { event, order: self.arrived, since: now };
            self.arrived += 1;
            let id = event.event_loop;
            if !self.loops.contains(id) {
                self.extend(&monitor.info()); // another thread has just created it
                if !self.loops.contains(id) {
                    self.add_loop(id, self.placement.as_ref().map(|_| 0), 0); // and destroyed it
                }
            }
            let (id, event_loop) = (id.0, &mut self.loops[id]);
            event_loop.pending.push_back(pending);
            if event_loop.pending.len() > 1 {
                continue;
            }
            let thread = &self.threads[event_loop.thread as usize];
            match &thread.sweep {
                Some((_, set)) => set.mark(event_loop.place as usize),
                None if !thread.busy => drop(self.next.insert((pending.order, id))),
                None => {}
            }
        }
    }

    /// The number of pending events, including those that wait for a busy thread. Linear in the
    /// loops.
    pub(super) fn len(&self) -> usize {
        self.loops.values().map(|event_loop| event_loop.pending.len()).sum()
    }

    /// Whether there is an event that a thread can turn to; for threads without a picker.
    pub(super) fn has_next(&self) -> bool {
        !self.next.is_empty()
    }

    /// Takes the next event that a thread can turn to; of one core, that of the highest thread.
    pub(super) fn pop(&mut self) -> Option<Pending> {
        if let Some(&(_, id)) = self.next.first() {
            return Some(self.remove(id, 0));
        }
        let threads = if self.sweeps { self.threads.len() } else { 0 };
        for n in 0..threads {
            if !self.is_free(n) {
                continue;
            }
            let Thread { loops, sweep: Some((picker, set)), .. } = &mut self.threads[n] else {
                continue;
            };
            if let Some(place) = picker.pick(set) {
                let id = loops[place].0;
                return Some(self.remove(id, 0));
            }
        }
        None
    }

    /// Removes an event like [`pop`](Self::pop); `breaker` chooses among the events of free threads
    /// and the due timers.
    pub(super) fn choose(
        &mut self,
        breaker: &mut Breaker,
        worker: &mut Worker,
        now: Time,
        monitor: &Monitor,
    ) -> Result<Option<Pending>> {
        breaker.arrive_at(now);
        let chosen = match self.sweeps() {
            true => self.choose_on_cores(breaker, now)?,
            false => self.choose_next(breaker, worker, now, monitor)?,
        };
        if let Some(Pending { event: ReadyEvent { callback: Some(callback), .. }, .. }) = chosen {
            breaker.take(now, callback);
        }
        Ok(chosen)
    }

    /// With threads that choose as live workers do. The first candidate is the one that would be
    /// taken without a breaker.
    fn choose_on_cores(&mut self, breaker: &mut Breaker, now: Time) -> Result<Option<Pending>> {
        let mut picks = self.picks();
        let Some(first) = picks.first() else { return Ok(None) };
        let id = self.threads[first.thread].loops[first.place].0;
        if self.loops[LoopId(id)].pending.front().is_some_and(Pending::is_notice) {
            let Pick { thread, picker, .. } = picks.swap_remove(0);
            self.threads[thread].set_picker(picker);
            return Ok(Some(self.remove(id, 0)));
        }
        breaker.gather_on_cores(self, &picks, now);
        let chosen = breaker.choose(now)?;
        let (_, id, index) = breaker.places[chosen];
        let VirtualLoop { thread, place, .. } = self.loops[LoopId(id)];
        let is_it = |pick: &Pick| (pick.thread, pick.place) == (thread as usize, place as usize);
        match picks.into_iter().find(is_it) {
            Some(pick) => self.threads[pick.thread].set_picker(pick.picker),
            None => self.threads[thread as usize].serve(place as usize),
        }
        Ok(Some(self.remove(id, index)))
    }

    /// For each core, the choice of the highest free thread that has an event. Threads without one
    /// start their rounds anew.
    fn picks(&mut self) -> Vec<Pick> {
        let mut picks: Vec<Pick> = Vec::new();
        for n in 0..self.threads.len() {
            if !self.is_free(n) {
                continue;
            }
            let core = self.threads[n].core;
            if picks.last().is_some_and(|pick| self.threads[pick.thread].core == core) {
                continue;
            }
            let Some((of_thread, set)) = &mut self.threads[n].sweep else { continue };
            let mut picker = of_thread.clone();
            match picker.pick(set) {
                Some(place) => picks.push(Pick { thread: n, place, picker }),
                None => *of_thread = picker,
            }
        }
        picks
    }

    fn choose_next(
        &mut self,
        breaker: &mut Breaker,
        worker: &mut Worker,
        now: Time,
        monitor: &Monitor,
    ) -> Result<Option<Pending>> {
        loop {
            if let Some(id) = self.first_notice() {
                return Ok(Some(self.remove(id, 0)));
            }
            breaker.gather(self, worker, now);
            if breaker.candidates.is_empty() {
                return Ok(None);
            }
            let chosen = breaker.choose(now)?;
            if let Some(&(_, id, index)) = breaker.places.get(chosen) {
                return Ok(Some(self.remove(id, index)));
            }
            let timer = breaker.candidates[chosen].callback;
            worker.expire_nth(now, breaker.timers[chosen - breaker.places.len()]);
            self.take_over(worker, now, monitor);
            if let Some(pending) = self.newest_of(timer) {
                return Ok(Some(pending));
            }
            // Its thread is busy: it waits there.
        }
    }

    /// The loop of the event that became ready first, if that is a notice to the worker itself:
    /// about these there is no choice.
    fn first_notice(&self) -> Option<u32> {
        let &(_, id) = self.next.first()?;
        self.loops[LoopId(id)].pending.front().filter(|first| first.is_notice()).map(|_| id)
    }

    /// Whether an event of the loop of `callback` has waited for its thread, which is free now: the
    /// events of this instant come after it.
    fn has_older(&self, callback: CallbackId, now: Time) -> bool {
        let Some(of) = self.loop_of.get(callback) else { return false };
        let event_loop = &self.loops[*of];
        let is_older = |first: &Pending| first.since < now;
        !self.threads[event_loop.thread as usize].busy
            && event_loop.pending.front().is_some_and(is_older)
    }

    /// The event that a timer has just become, if its thread is free.
    fn newest_of(&mut self, timer: CallbackId) -> Option<Pending> {
        let is_it = |pending: &Pending| pending.event.callback == Some(timer);
        let free = self.next.iter().map(|&(_, id)| id);
        let mut found = free.filter_map(|id| {
            let pending = &self.loops[LoopId(id)].pending;
            pending.iter().rposition(is_it).map(|index| (id, index))
        });
        let (id, index) = found.next()?;
        Some(self.remove(id, index))
    }

    fn remove(&mut self, id: u32, index: usize) -> Pending {
        let event_loop = &mut self.loops[LoopId(id)];
        let first = event_loop.pending.front().map(|first| first.order);
        let taken = event_loop.pending.remove(index).expect("the event is pending");
        let thread = &self.threads[event_loop.thread as usize];
        match &thread.sweep {
            Some((_, set)) if event_loop.pending.is_empty() => set.clear(event_loop.place as usize),
            Some(_) => {}
            None => {
                self.next.remove(&(first.expect("it is not empty"), id));
                if let Some(first) = event_loop.pending.front() {
                    self.next.insert((first.order, id));
                }
            }
        }
        taken
    }

    /// The thread of `event_loop` is busy with `call` from `now` on.
    pub(super) fn occupy(&mut self, event_loop: LoopId, call: Call, now: Time) {
        let number = self.loops[event_loop].thread;
        let thread = &mut self.threads[number as usize];
        thread.busy = true;
        match &mut self.running {
            Some(running) => running.begin(number, event_loop, call, now),
            None => self.ends.push(Reverse((call.end, number))),
        }
        if thread.sweep.is_some() {
            return; // none of its loops is in `next`
        }
        for id in &thread.loops {
            if let Some(first) = self.loops.get(*id).and_then(|of| of.pending.front()) {
                self.next.remove(&(first.order, id.0));
            }
        }
    }

    /// Whether ends of running calls move.
    pub(super) fn has_moving_ends(&self) -> bool {
        self.running.is_some()
    }

    /// Moves the ends of the calls that are slower or faster since others have begun or ended. To
    /// be called when `now` is quiet.
    pub(super) fn settle(&mut self, now: Time) {
        if let Some(running) = &mut self.running
            && running.settle(now)
        {
            self.ends = running.ends().map(Reverse).collect();
        }
    }

    /// The calls that have not ended, if ends move.
    pub(super) fn running(&self) -> impl Iterator<Item = &RunningCall> {
        self.running.iter().flat_map(RunningCalls::iter)
    }

    /// Takes out the calls that have ended by `now`, if ends move.
    pub(super) fn take_ended(&mut self, now: Time) -> Vec<RunningCall> {
        self.running.as_mut().map(|running| running.take_ended(now)).unwrap_or_default()
    }

    /// The time at which the next thread becomes free.
    pub(super) fn next_end(&self) -> Option<Time> {
        self.ends.peek().map(|Reverse((end, _))| *end)
    }

    /// Frees the threads that were busy until `now`.
    pub(super) fn free(&mut self, now: Time) {
        while let Some(&Reverse((end, number))) = self.ends.peek()
            && end <= now
        {
            self.ends.pop();
            let thread = &mut self.threads[number as usize];
            thread.busy = false;
            if thread.sweep.is_some() {
                continue; // its set has all the loops
            }
            for id in &thread.loops {
                if let Some(first) = self.loops.get(*id).and_then(|of| of.pending.front()) {
                    self.next.insert((first.order, id.0));
                }
            }
        }
    }
}

impl Thread {
    fn set_picker(&mut self, picker: Picker) {
        if let Some((own, _)) = &mut self.sweep {
            *own = picker;
        }
    }

    /// Takes the loop at `place`, which the picker would not have chosen.
    fn serve(&mut self, place: usize) {
        if let Some((picker, _)) = &mut self.sweep {
            let only = ReadySet::new(self.loops.len());
            only.mark(place);
            picker.pick(&only);
        }
    }
}

/// The loop that a thread would turn to.
struct Pick {
    thread: usize,
    place: usize,
    /// The thread's picker after that.
    picker: Picker,
}

/// A record of one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstantLog {
    /// The callbacks of the events that were taken, in order.
    pub taken: Vec<CallbackId>,
    /// The number of candidates of each choice.
    pub candidates: Vec<u32>,
}

/// Chooses among the events of an instant, and keeps a record of the choices.
pub(super) struct Breaker {
    chooser: Chooser,
    candidates: Vec<Candidate>,
    /// Of the candidates that are events: their order, loop, and index in that loop's queue.
    places: Vec<(u64, u32, usize)>,
    due: Vec<CallbackId>,
    /// Of the candidates that are due timers: which of the due timers.
    timers: Vec<usize>,
    /// Events of the current instant.
    choices: u32,
    instant: Time,
    /// The number in all.
    made: u64,
    /// The deviations so far.
    pub(super) taken: Kept<Taken>,
    /// The events that were taken at the current instant; for scripts only.
    events: TakenEvents,
    /// The instant of which a record is kept.
    watched: Option<Time>,
    pub(super) log: InstantLog,
}

impl Breaker {
    /// Keeps `deviations_max` of the deviations.
    pub(super) fn new(chooser: Chooser, watched: Option<Time>, deviations_max: usize) -> Self {
        Self {
            chooser,
            candidates: Vec::new(),
            places: Vec::new(),
            due: Vec::new(),
            timers: Vec::new(),
            choices: 0,
            instant: Time::ZERO,
            made: 0,
            taken: Kept::new(deviations_max),
            events: TakenEvents::default(),
            watched,
            log: InstantLog::default(),
        }
    }

    /// An event is to be chosen at `now`.
    fn arrive_at(&mut self, now: Time) {
        if now != self.instant {
            (self.instant, self.choices) = (now, 0);
            self.events.clear();
        }
    }

    /// An event was chosen.
    fn take(&mut self, now: Time, callback: CallbackId) {
        if let Chooser::Script(script) = &mut self.chooser {
            script.take(callback, &self.events);
            self.events.take(callback);
        }
        if self.watched == Some(now) {
            self.log.taken.push(callback);
        }
    }

    /// Fills in the candidates: of each free loop what became ready together with its first event,
    /// once for each callback; then the due timers.
    fn gather(&mut self, virtual_cores: &VirtualCoreScheduler, worker: &Worker, now: Time) {
        self.places.clear();
        for &(_, id) in &virtual_cores.next {
            self.add_loop(virtual_cores, id);
        }
        self.places.sort_unstable();
        self.add_candidates(virtual_cores);
        worker.due_timers(now, &mut self.due);
        self.timers.clear();
        for (n, &callback) in self.due.iter().enumerate() {
            if !virtual_cores.has_older(callback, now) {
                self.timers.push(n);
                self.candidates.push(Candidate { callback, due_timer: true });
            }
        }
    }

    /// Fills in the candidates of threads that choose as live workers do. The choice of the first
    /// thread comes first. Which loop has its turn is no promise among loops of one priority, and
    /// neither is the order of events of one instant; but an event that has waited for its thread
    /// goes before all of lower priority.
    fn gather_on_cores(&mut self, virtual_cores: &VirtualCoreScheduler, picks: &[Pick], now: Time) {
        self.places.clear();
        for pick in picks {
            let firsts: Vec<_> = virtual_cores.threads[pick.thread]
                .ready()
                .map(|id| {
                    let event_loop = &virtual_cores.loops[id];
                    (id.0, event_loop.priority, event_loop.pending[0].since)
                })
                .collect();
            let waited = firsts.iter().filter(|(.., since)| *since < now);
            let waited = waited.map(|(_, priority, _)| *priority).max().unwrap_or(0);
            let picked = virtual_cores.threads[pick.thread].loops[pick.place].0;
            for (id, priority, _) in firsts {
                if priority >= waited || id == picked {
                    self.add_loop(virtual_cores, id);
                }
            }
        }
        self.places.sort_unstable();
        let default =
            picks.first().map(|pick| virtual_cores.threads[pick.thread].loops[pick.place].0);
        let default =
            self.places.iter().position(|&(_, id, index)| (Some(id), index) == (default, 0));
        self.places[..=default.unwrap_or(0)].rotate_right(1);
        self.add_candidates(virtual_cores);
    }

    /// Adds what became ready together with the loop's first event, once for each callback.
    fn add_loop(&mut self, virtual_cores: &VirtualCoreScheduler, id: u32) {
        let pending = &virtual_cores.loops[LoopId(id)].pending;
        let since = pending[0].since;
        let together =
            pending.iter().take_while(|event| event.since == since && !event.is_notice());
        for (index, event) in together.enumerate() {
            let same = |before: &Pending| before.event.callback == event.event.callback;
            if !pending.iter().take(index).any(same) {
                self.places.push((event.order, id, index));
            }
        }
    }

    fn add_candidates(&mut self, virtual_cores: &VirtualCoreScheduler) {
        let callback = |&(_, id, index): &(u64, u32, usize)| {
            let pending: &Pending = &virtual_cores.loops[LoopId(id)].pending[index];
            let callback = pending.event.callback.expect("a notice is no candidate");
            Candidate { callback, due_timer: false }
        };
        self.candidates.clear();
        self.candidates.extend(self.places.iter().map(callback));
    }

    fn choose(&mut self, now: Time) -> Result<usize> {
        let Self { chooser, candidates, events, choices, .. } = self;
        let count = candidates.len();
        if count == 1 {
            return Ok(0);
        }
        let (chosen, deviates) = match chooser {
            Chooser::Breaker(breaker) => {
                let chosen = catch_part("the tie breaker", Some(now), || {
                    breaker.choose(now, candidates).min(count - 1)
                })?;
                (chosen, chosen > 0)
            }
            Chooser::Script(script) => script.choose(now, *choices, candidates, events),
        };
        if deviates {
            let (choice, taken) = (self.choices, chosen as u32);
            let deviation = Deviation { time: now, choice, taken };
            let callback = |n: usize| self.candidates[n].callback;
            let (taken, instead_of) = (callback(chosen), callback(0));
            self.taken.push(Taken { deviation, taken, instead_of });
        }
        if self.watched == Some(now) {
            self.log.candidates.push(count as u32);
        }
        self.choices += 1;
        self.made += 1;
        Ok(chosen)
    }

    /// The postponements that were kept so far.
    pub(super) fn postponements(&self) -> BTreeSet<Postponement> {
        match &self.chooser {
            Chooser::Breaker(_) => BTreeSet::new(),
            Chooser::Script(script) => script.applied(self.instant, &self.events),
        }
    }

    pub(super) fn choices(&self) -> u64 {
        self.made
    }
}
