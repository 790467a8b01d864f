//! The time that a message carries.

use crate::time::Time;

/// A message with a stamp of its time, like the stamp in the header of ROS 2 messages.
///
/// ```
/// use ringspin_executor::{Stamped, Time};
/// struct Scan { stamp: Time, ranges: Vec<f32> }
/// impl Stamped for Scan {
///     fn stamp(&self) -> Time {
///         self.stamp
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "messages of type `{Self}` bring no stamp",
    note = "implement `Stamped` for it, or join by arrival with `Latest` or `Accumulate`"
)]
pub trait Stamped {
    /// The message's time. It has to be the same at each call.
    fn stamp(&self) -> Time;
}

/// A time, as a message of its own.
impl Stamped for Time {
    fn stamp(&self) -> Time {
        *self
    }
}
