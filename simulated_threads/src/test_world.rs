//! A world for a function.

use crate::choice::{Choices, Order};
use crate::report::Stuck;
use crate::settings::Settings;
use crate::turn::Turn;
use crate::world::World;
use crate::{current, interpose, os, scheduler, watchdog};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Calls `function` on the first thread of a world, with the default [`Settings`]; returns what it
/// returns.
///
/// Threads that it creates, and those that they create, belong to the world. What still runs when
/// it returns stands still from then on. Tests in one process may run in parallel: their worlds
/// take turns. Threads that the process shares, as those of rayon's global pool, belong to the
/// world that uses them first, and no other one can wait for them. The layout of the address space
/// is that of the process: what depends on addresses differs from run to run, unless the whole
/// process runs in a world.
///
/// On a thread that is in a world already, `function` is just called.
///
/// # Errors
/// [`Stuck`], when every thread waits, and none for a time.
///
/// # Panics
/// As `function` does.
pub fn run<R>(function: impl FnOnce() -> R + Send + 'static) -> Result<R, Stuck>
where
    R: Send + 'static,
{
    Settings::default().run(function)
}

/// The outcome of a function.
enum Outcome<R> {
    Returned(thread::Result<R>),
    Stuck(Stuck),
}

/// Where the outcome is put, and the turn of the thread that waits for it in real time.
struct Place<R> {
    outcome: Mutex<Option<Outcome<R>>>,
    over: Turn,
}

impl<R> Place<R> {
    fn put(&self, outcome: Outcome<R>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        self.over.give();
    }

    fn take(&self) -> Option<Outcome<R>> {
        self.over.wait();
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Settings {
    /// Calls `function` in a world with these settings, as [`run`] does.
    ///
    /// # Errors
    /// [`Stuck`], when every thread waits, and none for a time.
    ///
    /// # Panics
    /// As `function` does, and if the operating system refuses a thread.
    pub fn run<R>(self, function: impl FnOnce() -> R + Send + 'static) -> Result<R, Stuck>
    where
        R: Send + 'static,
    {
        if current::current().is_some() {
            return Ok(function());
        }
        match self.run_in_order(None, function).1 {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(stuck) => Err(stuck),
        }
    }

    /// Calls `function` in a world of its own, in which threads run in this order.
    pub(crate) fn run_in_order<R>(
        self,
        order: Option<Order>,
        function: impl FnOnce() -> R + Send + 'static,
    ) -> (Choices, Result<thread::Result<R>, Stuck>)
    where
        R: Send + 'static,
    {
        // Worlds of one process share its locks, as that of the standard output.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        scheduler::register();
        let place = Arc::new(Place { outcome: Mutex::new(None), over: Turn::default() });
        let stuck = place.clone();
        let world = World::new(self, false, order, move |why| stuck.put(Outcome::Stuck(why)));
        // Its threads may stand still in it for the rest of the process.
        let world: &'static World = Box::leak(Box::new(world));
        watchdog::watch(world);
        let returned = place.clone();
        let first = move || {
            os::stay_on_this_core();
            interpose::adopt(world);
            let result = catch_unwind(AssertUnwindSafe(function));
            current::leave();
            returned.put(Outcome::Returned(result));
        };
        let name = thread::current().name().unwrap_or("main").to_owned();
        thread::Builder::new().name(name).spawn(first).expect("a thread for the world");
        let outcome = place.take().expect("the turn is given with an outcome");
        world.end_all();
        let result = match outcome {
            Outcome::Returned(result) => Ok(result),
            Outcome::Stuck(stuck) => Err(stuck),
        };
        (world.choices(), result)
    }
}
