//! The goal machine of an action server: active goals, and results that it still keeps.
//!
//! The table is generic over the payload. `H` is the handle by which a server reaches a goal while
//! it is active, and `P` the response with its result: a typed one for a native server, one of any
//! form for a server that offers another API. The server keeps the table behind a lock, which its
//! callbacks and the handles of its goals take. Dropping a value or sending a response runs code of
//! the user, so methods return these values, to be handled without that lock.

use super::messages::{
    CancelGoalRequest, CancelReturnCode, GoalId, GoalInfo, GoalStatusArray, GoalStatusEntry,
};
use super::{GoalEvent, GoalStatus};
use crate::base::time::Time;
use crate::features::service::Responder;

/// The table of goals, in the order in which they were accepted. It is short: searching it costs
/// no more than the status array that each change publishes.
pub struct GoalTable<H, P: Send + Sync + 'static> {
    records: Vec<GoalRecord<H, P>>,
    /// The number of ended goals so far, which numbers the ends.
    ended: u64,
    /// Limit of the requests that wait for the result of one goal.
    waiting_max: usize,
}

struct GoalRecord<H, P: Send + Sync + 'static> {
    info: GoalInfo,
    status: GoalStatus,
    /// `None` once the goal has ended.
    handle: Option<H>,
    /// The requests for the result that came before the goal ended.
    waiting: Vec<Responder<P>>,
    end: Option<GoalEnd<P>>,
}

struct GoalEnd<P> {
    number: u64,
    response: P,
    expires: Time,
}

/// The responses to send for an ended goal once the table is unlocked.
#[must_use]
pub struct EndedGoal<P: Send + Sync + 'static> {
    waiting: Vec<Responder<P>>,
    response: P,
}

impl<P: Clone + Send + Sync + 'static> EndedGoal<P> {
    /// Answers all waiting requests.
    pub fn respond(self) {
        for responder in self.waiting {
            responder.respond(self.response.clone());
        }
    }
}

/// The outcome of a request for a result, to be handled once the table is unlocked.
pub enum ResultRequest<P: Send + Sync + 'static> {
    /// The request waits.
    Waits,
    /// The response can be sent.
    Known(Responder<P>, P),
    /// The goal is unknown.
    Unknown(Responder<P>),
    /// Too many requests wait for the same goal.
    Refused(Responder<P>),
}

