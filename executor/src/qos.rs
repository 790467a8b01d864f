//! Quality of service: how many messages a subscription keeps, and what happens beyond.

/// What a subscription does with messages that it was not given the time to handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// Keeps the newest messages; each further one overwrites the oldest and is counted.
    KeepLast,
    /// Keeps every message up to its depth; beyond, `publish` hands the message back.
    KeepAll,
}

/// The quality of service of a publisher or subscription.
///
/// Within a process every delivery is reliable, so only history and depth have a meaning here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QoS {
    pub(crate) history: History,
    pub(crate) depth: usize,
}

impl QoS {
    /// Keeps the newest `depth` messages.
    pub const fn keep_last(depth: usize) -> Self {
        Self { history: History::KeepLast, depth }
    }

    /// Keeps all messages, at most `limit`: when they are used up, `publish` fails and hands the
    /// message back.
    pub const fn keep_all(limit: usize) -> Self {
        Self { history: History::KeepAll, depth: limit }
    }

    /// ROS 2's profile for sensor data: keep the last 5.
    pub const fn sensor_data() -> Self {
        Self::keep_last(5)
    }

    /// For services and clients: ten requests may wait, ten calls be unanswered.
    pub const fn services() -> Self {
        Self::keep_all(10)
    }

    /// The history policy.
    pub const fn history(&self) -> History {
        self.history
    }

    /// How many messages are kept.
    pub const fn depth(&self) -> usize {
        self.depth
    }
}

impl Default for QoS {
    /// ROS 2's default profile: keep the last 10.
    fn default() -> Self {
        Self::keep_last(10)
    }
}
