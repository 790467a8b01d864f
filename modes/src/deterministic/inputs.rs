//! The inputs of a run: asked for their items one at a time, so that nothing is lost.

use crate::error::SpinError;
use ringspin_executor::{BoxError, Delivery, NamedInput, Time};

/// The inputs, in order of creation.
pub(super) struct Inputs(Vec<Asked>);

struct Asked {
    named: NamedInput,
    /// Whether nobody could take its item since the last dispatch.
    refused: bool,
}

impl Inputs {
    pub(super) fn new(inputs: Vec<NamedInput>) -> Self {
        Self(inputs.into_iter().map(|named| Asked { named, refused: false }).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Has the first input that has an item by `now` hand it over; false if none has.
    pub(super) fn deliver_one(&mut self, now: Time) -> Result<bool, SpinError> {
        for asked in self.0.iter_mut().filter(|asked| !asked.refused) {
            let input = &mut asked.named.input;
            if input.next_time().is_none_or(|time| time > now) {
                continue;
            }
            match input.deliver(now).map_err(|error| failed(&asked.named.name, now, &error))? {
                Delivery::Done => return Ok(true),
                Delivery::Again => asked.refused = true,
            }
        }
        Ok(false)
    }

    /// Something was dispatched: there may be room for what was refused.
    pub(super) fn dispatched(&mut self) {
        self.0.iter_mut().for_each(|asked| asked.refused = false);
    }

    /// Tells all that the graph has nothing left to do at `now`.
    pub(super) fn quiet(&mut self, now: Time) -> Result<(), SpinError> {
        for Asked { named, .. } in &mut self.0 {
            named.input.quiet(now).map_err(|error| failed(&named.name, now, &error))?;
        }
        Ok(())
    }

    /// When the next input has an item.
    pub(super) fn next_time(&mut self) -> Option<Time> {
        let waiting = self.0.iter_mut().filter(|asked| !asked.refused);
        waiting.filter_map(|asked| asked.named.input.next_time()).min()
    }

    /// An input whose item nobody takes.
    pub(super) fn refused(&self) -> Option<&str> {
        self.0.iter().find(|asked| asked.refused).map(|asked| &*asked.named.name)
    }
}

fn failed(input: &str, time: Time, error: &BoxError) -> SpinError {
    SpinError::Input { input: input.into(), time, reason: error.to_string() }
}
