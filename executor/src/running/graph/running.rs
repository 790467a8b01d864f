//! The workers of a running graph, as the graph sees them: where each loop is, and the changes that
//! are being prepared.
//!
//! The tables here lie in the graph, and threads use them under its lock only. A thread that
//! changes the graph chooses ring, token and index of each part, and appends the changes to the
//! list of the worker. [`hand_over`](Running::hand_over) pushes each list in one step and connects
//! the notifiers afterwards: an event of a notifier finds the callback in the queue. Writing the
//! tables of the worker directly would need a lock in each dispatch. The worker gives back indices
//! of loops, tokens and rings through the link.

use super::removal::RemovedEntity;
use super::{CallbackSpec, EventSource, LatePlacement, Plan, ReadyOrder};
use crate::base::directory::{CallbackName, LoopName};
use crate::base::event::{CallbackId, LoopId};
use crate::base::table::Table;
use crate::base::time::{Clock, NodeClock};
use crate::delivery::callback_deadline::DeadlineWatch;
use crate::delivery::causal_stamps::CausalStamps;
use crate::delivery::control::{FailurePolicy, Failures};
use crate::delivery::ready::{FreeToken, Lease, Notifier, Ready};
use crate::delivery::sim_network::SimNetwork;
use crate::running::change::{BodyChange, Change, NewCallback, NewLoop, NewTimer, WorkerLink};
use crate::running::counters::{Calls, Counted, Counters};
use crate::running::event_loop::EventLoop;
use crate::running::route::{Control, Index, Route};
use ringspin_ringbuf::Inbox;
use ringspin_ringbuf::reclaim::Domain;
use std::sync::{Arc, Weak};

pub(crate) struct Running {
    pub(crate) order: ReadyOrder,
    pub(crate) sim_network: Option<Arc<SimNetwork>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) failures: Arc<Failures>,
    /// The policy of the nodes that were given none.
    pub(crate) policy: FailurePolicy,
    pub(crate) counters: Counters,
    pub(crate) late: LatePlacement,
    /// Present if chains are watched.
    pub(crate) stamps: Option<CausalStamps>,
    domain: Arc<Domain>,
    workers: Vec<WorkerSide>,
    places: Table<LoopId, LoopPlace>,
    tokens: Table<CallbackId, u32>,
    /// Room that the ready rings seem not to have, and tokens.
    #[cfg(test)]
    pub(super) withheld: usize,
    #[cfg(test)]
    pub(super) withheld_tokens: usize,
}

struct WorkerSide {
    link: Arc<WorkerLink>,
    calls: Calls,
    /// The number of its loops so far.
    loops: usize,
    /// The indices that destroyed loops have left.
    free_loops: Vec<usize>,
    changes: Vec<Change>,
    /// The notifiers that are connected when the changes were pushed.
    notifiers: Vec<(Arc<Notifier>, Ready)>,
}

#[derive(Clone, Copy)]
struct LoopPlace {
    worker: usize,
    loop_index: usize,
    ring: u32,
    /// The token of the notice that its node is out of service.
    retirement: u32,
}

/// A callback of the graph, with its names.
pub(crate) type Named<'a> = (CallbackId, &'a CallbackSpec, Arc<CallbackName>);

impl Running {
    pub(crate) fn new(
        Plan { order, late, stamps, .. }: &Plan,
        sim_network: Option<&Arc<SimNetwork>>,
        clock: Arc<dyn Clock>,
        failures: Arc<Failures>,
        policy: FailurePolicy,
        domain: Arc<Domain>,
    ) -> Self {
        Self {
            order: *order,
            sim_network: sim_network.cloned(),
            clock,
            failures,
            policy,
            counters: Counters::default(),
            late: late.clone(),
            stamps: stamps.clone(),
            domain,
            workers: Vec::new(),
            places: Table::new(),
            tokens: Table::new(),
            #[cfg(test)]
            withheld: 0,
            #[cfg(test)]
            withheld_tokens: 0,
        }
    }

