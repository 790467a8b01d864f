//! Workers: callbacks that share a payload.

use crate::error::{RclReturnCode, RclrsError};
use crate::event_loop::{EventLoop, Listener, Slot, State};
use crate::executor::Promise;
use crate::node::Node;
use crate::tasks::Waiting;
use futures::channel::oneshot;
use ringspin::GuardCondition;
use ringspin_adapter::lock;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A handle of a worker.
pub type Worker<Payload> = Arc<WorkerState<Payload>>;

/// An event loop with a payload, which its callbacks get one after the other.
///
/// It belongs to a node, runs beside it, and is a callback group named `worker_1`, `worker_2` and
/// so on: a mapping can give it another core than its node's. Created by
/// [`NodeState::create_worker`](crate::NodeState::create_worker).
pub struct WorkerState<Payload: Send + 'static> {
    pub(crate) node: Node,
    pub(crate) event_loop: Arc<EventLoop<Payload>>,
    runs: Arc<Runs<Payload>>,
    run: GuardCondition,
}

/// Functions that wait for the payload; `None` after the end of the executor.
struct Runs<Payload>(Mutex<Option<VecDeque<Run<Payload>>>>);

type Run<Payload> = Box<dyn FnOnce(&mut Payload) + Send>;

impl<Payload> Waiting for Runs<Payload> {
    fn end(&self) {
        let waiting = lock(&self.0).take();
        drop(waiting); // without the lock: a function may keep the worker
    }
}

impl<Payload: 'static + Send + Sync> WorkerState<Payload> {
    /// # Errors
    /// After the end of the executor.
    pub(crate) fn create(
        node: &Node,
        name: &str,
        payload: Payload,
    ) -> Result<Arc<Self>, RclrsError> {
        let failed = |error| RclrsError::from_graph(&error, RclReturnCode::NodeInvalid);
        let event_loop = node.event_loop.worker(name, payload).map_err(failed)?;
        let runs = Arc::new(Runs(Mutex::new(Some(VecDeque::new()))));
        event_loop.app.end_with_executor(runs.clone());
        let waiting = runs.clone();
        let run_all = move |state: &mut State<Payload>, _: &mut ringspin::Context<'_>| {
            loop {
                // The lock is not held while a function runs: that may add another one.
                let next = lock(&waiting.0).as_mut().and_then(VecDeque::pop_front);
                let Some(run) = next else { break };
                run(&mut state.payload);
            }
            state.notify();
        };
        let run = event_loop.node.create_guard_condition("run", run_all).map_err(failed)?;
        Ok(Arc::new(Self { node: node.clone(), event_loop, runs, run }))
    }

    /// Calls `f` with the payload, in the worker.
    pub fn run<Out, F>(&self, f: F) -> Promise<Out>
    where
        F: FnOnce(&mut Payload) -> Out + 'static + Send,
        Out: 'static + Send,
    {
        let (sender, promise) = oneshot::channel();
        self.add(move |payload| {
            let _ = sender.send(f(payload));
        });
        promise
    }

    /// Calls `f` like [`run`](Self::run); the second promise resolves with the first one, for
    /// [`SpinOptions::until_promise_resolved`](crate::SpinOptions::until_promise_resolved).
    pub fn run_with_notice<Out, F>(&self, f: F) -> (Promise<Out>, Promise<()>)
    where
        F: FnOnce(&mut Payload) -> Out + 'static + Send,
        Out: 'static + Send,
    {
        let (notify, notice) = oneshot::channel();
        let promise = self.run(f_then(f, notify));
        (promise, notice)
    }

    fn add(&self, run: impl FnOnce(&mut Payload) + Send + 'static) {
        if let Some(waiting) = &mut *lock(&self.runs.0) {
            waiting.push_back(Box::new(run));
        }
        self.run.trigger();
    }

    /// Calls `f` after each callback of the worker, until the listener is dropped.
    pub fn listen<F>(&self, f: F) -> ActivityListener<Payload>
    where
        F: FnMut(&mut Payload) + 'static + Send + Sync,
    {
        let listener = ActivityListener { slot: Arc::new(Slot::new(Box::new(f) as Listener<_>)) };
        self.add_listener(&listener);
        listener
    }

    /// Calls `f` after each callback of the worker, until it returns a value: that of the promise;
    /// or until that is dropped.
    pub fn listen_until<Out, F>(&self, mut f: F) -> Promise<Out>
    where
        F: FnMut(&mut Payload) -> Option<Out> + 'static + Send + Sync,
        Out: 'static + Send + Sync,
    {
        let (sender, promise) = oneshot::channel();
        let listener = ActivityListener { slot: Arc::new(Slot::empty()) };
        let slot = listener.slot.clone();
        let added = listener.clone();
        let mut waiting = Some((sender, listener));
        slot.set(Some(Box::new(move |payload| {
            if waiting.as_ref().is_some_and(|(sender, _)| sender.is_canceled()) {
                waiting = None;
            }
            if waiting.is_some()
                && let Some(value) = f(payload)
                && let Some((sender, _)) = waiting.take()
            {
                let _ = sender.send(value);
            }
        })));
        self.event_loop.app.end_with_executor(slot);
        self.add_listener(&added);
        promise
    }

    fn add_listener(&self, listener: &ActivityListener<Payload>) {
        lock(&self.event_loop.listeners).push(Arc::downgrade(&listener.slot));
    }
}

/// A function that notifies after `f`.
fn f_then<Payload, Out>(
    f: impl FnOnce(&mut Payload) -> Out,
    notify: oneshot::Sender<()>,
) -> impl FnOnce(&mut Payload) -> Out {
    move |payload| {
        let value = f(payload);
        let _ = notify.send(());
        value
    }
}

impl<Payload: Send + 'static> fmt::Debug for WorkerState<Payload> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("node", &self.node).finish_non_exhaustive()
    }
}

/// Options of a worker: its payload.
#[derive(Debug)]
pub struct WorkerOptions<Payload> {
    /// The value that the callbacks of the worker share.
    pub payload: Payload,
}

impl<Payload> WorkerOptions<Payload> {
    /// The options with a payload.
    pub fn new(payload: Payload) -> Self {
        Self { payload }
    }
}

impl<T> From<T> for WorkerOptions<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// A function that sees the payload of a worker after each of its callbacks. The last drop of its
/// clones ends it.
pub struct ActivityListener<Payload> {
    slot: Arc<Slot<Listener<Payload>>>,
}

impl<Payload> Clone for ActivityListener<Payload> {
    fn clone(&self) -> Self {
        Self { slot: self.slot.clone() }
    }
}

impl<Payload: 'static + Send + Sync> ActivityListener<Payload> {
    /// Calls `f` from now on.
    pub fn set_callback<F>(&self, f: F)
    where
        F: FnMut(&mut Payload) + 'static + Send + Sync,
    {
        self.slot.set(Some(Box::new(f)));
    }

    /// Calls nothing from now on.
    pub fn set_inert(&self) {
        self.slot.set(Some(Box::new(|_| ())));
    }
}

impl<Payload> fmt::Debug for ActivityListener<Payload> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActivityListener").finish_non_exhaustive()
    }
}

/// Where callbacks run: in a [`Node`], or in a [`Worker`].
pub trait WorkScope: 'static + Send + Sync {
    /// The payload that callbacks get.
    type Payload: 'static + Send;
}

impl WorkScope for Node {
    type Payload = ();
}

impl<Payload: 'static + Send + Sync> WorkScope for Worker<Payload> {
    type Payload = Payload;
}
