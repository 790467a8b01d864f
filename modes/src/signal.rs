//! Ctrl-C: one handler for the process, which stops every executor that asked for it.
//!
//! A process has one handler for a signal, so executors enter their stop handles in one static list
//! and leave it by their drop. The handler is called on a thread of `ctrlc` and not in the context
//! of the signal, so it may lock the list and wake workers. A signal that finds all of them stopped
//! ends the process: a callback that does not return cannot be stopped otherwise, and a user who
//! presses Ctrl-C again wants the end.

use ringspin_executor::{Error, ErrorKind, Result, StopHandle};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The executors that are to be stopped, each with the number of its registration.
static STOPS: Mutex<(Vec<(u64, StopHandle)>, u64)> = Mutex::new((Vec::new(), 0));
static INSTALLED: OnceLock<Result<()>> = OnceLock::new();

/// The exit status of a process that ends by SIGINT, as shells have it.
const INTERRUPTED: i32 = 130;

/// The registration of one executor, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Registration(u64);

impl Drop for Registration {
    fn drop(&mut self) {
        stops().0.retain(|(number, _)| *number != self.0);
    }
}

fn stops() -> MutexGuard<'static, (Vec<(u64, StopHandle)>, u64)> {
    STOPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops `handle` when the process receives SIGINT, SIGTERM or SIGHUP, until the registration that
/// this returns is dropped. A signal when all that are registered were stopped before names the
/// callbacks that still run and ends the process.
pub(crate) fn stop_on_ctrl_c(handle: StopHandle) -> Result<Registration> {
    INSTALLED
        .get_or_init(|| {
            ctrlc::set_handler(stop_all).map_err(|error| {
                let cause = match error {
                    ctrlc::Error::MultipleHandlers => {
                        "the process has a handler of another library; call `stop` of the \
                         executor's `stop_handle()` there"
                            .to_owned()
                    }
                    error => format!("{error}; stop the executor by its `stop_handle()`"),
                };
                let text = format!("failed to catch SIGINT, SIGTERM and SIGHUP: {cause}");
                Error::new(ErrorKind::Unsupported, text)
            })
        })
        .clone()?;
    let mut stops = stops();
    stops.1 += 1;
    let number = stops.1;
    stops.0.push((number, handle));
    Ok(Registration(number))
}

fn stop_all() {
    let stops = stops();
    let handles = || stops.0.iter().map(|(_, handle)| handle);
    if handles().all(StopHandle::is_stopped) {
        for callback in handles().flat_map(StopHandle::running_callbacks) {
            eprintln!("still running: {callback}");
        }
        std::process::exit(INTERRUPTED);
    }
    handles().for_each(StopHandle::stop);
}
