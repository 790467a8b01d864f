//! Nodes: state, callbacks, and names. A handle locks the graph for each creation and changes
//! nothing else, so that it can be used from any thread and in callbacks.
//!
//! Besides the graph a handle holds names and numbers that never change; the state is in the body
//! of its loop, which a worker owns, and `S` only marks its type. So clones need no lock for the
//! state, and a handle of a destroyed node is harmless: the graph finds no loop of that number and
//! refuses. A handle that shared the state would put a lock around every callback.
//!
//! The methods here serve nodes, groups and timers; `features/node.rs` adds all others.

use crate::base::departure::End;
use crate::base::digest::Digest;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::event::{CallbackId, LoopId, SourceId};
use crate::base::name::{self, NameKind};
use crate::base::time::{NodeClock, nanos};
use crate::delivery::budget::Budget;
use crate::delivery::context::Context;
use crate::delivery::control::FailurePolicy;
use crate::delivery::timer::{Timer, TimerControl, period_ns};
use crate::running::event_loop::{Body, CallbackResult, TimerEntity};
use crate::running::graph::{Builder, CallbackSpec, Graph, GraphBuilder, too_late};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A node, seen from one of its callback groups with state `S`. Clones are handles to the same
/// node, and may be used from any thread and in callbacks: an end that is created while the
/// executor runs is live when the call returns.
///
/// All callbacks of a group run one at a time, so each gets `&mut S` without a lock. A node starts
/// with a default group; [`create_callback_group`](Self::create_callback_group) opens further ones,
/// which may run at the same time on other cores.
///
/// This module has the timers, groups and settings of a node. The features add the other methods,
/// each in one file of `executor/src/features/`:
///
/// | file | methods |
/// |---|---|
/// | `endpoints.rs` | [`create_publisher`], [`create_subscription`], [`create_collector`] |
/// | `service/server.rs` | [`create_service`], [`create_deferred_service`] |
/// | `service/client.rs` | [`create_client`] |
/// | `action/server.rs` | [`create_action_server`] |
/// | `action/client.rs` | [`create_action_client`] |
/// | `task.rs` | [`spawn`], [`spawn_with_state`] |
/// | `task/stream.rs` | [`create_stream`], [`create_detached_stream`] |
/// | `task/interval.rs` | [`create_interval`], [`create_sleeper`] |
/// | `parameter/builder.rs` | [`declare_parameter`], [`parameter`] |
/// | `parameter/change.rs` | [`on_parameter_change`] |
/// | `synchronize.rs` | [`create_synchronized_subscription`] |
/// | `lifecycle.rs` | [`lifecycle`] |
/// | `reentrant.rs` | [`create_reentrant_group`] |
/// | `guard_condition.rs` | [`create_guard_condition`] |
/// | `input_entity.rs` | [`create_input`] |
/// | `random.rs` | [`create_random`] |
/// | `graph_arguments.rs` | [`resolve_topic_name`], [`resolve_service_name`] |
///
/// [`create_publisher`]: Self::create_publisher
/// [`create_subscription`]: Self::create_subscription
/// [`create_collector`]: Self::create_collector
/// [`create_service`]: Self::create_service
/// [`create_deferred_service`]: Self::create_deferred_service
/// [`create_client`]: Self::create_client
/// [`create_action_server`]: Self::create_action_server
/// [`create_action_client`]: Self::create_action_client
/// [`spawn`]: Self::spawn
/// [`spawn_with_state`]: Self::spawn_with_state
/// [`create_stream`]: Self::create_stream
/// [`create_detached_stream`]: Self::create_detached_stream
/// [`create_interval`]: Self::create_interval
/// [`create_sleeper`]: Self::create_sleeper
/// [`declare_parameter`]: Self::declare_parameter
/// [`parameter`]: Self::parameter
/// [`on_parameter_change`]: Self::on_parameter_change
/// [`create_synchronized_subscription`]: Self::create_synchronized_subscription
/// [`lifecycle`]: Self::lifecycle
/// [`create_reentrant_group`]: Self::create_reentrant_group
/// [`create_guard_condition`]: Self::create_guard_condition
/// [`create_input`]: Self::create_input
/// [`create_random`]: Self::create_random
/// [`resolve_topic_name`]: Self::resolve_topic_name
/// [`resolve_service_name`]: Self::resolve_service_name
#[derive(Debug)]
pub struct Node<S> {
    pub(crate) handle: NodeHandle,
    state: PhantomData<fn(S)>,
}

