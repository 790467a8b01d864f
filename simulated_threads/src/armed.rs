//! A world for the whole program, from before `main`.

use crate::settings::{self, Settings};
use crate::trace::Trace;
use crate::world::World;
use crate::{backtrace, binary, interpose, os, output, report, scheduler, watchdog};
use libc::{c_char, c_int, c_ulong};
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The world of the program, and the real time of its begin.
static WORLD: OnceLock<(&'static World, Duration)> = OnceLock::new();

/// Whether the layout of the address space is another one in each run.
static ADDRESSES_ARE_RANDOM: AtomicBool = AtomicBool::new(false);

/// Is called by the loader before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) = begin;

/// Puts the program into a world, if the environment says so.
unsafe extern "C" fn begin(_: c_int, arguments: *const *const c_char, _: *const *const c_char) {
    match is_asked_for() {
        Ok(true) => {}
        Ok(false) => return,
        Err(problem) => output::die(&problem),
    }
    let settings = match Settings::from_environment() {
        Ok(settings) => settings,
        Err(problem) => output::die(&problem),
    };
    if let Some(function) = interpose::not_called() {
        output::die(&format!(
            "threads cannot run under simulated time: libraries of this process do not call this \
             crate's {function}; link the crate into the program itself, without sanitizers, or \
             run with RINGSPIN_THREADS=real"
        ));
    }
    // SAFETY: the loader passes the arguments of the program.
    unsafe { fix_addresses(arguments) };
    scheduler::register();
    let world = World::new(settings, true, None, |stuck| {
        WORLD.get().into_iter().for_each(|(world, _)| world.end_trace());
        backtrace::die(&stuck)
    });
    let world: &'static World = Box::leak(Box::new(world));
    match Trace::from_environment() {
        Ok(trace) => trace.into_iter().for_each(|trace| world.set_trace(trace)),
        Err(problem) => output::die(&problem),
    }
    if let Some(duration) = world.settings().duration {
        world.set_end(world.now().saturating_add(duration.as_nanos() as u64), finish);
    }
    os::stay_on_this_core();
    watchdog::watch(world);
    let _ = WORLD.set((world, os::monotonic()));
    // SAFETY: a function of the process.
    unsafe { libc::atexit(end) };
    interpose::adopt(world);
}

/// Ends the program at the end of its time.
fn finish() -> ! {
    end();
    // SAFETY: ends the process at once; no other thread runs, so none has to be waited for.
    unsafe { libc::_exit(0) }
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
    world.end_trace();
    output::say(&format!(
        "{} of simulated time in {:.3} s, seed {}, {} processors, {} threads, {} switches, digest \
         {:016x}; uncontrolled: {}; {}; {}",
        report::Seconds(world.now()),
        real.as_secs_f64(),
        world.settings().seed,
        world.processors(),
        world.threads(),
        world.switches(),
        world.digest(),
        uncontrolled(world),
        binary::describe_program(),
        binary::describe_kernel(),
    ));
}

/// The parts of a run that another one may not repeat, in words.
fn uncontrolled(world: &World) -> String {
    let counted = [(world.sockets(), "sockets"), (world.children(), "child processes")];
    let counted = counted.iter().filter(|(count, _)| *count > 0);
    let mut all: Vec<_> = counted.map(|(count, what)| format!("{count} {what}")).collect();
    if ADDRESSES_ARE_RANDOM.load(Ordering::Relaxed) {
        all.push("addresses".into());
    }
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}

/// The variables by which a program knows that it was started anew, and that fill the environment.
const STARTED: &str = "RINGSPIN_ADDRESSES_ARE_FIXED";
const EVEN: &str = "RINGSPIN_EVEN";

/// The size of arguments and environment, which are on the stack of the first thread, and of the
/// pointers to them: so its addresses do not depend on them. One string may have 128 KiB.
const STACK_BYTES: usize = 120 << 10;

/// Starts the program anew without a random layout of its address space: what depends on addresses,
/// as the order of a map by pointers does, is then the same in every run.
///
/// # Safety
/// `arguments` are those of the program, and no other thread runs.
unsafe fn fix_addresses(arguments: *const *const c_char) {
    const FIXED: c_ulong = libc::ADDR_NO_RANDOMIZE as c_ulong;
    let own = format!("{:010}", std::process::id());
    // SAFETY: asks for the current setting.
    let current = unsafe { libc::personality(0xffff_ffff) } as c_ulong;
    let started = std::env::var_os(STARTED).is_some_and(|value| {
        value.as_encoded_bytes().starts_with(own.as_bytes()) // not that of a parent
    });
    // SAFETY: no other thread reads the environment.
    unsafe {
        std::env::remove_var(STARTED);
        std::env::remove_var(EVEN);
    }
    if started && current & FIXED != 0 {
        return;
    }
    // SAFETY: the caller's promise; the program's own path and arguments.
    unsafe {
        if !started && libc::personality(current | FIXED) != -1 {
            fill_environment(arguments, &own);
            libc::execv(c"/proc/self/exe".as_ptr(), arguments);
        }
    }
    ADDRESSES_ARE_RANDOM.store(true, Ordering::Relaxed);
    output::say(
        "addresses are random here (`personality` is refused): what depends on them differs",
    );
}

/// Fills the environment up to [`STACK_BYTES`], with the value `own` and padding.
///
/// # Safety
/// `arguments` are those of the program, and no other thread reads the environment.
unsafe fn fill_environment(arguments: *const *const c_char, own: &str) {
    let pointer = size_of::<*const c_char>();
    let variables = std::env::vars_os().map(|(name, value)| name.len() + value.len() + 2);
    // SAFETY: the pointers to the arguments end with null, and each argument with zero.
    let all = unsafe {
        let arguments = (0..).map(|n| *arguments.add(n)).take_while(|argument| !argument.is_null());
        let arguments = arguments.map(|argument| CStr::from_ptr(argument).count_bytes() + 1);
        let own = STARTED.len() + own.len() + 2;
        arguments.chain(variables).chain([own]).collect::<Vec<_>>()
    };
    // The operating system aligns the stack to two pointers.
    let is_odd = all.len() % 2 == 1;
    let even = if is_odd { EVEN.len() + 2 + pointer } else { 0 };
    let used = all.iter().map(|bytes| bytes + pointer).sum::<usize>() + even;
    let padding = STACK_BYTES.saturating_sub(used);
    // SAFETY: the caller's promise.
    unsafe {
        if is_odd {
            std::env::set_var(EVEN, "");
        }
        std::env::set_var(STARTED, format!("{own}{}", "x".repeat(padding)));
    }
}
