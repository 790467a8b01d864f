//! The service game: a client sends the next call when the response arrives.

use crate::{Stopwatch, on_core};
use ringspin_executor::{CallError, CallRefused, Client, GuardCondition, QoS};
use ringspin_modes::Executor;
use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// The way in which the client receives its responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// A callback per call.
    Callback,
    /// A task that awaits them.
    Task,
}

/// A client `/client` and a server `/server`.
pub struct Calls {
    executor: Executor,
    start: GuardCondition,
    laps: mpsc::Sender<u64>,
    finished: mpsc::Receiver<Duration>,
}

/// The client's state.
struct Caller {
    client: Option<Client<Caller, u64, u64>>,
    watch: Stopwatch,
    left: u64,
    report: mpsc::Sender<Duration>,
}

/// Sends the next call; its response continues.
fn call(caller: &Caller) -> Result<(), CallRefused<u64>> {
    let client = caller.client.as_ref().expect("the start put it there");
    client.call(caller.left, |caller, reply, cx| -> Result<(), Box<dyn Error + Send + Sync>> {
        caller.watch.lap();
        caller.left = *reply?;
        if caller.left > 0 {
            return call(caller).map_err(Into::into);
        }
        caller.report.send(caller.watch.elapsed())?;
        cx.stop();
        Ok(())
    })
}

impl Calls {
    /// Adds client and server to `executor`, which has an empty graph, and freezes it.
    ///
    /// # Errors
    /// The errors of the executor.
    pub fn new(mut executor: Executor, hearing: Hearing) -> Result<Self, Box<dyn Error>> {
        let (report, finished) = mpsc::channel();
        let (laps, todo) = mpsc::channel();
        let server = executor.create_node("server", ())?;
        server.create_service("count", QoS::services(), |(), left: &u64, _| left - 1)?;
        let caller =
            Caller { client: None, watch: Stopwatch::default(), left: 0, report: report.clone() };
        let node = executor.create_node("client", caller)?;
        let client = node.create_client::<u64, u64>("count", QoS::services())?;
        let start = match hearing {
            Hearing::Callback => node.create_guard_condition("start", move |caller, _| {
                caller.client.get_or_insert_with(|| client.clone());
                caller.left = todo.recv().expect("a count precedes the trigger");
                caller.watch = Stopwatch::default();
                caller.watch.lap();
                call(caller)
            })?,
            Hearing::Task => {
                let begin = node.create_publisher::<()>("begin", QoS::keep_last(1))?;
                let mut begun = node.create_stream::<()>("begin", QoS::keep_last(1))?;
                let stop = executor.stop_handle();
                node.spawn("call", async move {
                    loop {
                        begun.next().await;
                        let mut left = todo.recv().expect("a count precedes the trigger");
                        let mut watch = Stopwatch::default();
                        watch.lap();
                        while left > 0 {
                            left = *client.call_async(left).await?;
                            watch.lap();
                        }
                        if report.send(watch.elapsed()).is_err() {
                            return Ok::<(), CallError>(());
                        }
                        stop.stop();
                    }
                })?;
                node.create_guard_condition("start", move |_, _| begin.publish(()))?
            }
        };
        executor.freeze()?;
        Ok(Self { executor, start, laps, finished })
    }

    /// The time of `calls` calls, from each call to the next.
    ///
    /// # Panics
    /// If the executor fails.
    pub fn time(&mut self, calls: u64) -> Duration {
        self.laps.send(calls + crate::WARM_UP_LAPS).expect("the executor is there");
        self.start.trigger();
        self.executor.spin().expect("no callback fails");
        self.executor.stop_handle().reset();
        self.finished.recv().expect("the client reports before it stops the executor")
    }
}

type Question = (u64, oneshot::Sender<u64>);

/// The time of `calls` calls between two tasks of tokio's current-thread runtime: requests in an
/// `mpsc` channel, each with a `oneshot` channel for its response.
///
/// # Panics
/// If the runtime cannot be built.
pub fn tokio_calls(calls: u64) -> Duration {
    let runtime = Builder::new_current_thread().build().expect("a runtime without drivers");
    runtime.block_on(async {
        let (to_server, mut requests) = tokio::sync::mpsc::channel::<Question>(10);
        tokio::spawn(async move {
            while let Some((left, reply)) = requests.recv().await {
                let _ = reply.send(left - 1);
            }
        });
        let client = async move {
            let mut watch = Stopwatch::default();
            let mut left = calls + crate::WARM_UP_LAPS;
            watch.lap();
            while left > 0 {
                let (reply, response) = oneshot::channel();
                to_server.send((left, reply)).await.expect("the server is there");
                left = response.await.expect("the server answers");
                watch.lap();
            }
            watch.elapsed()
        };
        tokio::spawn(client).await.expect("the client does not panic")
    })
}

/// The time of `calls` calls between two spinning threads on `cores`: requests in a `std` channel,
/// each with a channel for its response.
///
/// # Panics
/// Panics if this process may not use a core.
pub fn std_calls(cores: [usize; 2], calls: u64) -> Duration {
    fn spin<M>(from: &mpsc::Receiver<M>) -> Option<M> {
        loop {
            match from.try_recv() {
                Ok(message) => return Some(message),
                Err(mpsc::TryRecvError::Empty) => std::hint::spin_loop(),
                Err(mpsc::TryRecvError::Disconnected) => return None,
            }
        }
    }
    let (to_server, requests) = mpsc::channel::<(u64, mpsc::Sender<u64>)>();
    std::thread::scope(|scope| {
        let serve = move || {
            while let Some((left, reply)) = spin(&requests) {
                let _ = reply.send(left - 1);
            }
        };
        scope.spawn(move || on_core(cores[1], serve));
        on_core(cores[0], move || {
            let mut watch = Stopwatch::default();
            let mut left = calls + crate::WARM_UP_LAPS;
            watch.lap();
            while left > 0 {
                let (reply, response) = mpsc::channel();
                to_server.send((left, reply)).expect("the server is there");
                left = spin(&response).expect("the server answers");
                watch.lap();
            }
            watch.elapsed()
        })
    })
}
