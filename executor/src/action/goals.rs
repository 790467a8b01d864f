//! The goals that a server knows: active goals, and results that it still keeps.

use super::handle::Inner;
use super::messages::{
    CancelGoalRequest, CancelReturnCode, GetResultResponse, GoalId, GoalInfo, GoalStatusArray,
    GoalStatusEntry,
};
use super::{Action, GoalEvent, GoalHandle, GoalStatus};
use crate::service::Responder;
use crate::time::Time;
use std::sync::{Arc, Weak};

/// Limit of the requests that wait for the result of one goal.
pub(super) const WAITING_MAX: usize = 64;

type Waiting<A> = Responder<GetResultResponse<A>>;

/// The table of goals, in the order in which they were accepted. It is short: searching it costs
/// no more than the status array that each change publishes.
pub(super) struct Goals<A: Action> {
    records: Vec<Record<A>>,
    /// The number of ended goals so far, which numbers the ends.
    ended: u64,
}

struct Record<A: Action> {
    info: GoalInfo,
    status: GoalStatus,
    handle: Weak<Inner<A>>,
    /// The requests for the result that came before the goal ended.
    waiting: Vec<Waiting<A>>,
    end: Option<End<A>>,
}

struct End<A: Action> {
    number: u64,
    result: Arc<A::Result>,
    expires: Time,
}

/// The responses to send for an ended goal once the table is unlocked.
#[must_use]
pub(super) struct Ended<A: Action> {
    waiting: Vec<Waiting<A>>,
    response: GetResultResponse<A>,
}

impl<A: Action> Ended<A> {
    /// Answers all waiting requests.
    pub(super) fn respond(self) {
        for responder in self.waiting {
            responder.respond(self.response.clone());
        }
    }
}

/// The outcome of a request for a result, to be handled once the table is unlocked.
pub(super) enum Asked<A: Action> {
    /// The request waits.
    Waits,
    /// The response can be sent.
    Known(Waiting<A>, GetResultResponse<A>),
    /// The goal is unknown.
    Unknown(Waiting<A>),
    /// Too many requests wait for the same goal.
    Refused(Waiting<A>),
}

impl<A: Action> Goals<A> {
    pub(super) fn new() -> Self {
        Self { records: Vec::new(), ended: 0 }
    }

    fn find(&self, id: GoalId) -> Option<&Record<A>> {
        self.records.iter().find(|record| record.info.goal_id == id)
    }

    fn find_mut(&mut self, id: GoalId) -> Option<&mut Record<A>> {
        self.records.iter_mut().find(|record| record.info.goal_id == id)
    }

    pub(super) fn knows(&self, id: GoalId) -> bool {
        self.find(id).is_some()
    }

    /// The status of a goal.
    pub(super) fn status(&self, id: GoalId) -> GoalStatus {
        self.find(id).map_or(GoalStatus::Unknown, |record| record.status)
    }

    pub(super) fn active(&self) -> usize {
        self.records.iter().filter(|record| record.status.is_active()).count()
    }

    /// The number of results that are kept.
    pub(super) fn kept(&self) -> usize {
        self.records.len() - self.active()
    }

    /// The active goals.
    pub(super) fn active_ids(&self) -> Vec<GoalId> {
        let active = self.records.iter().filter(|record| record.status.is_active());
        active.map(|record| record.info.goal_id).collect()
    }

    pub(super) fn add(&mut self, info: GoalInfo, status: GoalStatus, handle: Weak<Inner<A>>) {
        self.records.push(Record { info, status, handle, waiting: Vec::new(), end: None });
    }

    /// Applies `event` to a goal.
    ///
    /// # Errors
    /// The status of the goal, if the event is not legal in it.
    pub(super) fn step(&mut self, id: GoalId, event: GoalEvent) -> Result<(), GoalStatus> {
        let record = self.find_mut(id).ok_or(GoalStatus::Unknown)?;
        record.status = record.status.after(event).ok_or(record.status)?;
        Ok(())
    }

