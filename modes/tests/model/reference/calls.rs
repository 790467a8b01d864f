//! The service, its servers and clients.

use super::{Event, Reference, Token};
use crate::spec;
use std::collections::VecDeque;

/// A call: the client, and the call's number there.
pub(super) type Call = (usize, u64);

pub(super) struct Service {
    pub(super) callback: usize,
    pub(super) requests: VecDeque<Call>,
    spec: spec::Service,
}

pub(super) struct Client {
    pub(super) callback: usize,
    /// Limit of the calls without a response.
    depth: usize,
    /// The sources of the requests and of the responses.
    sources: [u32; 2],
    made: u64,
    /// Whether it has a handle.
    pub(super) is_held: bool,
    pub(super) unanswered: usize,
    /// The responses, and whether a server has sent them.
    pub(super) responses: VecDeque<(Event, bool)>,
}

impl Reference<'_> {
    /// Adds a server, unless there is one.
    pub(super) fn create_service(&mut self, node: usize, spec: spec::Service) {
        if self.server().is_none() {
            let (callback, requests) = (self.callback(node), VecDeque::new());
            self.services.push(Service { callback, requests, spec });
        }
    }

    pub(super) fn create_client(&mut self, node: usize, depth: usize) {
        let callback = self.callback(node);
        self.callback(node); // its timeouts
        let [request, response, _timeout] = [self.source(), self.source(), self.source()];
        self.clients.push(Client {
            callback,
            depth,
            sources: [request, response],
            made: 0,
            is_held: true,
            unanswered: 0,
            responses: VecDeque::new(),
        });
    }

    fn server(&self) -> Option<usize> {
        self.services.iter().position(|of| !self.is_gone(of.callback))
    }

    pub(super) fn call(&mut self, n: usize) {
        let client = &self.clients[n];
        let is_refused =
            self.is_gone(client.callback) || !client.is_held || client.unanswered == client.depth;
        let Some(server) = self.server().filter(|_| self.running && !is_refused) else { return };
        let Service { requests, spec, .. } = &mut self.services[server];
        if requests.len() == spec.depth {
            self.outcome.refused += 1;
            return;
        }
        let client = &mut self.clients[n];
        requests.push_back((n, client.made));
        client.made += 1;
        client.unanswered += 1;
        self.push(Token::Request(server));
    }

    pub(super) fn serve(&mut self, n: usize) {
        let Service { callback, requests, spec } = &mut self.services[n];
        let (callback, deferred) = (*callback, spec.deferred);
        let Some(call) = requests.pop_front() else { return }; // it was destroyed
        let source = self.clients[call.0].sources[0];
        self.call_back(callback, (source, call.1));
        match deferred {
            true => self.kept.push_back(call),
            false => self.respond(call, true),
        }
    }

    /// Responds to a call, or ends it with an error.
    pub(super) fn respond(&mut self, (n, sequence): Call, is_answer: bool) {
        let client = &mut self.clients[n];
        if !self.callbacks[client.callback].is_gone {
            client.responses.push_back(((client.sources[1], sequence), is_answer));
            self.push(Token::Response(n));
        }
    }

    pub(super) fn end_call(&mut self, n: usize) {
        let client = &mut self.clients[n];
        let callback = client.callback;
        let (event, is_answer) = client.responses.pop_front().expect("one token, one response");
        if self.is_gone(callback) {
            return;
        }
        self.clients[n].unanswered -= 1;
        match is_answer {
            true => self.outcome.calls.answered += 1,
            false => self.outcome.calls.unanswered += 1,
        }
        self.call_back(callback, event);
        self.end_client(n);
    }

    /// Ends a client that has neither a handle nor calls.
    pub(super) fn end_client(&mut self, n: usize) {
        let Client { callback, is_held, unanswered, .. } = self.clients[n];
        if !is_held && unanswered == 0 {
            // Includes its timeouts.
            self.destroy_all(|it| it == callback || it == callback + 1);
        }
    }
}
