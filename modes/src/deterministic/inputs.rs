//! The inputs of a run: asked for their items one at a time, so that nothing is lost.
//!
//! The sequencer asks after all ready events and before due timers, on the thread of the run. An
//! input publishes one item when it is asked. If a queue that keeps all is full, the item stays
//! with the input, which is asked again after the next dispatch. Were all items of an instant
//! published at once, they would overwrite each other in queues that the callbacks can empty
//! between them, and the loss would be one of the simulation and not of the graph.

use crate::error::catch_part;
use ringspin_executor::{
    BoxError, Delivery, Error, ErrorKind, ExternalInput, NamedInput, Result, Time, catch_panic,
};

pub(super) struct Inputs {
    /// Ordered by creation.
    asked: Vec<Asked>,
    /// Whether they know that this instant is quiet, and nothing has happened since: a run that is
    /// stopped and continued does not tell them twice.
    told: bool,
    /// How many items were handed over at this instant.
    items: u64,
    items_max: u64,
}

struct Asked {
    named: NamedInput,
    /// Whether no subscription could take its item since the last dispatch.
    refused: bool,
}

impl Inputs {
    /// With this many items at one instant at most.
    pub(super) fn new(inputs: Vec<NamedInput>, items_max: u64) -> Self {
        let asked = inputs.into_iter().map(|named| Asked { named, refused: false });
        Self { asked: asked.collect(), told: false, items: 0, items_max }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Has the first input that has an item by `now` hand it over; false if none has.
    ///
    /// # Errors
    /// The error of the input; or too many items at this instant.
    pub(super) fn deliver_one(&mut self, now: Time) -> Result<bool> {
        for asked in self.asked.iter_mut().filter(|asked| !asked.refused) {
            if asked.next_time(now)?.is_none_or(|time| time > now) {
                continue;
            }
            match call(&mut asked.named, now, |input| input.deliver(now))? {
                Delivery::Done => {
                    self.told = false;
                    self.items += 1;
                    let limit = self.items_max;
                    if self.items > limit {
                        let endless = format!(
                            "more than {limit} items at one instant: let its time advance, or \
                             raise `instant_dispatches_max`"
                        );
                        let endless = endless.into();
                        return Err(failed(&asked.named.name, now, &endless));
                    }
                    return Ok(true);
                }
                Delivery::Again => asked.refused = true,
            }
        }
        Ok(false)
    }

    /// Something was dispatched: there may be room for the refused item.
    pub(super) fn dispatched(&mut self) {
        self.told = false;
        self.asked.iter_mut().for_each(|asked| asked.refused = false);
    }

    /// It is another instant, at which something is to happen.
    pub(super) fn time_goes_on(&mut self) {
        self.told = false;
        self.items = 0;
    }

    /// Tells all that the graph has nothing left to do at `now`.
    pub(super) fn quiet(&mut self, now: Time) -> Result<()> {
        if std::mem::replace(&mut self.told, true) {
            return Ok(());
        }
        for Asked { named, .. } in &mut self.asked {
            call(named, now, |input| input.quiet(now))?;
        }
        Ok(())
    }

    /// When the next input has an item, asked at `now`.
    pub(super) fn next_time(&mut self, now: Time) -> Result<Option<Time>> {
        let mut first: Option<Time> = None;
        for asked in self.asked.iter_mut().filter(|asked| !asked.refused) {
            if let Some(time) = asked.next_time(now)? {
                first = Some(first.map_or(time, |first| first.min(time)));
            }
        }
        Ok(first)
    }

    /// Drops the inputs, each on its own.
    pub(super) fn dismantle(&mut self, now: Time) -> Vec<Error> {
        let dropped = self.asked.drain(..).map(|Asked { named, .. }| {
            let part = format!("dropping input {:?}", named.name);
            catch_part(&part, Some(now), || drop(named.input))
        });
        dropped.filter_map(Result::err).collect()
    }

    /// The name of an input with an item that no subscription takes.
    pub(super) fn refused(&self) -> Option<&str> {
        self.asked.iter().find(|asked| asked.refused).map(|asked| &*asked.named.name)
    }
}

impl Drop for Inputs {
    /// Drops each input, also after a panic of another one.
    fn drop(&mut self) {
        for Asked { named, .. } in self.asked.drain(..) {
            if let Err(panic) = catch_panic(|| drop(named)) {
                let _ = catch_panic(|| tracing::error!(panic, "the drop of an input panicked"));
            }
        }
    }
}

impl Asked {
    fn next_time(&mut self, now: Time) -> Result<Option<Time>> {
        call(&mut self.named, now, |input| Ok(input.next_time()))
    }
}

/// Calls an input; its error and its panic are errors with its name.
fn call<R>(
    named: &mut NamedInput,
    now: Time,
    method: impl FnOnce(&mut dyn ExternalInput) -> Result<R, BoxError>,
) -> Result<R> {
    let NamedInput { name, input, .. } = named;
    let called = catch_panic(|| method(&mut **input));
    called
        .unwrap_or_else(|panic| Err(format!("it panicked: {panic}").into()))
        .map_err(|error| failed(name, now, &error))
}

fn failed(input: &str, time: Time, error: &BoxError) -> Error {
    let text = format!("input {input:?} failed at {time}: {error}");
    Error::new(ErrorKind::CallbackFailed, text)
}
