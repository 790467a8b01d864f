//! The graph that an executor runs, shared by everything that is created in it.

use crate::error::{RclReturnCode, RclrsError};
use crate::tasks::{Tasks, Waiting};
use ringspin::{Arguments, Executor, StopHandle};
use ringspin_adapter::environment;
use ringspin_adapter::{TypedGraph, Use, lock};
use ringspin_ringbuf::Flag;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
#[cfg(ros_is_sourced)]
use std::time::Duration;

/// The name by which messages speak of this library.
pub(crate) const LIBRARY: &str = "rclrs";

/// The time for callbacks to return when the process exits.
#[cfg(ros_is_sourced)]
const EXIT_GRACE: Duration = Duration::from_secs(1);

/// The graph of an executor.
///
/// A publication needs a graph that is frozen, which the executor does: by its first spin, or for
/// a publication before that.
pub(crate) struct App {
    typed: TypedGraph,
    executor: Mutex<Executor>,
    pub(crate) stop: StopHandle,
    is_started: Flag,
    /// Held until the flag is raised, by the thread that freezes: while an executor spins, others
    /// must not wait for it.
    starting: Mutex<()>,
    /// Functions and futures that wait for the executor; `None` after its end.
    waiting: Mutex<Option<Vec<Weak<dyn Waiting>>>>,
    /// The node for futures that belong to no node of the application.
    own_node: OnceLock<(ringspin::Node<()>, Tasks)>,
}

impl Deref for App {
    type Target = TypedGraph;

    fn deref(&self) -> &TypedGraph {
        &self.typed
    }
}

impl App {
    /// An empty graph, in the mode that the environment asks for.
    ///
    /// # Errors
    /// For variables of the environment that are not valid, and where ROS 2 refuses a connection.
    pub(crate) fn new(
        arguments: Arguments,
        domain_id: Option<usize>,
    ) -> ringspin::Result<Arc<Self>> {
        let mode = environment::mode(LIBRARY)?;
        // The services of parameters are in the graph: processes and nodes find the same ones.
        let used = Use { mode, arguments, parameter_services: false, domain_id };
        let (executor, typed) = TypedGraph::connect(used)?;
        let app = Arc::new(Self {
            typed,
            stop: executor.stop_handle(),
            executor: Mutex::new(executor),
            is_started: Flag::default(),
            starting: Mutex::default(),
            waiting: Mutex::new(Some(Vec::new())),
            own_node: OnceLock::new(),
        });
        #[cfg(ros_is_sourced)]
        if app.ros2.is_some() {
            let weak = Arc::downgrade(&app);
            let find =
                move || weak.upgrade().filter(|_| environment::world().is_none())?.ros2.clone();
            ringspin_adapter::log::start(find);
        }
        Ok(app)
    }

    /// Freezes the graph, unless it is: publications are delivered from then on.
    ///
    /// # Errors
    /// If the graph cannot run in its mode.
    pub(crate) fn start(&self) -> Result<(), RclrsError> {
        if self.is_started.is_raised() {
            return Ok(());
        }
        let _starting = lock(&self.starting);
        match self.is_started.is_raised() {
            true => Ok(()),
            false => self.freeze(&mut lock(&self.executor)),
        }
    }

    /// The executor, with a frozen graph.
    ///
    /// # Errors
    /// If the graph cannot run in its mode.
    pub(crate) fn started(&self) -> Result<MutexGuard<'_, Executor>, RclrsError> {
        let _starting = lock(&self.starting);
        let mut executor = lock(&self.executor);
        self.freeze(&mut executor)?;
        Ok(executor)
    }

    /// Freezes the graph of `executor`, which is the one that is locked.
    ///
    /// # Errors
    /// If the graph cannot run in its mode.
    fn freeze(&self, executor: &mut Executor) -> Result<(), RclrsError> {
        executor.freeze().map_err(|error| RclrsError::of(RclReturnCode::Error, error))?;
        #[cfg(ros_is_sourced)]
        if let Some(ros2) = self.ros2.as_ref().filter(|_| !self.is_started.is_raised()) {
            // Callbacks on other threads end before ROS 2 in the process is freed.
            let stop = self.stop.clone();
            ros2.at_exit(move || drop(stop.stop_and_wait(EXIT_GRACE)));
        }
        self.is_started.raise();
        Ok(())
    }

    /// New futures for a node.
    pub(crate) fn tasks<S: Send + 'static>(&self, node: &ringspin::Node<S>) -> Tasks {
        let tasks = Tasks::new(node);
        self.end_with_executor(tasks.pool().clone());
        tasks
    }

    /// Ends `waiting` with the executor: at once after that.
    pub(crate) fn end_with_executor(&self, waiting: Arc<dyn Waiting>) {
        if let Some(all) = &mut *lock(&self.waiting) {
            all.retain(|it| it.strong_count() > 0);
            return all.push(Arc::downgrade(&waiting));
        }
        waiting.end();
    }

    /// Ends all that wait for the executor. They may keep nodes, and so this.
    pub(crate) fn end(&self) {
        let all = lock(&self.waiting).take();
        all.into_iter().flatten().filter_map(|it| it.upgrade()).for_each(|it| it.end());
    }

    /// The futures that belong to no node of the application. Their node has a name that begins
    /// with an underscore, by which the tools of ROS 2 hide it.
    pub(crate) fn own_node(&self) -> &(ringspin::Node<()>, Tasks) {
        self.own_node.get_or_init(|| {
            let name = match self.is_over_ros2() {
                true => format!("_{LIBRARY}_{}", std::process::id()),
                false => format!("_{LIBRARY}"),
            };
            let node = self.create_node(LIBRARY, ("/", &name), || ());
            let node = node.expect("the name is valid, and a number makes it unique");
            let tasks = self.tasks(&node);
            (node, tasks)
        })
    }
}
