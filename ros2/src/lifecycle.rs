//! The services of a managed node as those of `lifecycle_msgs`.

use crate::rcl::{Mapping, RosMessage, RosService, ServiceMapping, ServiceType};
use r2r::lifecycle_msgs::{msg, srv};
use ringspin_executor::{LifecycleState, Transition};
use std::marker::PhantomData;

/// The tables of the services.
pub(crate) static SERVICES: &[&ServiceType] = &[
    ServiceType::mapped::<ChangeState>(),
    ServiceType::mapped::<GetState>(),
    ServiceType::mapped::<GetAvailableTransitions>(),
];

/// The C struct of a message.
type Native<W> = <W as RosMessage>::Native;

enum ChangeState {}

impl ServiceMapping for ChangeState {
    type Wire = srv::ChangeState::Service;
    type Request = Requested;
    type Response = Succeeded;
}

enum Requested {}

impl Mapping for Requested {
    type Rust = Transition;
    type Wire = srv::ChangeState::Request;

    /// ROS looks for the label among the transitions from the current state.
    fn to_wire(transition: &Transition, wire: &mut Native<Self::Wire>) {
        let label = transition_label(*transition).into();
        srv::ChangeState::Request { transition: msg::Transition { id: 0, label } }.to_native(wire);
    }

    /// A label goes before an id, as in rclcpp.
    fn from_wire(wire: &Native<Self::Wire>) -> Transition {
        let msg::Transition { id, label } = Self::Wire::from_native(wire).transition;
        let is_requested = |transition: &Transition| match label.is_empty() {
            true => STATES.iter().any(|state| transition_id(*transition, *state) == Some(id)),
            false => transition_label(*transition) == label,
        };
        Transition::ALL.into_iter().find(is_requested).unwrap_or(Transition::Unknown)
    }
}

enum Succeeded {}

impl Mapping for Succeeded {
    type Rust = bool;
    type Wire = srv::ChangeState::Response;

    fn to_wire(success: &bool, wire: &mut Native<Self::Wire>) {
        wire.success = *success;
    }

    fn from_wire(wire: &Native<Self::Wire>) -> bool {
        wire.success
    }
}

/// A request without content.
struct Empty<W>(PhantomData<W>);

impl<W: RosMessage> Mapping for Empty<W> {
    type Rust = ();
    type Wire = W;

    fn to_wire(_: &(), _: &mut Native<W>) {}

    fn from_wire(_: &Native<W>) {}
}

enum GetState {}

impl ServiceMapping for GetState {
    type Wire = srv::GetState::Service;
    type Request = Empty<<Self::Wire as RosService>::Request>;
    type Response = Current;
}

enum Current {}

impl Mapping for Current {
    type Rust = LifecycleState;
    type Wire = srv::GetState::Response;

    fn to_wire(state: &LifecycleState, wire: &mut Native<Self::Wire>) {
        srv::GetState::Response { current_state: to_state(*state) }.to_native(wire);
    }

    /// A node of ROS that is on its way to another state is unconfigured until it is there.
    fn from_wire(wire: &Native<Self::Wire>) -> LifecycleState {
        let id = Self::Wire::from_native(wire).current_state.id;
        STATES.into_iter().find(|state| to_state(*state).id == id).unwrap_or_default()
    }
}

enum GetAvailableTransitions {}

impl ServiceMapping for GetAvailableTransitions {
    type Wire = srv::GetAvailableTransitions::Service;
    type Request = Empty<<Self::Wire as RosService>::Request>;
    type Response = Available;
}

enum Available {}

impl Mapping for Available {
    type Rust = Vec<Transition>;
    type Wire = srv::GetAvailableTransitions::Response;

    fn to_wire(available: &Vec<Transition>, wire: &mut Native<Self::Wire>) {
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
        srv::GetAvailableTransitions::Response { available_transitions }.to_native(wire);
    }

    fn from_wire(wire: &Native<Self::Wire>) -> Vec<Transition> {
        let available = Self::Wire::from_native(wire).available_transitions;
        let labels = available.iter().map(|of| &of.transition.label);
        let with = |label| Transition::ALL.into_iter().find(|of| transition_label(*of) == label);
        labels.filter_map(with).collect()
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
