//! The services of a managed node as those of `lifecycle_msgs`.

use crate::cdr::{self, CdrError};
use crate::lifecycle_msgs::{msg, srv};
use crate::{CdrMapping, CdrService, RosMessage, RosType};
use ringspin_executor::{LifecycleState, Transition};
use std::marker::PhantomData;

/// The tables of the services.
pub(crate) static SERVICES: &[&CdrService] = &[
    CdrService::mapped::<srv::ChangeState::Service, Requested, Succeeded>(),
    CdrService::mapped::<srv::GetState::Service, Empty<srv::GetState::Request>, Current>(),
    CdrService::mapped::<
        srv::GetAvailableTransitions::Service,
        Empty<srv::GetAvailableTransitions::Request>,
        Available,
    >(),
];

enum Requested {}

impl CdrMapping for Requested {
    type Rust = Transition;
    const ROS_TYPE: RosType = RosType::of::<srv::ChangeState::Request>();

    /// ROS looks for the label among the transitions from the current state.
    fn write(transition: &Transition, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        let label = transition_label(*transition).into();
        let transition = msg::Transition { id: 0, label };
        cdr::write(&srv::ChangeState::Request { transition }, bytes)
    }

    /// A label goes before an id, as in rclcpp.
    fn read(bytes: &[u8]) -> Result<Transition, CdrError> {
        let request = cdr::from_bytes::<srv::ChangeState::Request>(bytes)?;
        let msg::Transition { id, label } = request.transition;
        let is_requested = |transition: &Transition| match label.is_empty() {
            true => STATES.iter().any(|state| transition_id(*transition, *state) == Some(id)),
            false => transition_label(*transition) == label,
        };
        Ok(Transition::ALL.into_iter().find(is_requested).unwrap_or(Transition::Unknown))
    }
}

enum Succeeded {}

impl CdrMapping for Succeeded {
    type Rust = bool;
    const ROS_TYPE: RosType = RosType::of::<srv::ChangeState::Response>();

    fn write(success: &bool, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&srv::ChangeState::Response { success: *success }, bytes)
    }

    fn read(bytes: &[u8]) -> Result<bool, CdrError> {
        Ok(cdr::from_bytes::<srv::ChangeState::Response>(bytes)?.success)
    }
}

/// A request without content.
struct Empty<M>(PhantomData<M>);

impl<M: RosMessage + Default> CdrMapping for Empty<M> {
    type Rust = ();
    const ROS_TYPE: RosType = RosType::of::<M>();

    fn write(_: &(), bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&M::default(), bytes)
    }

    fn read(_: &[u8]) -> Result<(), CdrError> {
        Ok(())
    }
}

enum Current {}

impl CdrMapping for Current {
    type Rust = LifecycleState;
    const ROS_TYPE: RosType = RosType::of::<srv::GetState::Response>();

    fn write(state: &LifecycleState, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&srv::GetState::Response { current_state: to_state(*state) }, bytes)
    }

    /// A node of ROS that is on its way to another state is unconfigured until it is there.
    fn read(bytes: &[u8]) -> Result<LifecycleState, CdrError> {
        let id = cdr::from_bytes::<srv::GetState::Response>(bytes)?.current_state.id;
        Ok(STATES.into_iter().find(|state| to_state(*state).id == id).unwrap_or_default())
    }
}

enum Available {}

impl CdrMapping for Available {
    type Rust = Vec<Transition>;
    const ROS_TYPE: RosType = RosType::of::<srv::GetAvailableTransitions::Response>();

    fn write(available: &Vec<Transition>, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        // Each state allows other transitions.
        let is_allowed = |state: &LifecycleState| {
            Transition::ALL.iter().all(|of| of.from(*state).is_some() == available.contains(of))
        };
        let state = STATES.into_iter().find(is_allowed).unwrap_or_default();
        let describe = |transition: &Transition| {
            let (id, goal) = (transition_id(*transition, state)?, transition.from(state)?);
            let label = transition_label(*transition).into();
            Some(msg::TransitionDescription {
                transition: msg::Transition { id, label },
                start_state: to_state(state),
                goal_state: to_state(goal),
            })
        };
        let available_transitions = available.iter().filter_map(describe).collect();
        cdr::write(&srv::GetAvailableTransitions::Response { available_transitions }, bytes)
    }

    fn read(bytes: &[u8]) -> Result<Vec<Transition>, CdrError> {
        let response = cdr::from_bytes::<srv::GetAvailableTransitions::Response>(bytes)?;
        let labels = response.available_transitions.iter().map(|of| &of.transition.label);
        let with = |label| Transition::ALL.into_iter().find(|of| transition_label(*of) == label);
        Ok(labels.filter_map(with).collect())
    }
}

const STATES: [LifecycleState; 4] = [
    LifecycleState::Unconfigured,
    LifecycleState::Inactive,
    LifecycleState::Active,
    LifecycleState::Finalized,
];

fn to_state(state: LifecycleState) -> msg::State {
    let (id, label) = match state {
        LifecycleState::Unconfigured => (1, "unconfigured"),
        LifecycleState::Inactive => (2, "inactive"),
        LifecycleState::Active => (3, "active"),
        LifecycleState::Finalized => (4, "finalized"),
    };
    msg::State { id, label: label.into() }
}

fn transition_label(transition: Transition) -> &'static str {
    match transition {
        Transition::Configure => "configure",
        Transition::Activate => "activate",
        Transition::Deactivate => "deactivate",
        Transition::Cleanup => "cleanup",
        Transition::Shutdown => "shutdown",
        Transition::Unknown => "unknown",
    }
}

/// The number of a transition from `state`, if it is allowed there.
fn transition_id(transition: Transition, state: LifecycleState) -> Option<u8> {
    transition.from(state)?;
    Some(match transition {
        Transition::Configure => 1,
        Transition::Cleanup => 2,
        Transition::Activate => 3,
        Transition::Deactivate => 4,
        Transition::Shutdown => 4 + to_state(state).id,
        Transition::Unknown => return None,
    })
}
