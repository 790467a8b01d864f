//! Ctrl-C: one handler for the process, which stops every executor that asked for it.

use ringspin_executor::StopHandle;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Who is to be stopped, and whether that was asked for.
struct Asked {
    stops: Vec<StopHandle>,
    once: bool,
}

static ASKED: Mutex<Asked> = Mutex::new(Asked { stops: Vec::new(), once: false });
static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();

/// The exit status of a process that ends by SIGINT, as shells have it.
const INTERRUPTED: i32 = 130;

fn asked() -> MutexGuard<'static, Asked> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops `handle` when the process receives SIGINT, SIGTERM or SIGHUP; at the second of them, names
/// what still runs and ends the process.
pub(crate) fn stop_on_ctrl_c(handle: StopHandle) -> Result<(), String> {
    asked().stops.push(handle);
    INSTALLED
        .get_or_init(|| ctrlc::set_handler(stop_all).map_err(|error| error.to_string()))
        .clone()
}

fn stop_all() {
    let mut asked = asked();
    if std::mem::replace(&mut asked.once, true) {
        for callback in asked.stops.iter().flat_map(StopHandle::running_callbacks) {
            eprintln!("still running: {callback}");
        }
        std::process::exit(INTERRUPTED);
    }
    asked.stops.iter().for_each(StopHandle::stop);
}
