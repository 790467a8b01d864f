//! A world for the whole program, from before `main`.

use crate::settings::{self, Settings};
use crate::world::World;
use crate::{interpose, os, report, scheduler, watchdog};
use libc::{c_char, c_int, c_ulong};
use std::sync::OnceLock;
use std::time::Duration;

/// The world of the program, and the real time of its begin.
static WORLD: OnceLock<(&'static World, Duration)> = OnceLock::new();

/// Is called by the loader before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) = begin;

/// Puts the program into a world, if the environment says so.
unsafe extern "C" fn begin(_: c_int, arguments: *const *const c_char, _: *const *const c_char) {
    match is_asked_for() {
        Ok(true) => {}
        Ok(false) => return,
        Err(problem) => os::die(&problem),
    }
    let settings = match Settings::from_environment() {
        Ok(settings) => settings,
        Err(problem) => os::die(&problem),
    };
    if let Err(function) = os::check_definitions() {
        os::die(&format!(
            "threads cannot run under simulated time: another library defines {function} before \
             this one; leave out LD_PRELOAD and sanitizers, or run with RINGSPIN_THREADS=real"
        ));
    }
    // SAFETY: the loader passes the arguments of the program.
    unsafe { fix_addresses(arguments) };
    scheduler::register();
    let world = World::new(settings, true, None, |stuck| stuck.die());
    let world: &'static World = Box::leak(Box::new(world));
    os::stay_on_this_core();
    watchdog::watch(world);
    let _ = WORLD.set((world, os::monotonic()));
    // SAFETY: a function of the process.
    unsafe { libc::atexit(end) };
    interpose::adopt(world);
}

/// Whether the environment asks for a world.
fn is_asked_for() -> Result<bool, String> {
    let mut is_deterministic = false;
    settings::read("RINGSPIN_MODE", "`single`, `multi` or `deterministic`", |mode| {
        is_deterministic = mode == "deterministic";
        matches!(mode, "single" | "multi" | "deterministic").then_some(())
    })?;
    let mut are_real = false;
    settings::read("RINGSPIN_THREADS", "`real` or `simulated`", |threads| {
        are_real = threads == "real";
        matches!(threads, "real" | "simulated").then_some(())
    })?;
    Ok(is_deterministic && !are_real)
}

/// Says how the run went.
extern "C" fn end() {
    let Some((world, begun)) = WORLD.get() else { return };
    let real = os::monotonic().saturating_sub(*begun);
    let sockets = match world.sockets() {
        0 => String::new(),
        sockets => format!("; uncontrolled: {sockets} sockets"),
    };
    os::say(&format!(
        "{} of simulated time in {:.3} s, seed {}, {} processors, {} threads, {} switches, digest \
         {:016x}{sockets}",
        report::Seconds(world.now()),
        real.as_secs_f64(),
        world.settings().seed,
        world.processors(),
        world.threads(),
        world.switches(),
        world.digest(),
    ));
}

/// Starts the program anew without a random layout of its address space: what depends on addresses,
/// as the order of a map by pointers does, is then the same in every run.
///
/// # Safety
/// `arguments` are those of the program.
unsafe fn fix_addresses(arguments: *const *const c_char) {
    const STARTED: &str = "RINGSPIN_ADDRESSES_ARE_FIXED";
    const FIXED: c_ulong = libc::ADDR_NO_RANDOMIZE as c_ulong;
    // SAFETY: asks for the current setting.
    let current = unsafe { libc::personality(0xffff_ffff) };
    if current as c_ulong & FIXED != 0 {
        return;
    }
    if std::env::var_os(STARTED).is_none() {
        // SAFETY: no other thread runs before `main`.
        unsafe { std::env::set_var(STARTED, "1") };
        // SAFETY: the program's own path and arguments.
        unsafe {
            if libc::personality(current as c_ulong | FIXED) != -1 {
                libc::execv(c"/proc/self/exe".as_ptr(), arguments);
            }
        }
    }
    os::say("addresses are random here (`personality` is refused): what depends on them differs");
}
