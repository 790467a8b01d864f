//! Parameters: typed values of a node that can be overridden at the start and changed while it
//! runs.
//!
//! A node declares its parameters while the graph is built; an override from the command line, the
//! environment or a file (see [`Arguments`](crate::Arguments)) then takes the place of the default.
//! A value can be read from any thread at any time, and set through [`Parameter`] or
//! [`ParameterClient`]. Each set is checked before anything changes, is done as a whole, and then
//! is an event of every callback that asked for changes ([`Node::on_parameter_change`]): it has an
//! identity, waits its turn in the event loop, and is part of the deterministic order.
//!
//! An `Option` is a parameter without a value or with one. A [`ParameterValue`] takes values of any
//! type, and so does a parameter that was set without a declaration, which a node may
//! [allow](crate::Node::allow_undeclared_parameters).
//!
//! As in rclcpp: other types never change; an integer does not become a double; a read-only
//! parameter can be overridden but not set; setting the same value again is a change, too. Unlike
//! rclcpp: a constraint may read and even set other parameters, because no lock is held while it
//! runs; NaN is outside of every range; an override of an undeclared parameter is reported when the
//! graph is frozen.
//!
//! [`Node::on_parameter_change`]: crate::Node::on_parameter_change

mod builder;
mod change;
mod client;
mod descriptor;
mod table;
mod undeclared;

pub use crate::base::parameter_value::{Dynamic, ParameterType, ParameterValue, ParameterVariant};
pub use builder::{ParameterBuilder, Ranged};
pub use change::{PARAMETER_CHANGES_MAX, ParameterCallback, ParameterChange};
pub use client::{Parameter, ParameterClient, ParameterInfo};
pub use descriptor::{ParameterDescriptor, ParameterRange};
pub(crate) use table::{AnyEntry, NodeParameters, ParameterObserver, check};
pub use table::{ParameterEventKind, RefusedByConstraint};

#[cfg(test)]
mod tests;
