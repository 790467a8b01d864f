//! Executors in deterministic mode among the threads of a world.

use crate::choice::Order;
use crate::current::{self, current};
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

/// The order of threads that goes with an order of events.
fn order(ties: &TiePolicy) -> Option<Order> {
    Some(match *ties {
        TiePolicy::Fifo | TiePolicy::Reverse => return None,
        TiePolicy::Shuffle { seed } => Order::Shuffle { seed },
        TiePolicy::Pct { seed, depth, steps } => Order::Priorities { seed, depth, steps },
        TiePolicy::Scripted(ref schedule) => Order::Scripted(schedule.clone()),
    })
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

    fn isolate(&self, seed: u64, ties: &TiePolicy, run: &mut dyn FnMut()) {
        let Some((outer, me)) = current() else { return run() };
        // Values that `run` borrows must stay: if its world is stuck, the program ends.
        let inner = World::new(
            Settings { seed, ..outer.settings().clone() },
            outer.is_alone(),
            order(ties),
            |stuck| output::die(&stuck.to_string()),
        );
        let inner: &'static World = Box::leak(Box::new(inner));
        current::leave();
        outer.set_elsewhere(true);
        watchdog::watch(inner);
        interpose::adopt(inner);
        let result = catch_unwind(AssertUnwindSafe(run));
        inner.end_all();
        outer.set_elsewhere(false);
        current::enter(outer, me);
        if let Err(panic) = result {
            resume_unwind(panic);
        }
    }

    fn note(&self, digest: u64) {
        own().0.note(digest);
    }

    fn choices(&self) -> u64 {
        current().map_or(0, |(world, _)| world.choices().made)
    }

    fn deviations(&self) -> Vec<ThreadDeviation> {
        current().map(|(world, _)| world.choices().taken).unwrap_or_default()
    }

    fn digest(&self) -> Option<u64> {
        let (world, _) = current()?;
        (world.threads() > 1).then(|| world.digest())
    }
}
