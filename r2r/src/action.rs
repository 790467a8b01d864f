//! Actions, made of the same services and topics as in ROS 2, so that these are carried like any.
//!
//! | name | kind | server |
//! |---|---|---|
//! | `<action>/_action/send_goal` | service | answers when the application accepts or rejects |
//! | `<action>/_action/cancel_goal` | service | answers when it has decided for each goal |
//! | `<action>/_action/get_result` | service | answers when the goal ends |
//! | `<action>/_action/feedback` | topic | publishes what the application gives it |
//! | `<action>/_action/status` | topic, transient local | publishes all goals at each change |

mod client;
mod goals;
mod progress;
mod server;
mod status;

pub use client::{ActionClient, ActionClientGoal, ActionClientGoalUntyped, ActionClientUntyped};
pub use server::{ActionServerCancelRequest, ActionServerGoal, ActionServerGoalRequest};
pub use status::GoalStatus;

pub(crate) use client::Inner as ClientInner;
pub(crate) use goals::Goals;
pub(crate) use progress::AllProgress;
pub(crate) use server::answer_goal;

use crate::unique_identifier_msgs::msg::UUID;
use uuid::Uuid;

fn to_message(id: Uuid) -> UUID {
    UUID { uuid: id.as_bytes().to_vec() }
}

fn from_message(id: &UUID) -> Uuid {
    Uuid::from_slice(&id.uuid).unwrap_or_default()
}
