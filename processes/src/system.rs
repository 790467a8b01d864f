//! The system of a run: its processes, their links and its end, as a file describes them.

use crate::durations::{self, DurationRule};
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_modes::quantity::Nanos;
use ringspin_process_protocol::{Callback, Computing};
use ringspin_simulation::models::LinkRule;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Several processes, in the order that breaks ties, and how a run of them ends.
///
/// ```
/// use ringspin_processes::System;
/// let system = System::from_yaml(r#"
/// for: 10 s
/// seed: 7
/// processes:
///   - name: talker
///     command: python3 talker.py
///     parameters: { rate: 25.0 }
///   - name: listener
///     command: [python3, listener.py]
///     start: 500 ms
/// link:
///   - { topic: /chatter, delay: 3 ms, loss: 0.01 }
/// "#)?;
/// assert_eq!(system.processes[1].name, "listener");
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The simulated time after which the run ends.
    #[serde(default, rename = "for")]
    pub end_after: Option<Nanos>,
    /// The time since 1970 that clocks of the calendar show at the start; zero by default.
    #[serde(default)]
    pub date: Option<Nanos>,
    /// The seed of all random numbers: of the processes and of the links.
    #[serde(default)]
    pub seed: u64,
    /// The processes.
    pub processes: Vec<ProcessSpec>,
    /// How messages travel between processes: `from` and `to` are nodes (`/node`) or processes, and
    /// the topic `*` is any. The last rule that matches wins.
    #[serde(default)]
    pub link: Vec<LinkRule>,
    /// A file with durations that [`Options::profile`](crate::Options::profile) has written; those
    /// of `duration` count before them.
    #[serde(default)]
    pub profile: Option<PathBuf>,
    /// How long callbacks take; without a rule, no time.
    #[serde(default)]
    pub duration: Vec<DurationRule>,
    /// The computers on which processes share cores, by name.
    #[serde(default)]
    pub hosts: BTreeMap<String, Host>,
    /// The faults of every run.
    #[serde(default)]
    pub fault: Vec<Fault>,
    /// The process at the end of which the run ends, with its exit code; or a topic, such as
    /// `/arrived`, at the first message of which the run ends. If that has not come when the run is
    /// over, the run has failed.
    #[serde(default)]
    pub end: Option<String>,
    /// Whether the run is over earlier than the file says, so that nothing has to end.
    #[serde(skip)]
    pub(crate) is_cut: bool,
    /// How many durations, the first ones, are of the profile.
    #[serde(skip)]
    pub(crate) profiled: usize,
    /// Files of its processes, as long as it lives.
    #[serde(skip)]
    #[expect(dead_code, reason = "they go with it")]
    pub(crate) files: Option<Arc<TempDir>>,
}

/// A process of a [`System`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessSpec {
    /// A name that no other process has, for messages and links.
    pub name: String,
    /// The program and its arguments.
    #[serde(default)]
    pub command: CommandLine,
    /// In place of a program: a recording, of which it publishes the messages at their times, from
    /// its start on.
    #[serde(default)]
    pub bag: Option<PathBuf>,
    /// The recorded topics that are published; by default all.
    #[serde(default)]
    pub topics: Vec<String>,
    /// How often the recorded time is published on `/clock`, for nodes with `use_sim_time`.
    #[serde(default)]
    pub clock: Option<Nanos>,
    /// Values of ROS parameters, for all nodes of the process.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// Other names for topics, services and nodes.
    #[serde(default)]
    pub remap: BTreeMap<String, String>,
    /// Variables of the environment, besides those of the run.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The folder in which it runs, relative to the file of the system; by default its folder.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// The host on the cores of which its callbacks compute; without one, each has its core.
    #[serde(default)]
    pub host: Option<String>,
    /// The simulated time at which it starts; zero by default.
    #[serde(default)]
    pub start: Option<Nanos>,
    /// Whether it is started again after its end.
    #[serde(default)]
    pub restart: Restart,
}

/// A computer. Each of its cores runs one callback at a time, to its end; a callback with a
/// duration waits for the first core that is free.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// How many callbacks compute at the same time.
    pub cores: usize,
    /// How fast it is: with 0.5, callbacks take twice their durations.
    #[serde(default = "one")]
    pub speed: f64,
}

fn one() -> f64 {
    1.0
}

