//! The ends of services on the bus.

use super::*;

pub(super) struct Desk {
    pub(super) fake: FakeMiddleware,
    pub(super) service: String,
    pub(super) server: Server,
}

impl RemoteServer for Desk {
    fn take(&mut self, into: &mut dyn Any) -> Result<Option<Arc<dyn RemoteResponder>>, BoxError> {
        let Some((request, number, asker)) = self.server.requests.take() else {
            return Ok(None);
        };
        self.fake.attempt(Fault::Take)?;
        decode(request, into);
        let (fake, service) = (self.fake.clone(), self.service.clone());
        Ok(Some(Arc::new(Answer { fake, service, number, asker })))
    }
}

pub(super) struct Answer {
    fake: FakeMiddleware,
    service: String,
    number: i64,
    asker: Arc<Asker>,
}

impl RemoteResponder for Answer {
    /// Every client of the service gets the response, as with Fast DDS: each has to find out which
    /// ones are for itself.
    fn respond(&self, response: &dyn Any) -> Result<bool, BoxError> {
        let (number, answer) = (self.number, encode(response));
        let askers = self.fake.state().askers.clone();
        for (_, asker) in askers.into_iter().filter(|(service, _)| *service == self.service) {
            let is_own = Arc::ptr_eq(&asker, &self.asker);
            self.fake.bus.carry(Box::new(move || {
                asker.answers.lock().unwrap().push_back(is_own.then_some((number, answer)));
                asker.remote_notifier.announce(1);
            }));
        }
        Ok(true)
    }
}

pub(super) struct Asker {
    /// `None` for a response to another client.
    pub(super) answers: Mutex<VecDeque<Option<(i64, u64)>>>,
    pub(super) asked: Mutex<i64>,
    pub(super) remote_notifier: RemoteNotifier,
}

pub(super) struct Line {
    pub(super) fake: FakeMiddleware,
    pub(super) service: String,
    pub(super) asker: Arc<Asker>,
}

impl Line {
    /// The servers that there ever were.
    fn servers(&self) -> Vec<Server> {
        let state = self.fake.state();
        let servers = state.servers.iter().filter(|(service, _)| *service == self.service);
        let reachable = |server: &Server| server.requests.hears(self.fake.process);
        servers.map(|(_, server)| server.clone()).filter(reachable).collect()
    }

    fn server(&self) -> Option<Server> {
        self.servers().into_iter().find(|server| server.lives())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.fake.state().askers.retain(|(_, asker)| !Arc::ptr_eq(asker, &self.asker));
    }
}

impl RemoteClient for Line {
    fn is_available(&self) -> bool {
        self.server().is_some()
    }

    fn servers_gone(&self) -> u64 {
        self.servers().iter().take_while(|server| !server.lives()).count() as u64
    }

    fn send(&self, request: &dyn Any) -> Result<Sent, BoxError> {
        self.fake.attempt(Fault::Send)?;
        let servers = self.servers().len() as u64;
        let server = self.server().ok_or("there is no server")?;
        let mut asked = self.asker.asked.lock().unwrap();
        *asked += 1;
        let (number, request) = (*asked, (encode(request), *asked, self.asker.clone()));
        self.fake.bus.carry(Box::new(move || server.requests.receive(request)));
        Ok(Sent { number, servers })
    }

    fn take(&self, into: &mut dyn Any) -> Result<Option<i64>, BoxError> {
        let answer = self.asker.answers.lock().unwrap().pop_front();
        let Some((number, answer)) = answer.flatten() else {
            return Ok(None); // as rmw does, which cannot tell the two cases apart
        };
        decode(answer, into);
        Ok(Some(number))
    }
}
