//! ROS arguments: names, parameter overrides and log levels given from outside the program.
//!
//! ```text
//! program --its-own --ros-args -r chatter:=/radio -p gain:=2.5 --params-file robot.yaml -- more
//! ```
//!
//! | argument | effect here |
//! |---|---|
//! | `-r`, `--remap` `[node:]from:=to` | gives a topic or service another name |
//! | `-r [node:]__node:=name`, `-r [node:]__ns:=/ns` | gives a node another name or namespace |
//! | `-p`, `--param` `[node:]name:=yaml` | overrides a parameter |
//! | `--params-file file` | overrides the parameters in a ROS 2 parameter file |
//! | `--log-level level` | kept for the application: [`Arguments::log_level`] |
//! | `--log-level logger:=level` | checked, and [kept](Arguments::for_rcl) for rcl |
//! | `--log-config-file`, `--log-file-name` and a value | kept likewise |
//! | `--enable-`, `--disable-` `rosout-logs`, `stdout-logs`, `external-lib-logs` | kept likewise |
//! | `-e`, `--enclave` and a value | kept likewise |
//!
//! Anything else between `--ros-args` and `--` is an error. Arguments outside of these belong to
//! the application. What does not exist within a process is accepted, so that launch files need no
//! change.
//!
//! # Remapping
//! Rules are as in ROS 2. A name is expanded first, and so is `from`, in the namespace of the node
//! that uses the name: so `chatter`, `/ns/chatter` and `~/x` match however either is written. The
//! first rule that matches decides, and rules do not chain. `rostopic://` or `rosservice://` before
//! `from` restricts a rule to one kind. A node's name is remapped first, then its namespace, then
//! the rest, so `old:__ns:=/x` does not match a node that another rule has renamed. The node before
//! a rule is a name, in any namespace, or (not in ROS 2) a fully qualified name. Wildcards are
//! refused, as by rcl.
//!
//! # Precedence of parameters
//! A later source in this list overrides the earlier ones: the default in the declaration; the
//! arguments in the environment's `RINGSPIN_ROS_ARGS`; those on the command line. Of several
//! arguments the later one wins, and within a file the later line: whether it names the node or
//! matches it with a wildcard does not matter. (rclcpp instead orders by the first mention of a
//! pattern, which makes `-p` lose against a file that names the node.) Of several remapping rules
//! the first one wins, those of the command line before those of the environment.
//!
//! # Parameter files
//! As in ROS 2: below each node, `ros__parameters` and nested names, which are joined by dots. A
//! node is a fully qualified name, the first slash of which may be missing; in it, `*` stands for
//! one token and `**` for any number. Values are typed by rcl's rules, under which `yes`, `no`,
//! `on` and `off` are bools, `0x1f` is hexadecimal and `017` octal; lists have elements of one
//! type; of tags, `!!str` is known; aliases are refused. A file has at most 4 MiB, 65536
//! parameters, 32 levels and names of 255 bytes. A name twice in one place, and a number that does
//! not fit its type, are errors, where rcl takes the last one or another type.

mod code;
mod file;
mod node_pattern;
mod overrides;
mod parse;
mod remap;
mod texts;

use crate::base::error::Result;
pub(crate) use node_pattern::NodePattern;
pub(crate) use overrides::Override;
pub(crate) use remap::RemapRule;

/// The parameter's name in ROS 2.
pub(crate) const USE_SIM_TIME: &str = "use_sim_time";

/// The environment variable with ROS arguments, split like a shell does.
const VARIABLE: &str = "RINGSPIN_ROS_ARGS";

/// A log level of ROS 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// Information for an operator; ROS 2's default.
    Info,
    /// An unwanted condition that does not keep the program from working.
    Warn,
    /// An error of an operation.
    Error,
    /// An error that ends the program.
    Fatal,
}

impl LogLevel {
    /// The name of the level in the `tracing` ecosystem, as a `tracing_subscriber` filter parses
    /// it; fatal errors are errors there.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error | Self::Fatal => "error",
        }
    }
}

