//! Spinning in steps and as a future, for programs with another loop.
//!
//! A mode that runs on the calling thread takes a step at each poll of the future, and lets its
//! worker rest in between: an event then wakes the task instead of the thread. Multi-core mode has
//! threads anyhow, so its spin as a whole moves to a further thread that only joins them; and in a
//! simulated world, where time passes when all threads wait, the sequencer is one of the threads.

use crate::error::{catch_part, thread_not_started};
use crate::executor::{Executor, Running};
use crate::live_clock::SpinEnd;
use crate::scheduler::{Spin, Step};
use atomic_waker::AtomicWaker;
use ringspin_executor::{Result, Time};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::task::{Context, Poll, ready};
use std::time::Duration;

impl Executor {
    /// Dispatches the next event, waiting for it up to `timeout` of the executor's time. Returns
    /// false if there was none.
    ///
    /// In deterministic mode time jumps to the event, or over the timeout.
    ///
    /// # Errors
    /// Fails in multi-core mode.
    pub fn spin_once(&mut self, timeout: Duration) -> Result<bool> {
        self.freeze()?;
        let end = self.end_after(timeout);
        let dispatched = self.scheduled(|scheduler, spin| scheduler.run_one(spin, end))?;
        self.failed().map(|()| dispatched)
    }

    /// Dispatches the events that are ready now, and none that become ready by that, without
    /// waiting. Returns how many there were.
    ///
    /// In deterministic mode a due timer is ready only when no other event is: call it until it
    /// returns zero, or [`spin_all`](Self::spin_all), to make the instant quiet.
    ///
    /// # Errors
    /// Fails in multi-core mode, or if a callback fails under the policy that stops.
    pub fn spin_some(&mut self) -> Result<u64> {
        self.freeze()?;
        let dispatched = self.scheduled(|scheduler, spin| scheduler.run_ready(spin))?;
        self.failed().map(|()| dispatched)
    }

    /// Dispatches events, also those that become ready meanwhile, until none is left or `max` of
    /// the executor's time has passed, without waiting. Returns how many there were.
    ///
    /// # Errors
    /// Fails in multi-core mode, or if a callback fails under the policy that stops.
    pub fn spin_all(&mut self, max: Duration) -> Result<u64> {
        self.freeze()?;
        let end = self.end_after(max);
        let dispatched = self.scheduled(|scheduler, spin| scheduler.run_all(spin, end))?;
        self.failed().map(|()| dispatched)
    }

    /// Runs like [`spin`](Self::spin) in a task of another runtime, between its other tasks, on the
    /// thread that polls it. `sleep` is the timer of that runtime, as `tokio::time::sleep`: timers
    /// of nodes are as exact as that one is, while messages wake the task at once.
    ///
    /// It returns to the runtime about every millisecond, but does not interrupt a callback; in
    /// deterministic mode it does so between two instants. Multi-core mode runs on its threads, as
    /// ever. Dropping the future ends the spin after the callbacks that run at that moment, and
    /// loses nothing: another spin continues there.
    ///
    /// ```
    /// use ringspin_modes::Executor;
    /// use std::time::Duration;
    ///
    /// # fn main() -> ringspin_executor::Result<()> {
    /// # let mut runtime = tokio::runtime::Builder::new_current_thread();
    /// # runtime.enable_time().build().unwrap().block_on(async {
    /// let mut executor = Executor::single_core();
    /// let (ticks, mut ticked) = tokio::sync::mpsc::unbounded_channel();
    /// let node = executor.create_node("node", 0)?;
    /// node.create_timer(Duration::from_millis(1), move |count, _| {
    ///     *count += 1;
    ///     let _ = ticks.send(*count);
    /// })?;
    /// tokio::select! {
    ///     ended = executor.spin_async(tokio::time::sleep) => ended?,
    ///     first = ticked.recv() => assert_eq!(first, Some(1)),
    /// }
    /// # Ok(())
    /// # })
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the graph cannot run in this mode, if a callback fails under the policy that stops,
    /// and in deterministic mode if the callbacks of one instant never end.
    pub async fn spin_async<F: Future<Output = ()>>(
        &mut self,
        sleep: impl FnMut(Duration) -> F,
    ) -> Result<()> {
        self.note_stop();
        self.freeze()?;
        let waker = Arc::<AtomicWaker>::default();
        let wake = waker.clone();
        if self.running().scheduler.wake_by(Arc::new(move || wake.wake())) {
            self.spin_in_steps(&waker, sleep).await?;
        } else {
            OnThread::start(self, waker)?.await?;
        }
        self.failed()
    }

    async fn spin_in_steps<F: Future<Output = ()>>(
        &mut self,
        waker: &AtomicWaker,
        mut sleep: impl FnMut(Duration) -> F,
    ) -> Result<()> {
        let mut timer = pin!(None);
        poll_fn(|cx| {
            waker.register(cx.waker());
            loop {
                match self.scheduled(|scheduler, spin| scheduler.step(spin))? {
                    Step::Ended => return Poll::Ready(Ok(())),
                    Step::Busy => {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    Step::Rest(None) => return Poll::Pending,
                    Step::Rest(Some(left)) => {
                        timer.set(Some(sleep(left)));
                        let timer = timer.as_mut().as_pin_mut().expect("it was set");
                        ready!(timer.poll(cx)); // if the time is over already, there is more to do
                    }
                }
            }
        })
        .await
    }
}

/// A spin on a thread, which has the scheduler until the spin ends.
struct OnThread<'a> {
    executor: &'a mut Executor,
    end: Receiver<(Running, Result<()>)>,
    waker: Arc<AtomicWaker>,
}

impl<'a> OnThread<'a> {
    fn start(executor: &'a mut Executor, waker: Arc<AtomicWaker>) -> Result<Self> {
        let (begin, begun) = channel::<Running>();
        let (ended, end) = channel();
        let (stop, wait, stack_bytes) =
            (executor.stop_handle(), executor.wait, executor.stack_bytes);
        let applies_schedule = executor.deterministic.applies_schedule;
        let wake = waker.clone();
        let run = move || {
            let Ok(mut running) = begun.recv() else { return };
            let Running { monitor, scheduler, .. } = &mut running;
            let spin = Spin { monitor, stop: &stop, wait, stack_bytes, applies_schedule };
            let run = || scheduler.run(spin, SpinEnd::At(Time::MAX), &mut |_| false);
            let result = catch_part("the scheduler", None, run).flatten();
            let _ = ended.send((running, result)); // fails if the executor was dropped
            wake.wake();
        };
        let thread = std::thread::Builder::new().name("ringspin".into());
        thread.spawn(run).map_err(|error| thread_not_started(&error.to_string()))?;
        let running = executor.running.take().expect("the caller froze the graph");
        begin.send(running).expect("the thread waits for it");
        Ok(Self { executor, end, waker })
    }
}

impl Future for OnThread<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.waker.register(cx.waker());
        match self.end.try_recv() {
            Ok((running, result)) => {
                self.executor.running = Some(running);
                Poll::Ready(result)
            }
            Err(TryRecvError::Empty) => Poll::Pending,
            Err(TryRecvError::Disconnected) => unreachable!("the thread sends before it ends"),
        }
    }
}

impl Drop for OnThread<'_> {
    /// Waits for the callbacks that run.
    fn drop(&mut self) {
        if self.executor.running.is_none() {
            let stop = self.executor.stop_handle();
            stop.pause();
            self.executor.running = self.end.recv().ok().map(|(running, _)| running);
            stop.resume();
        }
    }
}
