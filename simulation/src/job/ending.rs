//! Ending with the messages of a topic: a condition that a file can state.

use super::Job;
use ringspin_executor::{CallbackId, Dispatch, GraphInfo, Recorder, Table};
use ringspin_modes::Executor;
use ringspin_modes::names::way_out;
use ringspin_ringbuf::Counter;
use std::sync::Arc;
use thiserror::Error;

/// After which messages a run ends.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    pub(super) topic: String,
    pub(super) messages: u64,
}

/// Tells whether a run has come to its [`Ending`].
pub(super) struct Ended {
    messages: u64,
    /// As many messages as the subscription has handled that is ahead of the others.
    handled: Arc<Counter>,
}

/// The topic of which the messages end the run has no subscription.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("failed to end the run by messages: topic `{topic}` has no subscription; {way_out}")]
pub struct EndError {
    /// The topic.
    pub topic: String,
    /// The closest topic with a subscription, or all of them.
    pub way_out: String,
}

/// Nothing ends the run of a job file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{origin} does not say when the run ends, so its timers would fire for ever; add \
     `for = \"60 s\"`, `end`, or `end_when`, or `endless = true` if a node ends it or nothing \
     is left to do at some time"
)]
pub struct NoEndError {
    /// The file, or "the text".
    pub origin: String,
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
    /// A topic without a subscription is an error ([`EndError`]) when the job starts.
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
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    #[must_use]
    pub fn end_on_messages(mut self, topic: impl Into<String>, messages: u64) -> Self {
        self.ending = Some(Ending { topic: topic.into(), messages });
        self
    }
}

impl Ending {
    /// Watches the graph of `executor`, which is built and not yet frozen.
    pub(super) fn watch(&self, executor: &mut Executor) -> Result<Ended, EndError> {
        let info = executor.graph().info();
        let most = Arc::new(Counter::default());
        let handled = self.subscriptions(&info)?;
        let mut countdown = Some(Countdown { handled, most: most.clone() });
        executor.set_recorders(move |_, _| {
            countdown.take().expect("a deterministic executor has one worker")
        });
        Ok(Ended { messages: self.messages, handled: most })
    }

    fn subscriptions(&self, info: &GraphInfo) -> Result<Table<CallbackId, u64>, EndError> {
        let topics = info.topics.iter().filter(|topic| !topic.subscriptions.is_empty());
        let topic = topics.clone().find(|topic| topic.name == self.topic).ok_or_else(|| {
            let known = topics.map(|topic| topic.name.clone());
            let way_out = way_out(&self.topic, known, "no topic has a subscription");
            EndError { topic: self.topic.clone(), way_out }
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
