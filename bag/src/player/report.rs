//! Progress of a player, and its report.

use crate::evolution::Migration;
use crate::recording::Topic;
use ringspin_executor::{Statistics, Time};
use ringspin_ringbuf::{Counter, Flag};
use std::sync::Arc;
use std::time::Duration;

/// Counters of a player, written by its callback.
#[derive(Debug)]
pub(super) struct PlayerProgress {
    /// The names of the played topics in the graph.
    pub(super) topics: Vec<String>,
    pub(super) messages: Counter,
    pub(super) bytes: Counter,
    pub(super) position: Counter,
    pub(super) retries: Counter,
    pub(super) requests: Counter,
    /// The responses to them.
    pub(super) responses: Arc<Counter>,
    pub(super) requests_refused: Counter,
    pub(super) requests_empty: Counter,
    pub(super) lag_max: Counter,
    pub(super) lag_sum: Counter,
    pub(super) is_finished: Flag,
}

impl PlayerProgress {
    pub(super) fn new(topics: Vec<String>, responses: Arc<Counter>) -> Self {
        let counter = Counter::default;
        Self {
            topics,
            messages: counter(),
            bytes: counter(),
            position: counter(),
            retries: counter(),
            requests: counter(),
            responses,
            requests_refused: counter(),
            requests_empty: counter(),
            lag_max: counter(),
            lag_sum: counter(),
            is_finished: Flag::default(),
        }
    }
}

/// A running player; cheap to clone, and usable from any thread.
#[derive(Clone, Debug)]
pub struct PlayerHandle {
    pub(super) progress: Arc<PlayerProgress>,
    pub(super) raw_topics: Vec<Topic>,
    pub(super) migrations: Vec<Migration>,
}

/// The messages that a player has played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayReport {
    /// The number of published messages.
    pub messages: u64,
    /// Their serialized size.
    pub bytes: u64,
    /// The number of requests that were sent.
    pub requests: u64,
    /// How many of them have no response: because the service has not responded yet, or dropped the
    /// request.
    pub requests_unanswered: u64,
    /// The number of requests that were not sent because no node offers the service.
    pub requests_refused: u64,
    /// The number of recorded events of services that are not requests with contents, as the
    /// service received them.
    pub requests_empty: u64,
    /// How often a message had to wait for a full subscription.
    pub retries: u64,
    /// The longest delay of a message or request behind its time, in the live modes.
    pub lag_max: Duration,
    /// The mean delay of messages, requests and other recorded events.
    pub lag_mean: Duration,
    /// The subscriptions that lost messages of played topics, as node and topic, with the number of
    /// messages.
    pub dropped: Vec<(String, String, u64)>,
    /// The topics that were recorded with another definition of their type.
    pub migrations: Vec<Migration>,
}

impl PlayerHandle {
    /// Whether the last message is published.
    pub fn is_finished(&self) -> bool {
        self.progress.is_finished.is_raised()
    }

    /// The number of messages published so far.
    pub fn messages(&self) -> u64 {
        self.progress.messages.get()
    }

    /// The time of the newest message published so far, in the time of the recording; zero before
    /// the first.
    pub fn position(&self) -> Time {
        Time::from_nanos(self.progress.position.get())
    }

    /// The topics that are carried as [`RawMessage`](ringspin_messages::RawMessage), for
    /// [a recorder](crate::Recorder::raw_topics).
    pub fn raw_topics(&self) -> Vec<Topic> {
        self.raw_topics.clone()
    }

    /// The report so far; drops of subscriptions are taken from `statistics` of the executor.
    pub fn report(&self, statistics: &Statistics) -> PlayReport {
        let of = &*self.progress;
        let subscription = |topic: &String| (format!("subscription {topic}"), topic.clone());
        let topics: Vec<_> = of.topics.iter().map(subscription).collect();
        let dropped = statistics.callbacks.iter().filter_map(|callback| {
            let (_, topic) = topics.iter().find(|(name, _)| *name == callback.callback)?;
            let lost = callback.overwritten + callback.lost;
            (lost > 0).then(|| (callback.node.clone(), topic.clone(), lost))
        });
        let (messages, requests) = (of.messages.get(), of.requests.get());
        let (refused, empty) = (of.requests_refused.get(), of.requests_empty.get());
        let played = messages + requests + refused + empty;
        PlayReport {
            messages,
            bytes: of.bytes.get(),
            requests,
            requests_unanswered: requests.saturating_sub(of.responses.get()),
            requests_refused: refused,
            requests_empty: empty,
            retries: of.retries.get(),
            lag_max: Duration::from_nanos(of.lag_max.get()),
            lag_mean: Duration::from_nanos(of.lag_sum.get() / played.max(1)),
            dropped: dropped.collect(),
            migrations: self.migrations.clone(),
        }
    }
}
