//! Changes of a running graph: all that is added under one lock is committed where the lock ends.
//!
//! The thread that holds the lock collects parts in [`Added`]. When it drops the [`Builder`], it
//! turns them into changes, pushes these to the workers, connects the topics, unlocks, and then
//! wakes the workers. A publisher may push as soon as a port is connected: its token leads the
//! worker to the queue of changes even before the wake-up. The removal of an entity is pushed
//! before its topic loses the port, because the last handle of the port pushes the change that
//! frees the token. Were each part committed alone, events of a port could come before its entity
//! and the other ports of it exist.

use super::removal::RemovedEntity;
use super::running::Running;
use super::{Graph, GraphBuilder, lock};
use crate::base::departure::{Departure, End};
use crate::base::escape::{log_drop, try_drop_each};
use crate::base::event::{CallbackId, LoopId, SourceId};
use crate::base::owner_thread::ForeignEvent;
use crate::base::stop::StopHandle;
use crate::base::table::Table;
use crate::delivery::liveliness::LivelinessRegistry;
use crate::delivery::ready::Ready;
use crate::delivery::topic::{AnyTopic, Connections};
use crate::running::change::{BodyChange, Pace, WorkerLink};
use crate::running::event_loop::{Body, Entity, EntityPort, EventLoop};
use ringspin_ringbuf::reclaim::Change;
use std::collections::BTreeSet;
use std::mem::take;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard};

/// Parts that were added to the graph, and are not connected to a worker yet.
#[derive(Default)]
pub(super) struct Added {
    /// With their workers, if the graph runs.
    pub(super) loops: Vec<(LoopId, usize)>,
    pub(super) callbacks: Vec<CallbackId>,
    /// Changes of the bodies of loops that a worker has.
    bodies: Vec<(LoopId, BodyChange)>,
    /// Each transient-local publisher with its topic, in order of creation.
    pub(super) caches: Vec<(Arc<dyn AnyTopic>, SourceId)>,
    /// The node of each publisher, and its topic's registry.
    pub(super) publishers: Vec<(usize, Arc<LivelinessRegistry>)>,
    /// The publishers that have ended, likewise.
    pub(super) ended_publishers: Vec<(usize, Arc<LivelinessRegistry>)>,
    pub(super) removed: Vec<RemovedEntity>,
    pub(super) removed_loops: Vec<LoopId>,
    pub(super) removed_nodes: Vec<usize>,
    /// Subscriptions that their topics have still to forget.
    pub(super) disconnected: Vec<(Arc<dyn AnyTopic>, CallbackId)>,
}

#[derive(Default)]
pub(super) struct EntityPlaces {
    pub(super) len: u32,
    /// The places of destroyed entities.
    pub(super) free: Vec<u32>,
    pub(super) callbacks: BTreeSet<(u32, CallbackId)>,
}

/// The lock of a graph. Everything that was added to a running graph is part of it when the lock
/// ends.
pub(crate) struct Builder<'a> {
    graph: &'a Mutex<GraphBuilder>,
    /// `None` only while this is dropped.
    locked: Option<MutexGuard<'a, GraphBuilder>>,
    /// Dropped after the unlock: values of the user may be dropped where it ends.
    _change: Change<'a>,
    /// Dropped last: it delays this thread, which must hold nothing then.
    pace: Pace,
}

impl Deref for Builder<'_> {
    type Target = GraphBuilder;

    fn deref(&self) -> &GraphBuilder {
        self.locked.as_ref().expect("it is locked until it is dropped")
    }
}

impl DerefMut for Builder<'_> {
    fn deref_mut(&mut self) -> &mut GraphBuilder {
        self.locked.as_mut().expect("it is locked until it is dropped")
    }
}

impl Builder<'_> {
    /// Commits the additions, and unlocks the graph.
    fn unlock(&mut self) {
        self.set_owner(None);
        self.handle_departures();
        let changed = self.commit();
        self.remove_unused();
        let trash = take(&mut self.trash);
        let domain = self.joined().cloned();
        self.locked = None;
        changed.iter().for_each(|(link, _)| link.changes.wake());
        self.pace.changed.extend(changed);
        log_drop("a callback", try_drop_each(trash));
        if let Some(domain) = domain {
            domain.collect();
        }
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        let departures = self.departures.clone();
        self.unlock();
        // Handles may have been dropped while the graph was locked; unless another thread has it
        // locked now, which then handles them.
        while !departures.is_empty()
            && let Ok(locked) = self.graph.try_lock()
        {
            self.locked = Some(locked);
            self.unlock();
        }
    }
}

impl Graph {
    pub(crate) fn builder(&self) -> Builder<'_> {
        let _change = self.domain.change();
        let pace = Pace::default();
        // A panic while building leaves a builder with fewer items, but a consistent one.
        Builder { graph: &self.builder, locked: Some(lock(&self.builder)), _change, pace }
    }

    pub(crate) fn departure(&self, builder: &GraphBuilder, end: End) -> Departure {
        let (graph, domain) = (Arc::downgrade(&self.builder), self.domain.clone());
        Departure::new(end, builder.departures.clone(), move || {
            let _change = domain.change();
            let Some(graph) = graph.upgrade() else { return };
            if let Ok(locked) = graph.try_lock() {
                let pace = Pace::default();
                drop(Builder { graph: &graph, locked: Some(locked), _change, pace });
            }
        })
    }

    /// The departure of an end that is created while the graph runs. An end that was created before
    /// the start stays with its node, so dropped handles do not change the events of a graph.
    pub(crate) fn late_departure(&self, builder: &GraphBuilder, end: End) -> Option<Departure> {
        builder.is_frozen().then(|| self.departure(builder, end))
    }
}