/// A fault of a [`System`]. A late start is the `start` of a process, and random loss is that of a
/// link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Fault {
    /// A process is killed, as by `SIGKILL`.
    Kill {
        /// The process.
        process: String,
        /// The simulated time.
        at: Nanos,
        /// The time until it is started again; by default, its policy decides.
        #[serde(default)]
        restart: Option<Nanos>,
    },
    /// Two nodes (`/node`) or processes get no message of each other.
    Partition {
        /// The two.
        between: [String; 2],
        /// The beginning; by default, the start.
        #[serde(default)]
        since: Option<Nanos>,
        /// The end, exclusive; by default, that of the run.
        #[serde(default)]
        until: Option<Nanos>,
    },
    /// The clock of the calendar jumps, from which ROS's system time comes.
    Clock {
        /// The process.
        process: String,
        /// The simulated time.
        at: Nanos,
        /// How far: a duration, with `-` before it if the clock goes back.
        #[serde(deserialize_with = "jump")]
        by: i64,
    },
    /// A single message is lost.
    Loss {
        /// The process that sends it.
        from: String,
        /// The process that does not get it.
        to: String,
        /// Its index, from zero, among those on this way.
        message: u64,
    },
}

impl Fault {
    /// The processes that it names.
    fn processes(&self) -> Vec<&String> {
        match self {
            Self::Kill { process, .. } | Self::Clock { process, .. } => vec![process],
            Self::Partition { between, .. } => {
                between.iter().filter(|end| !end.starts_with('/')).collect()
            }
            Self::Loss { from, to, .. } => vec![from, to],
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill { process, at, .. } => write!(f, "kill of {process} at {at}"),
            Self::Clock { process, at, .. } => write!(f, "jump of the clock of {process} at {at}"),
            Self::Partition { between: [one, other], .. } => {
                write!(f, "partition between {one} and {other}")
            }
            Self::Loss { from, to, message } => {
                write!(f, "loss of message {message} from {from} to {to}")
            }
        }
    }
}

/// Whether a process is started again, a simulated second after its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// It is not.
    #[default]
    Never,
    /// It is, unless it ended with code 0.
    OnFailure,
    /// It is.
    Always,
}

/// A program and its arguments: words, or one text that is split like a command of a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "a command is a text or a list of words")]
pub enum CommandLine {
    /// No word: not usable.
    #[default]
    None,
    /// A text.
    Text(String),
    /// The words.
    Words(Vec<String>),
}

/// A value of a parameter, as ROS arguments have them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a parameter is a truth value, number, text or list")]
#[allow(missing_docs, reason = "the names of their types")]
pub enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
}

impl fmt::Display for Value {
    /// Writes YAML in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::List(values) => {
                let values: Vec<_> = values.iter().map(Self::to_string).collect();
                write!(f, "[{}]", values.join(", "))
            }
        }
    }
}

impl System {
    /// Reads a system from YAML.
    ///
    /// # Errors
    /// The first fault, with line and column.
    pub fn from_yaml(text: &str) -> Result<Self> {
        let system: Self = serde_saphyr::from_str(text).map_err(|error| {
            let error = error.to_string();
            Error::new(ErrorKind::Parse, error.lines().next().unwrap_or_default())
        })?;
        system.check()?;
        Ok(system)
    }

    /// The system with the durations of its profile, a file beside its own.
    pub(crate) fn with_profile(mut self, folder: &Path) -> Result<Self> {
        if let Some(path) = &self.profile {
            let rules = durations::read(&folder.join(path))?;
            self.profiled = rules.len();
            self.duration.splice(0..0, rules);
        }
        Ok(self)
    }

