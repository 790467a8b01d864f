//! The forms that callbacks for responses can have: a type parameter `Args` tells them apart.

use crate::service::{RequestId, ServiceInfo};
use rosidl_runtime_rs::Service;
use std::future::Future;

/// A callback for a response: `FnOnce(Response)`, `FnOnce(Response, RequestId)` or
/// `FnOnce(Response, ServiceInfo)`.
pub trait ClientCallback<T: Service, Args>: Send + 'static {
    /// Calls it.
    fn run_client_callback(self, response: T::Response, info: ServiceInfo);
}

/// A callback for a response that returns a future: `FnOnce(Response) -> impl Future`, or one that
/// takes a [`RequestId`] or a [`ServiceInfo`] after the response.
pub trait ClientAsyncCallback<T: Service, Args>: Send + 'static {
    /// The future.
    type Task: Future<Output = ()> + Send;

    /// Calls it.
    fn run_client_async_callback(self, response: T::Response, info: ServiceInfo) -> Self::Task;
}

impl<T: Service, F> ClientCallback<T, ()> for F
where
    F: FnOnce(T::Response) + Send + 'static,
{
    fn run_client_callback(self, response: T::Response, _: ServiceInfo) {
        self(response);
    }
}

impl<T: Service, F> ClientCallback<T, RequestId> for F
where
    F: FnOnce(T::Response, RequestId) + Send + 'static,
{
    fn run_client_callback(self, response: T::Response, info: ServiceInfo) {
        self(response, info.request_id);
    }
}

impl<T: Service, F> ClientCallback<T, ServiceInfo> for F
where
    F: FnOnce(T::Response, ServiceInfo) + Send + 'static,
{
    fn run_client_callback(self, response: T::Response, info: ServiceInfo) {
        self(response, info);
    }
}

impl<T: Service, F, Fut> ClientAsyncCallback<T, ()> for F
where
    F: FnOnce(T::Response) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send,
{
    type Task = Fut;

    fn run_client_async_callback(self, response: T::Response, _: ServiceInfo) -> Fut {
        self(response)
    }
}

impl<T: Service, F, Fut> ClientAsyncCallback<T, RequestId> for F
where
    F: FnOnce(T::Response, RequestId) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send,
{
    type Task = Fut;

    fn run_client_async_callback(self, response: T::Response, info: ServiceInfo) -> Fut {
        self(response, info.request_id)
    }
}

impl<T: Service, F, Fut> ClientAsyncCallback<T, ServiceInfo> for F
where
    F: FnOnce(T::Response, ServiceInfo) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send,
{
    type Task = Fut;

    fn run_client_async_callback(self, response: T::Response, info: ServiceInfo) -> Fut {
        self(response, info)
    }
}
