//! Ctrl-C: one handler for the process, which stops every executor that asked for it.

use ringspin_executor::StopHandle;
use std::sync::{Mutex, OnceLock, PoisonError};

static STOPS: Mutex<Vec<StopHandle>> = Mutex::new(Vec::new());
static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();

/// Stops `handle` when the process receives SIGINT, SIGTERM or SIGHUP.
pub(crate) fn stop_on_ctrl_c(handle: StopHandle) -> Result<(), String> {
    STOPS.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    let install = || {
        let stop_all = || {
            let stops = STOPS.lock().unwrap_or_else(PoisonError::into_inner);
            stops.iter().for_each(StopHandle::stop);
        };
        ctrlc::set_handler(stop_all).map_err(|error| error.to_string())
    };
    INSTALLED.get_or_init(install).clone()
}
