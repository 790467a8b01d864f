//! The graph of an application, the ROS types of its topics and services, and its connection with
//! ROS 2.

use crate::log::{self, Line};
use crate::{environment, lock};
use ringspin::arguments::{LogLevel, NodeArguments};
use ringspin::graph::GraphInfo;
use ringspin::middleware::Domain;
use ringspin::{Arguments, Error, ErrorKind, Executor, Graph, Mode, Node, Result};
use ringspin_messages::{CdrService, CdrType, Replayed, Settings, Types};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

/// A graph in which all topics and services carry [`Carried`](crate::Carried), with the ROS type of
/// each.
pub struct TypedGraph {
    /// The graph.
    pub graph: Graph,
    /// Whether the digests of messages are of use.
    pub is_deterministic: bool,
    /// The ROS types by resolved name, in the domain of the graph if it has one.
    topics: TopicTypes,
    /// Where the topics of the process meet: live without ROS 2.
    domain: Option<Domain>,
    services: Mutex<BTreeMap<String, &'static CdrService>>,
    /// The connection, if there is one.
    #[cfg(ros_is_sourced)]
    pub ros2: Option<ringspin_ros2::Ros2>,
    /// The middleware of a replay, if the recorded run was connected.
    replayed: Option<Replayed>,
}

type TopicTypes = Arc<Mutex<BTreeMap<String, &'static CdrType>>>;

/// The domains of the process, by the number of the ROS domain and the world of threads. As over
/// ROS 2, all executors with one number meet.
static DOMAINS: Mutex<BTreeMap<DomainKey, (Domain, TopicTypes)>> = Mutex::new(BTreeMap::new());

type DomainKey = (usize, Option<usize>);

