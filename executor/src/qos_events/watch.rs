//! A watch: checks a condition when it is due, and calls the callback for each change.

use super::EventCallback;
use super::conditions::Condition;
use crate::context::Context;
use crate::entity::{CallbackSpec, Entity, EventSource, Notifier, Outcome};
use crate::event::{EventId, SourceId};
use crate::graph::GraphBuilder;
use crate::node::Node;
use crate::time::Time;
use crate::timer::Timer;
use std::sync::Arc;

/// The port of the notifier for changes: at the start, and when a publisher became alive or its
/// node was isolated. The other port is for the timer.
const NOTICE: usize = 0;

struct Watch<S, C: Condition> {
    condition: C,
    notifier: Arc<Notifier>,
    /// If its condition is timed.
    timer: Option<Timer>,
    /// The time at which the timer is due.
    due: Option<Time>,
    /// The value of [`Clock::switches`](crate::Clock::switches) at the last check.
    switches: u64,
    source: SourceId,
    events: u64,
    /// `None` once it is retired.
    callback: Option<EventCallback<S, C::Event>>,
}

impl<S, C: Condition> Entity<S> for Watch<S, C> {
    fn dispatch(&mut self, port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        match port {
            NOTICE if !self.notifier.take() => return Outcome::Nothing,
            NOTICE => {}
            _ => self.due = None,
        }
        let switches = if C::IS_TIMED { cx.clock.switches() } else { 0 };
        if switches != self.switches {
            self.switches = switches;
            self.condition.start_again();
        }
        if C::IS_TIMED && !cx.clock.has_begun() {
            return Outcome::Nothing; // noticed again when it has
        }
        let (event, next) = self.condition.look(cx.now());
        if next != self.due {
            self.due = next;
            match (&self.timer, next) {
                (Some(timer), Some(time)) => timer.start_at(time),
                (Some(timer), None) => timer.cancel(),
                (None, _) => {}
            }
        }
        let (Some(callback), Some(event)) = (&mut self.callback, event) else {
            return Outcome::Nothing;
        };
        cx.begin(EventId { source: self.source, sequence: self.events });
        self.events += 1;
        Outcome::from(callback(state, event, cx))
    }

    fn discard(&mut self, port: usize) -> bool {
        if port == NOTICE {
            self.notifier.take();
        }
        true
    }

    fn retire(&mut self) {
        self.callback = None;
    }
}

impl<S: Send + 'static> Node<S> {
    /// Adds a watch named `name`, which checks its condition when notified by `notifier`.
    pub(crate) fn watch<C: Condition>(
        &self,
        builder: &mut GraphBuilder,
        name: &str,
        notifier: Arc<Notifier>,
        condition: C,
        callback: EventCallback<S, C::Event>,
    ) {
        let event_loop = self.event_loop();
        let timer = C::IS_TIMED.then(|| self.new_idle_timer(builder, name));
        let target = builder.next_target(event_loop);
        let source = EventSource::Notifier(notifier.clone());
        let notice = CallbackSpec::new(target, source, Arc::default());
        builder.add_callback(event_loop, format!("{name}, notice"), notice);
        if let Some(timer) = &timer {
            let expiry = CallbackSpec::of_timer(target.port(1), timer);
            builder.add_callback(event_loop, format!("{name}, timer"), expiry);
        }
        let source = builder.next_source();
        let (due, switches, events, callback) = (None, 0, 0, Some(callback));
        let watch = Watch { condition, notifier, timer, due, switches, source, events, callback };
        builder.add_entity::<S>(event_loop, Box::new(watch));
    }
}
