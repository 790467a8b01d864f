//! Trigger conditions for a group of inputs, after those of rclc's executor.

use super::inputs::Role;
use super::matcher::{check_input, invalid};
use crate::base::error::{Error, Result};
use std::fmt;

/// The arrivals that call the callback of a [`Latest`](crate::Latest) subscription.
///
/// "New" is a message that was not handed over yet. The conditions are those of rclc's executor,
/// where they decide when a round of callbacks is run; here it is one callback for all inputs.
pub enum Trigger {
    /// Something new on any input, except cached ones.
    Any,
    /// Something new on every input, except optional and cached ones.
    All,
    /// Something new on this input; the inputs are numbered from 0.
    One(usize),
    /// A predicate that is evaluated at every arrival; see [`Trigger::when`].
    When(Box<dyn FnMut(&New<'_>) -> bool + Send>),
}

impl Trigger {
    /// Calls when `predicate` returns true. It is evaluated once at every arrival, on any input,
    /// cached ones included. To keep runs repeatable it must depend on nothing but its argument.
    ///
    /// ```
    /// # use ringspin_executor::Trigger;
    /// // The camera, and one of the two lidars.
    /// let trigger = Trigger::when(|new| new.has(0) && (new.has(1) || new.has(2)));
    /// ```
    pub fn when(predicate: impl FnMut(&New<'_>) -> bool + Send + 'static) -> Self {
        Self::When(Box::new(predicate))
    }

    /// Refuses triggers that would never call.
    pub(crate) fn check(&self, roles: &[Role]) -> Result<()> {
        match self {
            Self::One(input) => {
                check_input(*input, roles.len())?;
                match roles[*input] == Role::Cached {
                    true => Err(nothing_triggers("its input is cached")),
                    false => Ok(()),
                }
            }
            Self::Any | Self::All if roles.iter().all(|role| *role == Role::Cached) => {
                Err(nothing_triggers("all are cached"))
            }
            Self::Any | Self::All | Self::When(_) => Ok(()),
        }
    }

    pub(crate) fn is_met(&mut self, new: &New<'_>, roles: &[Role]) -> bool {
        let mut triggers = (0..roles.len()).filter(|&input| roles[input] != Role::Cached);
        match self {
            Self::Any => triggers.any(|input| new.has(input)),
            // If all are optional, at least one has to be new.
            Self::All => {
                let mut required = triggers.clone().filter(|&input| roles[input] != Role::Optional);
                required.all(|input| new.has(input)) && triggers.any(|input| new.has(input))
            }
            Self::One(input) => new.has(*input),
            Self::When(predicate) => predicate(new),
        }
    }
}

impl fmt::Debug for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("Any"),
            Self::All => f.write_str("All"),
            Self::One(input) => f.debug_tuple("One").field(input).finish(),
            Self::When(_) => f.write_str("When(..)"),
        }
    }
}

/// The number of new messages on each input, the argument of a [`Trigger`]'s predicate.
#[derive(Clone, Copy, Debug)]
pub struct New<'a>(pub(crate) &'a [usize]);

impl New<'_> {
    /// Whether `input` has something new; false for an input that does not exist.
    pub fn has(&self, input: usize) -> bool {
        self.count(input) > 0
    }

    /// The number of new messages on `input`; zero for an input that does not exist.
    pub fn count(&self, input: usize) -> usize {
        self.0.get(input).copied().unwrap_or(0)
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.0.len()
    }
}

fn nothing_triggers(reason: &str) -> Error {
    invalid(format!(
        "no input can trigger the callback: {reason}; give the trigger an input that is not cached"
    ))
}
