//! Executors, and commands to them.

use crate::app::App;
use crate::context::Context;
use crate::error::{RclReturnCode, RclrsError};
use futures::channel::oneshot;
use ringspin::{ErrorKind, Mode};
use std::fmt;
use std::future::Future;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// A value that will come: dropped senders cancel it.
pub use futures::channel::oneshot::Receiver as Promise;

/// Runs the callbacks of its nodes while it spins: in single-core mode on the thread that spins.
///
/// Created by [`CreateBasicExecutor`](crate::CreateBasicExecutor).
pub struct Executor {
    commands: Arc<ExecutorCommands>,
}

/// Commands to an executor, from any thread, also while it spins.
pub struct ExecutorCommands {
    context: Context,
    /// The error says why there is no graph.
    app: Result<Arc<App>, ringspin::Error>,
}

impl Executor {
    pub(crate) fn new(context: Context, app: Result<Arc<App>, ringspin::Error>) -> Self {
        Self { commands: Arc::new(ExecutorCommands { context, app }) }
    }

    /// The commands to this executor.
    pub fn commands(&self) -> &Arc<ExecutorCommands> {
        &self.commands
    }

    /// Runs callbacks until the `options` end it, or [`ExecutorCommands::halt_spinning`] does.
    /// Returns the errors: [`RclReturnCode::Timeout`] at the end of a timeout.
    ///
    /// # Panics
    /// When a callback or a future of a node panics, on whatever core.
    pub fn spin(&mut self, options: SpinOptions) -> Vec<RclrsError> {
        let ended = self.commands.app().and_then(|app| app.spin(options));
        ended.err().into_iter().collect()
    }

    /// Spins like [`spin`](Self::spin) on a separate thread. Returns the executor when that ends.
    pub async fn spin_async(mut self, options: SpinOptions) -> (Self, Vec<RclrsError>) {
        let commands = self.commands.clone();
        let (sender, ended) = oneshot::channel();
        let run = move || {
            let errors = self.spin(options);
            // Without a receiver nothing waits for the end.
            let _ = sender.send((self, errors));
        };
        let error = match thread::Builder::new().name("ringspin".into()).spawn(run) {
            Ok(_detached) => match ended.await {
                Ok(ended) => return ended,
                Err(_) => "the thread of the spin has panicked".to_owned(),
            },
            Err(error) => format!("failed to start a thread for the spin: {error}"),
        };
        (Self { commands }, vec![RclrsError::of(RclReturnCode::Error, error)])
    }
}

/// The futures of its nodes, and the functions that wait for a worker, are dropped with the
/// executor. Nodes stay, and can publish.
impl Drop for Executor {
    fn drop(&mut self) {
        if let Ok(app) = &self.commands.app {
            app.end();
        }
    }
}

impl ExecutorCommands {
    /// The graph.
    ///
    /// # Errors
    /// If the executor could not be set up.
    pub(crate) fn app(&self) -> Result<&Arc<App>, RclrsError> {
        self.app.as_ref().map_err(|error| RclrsError::of(RclReturnCode::Error, error))
    }

    /// Ends the spin that runs. The next one is not affected.
    pub fn halt_spinning(&self) {
        if let Ok(app) = &self.app {
            app.stop.stop();
        }
    }

    /// Runs `f` on the executor, until its end or until the promise is dropped.
    pub fn query<F>(&self, f: F) -> Promise<F::Output>
    where
        F: 'static + Future + Send,
        F::Output: Send,
    {
        match &self.app {
            Ok(app) => app.own_node().1.query(f),
            Err(_) => oneshot::channel().1,
        }
    }

    /// Runs `f` on the executor, also when the promise is dropped.
    pub fn run<F>(&self, f: F) -> Promise<F::Output>
    where
        F: 'static + Future + Send,
        F::Output: Send,
    {
        match &self.app {
            Ok(app) => app.own_node().1.run(f),
            Err(_) => oneshot::channel().1,
        }
    }

    /// A promise of the same value, and one that resolves with it: for
    /// [`SpinOptions::until_promise_resolved`].
    pub fn create_notice<Out>(&self, promise: Promise<Out>) -> (Promise<Out>, Promise<()>)
    where
        Out: 'static + Send,
    {
        let (sender, receiver) = oneshot::channel();
        let notice = self.run(async move {
            if let Ok(value) = promise.await {
                let _ = sender.send(value);
            }
        });
        (receiver, notice)
    }

    /// The context of the executor.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

impl App {
    /// Spins as `options` say.
    ///
    /// # Errors
    /// See [`Executor::spin`].
    fn spin(&self, options: SpinOptions) -> Result<(), RclrsError> {
        let SpinOptions { only_next_available_work, until_promise_resolved, timeout } = options;
        let mut executor = self.started()?;
        // A request from before this spin is not for it.
        self.stop.reset();
        let is_resolved = if let Some(promise) = until_promise_resolved {
            let (node, _) = self.own_node();
            let resolved = async move {
                let _ = promise.await;
            };
            let task = node.spawn("promise to spin for", resolved).map_err(failed)?;
            let time = timeout.unwrap_or(Duration::MAX);
            let is_resolved = executor.spin_until_finished(&task, time).map_err(failed)?;
            task.cancel();
            is_resolved
        } else if only_next_available_work && matches!(executor.mode(), Mode::MultiCore(_)) {
            executor.spin_for(timeout.unwrap_or(AVAILABLE_MAX)).map_err(failed)?;
            false
        } else if only_next_available_work {
            executor.spin_once(timeout.unwrap_or(Duration::MAX)).map_err(failed)?
                && executor.spin_all(AVAILABLE_MAX).map(|_| true).map_err(failed)?
        } else {
            executor.spin_for(timeout.unwrap_or(Duration::MAX)).map_err(failed)?;
            false
        };
        match timeout {
            Some(time) if !is_resolved && !self.stop.is_stopped() => {
                Err(RclrsError::of(RclReturnCode::Timeout, format!("spun for {time:?}")))
            }
            _ => Ok(()),
        }
    }
}

/// The error of a spin. The panic of a callback continues here, where the callback ran for the
/// application; with the name of its node, if it is caught.
fn failed(error: ringspin::Error) -> RclrsError {
    match error.kind() {
        ErrorKind::CallbackFailed => resume_unwind(Box::new(error.to_string())),
        _ => RclrsError::of(RclReturnCode::Error, error),
    }
}

/// How long a spin for available work takes, if each callback makes another one ready.
const AVAILABLE_MAX: Duration = Duration::from_millis(1);

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").finish_non_exhaustive()
    }
}

impl fmt::Debug for ExecutorCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorCommands").finish_non_exhaustive()
    }
}

/// When a spin ends; by default, never by itself.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SpinOptions {
    /// Runs the callbacks that are ready, and waits for one if none is. In multi-core mode, spins
    /// for the timeout, or without one for a millisecond: its threads take no single steps.
    pub only_next_available_work: bool,
    /// Ends when the promise resolves or is cancelled.
    pub until_promise_resolved: Option<Promise<()>>,
    /// Ends after this time.
    pub timeout: Option<Duration>,
}

impl SpinOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only the callbacks that are ready.
    pub fn spin_once() -> Self {
        Self { only_next_available_work: true, ..Self::default() }
    }

    /// Ends when `promise` resolves or is cancelled.
    #[must_use]
    pub fn until_promise_resolved(mut self, promise: Promise<()>) -> Self {
        self.until_promise_resolved = Some(promise);
        self
    }

    /// Ends after `timeout`.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}
