//! Futures that an event loop polls: those of asynchronous callbacks, and of
//! [`ExecutorCommands::run`](crate::ExecutorCommands::run).

use futures::FutureExt;
use futures::StreamExt;
use futures::channel::{mpsc, oneshot};
use futures::future::{BoxFuture, select};
use futures::stream::FuturesUnordered;
use ringspin_adapter::lock;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// Adds futures to an event loop. They run until they end, or until the loop or the executor does.
///
/// All futures of a loop are one task of its node, which starts with the first of them: a further
/// one costs no change of the graph, and a node without any has no event for them.
#[derive(Clone)]
pub(crate) struct Tasks(Arc<Pool>);

/// Functions and futures that wait for the executor, with promises for their outputs.
pub(crate) trait Waiting: Send + Sync {
    /// Drops all of them, and those that are added later: the promises are cancelled.
    fn end(&self);
}

/// The futures of an event loop.
pub(crate) struct Pool {
    added: mpsc::UnboundedSender<BoxFuture<'static, ()>>,
    /// Until the end of the executor.
    polled: Mutex<Option<Polled>>,
    /// Starts the task that polls, once.
    start: Mutex<Option<Start>>,
}

type Start = Box<dyn FnOnce(Arc<Pool>) + Send>;

struct Polled {
    adding: mpsc::UnboundedReceiver<BoxFuture<'static, ()>>,
    running: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Pool {
    /// Polls the futures that were woken, in the order of their wake-ups.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut polled = lock(&self.polled);
        let Some(Polled { adding, running }) = &mut *polled else { return Poll::Ready(()) };
        loop {
            while let Poll::Ready(Some(future)) = adding.poll_next_unpin(cx) {
                running.push(future);
            }
            if running.poll_next_unpin(cx) != Poll::Ready(Some(())) {
                return Poll::Pending;
            }
        }
    }
}

impl Waiting for Pool {
    fn end(&self) {
        let started = lock(&self.start).take();
        let polled = lock(&self.polled).take();
        drop((started, polled)); // without the locks: a future may add another one
    }
}

impl Tasks {
    /// Has the event loop of `node` poll the futures that are added.
    pub(crate) fn new<S: Send + 'static>(node: &ringspin::Node<S>) -> Self {
        let (added, adding) = mpsc::unbounded();
        let node = node.clone();
        let start = move |pool: Arc<Pool>| {
            // A node that has ended runs nothing: its futures are dropped.
            drop(node.spawn("asynchronous callbacks", poll_fn(move |cx| pool.poll(cx))));
        };
        Self(Arc::new(Pool {
            added,
            polled: Mutex::new(Some(Polled { adding, running: FuturesUnordered::new() })),
            start: Mutex::new(Some(Box::new(start))),
        }))
    }

    /// The futures.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.0
    }

    /// Runs a future to its end.
    pub(crate) fn add(&self, future: impl Future<Output = ()> + Send + 'static) {
        // The executor may have ended.
        let _ = self.0.added.unbounded_send(future.boxed());
        let start = lock(&self.0.start).take();
        if let Some(start) = start {
            start(self.0.clone());
        }
    }

    /// Runs a future to its end; its output is that of the promise.
    pub(crate) fn run<F>(&self, future: F) -> oneshot::Receiver<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let (sender, promise) = oneshot::channel();
        self.add(async move {
            let _ = sender.send(future.await);
        });
        promise
    }

    /// Runs a future until it ends or the promise of its output is dropped.
    pub(crate) fn query<F>(&self, future: F) -> oneshot::Receiver<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let (mut sender, promise) = oneshot::channel();
        self.add(async move {
            let output = {
                let cancelled = sender.cancellation();
                match select(cancelled, pin!(future)).await {
                    futures::future::Either::Left(_) => return,
                    futures::future::Either::Right((output, _)) => output,
                }
            };
            let _ = sender.send(output);
        });
        promise
    }
}
