//! The world outside a random graph: an input, and a server that defers some responses.

use super::Published;
use super::callbacks::Sample;
use ringspin_executor::{BoxError, Collector, Delivery, ExternalInput, Publisher, Responder, Time};

/// Publishes at given times, and responds to messages.
pub(super) struct Input {
    items: std::iter::Peekable<std::vec::IntoIter<Time>>,
    out: (Publisher<Sample>, usize),
    answers: Option<(Collector<Sample>, Publisher<Sample>, usize)>,
    published: Published,
}

impl Input {
    pub(super) fn new(
        items: Vec<Time>,
        out: (Publisher<Sample>, usize),
        answers: Option<(Collector<Sample>, Publisher<Sample>, usize)>,
        published: Published,
    ) -> Self {
        Self { items: items.into_iter().peekable(), out, answers, published }
    }
}

impl ExternalInput for Input {
    fn next_time(&mut self) -> Option<Time> {
        self.items.peek().copied()
    }

    fn deliver(&mut self, _now: Time) -> Result<Delivery, BoxError> {
        let Some(&time) = self.items.peek() else { return Ok(Delivery::Done) };
        if self.out.0.publish(Sample::at(time)).is_err() {
            return Ok(Delivery::Again);
        }
        self.published.count(self.out.1);
        self.items.next();
        Ok(Delivery::Done)
    }

    fn quiet(&mut self, now: Time) -> Result<(), BoxError> {
        let Some((seen, out, channel)) = &self.answers else { return Ok(()) };
        for (_, sample) in seen.take() {
            if out.publish(sample.and(&Sample::at(now))).is_ok() {
                self.published.count(*channel);
            }
        }
        Ok(())
    }
}

/// Responds to a request at once; if `deferred`, responds to the previous request instead.
pub(super) fn answer_later(
    held: &mut Option<Responder<Sample>>,
    deferred: bool,
    responder: Responder<Sample>,
    answer: Sample,
) {
    let due = if deferred { held.replace(responder) } else { Some(responder) };
    if let Some(responder) = due {
        responder.respond(answer);
    }
}
