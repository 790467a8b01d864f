//! A world for the whole program, from before `main`.
//!
//! The loader calls [`begin`] before `main`, while the process has one thread. It starts the
//! program once more without random addresses, where that is permitted, because the order of a map
//! by pointers would differ from run to run; then it creates the world, writes it to a static, and
//! puts the first thread into it. The function at the end of the process reads that static and
//! prints the summary. A call in `main` would come later than code which runs before it, and each
//! program would have to be changed for it.

use crate::coordinator::Program;
use crate::settings::{self, Settings};
use crate::trace::Trace;
use crate::world::World;
use crate::{
    backtrace, binary, coordinator, copies, environment, interpose, order, os, output, restart,
    scheduler, watchdog,
};
use libc::{c_char, c_int};
use ringspin_executor::Time;
use ringspin_modes::random::mix;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The number of files that the report lists one by one.
const FILES_MAX: usize = 32;

/// The world of the program, the real time of its begin, and the number of the process, which a
/// child that was forked does not have.
static WORLD: OnceLock<(&'static World, Duration, i32)> = OnceLock::new();

/// Whether the layout of the address space is another one in each run.
static ADDRESSES_ARE_RANDOM: AtomicBool = AtomicBool::new(false);

/// Is called by the loader before `main`, and before the program's other functions of that kind,
/// which may read clocks.
#[used]
#[unsafe(link_section = ".init_array.00001")]
static BEGIN: unsafe extern "C" fn(c_int, *const *mut c_char, *mut *mut c_char) = begin;

/// Puts the program into a world, if the environment says so.
unsafe extern "C" fn begin(_: c_int, _: *const *mut c_char, environment: *mut *mut c_char) {
    let asked_for = is_asked_for().unwrap_or_else(|problem| output::die(&problem));
    if !asked_for {
        return;
    }
    if !interpose::is_called() {
        if interpose::other().is_some() {
            return; // the world is that of the other copy
        }
        output::die(&format!("threads cannot run under simulated time: {}", interpose::COPIES));
    }
    let settings = Settings::from_environment().unwrap_or_else(|problem| output::die(&problem));
    if let Some(function) = interpose::not_called() {
        output::die(&format!(
            "threads cannot run under simulated time: libraries of this process do not call this \
             crate's {function}; link the crate into the program itself, without sanitizers, or \
             run with RINGSPIN_THREADS=real"
        ));
    }
    // SAFETY: the loader passes the environment of the program, and no other thread runs.
    if !unsafe { restart::fix_addresses(environment) } {
        ADDRESSES_ARE_RANDOM.store(true, Ordering::Relaxed);
        output::say(
            "addresses are random here (`personality` is refused): what depends on them differs",
        );
    }
    // SAFETY: the loader passes the environment of the program.
    unsafe { environment::keep(environment.cast_const().cast()) };
    scheduler::register();
    let chooser = order::from_environment().unwrap_or_else(|problem| output::die(&problem));
    let world = World::new(settings, true, chooser, |stuck| {
        WORLD.get().into_iter().for_each(|(world, ..)| world.end_trace());
        backtrace::die(&stuck)
    });
    let trace = Trace::from_environment().unwrap_or_else(|problem| output::die(&problem));
    trace.into_iter().for_each(|trace| world.set_trace(trace));
    if let Some(duration) = world.settings.duration {
        world.set_end(world.now().saturating_add(duration.as_nanos() as u64), finish);
    }
    os::stay_on_this_core();
    watchdog::watch(world);
    let _ = WORLD.set((world, os::monotonic(), os::this_process()));
    // SAFETY: a function of the process.
    unsafe { libc::atexit(end) };
    interpose::adopt(world);
    let (signal_of, replace_streams) = (interpose::signal_of, interpose::replace_streams);
    coordinator::set_program(Program { finish, signal_of, replace_streams });
    copies::begin();
}

/// Ends the program at the end of its time.
pub(crate) fn finish() -> ! {
    end();
    // SAFETY: ends the process at once; no other thread runs, so none has to be waited for.
    unsafe { libc::_exit(0) }
}

/// Whether the environment asks for a world.
fn is_asked_for() -> Result<bool, String> {
    let modes = ["single", "multi", "deterministic"];
    let mode = settings::one_of("RINGSPIN_MODE", modes, "`single`, `multi` or `deterministic`")?;
    // A process of a run has added its number: its children run in real time.
    let owner = std::env::var("RINGSPIN_THREADS").unwrap_or_default();
    if let Some(owner) = owner.strip_prefix("simulated:") {
        return Ok(owner.parse() == Ok(os::this_process()));
    }
    let kinds = ["real", "simulated"];
    let threads = settings::one_of("RINGSPIN_THREADS", kinds, "`real` or `simulated`")?;
    Ok(threads.map_or(mode == Some("deterministic"), |threads| threads == "simulated"))
}

/// Says how the run went.
extern "C" fn end() {
    let Some((world, begun, process)) = WORLD.get() else { return };
    if os::this_process() != *process {
        return;
    }
    let real = os::monotonic().saturating_sub(*begun);
    world.end_trace();
    if coordinator::get().is_some() {
        return; // the coordinator's report is that of the whole run
    }
    list_files(world);
    let state = world.state();
    let (threads, digest) = (state.created, state.hash);
    drop(state);
    output::say(&format!(
        "{} of simulated time in {:.3} s, seed {}, {} processors, {} threads, {} switches, digest \
         {:016x} of the order of threads; uncontrolled: {} ({}); {}; {}",
        Time::from_nanos(world.now()),
        real.as_secs_f64(),
        world.settings.seed,
        world.settings.processors.get(),
        threads,
        world.switches.get(),
        digest,
        uncontrolled(world),
        unseen(),
        binary::describe_program(),
        binary::describe_kernel(),
    ));
}

/// Lists the files that the program opened for reading, with hashes of their contents.
fn list_files(world: &World) {
    // The report reads the program, which is not listed.
    let files = world.files.lock().ok().and_then(|mut files| files.take()).unwrap_or_default();
    for (path, hash) in files.iter().take(FILES_MAX) {
        output::say(&format!("read {}, content {hash:016x}", path.display()));
    }
    let rest = files.values().skip(FILES_MAX);
    let (count, all) = rest.fold((0, 0), |(count, all), hash| (count + 1, mix(all ^ hash)));
    if count > 0 {
        output::say(&format!("read {count} other files, all contents {all:016x}"));
    }
}

/// The inputs of a program that no world sees here, in words.
fn unseen() -> String {
    let calls = if interpose::calls_are_caught() { "" } else { "inline system calls, " };
    let counter = if interpose::are_caught() { "" } else { "rdtsc, " };
    format!("not watched: {calls}{counter}folders, times of files")
}

/// The parts of a run that another one may not repeat, in words.
fn uncontrolled(world: &World) -> String {
    let counted = [(world.sockets.get(), "sockets"), (world.children.get(), "child processes")];
    let counted = counted.iter().filter(|(count, _)| *count > 0);
    let mut all: Vec<_> = counted.map(|(count, what)| format!("{count} {what}")).collect();
    if ADDRESSES_ARE_RANDOM.load(Ordering::Relaxed) {
        all.push("addresses".into());
    }
    if all.is_empty() { "nothing seen".into() } else { all.join(", ") }
}
