//! Executors in deterministic mode among the threads of a world.

use crate::current::current;
use crate::world::{NEVER, Slot, Wait, Woken, World};
use ringspin_executor::{Clock, SimClock, Time};
use ringspin_modes::threads::{self, SimulatedThreads, WaitEnd};
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
        let (world, me) = own();
        world.run_others(me);
    }

    fn wait_until(&self, time: Time) -> WaitEnd {
        let (world, me) = own();
        let deadline = if time == Time::MAX { NEVER } else { time.as_nanos() };
        match world.wait(me, Wait::Idle, deadline) {
            Woken::Quiet => WaitEnd::Quiet,
            _ if world.now() >= deadline => WaitEnd::Reached,
            _ => WaitEnd::OthersRan,
        }
    }

    fn digest(&self) -> Option<u64> {
        let (world, _) = current()?;
        (world.threads() > 1).then(|| world.digest())
    }
}