/// Parsed ROS arguments.
///
/// ```
/// use ringspin_executor::{Arguments, Graph, QoS};
///
/// let line = ["--fast", "--ros-args", "-r", "chatter:=/radio", "-p", "gain:=2.5"];
/// let (arguments, rest) = Arguments::parse(line)?;
/// assert_eq!(rest, ["--fast"]);
/// let graph = Graph::new();
/// graph.set_arguments(arguments);
/// let node = graph.create_node("talker", ())?;
/// assert_eq!(node.create_publisher::<String>("chatter", QoS::default())?.topic(), "/radio");
/// assert_eq!(node.declare_parameter("gain", 1.0)?.get(), 2.5);
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    pub(crate) rules: Vec<RemapRule>,
    /// Sorted from weak to strong.
    pub(crate) overrides: Vec<Override>,
    log_level: Option<LogLevel>,
    /// Sorted from weak to strong.
    for_rcl: Vec<String>,
}

impl Arguments {
    /// Reads the ROS arguments out of `args`, the parameter files among them, and returns the other
    /// arguments, for the application. The program's name may be the first of `args`; it is left,
    /// too.
    ///
    /// # Errors
    /// The error names the argument, and for a file the line.
    pub fn parse<A: Into<String>>(
        args: impl IntoIterator<Item = A>,
    ) -> Result<(Self, Vec<String>)> {
        parse::parse(args.into_iter().map(Into::into), "")
    }

    /// The ROS arguments in the environment: `RINGSPIN_ROS_ARGS`, for example
    /// `-p gain:=2.5 -r 'chatter:=/radio'`; none if it is not set. `--ros-args` before them may be
    /// left out. Quotes and backslashes are read like in a shell.
    ///
    /// # Errors
    /// Fails for an unknown or malformed argument, an unreadable parameter file, or a variable that
    /// is not Unicode; the error names the argument, and for a file the line.
    pub fn from_env() -> Result<Self> {
        match std::env::var_os(VARIABLE) {
            None => Ok(Self::default()),
            Some(text) => {
                Self::parse_variable(text.to_str().ok_or_else(|| texts::not_unicode(&text))?)
            }
        }
    }

    fn parse_variable(text: &str) -> Result<Self> {
        let unbalanced = || {
            let fault = "a quote is not closed, or a backslash ends it";
            texts::parse(format!("{VARIABLE}={text}: {fault}"))
        };
        let words = shlex::split(text).ok_or_else(unbalanced)?;
        let flag = std::iter::once(String::from("--ros-args"));
        let (arguments, rest) = parse::parse(flag.chain(words), VARIABLE)?;
        match rest.into_iter().next() {
            None => Ok(arguments),
            Some(argument) => Err(texts::unknown(&argument)),
        }
    }

    /// The ROS arguments of the environment, overridden by those of the command line; and the
    /// arguments of the command line for the application, with the program's name before them.
    ///
    /// # Errors
    /// Fails for an unknown or malformed argument, an unreadable parameter file, or an argument
    /// that is not Unicode; the error names the argument, and for a file the line.
    pub fn from_args_and_env() -> Result<(Self, Vec<String>)> {
        let unicode = |argument: std::ffi::OsString| {
            argument.into_string().map_err(|argument| texts::not_unicode(&argument))
        };
        let args = std::env::args_os().map(unicode).collect::<Result<Vec<_>, _>>()?;
        let (arguments, rest) = Self::parse(args)?;
        Ok((Self::from_env()?.overridden_by(arguments), rest))
    }

    /// These arguments, with `stronger` ones winning over them.
    #[must_use]
    pub fn overridden_by(mut self, mut stronger: Self) -> Self {
        // The first matching rule wins, but the last matching parameter.
        stronger.rules.append(&mut self.rules);
        self.overrides.append(&mut stronger.overrides);
        self.for_rcl.append(&mut stronger.for_rcl);
        self.log_level = stronger.log_level.or(self.log_level);
        Self { rules: stronger.rules, ..self }
    }

    /// The last `--log-level` that named no logger. ringspin logs through `tracing`, and the
    /// application installs the filter: this is the level that the user asked for.
    pub fn log_level(&self) -> Option<LogLevel> {
        self.log_level
    }

    /// The arguments about logging and the security enclave as they were given, for rcl: they have
    /// no effect within a process.
    ///
    /// ```
    /// # use ringspin_executor::Arguments;
    /// let given = ["--ros-args", "--log-level", "radio:=debug", "-r", "chatter:=/radio"];
    /// let (arguments, _) = Arguments::parse(given)?;
    /// assert_eq!(arguments.for_rcl(), ["--log-level", "radio:=debug"]);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn for_rcl(&self) -> &[String] {
        &self.for_rcl
    }
}

#[cfg(test)]
mod tests;
