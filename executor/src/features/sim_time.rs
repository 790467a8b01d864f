//! The source of a graph's time: the parameter `use_sim_time`, and `/clock`.
//!
//! A thread that sets `use_sim_time`, or starts the executor, changes the state here under its
//! lock; the follower, which the middleware provides, sets the [`RosClock`]; workers read that
//! clock only. All nodes share one time, because the timers of a worker are in one order: with a
//! time for each node, as in ROS 2, deadlines of one worker could not be compared. After a switch
//! to real time the follower is dropped without the lock, because its drop waits for its thread.

mod parameter;

use crate::base::arguments::USE_SIM_TIME;
use crate::base::lock::lock;
use crate::base::parameter_value::ParameterValue;
use crate::base::ros_clock::RosClock;
use crate::base::time::{Clock, Time};
use crate::features::middleware::Middleware;
use crate::running::graph::{Graph, GraphBuilder};
use std::any::Any;
use std::sync::{Arc, Mutex};

/// The source of a graph's time, which all its nodes share.
#[derive(Default)]
pub(crate) struct SimTime(Mutex<State>);

#[derive(Default)]
struct State {
    follows: bool,
    /// Known once the first node is created.
    middleware: Option<Arc<dyn Middleware>>,
    /// Known once the graph is frozen.
    clock: Option<Arc<RosClock>>,
    /// Sets the clock until it is dropped.
    follower: Option<Box<dyn Any + Send + Sync>>,
}

impl State {
    fn start_following(&mut self) -> Result<(), String> {
        let Some(clock) = self.clock.as_ref().filter(|_| self.follower.is_none()) else {
            return Ok(());
        };
        let Some(middleware) = &self.middleware else {
            return Err("there is no middleware that brings one".into());
        };
        match middleware.follow_clock(clock.clone()) {
            Ok(Some(follower)) => self.follower = Some(follower),
            Ok(None) => return Err(format!("{} brings none", middleware.name())),
            Err(error) => return Err(format!("{}: {error}", middleware.name())),
        }
        Ok(())
    }
}

impl SimTime {
    /// The time for stamps of the graph's own messages; `None` for real time.
    pub(crate) fn now(&self) -> Option<Time> {
        let state = lock(&self.0);
        let now = || state.clock.as_ref().map_or(Time::ZERO, |clock| clock.now());
        state.follows.then(now)
    }

    /// Whether time is, or is to be, that of `/clock`.
    pub(crate) fn is_followed(&self) -> bool {
        lock(&self.0).follows
    }

    /// Prepares a switch, which then does not fail.
    pub(crate) fn prepare(&self, follows: bool) -> Result<(), String> {
        match follows {
            true => lock(&self.0).start_following(),
            false => Ok(()),
        }
    }

    /// Switches to `/clock` or back to real time.
    pub(crate) fn switch(&self, follows: bool) {
        let mut state = lock(&self.0);
        state.follows = follows;
        if let Some(clock) = &state.clock {
            clock.follow(follows);
        }
        let ended = if follows { None } else { state.follower.take() };
        drop(state);
        drop(ended); // waits for its thread
    }

    /// Ends the follower of `/clock`, and forgets the middleware.
    pub(crate) fn end(&self) {
        let ended = std::mem::take(&mut *lock(&self.0));
        lock(&self.0).follows = ended.follows;
    }
}

/// The time of a graph while it is built.
#[derive(Default)]
struct GraphTime {
    /// Whether [`Graph::use_sim_time`] chose `/clock`; if not, the arguments decide.
    is_used: bool,
    /// The source of time; chosen when the first node is created, or the graph is frozen.
    sim_time: Arc<SimTime>,
}

/// The parameters of the nodes share the time, and may outlive the graph.
impl Drop for GraphTime {
    fn drop(&mut self) {
        self.sim_time.end();
    }
}

impl GraphBuilder {
    /// Whether the arguments ask for it, for any node.
    fn is_asked_for_sim_time(&self) -> bool {
        let mut asked = self.overrides().iter().filter(|given| given.parameter == USE_SIM_TIME);
        asked.next_back().is_some_and(|given| given.value == ParameterValue::Bool(true))
    }

    fn wants_clock(&self) -> bool {
        self.look::<GraphTime>().is_some_and(|time| time.is_used) || self.is_asked_for_sim_time()
    }

    /// The source of time; chosen by this call unless it was chosen before.
    pub(crate) fn sim_time(&mut self) -> &Arc<SimTime> {
        let middleware = self.middleware().cloned();
        let follows = self.receives() && self.wants_clock();
        let sim_time = &self.feature::<GraphTime>().sim_time;
        let mut state = lock(&sim_time.0);
        if state.middleware.is_none() {
            state.middleware = middleware;
            state.follows = follows;
        }
        drop(state);
        sim_time
    }
}

impl Graph {
    /// Switches the graph's time to that of `/clock`, like parameter `use_sim_time` of any node.
    /// Nodes have the parameter when a middleware is connected that may bring a `/clock`.
    pub fn use_sim_time(&self) {
        let mut builder = self.builder();
        builder.feature::<GraphTime>().is_used = true;
        if builder.receives() && !builder.is_frozen() {
            builder.sim_time().switch(true);
        }
    }

    /// Whether the graph's time was to be that of `/clock` at the start, because
    /// [`use_sim_time`](Self::use_sim_time) was called or because the last `use_sim_time` of the
    /// [arguments](Self::set_arguments), for whatever node, is true.
    ///
    /// All nodes have one time, in contrast to ROS 2, where each has its own.
    pub fn wants_clock(&self) -> bool {
        self.builder().wants_clock()
    }

    /// Lets the graph's `clock` follow `/clock` whenever the graph does, which parameter
    /// `use_sim_time` of any node changes. With `follows` it does so from the start.
    ///
    /// # Errors
    /// The reason why `/clock` cannot be followed.
    pub fn switch_clock(&self, clock: &Arc<RosClock>, follows: bool) -> Result<(), String> {
        let sim_time = self.builder().sim_time().clone();
        let follows = follows || sim_time.is_followed();
        lock(&sim_time.0).clock = Some(clock.clone());
        sim_time.prepare(follows)?;
        sim_time.switch(follows);
        Ok(())
    }
}
