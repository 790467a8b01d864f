//! Responses to clients that the server is not connected with yet.
//!
//! A client may find a server before the server has found the client's reader of responses. rmw
//! then waits 100 ms and gives up, and the response would be lost, although the client waits for
//! it. Such a response is sent again, by a thread that there is only as long as it is needed.

use crate::rcl::{RequestId, Service};
use ringspin_executor::{Error, ErrorKind};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time limit for attempts to send a response.
const TRIED_FOR: Duration = Duration::from_secs(20);
/// Maximum number of late responses of a service.
const LATE_MAX: usize = 1000;
/// Pause between attempts, for a middleware that does not wait itself.
const PAUSE: Duration = Duration::from_millis(5);

struct Late {
    request: RequestId,
    response: Box<dyn Any + Send + Sync>,
    until: Instant,
}

#[derive(Default)]
struct Queue {
    /// The first one stays here while it is sent.
    late: VecDeque<Late>,
    is_over: bool,
    thread: Option<JoinHandle<()>>,
}

/// The late responses of one service.
pub(crate) struct LateResponses {
    service: Arc<Service>,
    queue: Arc<Mutex<Queue>>,
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LateResponses {
    pub(crate) fn new(service: Service) -> Self {
        Self { service: Arc::new(service), queue: Arc::default() }
    }

    pub(crate) fn service(&self) -> &Service {
        &self.service
    }

    /// Sends `response` now; false if its client is not connected yet. Then [`add`](Self::add) it.
    ///
    /// # Errors
    /// For a response that does not fit its ROS type, and after a shutdown.
    pub(crate) fn send_now(&self, request: RequestId, response: &dyn Any) -> Result<bool, Error> {
        if self.concern(&request) {
            return Ok(false);
        }
        match self.service.send_response(request, response) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::TimedOut => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether responses to the client of `request` are late, so that newer ones have to wait.
    fn concern(&self, request: &RequestId) -> bool {
        lock(&self.queue).late.iter().any(|late| late.request.client == request.client)
    }

    /// Sends `response` when the client is connected.
    pub(crate) fn add(&self, request: RequestId, response: Box<dyn Any + Send + Sync>) {
        let mut queue = lock(&self.queue);
        let service = self.service.name();
        if queue.late.len() == LATE_MAX {
            tracing::error!(service, "lost a response: too many clients are not connected yet");
            return;
        }
        queue.late.push_back(Late { request, response, until: Instant::now() + TRIED_FOR });
        if queue.late.len() > 1 {
            return; // The thread is running.
        }
        let (sending, shared) = (self.service.clone(), self.queue.clone());
        let thread = std::thread::Builder::new().name("ringspin-late".into());
        match thread.spawn(move || send(&sending, &shared)) {
            Ok(thread) => queue.thread = Some(thread), // An earlier thread has ended.
            Err(error) => {
                queue.late.clear();
                tracing::error!(service, %error, "lost a response: failed to start a thread");
            }
        }
    }
}

/// Sends all responses, one after the other, each again until it is sent.
fn send(service: &Service, queue: &Mutex<Queue>) {
    let mut locked = lock(queue);
    while !locked.is_over {
        let Some(late) = locked.late.front_mut() else { return };
        let (request, until) = (late.request, late.until);
        let response = std::mem::replace(&mut late.response, Box::new(()));
        drop(locked);
        let sent = service.send_response_apart(request, &*response);
        let is_timeout = sent.as_ref().is_err_and(|error| error.kind() == ErrorKind::TimedOut);
        let is_retried = is_timeout && Instant::now() < until;
        if is_retried {
            std::thread::sleep(PAUSE);
        } else if let Err(error) = sent {
            tracing::error!(%error, "a response did not leave the process");
        }
        locked = lock(queue);
        locked.late.pop_front();
        if is_retried {
            locked.late.push_back(Late { request, response, until });
        }
    }
}

impl Drop for LateResponses {
    fn drop(&mut self) {
        let mut queue = lock(&self.queue);
        queue.is_over = true;
        let thread = queue.thread.take();
        drop(queue);
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that sends late responses panicked");
        }
    }
}
