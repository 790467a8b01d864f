//! Parameter `use_sim_time` of each node: it shows and switches the time of the whole graph.

use super::SimTime;
use crate::base::arguments::USE_SIM_TIME;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parameter_value::ParameterValue;
use crate::features::parameter::{
    AnyEntry, ParameterBuilder, ParameterDescriptor, RefusedByConstraint, check,
};
use crate::running::node::NodeHandle;
use std::sync::Arc;

struct UseSimTime {
    descriptor: ParameterDescriptor,
    sim_time: Arc<SimTime>,
}

impl AnyEntry for UseSimTime {
    fn descriptor(&self) -> &ParameterDescriptor {
        &self.descriptor
    }

    fn value(&self) -> ParameterValue {
        ParameterValue::Bool(self.sim_time.is_followed())
    }

    /// Prepares the switch, so that setting the parameter fails only if `/clock` does.
    fn check(&self, node: &str, value: &ParameterValue) -> Result<()> {
        let follows = check::<bool>(&self.descriptor, None, node, value)?;
        self.sim_time.prepare(follows).map_err(|reason| {
            let parameter = &self.descriptor.name;
            let text = format!(
                "node {node}: parameter `{parameter}` cannot be {value}: time cannot be that of \
                 /clock, because {reason}"
            );
            let error = Error::new(ErrorKind::InvalidArgument, text).in_node(node);
            error.caused_by(RefusedByConstraint(reason))
        })
    }

    fn store(&self, value: &ParameterValue) {
        self.sim_time.switch(*value == ParameterValue::Bool(true));
    }
}

impl NodeHandle {
    /// Declares the parameter, as every node of ROS 2 has it.
    pub(crate) fn declare_use_sim_time(&self) -> Result<()> {
        let sim_time = self.graph.builder().sim_time().clone();
        let follows = sim_time.is_followed();
        let description = "whether time is that of /clock; one for all nodes of the program";
        let builder: ParameterBuilder<bool> =
            self.parameter(USE_SIM_TIME).default(follows).description(description);
        let asked = builder.initial_value()?;
        if asked != follows {
            tracing::warn!(
                node = self.full_name,
                "use_sim_time is {asked} for this node, but {follows} for the executor; all \
                 nodes have one time: give all of them the same value"
            );
        }
        let entry = UseSimTime { descriptor: builder.descriptor, sim_time };
        self.node_parameters().add(Arc::new(entry));
        Ok(())
    }
}
