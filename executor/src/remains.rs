//! The queues of a destroyed entity, as long as anything can be on its way there.

/// The queues of a destroyed entity, which may still get messages that are on their way.
pub(crate) trait Remains: Send {
    /// Drops what waits at `port`; returns the number of messages.
    fn drain(&mut self, port: usize) -> u64;
}
