//! How long callbacks take: the thread that is about to run one sleeps for as long, in the world.
//!
//! A client library takes a message, or calls a timer of rcl, just before the callback. So the
//! thread of the executor is occupied, and all that the callback sends comes after its duration.

use crate::bus;
use crate::endpoint::Endpoint;
use ringspin_process_protocol::{Callback, Computing, DURATIONS, Durations};
use ringspin_simulated_threads::coordination;
use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// The durations of the process.
struct All {
    durations: Mutex<Durations>,
    shares_cores: bool,
    is_profiled: bool,
}

/// `None` if no callback takes time and none is measured.
static ALL: LazyLock<Option<All>> = LazyLock::new(|| {
    let computing = Computing::parse(&std::env::var(DURATIONS).ok()?)?;
    let Computing { rules, shares_cores, is_profiled } = computing;
    let seed = std::env::var("RINGSPIN_SEED").ok().and_then(|seed| seed.parse().ok());
    let durations = Mutex::new(Durations::new(rules, seed.unwrap_or(0)));
    Some(All { durations, shares_cores, is_profiled })
});

thread_local! {
    /// The callback that the thread runs, and the real time that the thread had computed before.
    static RUNNING: RefCell<Option<(String, Duration)>> = const { RefCell::new(None) };
}

fn spend(callback: Callback<'_>) {
    let Some(all) = &*ALL else { return };
    end_callback();
    let nanos = all.durations.lock().unwrap_or_else(PoisonError::into_inner).next(callback);
    match nanos {
        0 => {}
        _ if all.shares_cores => bus::compute(nanos),
        _ => std::thread::sleep(Duration::from_nanos(nanos)),
    }
    if all.is_profiled {
        RUNNING.set(Some((callback.to_string(), coordination::computed())));
    }
}

/// The thread waits, or takes something else: its callback has returned.
pub(crate) fn end_callback() {
    if let Some((callback, before)) = RUNNING.take() {
        let time = coordination::computed().saturating_sub(before);
        bus::with(|bus| bus.measured.push((callback, time.as_nanos() as u64)));
    }
}

/// Something was taken from an endpoint.
pub(crate) fn spend_on(endpoint: &Endpoint) {
    if ALL.is_none() {
        return;
    }
    let kind = bus::with(|bus| bus.entity(endpoint.gid).map(|entity| entity.kind));
    if let (Some(kind), Ok(name)) = (kind, endpoint.name.to_str()) {
        spend(Callback::Endpoint(kind, name));
    }
}

/// The function of this name in rcl, of which Python loads a copy that no other library sees.
fn of_rcl(name: &CStr) -> Option<*const c_void> {
    // SAFETY: the names end with a zero. The library is not loaded by this, and stays.
    let found = unsafe {
        match libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) {
            function if !function.is_null() => function,
            _ => {
                let rcl = libc::dlopen(c"librcl.so".as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
                if rcl.is_null() { rcl } else { libc::dlsym(rcl, name.as_ptr()) }
            }
        }
    };
    (!found.is_null()).then_some(found.cast_const())
}

/// `RCL_RET_ERROR`.
const FAILED: i32 = 1;

/// A timer was called.
fn spend_on_timer(timer: *const c_void) {
    type GetPeriod = unsafe extern "C" fn(*const c_void, *mut i64) -> i32;
    if ALL.is_none() {
        return;
    }
    let Some(get) = of_rcl(c"rcl_timer_get_period") else { return };
    let mut period = 0;
    // SAFETY: rcl's function of this name, with a timer that was just called.
    let result =
        unsafe { std::mem::transmute::<*const c_void, GetPeriod>(get)(timer, &raw mut period) };
    if result == 0 {
        spend(Callback::Timer(period.unsigned_abs()));
    }
}

/// Calls a timer, and says when it was due. rcl's `rcl_timer_call` calls it as well.
///
/// # Safety
/// The caller keeps the rules of the function of this name in rcl.
#[unsafe(no_mangle)]
unsafe extern "C" fn rcl_timer_call_with_info(timer: *mut c_void, info: *mut c_void) -> i32 {
    type Call = unsafe extern "C" fn(*mut c_void, *mut c_void) -> i32;
    let Some(call) = of_rcl(c"rcl_timer_call_with_info") else { return FAILED };
    // SAFETY: rcl's function of this name, with the arguments of the caller.
    let result = unsafe { std::mem::transmute::<*const c_void, Call>(call)(timer, info) };
    if result == 0 {
        spend_on_timer(timer);
    }
    result
}
