//! Nodes: state, callbacks, and names.

use crate::context::Context;
use crate::control::FailurePolicy;
use crate::departure::End;
use crate::digest::Digest;
use crate::event::{CallbackId, LoopId};
use crate::event_loop::{Body, CallbackResult, TimerEntity};
use crate::graph::{
    AddError, Builder, CallbackSpec, CreateGroupError, CreateTimerError, FrozenError, Graph,
    GraphBuilder, SetDeadlineError,
};
use crate::name;
use crate::time::{NodeClock, nanos};
use crate::timer::{Timer, TimerControl, period_ns};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A node, seen from one of its callback groups with state `S`. Clones are handles to the same
/// node, and may be used from any thread and in callbacks: what is created while the executor runs
/// is live when the call returns.
///
/// All callbacks of a group run one at a time, so each gets `&mut S` without a lock. A node starts
/// with a default group; [`create_callback_group`](Self::create_callback_group) opens further ones,
/// which may run at the same time on other cores.
#[derive(Debug)]
pub struct Node<S> {
    pub(crate) graph: Graph,
    pub(crate) namespace: String,
    pub(crate) base_name: String,
    full_name: String,
    pub(crate) node_index: usize,
    event_loop: LoopId,
    /// The owner of what is created through this handle, if that ends before the node.
    owner: Option<End>,
    state: PhantomData<fn(S)>,
}

impl<S> Clone for Node<S> {
    fn clone(&self) -> Self {
        let Self { graph, namespace, base_name, full_name, node_index, event_loop, owner, .. } =
            self;
        Self {
            graph: graph.clone(),
            namespace: namespace.clone(),
            base_name: base_name.clone(),
            full_name: full_name.clone(),
            node_index: *node_index,
            event_loop: *event_loop,
            owner: *owner,
            state: PhantomData,
        }
    }
}

