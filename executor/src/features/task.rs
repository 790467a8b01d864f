//! Tasks: futures that a node's event loop polls.
//!
//! A task's wake-up is an event in the loop's ready ring, like a message, so a task has its place
//! in the order of events, and in deterministic mode always the same one. A task can await events
//! of the graph (messages, ticks, responses, another task) and any other future. A future of
//! another runtime, such as a socket of tokio, is woken by that runtime, at times that no executor
//! of this graph controls: live it works if that runtime runs, and in simulated time it is
//! repeatable if the runtime's threads are simulated, too.

mod interval;
mod state;
mod stream;

use crate::base::error::Result;
pub use interval::{Interval, Tick};
pub use state::StateAccess;
pub use stream::MessageStream;

use crate::base::departure::{Departure, End};
use crate::base::event::{EventId, SourceId};
use crate::base::lock::lock;
use crate::base::stop::StopHandle;
use crate::delivery::context::Context;
use crate::delivery::ready::Notifier;
use crate::running::event_loop::{CallbackResult, Entity, Outcome};
use crate::running::graph::{CallbackSpec, EventSource};
use crate::running::node::Node;
use ringspin_ringbuf::Flag;
use state::Requests;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};

/// A spawned task; dropping the handle leaves the task running. Its callback leaves the graph when
/// it has finished.
#[derive(Clone)]
pub struct Task(Arc<TaskControl>);

#[derive(Debug, Default)]
struct TaskControl {
    notifier: Arc<Notifier>,
    cancelled: Flag,
    finished: Flag,
    /// The executors that spin until the task ends.
    awaited_by: Mutex<Vec<StopHandle>>,
    /// Ends the callback, once.
    departure: Mutex<Option<Departure>>,
}

impl TaskControl {
    fn finish(&self) {
        self.finished.raise();
        // After the flag is set: a worker that registers later sees the flag.
        lock(&self.awaited_by).iter().for_each(StopHandle::pause);
        let departure = lock(&self.departure).take();
        drop(departure); // without that lock, because it may take that of the graph
    }
}

impl Wake for TaskControl {
    fn wake(self: Arc<Self>) {
        self.notifier.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.notifier.notify();
    }
}

impl Task {
    /// Cancels the task: its loop drops the future, as an event instead of the next poll. Call it
    /// from any thread.
    pub fn cancel(&self) {
        self.0.cancelled.raise();
        self.0.notifier.notify();
    }

    /// Whether the task has completed, was cancelled, or has failed.
    pub fn is_finished(&self) -> bool {
        self.0.finished.is_raised()
    }

    /// Calls `spin`, during which the executor with this `stop` handle returns from spinning when
    /// the task [is finished](Self::is_finished); it can spin again afterwards. Executors call
    /// this.
    pub fn stop_when_finished<T>(&self, stop: &StopHandle, spin: impl FnOnce() -> T) -> T {
        /// Ends the wait, also if spinning panics.
        struct Awaited<'a>(&'a TaskControl, &'a StopHandle);

        impl Drop for Awaited<'_> {
            fn drop(&mut self) {
                lock(&self.0.awaited_by).retain(|other| !other.is_same(self.1));
                self.1.resume();
            }
        }

        lock(&self.0.awaited_by).push(stop.clone());
        let _awaited = Awaited(&self.0, stop);
        if self.is_finished() {
            stop.pause();
        }
        spin()
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("finished", &self.is_finished()).finish_non_exhaustive()
    }
}

struct TaskEntity<S, F> {
    control: Arc<TaskControl>,
    waker: Waker,
    source: SourceId,
    polls: u64,
    /// `None` once it is finished.
    future: Option<Pin<Box<F>>>,
    /// `None` if it was spawned without access to the state.
    requests: Option<Requests<S>>,
}

impl<S, F> TaskEntity<S, F>
where
    F: Future<Output: CallbackResult>,
{
    fn begin(&mut self, cx: &mut Context<'_>) {
        cx.begin(EventId { source: self.source, sequence: self.polls });
        self.polls += 1;
    }

    /// Polls until the future waits for anything other than the state.
    fn poll(&mut self, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        // If the poll panics, the future is dropped with it: it must not be polled again.
        let Some(mut future) = self.future.take() else {
            return Outcome::Nothing;
        };
        self.begin(cx);
        let mut task_cx = std::task::Context::from_waker(&self.waker);
        loop {
            let poll = {
                let _open = self.requests.as_ref().map(Requests::open);
                future.as_mut().poll(&mut task_cx)
            };
            let served = self.requests.as_ref().is_some_and(|r| r.serve(state, cx));
            match poll {
                Poll::Ready(output) => {
                    self.control.finish();
                    return Outcome::from(output.into_result());
                }
                Poll::Pending if served => {}
                Poll::Pending => {
                    self.future = Some(future);
                    return Outcome::Done;
                }
            }
        }
    }
}

impl<S, F> Entity<S> for TaskEntity<S, F>
where
    F: Future<Output: CallbackResult> + Send,
{
    fn dispatch(&mut self, _port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        if !self.control.notifier.take() {
            return Outcome::Nothing;
        }
        if self.control.cancelled.is_raised() && self.future.is_some() {
            // The drop runs the user's code, which may fail: an event with an identity.
            self.begin(cx);
            Entity::<S>::retire(self);
            return Outcome::Done;
        }
        // The status of the task if the poll panics.
        let finish = Finish(&self.control.clone());
        let outcome = self.poll(state, cx);
        std::mem::forget(finish);
        outcome
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        let is_given = self.control.notifier.take();
        self.retire();
        is_given.then_some(EventId::NONE)
    }

    fn retire(&mut self) {
        self.control.finish();
        self.future = None;
    }
}

/// Marks a task as finished when it is dropped.
struct Finish<'a>(&'a TaskControl);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

impl Task {
    pub(crate) fn create<S, F>(node: &Node<S>, name: &str, future: F) -> Result<Self>
    where
        S: Send + 'static,
        F: Future<Output: CallbackResult> + Send + 'static,
    {
        Self::add(node, name, None, future)
    }

    fn add<S, F>(
        node: &Node<S>,
        name: &str,
        requests: Option<Requests<S>>,
        future: F,
    ) -> Result<Self>
    where
        S: Send + 'static,
        F: Future<Output: CallbackResult> + Send + 'static,
    {
        let future = Some(Box::pin(future));
        let name = format!("task {name}");
        let mut builder = node.builder(&name)?;
        let control = Arc::<TaskControl>::default();
        let source = builder.next_source();
        let spec = CallbackSpec::new(
            builder.next_target(node.event_loop()),
            EventSource::Notifier(control.notifier.clone()),
            Arc::default(),
        );
        let id = builder.add_callback(node.event_loop(), name, spec);
        *lock(&control.departure) = Some(node.handle.graph.departure(&builder, End::Awaited(id)));
        let waker = Waker::from(control.clone());
        let task = Task(control.clone());
        let entity = TaskEntity { control, waker, source, polls: 0, future, requests };
        builder.add_entity::<S>(node.event_loop(), Box::new(entity));
        Ok(task)
    }

    pub(crate) fn create_with_state<S, F>(
        node: &Node<S>,
        name: &str,
        task: impl FnOnce(StateAccess<S>) -> F,
    ) -> Result<Self>
    where
        S: Send + 'static,
        F: Future<Output: CallbackResult> + Send + 'static,
    {
        let requests = Requests::default();
        // The user's closure may use the node: it is called before the graph is locked.
        let future = task(StateAccess::new(requests.clone()));
        Self::add(node, name, Some(requests), future)
    }
}