    #[cfg(test)]
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.places.len(), self.tokens.len()]
    }

    #[cfg(test)]
    pub(super) fn link(&self, worker: usize) -> Arc<WorkerLink> {
        self.workers[worker].link.clone()
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Adds a worker with room for loops and tokens, and for `events` pending events if all loops
    /// share one ring.
    pub(crate) fn add_worker(
        &mut self,
        loops: usize,
        tokens: usize,
        events: usize,
    ) -> (Inbox, Arc<WorkerLink>) {
        let inbox = match self.order {
            ReadyOrder::Fifo => Inbox::with_room(1, tokens),
            ReadyOrder::RoundRobin => Inbox::with_room(loops, tokens),
        };
        let registrar = inbox.registrar();
        if self.order == ReadyOrder::Fifo {
            registrar.add_ring(events.max(1), None);
        }
        let link = Arc::new(WorkerLink::new(registrar, inbox.set().clone(), self.domain.clone()));
        let (free_loops, changes, notifiers) = (Vec::new(), Vec::new(), Vec::new());
        let (calls, link_of) = (Calls::default(), link.clone());
        self.workers.push(WorkerSide {
            link: link_of,
            calls,
            loops: 0,
            free_loops,
            changes,
            notifiers,
        });
        (inbox, link)
    }

    /// Adds a loop to a worker, with room for `events` pending events.
    pub(crate) fn add_loop(
        &mut self,
        worker: usize,
        (id, name): (LoopId, Arc<LoopName>),
        body: Box<dyn EventLoop>,
        priority: u8,
        events: usize,
    ) {
        let side = &mut self.workers[worker];
        let ring = match self.order {
            ReadyOrder::Fifo => None,
            ReadyOrder::RoundRobin => {
                Some((side.link.registrar.add_ring(events, body.entry_line()), priority))
            }
        };
        side.free_loops.extend(side.link.free_loops.take());
        let loop_index = side.free_loops.pop().unwrap_or_else(|| {
            side.loops += 1;
            side.loops - 1
        });
        let of = ring.map_or(0, |(ring, _)| ring);
        side.changes.push(Change::AddLoop(NewLoop { id, name, body, ring, loop_index }));
        self.places.insert(id, LoopPlace { worker, loop_index, ring: of, retirement: 0 });
    }

    /// Adds the notice to a loop that its node is out of service.
    pub(crate) fn add_retirement(&mut self, id: LoopId, node_index: usize) {
        let notifier = Arc::<Notifier>::default();
        self.failures.change(node_index, |control| {
            // Callback groups may come and go while their node stays.
            control.loops.retain(|other| other.strong_count() > 0);
            control.loops.push(Arc::downgrade(&notifier));
        });
        let loop_index = self.places[id].loop_index;
        let control = Control::Retirement { loop_index, notifier: notifier.clone() };
        self.places[id].retirement = self.add_control(id, control, notifier, true);
    }

    fn add_control(
        &mut self,
        of: LoopId,
        control: Control,
        notifier: Arc<Notifier>,
        starts: bool,
    ) -> u32 {
        let ready = self.ready(of, 1, CallbackId::NONE);
        let token = ready.announcer.token();
        let side = &mut self.workers[self.places[of].worker];
        side.notifiers.push((notifier.clone(), ready));
        let loop_index = self.places[of].loop_index;
        side.changes.push(Change::AddControl { token, loop_index, control, notifier, starts });
        token
    }

    /// A new token of a loop, of which up to `events` may be pending.
    fn ready(&self, of: LoopId, events: usize, callback: CallbackId) -> Ready {
        let LoopPlace { worker, ring, .. } = self.places[of];
        let link = &self.workers[worker].link;
        let announcer = link.registrar.add_token(ring, events);
        let link = Arc::downgrade(link);
        let worker: Weak<dyn FreeToken> = link;
        let _lease = Some(Arc::new(Lease { token: announcer.token(), worker }));
        Ready { announcer, callback, stamper: None, sim_network: self.sim_network.clone(), _lease }
    }

    /// The number of further events that may be pending in the ready ring of a loop.
    pub(crate) fn room(&self, of: LoopId) -> Option<usize> {
        let LoopPlace { worker, ring, .. } = self.places.get(of)?;
        Some(self.room_in(*worker, *ring))
    }

    fn room_in(&self, worker: usize, ring: u32) -> usize {
        let room = self.workers[worker].link.registrar.room(ring);
        #[cfg(test)]
        let room = room.saturating_sub(self.withheld);
        room
    }

    /// The limit of the worker of a loop that is nearer than `margin` callbacks and events.
    pub(crate) fn limit_of(&self, of: LoopId, margin: usize) -> Option<&'static str> {
        let LoopPlace { worker, ring, .. } = self.places.get(of)?;
        self.limit(*worker, Some(*ring), margin)
    }

    /// Returns the limit like [`limit_of`](Self::limit_of) for the loop that a worker gets next.
    pub(crate) fn limit_of_next(&self, worker: usize, margin: usize) -> Option<&'static str> {
        let ring = (self.order == ReadyOrder::Fifo).then_some(0);
        self.limit(worker, ring, margin)
    }

    fn limit(&self, worker: usize, ring: Option<u32>, margin: usize) -> Option<&'static str> {
        let tokens = self.workers[worker].link.registrar.tokens_left();
        #[cfg(test)]
        let tokens = tokens.saturating_sub(self.withheld_tokens);
        if tokens < margin {
            return Some("its worker has as many callbacks as it can number, 2^24");
        }
        let is_full = ring.is_some_and(|ring| self.room_in(worker, ring) < margin);
        is_full.then_some("its worker has as many queued events as it can number, 2^24")
    }

    /// Adds a callback to its loop; returns the handle that makes its events ready.
    pub(crate) fn add_callback(&mut self, (id, spec, name): Named<'_>, clock: &NodeClock) -> Ready {
        let event_loop = name.event_loop;
        let LoopPlace { worker, loop_index, .. } = self.places[event_loop];
        let is_timer = matches!(spec.source, EventSource::Timer(_));
        // The notice that a timer was changed has another token.
        let events = spec.source.capacity() - usize::from(is_timer);
        let mut ready = self.ready(event_loop, events, id);
        let deadline = spec.deadline.map(|limit| {
            let (stamper, watch) = DeadlineWatch::new(limit, spec.source.capacity(), clock.clone());
            ready.stamper = Some(stamper);
            watch
        });
        let (mut notifier, mut timer) = (None, None);
        match &spec.source {
            EventSource::Queue(_) => {}
            EventSource::Notifier(of) | EventSource::QueueAndRemote(_, of) => {
                self.workers[worker].notifiers.push((of.clone(), ready.clone()));
                notifier = Some(of.clone());
            }
            EventSource::Timer(control) => {
                let changed = self.ready(event_loop, 1, CallbackId::NONE);
                let token = changed.announcer.token();
                self.workers[worker].notifiers.push((control.changed.clone(), changed));
                let (control, ready, created) = (control.clone(), ready.clone(), self.clock.now());
                timer = Some(NewTimer { callback: id, control, ready, changed: token, created });
            }
        }
        let token = ready.announcer.token();
        self.tokens.insert(id, token);
        let side = &mut self.workers[worker];
        let calls = side.calls.line(token as usize).clone();
        let counters = spec.counters.clone();
        let (name, node_index) = (name.clone(), name.of.node_index as u32);
        let (token_of, calls_of) = (token as usize, calls.clone());
        let counted =
            Counted { name, counters: counters.clone(), calls: calls_of, token: token_of };
        self.counters.add(id, counted);
        let route = Route {
            callback: id,
            event_loop,
            node_index,
            loop_index: loop_index as u32,
            target: spec.target,
            timer: Index::NONE,
            deadline: Index::NONE,
        };
        let new = NewCallback { token, route, counters, calls, notifier, timer, deadline };
        side.changes.push(Change::AddCallback(Box::new(new)));
        ready
    }

    pub(super) fn remove_entity(&mut self, removed: RemovedEntity) {
        let RemovedEntity { event_loop, entity, callbacks, by_itself } = removed;
        let LoopPlace { worker, loop_index, .. } = self.places[event_loop];
        callbacks.iter().for_each(|id| self.counters.remove(*id));
        let tokens = callbacks.into_iter().filter_map(|id| Some((id, self.tokens.remove(id)?)));
        let callbacks = tokens.collect();
        let change = Change::RemoveEntity { loop_index, entity, callbacks, by_itself };
        self.workers[worker].changes.push(change);
    }

    /// Removes a loop; its callbacks were removed before.
    pub(crate) fn remove_loop(&mut self, id: LoopId) {
        let Some(LoopPlace { worker, loop_index, ring, retirement }) = self.places.remove(id)
        else {
            return;
        };
        let ring = (self.order == ReadyOrder::RoundRobin).then_some(ring);
        let change = Change::RemoveLoop { id, loop_index, ring, retirement };
        self.workers[worker].changes.push(change);
    }

    pub(crate) fn set_priority(&mut self, of: LoopId, priority: u8) {
        let LoopPlace { worker, ring, .. } = self.places[of];
        let ring = (self.order == ReadyOrder::RoundRobin).then_some(ring);
        self.workers[worker].changes.push(Change::Priority { ring, priority });
    }

    /// Changes the body of a loop that a worker has.
    pub(crate) fn change_body(&mut self, of: LoopId, change: BodyChange) {
        let LoopPlace { worker, loop_index, .. } = self.places[of];
        self.workers[worker].changes.push(Change::Body(loop_index, change));
    }

    pub(crate) fn worker_of(&self, of: LoopId) -> Option<usize> {
        self.places.get(of).map(|place| place.worker)
    }

    /// Hands the prepared changes to their workers. Returns the links to
    /// [wake](ringspin_ringbuf::changes::Queue::wake).
    pub(crate) fn hand_over(&mut self) -> Vec<Arc<WorkerLink>> {
        let changed = self.workers.iter_mut().filter(|side| !side.changes.is_empty());
        let hand_over = |side: &mut WorkerSide| {
            side.link.hand_over(&mut side.changes);
            side.notifiers.drain(..).for_each(|(notifier, ready)| notifier.connect(ready));
            side.link.clone()
        };
        changed.map(hand_over).collect()
    }
}
