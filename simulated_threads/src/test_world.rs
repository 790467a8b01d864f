//! A world for a function.
//!
//! A new thread is the first of the world and calls the function; the calling thread stays outside
//! and waits in real time for the outcome, which the first thread or the report of a stuck world
//! puts. Worlds of one process run one after the other, behind a static lock, because they share
//! the locks of the process, such as that of the standard output. A world is never freed: threads
//! that still wait in it when the function returns stand still there for the rest of the process.

use crate::choice::{Choices, Chooser};
use crate::report::Stuck;
use crate::settings::Settings;
use crate::turn::Turn;
use crate::world::World;
use crate::{current, interpose, os, scheduler, watchdog};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Calls `function` on the first thread of a world, with the default [`Settings`]; returns its
/// result.
///
/// Threads that it creates, and those that they create, belong to the world. What still runs when
/// it returns stands still from then on. Tests in one process may run in parallel: their worlds
/// take turns. Threads that the process shares, as those of rayon's global pool, belong to the
/// world that uses them first, and no other one can wait for them. The layout of the address space
/// is that of the process: values that depend on addresses differ from run to run, unless the whole
/// process runs in a world.
///
/// On a thread that is in a world already, `function` is just called.
///
/// # Errors
/// [`Stuck`], when every thread waits, and none for a time.
///
/// # Panics
/// As `function` does, and if another object of the process has its own copy of this crate.
pub fn run<R>(function: impl FnOnce() -> R + Send + 'static) -> Result<R, Stuck>
where
    R: Send + 'static,
{
    Settings::default().run(function)
}

/// The result or the panic of a function, or why its world was stuck.
type Outcome<R> = Result<thread::Result<R>, Stuck>;

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
    /// As `function` does, if the operating system refuses a thread, and if another object of the
    /// process has its own copy of this crate.
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

    /// Calls `function` in a new world, in which `chooser` orders the threads.
    pub(crate) fn run_in_order<R>(
        self,
        chooser: Option<Chooser>,
        function: impl FnOnce() -> R + Send + 'static,
    ) -> (Choices, Outcome<R>)
    where
        R: Send + 'static,
    {
        // Worlds of one process share its locks, as that of the standard output.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        assert!(interpose::is_called(), "failed to create a world: {}", interpose::COPIES);
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        scheduler::register();
        let place = Arc::new(Place { outcome: Mutex::new(None), over: Turn::default() });
        let stuck = place.clone();
        let world = World::new(self, false, chooser, move |why| stuck.put(Err(why)));
        watchdog::watch(world);
        let returned = place.clone();
        let first = move || {
            os::stay_on_this_core();
            interpose::adopt(world);
            let result = catch_unwind(AssertUnwindSafe(function));
            current::leave();
            returned.put(Ok(result));
        };
        let name = thread::current().name().unwrap_or("main").to_owned();
        thread::Builder::new().name(name).spawn(first).expect("a thread for the world");
        let outcome = place.take().expect("the turn is given with an outcome");
        world.is_over.raise();
        (world.state().choices(), outcome)
    }
}
