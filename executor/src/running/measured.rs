//! Event loops with a budget: around the body of the loop there is another one that measures, so
//! that loops without a budget run the same code as ever.

use crate::base::digest::DigestCollector;
use crate::base::escape::catch_panic;
use crate::base::event::EventId;
use crate::delivery::budget::BudgetWatch;
use crate::delivery::context::Context;
use crate::delivery::topic::Remains;
use crate::running::event_loop::{Body, EntityPort, EventLoop, Outcome};
use ringspin_ringbuf::{CacheLines, EntryLine};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Measures the callbacks of a loop against a budget from here on, or against none.
pub(crate) fn set_budget(body: &mut Box<dyn EventLoop>, watch: Option<BudgetWatch>) {
    let inner = std::mem::replace(body, Box::new(Body::new(()))).unmeasured();
    *body = match watch {
        Some(watch) => Box::new(Measured { body: inner, watch }),
        None => inner,
    };
}

/// An event loop with a budget.
struct Measured {
    body: Box<dyn EventLoop>,
    watch: BudgetWatch,
}

impl EventLoop for Measured {
    fn dispatch(&mut self, target: EntityPort, cx: &mut Context<'_>) -> Outcome {
        let (clock, began) = (cx.clock, cx.clock.now());
        let run = || self.body.dispatch(target, cx);
        let outcome = catch_unwind(AssertUnwindSafe(run)); // a callback that panics has run, too
        if !matches!(outcome, Ok(Outcome::Nothing)) {
            // A panic of the log is not the callback's.
            let noted = catch_panic(|| self.watch.ran(began, clock.completion()));
            if let Err(panic) = noted {
                let text = || format!("the log of an exceeded budget panicked: {panic}");
                cx.recorder_panic.get_or_insert_with(text);
            }
        }
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn discard(&mut self, target: EntityPort) -> Option<EventId> {
        self.body.discard(target)
    }

    fn pending(&self, target: EntityPort) -> usize {
        self.body.pending(target)
    }

    fn restart(&mut self) -> bool {
        self.body.restart()
    }

    fn retire(&mut self) -> Result<(), String> {
        self.body.retire()
    }

    fn dismantle(&mut self) -> Vec<(&'static str, String)> {
        self.body.dismantle()
    }

    fn show(&self, digests: &DigestCollector) {
        self.body.show(digests);
    }

    fn add_to(&self, entity: u32, lines: &mut CacheLines) {
        lines.add(self);
        self.body.add_to(entity, lines);
    }

    fn entry_line(&self) -> Option<EntryLine> {
        self.body.entry_line()
    }

    fn take_out(&mut self, entity: u32) -> Option<Box<dyn Any + Send>> {
        self.body.take_out(entity)
    }

    fn remove(&mut self, entity: u32) -> (Option<Box<dyn Remains>>, Result<(), String>) {
        self.body.remove(entity)
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self.body.as_any_mut()
    }

    fn unmeasured(self: Box<Self>) -> Box<dyn EventLoop> {
        self.body
    }
}
