//! Servers of services.

use crate::error::{Error, Result};
use crate::lock;
use crate::message::WrappedServiceTypeSupport;
use ringspin::Responder;
use ringspin_adapter::Carried;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A request to a service. Clones are the same request, which is answered once; when the last one
/// is dropped without an answer, the call ends with an error.
#[derive(Clone)]
pub struct ServiceRequest<T>
where
    T: WrappedServiceTypeSupport,
{
    /// The request.
    pub message: T::Request,
    responder: Arc<Mutex<Option<Responder<Carried>>>>,
}

impl<T: WrappedServiceTypeSupport> ServiceRequest<T> {
    pub(crate) fn new(message: T::Request, responder: Responder<Carried>) -> Self {
        Self { message, responder: Arc::new(Mutex::new(Some(responder))) }
    }

    /// Answers the request.
    ///
    /// # Errors
    /// [`Error::RCL_RET_SERVICE_INVALID`] if a clone has answered, and [`Error::SerdeError`] for a
    /// response that its definition does not allow.
    pub fn respond(self, msg: T::Response) -> Result<()> {
        let response = Carried::checked(msg)?;
        let responder = lock(&self.responder).take().ok_or(Error::RCL_RET_SERVICE_INVALID)?;
        responder.respond(response);
        Ok(())
    }
}

impl<T: WrappedServiceTypeSupport> fmt::Debug for ServiceRequest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServiceRequest").field(&self.message).finish()
    }
}
