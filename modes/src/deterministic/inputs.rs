//! The inputs of a run: asked for their items one at a time, so that nothing is lost.

use crate::error::SpinError;
use ringspin_executor::{BoxError, Delivery, NamedInput, Time};

/// The inputs.
pub(super) struct Inputs {
    /// In order of creation.
    asked: Vec<Asked>,
    /// Whether they know that this instant is quiet, and nothing has happened since: a run that is
    /// stopped and goes on does not tell them twice.
    told: bool,
    /// How many items were handed over at this instant.
    items: u64,
    items_max: u64,
}

struct Asked {
    named: NamedInput,
    /// Whether nobody could take its item since the last dispatch.
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
    /// What it says; or that it has handed over too many items at this instant.
    pub(super) fn deliver_one(&mut self, now: Time) -> Result<bool, SpinError> {
        for asked in self.asked.iter_mut().filter(|asked| !asked.refused) {
            let input = &mut asked.named.input;
            if input.next_time().is_none_or(|time| time > now) {
                continue;
            }
            match input.deliver(now).map_err(|error| failed(&asked.named.name, now, &error))? {
                Delivery::Done => {
                    self.told = false;
                    self.items += 1;
                    let limit = self.items_max;
                    if self.items > limit {
                        let endless = format!("more than {limit} items at one instant").into();
                        return Err(failed(&asked.named.name, now, &endless));
                    }
                    return Ok(true);
                }
                Delivery::Again => asked.refused = true,
            }
        }
        Ok(false)
    }

    /// Something was dispatched: there may be room for what was refused.
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
    pub(super) fn quiet(&mut self, now: Time) -> Result<(), SpinError> {
        if std::mem::replace(&mut self.told, true) {
            return Ok(());
        }
        for Asked { named, .. } in &mut self.asked {
            named.input.quiet(now).map_err(|error| failed(&named.name, now, &error))?;
        }
        Ok(())
    }

    /// When the next input has an item.
    pub(super) fn next_time(&mut self) -> Option<Time> {
        let waiting = self.asked.iter_mut().filter(|asked| !asked.refused);
        waiting.filter_map(|asked| asked.named.input.next_time()).min()
    }

    /// An input whose item nobody takes.
    pub(super) fn refused(&self) -> Option<&str> {
        self.asked.iter().find(|asked| asked.refused).map(|asked| &*asked.named.name)
    }
}

fn failed(input: &str, time: Time, error: &BoxError) -> SpinError {
    SpinError::Input { input: input.into(), time, reason: error.to_string() }
}
