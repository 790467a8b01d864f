//! The states of a goal and the transitions between them: rcl's state machine.

use ringspin_derive::Digest;
use std::fmt;

/// The status of a goal, with the numbers of `action_msgs/msg/GoalStatus`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Digest)]
#[digest(crate = "crate")]
#[repr(i8)]
pub enum GoalStatus {
    /// The server does not know the goal, or not any more.
    #[default]
    Unknown = 0,
    /// It was accepted, and waits for its execution.
    Accepted = 1,
    /// It is being executed.
    Executing = 2,
    /// A request to cancel it was accepted, and it has not ended yet.
    Canceling = 3,
    /// It succeeded.
    Succeeded = 4,
    /// It was canceled at the request of a client.
    Canceled = 5,
    /// The server aborted it.
    Aborted = 6,
}

/// An event in the life of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GoalEvent {
    /// Its execution begins.
    Execute,
    /// A request to cancel it is accepted.
    CancelGoal,
    /// It succeeds.
    Succeed,
    /// It is aborted.
    Abort,
    /// Its cancellation is complete.
    Canceled,
}

impl GoalStatus {
    /// All states, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Unknown,
        Self::Accepted,
        Self::Executing,
        Self::Canceling,
        Self::Succeeded,
        Self::Canceled,
        Self::Aborted,
    ];

    /// The state with this number in `action_msgs/msg/GoalStatus`, and [`Unknown`](Self::Unknown)
    /// for any other number.
    pub fn from_rcl(code: i8) -> Self {
        Self::ALL.into_iter().find(|status| *status as i8 == code).unwrap_or_default()
    }

    /// The number in `action_msgs/msg/GoalStatus`.
    pub const fn to_rcl(&self) -> i8 {
        *self as i8
    }

    /// The state after `event`, if the event is legal in this state.
    ///
    /// ```
    /// use ringspin_executor::action::{GoalEvent, GoalStatus};
    /// let status = GoalStatus::Executing.after(GoalEvent::CancelGoal);
    /// assert_eq!(status, Some(GoalStatus::Canceling));
    /// assert_eq!(GoalStatus::Accepted.after(GoalEvent::Succeed), None);
    /// ```
    pub const fn after(self, event: GoalEvent) -> Option<Self> {
        match (self, event) {
            (Self::Accepted, GoalEvent::Execute) => Some(Self::Executing),
            (Self::Accepted | Self::Executing, GoalEvent::CancelGoal) => Some(Self::Canceling),
            (Self::Executing | Self::Canceling, GoalEvent::Succeed) => Some(Self::Succeeded),
            (Self::Executing | Self::Canceling, GoalEvent::Abort) => Some(Self::Aborted),
            (Self::Canceling, GoalEvent::Canceled) => Some(Self::Canceled),
            _ => None,
        }
    }

    /// Whether the goal is active: accepted, executing or canceling.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Accepted | Self::Executing | Self::Canceling)
    }

    /// Whether the goal has ended.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }
}

impl fmt::Display for GoalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Accepted => "accepted",
            Self::Executing => "executing",
            Self::Canceling => "canceling",
            Self::Succeeded => "succeeded",
            Self::Canceled => "canceled",
            Self::Aborted => "aborted",
        })
    }
}

impl fmt::Display for GoalEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Execute => "execute",
            Self::CancelGoal => "cancel",
            Self::Succeed => "succeed",
            Self::Abort => "abort",
            Self::Canceled => "complete the cancellation of",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GoalEvent as E;
    use GoalStatus as S;

    /// The table of rcl's `goal_state_machine.c`, written down a second time.
    #[test]
    fn transitions_are_those_of_rcl() {
        let legal = [
            (S::Accepted, E::Execute, S::Executing),
            (S::Accepted, E::CancelGoal, S::Canceling),
            (S::Executing, E::CancelGoal, S::Canceling),
            (S::Executing, E::Succeed, S::Succeeded),
            (S::Executing, E::Abort, S::Aborted),
            (S::Canceling, E::Succeed, S::Succeeded),
            (S::Canceling, E::Abort, S::Aborted),
            (S::Canceling, E::Canceled, S::Canceled),
        ];
        for status in S::ALL {
            for event in [E::Execute, E::CancelGoal, E::Succeed, E::Abort, E::Canceled] {
                let expected = legal.iter().find(|(s, e, _)| (*s, *e) == (status, event));
                assert_eq!(status.after(event), expected.map(|(_, _, to)| *to), "{status} {event}");
                assert!(!status.is_terminal() || status.after(event).is_none());
            }
        }
    }

    #[test]
    fn numbers_are_those_of_action_msgs() {
        for (code, status) in (0i8..).zip(S::ALL) {
            assert_eq!((status.to_rcl(), S::from_rcl(code)), (code, status));
            assert!(!(status.is_active() && status.is_terminal()));
        }
        assert_eq!((S::from_rcl(7), S::from_rcl(-1)), (S::Unknown, S::Unknown));
    }
}
