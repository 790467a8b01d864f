//! The API of r2r 0.8 where it differs from that of 0.9.7, for applications that require `^0.8`:
//!
//! ```toml
//! [patch.crates-io]
//! r2r = { path = ".../ringspin/r2r/.0.8" }
//! ```
//!
//! Services and clients have no QoS there, and [`Node::is_available`] is a method.

#![forbid(unsafe_code)]

pub use r2r_0_9::*;

use futures::Stream;
use std::future::Future;
use std::ops::{Deref, DerefMut};

/// A node of 0.9.7, with services and clients as in 0.8.
#[derive(Debug)]
pub struct Node(r2r_0_9::Node);

impl Node {
    /// Creates a node.
    ///
    /// # Errors
    /// [`Error::RCL_RET_NODE_INVALID_NAME`] for a name that ROS 2 does not allow; another one if
    /// arguments of the command line give two nodes one name.
    pub fn create(ctx: Context, name: &str, namespace: &str) -> Result<Self> {
        r2r_0_9::Node::create(ctx, name, namespace).map(Self)
    }

    /// A future that waits until the service or action of `client` has a server.
    ///
    /// # Errors
    /// [`Error::RCL_RET_CLIENT_INVALID`] once that node is destroyed.
    pub fn is_available(
        &mut self,
        client: &dyn IsAvailablePollable,
    ) -> Result<impl Future<Output = Result<()>> + Unpin + use<>> {
        r2r_0_9::Node::is_available(client)
    }

    /// Creates a server of a service.
    ///
    /// # Errors
    /// [`Error::RCL_RET_SERVICE_NAME_INVALID`]; another one for a service that has a server in this
    /// process, or another type.
    pub fn create_service<T: WrappedServiceTypeSupport>(
        &mut self,
        service_name: &str,
    ) -> Result<impl Stream<Item = ServiceRequest<T>> + Unpin + use<T>> {
        self.0.create_service(service_name, QosProfile::services_default())
    }

    /// Creates a client of a service.
    ///
    /// # Errors
    /// [`Error::RCL_RET_SERVICE_NAME_INVALID`]; another one for a service of another type.
    pub fn create_client<T: WrappedServiceTypeSupport>(
        &mut self,
        service_name: &str,
    ) -> Result<Client<T>> {
        self.0.create_client(service_name, QosProfile::services_default())
    }

    /// Creates a client of a service with a type that is known by name.
    ///
    /// # Errors
    /// [`Error::InvalidMessageType`] for an unknown type, [`Error::RCL_RET_SERVICE_NAME_INVALID`];
    /// another one for a service of another type.
    pub fn create_client_untyped(
        &mut self,
        service_name: &str,
        service_type: &str,
    ) -> Result<ClientUntyped> {
        self.0.create_client_untyped(service_name, service_type, QosProfile::services_default())
    }
}

impl Deref for Node {
    type Target = r2r_0_9::Node;

    fn deref(&self) -> &r2r_0_9::Node {
        &self.0
    }
}

impl DerefMut for Node {
    fn deref_mut(&mut self) -> &mut r2r_0_9::Node {
        &mut self.0
    }
}
