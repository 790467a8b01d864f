//! The nodes and endpoints of all processes, and the ways of messages between them.
//!
//! The coordinator asks here for the receivers of a message. Messages within a process
//! never come here, since its own middleware delivers them at once. A message that a fault loses
//! takes its link all the same, so that the random numbers of later ones stay.

use crate::faults::Faults;
use crate::system::{Fault, System};
use ringspin_executor::{DeliveryOutcome, Time};
use ringspin_modes::random::Stream;
use ringspin_process_protocol::{Entity, Gid, Kind, Sample};
use ringspin_simulation::models::{Link, LinkRule, Links};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A receiver of a message: the process, the endpoint, and when it arrives.
pub(crate) type Arrival = (Gid, u64);

pub(crate) struct Graph<'a> {
    entities: BTreeMap<Gid, Entity>,
    /// The endpoints that receive, by topic or service.
    receivers: BTreeMap<String, Vec<Gid>>,
    /// The last messages of publishers with transient local durability.
    past: BTreeMap<Gid, VecDeque<Sample>>,
    rules: Links,
    /// The places of the rules that were for a message.
    used: BTreeSet<usize>,
    /// The ways that have sent something, with the number of messages; `None` without a rule.
    links: BTreeMap<(Gid, Gid), (Option<Link>, u64)>,
    system: &'a System,
    /// The number of messages from each process to each other one.
    pub(crate) sent: BTreeMap<(u32, u32), u64>,
    pub(crate) faults: Faults,
}

impl<'a> Graph<'a> {
    /// An empty graph, with the links of the system and then those of partitions.
    pub(crate) fn new(system: &'a System, (faults, partitions): (Faults, Vec<LinkRule>)) -> Self {
        let rules = system.link.iter().cloned().chain(partitions).collect();
        Self {
            entities: BTreeMap::new(),
            receivers: BTreeMap::new(),
            past: BTreeMap::new(),
            rules: Links { rules },
            used: BTreeSet::new(),
            links: BTreeMap::new(),
            system,
            sent: BTreeMap::new(),
            faults,
        }
    }

    /// The links of the system and of partitions.
    pub(crate) fn rules(&self) -> &[LinkRule] {
        &self.rules.rules
    }

    pub(crate) fn entities(&self) -> impl Iterator<Item = &Entity> {
        self.entities.values()
    }

    pub(crate) fn get(&self, gid: Gid) -> Option<&Entity> {
        self.entities.get(&gid)
    }

    pub(crate) fn add(&mut self, entity: Entity) {
        if matches!(entity.kind, Kind::Subscription | Kind::Service) {
            self.receivers.entry(entity.name.clone()).or_default().push(entity.gid);
        }
        self.entities.insert(entity.gid, entity);
    }

    pub(crate) fn remove(&mut self, gid: Gid) {
        let Some(entity) = self.entities.remove(&gid) else { return };
        if let Some(receivers) = self.receivers.get_mut(&entity.name) {
            receivers.retain(|receiver| *receiver != gid);
        }
        self.past.remove(&gid);
        self.links.retain(|(from, to), _| *from != gid && *to != gid);
    }

    /// All nodes and endpoints of a process.
    pub(crate) fn of_process(&self, process: u32) -> Vec<Gid> {
        let from = Gid { process, number: 0 };
        let to = Gid { process, number: u32::MAX };
        self.entities.range(from..=to).map(|(gid, _)| *gid).collect()
    }

    /// The arrivals of a message at subscriptions of other processes; a late one may get it too.
    pub(crate) fn publish(&mut self, sample: &Sample, now: u64) -> Vec<Arrival> {
        let Some(publisher) = self.entities.get(&sample.from) else { return Vec::new() };
        if publisher.qos.is_transient_local {
            let past = self.past.entry(sample.from).or_default();
            past.push_back(sample.clone());
            if past.len() > publisher.qos.depth.unwrap_or(u32::MAX) as usize {
                past.pop_front();
            }
        }
        let reached = |gid: &&Gid| {
            gid.process != sample.from.process && publisher.reaches(&self.entities[*gid])
        };
        let receivers = self.receivers.get(&publisher.name).into_iter().flatten();
        let mut reached: Vec<_> = receivers.filter(reached).copied().collect();
        reached.sort_unstable();
        let processes = reached.chunk_by(|one, other| one.process == other.process);
        processes.flat_map(|to| self.arrivals(sample, to, now)).collect()
    }

    /// The messages that a late subscription gets.
    pub(crate) fn past_of(&self, subscription: &Entity) -> Vec<Sample> {
        let others = self.entities.values().filter(|publisher| {
            publisher.gid.process != subscription.gid.process && publisher.reaches(subscription)
        });
        let past = others.filter_map(|publisher| self.past.get(&publisher.gid));
        let wanted = subscription.qos.is_transient_local;
        past.filter(|_| wanted).flatten().cloned().collect()
    }

