//! Streams of messages.

use crate::error::Error;
use crate::link::Link;
use crate::log::report;
use futures::Stream;
use ringspin::Message;
use ringspin::task::MessageStream;
use ringspin_adapter::Carried;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The messages of a topic, in the form that `read` gives them. It ends with the node.
pub(crate) struct Incoming<F> {
    messages: MessageStream<Carried>,
    link: Link,
    /// `None` for a message to be left out.
    read: F,
}

impl<F> Incoming<F> {
    pub(crate) fn new(messages: MessageStream<Carried>, link: Link, read: F) -> Self {
        let this = Self { messages, link, read };
        this.arm();
        this
    }

    /// From now on an arrival ends `spin_once`, also when no task waits for it.
    fn arm(&self) {
        if self.link.poll_alone(|cx| self.messages.poll_ready(cx)).is_ready() {
            self.link.happened();
        }
    }
}

impl<T, F: FnMut(Message<Carried>) -> Option<T> + Unpin> Stream for Incoming<F> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        loop {
            let messages = &mut this.messages;
            let next = this.link.poll(cx, |cx| Pin::new(messages).poll_next(cx));
            let Some(message) = ready!(next).flatten() else { return Poll::Ready(None) };
            this.arm();
            if let Some(item) = (this.read)(message) {
                return Poll::Ready(Some(item));
            }
        }
    }
}

/// The result of a conversion of a message on `topic`; an error is logged.
pub(crate) fn or_report<T, E: Into<Error>>(result: Result<T, E>, topic: &str) -> Option<T> {
    let report = |error: &Error| report(&format!("{topic}: dropped a message: {error}"));
    result.map_err(Into::into).inspect_err(report).ok()
}