/// The part of a [`Node`] that depends on no type of a state, so that its methods are compiled
/// once.
#[derive(Clone, Debug)]
pub(crate) struct NodeHandle {
    pub(crate) graph: Graph,
    pub(crate) namespace: String,
    pub(crate) base_name: String,
    pub(crate) full_name: String,
    pub(crate) node_index: usize,
    pub(crate) event_loop: LoopId,
    /// The owner of everything that is created through this handle, if the owner ends before the
    /// node.
    pub(crate) owner: Option<End>,
}

impl<S> Clone for Node<S> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), state: PhantomData }
    }
}

impl NodeHandle {
    /// Locks the graph, to add `what`.
    pub(crate) fn builder(&self, what: &str) -> Result<Builder<'_>> {
        let mut builder = self.graph.builder();
        let what = || format!("{what} of node {}", self.full_name);
        let open = builder.check_open_loop(self.event_loop, what);
        open.map_err(|error| error.in_node(&*self.full_name))?;
        builder.set_owner(self.owner);
        Ok(builder)
    }

    /// Locks the graph, to set `what`, which has to be done before spinning.
    pub(crate) fn unfrozen(&self, what: &str) -> Result<Builder<'_>> {
        let builder = self.graph.builder();
        match builder.is_frozen() {
            false => Ok(builder),
            true => Err(self.comes_late(what)),
        }
    }

    fn comes_late(&self, what: &str) -> Error {
        let node = &self.full_name;
        too_late(&format!("{what} of node {node}")).in_node(&**node)
    }

    /// The fully qualified name of a topic or service in this node.
    pub(crate) fn resolve(&self, kind: NameKind, name: &str) -> Result<String> {
        let node = (&*self.namespace, &*self.base_name);
        self.graph.builder().resolve_name(kind, name, node)
    }

    pub(crate) fn period_ns(&self, period: Duration) -> Result<u64> {
        period_ns(period).map_err(|error| {
            let node = &self.full_name;
            error
                .reworded(|text| format!("failed to create a timer of node {node}: {text}"))
                .in_node(&**node)
        })
    }

    /// A timer that is not yet in the graph.
    fn new_timer(
        &self,
        builder: &GraphBuilder,
        name: &str,
        period_ns: u64,
        repeats: bool,
    ) -> Timer {
        let name = format!("{}: {name}", self.full_name);
        let clock = builder.clock.clone();
        Timer::new(Arc::new(TimerControl::new(name, clock, period_ns, repeats)))
    }

    /// A timer that is not yet in the graph, and is cancelled until it is given a deadline.
    pub(crate) fn new_idle_timer(&self, builder: &GraphBuilder, name: &str) -> Timer {
        let timer = self.new_timer(builder, name, 1, false);
        timer.cancel();
        timer
    }

    /// Adds a timer to the graph, which stays locked, without its entity.
    fn declare_timer(&self, name: String, period: Duration, repeats: bool) -> Result<NewTimer<'_>> {
        let mut builder = self.builder(&name)?;
        let period_ns = self.period_ns(period)?;
        let timer = self.new_timer(&builder, &name, period_ns, repeats);
        let source = builder.next_source();
        let target = builder.next_target(self.event_loop);
        let spec = CallbackSpec::of_timer(target, &timer);
        let id = builder.add_callback(self.event_loop, name, spec);
        timer.control().registration.get_or_init(|| self.graph.registration(id));
        Ok((builder, timer, id, source))
    }

    fn set_deadline(&self, callback: &str, deadline: Duration) -> Result<()> {
        let mut builder = self.builder(&format!("deadline of {callback}"))?;
        let deadline = Duration::from_nanos(nanos(deadline));
        let of_loop = builder.loop_info(self.event_loop).callbacks.clone();
        let name = |id: &CallbackId| builder.callback_name(*id);
        let named: Vec<_> = of_loop.iter().filter(|id| name(id) == callback).copied().collect();
        if builder.is_frozen() {
            if !named.is_empty() {
                return Err(self.comes_late(&format!("deadline of {callback}")));
            }
            builder.set_later_deadline(self.event_loop, callback, deadline);
            return Ok(());
        }
        if named.is_empty() {
            let node = &self.full_name;
            let callbacks: Vec<_> = of_loop.iter().map(|id| format!("`{}`", name(id))).collect();
            let text = format!(
                "failed to set a deadline of node {node}: this group has no callback \
                 `{callback}`; create it first, or choose one of: {}",
                callbacks.join(", ")
            );
            return Err(Error::new(ErrorKind::NotFound, text).in_node(&**node));
        }
        for id in named {
            builder.set_deadline(id, deadline);
        }
        Ok(())
    }
}

