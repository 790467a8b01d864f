//! Checks of requests to add something to a graph, and the errors that several requests share.
//! Each names the node and the request.

use super::{GraphBuilder, LatePlace, MAX_DEPTH};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::event::LoopId;
use crate::base::qos::QoS;
use std::any::type_name;

/// Events of a worker that are kept for timers, tasks and notices, which have no queue.
pub(super) const SPARE_EVENTS: usize = 1 << 16;

/// The most callbacks, ids and events that are added under one lock, apart from queues.
pub(super) const MARGIN: usize = 1 << 13;

impl GraphBuilder {
    pub(crate) fn check_open_loop(
        &self,
        event_loop: LoopId,
        what: impl Fn() -> String,
    ) -> Result<()> {
        self.check_open(&what)?;
        if !self.loops.contains(event_loop) {
            return Err(gone(&what(), "node was destroyed"));
        }
        let running = self.running.as_ref();
        match running.and_then(|running| running.limit_of(event_loop, MARGIN)) {
            Some(limit) => Err(worker_full(&what(), limit)),
            None => Ok(()),
        }
    }

    /// Checks that a queue of `event_loop` has room in its worker, if that runs, beside others of
    /// these depths that are about to be added.
    pub(crate) fn check_room(
        &self,
        event_loop: LoopId,
        name: &str,
        depth: usize,
        besides: usize,
    ) -> Result<()> {
        let room = self.running.as_ref().and_then(|running| running.room(event_loop));
        let left = |room: usize| room.saturating_sub(SPARE_EVENTS + besides);
        let max = room.map_or(MAX_DEPTH, |room| left(room).min(MAX_DEPTH));
        check_range(name, depth, max)
    }

    pub(crate) fn check_open(&self, what: impl FnOnce() -> String) -> Result<()> {
        if self.is_gone() {
            return Err(gone(&what(), "executor was dropped"));
        }
        let ids = [self.loop_ids, self.callback_ids, self.sources];
        match ids.iter().any(|ids| *ids > u32::MAX - MARGIN as u32) {
            true => {
                let limit = "2^32 callbacks, publishers or groups were created";
                Err(full(&what(), limit, "start the program again"))
            }
            false => Ok(()),
        }
    }

    /// Checks that the worker at `place` has room for `what`, which is a loop.
    pub(super) fn check_place(&self, place: LatePlace, what: impl Fn() -> String) -> Result<()> {
        let running = self.running.as_ref();
        match running.and_then(|running| running.limit_of_next(place.worker, MARGIN)) {
            Some(limit) => Err(worker_full(&what(), limit)),
            None => Ok(()),
        }
    }
}

/// Refuses to add `what`, because of this `end`, such as "node was destroyed".
pub(super) fn gone(what: &str, end: &str) -> Error {
    let text =
        format!("failed to add {what}: the {end}; keep it as long as something is added to it");
    Error::new(ErrorKind::InvalidState, text)
}

/// Refuses to add `what`, because a worker has as much as it can number.
fn worker_full(what: &str, limit: &str) -> Error {
    full(what, limit, "destroy unused nodes, or map the node to another core")
}

fn full(what: &str, limit: &str, way_out: &str) -> Error {
    Error::new(ErrorKind::LimitReached, format!("failed to add {what}: {limit}; {way_out}"))
}

/// Refuses to add `what`, which has to be there before spinning.
pub(crate) fn too_late(what: &str) -> Error {
    let text = format!("failed to add {what}: the executor has started; add it before spinning");
    Error::new(ErrorKind::InvalidState, text)
}

/// Refuses a type for the "topic" or "service" `what` of this `name`, which node `by` uses with the
/// type `established`.
pub(crate) fn type_mismatch(
    (what, name): (&str, &str),
    (node, requested): (&str, &str),
    (by, established): (&str, &str),
) -> Error {
    let text = format!(
        "failed to use {what} {name} with {requested} in node {node}: node {by} uses it with \
         {established}; use the same type, or give one of them another name"
    );
    Error::new(ErrorKind::TypeMismatch, text).in_node(node).on_topic(name)
}

/// Checks that messages, requests or responses of type `M`, which `what` passes by value, have
/// `bytes_max` bytes at most.
pub(crate) fn check_size<M>(node: &str, what: &str, bytes_max: usize) -> Result<()> {
    let (item, bytes) = (type_name::<M>(), size_of::<M>());
    if bytes <= bytes_max {
        return Ok(());
    }
    let text = format!(
        "failed to create {what} of node {node}: {item} has {bytes} bytes and goes by value, which \
         is possible up to {bytes_max} bytes; put its data into a `Vec` or `Box`"
    );
    Err(Error::new(ErrorKind::InvalidArgument, text).in_node(node))
}

/// The largest memory of the messages that one queue can hold. Beyond it the allocator would abort
/// the process when the graph is frozen.
const QUEUE_BYTES_MAX: u64 = 4 << 30;

/// Checks the depth of a queue of topic, service or action `name`, with messages of type `M`.
pub(crate) fn check_depth<M>(name: &str, qos: QoS) -> Result<()> {
    check_range(name, qos.depth(), MAX_DEPTH)?;
    let depth_max = QUEUE_BYTES_MAX / size_of::<M>().max(1) as u64;
    if qos.depth() as u64 <= depth_max {
        return Ok(());
    }
    let (item, bytes) = (type_name::<M>(), size_of::<M>());
    let text = format!(
        "failed to create a queue of {name}: {} messages {item} of {bytes} bytes need more than 4 \
         GiB; use a depth of {depth_max} at most, or put the data into a `Vec` or `Box`",
        qos.depth()
    );
    Err(Error::new(ErrorKind::LimitReached, text).on_topic(name))
}

fn check_range(name: &str, depth: usize, max: usize) -> Result<()> {
    if (1..=max).contains(&depth) {
        return Ok(());
    }
    let which = match max < MAX_DEPTH {
        true => " (the other queues of its worker leave no more), or less there",
        false => "",
    };
    let text = format!(
        "failed to create a queue of {name}: its depth of {depth} is out of range; use 1 to \
         {max}{which}"
    );
    Err(Error::new(ErrorKind::InvalidArgument, text).on_topic(name))
}
