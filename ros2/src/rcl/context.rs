//! The connection of a process to the middleware.

use super::entity::{Entity, c_name};
use super::error::{check, forget};
use super::fast_dds::{self, Participant, Profile, Settings};
use super::ffi;
use super::{lock, logging};
use ringspin_executor::{Error, ErrorKind};
use std::cell::UnsafeCell;
use std::ffi::{CString, c_char, c_int};
use std::sync::{Arc, OnceLock};

/// How far a context looks for peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// The range of `ROS_AUTOMATIC_DISCOVERY_RANGE` and `ROS_LOCALHOST_ONLY`.
    #[default]
    Environment,
    /// This machine only.
    LocalHost,
}

/// Differences to a plain [`Context::new`].
#[derive(Clone, Debug)]
pub struct ContextOptions {
    /// The domain; `None` for the one that `ROS_DOMAIN_ID` says, or 0.
    pub domain: Option<usize>,
    /// How far to look for peers.
    pub reach: Reach,
    /// Whether log messages are written to the terminal.
    pub console: bool,
    /// Whether log messages are written to files in `~/.ros/log`.
    pub log_files: bool,
}

impl Default for ContextOptions {
    /// All as the environment and rcl say; logs go to the terminal, and to files, as in ROS 2.
    fn default() -> Self {
        Self { domain: None, reach: Reach::Environment, console: true, log_files: true }
    }
}

/// The connection of a process to the middleware, with its ROS arguments. Cheap to clone.
///
/// With Fast DDS it is, from its first node on, one domain participant and its threads. The last
/// clone that is dropped, its nodes and their entities included, shuts it down.
#[derive(Clone)]
pub struct Context {
    pub(super) handle: Arc<ContextHandle>,
}

impl Context {
    /// Connects, with `arguments` as for a ROS program: arguments after `--ros-args` count.
    ///
    /// # Errors
    /// For malformed ROS arguments or `ROS_DOMAIN_ID`. Whether the middleware can start shows with
    /// the first node.
    pub fn new(arguments: &[String]) -> Result<Self, Error> {
        Self::with_options(arguments, &ContextOptions::default())
    }

    /// Like [`new`](Self::new), with `options`.
    ///
    /// Logging belongs to the process: of several contexts, the first decides where it goes.
    ///
    /// # Errors
    /// For malformed ROS arguments or `ROS_DOMAIN_ID`.
    pub fn with_options(arguments: &[String], options: &ContextOptions) -> Result<Self, Error> {
        Self::with_profile(arguments, options, Profile::default())
    }

    /// Like [`with_options`](Self::with_options), with other settings of Fast DDS than the default
    /// ones.
    ///
    /// # Errors
    /// For malformed ROS arguments or `ROS_DOMAIN_ID`.
    pub fn with_profile(
        arguments: &[String],
        options: &ContextOptions,
        profile: Profile,
    ) -> Result<Self, Error> {
        let mut arguments = arguments.to_vec();
        let mut switch = |on: bool, name: &str| {
            if !on {
                arguments.extend(["--ros-args".into(), name.into(), "--".into()]);
            }
        };
        switch(options.console, "--disable-stdout-logs");
        switch(options.log_files, "--disable-external-lib-logs");
        let arguments = arguments.iter().map(|argument| c_name("argument", argument));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let handle = ContextHandle::new(&arguments, options, profile)?;
        Ok(Self { handle: Arc::new(handle) })
    }

    /// Whether it has not been shut down.
    pub fn is_valid(&self) -> bool {
        // SAFETY: the context is initialized until it is dropped; the function reads an atomic.
        unsafe { ffi::rcl_context_is_valid(self.handle.pointer()) }
    }

    /// The settings that Fast DDS has from it; `None` where Fast DDS is not the middleware, or has
    /// a profile of the user's.
    pub fn profile(&self) -> Option<Profile> {
        self.handle.settings.map(|settings| settings.profile)
    }

    /// The domain that it is in.
    pub fn domain(&self) -> usize {
        domain_of(self.handle.pointer())
    }

    /// Shuts it down: its entities stay, but their operations fail from now on. A second time does
    /// nothing.
    ///
    /// # Errors
    /// Where the middleware cannot.
    pub fn shutdown(&self) -> Result<(), Error> {
        let _lock = lock::entities();
        if !self.is_valid() {
            return Ok(());
        }
        // SAFETY: the context is initialized, and the lock keeps out a second shutdown.
        let code = unsafe { ffi::rcl_shutdown(self.handle.pointer()) };
        check(code, "shut down", &Entity::plain("the context"))
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let valid = self.is_valid();
        f.debug_struct("Context").field("domain", &self.domain()).field("valid", &valid).finish()
    }
}