    /// Ends a goal by `event`, and keeps its result until `expires`.
    ///
    /// # Errors
    /// The status of the goal, if the event is not legal in it; the result is handed back.
    pub(super) fn end(
        &mut self,
        id: GoalId,
        event: GoalEvent,
        result: A::Result,
        expires: Time,
    ) -> Result<Ended<A>, (GoalStatus, A::Result)> {
        if let Err(status) = self.step(id, event) {
            return Err((status, result));
        }
        let (number, result) = (self.ended, Arc::new(result));
        self.ended += 1;
        let record = self.find_mut(id).expect("the goal was just changed");
        record.end = Some(End { number, result: result.clone(), expires });
        let waiting = std::mem::take(&mut record.waiting);
        Ok(Ended { waiting, response: GetResultResponse { status: record.status, result } })
    }

    /// Takes a request for the result of a goal.
    pub(super) fn ask(&mut self, id: GoalId, responder: Waiting<A>) -> Asked<A> {
        let Some(record) = self.find_mut(id) else {
            return Asked::Unknown(responder);
        };
        if let Some(end) = &record.end {
            let result = end.result.clone();
            return Asked::Known(responder, GetResultResponse { status: record.status, result });
        }
        if record.waiting.len() == WAITING_MAX {
            return Asked::Refused(responder);
        }
        record.waiting.push(responder);
        Asked::Waits
    }

    /// The goals that a request to cancel is about and that can be cancelled; the rules are those
    /// of rcl's `rcl_action_process_cancel_request`.
    ///
    /// The handles have to be dropped without a lock on this table.
    pub(super) fn select(
        &self,
        request: &CancelGoalRequest,
    ) -> (CancelReturnCode, Vec<GoalHandle<A>>) {
        let GoalInfo { goal_id, stamp } = request.goal_info;
        let cancelable = |record: &&Record<A>| record.status.after(GoalEvent::CancelGoal).is_some();
        let handle = |record: &Record<A>| record.handle.upgrade().map(GoalHandle::new);
        if goal_id != GoalId::ZERO && stamp == Time::ZERO {
            let Some(record) = self.find(goal_id) else {
                return (CancelReturnCode::UnknownGoalId, Vec::new());
            };
            return match Some(record).filter(cancelable).and_then(handle) {
                Some(handle) => (CancelReturnCode::None, vec![handle]),
                None => (CancelReturnCode::GoalTerminated, Vec::new()),
            };
        }
        let until = if stamp == Time::ZERO { Time::MAX } else { stamp };
        let meant =
            |record: &&Record<A>| record.info.stamp <= until || record.info.goal_id == goal_id;
        let meant = self.records.iter().filter(cancelable).filter(meant);
        (CancelReturnCode::None, meant.filter_map(handle).collect())
    }

    /// The time at which the next result expires.
    pub(super) fn next_expiry(&self) -> Option<Time> {
        let expiries = self.records.iter().filter_map(|record| Some(record.end.as_ref()?.expires));
        expiries.min().filter(|time| *time != Time::MAX)
    }

    /// Forgets the results that have expired at `now`, which the caller drops without a lock.
    pub(super) fn expire(&mut self, now: Time) -> Vec<Arc<A::Result>> {
        let has_expired =
            |record: &mut Record<A>| record.end.as_ref().is_some_and(|end| end.expires < now);
        let expired = self.records.extract_if(.., has_expired);
        expired.filter_map(|record| Some(record.end?.result)).collect()
    }

    /// Forgets the oldest result if there are more than `results_max`; the caller drops it without
    /// a lock.
    pub(super) fn evict(&mut self, results_max: usize) -> Option<Arc<A::Result>> {
        if self.kept() <= results_max {
            return None;
        }
        let ends = self.records.iter().enumerate();
        let ends = ends.filter_map(|(index, record)| Some((record.end.as_ref()?.number, index)));
        let (_, index) = ends.min()?;
        Some(self.records.remove(index).end?.result)
    }

    pub(super) fn status_array(&self) -> GoalStatusArray {
        let entry =
            |record: &Record<A>| GoalStatusEntry { goal_info: record.info, status: record.status };
        GoalStatusArray { status_list: self.records.iter().map(entry).collect() }
    }
}
