//! Errors of creating services and clients.

use crate::graph::{AddError, DepthError, MiddlewareError, TooLargeError, TypeMismatchError};
use crate::name::NameError;
use thiserror::Error;

/// The reason why a client was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CreateClientError {
    /// The service name is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The service has other types.
    #[error(transparent)]
    TypeMismatch(#[from] Box<TypeMismatchError>),
    /// The depth is out of range.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// Requests or responses are too large.
    #[error(transparent)]
    TooLarge(#[from] TooLargeError),
    /// The middleware refuses it.
    #[error(transparent)]
    Middleware(#[from] MiddlewareError),
    /// The node or the executor is gone, or its worker is full.
    #[error(transparent)]
    Add(#[from] AddError),
}

/// The reason why a service was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CreateServiceError {
    /// The service name is not one that ROS 2 allows.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The service has other types.
    #[error(transparent)]
    TypeMismatch(#[from] Box<TypeMismatchError>),
    /// The service has a server.
    #[error(
        "failed to offer service {service} in node {node}: node {by} offers it; use another name"
    )]
    Duplicate {
        /// The fully qualified service name.
        service: String,
        /// The node that offers it.
        by: String,
        /// The node whose request was refused.
        node: String,
    },
    /// The depth is out of range.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// Requests or responses are too large.
    #[error(transparent)]
    TooLarge(#[from] TooLargeError),
    /// The middleware refuses it.
    #[error(transparent)]
    Middleware(#[from] MiddlewareError),
    /// The node or the executor is gone, or its worker is full.
    #[error(transparent)]
    Add(#[from] AddError),
}
