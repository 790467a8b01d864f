//! The wake-up game: a task wakes itself, and waits to be polled again.

use crate::{Stopwatch, WARM_UP_LAPS};
use ringspin_executor::{GuardCondition, QoS};
use ringspin_modes::Executor;
use std::error::Error;
use std::future::poll_fn;
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Builder;

/// A future that is ready at the second poll; the first one wakes its task.
async fn wake_once() {
    let mut woken = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut woken, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// The time from each of `wakes` wakes to the next.
async fn play(wakes: u64) -> Duration {
    let mut watch = Stopwatch::default();
    watch.lap();
    for _ in 0..wakes + WARM_UP_LAPS {
        wake_once().await;
        watch.lap();
    }
    watch.elapsed()
}

/// A task of a node in single-core mode.
pub struct Wakes {
    executor: Executor,
    start: GuardCondition,
    wakes: mpsc::Sender<u64>,
    finished: mpsc::Receiver<Duration>,
}

impl Wakes {
    /// Creates a node with a single task.
    ///
    /// # Errors
    /// The errors of the executor.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let mut executor = Executor::single_core();
        let (report, finished) = mpsc::channel();
        let (wakes, todo) = mpsc::channel();
        let node = executor.create_node("node", ())?;
        let begin = node.create_publisher::<()>("begin", QoS::keep_last(1))?;
        let mut begun = node.create_stream::<()>("begin", QoS::keep_last(1))?;
        let start = node.create_guard_condition("start", move |(), _| begin.publish(()))?;
        let stop = executor.stop_handle();
        node.spawn("wake", async move {
            loop {
                begun.next().await;
                let elapsed = play(todo.recv()?).await;
                if report.send(elapsed).is_err() {
                    return Ok::<(), mpsc::RecvError>(());
                }
                stop.stop();
            }
        })?;
        executor.freeze()?;
        Ok(Self { executor, start, wakes, finished })
    }

    /// The time of `wakes` wake-ups.
    ///
    /// # Panics
    /// If the executor fails.
    pub fn time(&mut self, wakes: u64) -> Duration {
        self.wakes.send(wakes).expect("the task is there");
        self.start.trigger();
        self.executor.spin().expect("no callback fails");
        self.executor.stop_handle().reset();
        self.finished.recv().expect("the task reports before it stops the executor")
    }
}

/// The time of `wakes` wake-ups of a task of tokio's current-thread runtime.
///
/// # Panics
/// If the runtime cannot be built.
pub fn tokio_wakes(wakes: u64) -> Duration {
    let runtime = Builder::new_current_thread().build().expect("a runtime without drivers");
    runtime.block_on(async { tokio::spawn(play(wakes)).await.expect("the task does not panic") })
}
