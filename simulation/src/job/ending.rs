//! Ending with the messages of a topic: a condition that a file can state.
//!
//! The recorder counts on the thread of the run the messages that each subscription begins to
//! handle, and writes the greatest count into a counter that the session reads at each quiet
//! instant; they share it because the worker owns the recorder. Handled messages are counted and
//! not published ones, so the run ends after the callbacks that a user waits for.

use super::Job;
use ringspin_executor::{
    CallbackId, Dispatch, Error, ErrorKind, GraphInfo, Recorder, Result, Table,
};
use ringspin_modes::Executor;
use ringspin_modes::names::way_out;
use ringspin_ringbuf::Counter;
use std::sync::Arc;

/// The messages that end a run.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    pub(super) topic: String,
    pub(super) messages: u64,
}

pub(super) struct Ended {
    messages: u64,
    /// As many messages as the subscription has handled that is ahead of the others.
    handled: Arc<Counter>,
}

/// Counts what each subscription of the topic handles.
struct Countdown {
    /// By callback; `None` for those that are no subscriptions of the topic.
    handled: Table<CallbackId, u64>,
    most: Arc<Counter>,
}

impl<T> Job<'_, T> {
    /// Ends at the first quiet instant after a subscription of `topic` (fully qualified) has
    /// handled `messages` messages.
    ///
    /// A topic without a subscription is an error when the job starts.
    ///
    /// ```
    /// # use ringspin_executor::{Message, QoS, Time};
    /// # use ringspin_simulation::Job;
    /// # use std::time::Duration;
    /// let job = Job::new(|graph| {
    ///     let node = graph.create_node("node", ())?;
    ///     let out = node.create_publisher("ticks", QoS::default())?;
    ///     node.create_timer(Duration::from_secs(1), move |_, _| out.publish(()))?;
    ///     node.create_subscription("ticks", QoS::default(), |_, _: &Message<()>, _| {})?;
    ///     Ok(())
    /// });
    /// assert_eq!(job.end_on_messages("/ticks", 3).run()?.end(), Time::from_secs(3));
    /// # Ok::<(), ringspin_executor::BoxError>(())
    /// ```
    #[must_use]
    pub fn end_on_messages(mut self, topic: impl Into<String>, messages: u64) -> Self {
        self.ending = Some(Ending { topic: topic.into(), messages });
        self
    }
}

impl Ending {
    /// Watches the graph of `executor`, which is built and not yet frozen.
    pub(super) fn watch(&self, executor: &mut Executor) -> Result<Ended> {
        let info = executor.graph().info();
        let most = Arc::new(Counter::default());
        let handled = self.subscriptions(&info)?;
        let mut countdown = Some(Countdown { handled, most: most.clone() });
        executor.set_recorders(move |_, _| {
            countdown.take().expect("a deterministic executor has one worker")
        });
        Ok(Ended { messages: self.messages, handled: most })
    }

    fn subscriptions(&self, info: &GraphInfo) -> Result<Table<CallbackId, u64>> {
        let topics = info.topics.iter().filter(|topic| !topic.subscriptions.is_empty());
        let topic = topics.clone().find(|topic| topic.name == self.topic).ok_or_else(|| {
            let known = topics.map(|topic| topic.name.clone());
            let way_out = way_out(&self.topic, known, "no topic has a subscription");
            let text = format!(
                "failed to end the run by messages: topic `{}` has no subscription; {way_out}",
                self.topic
            );
            Error::new(ErrorKind::NotFound, text).on_topic(&self.topic)
        })?;
        Ok(topic.subscriptions.iter().map(|id| (*id, 0)).collect())
    }
}

impl Ended {
    pub(super) fn is_over(&self) -> bool {
        self.handled.get() >= self.messages
    }
}

impl Recorder for Countdown {
    fn started(&mut self, dispatch: &Dispatch) {
        if let Some(handled) = self.handled.get_mut(dispatch.callback) {
            *handled += 1;
            self.most.set(self.most.get().max(*handled));
        }
    }
}
