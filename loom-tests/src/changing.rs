//! A worker whose sources of events come and go while it runs, by the calls that
//! `executor/src/running/graph/commit.rs` and `executor/src/running/worker/adopt.rs` make.

use crate::changes::Queue;
use crate::inbox::{Announce, Announcer, Inbox, Registrar};
use crate::notifier::Notifier;
use crate::ready_set::ReadySet;
use crate::reclaim::{Domain, Published, Slot};
use crate::sync::{Arc as Shared, omitted};
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A source of events.
pub(crate) enum Source {
    Notifier(Notifier<Ready>),
    /// The number of messages in the queue of a subscription. Counted without any ordering, so that
    /// only a token, or the end of the lease, can make them visible.
    Queue(AtomicU32),
}

impl Source {
    pub(crate) fn notifier() -> Arc<Self> {
        Arc::new(Self::Notifier(Notifier::new()))
    }

    fn queue() -> Arc<Self> {
        Arc::new(Self::Queue(AtomicU32::new(0)))
    }

    /// The number of messages or notices that wait.
    fn waiting(&self) -> u32 {
        match self {
            Self::Notifier(notifier) => u32::from(notifier.is_given()),
            Self::Queue(messages) => messages.load(Relaxed),
        }
    }

    /// Makes the first event of a notifier ready.
    fn start(&self) {
        if let Self::Notifier(notifier) = self {
            notifier.start();
        }
    }
}

/// Makes events of a source ready.
#[derive(Clone)]
pub(crate) struct Ready {
    announcer: Announcer,
    /// Ends with the last clone: then nothing announces the token any more.
    _lease: Arc<Lease>,
}

impl Ready {
    pub(crate) fn token(&self) -> u32 {
        self.announcer.token()
    }
}

impl Announce for Ready {
    fn announce(&self) {
        self.announcer.announce();
    }

    fn remind(&self) {
        self.announcer.remind();
    }
}

struct Lease {
    token: u32,
    graph: Weak<Graph>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(graph) = self.graph.upgrade()
            && !omitted!("commit.lease")
        {
            graph.changes.push([Change::Free(self.token)]);
            graph.changes.wake();
        }
    }
}

pub(crate) enum Change {
    /// Events of this token come from a source, which is to be started.
    Add(u32, Arc<Source>),
    /// Events of this token are dispatched no more.
    Remove(u32),
    /// Nothing announces this token any more.
    Free(u32),
    /// A change that brings no event.
    Other,
}

/// The part of a graph that other threads use, with one worker and one topic.
pub(crate) struct Graph {
    pub(crate) domain: Arc<Domain>,
    registrar: Registrar,
    ring: u32,
    changes: Queue<Change>,
    /// On which the worker sleeps.
    pub(crate) set: Shared<ReadySet>,
    ports: Published<Vec<Port>>,
}

/// The sending end of a subscription.
type Port = (Arc<Source>, Ready);

impl Graph {
    /// A graph and its worker, which is not started.
    pub(crate) fn new() -> (Arc<Self>, Worker) {
        let inbox = Inbox::with_room(1, 1);
        let (domain, registrar) = (Arc::new(Domain::new()), inbox.registrar());
        let ring = registrar.add_ring(4, None);
        let set = inbox.set().clone();
        let changes = Queue::new(set.clone(), domain.clone());
        let ports = Published::new(Vec::new(), &domain);
        let graph = Arc::new(Self { domain, registrar, ring, changes, set, ports });
        (graph.clone(), Worker::new(graph, inbox))
    }

    /// A new token, of which one event may be pending.
    pub(crate) fn ready(self: &Arc<Self>) -> Ready {
        let announcer = self.registrar.add_token(self.ring, 1);
        let _lease = Lease { token: announcer.token(), graph: Arc::downgrade(self) };
        Ready { announcer, _lease: Arc::new(_lease) }
    }

