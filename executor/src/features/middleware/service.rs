//! Services of a middleware that run on a node's own event loop.
//!
//! The thread of the middleware only announces items; the event loop of the node takes one for each
//! event and handles it, between callbacks of that group and in the order of its events. Announced
//! and taken items are counted, so missing ones are reported, and a source that always fails does
//! not keep the loop busy. If the thread of the middleware handled requests itself, they would run
//! beside the callbacks of the node, and a slow one would delay the messages of every other node.

use crate::base::error::Result;
use crate::base::event::{EventId, LoopId, SourceId};
use crate::base::info::LoopInfo;
use crate::delivery::context::Context;
use crate::delivery::remote::RemoteNotifier;
use crate::features::parameter::ParameterClient;
use crate::running::event_loop::{BoxError, Entity, Outcome};
use crate::running::graph::{CallbackSpec, EventSource, GraphBuilder};
use ringspin_ringbuf::{Attempt, Takes};
use std::sync::Arc;

/// A service of a middleware for one node, for example its parameter services. Each item that it
/// takes is an event of the node's event loop, like any other.
pub trait MiddlewareService: Send {
    /// The callback's name in statistics and records.
    fn name(&self) -> String;

    /// Takes the next item, for [`run`](Self::run); false if there is none. Called at least once
    /// for each item that its [`RemoteNotifier`] announces, and until there is none.
    ///
    /// # Errors
    /// The reason why an item cannot be taken. It is logged, and the next one may be taken.
    fn take(&mut self) -> Result<bool, BoxError>;

    /// Handles the item that was taken.
    ///
    /// # Errors
    /// The reason of a failure, which is a failure of the node.
    fn run(&mut self) -> Result<(), BoxError>;

    /// Called with the number of `missing` items, which were announced and are not there.
    fn overwritten(&mut self, missing: u64) {
        let _ = missing;
    }
}

/// A middleware service, and the notifier of its items.
pub type AnnouncedService = (Box<dyn MiddlewareService>, RemoteNotifier);

pub(crate) struct MiddlewareServiceEntity {
    /// `None` once it is retired.
    middleware_service: Option<Box<dyn MiddlewareService>>,
    remote_notifier: RemoteNotifier,
    source: SourceId,
    takes: Takes,
    handled: u64,
}

impl<S> Entity<S> for MiddlewareServiceEntity {
    fn dispatch(&mut self, _port: usize, _state: &mut S, cx: &mut Context<'_>) -> Outcome {
        if !self.next() {
            return Outcome::Nothing;
        }
        let Some(middleware_service) = &mut self.middleware_service else {
            return Outcome::Nothing;
        };
        cx.begin(EventId { source: self.source, sequence: self.handled - 1 });
        Outcome::from(middleware_service.run())
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        self.next().then_some(EventId::NONE)
    }

    fn retire(&mut self) {
        self.middleware_service = None;
    }
}

impl MiddlewareServiceEntity {
    /// Lets the middleware service take the next item, if there is one, and passes the token on.
    fn next(&mut self) -> bool {
        let Self { middleware_service, remote_notifier, takes, .. } = self;
        remote_notifier.notifier().take();
        let Some(middleware_service) = middleware_service else { return false };
        let take = || match middleware_service.take() {
            Ok(true) => Attempt::Item,
            Ok(false) => Attempt::Empty,
            Err(error) => {
                let name = middleware_service.name();
                tracing::error!(name, %error, "failed to take an item of the middleware");
                Attempt::Failed
            }
        };
        let notifier = remote_notifier.notifier();
        let round = takes.round(remote_notifier.announcements(), || notifier.notify(), take);
        if round.missing > 0 {
            middleware_service.overwritten(round.missing);
        }
        self.handled += u64::from(round.has_item);
        round.has_item
    }
}

impl GraphBuilder {
    /// The middleware's services for the node with the first loop `event_loop`.
    pub(crate) fn middleware_services_of(
        &self,
        event_loop: LoopId,
    ) -> Result<Vec<AnnouncedService>> {
        let LoopInfo { node_index, node: name, .. } = self.loop_info(event_loop);
        let Some(node) = self.remote_node(*node_index) else {
            return Ok(Vec::new());
        };
        let parameters = ParameterClient::new(self.node_parameters(*node_index));
        let services = node.middleware_services(parameters);
        services.map_err(|error| self.refused(&format!("services of node {name}"), &error))
    }

    pub(crate) fn add_middleware_service(
        &mut self,
        event_loop: LoopId,
        (middleware_service, remote_notifier): AnnouncedService,
    ) -> MiddlewareServiceEntity {
        let target = self.next_target(event_loop);
        let source = EventSource::Notifier(remote_notifier.notifier().clone());
        let spec = CallbackSpec::new(target, source, Arc::default());
        self.add_callback(event_loop, middleware_service.name(), spec);
        let source = self.next_source();
        MiddlewareServiceEntity {
            middleware_service: Some(middleware_service),
            remote_notifier,
            source,
            takes: Takes::default(),
            handled: 0,
        }
    }
}
