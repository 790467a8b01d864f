//! Why a chain has no bound.

use std::time::Duration;

use thiserror::Error;

/// The reason why a chain has no bound.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NoBound {
    /// The rate of a callback is unknown.
    #[error(
        "`{callback}` is triggered from outside at an unknown rate: callbacks that share cores or \
         data with it have no bound"
    )]
    UnknownTrigger {
        /// The name of the callback.
        callback: String,
    },
    /// A period of zero, or an index out of range.
    #[error("`{callback}` names a callback or loop that does not exist, or a period of zero")]
    Malformed {
        /// The name of the callback.
        callback: String,
    },
    /// A callback triggers itself.
    #[error("`{callback}` triggers itself in a circle: there is no bound on how often it runs")]
    Cycle {
        /// The name of a callback in the cycle.
        callback: String,
    },
    /// A core has several threads, which preempt each other.
    #[error(
        "a core has several threads that preempt each other, which the analysis does not cover; \
         give each core one thread for a bound"
    )]
    Preemption,
    /// Too many event chains lead from timers to one callback.
    #[error("more than {max} event chains lead from timers to `{callback}`: too many to analyse")]
    TooManyEventChains {
        /// The name of the callback.
        callback: String,
        /// The largest number that the analysis accepts.
        max: usize,
    },
    /// Too many event chains lead from timers to all callbacks together.
    #[error(
        "{count} event chains lead from timers to the callbacks, more than the {max} that can be \
         analysed"
    )]
    TooManyInTotal {
        /// The number of event chains.
        count: usize,
        /// The largest number that the analysis accepts.
        max: usize,
    },
    /// The worst-case load of a core exceeds its capacity.
    #[error(
        "core {core} has a worst-case load of {percent} %, so its queues grow without bound; move \
         a callback to another core"
    )]
    Overloaded {
        /// The core, by its number in the assignment.
        core: usize,
        /// Its worst-case load.
        percent: u64,
    },
    /// The analysis does not converge, although no core is overloaded.
    #[error(
        "the worst case of `{callback}` exceeds {limit:?}: the cores delay each other too much"
    )]
    Diverged {
        /// The name of the callback.
        callback: String,
        /// The response time at which the analysis stops.
        limit: Duration,
    },
    /// A step of the chain is not triggered by a message of the previous one.
    #[error(
        "no message of `{from}` triggers `{to}`: how long a sample waits there is unknown; end the \
         chain before it"
    )]
    NotTriggered {
        /// The previous step.
        from: String,
        /// The step with another trigger.
        to: String,
    },
    /// The chain is empty or names an unknown callback.
    #[error("the chain has no callbacks, or one that does not exist; list those that it visits")]
    NoChain,
}