    /// Commits changes: `connect` is called when the changes are pushed, `publish` afterwards.
    fn commit(
        &self,
        changes: impl IntoIterator<Item = Change>,
        connect: impl FnOnce(),
        publish: impl FnOnce(),
    ) {
        if omitted!("commit.wake_last") {
            self.changes.wake();
        }
        let push = || {
            self.changes.push(changes);
            connect();
        };
        if omitted!("commit.push_first") {
            publish();
            push();
        } else {
            push();
            publish();
        }
        if !omitted!("commit.wake_last") {
            self.changes.wake();
        }
        self.domain.collect();
    }

    /// Adds a notifier, whose first event comes at its start.
    pub(crate) fn add_notifier(self: &Arc<Self>, source: Arc<Source>) {
        let ready = self.ready();
        let add = Change::Add(ready.token(), source.clone());
        let connect = || {
            let Source::Notifier(notifier) = &*source else { panic!("it is a queue") };
            assert!(notifier.connect(ready).is_ok(), "it is connected once");
        };
        self.commit([add], connect, || ());
    }

    /// Adds the only subscription of the topic; returns its token.
    pub(crate) fn subscribe(self: &Arc<Self>) -> u32 {
        let (ready, source) = (self.ready(), Source::queue());
        let token = ready.token();
        let add = Change::Add(token, source.clone());
        self.commit([add], || (), || self.replace(vec![(source, ready)]));
        token
    }

    /// Removes the subscription with this token.
    pub(crate) fn unsubscribe(&self, token: u32) {
        let free = omitted!("commit.lease").then_some(Change::Free(token));
        let changes = [Change::Remove(token)].into_iter().chain(free);
        self.commit(changes, || (), || self.replace(Vec::new()));
    }

    /// Commits a change that brings no event.
    pub(crate) fn change(&self) {
        self.commit([Change::Other], || (), || ());
    }

    fn replace(&self, ports: Vec<Port>) {
        // SAFETY: it is dropped once no thread can hold a reference from before its retirement.
        let replaced = unsafe { self.ports.exchange(ports) };
        self.domain.retire(move || drop(replaced));
    }

    /// Publishes a message; returns the number of subscriptions that get it.
    pub(crate) fn publish(&self, place: &Slot<Arc<Domain>>) -> u32 {
        place.online();
        // SAFETY: the thread is online until it is done with the ports.
        let ports = unsafe { self.ports.read() };
        for (source, ready) in ports {
            let Source::Queue(messages) = &**source else { panic!("it is a notifier") };
            messages.fetch_add(1, Relaxed);
            ready.announce();
        }
        let count = ports.len() as u32;
        place.offline();
        self.domain.collect();
        count
    }

    /// A thread's place among those that publish.
    pub(crate) fn place(&self) -> Slot<Arc<Domain>> {
        Slot::new(self.domain.clone())
    }

    /// Ends a lone subscription, while no other thread runs.
    pub(crate) fn close(&self) {
        self.replace(Vec::new());
        self.domain.collect();
    }
}

#[derive(Clone)]
enum Route {
    /// Not adopted.
    Unknown,
    Source(Arc<Source>),
    /// Of a source that was removed.
    Leaving(Arc<Source>),
    /// Events before the removal may be in the ring.
    Free,
}

/// The worker: its tables, and the numbers of what it did.
pub(crate) struct Worker {
    graph: Arc<Graph>,
    inbox: Inbox,
    seen: u64,
    routes: Vec<Route>,
    is_started: bool,
    /// Sources that were adopted.
    pub(crate) added: u32,
    /// Notices that were handled.
    pub(crate) notices: u32,
    /// Messages that were dispatched.
    pub(crate) dispatched: u32,
    /// Messages in the queues of removed sources.
    pub(crate) drained: u32,
    pub(crate) freed: u32,
    /// Changes that bring no event.
    pub(crate) others: u32,
}