    /// The system of these commands: each process has the name of its program.
    ///
    /// # Errors
    /// No command.
    pub fn of_commands<'a>(commands: impl IntoIterator<Item = &'a [String]>) -> Result<Self> {
        let mut system = Self::default();
        for words in commands.into_iter().filter(|words| !words.is_empty()) {
            let script = words.iter().find(|word| word.ends_with(".py")).unwrap_or(&words[0]);
            let script = Path::new(script).file_stem().unwrap_or_default().to_string_lossy();
            let command = CommandLine::Words(words.to_vec());
            system.add(&script, ProcessSpec { command, ..ProcessSpec::default() });
        }
        system.check()?;
        Ok(system)
    }

    /// Adds a process with this name, and a number if another one has it.
    pub(crate) fn add(&mut self, name: &str, process: ProcessSpec) {
        let is_free = |name: &String| self.processes.iter().all(|other| other.name != *name);
        let numbered = |n| if n == 1 { name.to_owned() } else { format!("{name}_{n}") };
        let name = (1..).map(numbered).find(is_free).expect("there is no last number");
        self.processes.push(ProcessSpec { name, ..process });
    }

    /// The place of the process with this name.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.processes.iter().position(|process| process.name == name)
    }

    /// The name of a process by its number, which starts at its place and grows by the number of
    /// processes at each start.
    pub(crate) fn name_of(&self, number: u32) -> &str {
        &self.processes[number as usize % self.processes.len()].name
    }

    /// How the callbacks of a process compute, as it gets it; `None` if no rule is for it.
    pub(crate) fn computing_of(&self, process: &ProcessSpec, is_profiled: bool) -> Option<String> {
        let rules = self.duration.iter().filter(|rule| rule.process == process.name);
        let rules: Vec<_> = rules.map(DurationRule::in_process).collect();
        let shares_cores = process.host.is_some();
        let has_any = is_profiled || !rules.is_empty();
        has_any.then(|| Computing { rules, shares_cores, is_profiled }.to_string())
    }

    /// Refuses names and commands that cannot be.
    pub(crate) fn check(&self) -> Result<()> {
        let invalid = |text: String| Err(Error::new(ErrorKind::InvalidArgument, text));
        if self.processes.is_empty() {
            return invalid("it has no process; add one to `processes`".into());
        }
        let mut names = BTreeSet::new();
        for process in &self.processes {
            let name = &process.name;
            if name.is_empty() || name.contains(['/', ' ', '\n']) {
                return invalid(format!(
                    "{name:?} is no name of a process: use letters and digits"
                ));
            }
            if !names.insert(name) {
                return invalid(format!("two processes are called `{name}`; rename one of them"));
            }
            process.words()?;
            if let Some(host) = process.host.as_ref().filter(|of| !self.hosts.contains_key(*of)) {
                return invalid(format!("`{name}` is on {host:?}, which is none of the `hosts`"));
            }
        }
        for (name, Host { cores, speed }) in &self.hosts {
            if *cores == 0 || !(speed.is_finite() && *speed > 0.0) {
                return invalid(format!(
                    "`{name}` of the `hosts` has {cores} cores of speed {speed}: both have to be \
                     above zero"
                ));
            }
        }
        for rule in &self.duration {
            if !names.contains(&rule.process) {
                return invalid(format!(
                    "a duration is for {:?}, which is no process",
                    rule.process
                ));
            }
            if rule.in_process().is_for(Callback::Timer(0)).is_none() {
                let callback = rule.callback.as_deref().unwrap_or_default();
                return invalid(format!(
                    "a duration is for {callback:?}: write `subscription /topic`, `service /name`, \
                     `client /name` or `timer 100ms`"
                ));
            }
        }
        for (fault, n) in self.fault.iter().zip(1..) {
            if let Some(name) = fault.processes().into_iter().find(|name| !names.contains(name)) {
                return invalid(format!(
                    "`fault` {n} ({fault}) is for {name:?}, which is no process; name one of \
                     `processes`"
                ));
            }
            if let Fault::Partition { since: Some(since), until: Some(until), .. } = fault
                && since >= until
            {
                return invalid(format!(
                    "`fault` {n} ({fault}): `until` is {until} and `since` {since}; write a later \
                     `until`"
                ));
            }
        }
        let is_end = |end: &&String| names.contains(end) || end.starts_with('/');
        if let Some(end) = self.end.as_ref().filter(|end| !is_end(end)) {
            return invalid(format!(
                "`end` is {end:?}, which is no process of the system, and no topic, such as \
                 \"/{end}\""
            ));
        }
        Ok(())
    }
}

/// The hidden command that publishes a recording in a run.
pub(crate) const PLAY: &str = "play-in-run";

fn absolute(topic: &str) -> String {
    if topic.starts_with('/') { topic.into() } else { format!("/{topic}") }
}

impl ProcessSpec {
    /// The command for a recording, of this program.
    fn words_of_bag(&self, bag: &Path) -> Vec<String> {
        let mut words = vec!["ringspin".into(), PLAY.into(), bag.display().to_string()];
        words.extend(self.topics.iter().map(|topic| format!("--topic={}", absolute(topic))));
        let names = self.remap.iter().map(|(from, to)| (absolute(from), absolute(to)));
        words.extend(names.map(|(from, to)| format!("--remap={from}:={to}")));
        words.extend(self.clock.map(|period| format!("--clock={period}")));
        words
    }

    /// The program and its arguments, with those for ROS.
    ///
    /// # Errors
    /// A command without a program, or with an open quote.
    pub fn words(&self) -> Result<Vec<String>> {
        let name = &self.name;
        let invalid = |text: String| Err(Error::new(ErrorKind::InvalidArgument, text));
        if let Some(bag) = &self.bag {
            if self.command != CommandLine::None || !self.parameters.is_empty() {
                return invalid(format!("`{name}` has a `bag`: leave out command and parameters"));
            }
            return Ok(self.words_of_bag(bag));
        }
        if self.clock.is_some() || !self.topics.is_empty() {
            return invalid(format!("`{name}` has no `bag` for its `topics` or `clock`"));
        }
        let words = match &self.command {
            CommandLine::None => Some(Vec::new()),
            CommandLine::Text(text) => shlex::split(text),
            CommandLine::Words(words) => Some(words.clone()),
        };
        let Some(mut words) = words.filter(|words| !words.is_empty()) else {
            return invalid(format!(
                "the command of `{name}` is no program with arguments; correct it"
            ));
        };
        if !self.parameters.is_empty() || !self.remap.is_empty() {
            words.push("--ros-args".into());
            for (name, value) in &self.parameters {
                words.extend(["-p".into(), format!("{name}:={value}")]);
            }
            for (from, to) in &self.remap {
                words.extend(["-r".into(), format!("{from}:={to}")]);
            }
            words.push("--".into());
        }
        Ok(words)
    }
}

