//! `use_sim_time`: whether a graph's time is that of `/clock`.

use crate::graph::{CreateNodeError, Graph, GraphBuilder};
use crate::node::Node;
use crate::parameter::ParameterValue;

/// The parameter's name in ROS 2.
pub(crate) const USE_SIM_TIME: &str = "use_sim_time";

impl GraphBuilder {
    /// Whether the arguments ask for it, for any node.
    fn is_asked_for_sim_time(&self) -> bool {
        let mut asked =
            self.arguments.overrides.iter().filter(|given| given.parameter == USE_SIM_TIME);
        asked.next_back().is_some_and(|given| given.value == ParameterValue::Bool(true))
    }

    fn wants_clock(&self) -> bool {
        self.uses_sim_time || self.is_asked_for_sim_time()
    }

    /// Whether time is that of `/clock`: it was asked for, and can be had.
    pub(crate) fn follows_clock(&self) -> bool {
        let receives = self.middleware.as_ref().is_some_and(|middleware| middleware.receives());
        receives && self.wants_clock()
    }
}

impl Graph {
    /// Has every node that is created from now on say by its parameter `use_sim_time` that its time
    /// is that of `/clock`. That it is so, is up to the runner of the graph. Nodes have the
    /// parameter when a middleware is connected that may bring a `/clock`.
    pub fn use_sim_time(&self) {
        self.builder().uses_sim_time = true;
    }

    /// Whether the graph's time is to be that of `/clock`, because
    /// [it was said](Self::use_sim_time) or because the last `use_sim_time` of the
    /// [arguments](Self::set_arguments), for whatever node, is true.
    ///
    /// All nodes have one time, in contrast to ROS 2, where each has its own.
    pub fn wants_clock(&self) -> bool {
        self.builder().wants_clock()
    }

    /// Whether the graph's time [is to be](Self::wants_clock) that of `/clock`, and there is a
    /// middleware that may bring it.
    pub fn follows_clock(&self) -> bool {
        self.builder().follows_clock()
    }
}

impl<S: Send + 'static> Node<S> {
    /// Declares the parameter, as every node of ROS 2 has it. Read-only: workers and timers run by
    /// one clock from the start.
    pub(crate) fn declare_use_sim_time(&self, follows_clock: bool) -> Result<(), CreateNodeError> {
        let parameter = self.parameter(USE_SIM_TIME).default(follows_clock).read_only();
        let description = "whether time is that of /clock; decided for all nodes of the program \
                           when it starts, by --ros-args -p use_sim_time:=true";
        let is_set = parameter.description(description).declare();
        let is_set = is_set.map_err(|error| CreateNodeError::Parameter(error.to_string()))?.get();
        if is_set != follows_clock {
            tracing::warn!(
                node = self.full_name(),
                "use_sim_time is {is_set} here, but {follows_clock} for the executor, whose nodes \
                 have one time: give all of them the same value"
            );
        }
        Ok(())
    }
}