impl Worker {
    fn new(graph: Arc<Graph>, inbox: Inbox) -> Self {
        Self {
            graph,
            inbox,
            seen: 0,
            routes: Vec::new(),
            is_started: false,
            added: 0,
            notices: 0,
            dispatched: 0,
            drained: 0,
            freed: 0,
            others: 0,
        }
    }

    pub(crate) fn start(mut self) -> Self {
        self.adopt();
        self.is_started = true;
        for route in &self.routes {
            if let Route::Source(source) = route {
                source.start();
            }
        }
        self
    }

    /// Works and sleeps until it is as `is_done` says. What is lost leaves it asleep, which the
    /// checker reports as a deadlock.
    pub(crate) fn run_until(mut self, is_done: impl Fn(&Self) -> bool) -> Self {
        self.inbox.set().register_sleeper();
        loop {
            self.pass();
            if is_done(&self) {
                break;
            }
            if self.inbox.is_at_rest() {
                self.inbox.sleep(Duration::MAX);
            } else if let Some(index) = self.inbox.set().next(0) {
                self.dispatch(index);
            }
        }
        self
    }

    /// A quiescent point.
    fn pass(&mut self) {
        let version = self.graph.domain.version();
        if version != std::mem::replace(&mut self.seen, version) {
            self.adopt();
        }
    }

    fn dispatch(&mut self, index: usize) {
        let Self { inbox, routes, .. } = self;
        let turn = inbox.next(index, |token| match routes.get(token as usize) {
            None | Some(Route::Unknown) => 1,
            Some(Route::Source(source)) => source.waiting() as usize,
            Some(Route::Leaving(_) | Route::Free) => 0,
        });
        if let Some(turn) = turn {
            self.handle(turn.token() as usize);
        }
        self.inbox.rest(index);
    }

    fn handle(&mut self, token: usize) {
        if matches!(self.routes.get(token), None | Some(Route::Unknown | Route::Free)) {
            self.adopt();
        }
        match self.routes.get(token).unwrap_or(&Route::Unknown) {
            Route::Unknown => panic!("the worker does not know the token of an event"),
            Route::Source(source) => match &**source {
                Source::Notifier(notifier) => self.notices += u32::from(notifier.take()),
                Source::Queue(messages) => {
                    assert!(messages.load(Relaxed) > 0, "an event of another source");
                    messages.fetch_sub(1, Relaxed);
                    self.dispatched += 1;
                }
            },
            Route::Leaving(_) | Route::Free => {}
        }
    }

    fn adopt(&mut self) {
        for change in self.graph.changes.take() {
            match change {
                Change::Add(token, source) => self.add(token as usize, source),
                Change::Remove(token) => {
                    let route = &mut self.routes[token as usize];
                    let Route::Source(source) = route.clone() else { panic!("it is removed once") };
                    *route = Route::Leaving(source);
                }
                Change::Free(token) => {
                    let route = &mut self.routes[token as usize];
                    if let Route::Leaving(source) = std::mem::replace(route, Route::Free) {
                        self.drained += source.waiting();
                    }
                    self.graph.registrar.remove_token(token);
                    self.freed += 1;
                }
                Change::Other => self.others += 1,
            }
        }
        self.inbox.adopt();
    }

    fn add(&mut self, token: usize, source: Arc<Source>) {
        if self.routes.len() <= token {
            self.routes.resize(token + 1, Route::Unknown);
        }
        let is_free = matches!(self.routes[token], Route::Unknown | Route::Free);
        assert!(is_free, "a token is used again too early");
        if self.is_started && !omitted!("adopt.start") {
            source.start();
        }
        self.routes[token] = Route::Source(source);
        self.added += 1;
    }

    /// Dispatches what is ready.
    pub(crate) fn drain(&mut self) {
        self.pass();
        while !self.inbox.is_at_rest() {
            if let Some(index) = self.inbox.set().next(0) {
                self.dispatch(index);
            }
        }
    }
}
