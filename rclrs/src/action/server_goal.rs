//! The handles of a goal in its server: one for each state.
//!
//! ```text
//!  RequestedGoal ── accept ──▶ AcceptedGoal ── execute ──▶ ExecutingGoal ──▶ TerminatedGoal
//!       └── reject ──▶ TerminatedGoal  └── begin_cancelling ──▶ CancellingGoal ──▶ TerminatedGoal
//! ```

use super::GoalUuid;
use super::cancellation::Cancellation;
use super::live_goal::LiveGoal;
use super::server::ServerGoals;
use crate::error::RclrsError;
use ringspin::action::{GoalEvent, GoalInfo, GoalStatus};
use ringspin::{Responder, Time};
use ringspin_adapter::Carried;
use ringspin_messages::RosAction;
use ringspin_messages::builtin_interfaces::msg::Time as Stamp;
use rosidl_runtime_rs::Action;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

/// A goal that a client sent, to be accepted or rejected, now or later. Dropping it rejects it.
pub struct RequestedGoal<A: Action> {
    server: Arc<ServerGoals<A>>,
    goal: Arc<A::Goal>,
    uuid: GoalUuid,
    responder: Option<Responder<Carried>>,
}

impl<A: Action> RequestedGoal<A> {
    pub(super) fn new(
        server: Arc<ServerGoals<A>>,
        (uuid, goal): (GoalUuid, A::Goal),
        responder: Responder<Carried>,
    ) -> Self {
        Self { server, goal: Arc::new(goal), uuid, responder: Some(responder) }
    }

    /// The goal.
    #[must_use]
    pub fn goal(&self) -> &Arc<A::Goal> {
        &self.goal
    }

    /// The identity of the goal.
    #[must_use]
    pub fn goal_id(&self) -> &GoalUuid {
        &self.uuid
    }

    /// Accepts the goal, which its client hears at once.
    ///
    /// # Panics
    /// Never: [`try_accept`](Self::try_accept) has no errors.
    #[must_use]
    pub fn accept(self) -> AcceptedGoal<A> {
        self.try_accept().unwrap_or_else(|error| panic!("failed to accept a goal: {error}"))
    }

    /// Accepts the goal like [`accept`](Self::accept).
    ///
    /// # Errors
    /// None: the server rejects a goal with the id of another one by itself.
    pub fn try_accept(mut self) -> Result<AcceptedGoal<A>, RclrsError> {
        let (server, uuid, stamp) = (self.server.clone(), self.uuid, self.server.stamp());
        let cancellation = Arc::new(Cancellation::new());
        let (info, handle) = (GoalInfo { goal_id: uuid.into(), stamp }, cancellation.clone());
        let respond = || self.respond(true, stamp);
        if !server.known.add(info, GoalStatus::Accepted, handle, respond) {
            return Err(RclrsError::GoalAcceptanceError);
        }
        let goal = self.goal.clone();
        Ok(AcceptedGoal { live: Arc::new(LiveGoal { server, uuid, goal, cancellation }) })
    }

    /// Rejects the goal.
    pub fn reject(self) -> TerminatedGoal {
        TerminatedGoal { uuid: self.uuid }
    }

    fn respond(&mut self, is_accepted: bool, stamp: Time) {
        if let Some(responder) = self.responder.take() {
            let Stamp { sec, nanosec } = Stamp::from_time(stamp);
            let response = A::Ros::goal_response(is_accepted, (sec, nanosec));
            responder.respond(Carried::new(response));
        }
    }
}

impl<A: Action> Drop for RequestedGoal<A> {
    fn drop(&mut self) {
        let stamp = self.server.stamp();
        self.respond(false, stamp);
        self.server.is_decided(self.uuid);
    }
}

/// The methods of a goal in every state from its acceptance to its end.
macro_rules! live_methods {
    () => {
        /// The goal.
        #[must_use]
        pub fn goal(&self) -> &Arc<A::Goal> {
            &self.live.goal
        }

        /// Publishes feedback. An error, such as for feedback that its definition does not allow,
        /// is logged.
        pub fn publish_feedback(&self, feedback: A::Feedback) {
            self.live.publish_feedback(feedback);
        }

        /// A publisher of feedback for other threads or tasks.
        pub fn feedback_publisher(&self) -> FeedbackPublisher<A> {
            FeedbackPublisher { live: self.live.clone() }
        }
    };
}