    /// The arrival of a request at the first service of this name.
    pub(crate) fn request(&mut self, service: &str, sample: &Sample, now: u64) -> Vec<Arrival> {
        let receivers = self.receivers.get(service).into_iter().flatten();
        let is_service = |gid: &&Gid| self.entities[*gid].kind == Kind::Service;
        match receivers.filter(is_service).min().copied() {
            Some(to) => self.arrivals(sample, &[to], now),
            None => Vec::new(),
        }
    }

    /// When a message arrives at these endpoints of one process: at once, unless a link or a fault
    /// says more.
    pub(crate) fn arrivals(&mut self, sample: &Sample, to: &[Gid], now: u64) -> Vec<Arrival> {
        let is_lost = self.is_lost(sample, to[0]);
        let arrivals = to.iter().flat_map(|to| self.linked(sample, *to, now));
        arrivals.filter(|_| !is_lost).collect()
    }

    /// Whether a fault loses a message for a process, the next one on this way.
    fn is_lost(&mut self, sample: &Sample, to: Gid) -> bool {
        let way = (sample.from.process, to.process);
        let count = self.sent.entry(way).or_default();
        *count += 1;
        let (system, entities) = (self.system, &self.entities);
        self.faults.is_lost(way, *count - 1, || {
            let topic = entities.get(&to).map_or("?", |entity| &entity.name);
            let [from, to] = [way.0, way.1].map(|number| system.name_of(number));
            format!("message {} of {from} on {topic} lost for {to}", sample.number)
        })
    }

    /// When a message arrives at `to` by its link, if there is one.
    fn linked(&mut self, sample: &Sample, to: Gid, now: u64) -> Vec<Arrival> {
        let way = (sample.from, to);
        if !self.links.contains_key(&way) {
            let link = self.link(way);
            self.links.insert(way, (link, 0));
        }
        let Some((Some(link), count)) = self.links.get_mut(&way) else { return vec![(to, now)] };
        let number = *count;
        *count += 1;
        match link.outcome(number, Time::from_nanos(now), sample.payload.length()) {
            DeliveryOutcome::Once(time) => vec![(to, time.as_nanos())],
            DeliveryOutcome::Twice(first, second) => {
                vec![(to, first.as_nanos()), (to, second.as_nanos())]
            }
            _ => Vec::new(),
        }
    }

    fn link(&mut self, (from, to): (Gid, Gid)) -> Option<Link> {
        let (sender, receiver) = (self.entities.get(&from)?, self.entities.get(&to)?);
        let is = |name: &Option<String>, end: &Entity| {
            let process = self.system.name_of(end.gid.process);
            name.as_ref().is_none_or(|name| *name == node(end) || name == process)
        };
        let stream = Stream::new(self.system.seed, &format!("{} {from:?} {to:?}", receiver.name));
        let is_for = |rule: &LinkRule| {
            (rule.topic == "*" || rule.topic == sender.name)
                && is(&rule.from, sender)
                && is(&rule.to, receiver)
        };
        self.used
            .extend((0..).zip(&self.rules.rules).filter(|(_, rule)| is_for(rule)).map(|n| n.0));
        self.rules.link(stream, is_for)
    }

    /// The links and partitions of the system that were for no message, in words.
    pub(crate) fn unused_links(&self) -> Vec<String> {
        let own = self.system.link.len();
        let rules = (0..).zip(&self.rules.rules[..own]);
        let rules = rules.filter(|(place, _)| !self.used.contains(place));
        let partitions = (1..).zip(&self.system.fault);
        let partitions = partitions.filter(|(_, of)| matches!(of, Fault::Partition { .. }));
        // Each one is two links, which come first after the others.
        let unused = partitions
            .zip((own..).step_by(2))
            .filter(|(_, place)| !self.used.contains(place) && !self.used.contains(&(place + 1)));
        let unused = unused.map(|((number, fault), _)| {
            format!("fault {number} ({fault}): no message took this way; correct `between`")
        });
        let describe = |(place, rule): (usize, &LinkRule)| {
            let (number, topic) = (place + 1, &rule.topic);
            format!(
                "link {number} (`{topic}`): no message took it; correct `topic`, `from` or `to`"
            )
        };
        rules.map(describe).chain(unused).collect()
    }
}

/// The full name of an entity's node.
pub(crate) fn node(entity: &Entity) -> String {
    format!("{}/{}", entity.namespace.trim_end_matches('/'), entity.node)
}
