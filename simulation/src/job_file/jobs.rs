//! Keys of a job file besides those of the simulation, and the job that they describe.

use super::document::{Document, EndWhen, Failures, NodeKeys};
use super::simulation::duration;
use super::{JobFile, Place, Source, parameters};
use crate::job::Job;
use crate::registry::{Build, NodeConfig, Registry};
use ringspin_executor::{
    Arguments, BoxError, Error, ErrorKind, FailurePolicy, Graph, Result, catch_panic,
};
use ringspin_modes::deterministic::Simulation;
use ringspin_modes::names::list;
use ringspin_modes::names::way_out;
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;

/// The keys that only a job has.
#[derive(Clone, Debug, Default)]
pub(super) struct Jobs {
    /// The first of its keys that there is, and where.
    pub(super) first_key: Option<(Place, &'static str)>,
    pub(super) arguments: Arguments,
    nodes: Vec<Instance>,
    /// Whether a file without nodes is an error.
    needs_nodes: bool,
    /// Whether the file says that nothing has to end the run.
    endless: bool,
    policy: FailurePolicy,
    watchdog: Option<Duration>,
    /// The topic, and how many of its messages end the run.
    end_when: Option<(String, u64)>,
}

/// One `[[node]]`.
#[derive(Clone, Debug)]
struct Instance {
    at: Place,
    node_type: String,
    place: NodeConfig,
}

impl Jobs {
    pub(super) fn read(document: Document, source: &Source) -> Result<Self> {
        let first_key = first_key(&document, source);
        let ros_args = document.ros_args.as_ref();
        let general = ros_args.map_or(Ok(Arguments::default()), |args| ros_arguments(args, source));
        let mut own = Arguments::default();
        let mut nodes = Vec::new();
        for keys in &document.node {
            let name = keys.name.as_ref().unwrap_or(keys.node_type.get_ref()).clone();
            let place = NodeConfig { namespace: keys.namespace.clone(), name };
            own = node_arguments(keys, &place.full_name(), own, source)?;
            let (at, node_type) = (source.at(keys.node_type.span()), keys.node_type.get_ref());
            nodes.push(Instance { at, node_type: node_type.clone(), place });
        }
        let watchdog = document.watchdog.map(|limit| match limit.get_ref().0 {
            0 => {
                Err(source.wrong(limit.span(), "a watchdog of no time; give it some, as \"30 s\""))
            }
            _ => Ok(duration(*limit.get_ref())),
        });
        let end_when = document.end_when.map(|when| {
            let EndWhen { topic, messages } = when.into_inner();
            (topic, messages.get())
        });
        let endless = document.endless.as_ref().is_some_and(|endless| *endless.get_ref());
        let ends = [&document.end, &document.duration].into_iter().flatten().next();
        if let Some(end) = ends.filter(|_| endless) {
            let problem = "`endless` says that nothing has to end the run, and this does; keep one";
            return Err(source.wrong(end.span(), problem));
        }
        Ok(Self {
            endless,
            needs_nodes: true,
            first_key,
            arguments: general?.overridden_by(own),
            nodes,
            policy: match document.failures.map(Spanned::into_inner) {
                None | Some(Failures::Stop) => FailurePolicy::StopAll,
                Some(Failures::Isolate) => FailurePolicy::IsolateNode,
            },
            watchdog: watchdog.transpose()?,
            end_when,
        })
    }
}

/// The first key in the file that only a job has.
fn first_key(document: &Document, source: &Source) -> Option<(Place, &'static str)> {
    let keys = [
        (document.watchdog.as_ref().map(Spanned::span), "watchdog"),
        (document.endless.as_ref().map(Spanned::span), "endless"),
        (document.failures.as_ref().map(Spanned::span), "failures"),
        (document.end_when.as_ref().map(Spanned::span), "end_when"),
        (document.ros_args.as_ref().map(Spanned::span), "ros_args"),
        (document.node.first().map(|node| node.node_type.span()), "node"),
    ];
    let keys = keys.into_iter().filter_map(|(span, key)| Some((span?, key)));
    let first = keys.min_by_key(|(span, _)| span.start)?;
    Some((source.at(first.0), first.1))
}

fn ros_arguments(args: &Spanned<Vec<String>>, source: &Source) -> Result<Arguments> {
    let mut line = vec![String::from("--ros-args")];
    for arg in args.get_ref() {
        line.push(match line.last().map(String::as_str) {
            Some("--params-file") => source.folder.join(arg).display().to_string(),
            _ => arg.clone(),
        });
    }
    let at = || source.at(args.span());
    let parsed = Arguments::parse(line);
    let (arguments, rest) =
        parsed.map_err(|error| at().error(ErrorKind::InvalidArgument, &error).caused_by(error))?;
    match rest.first() {
        None => Ok(arguments),
        Some(rest) => Err(source.wrong(
            args.span(),
            format!("`{rest}` is not a ROS argument, and no other arguments are read; remove it"),
        )),
    }
}

fn refused(at: &Place, error: Error) -> Error {
    at.error(ErrorKind::InvalidArgument, &error).caused_by(error)
}

/// The parameters and rules of one node, added to `arguments`.
fn node_arguments(
    keys: &NodeKeys,
    node: &str,
    mut arguments: Arguments,
    source: &Source,
) -> Result<Arguments> {
    for (name, value) in &keys.parameters {
        let at = source.at(value.span());
        let mut found = Vec::new();
        parameters::flatten(name, value.get_ref(), &mut found).map_err(|problem| {
            source.wrong(value.span(), format!("parameter `{name}`: {problem}"))
        })?;
        for (name, value) in found {
            let added = arguments.with_parameter(node, &name, value, &at.to_string());
            arguments = added.map_err(|error| refused(&at, error))?;
        }
    }
    for (from, to) in &keys.remap {
        let added = arguments.with_remap(node, from, to.get_ref());
        arguments = added.map_err(|error| refused(&source.at(to.span()), error))?;
    }
    Ok(arguments)
}

impl JobFile {
    /// A file with one node of each type in `registry`, under the name of its type. Nothing ends
    /// its run: it is for a run that an input, or a node, ends.
    #[must_use]
    pub fn of_all_nodes(registry: &Registry) -> Self {
        let origin = String::from("the program");
        let source = Source { origin: origin.clone(), folder: PathBuf::new(), text: String::new() };
        let instance = |name: &str| Instance {
            at: Place { origin: origin.clone(), line: 1 },
            node_type: name.into(),
            place: NodeConfig { namespace: "/".into(), name: name.into() },
        };
        let nodes = registry.names().map(instance).collect();
        let jobs = Jobs { nodes, endless: true, ..Jobs::default() };
        Self { source, simulation: Simulation::default(), jobs }
    }

