//! Parameters of nodes.
//!
//! The values are parameters of the node in the graph, which checks types, ranges and constraints,
//! applies overrides, and serves them over ROS 2. Code here translates: a declaration selects the
//! initial value by the rules of rclrs and hands it to the graph; a handle owns the parameter and
//! removes it when it is dropped.
//!
//! All values cross the border as values of a type that is known at run time, because an
//! application may implement [`ParameterVariant`] for its types. A mandatory or read-only
//! parameter is a [`Value`](ringspin::parameter::ParameterValue) there, an optional one an `Option`
//! of it.

mod builder;
mod handles;
mod range;
mod subscription;
mod value;

pub use builder::{
    AvailableValues, ParameterBuilder, ParameterOptions, default_initial_value_discriminator,
};
pub use handles::{MandatoryParameter, OptionalParameter, ReadOnlyParameter};
pub use range::{ParameterRange, ParameterRanges};
pub use subscription::ParameterSubscription;
pub use value::{ParameterKind, ParameterValue, ParameterVariant, RmwParameterConversionError};

use crate::error::{ParameterValueError, RclReturnCode, RclrsError};
use crate::node::NodeState;
use ringspin::parameter::ParameterClient;
use std::marker::PhantomData;
use std::sync::Arc;

/// All parameters of a node, by their names; also those that are not declared.
///
/// Created by [`NodeState::use_undeclared_parameters`].
pub struct Parameters<'a> {
    parameters: ParameterClient,
    _of: PhantomData<&'a NodeState>,
}

impl Parameters<'_> {
    /// Returns the value of a parameter; `None` if there is no such parameter, if it has no value,
    /// or one of another type.
    pub fn get<T: ParameterVariant>(&self, name: &str) -> Option<T> {
        value::typed(self.parameters.get(name).ok()?)
    }

    /// Sets a parameter. One that is not declared takes values of any type.
    ///
    /// # Errors
    /// The reason of the refusal: also [`ParameterValueError::ValidationFailed`] with a text for a
    /// name that ROS 2 does not allow.
    pub fn set<T: ParameterVariant>(
        &self,
        name: impl Into<Arc<str>>,
        value: T,
    ) -> Result<(), ParameterValueError> {
        let value: ParameterValue = value.into();
        let set = self.parameters.set(&name.into(), value.to_graph());
        set.map_err(|error| ParameterValueError::of(&error))
    }
}

impl NodeState {
    /// Begins the declaration of a parameter.
    ///
    /// ```
    /// # use rclrs::{Context, CreateBasicExecutor, ParameterRange};
    /// # let executor = Context::default().create_basic_executor();
    /// # let node = executor.create_node("pilot")?;
    /// let range = ParameterRange { lower: Some(0.0), upper: Some(3.0), step: Some(0.5) };
    /// let speed = node.declare_parameter("speed").default(1.5).range(range).mandatory()?;
    /// assert!(speed.set(3.5).is_err());
    /// assert_eq!(speed.get(), 1.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn declare_parameter<'a, T: ParameterVariant + 'a>(
        &'a self,
        name: impl Into<Arc<str>>,
    ) -> ParameterBuilder<'a, T> {
        ParameterBuilder::new(self, name.into())
    }

    /// Allows to set parameters that are not declared, from now on, also over ROS 2. Returns access
    /// to all parameters.
    pub fn use_undeclared_parameters(&self) -> Parameters<'_> {
        let node = &self.event_loop.node;
        node.allow_undeclared_parameters();
        Parameters { parameters: node.parameters(), _of: PhantomData }
    }

    /// Offers the services, and adds the parameter that a node over ROS 2 has from the graph.
    ///
    /// Without ROS 2, parameter `use_sim_time` shows its override and changes nothing.
    ///
    /// # Errors
    /// [`RclReturnCode::InvalidRosArgs`] for an override of `use_sim_time` that is not a bool.
    pub(crate) fn start_parameters(&self, with_services: bool) -> Result<(), RclrsError> {
        if !self.event_loop.app.is_over_ros2() {
            let node = &self.event_loop.node;
            let declared = node.parameter("use_sim_time").default(false).read_only().declare();
            declared.map_err(|error| RclrsError::of(RclReturnCode::InvalidRosArgs, error))?;
        }
        if with_services {
            let offered = self.parameter_services.offer(&self.event_loop);
            offered.map_err(|error| RclrsError::of(RclReturnCode::Error, error))?;
        }
        Ok(())
    }
}