/// The type of a topic or service.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// Of a topic.
    Topic(&'static CdrType),
    /// Of a service.
    Service(&'static CdrService),
}

/// How an application uses its graph.
#[derive(Debug)]
pub struct Use {
    /// The mode of the executor.
    pub mode: Mode,
    /// The ROS arguments.
    pub arguments: Arguments,
    /// Whether ringspin offers the services of the nodes' parameters over ROS 2.
    pub parameter_services: bool,
    /// The ROS domain, if it is not that of `ROS_DOMAIN_ID`.
    pub domain_id: Option<usize>,
}

impl TypedGraph {
    /// An executor with an empty graph, connected with ROS 2 where the program is built with it,
    /// unless its mode or `RINGSPIN_MIDDLEWARE=none` forbids it.
    ///
    /// # Errors
    /// If ROS 2 refuses the connection, or `RINGSPIN_MIDDLEWARE` is not valid.
    pub fn connect(used: Use) -> Result<(Executor, Self)> {
        let is_deterministic = matches!(used.mode, Mode::Deterministic(_));
        let replayed = replayed(&used)?;
        #[cfg(ros_is_sourced)]
        let ros2 = connection(&used)?;
        #[cfg(ros_is_sourced)]
        let is_alone = !is_live(&used.mode) || ros2.is_some();
        #[cfg(not(ros_is_sourced))]
        let is_alone = !is_live(&used.mode);
        let mut executor = Executor::new(used.mode).with_arguments(used.arguments);
        record(&mut executor)?;
        let executor = match &replayed {
            Some(replayed) => executor.with_middleware(Arc::new(replayed.clone()))?,
            None => executor,
        };
        #[cfg(ros_is_sourced)]
        let executor = match &ros2 {
            Some(ros2) => executor.with_middleware(Arc::new(ros2.clone()))?,
            None => executor,
        };
        let (executor, domain, topics) = if is_alone {
            (executor, None, TopicTypes::default())
        } else {
            let number = (environment::domain_id(used.domain_id), environment::world());
            let (domain, topics) = lock(&DOMAINS).entry(number).or_default().clone();
            (executor.in_domain(&domain)?, Some(domain), topics)
        };
        let typed = Self {
            graph: executor.graph().clone(),
            is_deterministic,
            topics,
            domain,
            services: Mutex::default(),
            #[cfg(ros_is_sourced)]
            ros2,
            replayed,
        };
        Ok((executor, typed))
    }

    /// Creates a node with a state that `state` makes; of two nodes with one name, the second gets
    /// a number after its name, as in `talker_2`, and a warning of `library`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidName`] for a name that ROS 2 does not allow; another one if arguments of
    /// the command line give two nodes one name.
    pub fn create_node<S: Send + 'static>(
        &self,
        library: &str,
        names: (&str, &str),
        state: impl Fn() -> S,
    ) -> Result<Node<S>> {
        self.create_node_with_arguments(library, names, &NodeArguments::default(), state)
    }

    /// Creates a node like [`create_node`](Self::create_node), with separate arguments.
    ///
    /// # Errors
    /// The errors of [`create_node`](Self::create_node).
    pub fn create_node_with_arguments<S: Send + 'static>(
        &self,
        library: &str,
        (namespace, name): (&str, &str),
        arguments: &NodeArguments,
        state: impl Fn() -> S,
    ) -> Result<Node<S>> {
        let create = |name: &str| {
            let (state, arguments) = (state(), arguments.clone());
            self.graph.create_node_with_arguments(namespace, name, state, arguments)
        };
        let mut created = create(name);
        let mut number = 1;
        while created.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
            number += 1;
            created = create(&format!("{name}_{number}"));
        }
        if let (Ok(node), 2..) = (&created, number) {
            let text = format!("there is another node {name}: this one is {}", node.full_name());
            let (level, file, line) = (LogLevel::Warn, file!(), line!());
            log::log(&Line { level, logger: library, text: &text, file, line });
        }
        created
    }

    /// Whether it is connected with ROS 2, or replays a run that was.
    pub fn is_over_ros2(&self) -> bool {
        if self.replayed.is_some() {
            return true;
        }
        #[cfg(ros_is_sourced)]
        return self.ros2.is_some();
        #[cfg(not(ros_is_sourced))]
        false
    }

    /// The topics that have ends in this process, and the names of their types.
    pub fn topics(&self) -> HashMap<String, Vec<String>> {
        let types = lock(&self.topics);
        let names = self.graph.info().topics.into_iter().map(|topic| topic.name);
        let typed = names.filter_map(|name| {
            let ros_type = types.get(&name)?.name().to_owned();
            Some((name, vec![ros_type]))
        });
        typed.collect()
    }

    /// The services of this process, and the names of their types.
    pub fn services(&self) -> HashMap<String, Vec<String>> {
        let types = lock(&self.services);
        let names = self.graph.info().services.into_iter().map(|service| service.name);
        let typed = names.filter_map(|name| {
            let ros_type = types.get(&name)?.name().to_owned();
            Some((name, vec![ros_type]))
        });
        typed.collect()
    }

    /// Whether a topic, by its resolved name, has a publisher in any process.
    pub fn has_publisher(&self, topic: &str) -> bool {
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
    /// [`ErrorKind::TypeMismatch`] if its ends in this process have another one.
    pub fn set_type(&self, name: &str, ros_type: Type) -> Result<()> {
        let is_used = || match (&self.domain, ros_type) {
            (Some(domain), Type::Topic(_)) => domain.has_topic(name),
            _ => ros_type.is_used(&self.graph.info(), name),
        };
        match ros_type {
            Type::Topic(table) => {
                note(&mut lock(&self.topics), name, table, CdrType::name, is_used)?;
                self.replayed.iter().for_each(|replayed| replayed.carry(name, table));
                #[cfg(ros_is_sourced)]
                self.ros2.iter().for_each(|ros2| ros2.carry(name, table));
            }
            Type::Service(table) => {
                note(&mut lock(&self.services), name, table, CdrService::name, is_used)?;
                self.replayed.iter().for_each(|replayed| replayed.carry_service(name, table));
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
    let text = format!("failed to use {name} with type {wanted}: it has type {has}; use one type");
    Err(Error::new(ErrorKind::TypeMismatch, text).on_topic(name))
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

fn is_live(mode: &Mode) -> bool {
    matches!(mode, Mode::SingleCore | Mode::MultiCore(_))
}

/// Whether an executor of the process is recorded, or replayed.
static HAS_RECORD: Mutex<bool> = Mutex::new(false);

/// Has the first executor of the process recorded, if the environment asks for that.
fn record(executor: &mut Executor) -> Result<()> {
    let mut has_record = lock(&HAS_RECORD);
    match *has_record {
        true => Ok(()),
        false => {
            *has_record = true;
            executor.record_from_env()
        }
    }
}

/// The middleware of a replay, if the recorded run was connected.
fn replayed(used: &Use) -> Result<Option<Replayed>> {
    let Mode::Replay(record) = &used.mode else { return Ok(None) };
    let name = &*record.header().middleware;
    if name.is_empty() {
        return Ok(None);
    }
    let Some(settings) = Settings::of_record(name) else {
        let text = format!("failed to replay: the record is of the unknown middleware {name}");
        return Err(Error::new(ErrorKind::Unsupported, text));
    };
    let (types, parameter_services) = (Types::none(), used.parameter_services);
    Ok(Some(Replayed::new(Settings { types, parameter_services, ..settings })))
}

/// The connection that the environment asks for.
#[cfg(ros_is_sourced)]
fn connection(used: &Use) -> Result<Option<ringspin_ros2::Ros2>> {
    use ringspin_ros2::{Ros2, Traffic};
    let wanted = std::env::var("RINGSPIN_MIDDLEWARE").unwrap_or_default();
    let traffic = match &*wanted {
        _ if !is_live(&used.mode) => return Ok(None),
        "none" => return Ok(None),
        "" | "ros2" => Traffic::Direct,
        "ros2-loopback" => Traffic::Loopback,
        other => {
            let text =
                format!("RINGSPIN_MIDDLEWARE is {other:?}: use `none`, `ros2` or `ros2-loopback`");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
    };
    let for_rcl = [&["--ros-args".to_owned()], used.arguments.for_rcl()].concat();
    let builder = Ros2::builder().types(Types::none()).traffic(traffic).arguments(for_rcl);
    let builder = builder.parameter_services(used.parameter_services);
    let options =
        ringspin_ros2::rcl::ContextOptions { domain: used.domain_id, ..Default::default() };
    Ok(Some(builder.options(options).connect()?))
}