impl GraphBuilder {
    /// Connects the additions to a running graph; returns the links of the changed workers.
    fn commit(&mut self) -> Vec<(Arc<WorkerLink>, StopHandle)> {
        let Some(mut running) = self.running.take() else {
            let disconnected = take(&mut self.added.disconnected);
            disconnected.iter().for_each(|(topic, callback)| topic.disconnect(*callback));
            return Vec::new();
        };
        let added = take(&mut self.added);
        let mut ready = Table::new();
        self.add_publishers(&running, &added.publishers);
        for (node, registry) in &added.ended_publishers {
            running.failures.change(*node, |control| {
                let published = &mut control.published;
                let place = published.iter().position(|other| Arc::ptr_eq(other, registry));
                place.map(|place| published.swap_remove(place))
            });
        }
        added.removed.into_iter().for_each(|removed| running.remove_entity(removed));
        added.removed_loops.iter().for_each(|id| running.remove_loop(*id));
        let ended =
            added.removed_nodes.iter().filter_map(|node| running.failures.remove_node(*node));
        let ended: Vec<_> = ended.collect();
        for (id, worker) in &added.loops {
            self.add_late_loop(&mut running, *id, *worker);
        }
        for (event_loop, change) in added.bodies {
            running.change_body(event_loop, change);
        }
        for id in added.callbacks {
            ready.insert(id, running.add_callback(self.named(id), &self.clock));
        }
        for (id, _) in added.loops {
            running.add_retirement(id, self.loops[id].node_index);
        }
        if let Some(sim_network) = &running.sim_network
            && !(ready.is_empty() && added.publishers.is_empty())
        {
            sim_network.extend(|| self.snapshot());
        }
        let changed = running.hand_over();
        if let Some(sim_network) = running.sim_network.as_ref().filter(|_| !changed.is_empty()) {
            sim_network.owner().note(|| ForeignEvent::For(CallbackId::NONE));
        }
        // The workers know already that no more messages come.
        added.disconnected.iter().for_each(|(topic, callback)| topic.disconnect(*callback));
        self.connect_topics(&running, &ready);
        for (topic, number) in added.caches {
            topic.start_cache(number, running.clock.now(), running.sim_network.as_ref());
        }
        drop(ended);
        let stop = running.failures.stop.clone();
        let changed = changed.into_iter().map(|link| (link, stop.clone())).collect();
        self.running = Some(running);
        changed
    }

    fn add_late_loop(&mut self, running: &mut Running, id: LoopId, worker: usize) {
        let info = &self.loops[id];
        let node = info.node_index;
        if info.group.is_empty() {
            running.failures.add_node(node, self.policies[node].unwrap_or(running.policy));
        }
        let body = self.bodies.remove(id).expect("a new loop has no worker yet");
        let events = 1; // the ring grows with its callbacks
        let name = self.loop_name(id);
        running.add_loop(worker, (id, name), body, info.priority, events);
    }

    pub(super) fn connect_topics(&self, running: &Running, ready: &Table<CallbackId, Ready>) {
        let connections = Connections {
            ready: &|callback| ready[callback].clone(),
            sim_network: running.sim_network.as_ref(),
            directory: &self.directory,
            clock: &self.clock,
            stamps: running.stamps.as_ref(),
        };
        let changed = self.changed_topics.take();
        // In passes, so that what each message touches lies together, apart from spare slots.
        changed.iter().for_each(|topic| topic.reserve_first());
        changed.iter().for_each(|topic| topic.plan(connections));
        changed.iter().for_each(|topic| topic.connect(connections));
    }

    /// Makes the isolation of a node known to the watchers of its publishers.
    pub(super) fn add_publishers(
        &self,
        running: &Running,
        publishers: &[(usize, Arc<LivelinessRegistry>)],
    ) {
        for (node, registry) in publishers {
            running.failures.change(*node, |control| control.published.push(registry.clone()));
        }
    }

    /// The first port of the entity that `event_loop` gets next.
    pub(crate) fn next_target(&self, event_loop: LoopId) -> EntityPort {
        let places = &self.entities[event_loop];
        EntityPort { entity: places.free.last().copied().unwrap_or(places.len), port: 0 }
    }

    pub(crate) fn add_entity<S: Send + 'static>(
        &mut self,
        event_loop: LoopId,
        entity: Box<dyn Entity<S>>,
    ) {
        let index = self.next_target(event_loop).entity;
        let places = &mut self.entities[event_loop];
        if places.free.pop().is_none() {
            places.len += 1;
        }
        self.change_body(event_loop, move |body| body.add(index, entity));
    }

    /// Changes the typed body of a loop: at once, or when its worker adopts the change.
    pub(crate) fn change_body<S: Send + 'static>(
        &mut self,
        event_loop: LoopId,
        change: impl FnOnce(&mut Body<S>) + Send + 'static,
    ) {
        self.change_loop(event_loop, |body: &mut Box<dyn EventLoop>| {
            let body = body.as_any_mut().downcast_mut();
            change(body.expect("a node handle has the state type of its loop"));
        });
    }

    /// Changes the body of a loop likewise.
    pub(crate) fn change_loop(
        &mut self,
        event_loop: LoopId,
        change: impl FnOnce(&mut Box<dyn EventLoop>) + Send + 'static,
    ) {
        match self.bodies.get_mut(event_loop) {
            Some(body) => change(body),
            None => self.added.bodies.push((event_loop, Box::new(change))),
        }
    }
}