    /// The job, with nodes of the types in `registry`.
    ///
    /// Names, parameters, links and durations are checked when the job starts, because that needs
    /// the graph.
    ///
    /// # Errors
    /// An error for a registry that is not usable, no nodes, or an unknown type.
    pub fn job<'a>(&self, registry: &'a Registry) -> Result<Job<'a>> {
        self.job_with(registry, |_| Ok(()))
    }

    /// The job like [`job`](Self::job), with more in its graph: `add` is called after the nodes are
    /// there, in each run. The value that it returns is that of the job's graph.
    ///
    /// # Errors
    /// An error for a registry that is not usable, no nodes, or an unknown type.
    pub fn job_with<'a, T: 'a>(
        &self,
        registry: &'a Registry,
        add: impl Fn(&Graph) -> Result<T, BoxError> + Send + Sync + 'a,
    ) -> Result<Job<'a, T>> {
        let build = self.build(registry)?;
        let mut job = Job::new(move |graph| {
            build(graph)?;
            add(graph)
        });
        if let Some(limit) = self.jobs.watchdog {
            job = job.with_watchdog(limit, |stuck| stuck.abort());
        }
        if !self.jobs.endless {
            job = job.must_end(self.source.origin.clone());
        }
        if let Some((topic, messages)) = &self.jobs.end_when {
            job = job.end_on_messages(topic.clone(), *messages);
        }
        Ok(job
            .with_simulation(self.simulation.clone())
            .with_arguments(self.jobs.arguments.clone())
            .with_failure_policy(self.jobs.policy))
    }

    /// The function that adds the file's nodes to a graph: for a graph that is run live.
    ///
    /// # Errors
    /// An error for a registry that is not usable, no nodes, or an unknown type; those of the
    /// function are of the nodes.
    pub fn build<'a>(
        &self,
        registry: &'a Registry,
    ) -> Result<impl Fn(&Graph) -> Result<(), BoxError> + Send + Sync + use<'a>> {
        registry.check()?;
        if self.jobs.nodes.is_empty() && self.jobs.needs_nodes {
            let names: Vec<_> = registry.names().collect();
            let known = match names.is_empty() {
                true => "the program has registered none yet".into(),
                false => format!("one of {}", list(&names)),
            };
            let origin = &self.source.origin;
            let text = format!("{origin} has no nodes; add a `[[node]]` with a `type`: {known}");
            return Err(Error::new(ErrorKind::InvalidArgument, text).at_path(origin));
        }
        let nodes = self.jobs.nodes.iter().map(|instance| instance.resolve(registry));
        let nodes: Vec<_> = nodes.collect::<Result<_, _>>()?;
        let origin = format!("{}:", self.source.origin);
        Ok(move |graph: &Graph| {
            for (instance, build) in &nodes {
                let built = catch_panic(|| build(graph, &instance.place));
                built
                    .unwrap_or_else(|panic| Err(format!("it panicked: {panic}").into()))
                    .map_err(|error| instance.failed(error))?;
            }
            declared(graph, &origin)
        })
    }

    /// The ROS arguments of the file, with those of its nodes.
    pub fn arguments(&self) -> &Arguments {
        &self.jobs.arguments
    }
}

impl Instance {
    fn resolve<'a>(&self, registry: &'a Registry) -> Result<(Self, &'a Build)> {
        let unknown = || {
            let known = registry.names().map(String::from);
            let name = &self.node_type;
            let way_out = way_out(name, known, "the program has registered none yet");
            let problem = format!("there is no node type `{name}`; {way_out}");
            self.at.error(ErrorKind::NotFound, problem)
        };
        Ok((self.clone(), registry.get(&self.node_type).ok_or_else(unknown)?))
    }

    fn failed(&self, error: BoxError) -> Error {
        let node = self.place.full_name();
        let problem = format!("failed to build node {node}: {error}");
        self.at.error(ErrorKind::CallbackFailed, problem).in_node(node)
    }
}

/// That nodes declare all parameters of the file. Those of ROS arguments may be for others.
fn declared(graph: &Graph, origin: &str) -> Result<(), BoxError> {
    let unused = graph.unused_overrides().into_iter();
    let parameters: Vec<_> = unused.filter(|unused| unused.starts_with(origin)).collect();
    match parameters.is_empty() {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::NotFound,
            format!(
                "no node that they apply to declares these parameters: {}; check the names, or \
                 remove them",
                parameters.join(", ")
            ),
        )
        .into()),
    }
}
