//! Reports of the bus besides messages.

use super::*;

/// Watches one end of a topic for one kind of event.
#[derive(Clone)]
pub(super) struct Gauge {
    pub(super) topic: String,
    pub(super) kind: RemoteEventKind,
    pub(super) status: Arc<Mutex<Option<RemoteStatus>>>,
    pub(super) remote_notifier: RemoteNotifier,
}

impl RemoteEvent for Gauge {
    fn take(&mut self) -> Result<Option<RemoteStatus>, BoxError> {
        Ok(self.status.lock().unwrap().take())
    }
}

/// One end of a topic.
pub(super) struct Gauges {
    pub(super) fake: FakeMiddleware,
    pub(super) topic: String,
}

impl RemoteEvents for Gauges {
    fn includes_locals(&self) -> bool {
        !self.fake.bypassed
    }

    fn watch(
        &self,
        kind: RemoteEventKind,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteEvent>>, BoxError> {
        self.fake.attempt(Fault::Watch)?;
        let gauge =
            Gauge { topic: self.topic.clone(), kind, status: Arc::default(), remote_notifier };
        self.fake.state().gauges.push(gauge.clone());
        Ok(Some(Box::new(gauge)))
    }
}
