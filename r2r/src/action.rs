//! Actions, made of the same services and topics as in ROS 2, so that these are carried like any.
//!
//! The states of goals are those of the executor's goal machine, which native servers use as well.
//! Here a goal is accepted by any task and later, and messages are carried in any form.
//!
//! | name | kind | server |
//! |---|---|---|
//! | `<action>/_action/send_goal` | service | answers when the application accepts or rejects |
//! | `<action>/_action/cancel_goal` | service | answers when it has decided for each goal |
//! | `<action>/_action/get_result` | service | answers when the goal ends |
//! | `<action>/_action/feedback` | topic | publishes the application's feedback |
//! | `<action>/_action/status` | topic, transient local | publishes all goals at each change |

mod client;
mod goals;
mod progress;
mod server;

pub use client::{ActionClient, ActionClientGoal, ActionClientGoalUntyped, ActionClientUntyped};
pub use ringspin::action::GoalStatus;
pub use server::{ActionServerCancelRequest, ActionServerGoal, ActionServerGoalRequest};

pub(crate) use client::Inner as ClientInner;
pub(crate) use goals::{Goals, KEPT, Known as KnownGoals};
pub(crate) use progress::AllProgress;
pub(crate) use server::answer_goal;
