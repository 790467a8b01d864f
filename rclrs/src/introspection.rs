//! Introspection of services, which is accepted and has no events.

use crate::app::LIBRARY;
use crate::client::ClientState;
use crate::error::RclrsError;
use crate::log_warn;
use crate::service::ServiceState;
use crate::worker::WorkScope;
use rosidl_runtime_rs::Service as ServiceIDL;

/// The part of a call that a service or client publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceIntrospectionState {
    /// Nothing.
    Off,
    /// When a call was made, and by whom.
    Metadata,
    /// Its request and response as well.
    Contents,
}

impl<T: ServiceIDL, Scope: WorkScope> ServiceState<T, Scope> {
    /// Without effect: services of ringspin publish no events of their calls. The log says so.
    ///
    /// # Errors
    /// None; for the signature of rclrs.
    pub fn configure_introspection(
        &self,
        introspection_state: ServiceIntrospectionState,
    ) -> Result<(), RclrsError> {
        introspection_state.warn(&self.service_name());
        Ok(())
    }
}

impl<T: ServiceIDL> ClientState<T> {
    /// Without effect: clients of ringspin publish no events of their calls. The log says so.
    ///
    /// # Errors
    /// None; for the signature of rclrs.
    pub fn configure_introspection(
        &self,
        introspection_state: ServiceIntrospectionState,
    ) -> Result<(), RclrsError> {
        introspection_state.warn(&self.service_name());
        Ok(())
    }
}

impl ServiceIntrospectionState {
    fn warn(self, service: &str) {
        if self != Self::Off {
            log_warn!(LIBRARY, "{service} has no introspection: its calls publish no events");
        }
    }
}
