//! The unanswered calls of a client. Nothing here waits for another thread.
//!
//! The thread that calls writes the notes of a call before it fills its place, so a thread that
//! finds the place filled sees them. The event loop of the client reads them to find timeouts and
//! calls that left the process. The number of such a call is known only after it was sent: its
//! thread adds the number and then raises a flag, and until then timeouts and lost servers pass it
//! by. The next timeout is found by a look at each place, because a client has few calls at a time,
//! and a sorted list of deadlines would need a lock.

use super::CallError;
use super::then::Then;
use crate::base::time::Time;
use crate::features::middleware::Sent;
use ringspin_ringbuf::table::{Claim, Refused, Ticket};
use ringspin_ringbuf::{Counter, Flag, Permits, Table};

pub(super) struct Calls<S, P> {
    open: Table<Then<S, P>, Notes>,
    /// A place in the queue of responses for each call to a server in the process, until its
    /// response is taken; also if the call has ended before by a timeout.
    responses: Permits,
}

/// Notes on a call, written before it is open, but for those on its way out of the process.
#[derive(Default)]
pub(super) struct Notes {
    /// In nanoseconds; `u64::MAX` for none.
    deadline: Counter,
    /// One if it leaves the process, else zero.
    leaves: Counter,
    /// Raised once it has left; then the two below are known.
    sent: Flag,
    number: Counter,
    servers: Counter,
}

impl Notes {
    fn start(&self, deadline: Option<Time>, leaves: bool) {
        self.sent.lower();
        self.deadline.set(deadline.map_or(u64::MAX, Time::as_nanos));
        self.leaves.set(leaves.into());
    }

    /// Whether it is on its way out of the process, under a number that is not known yet. Its
    /// thread ends it then, if anything but its response does: so its notes are of no other call.
    fn is_being_sent(&self) -> bool {
        self.leaves.get() == 1 && !self.sent.is_raised()
    }

    /// The identity of a call that has left the process.
    fn sent(&self) -> Option<Sent> {
        let has_left = self.leaves.get() == 1 && self.sent.is_raised();
        has_left.then(|| Sent { number: self.number.get() as i64, servers: self.servers.get() })
    }
}

/// A call that is looked for by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    Found(Ticket),
    /// The thread of a call does not know its number yet: it may be this one.
    Unknown,
    /// It has ended.
    Ended,
}

impl<S, P> Calls<S, P> {
    pub(super) fn new(depth: usize) -> Self {
        Self { open: Table::new(depth), responses: Permits::new(depth as u32) }
    }

    /// A place for a call.
    ///
    /// # Errors
    /// There is none, or the client is stopped.
    pub(super) fn claim(&self) -> Result<Claim<'_, Then<S, P>, Notes>, CallError> {
        self.open.claim().map_err(|refused| match refused {
            Refused::Full => CallError::TooManyCalls,
            Refused::Closed => CallError::ClientStopped,
        })
    }

    /// A place in the queue of responses.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn expect_response(&self) -> Result<(), CallError> {
        self.responses.try_acquire().then_some(()).ok_or(CallError::TooManyCalls)
    }

    /// Releases a place: a response has left its queue, or will not come.
    pub(super) fn response_taken(&self) {
        self.responses.release();
    }

    /// Records that the call has left the process.
    pub(super) fn sent(&self, ticket: Ticket, sent: Sent) {
        let notes = self.open.notes(ticket);
        notes.number.set(sent.number as u64);
        notes.servers.set(sent.servers);
        notes.sent.raise();
    }

    /// Ends a call, unless it has ended.
    pub(super) fn end(&self, ticket: Ticket) -> Option<Then<S, P>> {
        self.open.take(ticket)
    }

    /// Ends all calls, and refuses further ones.
    pub(super) fn stop(&self) -> Vec<Then<S, P>> {
        self.open.close()
    }

    /// The call that left the process under `number`.
    pub(super) fn find_sent(&self, number: i64) -> Search {
        let mut search = Search::Ended;
        for (ticket, notes) in self.open.filled() {
            // In this order: it may be sent in between.
            if notes.is_being_sent() {
                search = Search::Unknown;
            } else if notes.sent().is_some_and(|sent| sent.number == number) {
                return Search::Found(ticket);
            }
        }
        search
    }

    /// The first call that only the first `gone` servers could answer, and its number.
    pub(super) fn first_lost(&self, gone: u64) -> Option<(Ticket, i64)> {
        let lost = |(ticket, notes): (Ticket, &Notes)| {
            let sent = notes.sent().filter(|sent| sent.servers <= gone)?;
            Some((ticket, sent.number))
        };
        self.open.filled().filter_map(lost).min()
    }

    /// The deadline of the call that is the next to time out, and its ticket.
    pub(super) fn next_timeout(&self) -> Option<(Time, Ticket)> {
        let waiting = self.open.filled().filter(|(_, notes)| !notes.is_being_sent());
        let deadlines = waiting.map(|(ticket, notes)| (notes.deadline.get(), ticket));
        let first = deadlines.filter(|(deadline, _)| *deadline != u64::MAX).min();
        first.map(|(deadline, ticket)| (Time::from_nanos(deadline), ticket))
    }
}

