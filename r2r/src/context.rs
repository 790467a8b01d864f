//! Contexts: the executor of an application, on a separate thread.

use crate::error::{Error, Result};
use crate::lock;
use crate::log::report;
use ringspin::scheduler::WaitStrategy;
use ringspin::{Arguments, Executor, Mode};
use ringspin_adapter::environment::{mode, world};
use ringspin_adapter::{TypedGraph, Use, log};
use ringspin_ringbuf::Flag;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
#[cfg(ros_is_sourced)]
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A context: where nodes are created. Cheap to clone.
///
/// There is one in a process, or in each world of simulated threads: nodes of contexts that
/// different parts of an application create hear each other, as over ROS 2.
///
/// Its executor runs on a separate thread, in the mode of `RINGSPIN_MODE`, from the first
/// `spin_once`, publication or call of any of its nodes on.
#[derive(Clone)]
pub struct Context(pub(crate) Arc<Shared>);

/// The context of each world; the first is that of threads in no world.
static CONTEXTS: Mutex<BTreeMap<Option<usize>, Result<Context>>> = Mutex::new(BTreeMap::new());

/// The time for callbacks to return, and for nodes to go, when the process exits.
#[cfg(ros_is_sourced)]
const EXIT_GRACE: Duration = Duration::from_secs(1);

pub(crate) struct Shared {
    typed: TypedGraph,
    /// Until it starts.
    executor: Mutex<Option<Executor>>,
    is_started: Flag,
    has_ended: Flag,
}

impl Deref for Shared {
    type Target = TypedGraph;

    fn deref(&self) -> &TypedGraph {
        &self.typed
    }
}

impl Context {
    /// The context of the process, with the ROS arguments of its command line.
    ///
    /// # Errors
    /// For arguments or variables of the environment that are not valid, and in deterministic mode
    /// without simulated threads.
    pub fn create() -> Result<Self> {
        lock(&CONTEXTS).entry(world()).or_insert_with(Self::new).clone()
    }

    fn new() -> Result<Self> {
        let mode = mode("r2r").map_err(Error::other)?;
        if matches!(mode, Mode::Replay(_)) {
            let text = "RINGSPIN_REPLAY: an application of r2r cannot be replayed yet, because \
                        its tasks run on other threads at other times; unset the variable";
            return Err(Error::other(text));
        }
        let (arguments, _) = Arguments::from_args_and_env().map_err(Error::other)?;
        log::set_levels(&arguments);
        // A node offers the services of its parameters only when it has made a handler of them.
        let used = Use { mode, arguments, parameter_services: false, domain_id: None };
        let (executor, typed) = TypedGraph::connect(used).map_err(Error::other)?;
        // Tasks run on other threads, to which the executor leaves the core at once.
        let parks = WaitStrategy::SpinThenPark(Duration::ZERO);
        let shared = Arc::new(Shared {
            typed,
            executor: Mutex::new(Some(executor.with_wait_strategy(parks))),
            is_started: Flag::default(),
            has_ended: Flag::default(),
        });
        #[cfg(ros_is_sourced)]
        if shared.ros2.is_some() {
            let weak = Arc::downgrade(&shared);
            let find = move || weak.upgrade().filter(|_| world().is_none())?.ros2.clone();
            log::start(find);
        }
        Ok(Self(shared))
    }

    /// Whether nodes of the context can be used: until its executor has failed.
    pub fn is_valid(&self) -> bool {
        !self.0.has_ended.is_raised()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("is_valid", &self.is_valid()).finish_non_exhaustive()
    }
}

impl Shared {
    /// Starts the executor, unless it runs.
    pub(crate) fn start(self: &Arc<Self>) {
        if self.is_started.is_raised() {
            return;
        }
        let mut place = lock(&self.executor);
        let Some(mut executor) = place.take() else { return };
        if let Err(error) = executor.freeze() {
            self.has_ended.raise();
            report(&error);
        } else {
            self.run(executor);
        }
        self.is_started.raise();
    }

    /// Runs the executor on a separate thread.
    fn run(self: &Arc<Self>, mut executor: Executor) {
        #[cfg(ros_is_sourced)]
        let ending = self.stop_at_exit(&executor);
        let shared = self.clone();
        let run = move || {
            if let Err(error) = executor.spin() {
                report(&error);
            }
            shared.has_ended.raise();
            drop(executor);
            #[cfg(ros_is_sourced)]
            drop(ending);
        };
        let thread = thread::Builder::new().name("ringspin".into());
        drop(thread.spawn(run).inspect_err(|error| report(error)));
    }

    /// Has the executor stopped at the exit of the process, if it runs over ROS 2. The drop of the
    /// returned value says that it has ended.
    #[cfg(ros_is_sourced)]
    fn stop_at_exit(&self, executor: &Executor) -> mpsc::Sender<()> {
        let (ending, ended) = mpsc::channel();
        if let Some(ros2) = &self.ros2 {
            let stop = executor.stop_handle();
            // A callback that does not return is not waited for.
            ros2.at_exit(move || {
                if stop.stop_and_wait(EXIT_GRACE).is_ok() {
                    let _ = ended.recv_timeout(EXIT_GRACE);
                }
            });
        }
        ending
    }
}
