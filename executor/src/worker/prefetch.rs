//! The memory that the expiry of a timer will touch, so that it can be fetched in time.
//!
//! In simulated time the next timer is known: it has the next deadline. In a large graph its data
//! is far away in memory, and along a chain of pointers. See [`ringspin_ringbuf::lines`].

use super::Worker;
use crate::event::CallbackId;
use crate::info::{GraphInfo, TopicInfo};
use crate::topic::AnyTopic;
use ringspin_ringbuf::{CacheLines, PrefetchPlan};
use std::sync::Arc;

/// Below this the near caches hold everything anyway.
const LARGE_BYTES: usize = 256 << 10;

/// A topic of the graph's description, and the topic.
type Described<'a> = (&'a TopicInfo, &'a Arc<dyn AnyTopic>);

impl Worker {
    /// Collects the memory that the expiries of its timers touch: directly, and through the
    /// messages that they may publish; not for small graphs. `topics` are those of `info`, in its
    /// order; `token` is the worker's number of each callback.
    pub(crate) fn plan_prefetches(
        &mut self,
        topics: &[(String, Arc<dyn AnyTopic>)],
        token: &dyn Fn(CallbackId) -> u32,
        info: &GraphInfo,
    ) {
        let mut published = info.loops.map(|_, _| Vec::<Described<'_>>::new());
        // The topics of services come after the others.
        for (described, (_, topic)) in info.topics.iter().zip(topics) {
            for &(publisher, _) in &described.publishers {
                published[publisher].push((described, topic));
            }
        }
        let mut prefetch_plan = PrefetchPlan::default();
        for callback in self.timers.callbacks() {
            let mut lines = CacheLines::default();
            self.add_to(token(callback), &mut lines);
            let event_loop = info.callbacks[callback].event_loop;
            for (described, topic) in &published[event_loop] {
                topic.add_to(&mut lines);
                let subscriptions = described.subscriptions.iter();
                subscriptions.for_each(|callback| self.add_to(token(*callback), &mut lines));
            }
            prefetch_plan.add(lines);
        }
        if prefetch_plan.bytes() >= LARGE_BYTES {
            self.timers.set_prefetch_plan(prefetch_plan);
        }
    }

    /// Adds the lines that the dispatch of `token` touches.
    fn add_to(&self, token: u32, lines: &mut CacheLines) {
        let route = self.routes.get(token as usize).filter(|route| route.is_callback());
        let Some(route) = route else { return };
        lines.add(route);
        lines.add(self.calls.of(token as usize));
        if let Some(timer) = route.timer.get() {
            self.timers.add_to(timer, lines);
        }
        let body = &self.bodies[route.loop_index as usize];
        lines.add(body);
        body.add_to(route.target.entity, lines);
    }
}