/// Fills a place with a call. `None` if the client was stopped meanwhile: the call gets no
/// response.
pub(super) fn open<S, P>(
    claim: Claim<'_, Then<S, P>, Notes>,
    then: Then<S, P>,
    deadline: Option<Time>,
    leaves: bool,
) -> Option<Ticket> {
    claim.notes().start(deadline, leaves);
    claim.fill(then).ok()
}

#[cfg(test)]
mod tests {
    use super::super::then::Spares;
    use super::*;
    use crate::base::departure::{Departure, Departures, End};
    use crate::base::event::CallbackId;
    use std::sync::Arc;

    fn opened(calls: &Calls<(), ()>, deadline: Option<u64>, leaves: bool) -> Ticket {
        let departure = Departure::new(End::Entity(CallbackId(0)), Departures::default(), || ());
        let then = Spares::new(1).boxed(|(), _, _| Ok(()), &Arc::new(departure));
        open(calls.claim().unwrap(), then, deadline.map(Time::from_nanos), leaves).unwrap()
    }

    #[test]
    fn calls_time_out_by_deadline_then_order() {
        let calls = Calls::new(8);
        let tickets = [Some(9), None, Some(5), Some(5)].map(|time| opened(&calls, time, false));
        let mut order = Vec::new();
        while let Some((deadline, ticket)) = calls.next_timeout() {
            order.push((deadline.as_nanos(), ticket));
            calls.end(ticket).unwrap();
        }
        assert_eq!(order, [(5, tickets[2]), (5, tickets[3]), (9, tickets[0])]);
    }

    #[test]
    fn call_without_a_number_may_be_the_one_that_is_answered() {
        let calls = Calls::new(3);
        assert_eq!(calls.find_sent(7), Search::Ended);
        opened(&calls, None, false);
        assert_eq!(calls.find_sent(7), Search::Ended, "one in the process has no number");
        let ticket = opened(&calls, Some(1), true);
        assert_eq!((calls.find_sent(7), calls.next_timeout()), (Search::Unknown, None));
        calls.sent(ticket, Sent { number: 7, servers: 1 });
        assert_eq!(
            (calls.find_sent(7), calls.find_sent(8)),
            (Search::Found(ticket), Search::Ended)
        );
        assert_eq!((calls.first_lost(0), calls.first_lost(1)), (None, Some((ticket, 7))));
        assert!(calls.next_timeout().is_some());
        calls.end(ticket).unwrap();
        assert_eq!((calls.find_sent(7), calls.first_lost(1)), (Search::Ended, None));
    }
}
