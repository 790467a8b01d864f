//! How events reach the futures and streams of an application, and its `spin_once`.

use crate::lock;
use atomic_waker::AtomicWaker;
use ringspin_ringbuf::Flag;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// The number of events of a node, for which `spin_once` waits.
#[derive(Default)]
pub(crate) struct Activity {
    count: Mutex<Count>,
    changed: Condvar,
    /// Raised when the node was dropped: its streams end.
    closed: Flag,
    links: Mutex<Vec<Weak<Forward>>>,
}

#[derive(Default)]
struct Count {
    events: u64,
    /// The number of threads that wait for more.
    waiting: usize,
}

impl Activity {
    /// Says that something has happened: futures were woken before.
    pub(crate) fn happened(&self) {
        let mut count = lock(&self.count);
        count.events += 1;
        let is_awaited = count.waiting > 0;
        drop(count);
        // A system call, which a publisher that spins itself saves.
        if is_awaited {
            self.changed.notify_all();
        }
    }

    /// Waits until more than `seen` events have happened, `timeout` at most; true if they have.
    pub(crate) fn wait(&self, seen: &mut u64, timeout: Duration) -> bool {
        let begin = Instant::now();
        let mut count = lock(&self.count);
        count.waiting += 1;
        while count.events == *seen {
            let Some(left) = timeout.checked_sub(begin.elapsed()).filter(|left| !left.is_zero())
            else {
                break;
            };
            let waited = self.changed.wait_timeout(count, left);
            count = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        count.waiting -= 1;
        std::mem::replace(seen, count.events) != count.events
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_raised()
    }

    /// Ends the streams of the node.
    pub(crate) fn close(&self) {
        self.closed.raise();
        for link in std::mem::take(&mut *lock(&self.links)) {
            link.upgrade().inspect(Wake::wake_by_ref);
        }
    }
}

/// Wakes a task of the application, and then its `spin_once`.
pub(crate) struct Forward {
    task: AtomicWaker,
    activity: Arc<Activity>,
}

impl Wake for Forward {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // In this order: when `spin_once` returns, the task is ready.
        self.task.wake();
        self.activity.happened();
    }
}

/// Polls a future or stream of the executor for a task of any runtime.
pub(crate) struct Link {
    forward: Arc<Forward>,
    waker: Waker,
}

impl Link {
    pub(crate) fn new(activity: &Arc<Activity>) -> Self {
        let forward = Arc::new(Forward { task: AtomicWaker::new(), activity: activity.clone() });
        let mut links = lock(&activity.links);
        if links.len() == links.capacity() {
            links.retain(|link| link.strong_count() > 0);
        }
        links.push(Arc::downgrade(&forward));
        Self { waker: Waker::from(forward.clone()), forward }
    }

    /// Polls for a task: a later wake-up by the executor wakes it, and `spin_once`. `None` when the
    /// node was dropped.
    pub(crate) fn poll<R>(
        &self,
        cx: &Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<Option<R>> {
        self.forward.task.register(cx.waker());
        match self.poll_alone(poll) {
            Poll::Ready(result) => Poll::Ready(Some(result)),
            Poll::Pending if self.forward.activity.is_closed() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }

    pub(crate) fn happened(&self) {
        self.forward.activity.happened();
    }

    /// Polls for no task: a later wake-up by the executor wakes `spin_once`.
    pub(crate) fn poll_alone<R>(&self, poll: impl FnOnce(&mut Context<'_>) -> Poll<R>) -> Poll<R> {
        poll(&mut Context::from_waker(&self.waker))
    }
}
