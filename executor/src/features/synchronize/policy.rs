//! The interface between a policy and a synchronized subscription.

use super::approximate_time::{ApproximateTime, ApproximateTimeMatcher};
use super::exact_time::{ExactTime, ExactTimeMatcher};
use super::inputs::{Inputs, StampedInputs, private};
use super::latest::{Latest, LatestMatcher};
use super::matcher::{Matcher, Positions};
use crate::base::error::Result;
use crate::base::time::Time;

/// A policy that decides which messages of the inputs `I` belong together: [`ExactTime`],
/// [`ApproximateTime`] or [`Latest`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot join these inputs",
    note = "`ExactTime` and `ApproximateTime` need messages that implement `Stamped`",
    note = "only `Latest` takes optional and cached inputs"
)]
pub trait Policy<I: Inputs>: 'static {
    /// The callback's argument: a tuple with an element for each input.
    type Set<'a>;
    #[doc(hidden)]
    type Matcher: Matcher + 'static;
    /// The number of messages of each input that are kept.
    #[doc(hidden)]
    fn capacity(&self) -> usize;
    #[doc(hidden)]
    fn matcher(self) -> Result<Self::Matcher>;
    /// The stamp of the message that `input` got last.
    #[doc(hidden)]
    fn stamp(queues: &I::Queues, input: usize) -> Time;
    #[doc(hidden)]
    fn set<'a>(queues: &'a I::Queues, at: &Positions) -> Self::Set<'a>;
}

macro_rules! stamped_policy {
    ($policy:ty, $matcher:ty) => {
        impl<I: StampedInputs> Policy<I> for $policy {
            type Set<'a> = <I as private::StampedInputs>::Set<'a>;
            type Matcher = $matcher;

            fn capacity(&self) -> usize {
                self.queue_size
            }

            fn matcher(self) -> Result<Self::Matcher> {
                self.matcher(I::ROLES.len())
            }

            #[inline]
            fn stamp(queues: &I::Queues, input: usize) -> Time {
                I::newest_stamp(queues, input)
            }

            #[inline]
            fn set<'a>(queues: &'a I::Queues, at: &Positions) -> Self::Set<'a> {
                I::set(queues, at)
            }
        }
    };
}

stamped_policy!(ExactTime, ExactTimeMatcher);
stamped_policy!(ApproximateTime, ApproximateTimeMatcher);

impl<I: Inputs> Policy<I> for Latest {
    type Set<'a> = I::Latest<'a>;
    type Matcher = LatestMatcher;

    fn capacity(&self) -> usize {
        1
    }

    fn matcher(self) -> Result<LatestMatcher> {
        self.matcher(I::ROLES)
    }

    fn stamp(_: &I::Queues, _: usize) -> Time {
        Time::ZERO // it does not matter here
    }

    fn set<'a>(queues: &'a I::Queues, _: &Positions) -> Self::Set<'a> {
        I::latest(queues)
    }
}
