//! The cores of hosts: the time at which a callback ends that begins now, or once a core is free.
//!
//! Callbacks come in the total order of the run and are never interrupted, so it is known when each
//! core will be free, and a callback gets the first one when it comes. The core of a process that
//! is killed is busy until the callback would have ended.

use crate::system::Host;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Hosts(BTreeMap<String, Cores>);

#[derive(Debug)]
struct Cores {
    free_at: Vec<u64>,
    speed: f64,
}

impl Hosts {
    pub(crate) fn new(hosts: &BTreeMap<String, Host>) -> Self {
        let cores = hosts.iter().map(|(name, host)| {
            (name.clone(), Cores { free_at: vec![0; host.cores], speed: host.speed })
        });
        Self(cores.collect())
    }

    /// When a callback that comes `now` and takes so long at speed one has ended; after its
    /// duration if there is no such host.
    pub(crate) fn end_of(&mut self, host: Option<&str>, now: u64, nanos: u64) -> u64 {
        let host = host.and_then(|name| self.0.get_mut(name));
        let Some(Cores { free_at, speed }) = host else { return now.saturating_add(nanos) };
        let time = (nanos as f64 / *speed).round() as u64;
        let Some(core) = free_at.iter_mut().min() else { return now };
        *core = now.max(*core).saturating_add(time);
        *core
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callbacks_get_the_first_free_core_in_the_order_in_which_they_come() {
        let host = Host { cores: 2, speed: 0.5 };
        let mut hosts = Hosts::new(&BTreeMap::from([("robot".to_owned(), host)]));
        let mut end = |now, nanos| hosts.end_of(Some("robot"), now, nanos);
        assert_eq!([end(0, 50), end(0, 10), end(0, 5)], [100, 20, 30]);
        assert_eq!([end(25, 5), end(30, 50), end(200, 1)], [40, 140, 202]);
        assert_eq!(hosts.end_of(None, 7, 3), 10);
    }
}
