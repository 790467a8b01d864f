//! Action servers without a callback.

use super::options::IntoActionServerOptions;
use super::server::{ActionServer, ActionServerState};
use super::server_goal::{RequestedGoal, TerminatedGoal};
use crate::error::RclrsError;
use crate::node::Node;
use rosidl_runtime_rs::Action;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Receives the goals of an action, for a task that works on several of them. It dereferences to
/// tokio's [`UnboundedReceiver`]: `recv` gives the next goal.
///
/// Created by [`NodeState::create_goal_receiver`](crate::NodeState::create_goal_receiver). Dropping
/// it ends the server like the last handle of an [`ActionServer`], and rejects the goals in it.
pub struct ActionGoalReceiver<A: Action> {
    server: ActionServerState<A>,
    receiver: UnboundedReceiver<RequestedGoal<A>>,
}

impl<A: Action> ActionGoalReceiver<A> {
    /// # Errors
    /// The errors of [`ActionServerState::create`].
    pub(crate) fn create<'a>(
        node: &Node,
        options: impl IntoActionServerOptions<'a>,
    ) -> Result<Self, RclrsError> {
        let (sender, receiver) = unbounded_channel();
        let options = options.into_action_server_options();
        let server = ActionServerState::sending(node, &options, sender)?;
        Ok(Self { server, receiver })
    }

    /// The receiver of a server that had a callback.
    pub(super) fn of_server(server: ActionServerState<A>) -> Self {
        let (sender, receiver) = unbounded_channel();
        server.send_goals_to(sender);
        Self { server, receiver }
    }

    /// Calls `callback` with the goals that wait here, and with further ones.
    #[must_use]
    pub fn into_action_server<Task>(
        self,
        mut callback: impl FnMut(RequestedGoal<A>) -> Task + Send + Sync + 'static,
    ) -> ActionServer<A>
    where
        Task: Future<Output = TerminatedGoal> + Send + 'static,
    {
        let Self { server, mut receiver } = self;
        // Goals pass through the receiver, so they stay in order.
        let tasks = server.tasks().clone();
        let of_goals = tasks.clone();
        tasks.add(async move {
            while let Some(goal) = receiver.recv().await {
                let task = callback(goal);
                of_goals.add(async move {
                    task.await;
                });
            }
        });
        Arc::new(server)
    }
}

impl<A: Action> Deref for ActionGoalReceiver<A> {
    type Target = UnboundedReceiver<RequestedGoal<A>>;

    fn deref(&self) -> &Self::Target {
        &self.receiver
    }
}

impl<A: Action> DerefMut for ActionGoalReceiver<A> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.receiver
    }
}