/// The methods of a goal that can be cancelled.
macro_rules! cancellable_methods {
    () => {
        /// Awaits a future until it ends, or until a client requests to cancel the goal: then the
        /// future is returned as an error, to be awaited further if that is wanted.
        ///
        /// The request waits until [`begin_cancelling`](Self::begin_cancelling) or
        /// [`reject_cancellation`](Self::reject_cancellation) answer it; it is rejected if the goal
        /// ends before.
        pub async fn until_cancel_requested<F: Future + Unpin>(
            &self,
            f: F,
        ) -> Result<F::Output, F> {
            self.live.cancellation.until_requested(f).await
        }

        /// Awaits a future like [`until_cancel_requested`](Self::until_cancel_requested), and drops
        /// it at a request to cancel the goal.
        #[allow(clippy::result_unit_err)] // the type that rclrs has
        pub async fn unless_cancel_requested<F: Future>(&self, f: F) -> Result<F::Output, ()> {
            self.live.cancellation.until_requested(pin!(f)).await.map_err(drop)
        }

        /// Begins to cancel the goal, also without a request. Requests to do so are accepted, those
        /// that wait and those to come.
        #[must_use]
        pub fn begin_cancelling(self) -> CancellingGoal<A> {
            self.live.begin_cancelling();
            CancellingGoal { live: self.live }
        }

        /// Rejects the requests to cancel the goal that wait.
        pub fn reject_cancellation(&self) {
            self.live.cancellation.reject();
        }
    };
}

/// The methods that end a goal.
macro_rules! end_methods {
    () => {
        /// Ends the goal with success. With a result that its definition does not allow, which is
        /// logged, it is aborted.
        pub fn succeeded_with(self, result: A::Result) -> TerminatedGoal {
            self.live.end(GoalEvent::Succeed, result);
            TerminatedGoal { uuid: self.live.uuid }
        }

        /// Ends the goal as aborted.
        pub fn aborted_with(self, result: A::Result) -> TerminatedGoal {
            self.live.end(GoalEvent::Abort, result);
            TerminatedGoal { uuid: self.live.uuid }
        }
    };
}

/// A goal that was accepted, and waits for its execution. Dropping it aborts the goal.
pub struct AcceptedGoal<A: Action> {
    live: Arc<LiveGoal<A>>,
}

impl<A: Action> AcceptedGoal<A> {
    live_methods!();
    cancellable_methods!();

    /// Begins the execution, also while a request to cancel the goal waits.
    #[must_use]
    pub fn execute(self) -> ExecutingGoal<A> {
        self.live.execute();
        ExecutingGoal { live: self.live }
    }

    /// Begins the execution or, if a client has requested that, to cancel the goal.
    #[must_use]
    pub fn begin(self) -> BeginAcceptedGoal<A> {
        match self.live.cancellation.is_requested() {
            true => BeginAcceptedGoal::Cancel(self.begin_cancelling()),
            false => BeginAcceptedGoal::Execute(self.execute()),
        }
    }
}

/// The state after [`AcceptedGoal::begin`].
pub enum BeginAcceptedGoal<A: Action> {
    /// The goal executes.
    Execute(ExecutingGoal<A>),
    /// The goal is being cancelled.
    Cancel(CancellingGoal<A>),
}

/// A goal that executes. Dropping it aborts the goal.
pub struct ExecutingGoal<A: Action> {
    live: Arc<LiveGoal<A>>,
}

impl<A: Action> ExecutingGoal<A> {
    live_methods!();
    cancellable_methods!();
    end_methods!();
}

/// A goal that is being cancelled. Requests to cancel it are accepted. Dropping it aborts the goal.
pub struct CancellingGoal<A: Action> {
    live: Arc<LiveGoal<A>>,
}

impl<A: Action> CancellingGoal<A> {
    live_methods!();
    end_methods!();

    /// Ends the goal as cancelled.
    pub fn cancelled_with(self, result: A::Result) -> TerminatedGoal {
        self.live.end(GoalEvent::Canceled, result);
        TerminatedGoal { uuid: self.live.uuid }
    }
}

/// A goal that has ended, or was rejected: the value that the callback of a server returns.
#[derive(Debug)]
pub struct TerminatedGoal {
    uuid: GoalUuid,
}

impl TerminatedGoal {
    /// The identity of the goal.
    pub fn uuid(&self) -> &GoalUuid {
        &self.uuid
    }
}

/// Publishes feedback of a goal; from any thread. Clones are the same publisher.
///
/// After the drop of its handle a goal is aborted once its publishers are dropped as well.
pub struct FeedbackPublisher<A: Action> {
    live: Arc<LiveGoal<A>>,
}

impl<A: Action> Clone for FeedbackPublisher<A> {
    fn clone(&self) -> Self {
        Self { live: self.live.clone() }
    }
}

impl<A: Action> FeedbackPublisher<A> {
    /// Publishes feedback, unless the goal has ended.
    ///
    /// # Errors
    /// The feedback, if the goal has ended.
    pub fn publish(&self, feedback: A::Feedback) -> Result<(), A::Feedback> {
        self.live.publish_feedback_if_live(feedback)
    }
}