/// Reads a duration with an optional sign, in nanoseconds.
fn jump<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<i64, D::Error> {
    let text = String::deserialize(from)?;
    let (sign, duration) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, &text[..]),
    };
    let nanos = duration.trim().parse::<Nanos>().map_err(serde::de::Error::custom)?;
    Ok(sign * i64::try_from(nanos.0).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        System::from_yaml(text).unwrap_err().to_string()
    }

    #[test]
    fn faults_are_named() {
        let two = "processes:\n  - { name: a, command: x }\n  - { name: a, command: z }";
        assert!(error(two).contains("two processes are called `a`"), "{}", error(two));
        assert!(error("processes: []").contains("no process"));
        let open = "processes: [{ name: a, command: \"x 'y\" }]";
        assert!(error(open).contains("the command of `a`"), "{}", error(open));
        let unknown = "processes:\n  - name: a\n    comand: x";
        assert!(error(unknown).contains("comand"), "{}", error(unknown));
        let of = |duration: &str| {
            error(&format!("processes: [{{ name: a, command: x }}]\nduration: [{{ {duration} }}]"))
        };
        let process = of("process: b, duration: 1 ms");
        assert!(process.contains("\"b\", which is no process"), "{process}");
        let callback = of("process: a, callback: timer, duration: 1 ms");
        assert!(callback.contains("`timer 100ms`"), "{callback}");
        let host = error("processes: [{ name: a, command: x, host: h }]");
        assert!(host.contains("\"h\", which is none of the `hosts`"), "{host}");
        for cores in ["cores: 0", "cores: 1, speed: 0", "cores: 1, speed: .nan"] {
            let text =
                format!("hosts: {{ h: {{ {cores} }} }}\nprocesses: [{{ name: a, command: x }}]");
            assert!(error(&text).contains("`h` of the `hosts`"), "{}", error(&text));
        }
        let fault = |fault: &str| {
            error(&format!("processes: [{{ name: a, command: x }}]\nfault: [{{ {fault} }}]"))
        };
        let kill = fault("kill: { process: b, at: 1 s }");
        assert!(kill.contains("(kill of b at 1s) is for \"b\", which is no process"), "{kill}");
        let window = fault("partition: { between: [a, /n], since: 2 s, until: 1 s }");
        assert!(window.contains("`until` is 1s"), "{window}");
        let time = fault("kill: { process: a }");
        assert!(time.contains("`at`"), "{time}");
        let clock = fault("clock: { process: a, at: 1 s, by: 5 }");
        assert!(clock.contains("`5` is not a duration"), "{clock}");
        let key = fault("los: { from: a, to: a, message: 1 }");
        assert!(key.contains("los"), "{key}");
        let end = "end: b\nprocesses: [{ name: a, command: x }]";
        assert!(error(end).contains("no process of the system"), "{}", error(end));
        let time = "for: 10\nprocesses: [{ name: a, command: x }]";
        assert!(error(time).contains("10"), "{}", error(time));
    }

    #[test]
    fn parameters_and_remappings_become_ros_arguments() {
        let text = "processes:
  - name: a
    command: run me
    remap: { in: /out }
    parameters: { rate: 2.0, on: true, names: [x, 'y z'] }";
        let words = System::from_yaml(text).unwrap().processes[0].words().unwrap();
        let expected = "run me --ros-args -p names:=[\"x\", \"y z\"] -p on:=true -p rate:=2.0 \
                        -r in:=/out --";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn processes_of_commands_have_the_names_of_their_programs() {
        let commands = [["python3", "a.py"], ["python3", "a.py"], ["/usr/bin/ls", "-l"]];
        let commands = commands.map(|words| words.map(String::from).to_vec());
        let system = System::of_commands(commands.iter().map(Vec::as_slice)).unwrap();
        let names: Vec<_> = system.processes.iter().map(|process| &process.name[..]).collect();
        assert_eq!(names, ["a", "a_2", "ls"]);
        System::of_commands([]).unwrap_err();
    }
}
