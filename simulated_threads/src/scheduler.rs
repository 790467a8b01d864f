//! Executors in deterministic mode among the threads of a world.
//!
//! An executor asks the one registered value for the world of its thread. The world writes the
//! simulated clock of the executor at each new time, so both have one time. The executor waits as
//! an idle thread: others that can run at an instant go first, then it dispatches the events of
//! that instant, and its next event is a deadline like that of any thread. If the executor advanced
//! time by itself, threads that sleep would see jumps that no order of them explains.

use crate::choice::Chooser;
use crate::current::{self, Inside, current};
use crate::settings::Settings;
use crate::wait::{NEVER, Slot, Wait, Woken};
use crate::world::World;
use crate::{interpose, output, watchdog};
use ringspin_executor::{Clock, SimClock, Time};
use ringspin_modes::TiePolicy;
use ringspin_modes::threads::{self, SimulatedThreads, ThreadDeviation, WaitEnd};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Executors ask for worlds from now on.
pub(crate) fn register() {
    threads::register(&Worlds);
}

/// The world of whichever thread asks.
struct Worlds;

fn own() -> (&'static World, Slot) {
    current().expect("an executor stays in the world in which it began to spin")
}

impl SimulatedThreads for Worlds {
    fn join(&self, clock: &Arc<SimClock>) -> bool {
        let _inside = Inside::enter();
        let Some((world, _)) = current() else { return false };
        let clock = Arc::downgrade(clock);
        world.follow(move |now| {
            let Some(clock) = clock.upgrade() else { return false };
            if Time::from_nanos(now) > clock.now() {
                clock.set(Time::from_nanos(now));
            }
            true
        });
        true
    }

    fn now(&self) -> Time {
        Time::from_nanos(own().0.now())
    }

    fn run_others(&self) {
        let _inside = Inside::enter();
        let (world, me) = own();
        world.run_others(me);
    }

    fn wait_until(&self, time: Time) -> WaitEnd {
        let _inside = Inside::enter();
        let (world, me) = own();
        let deadline = if time == Time::MAX { NEVER } else { time.as_nanos() };
        if deadline <= world.now() {
            world.pause(me);
        }
        match world.wait(me, Wait::Idle, deadline) {
            Woken::Quiet => WaitEnd::Quiet,
            _ if world.now() >= deadline => WaitEnd::Reached,
            _ => WaitEnd::OthersRan,
        }
    }

    fn isolate(&self, seed: u64, ties: &TiePolicy, run: &mut dyn FnMut()) {
        let Some((outer, me)) = current() else { return run() };
        // Values that `run` borrows must stay: if its world is stuck, the program ends.
        let inner = World::new(
            Settings { seed, ..outer.settings.clone() },
            outer.is_alone,
            Chooser::new(ties),
            |stuck| output::die(&stuck.to_string()),
        );
        current::leave();
        outer.set_elsewhere(true);
        watchdog::watch(inner);
        interpose::adopt(inner);
        let result = catch_unwind(AssertUnwindSafe(run));
        inner.is_over.raise();
        outer.set_elsewhere(false);
        current::enter(outer, me);
        if let Err(panic) = result {
            resume_unwind(panic);
        }
    }

    fn note(&self, digest: u64) {
        let _inside = Inside::enter();
        own().0.state().note(digest);
    }

    fn choices(&self) -> u64 {
        let _inside = Inside::enter();
        current().map_or(0, |(world, _)| world.state().choices().made)
    }

    fn deviations(&self) -> Vec<ThreadDeviation> {
        let _inside = Inside::enter();
        current().map(|(world, _)| world.state().choices().taken).unwrap_or_default()
    }

    fn digest(&self) -> Option<u64> {
        let _inside = Inside::enter();
        let (world, _) = current()?;
        let state = world.state();
        (state.created > 1).then(|| state.hash)
    }
}
