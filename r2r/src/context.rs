//! Contexts: the executor of an application, on a separate thread.

use crate::error::{Error, Result};
use crate::lock;
use crate::log::{self, report};
use ringspin::graph::GraphInfo;
use ringspin::scheduler::WaitStrategy;
use ringspin::{Arguments, Executor, Graph, Mode};
use ringspin_messages::{CdrService, CdrType};
use ringspin_ringbuf::Flag;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
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
    pub(crate) graph: Graph,
    /// Until it starts.
    executor: Mutex<Option<Executor>>,
    is_started: Flag,
    has_ended: Flag,
    /// The ROS types by resolved name.
    topics: Mutex<BTreeMap<String, &'static CdrType>>,
    services: Mutex<BTreeMap<String, &'static CdrService>>,
    #[cfg(ros_is_sourced)]
    pub(crate) ros2: Option<ringspin_ros2::Ros2>,
    /// Whether the digests of messages are of use.
    pub(crate) is_deterministic: bool,
}

/// The type of a topic or service.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Topic(&'static CdrType),
    Service(&'static CdrService),
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
        let mode = mode()?;
        let is_deterministic = matches!(mode, Mode::Deterministic(_));
        let (arguments, _) = Arguments::from_args_and_env().map_err(Error::other)?;
        if let Some(level) = arguments.log_level() {
            log::set_level(level);
        }
        #[cfg(ros_is_sourced)]
        let for_rcl = [&["--ros-args".to_owned()], arguments.for_rcl()].concat();
        // Tasks run on other threads, to which the executor leaves the core at once.
        let parks = WaitStrategy::SpinThenPark(Duration::ZERO);
        let executor = Executor::new(mode).with_arguments(arguments).with_wait_strategy(parks);
        #[cfg(ros_is_sourced)]
        let (executor, ros2) = connect(executor, is_deterministic, for_rcl)?;
        let shared = Arc::new(Shared {
            graph: executor.graph().clone(),
            executor: Mutex::new(Some(executor)),
            is_started: Flag::default(),
            has_ended: Flag::default(),
            topics: Mutex::default(),
            services: Mutex::default(),
            #[cfg(ros_is_sourced)]
            ros2,
            is_deterministic,
        });
        #[cfg(ros_is_sourced)]
        if shared.ros2.is_some() {
            let weak = Arc::downgrade(&shared);
            let find = move || weak.upgrade().filter(|_| world().is_none())?.ros2.clone();
            log::over_ros2::start(find);
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

    /// Whether it is connected with ROS 2.
    pub(crate) fn is_over_ros2(&self) -> bool {
        #[cfg(ros_is_sourced)]
        return self.ros2.is_some();
        #[cfg(not(ros_is_sourced))]
        false
    }

    /// The topics that have ends, and the names of their types.
    pub(crate) fn topics(&self) -> HashMap<String, Vec<String>> {
        let types = lock(&self.topics);
        let names = self.graph.info().topics.into_iter().map(|topic| topic.name);
        let typed = names.filter_map(|name| {
            let ros_type = types.get(&name)?.name().to_owned();
            Some((name, vec![ros_type]))
        });
        typed.collect()
    }

    /// Whether a topic, by its resolved name, has a publisher in any process.
    pub(crate) fn has_publisher(&self, topic: &str) -> bool {
        #[cfg(ros_is_sourced)]
        if let Some(ros2) = &self.ros2
            && ros2.publishers(topic).is_ok_and(|publishers| !publishers.is_empty())
        {
            return true;
        }
        !self.graph.offered_qos(topic).is_empty()
    }

    /// Notes the ROS type of a topic or service.
    ///
    /// # Errors
    /// If its ends in this process have another one.
    pub(crate) fn set_type(&self, name: &str, ros_type: Type) -> Result<()> {
        let is_used = || ros_type.is_used(&self.graph.info(), name);
        match ros_type {
            Type::Topic(table) => {
                note(&mut lock(&self.topics), name, table, CdrType::name, is_used)?;
                #[cfg(ros_is_sourced)]
                self.ros2.iter().for_each(|ros2| ros2.carry(name, table));
            }
            Type::Service(table) => {
                note(&mut lock(&self.services), name, table, CdrService::name, is_used)?;
                #[cfg(ros_is_sourced)]
                self.ros2.iter().for_each(|ros2| ros2.carry_service(name, table));
            }
        }
        Ok(())
    }
}

/// Puts `table` into `known`, unless an entry of that name has another type, and `is_used`.
fn note<T>(
    known: &mut BTreeMap<String, &'static T>,
    name: &str,
    table: &'static T,
    name_of: impl Fn(&'static T) -> &'static str,
    is_used: impl Fn() -> bool,
) -> Result<()> {
    let before = known.insert(name.to_owned(), table).unwrap_or(table);
    if name_of(before) == name_of(table) || !is_used() {
        return Ok(());
    }
    known.insert(name.to_owned(), before);
    let (wanted, has) = (name_of(table), name_of(before));
    Err(Error::Other(format!(
        "failed to use {name} with type {wanted}: it has type {has}; use one type"
    )))
}

impl Type {
    /// Whether the topic or service has any end.
    fn is_used(self, info: &GraphInfo, name: &str) -> bool {
        match self {
            Self::Topic(_) => info.topics.iter().any(|topic| {
                topic.name == name
                    && !(topic.publishers.is_empty() && topic.subscriptions.is_empty())
            }),
            Self::Service(_) => info.services.iter().any(|service| service.name == name),
        }
    }
}

/// Connects an executor with ROS 2, unless its mode or `RINGSPIN_MIDDLEWARE=none` forbids it.
#[cfg(ros_is_sourced)]
fn connect(
    executor: Executor,
    is_deterministic: bool,
    for_rcl: Vec<String>,
) -> Result<(Executor, Option<ringspin_ros2::Ros2>)> {
    use ringspin_ros2::{Ros2, Traffic, Types};
    let wanted = std::env::var("RINGSPIN_MIDDLEWARE").unwrap_or_default();
    let traffic = match &*wanted {
        _ if is_deterministic => return Ok((executor, None)),
        "none" => return Ok((executor, None)),
        "" | "ros2" => Traffic::Direct,
        "ros2-loopback" => Traffic::Loopback,
        other => {
            return Err(Error::Other(format!(
                "RINGSPIN_MIDDLEWARE is {other:?}: use `none`, `ros2` or `ros2-loopback`"
            )));
        }
    };
    // A node offers the services of its parameters only when it has made a handler of them.
    let builder = Ros2::builder().types(Types::none()).parameter_services(false).traffic(traffic);
    let ros2 = builder.arguments(for_rcl).connect().map_err(Error::other)?;
    let executor = executor.with_middleware(Arc::new(ros2.clone())).map_err(Error::other)?;
    Ok((executor, Some(ros2)))
}

/// The mode that the environment asks for. In a world it is deterministic, unless the program is
/// one of several processes: their coordinator orders them, and they talk over ROS.
fn mode() -> Result<Mode> {
    let is_process = is_process();
    if world().is_some() && !is_process && std::env::var_os("RINGSPIN_MODE").is_none() {
        return Ok(Mode::Deterministic(Box::default()));
    }
    let mode = Mode::from_env_with(ringspin_simulation::load_simulation).map_err(Error::other)?;
    let refused = match (&mode, world()) {
        (Mode::Deterministic(_), None) => {
            "RINGSPIN_MODE=deterministic needs the threads of the application under simulated \
             time: build r2r with its feature `simulated-threads` for Linux with glibc, and leave \
             out RINGSPIN_THREADS=real"
        }
        (Mode::Deterministic(_), Some(_)) if is_process => {
            "`ringspin run` orders all processes: leave out RINGSPIN_MODE"
        }
        (Mode::SingleCore | Mode::MultiCore(_), Some(_)) if !is_process => {
            "threads are simulated here: RINGSPIN_MODE can only be `deterministic`, or left out"
        }
        _ => return Ok(mode),
    };
    Err(Error::Other(refused.into()))
}

/// Whether the program is a process of `ringspin run`.
fn is_process() -> bool {
    #[cfg(feature = "simulated-threads")]
    return ringspin_simulated_threads::coordination::is_joined();
    #[cfg(not(feature = "simulated-threads"))]
    false
}

/// The world of the calling thread.
fn world() -> Option<usize> {
    #[cfg(feature = "simulated-threads")]
    return ringspin_simulated_threads::world_id();
    #[cfg(not(feature = "simulated-threads"))]
    None
}
