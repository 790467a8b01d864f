//! The event loop of a node or a worker.

use crate::app::App;
use crate::tasks::{Tasks, Waiting};
use ringspin::arguments::NodeArguments;
use ringspin_adapter::lock;
use std::sync::{Arc, Mutex, Weak};

/// An event loop. Everything that is created in it keeps it; the last drop ends it.
///
/// Its state is the payload: that of a worker, or `()` for a node. A worker is a callback group of
/// its node.
pub(crate) struct EventLoop<P: Send + 'static> {
    pub(crate) node: ringspin::Node<State<P>>,
    /// The futures of the node's asynchronous callbacks.
    pub(crate) tasks: Tasks,
    pub(crate) app: Arc<App>,
    pub(crate) listeners: Listeners<P>,
    /// The loop of a worker's node.
    _of_node: Option<Arc<EventLoop<()>>>,
}

/// The payload, and what listens to its changes.
pub(crate) struct State<P> {
    pub(crate) payload: P,
    listeners: Listeners<P>,
}

/// Functions to be called after each callback of a worker. They are not kept alive here.
pub(crate) type Listeners<P> = Arc<Mutex<Vec<Weak<Slot<Listener<P>>>>>>;

/// A function that sees a payload after a callback.
pub(crate) type Listener<P> = Box<dyn FnMut(&mut P) + Send>;

/// A callback that can be exchanged, also by itself.
pub(crate) struct Slot<C>(Mutex<Place<C>>);

struct Place<C> {
    /// `None` while it runs, or without one.
    callback: Option<C>,
    is_closed: bool,
}

impl<C> Slot<C> {
    pub(crate) fn new(callback: C) -> Self {
        Self(Mutex::new(Place { callback: Some(callback), is_closed: false }))
    }

    pub(crate) fn empty() -> Self {
        Self(Mutex::new(Place { callback: None, is_closed: false }))
    }

    /// Exchanges the callback; `None` while it runs, or without one.
    pub(crate) fn set(&self, callback: Option<C>) -> Option<C> {
        std::mem::replace(&mut lock(&self.0).callback, callback)
    }

    /// Drops the callback, at its end if it runs. What it keeps may keep this graph.
    pub(crate) fn close(&self) {
        let mut place = lock(&self.0);
        place.is_closed = true;
        let callback = place.callback.take();
        drop(place); // before: its drop may use this slot
        drop(callback);
    }

    /// Calls `run` with the callback. It stays unless it was exchanged meanwhile.
    pub(crate) fn with(&self, run: impl FnOnce(&mut C)) {
        let Some(mut callback) = lock(&self.0).callback.take() else { return };
        run(&mut callback);
        let mut place = lock(&self.0);
        let ended = match place.is_closed || place.callback.is_some() {
            true => Some(callback),
            false => place.callback.replace(callback),
        };
        drop(place);
        drop(ended);
    }
}

impl<C: Send> Waiting for Slot<C> {
    fn end(&self) {
        self.close();
    }
}

impl<P: Send + 'static> State<P> {
    /// Calls the functions that listen, after a callback.
    pub(crate) fn notify(&mut self) {
        let listeners = std::mem::take(&mut *lock(&self.listeners));
        if listeners.is_empty() {
            return;
        }
        let alive: Vec<_> = listeners.into_iter().filter_map(|it| it.upgrade()).collect();
        for listener in &alive {
            listener.with(|listen| listen(&mut self.payload));
        }
        // A listener may have added others, or dropped itself.
        let alive: Vec<_> = alive.into_iter().map(|it| Arc::downgrade(&it)).collect();
        lock(&self.listeners).splice(0..0, alive);
    }
}

impl EventLoop<()> {
    /// The loop of a node with separate arguments.
    ///
    /// # Errors
    /// For a name that ROS 2 does not allow.
    pub(crate) fn of_node(
        app: &Arc<App>,
        name: (&str, &str),
        arguments: &NodeArguments,
    ) -> ringspin::Result<Arc<Self>> {
        let listeners = Listeners::default();
        let state = || State { payload: (), listeners: listeners.clone() };
        let node = app.create_node_with_arguments(crate::app::LIBRARY, name, arguments, state)?;
        let tasks = app.tasks(&node);
        Ok(Arc::new(Self { node, tasks, app: app.clone(), listeners, _of_node: None }))
    }

    /// The loop of a worker of this node.
    ///
    /// # Errors
    /// For a name that another worker of the node has, and after the end of the executor.
    pub(crate) fn worker<P: Send + 'static>(
        self: &Arc<Self>,
        name: &str,
        payload: P,
    ) -> ringspin::Result<Arc<EventLoop<P>>> {
        let listeners = Listeners::default();
        let state = State { payload, listeners: listeners.clone() };
        let node = self.node.create_callback_group(name, state)?;
        let (tasks, app) = (self.tasks.clone(), self.app.clone());
        Ok(Arc::new(EventLoop { node, tasks, app, listeners, _of_node: Some(self.clone()) }))
    }
}

impl<P: Send + 'static> Drop for EventLoop<P> {
    fn drop(&mut self) {
        self.node.destroy();
    }
}
