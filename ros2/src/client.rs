//! Clients in rcl, which watch the servers of their service: calls to a lost server end.

use crate::noted::note;
use crate::rcl::{Client, GraphWatch, Node};
use ringspin_executor::observed::RemoteChannel;
use ringspin_executor::{BoxError, Error, RemoteClient, RemoteNotifier, Sent};
use ringspin_ringbuf::Notice;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The part of a client that the watch notifies of changes of the graph.
struct Watched {
    /// Whether the graph may have changed since the client looked at it.
    has_changed: Notice,
    remote_notifier: RemoteNotifier,
}

/// The clients of a connection, and the thread that watches the graph for them: from the first
/// client on.
#[derive(Default)]
pub(crate) struct ServerWatch {
    clients: Arc<Mutex<Vec<Weak<Watched>>>>,
    thread: Mutex<Option<GraphWatch>>,
}

impl ServerWatch {
    /// Notifies `client` of changes of the graph, which it sees through the node of `observer`.
    fn add(
        &self,
        client: &Arc<Watched>,
        observer: impl FnOnce() -> Result<Node, Error>,
    ) -> Result<(), Error> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let clients = self.clients.clone();
            *thread = Some(GraphWatch::start(&observer()?, move || tell(&clients))?);
        }
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|client| client.strong_count() > 0);
        clients.push(Arc::downgrade(client));
        Ok(())
    }

    /// Ends its thread.
    pub(crate) fn end(&self) {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Notifies all clients that the graph has changed. A client with calls then queries the graph.
fn tell(clients: &Mutex<Vec<Weak<Watched>>>) {
    let clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
    for client in clients.iter().filter_map(Weak::upgrade) {
        client.has_changed.give();
        client.remote_notifier.announce(0);
    }
}

/// The servers that a client has seen, by their identities in the middleware.
#[derive(Debug, Default)]
struct Seen {
    /// The servers that are there, numbered in the order of their discovery.
    present: Vec<([u8; 16], u64)>,
    /// The number of servers ever discovered.
    total: u64,
}

impl Seen {
    fn update(&mut self, ids: &[[u8; 16]]) {
        self.present.retain(|(id, _)| ids.contains(id));
        for id in ids {
            if !self.present.iter().any(|(known, _)| known == id) {
                self.present.push((*id, self.total));
                self.total += 1;
            }
        }
    }

    /// The number of lost servers that were discovered before the oldest one that is present.
    fn gone(&self) -> u64 {
        self.present.iter().map(|(_, number)| *number).min().unwrap_or(self.total)
    }
}

/// A client in rcl.
pub(crate) struct RosClient {
    client: Client,
    /// Its responses in a flight record.
    channel: Arc<RemoteChannel>,
    watched: Arc<Watched>,
    /// Locked during a query of the graph, so that an old answer does not replace a new one.
    seen: Mutex<Seen>,
}

impl RosClient {
    /// Announces the responses of `client` to `remote_notifier`.
    pub(crate) fn new(
        (client, channel): (Client, Arc<RemoteChannel>),
        remote_notifier: RemoteNotifier,
        watch: &ServerWatch,
        observer: impl FnOnce() -> Result<Node, Error>,
    ) -> Result<Self, BoxError> {
        let announced = remote_notifier.clone();
        client.on_new_response(move |count| announced.announce(count))?;
        let watched = Arc::new(Watched { has_changed: Notice::given(), remote_notifier });
        watch.add(&watched, observer)?;
        Ok(Self { client, channel, watched, seen: Mutex::default() })
    }

    /// Queries the graph, and returns the result of `read` for the servers.
    fn look<T>(&self, read: impl FnOnce(&Seen) -> T) -> Result<T, Error> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.update(&self.client.servers()?);
        Ok(read(&seen))
    }
}

impl RemoteClient for RosClient {
    fn is_available(&self) -> bool {
        // It fails after a shutdown only.
        self.client.is_available().unwrap_or(false)
    }

    fn send(&self, request: &dyn Any) -> Result<Sent, BoxError> {
        // Before it is sent, so that a server that goes in the next moment has been seen.
        let servers = self.look(|seen| seen.total)?;
        let number = self.client.send_request(request)?;
        Ok(Sent { number, servers })
    }

    fn servers_gone(&self) -> u64 {
        if !self.watched.has_changed.take() {
            return self.seen.lock().unwrap_or_else(PoisonError::into_inner).gone();
        }
        self.look(Seen::gone).unwrap_or_else(|error| {
            tracing::error!(%error, "failed to look for the servers of a client");
            0
        })
    }

    fn take(&self, into: &mut dyn Any) -> Result<Option<i64>, BoxError> {
        let note = |number, bytes: &[u8]| note(&self.channel, number, bytes);
        Ok(self.client.take_response_noting(into, note)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_gone_up_to_the_oldest_one_that_is_present() {
        let mut seen = Seen::default();
        let ids = [1, 2, 3].map(|n| [n; 16]);
        let mut after = |present: &[usize]| {
            let present: Vec<_> = present.iter().map(|n| ids[*n]).collect();
            seen.update(&present);
            (seen.total, seen.gone())
        };
        assert_eq!(after(&[]), (0, 0));
        assert_eq!(after(&[0]), (1, 0));
        assert_eq!(after(&[1, 0]), (2, 0));
        assert_eq!(after(&[1]), (2, 1));
        assert_eq!(after(&[2]), (3, 2));
        assert_eq!(after(&[]), (3, 3));
        // One that comes back is another one: calls to it ended in between.
        assert_eq!(after(&[0, 2]), (5, 3));
    }
}