/// rcl's context, at an address that stays: nodes point to it.
pub(super) struct ContextHandle {
    context: Box<UnsafeCell<ffi::rcl_context_t>>,
    /// The settings that Fast DDS gets for it.
    pub(super) settings: Option<Settings>,
    /// Which publishers are its own, from the first one on: in Fast DDS.
    pub(super) participant: OnceLock<Participant>,
}

// SAFETY: rcl's context is separate memory without ties to a thread.
unsafe impl Send for ContextHandle {}
// SAFETY: it changes in `new` and `drop`, which have it to themselves, and in `shutdown`, under the
// lock for entities; rcl reads only atomics of it meanwhile.
unsafe impl Sync for ContextHandle {}

impl ContextHandle {
    fn new(
        arguments: &[CString],
        options: &ContextOptions,
        profile: Profile,
    ) -> Result<Self, Error> {
        let _lock = lock::entities();
        let entity = Entity::plain("the context");
        // SAFETY: makes an empty value.
        let empty = unsafe { ffi::rcl_get_zero_initialized_context() };
        let context = Box::new(UnsafeCell::new(empty));
        initialize(context.get(), arguments, options, &entity)?;
        let ready =
            check_domain(domain_of(context.get())).and_then(|()| logging::configure(context.get()));
        if let Err(error) = ready {
            // SAFETY: it was initialized, and nothing knows it yet.
            unsafe { finish(context.get()) };
            return Err(error);
        }
        // SAFETY: it is initialized, and has no node yet.
        let settings = unsafe { fast_dds::settle(context.get(), profile) };
        Ok(Self { context, settings, participant: OnceLock::new() })
    }

    pub(super) fn pointer(&self) -> *mut ffi::rcl_context_t {
        self.context.get()
    }
}

impl Drop for ContextHandle {
    fn drop(&mut self) {
        let _lock = lock::entities();
        logging::release();
        // SAFETY: this is the last owner; every node holds one, so all of them have been dropped.
        unsafe { finish(self.context.get()) };
    }
}

/// The domain of a context that is initialized.
fn domain_of(context: *mut ffi::rcl_context_t) -> usize {
    let mut domain = 0;
    // SAFETY: the context is initialized, and `domain` outlives the call, which can only fail for
    // an uninitialized context.
    unsafe { ffi::rcl_context_get_domain_id(context, &mut domain) };
    domain
}

/// Refuses domains for which Fast DDS would end the process.
fn check_domain(domain: usize) -> Result<(), Error> {
    const MAX: usize = 232;
    match domain > MAX && fast_dds::is_used() {
        true => Err(Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "domain {domain} has no ports; choose one from 0 to {MAX}, on Linux best up to 101"
            ),
        )),
        false => Ok(()),
    }
}

/// Calls rcl_init.
fn initialize(
    context: *mut ffi::rcl_context_t,
    arguments: &[CString],
    options: &ContextOptions,
    entity: &Entity,
) -> Result<(), Error> {
    let mut pointers: Vec<*const c_char> = arguments.iter().map(|a| a.as_ptr()).collect();
    let count = pointers.len() as c_int;
    pointers.push(std::ptr::null());
    // rcl wants no array where there are no arguments.
    let pointers = if count == 0 { std::ptr::null() } else { pointers.as_ptr() };
    // SAFETY: the options are initialized before they are used and freed after; rcl_init copies
    // them and the arguments, which outlive the call. `context` is zero-initialized, as it wants.
    unsafe {
        let mut init = ffi::rcl_get_zero_initialized_init_options();
        let code = ffi::rcl_init_options_init(&mut init, ffi::rcutils_get_default_allocator());
        check(code, "prepare", entity)?;
        if let Some(domain) = options.domain {
            // Cannot fail for options that are initialized.
            ffi::rcl_init_options_set_domain_id(&mut init, domain);
        }
        if options.reach == Reach::LocalHost {
            let rmw = ffi::rcl_init_options_get_rmw_init_options(&mut init);
            (*rmw).discovery_options.automatic_discovery_range =
                ffi::rmw_automatic_discovery_range_e::RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
        }
        let code = ffi::rcl_init(count, pointers, &init, context);
        let result = check(code, "initialize", entity);
        ffi::rcl_init_options_fini(&mut init);
        result
    }
}

/// Shuts down, if that was not done, and frees.
///
/// # Safety
/// `context` is initialized, nothing uses it, and nothing will.
unsafe fn finish(context: *mut ffi::rcl_context_t) {
    // SAFETY: as the caller promises.
    unsafe {
        if ffi::rcl_context_is_valid(context) {
            ffi::rcl_shutdown(context);
        }
        ffi::rcl_context_fini(context);
    }
    forget();
}
