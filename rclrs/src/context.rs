//! Contexts: arguments and options for executors.

use crate::app::App;
use crate::error::{RclReturnCode, RclrsError};
use ringspin::Arguments;
use ringspin_adapter::environment::domain_id;
use ringspin_adapter::log;
use std::sync::Arc;

/// The arguments of an application, and a factory of its executors. Cheap to clone.
///
/// Each [`Executor`](crate::Executor) has a separate graph. Topics of two executors of one process
/// meet over ROS 2, and without it in the live modes, if their contexts have the same
/// [domain](Self::domain_id). Services and actions of two executors meet over ROS 2 only.
#[derive(Clone, Debug)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    arguments: Arguments,
    domain_id: Option<usize>,
}

/// Says at compile time that an application has this crate as its rclrs.
impl ringspin::PatchedRclrs for Context {}

impl Default for Context {
    /// A context without arguments.
    fn default() -> Self {
        let inner = Inner { arguments: Arguments::default(), domain_id: None };
        Self { inner: Arc::new(inner) }
    }
}

impl Context {
    /// A context with the ROS arguments in `args`, such as `--ros-args -r chatter:=/radio`, over
    /// those of `RINGSPIN_ROS_ARGS`.
    ///
    /// # Errors
    /// [`RclReturnCode::InvalidRosArgs`] for an argument that is not valid; the text names it.
    ///
    /// ```
    /// use rclrs::{Context, InitOptions};
    /// let options = InitOptions::new().with_domain_id(Some(5));
    /// let context = Context::new(["--ros-args".into(), "-r".into(), "a:=b".into()], options)?;
    /// assert_eq!(context.domain_id(), 5);
    /// # Ok::<(), rclrs::RclrsError>(())
    /// ```
    pub fn new(
        args: impl IntoIterator<Item = String>,
        options: InitOptions,
    ) -> Result<Self, RclrsError> {
        let invalid = |error| RclrsError::of(RclReturnCode::InvalidRosArgs, error);
        let (given, _) = Arguments::parse(args).map_err(invalid)?;
        let arguments = Arguments::from_env().map_err(invalid)?.overridden_by(given);
        log::set_levels(&arguments);
        Ok(Self { inner: Arc::new(Inner { arguments, domain_id: options.domain_id }) })
    }

    /// A context with the arguments of the command line.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn from_env(options: InitOptions) -> Result<Self, RclrsError> {
        Self::new(std::env::args(), options)
    }

    /// A context with the arguments of the command line, and without options.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn default_from_env() -> Result<Self, RclrsError> {
        Self::from_env(InitOptions::default())
    }

    /// The domain: that of the options, else that of `ROS_DOMAIN_ID`, else 0.
    pub fn domain_id(&self) -> usize {
        domain_id(self.inner.domain_id)
    }

    /// Whether the context can be used: always.
    pub fn ok(&self) -> bool {
        true
    }

    /// A new graph for an executor.
    ///
    /// # Errors
    /// For variables of the environment that are not valid, and where ROS 2 refuses a connection.
    pub(crate) fn app(&self) -> ringspin::Result<Arc<App>> {
        App::new(self.inner.arguments.clone(), self.inner.domain_id)
    }
}

/// Options of a context.
#[derive(Clone, Debug, Default)]
pub struct InitOptions {
    domain_id: Option<usize>,
}

impl InitOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The options with a domain; `None` stands for that of `ROS_DOMAIN_ID`.
    #[must_use]
    pub fn with_domain_id(mut self, domain_id: Option<usize>) -> Self {
        self.domain_id = domain_id;
        self
    }

    /// Sets the domain; `None` stands for that of `ROS_DOMAIN_ID`.
    pub fn set_domain_id(&mut self, domain_id: Option<usize>) {
        self.domain_id = domain_id;
    }

    /// The domain that was set.
    pub fn domain_id(&self) -> Option<usize> {
        self.domain_id
    }
}
