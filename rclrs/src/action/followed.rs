//! The goals that a client follows: the feedback and the status of each go to the parts of it.

use super::{GoalStatus, GoalStatusCode, GoalUuid};
use ringspin_adapter::lock;
use ros_env::action_msgs::msg::GoalStatusArray;
use ros_env::builtin_interfaces::msg::Time;
use std::collections::BTreeMap;
use std::sync::Mutex;
use tokio::sync::{mpsc, watch};

/// The goals that a client follows, with feedback of type `F`.
pub(super) struct Followed<F>(Mutex<BTreeMap<GoalUuid, Receivers<F>>>);

/// The parts of a client that receive news of one goal.
struct Receivers<F> {
    feedback: Vec<mpsc::UnboundedSender<F>>,
    statuses: Vec<mpsc::UnboundedSender<GoalStatus>>,
    status: watch::Sender<GoalStatus>,
}

impl<F> Receivers<F> {
    fn new(goal_id: GoalUuid) -> Self {
        let (code, stamp) = (GoalStatusCode::Unknown, Time::default());
        let status = watch::Sender::new(GoalStatus { code, goal_id, stamp });
        Self { feedback: Vec::new(), statuses: Vec::new(), status }
    }

    fn set_status(&self, status: GoalStatus) {
        for sender in &self.statuses {
            // One that was dropped meanwhile.
            let _ = sender.send(status.clone());
        }
        self.status.send_replace(status);
    }

    /// Forgets the parts that were dropped; false if none is left.
    fn prune(&mut self) -> bool {
        self.feedback.retain(|sender| !sender.is_closed());
        self.statuses.retain(|sender| !sender.is_closed());
        !(self.feedback.is_empty() && self.statuses.is_empty() && self.status.is_closed())
    }
}

impl<F: Clone> Followed<F> {
    pub(super) fn new() -> Self {
        Self(Mutex::default())
    }

    fn follow<T>(&self, id: GoalUuid, receive: impl FnOnce(&mut Receivers<F>) -> T) -> T {
        receive(lock(&self.0).entry(id).or_insert_with(|| Receivers::new(id)))
    }

    pub(super) fn feedback(&self, id: GoalUuid) -> mpsc::UnboundedReceiver<F> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.follow(id, |receivers| receivers.feedback.push(sender));
        receiver
    }

    pub(super) fn statuses(&self, id: GoalUuid) -> mpsc::UnboundedReceiver<GoalStatus> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.follow(id, |receivers| receivers.statuses.push(sender));
        receiver
    }

    pub(super) fn status(&self, id: GoalUuid) -> watch::Receiver<GoalStatus> {
        self.follow(id, |receivers| receivers.status.subscribe())
    }

    /// Forgets a goal unless there are parts that follow it.
    pub(super) fn prune(&self, id: GoalUuid) {
        let mut goals = lock(&self.0);
        if goals.get_mut(&id).is_some_and(|receivers| !receivers.prune()) {
            goals.remove(&id);
        }
    }

    pub(super) fn add_feedback(&self, id: GoalUuid, feedback: F) {
        let goals = lock(&self.0);
        let Some((last, others)) = goals.get(&id).and_then(|it| it.feedback.split_last()) else {
            return;
        };
        for sender in others {
            // One that was dropped meanwhile.
            let _ = sender.send(feedback.clone());
        }
        let _ = last.send(feedback);
    }

    pub(super) fn set_statuses(&self, message: GoalStatusArray) {
        let goals = lock(&self.0);
        for status in message.status_list {
            let goal_id = GoalUuid(status.goal_info.goal_id.uuid);
            if let Some(receivers) = goals.get(&goal_id) {
                let (code, stamp) = (status.status.into(), status.goal_info.stamp);
                receivers.set_status(GoalStatus { code, goal_id, stamp });
            }
        }
    }

    /// The server has accepted a goal. A later status may have arrived first.
    pub(super) fn accept(&self, goal_id: GoalUuid, stamp: Time) {
        let goals = lock(&self.0);
        let Some(receivers) = goals.get(&goal_id) else { return };
        if receivers.status.borrow().code == GoalStatusCode::Unknown {
            let code = GoalStatusCode::Accepted;
            receivers.set_status(GoalStatus { code, goal_id, stamp });
        }
    }
}
