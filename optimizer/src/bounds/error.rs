//! Why a chain has no bound.

use std::time::Duration;

use thiserror::Error;

/// Why there is no bound.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NoBound {
    /// Nobody knows how often a callback runs.
    #[error(
        "`{callback}` is triggered from outside, nobody knows how often: there is no bound for \
         what shares cores or data with it"
    )]
    UnknownTrigger {
        /// The name of the callback.
        callback: String,
    },
    /// A period of zero, or an index that nothing has.
    #[error("`{callback}` names a callback or loop that does not exist, or a period of zero")]
    Malformed {
        /// The name of the callback.
        callback: String,
    },
    /// A callback triggers itself.
    #[error("`{callback}` triggers itself in a circle: there is no bound on how often it runs")]
    Cycle {
        /// The name of a callback of the circle.
        callback: String,
    },
    /// Too many ways from timers to one callback.
    #[error("more than {max} ways lead from timers to `{callback}`: that is too much to analyse")]
    TooManyWays {
        /// The name of the callback.
        callback: String,
        /// How many can be analysed.
        max: usize,
    },
    /// Too many ways from timers to all callbacks.
    #[error(
        "{count} ways lead from timers to the callbacks, more than the {max} that can be analysed"
    )]
    TooManyInAll {
        /// How many there are.
        count: usize,
        /// How many can be analysed.
        max: usize,
    },
    /// A core has more to do than it can.
    #[error(
        "at worst core {core} is busy {percent} % of the time: what waits there waits ever longer; \
         move something to another core"
    )]
    Overloaded {
        /// The core, by its number in the assignment.
        core: usize,
        /// Its worst load.
        percent: u64,
    },
    /// The analysis comes to no end, though no core is overloaded.
    #[error(
        "the worst case of `{callback}` exceeds {limit:?}: the cores delay each other too much"
    )]
    Diverged {
        /// The name of the callback.
        callback: String,
        /// Where the analysis gave up.
        limit: Duration,
    },
    /// A chain goes on by something else than a message.
    #[error(
        "no message of `{from}` triggers `{to}`: how long a sample waits there is not known; end \
         the chain before"
    )]
    NotTriggered {
        /// The step before.
        from: String,
        /// The step that is triggered by something else.
        to: String,
    },
    /// There is nothing to bound.
    #[error("the chain has no callbacks, or one that does not exist; list those that it visits")]
    NoChain,
}