type NewTimer<'a> = (Builder<'a>, Timer, CallbackId, SourceId);

impl<S: Send + 'static> Node<S> {
    pub(crate) fn new(handle: NodeHandle) -> Self {
        Self { handle, state: PhantomData }
    }

    /// A handle that adds parts of `owner`: they end with it.
    pub(crate) fn part_of(&self, owner: End) -> Self {
        Self::new(NodeHandle { owner: Some(owner), ..self.handle.clone() })
    }

    /// The fully qualified name: namespace and name.
    pub fn full_name(&self) -> &str {
        &self.handle.full_name
    }

    /// The event loop that runs this group's callbacks.
    pub fn event_loop(&self) -> LoopId {
        self.handle.event_loop
    }

    /// Gives this group's event loop a priority over the other loops of its worker; the default is
    /// zero, higher goes first.
    ///
    /// Loops of equal priority take turns of four events, or live of a millisecond if that is over
    /// earlier. While loops of lower priority are ready, every 17th event is theirs, in turns, so
    /// that they do not starve; but not directly before an event of a higher priority than the last
    /// one. So a timer that is due waits for at most one callback of a lower priority. In
    /// deterministic mode priorities have no effect: events are dispatched in the order in which
    /// they became ready.
    ///
    /// While the graph runs, the priority holds from the next pause of the loop's worker on, and
    /// for every event of callbacks that are created afterwards.
    ///
    /// # Errors
    /// Fails if the node was destroyed, the executor was dropped, or its worker is full.
    pub fn set_priority(&self, priority: u8) -> Result<()> {
        self.builder("a priority")?.set_priority(self.event_loop(), priority);
        Ok(())
    }

    /// Gives the callback group a budget, such as 2 ms in 10 ms, or none. Periods in which its
    /// callbacks ran for longer are counted in [`Statistics::budgets`](crate::Statistics::budgets)
    /// and logged as a warning; nothing is interrupted. Each callback then costs two readings of
    /// the clock. In simulated time the durations are those that the simulation gives callbacks.
    ///
    /// ```
    /// # use ringspin_executor::{Budget, Graph};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("planner", ())?;
    /// node.set_budget(Budget::new(Duration::from_millis(2), Duration::from_millis(10))?)?;
    /// node.set_budget(None)?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the node was destroyed, the executor was dropped, or its worker is full.
    pub fn set_budget(&self, budget: impl Into<Option<Budget>>) -> Result<()> {
        self.builder("a budget")?.set_budget(self.event_loop(), budget.into());
        Ok(())
    }

    /// Locks the graph, to add `what`.
    pub(crate) fn builder(&self, what: &str) -> Result<Builder<'_>> {
        self.handle.builder(what)
    }

    /// Calls `callback` every `period`.
    ///
    /// Timers are anchored in phase at the start of the executor (in deterministic mode, at
    /// simulated time zero), or at their creation if that is later: a late call does not move the
    /// later ones. A period that passes while the call before it still waits is counted as missed
    /// and logged, never made up for.
    ///
    /// Live, a due timer is noticed after the callback that runs at that moment, or the one that is
    /// about to begin. Its expiry is then an event of this group: it waits for the events that the
    /// group has ready already, and for one turn of each other group of its
    /// [priority](Self::set_priority) on its core for every four of them. A separate group with a
    /// higher priority waits for that one callback only.
    ///
    /// # Errors
    /// Fails for a period of zero, or an executor that was dropped.
    pub fn create_timer<F, R>(&self, period: Duration, callback: F) -> Result<Timer>
    where
        F: FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        Ok(self.add_timer(format!("timer {period:?}"), period, true, callback)?.1)
    }

    /// Calls `callback` once, `delay` after the start of the executor, or after the creation of the
    /// timer if that is later; and again, `delay` after each [`Timer::reset`]. Cancel it at once
    /// for a timer that waits for its first reset.
    ///
    /// A simulation that starts at a later time than zero, such as a replay, counts from that time.
    ///
    /// # Errors
    /// Fails for a delay of zero or of more than 584 years, or an executor that was dropped.
    pub fn create_one_shot_timer<F, R>(&self, delay: Duration, callback: F) -> Result<Timer>
    where
        F: FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        Ok(self.add_timer(format!("one-shot timer {delay:?}"), delay, false, callback)?.1)
    }

    /// Adds a timer to the graph, which stays locked.
    pub(crate) fn add_timer<F, R>(
        &self,
        name: String,
        period: Duration,
        repeats: bool,
        callback: F,
    ) -> Result<(Builder<'_>, Timer, CallbackId)>
    where
        F: FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let (mut builder, timer, id, source) = self.handle.declare_timer(name, period, repeats)?;
        let entity = TimerEntity::new(timer.clone(), source, callback);
        builder.add_entity::<S>(self.event_loop(), Box::new(entity));
        Ok((builder, timer, id))
    }

    /// Ends the node with all its groups, callbacks, timers, services and tasks; the handle of a
    /// [callback group](Self::create_callback_group) ends only this group. None of them is called
    /// any more, except that a callback that runs finishes. The states and callbacks are dropped on
    /// their own event loops, at the next pause of each. From any thread, and in the node's own
    /// callbacks. Its name is free for another node or group; handles of what has ended can create
    /// nothing any more and return an [`Error`]. Publishers deliver until their last handle is
    /// dropped.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let graph = Graph::new();
    /// let first = graph.create_node("planner", ())?;
    /// first.destroy();
    /// graph.create_node("planner", ())?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn destroy(&self) {
        let NodeHandle { graph, event_loop, node_index, .. } = &self.handle;
        graph.builder().destroy_loop(*event_loop, *node_index);
    }

    /// The clock that the node's callbacks see; before the executor runs it stands at zero.
    pub fn clock(&self) -> NodeClock {
        self.handle.graph.builder().clock.clone()
    }

    /// Sets the reaction to a failure of this node's callbacks, instead of the executor's policy.
    /// It holds for failures from now on.
    ///
    /// # Errors
    /// Fails if the node was destroyed, the executor was dropped, or its worker is full.
    pub fn set_failure_policy(&self, policy: FailurePolicy) -> Result<()> {
        self.builder("a failure policy")?.set_policy(self.handle.node_index, policy);
        Ok(())
    }

    /// Opens a callback group with its own state and its own event loop.
    ///
    /// The handle returned is the same node, seen from the new group; its
    /// [`destroy`](Self::destroy) ends the group alone.
    ///
    /// # Errors
    /// Fails for an invalid or duplicate name, or an executor that was dropped.
    pub fn create_callback_group<G: Send + 'static>(
        &self,
        name: &str,
        state: G,
    ) -> Result<Node<G>> {
        name::validate_group_name(name)?;
        let handle = &self.handle;
        let mut builder = handle.graph.builder();
        let body = Box::new(Body::new(state));
        let event_loop = builder.create_group(&handle.full_name, name, handle.node_index, body)?;
        Ok(Node::new(NodeHandle { event_loop, owner: None, ..handle.clone() }))
    }

    /// Gives a callback of this group a deadline: it is to return at most `deadline` after its
    /// event became ready (a timer's: after it was due). Late returns are counted as `late` in the
    /// statistics, and logged. In deterministic mode callbacks take the time that the simulation
    /// gives them, by default none.
    ///
    /// `callback` is its name as statistics and failures have it, for example
    /// `subscription /points` or `timer 100ms`; if several have it, all get the deadline.
    ///
    /// While the graph runs, it is set first, for callbacks that are created afterwards: so they
    /// have it from their first event on.
    ///
    /// # Errors
    /// Fails for an unknown callback, or, while the graph runs, for one that exists.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, Message, QoS};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("brake", ())?;
    /// node.create_subscription("stop", QoS::default(), |_, _: &Message<()>, _| ())?;
    /// node.set_deadline("subscription /stop", Duration::from_millis(5))?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn set_deadline(&self, callback: &str, deadline: Duration) -> Result<()> {
        self.handle.set_deadline(callback, deadline)
    }
}

impl<S: Digest + Send + 'static> Node<S> {
    /// Adds the state of this group to the digest of each of its dispatches in deterministic mode,
    /// after the callback. While the graph runs: from the next pause of the loop's worker on.
    ///
    /// # Errors
    /// Fails if the node was destroyed, the executor was dropped, or its worker is full.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("odometry", [0.0f64; 3])?;
    /// node.digest_state()?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn digest_state(&self) -> Result<()> {
        let mut builder = self.builder("a digest of its state")?;
        builder.digests.digest_states();
        builder.loop_info_mut(self.event_loop()).digested = true;
        builder.change_body::<S>(self.event_loop(), |body| {
            body.show_state(|state, digests| digests.add(state));
        });
        Ok(())
    }
}