impl<H, P: Clone + Send + Sync + 'static> GoalTable<H, P> {
    /// Creates a table in which `waiting_max` requests can wait for the result of each goal.
    pub fn new(waiting_max: usize) -> Self {
        Self { records: Vec::new(), ended: 0, waiting_max }
    }

    fn find(&self, id: GoalId) -> Option<&GoalRecord<H, P>> {
        self.records.iter().find(|record| record.info.goal_id == id)
    }

    fn find_mut(&mut self, id: GoalId) -> Option<&mut GoalRecord<H, P>> {
        self.records.iter_mut().find(|record| record.info.goal_id == id)
    }

    /// Identity and acceptance time of a goal that is active, or has a result that is kept.
    pub fn info(&self, id: GoalId) -> Option<GoalInfo> {
        self.find(id).map(|record| record.info)
    }

    /// The status of a goal.
    pub fn status(&self, id: GoalId) -> GoalStatus {
        self.find(id).map_or(GoalStatus::Unknown, |record| record.status)
    }

    pub(super) fn active(&self) -> usize {
        self.active_ids().count()
    }

    /// The number of results that are kept.
    pub(super) fn kept(&self) -> usize {
        self.records.len() - self.active()
    }

    pub(super) fn active_ids(&self) -> impl Iterator<Item = GoalId> {
        let active = self.records.iter().filter(|record| record.status.is_active());
        active.map(|record| record.info.goal_id)
    }

    /// Adds an accepted goal, which is not in the table.
    pub fn add(&mut self, info: GoalInfo, status: GoalStatus, handle: H) {
        let (handle, waiting) = (Some(handle), Vec::new());
        self.records.push(GoalRecord { info, status, handle, waiting, end: None });
    }

    /// Applies `event` to a goal.
    ///
    /// # Errors
    /// The status of the goal, if the event is not legal in it.
    pub fn step(&mut self, id: GoalId, event: GoalEvent) -> Result<(), GoalStatus> {
        let record = self.find_mut(id).ok_or(GoalStatus::Unknown)?;
        record.status = record.status.after(event).ok_or(record.status)?;
        Ok(())
    }

    /// Ends a goal after a terminal [step](Self::step), and keeps the response with its result
    /// until `expires`.
    ///
    /// # Panics
    /// If the goal is unknown.
    pub fn end(&mut self, id: GoalId, response: P, expires: Time) -> EndedGoal<P> {
        let number = self.ended;
        self.ended += 1;
        let record = self.find_mut(id).expect("the goal was just changed");
        record.handle = None;
        record.end = Some(GoalEnd { number, response: response.clone(), expires });
        EndedGoal { waiting: std::mem::take(&mut record.waiting), response }
    }

    /// Takes a request for the result of a goal.
    pub fn request_result(&mut self, id: GoalId, responder: Responder<P>) -> ResultRequest<P> {
        let waiting_max = self.waiting_max;
        let Some(record) = self.find_mut(id) else {
            return ResultRequest::Unknown(responder);
        };
        if let Some(end) = &record.end {
            return ResultRequest::Known(responder, end.response.clone());
        }
        if record.waiting.len() == waiting_max {
            return ResultRequest::Refused(responder);
        }
        record.waiting.push(responder);
        ResultRequest::Waits
    }

    /// Selects the goals that a request to cancel is about and that can be cancelled; the rules
    /// are those of rcl's `rcl_action_process_cancel_request`. Goals without a result of `handle`
    /// are left out. If the server rejects all of them, the code of its response is
    /// [`CancelReturnCode::Rejected`] instead.
    pub fn select<T>(
        &self,
        request: &CancelGoalRequest,
        handle: impl Fn(GoalId, &H) -> Option<T>,
    ) -> (CancelReturnCode, Vec<T>) {
        let GoalInfo { goal_id, stamp } = request.goal_info;
        let is_cancelable =
            |record: &&GoalRecord<H, P>| record.status.after(GoalEvent::CancelGoal).is_some();
        let handle =
            |record: &GoalRecord<H, P>| handle(record.info.goal_id, record.handle.as_ref()?);
        if goal_id != GoalId::ZERO && stamp == Time::ZERO {
            let Some(record) = self.find(goal_id) else {
                return (CancelReturnCode::UnknownGoalId, Vec::new());
            };
            return match Some(record).filter(is_cancelable).and_then(handle) {
                Some(handle) => (CancelReturnCode::None, vec![handle]),
                None => (CancelReturnCode::GoalTerminated, Vec::new()),
            };
        }
        let until = if stamp == Time::ZERO { Time::MAX } else { stamp };
        let is_selected = |record: &&GoalRecord<H, P>| {
            record.info.stamp <= until || record.info.goal_id == goal_id
        };
        let selected = self.records.iter().filter(is_cancelable).filter(is_selected);
        (CancelReturnCode::None, selected.filter_map(handle).collect())
    }

    pub(super) fn next_expiry(&self) -> Option<Time> {
        let expiries = self.records.iter().filter_map(|record| Some(record.end.as_ref()?.expires));
        expiries.min().filter(|time| *time != Time::MAX)
    }

    /// Forgets the results that have expired at `now`, which the caller drops without a lock.
    pub fn expire(&mut self, now: Time) -> Vec<P> {
        let has_expired =
            |record: &mut GoalRecord<H, P>| record.end.as_ref().is_some_and(|it| it.expires < now);
        let expired = self.records.extract_if(.., has_expired);
        expired.filter_map(|record| Some(record.end?.response)).collect()
    }

    /// Forgets the oldest result if there are more than `results_max`; the caller drops it without
    /// a lock.
    pub(super) fn evict(&mut self, results_max: usize) -> Option<P> {
        if self.kept() <= results_max {
            return None;
        }
        let ends = self.records.iter().enumerate();
        let ends = ends.filter_map(|(index, record)| Some((record.end.as_ref()?.number, index)));
        let (_, index) = ends.min()?;
        Some(self.records.remove(index).end?.response)
    }

    /// The message with the status of all goals.
    pub fn status_array(&self) -> GoalStatusArray {
        let entry = |record: &GoalRecord<H, P>| GoalStatusEntry {
            goal_info: record.info,
            status: record.status,
        };
        GoalStatusArray { status_list: self.records.iter().map(entry).collect() }
    }
}