impl<S: Send + 'static> Node<S> {
    pub(crate) fn new(
        graph: Graph,
        namespace: String,
        base_name: String,
        full_name: String,
        node_index: usize,
        event_loop: LoopId,
    ) -> Self {
        let (owner, state) = (None, PhantomData);
        Self { graph, namespace, base_name, full_name, node_index, event_loop, owner, state }
    }

    /// The node, seen by a part of `owner`: what it creates ends with that.
    pub(crate) fn part_of(&self, owner: End) -> Self {
        Self { owner: Some(owner), ..self.clone() }
    }

    /// The fully qualified name: namespace and name.
    pub fn full_name(&self) -> &str {
        &self.full_name
    }

    pub(crate) fn node_index(&self) -> usize {
        self.node_index
    }

    /// The event loop that runs this group's callbacks.
    pub fn event_loop(&self) -> LoopId {
        self.event_loop
    }

    /// Gives this group's event loop a priority over the other loops of its worker; the default is
    /// zero, higher goes first.
    ///
    /// Loops of equal priority take turns of four events. While loops of lower priority are ready,
    /// every 17th event is theirs, in turns, so that they do not starve; but not directly before an
    /// event of a higher priority than the last one. So a timer that is due waits for at most one
    /// callback of a lower priority. In deterministic mode priorities have no effect: events are
    /// dispatched in the order in which they became ready.
    ///
    /// While the graph runs, the priority holds from the next pause of the loop's worker on, and
    /// for every event of callbacks that are created afterwards.
    ///
    /// # Errors
    /// [`AddError`].
    pub fn set_priority(&self, priority: u8) -> Result<(), AddError> {
        self.builder("a priority")?.set_priority(self.event_loop, priority);
        Ok(())
    }

    /// Locks the graph, to add `what`.
    pub(crate) fn builder(&self, what: &str) -> Result<Builder<'_>, AddError> {
        let mut builder = self.graph.builder();
        let what = || format!("{what} of node {}", self.full_name);
        builder.check_open_loop(self.event_loop, what)?;
        builder.set_owner(self.owner);
        Ok(builder)
    }

    /// Locks the graph, to set `what`, which has to be done before spinning.
    pub(crate) fn unfrozen(&self, what: &str) -> Result<Builder<'_>, FrozenError> {
        let builder = self.graph.builder();
        match builder.is_frozen() {
            false => Ok(builder),
            true => Err(FrozenError { what: format!("{what} of node {}", self.full_name) }),
        }
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
    /// [priority](Self::set_priority) on its core for every four of them. A group of its own with a
    /// higher priority waits for that one callback only.
    ///
    /// # Errors
    /// [`CreateTimerError`] for a period of zero, or an executor that is gone.
    pub fn create_timer<F, R>(
        &self,
        period: Duration,
        callback: F,
    ) -> Result<Timer, CreateTimerError>
    where
        F: FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        self.add_timer(format!("timer {period:?}"), period, true, callback)
    }

    /// Calls `callback` once, `delay` after the start of the executor, or after the creation of the
    /// timer if that is later; and again, `delay` after each [`Timer::reset`]. Cancel it at once
    /// for a timer that waits for its first reset.
    ///
    /// A simulation that starts at a later time than zero, such as a replay, counts from that time.
    ///
    /// # Errors
    /// The errors of [`create_timer`](Self::create_timer).
    pub fn create_one_shot_timer<F, R>(
        &self,
        delay: Duration,
        callback: F,
    ) -> Result<Timer, CreateTimerError>
    where
        F: FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        self.add_timer(format!("one-shot timer {delay:?}"), delay, false, callback)
    }

    fn add_timer<F, R>(
        &self,
        name: String,
        period: Duration,
        repeats: bool,
        callback: F,
    ) -> Result<Timer, CreateTimerError>
    where
        F: FnMut(&mut S, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let mut builder = self.builder(&name)?;
        let period_ns = self.period_ns(period)?;
        let timer = self.new_timer(&builder, &name, period_ns, repeats);
        let source = builder.next_source();
        let target = builder.next_target(self.event_loop);
        let entity = TimerEntity::new(timer.clone(), source, callback);
        let spec = CallbackSpec::of_timer(target, &timer);
        let id = builder.add_callback(self.event_loop, name, spec);
        timer.control().registration.get_or_init(|| self.graph.registration(id));
        builder.add_entity::<S>(self.event_loop, Box::new(entity));
        Ok(timer)
    }

    /// The period of a timer in nanoseconds.
    pub(crate) fn period_ns(&self, period: Duration) -> Result<u64, CreateTimerError> {
        let node = || self.full_name.clone();
        period_ns(period).map_err(|error| CreateTimerError::Period { node: node(), error })
    }

    /// A timer that is not yet in the graph.
    pub(crate) fn new_timer(
        &self,
        builder: &GraphBuilder,
        name: &str,
        period_ns: u64,
        repeats: bool,
    ) -> Timer {
        let name = format!("{}: {name}", self.full_name);
        let clock = builder.clock().clone();
        Timer::new(Arc::new(TimerControl::new(name, clock, period_ns, repeats)))
    }

    /// A timer that is not yet in the graph, and is cancelled until it is given a deadline.
    pub(crate) fn new_idle_timer(&self, builder: &GraphBuilder, name: &str) -> Timer {
        let timer = self.new_timer(builder, name, 1, false);
        timer.cancel();
        timer
    }

    /// Ends the node with all its groups, callbacks, timers, services and tasks: none of them is
    /// called any more, except that a callback that runs finishes. The states and callbacks are
    /// dropped on their own event loops, at the next pause of each. From any thread, and in the
    /// node's own callbacks. Its name is free for another node; what is created through handles of
    /// this node fails with [`AddError`]. Publishers of the node deliver until their last handle
    /// is dropped.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let graph = Graph::new();
    /// let first = graph.create_node("planner", ())?;
    /// first.destroy();
    /// graph.create_node("planner", ())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn destroy(&self) {
        self.graph.builder().destroy_node(self.node_index);
    }

    /// The clock that the node's callbacks see; before the executor runs it stands at zero.
    pub fn clock(&self) -> NodeClock {
        self.graph.builder().clock().clone()
    }

    /// Sets the reaction to a failure of this node's callbacks, instead of the executor's policy.
    /// It holds for failures from now on.
    ///
    /// # Errors
    /// [`AddError`].
    pub fn set_failure_policy(&self, policy: FailurePolicy) -> Result<(), AddError> {
        self.builder("a failure policy")?.set_policy(self.node_index, policy);
        Ok(())
    }

    /// Opens a callback group with its own state and its own event loop.
    ///
    /// The handle returned is the same node, seen from the new group.
    ///
    /// # Errors
    /// [`CreateGroupError`] for an invalid or duplicate name, or an executor that is gone.
    pub fn create_callback_group<G: Send + 'static>(
        &self,
        name: &str,
        state: G,
    ) -> Result<Node<G>, CreateGroupError> {
        name::validate_group_name(name)?;
        let mut builder = self.graph.builder();
        let event_loop =
            builder.create_group(&self.full_name, name, self.node_index, Body::new(state))?;
        drop(builder);
        let Self { graph, namespace, base_name, full_name, node_index, .. } = self;
        Ok(Node::new(
            graph.clone(),
            namespace.clone(),
            base_name.clone(),
            full_name.clone(),
            *node_index,
            event_loop,
        ))
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
    /// [`SetDeadlineError`] for an unknown callback, or, while the graph runs, for one that exists.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, Message, QoS};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("brake", ())?;
    /// node.create_subscription("stop", QoS::default(), |_, _: &Message<()>, _| ())?;
    /// node.set_deadline("subscription /stop", Duration::from_millis(5))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_deadline(&self, callback: &str, deadline: Duration) -> Result<(), SetDeadlineError> {
        let mut builder = self.builder(&format!("deadline of {callback}"))?;
        let deadline = Duration::from_nanos(nanos(deadline));
        let of_loop = builder.loop_info(self.event_loop()).callbacks.clone();
        let name = |id: &CallbackId| builder.callback_name(*id);
        let named: Vec<_> = of_loop.iter().filter(|id| name(id) == callback).copied().collect();
        if builder.is_frozen() {
            if !named.is_empty() {
                let what = format!("deadline of {callback} of node {}", self.full_name);
                return Err(FrozenError { what }.into());
            }
            builder.set_later_deadline(self.event_loop, callback, deadline);
            return Ok(());
        }
        if named.is_empty() {
            return Err(SetDeadlineError::NoCallback {
                node: self.full_name().into(),
                callback: callback.into(),
                callbacks: of_loop.iter().map(|id| format!("`{}`", name(id))).collect(),
            });
        }
        for id in named {
            builder.set_deadline(id, deadline);
        }
        Ok(())
    }
}

impl<S: Digest + Send + 'static> Node<S> {
    /// Adds the state of this group to the digest of each of its dispatches in deterministic mode,
    /// after the callback. While the graph runs: from the next pause of the loop's worker on.
    ///
    /// # Errors
    /// [`AddError`].
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let graph = Graph::new();
    /// let node = graph.create_node("odometry", [0.0f64; 3])?;
    /// node.digest_state()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn digest_state(&self) -> Result<(), AddError> {
        let mut builder = self.builder("a digest of its state")?;
        builder.digests().digest_states();
        builder.loop_info_mut(self.event_loop()).digested = true;
        builder.change_body::<S>(self.event_loop(), |body| {
            body.show_state(|state, digests| digests.add(state));
        });
        Ok(())
    }
}
