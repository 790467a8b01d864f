//! Resolves rules and names to edges.
//!
//! The thread that starts the executor resolves the rules once; each thread that changes the graph
//! later adds the new edges and removes old ones, under the lock of the simulated network. Edges
//! that exist stay as they are, with their stream of random numbers and the messages that occupy
//! them. A stream is named after both ends of its edge and not after a position, so a further node
//! or rule changes no number of another edge, and two variants of a graph stay comparable.

use super::table::{Edge, LinkTable};
use super::{LinkRule, Links, is_probability};
use ringspin_executor::{
    CallbackId, Error, ErrorKind, GraphInfo, LoopInfo, Result, ServiceInfo, SourceId, TopicInfo,
};
use ringspin_modes::names::{names_loop, occurrence, publisher_names, way_out};
use ringspin_modes::random::Stream;
use std::collections::BTreeSet;

/// A way from one source to one callback, whether it has a rule or not.
struct Way<'a> {
    /// The topic or service.
    topic: &'a str,
    source: SourceId,
    callback: CallbackId,
    from: &'a LoopInfo,
    to: &'a LoopInfo,
    /// A name that is unique to this edge and does not depend on other edges.
    name: String,
}

impl Links {
    /// Finds the edges of each rule. O(edges * rules).
    ///
    /// An edge draws its numbers from a stream that is named after both ends: node and callback
    /// group, and the [name](ringspin_executor::Publisher::named) of the publisher there. Those
    /// without a name, and subscriptions, are numbered within their group and topic. So its random
    /// numbers stay the same when nodes, topics, rules or named publishers are added.
    ///
    /// # Errors
    /// The first rule that is for no edge of the graph, or asks for what cannot be.
    pub fn resolve(&self, info: &GraphInfo, seed: u64) -> Result<LinkTable> {
        let ways = ways(info);
        for (rule, number) in self.rules.iter().zip(1..) {
            check(rule, &format!("link {number} (`{}`)", rule.topic), info, &ways)?;
        }
        let mut table = LinkTable::new(self.clone(), seed);
        table.extend(info);
        Ok(table)
    }
}

impl LinkTable {
    /// Adds the edges that are new in `info`, and removes those that it lacks. O(edges * rules).
    pub(super) fn extend(&mut self, info: &GraphInfo) {
        let ways = ways(info);
        let there: BTreeSet<_> = ways.iter().map(|way| (way.callback, way.source)).collect();
        self.retain(|callback, source| there.contains(&(callback, source)));
        let (links, seed) = (std::mem::take(&mut self.links), self.seed);
        for way in ways {
            self.add(way.callback, way.source, || {
                let link = links.link(Stream::new(seed, &way.name), |rule| rule.matches(&way));
                link.map(|link| Edge::new(way.source, link))
            });
        }
        self.links = links;
    }
}

impl LinkRule {
    fn matches(&self, way: &Way<'_>) -> bool {
        let is =
            |name: &Option<String>, end| name.as_ref().is_none_or(|name| names_loop(name, end));
        self.topic == way.topic && is(&self.from, way.from) && is(&self.to, way.to)
    }
}

/// The way out for entities that come later.
const LATER: &str = "(set `later = true` if it is created while the graph runs)";

/// One of the two ends of a way.
type WayEnd<'a> = fn(&Way<'a>) -> &'a LoopInfo;

fn check(rule: &LinkRule, name: &str, info: &GraphInfo, ways: &[Way<'_>]) -> Result<()> {
    let is_service = info.services.iter().any(|service| service.name == rule.topic);
    if !rule.later && !is_service && !info.topics.iter().any(|topic| topic.name == rule.topic) {
        let topics = info.topics.iter().map(|topic| &topic.name);
        let known = topics.chain(info.services.iter().map(|service| &service.name)).cloned();
        let way_out = way_out(&rule.topic, known, "it has none at all");
        let text = format!("{name}: the graph has no such topic or service; {way_out} {LATER}");
        return Err(Error::new(ErrorKind::NotFound, text).on_topic(&rule.topic));
    }
    if let (Some(since), Some(until)) = (rule.since, rule.until)
        && since >= until
    {
        let text =
            format!("{name}: it begins at {since} and ends at {until}; let it end after it begins");
        return Err(Error::new(ErrorKind::InvalidArgument, text).on_topic(&rule.topic));
    }
    for (key, value) in rule.probabilities() {
        if !is_probability(value) {
            let text = format!("{name}: {key} is {value}; give a probability from 0 to 1");
            return Err(Error::new(ErrorKind::InvalidArgument, text).on_topic(&rule.topic));
        }
        if is_service && key != "reordering" && value > 0.0 {
            let text = format!(
                "{name}: it is a service, and {key} is not possible there: every call ends, \
                 exactly once; give it a delay longer than the timeout of its clients instead"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text).on_topic(&rule.topic));
        }
    }
    let mut ways: Vec<_> = ways.iter().filter(|way| way.topic == rule.topic).collect();
    let ends: [(_, _, WayEnd<'_>); 2] =
        [("from", &rule.from, |way| way.from), ("to", &rule.to, |way| way.to)];
    for (end, wanted, of) in ends {
        let Some(wanted) = wanted else { continue };
        let known: Vec<_> = ways.iter().map(|way| of(way).full_name()).collect();
        ways.retain(|way| names_loop(wanted, of(way)));
        if ways.is_empty() && !rule.later {
            let none = "it needs both a publisher and a subscription";
            let way_out = way_out(wanted, known, none);
            let text = format!("{name}: nothing flows {end} `{wanted}`; {way_out} {LATER}");
            return Err(Error::new(ErrorKind::NotFound, text).on_topic(&rule.topic));
        }
    }
    Ok(())
}

fn ways(info: &GraphInfo) -> Vec<Way<'_>> {
    let topics = info.topics.iter().flat_map(|topic| of_topic(info, topic));
    topics.chain(info.services.iter().flat_map(|service| of_service(info, service))).collect()
}

fn of_topic<'a>(info: &'a GraphInfo, topic: &'a TopicInfo) -> Vec<Way<'a>> {
    let from: Vec<_> = topic.publishers.iter().map(|(from, _)| *from).collect();
    let publishers = publisher_names(topic, &from);
    let to = topic.subscriptions.iter().map(|c| info.callbacks[*c].event_loop);
    let to: Vec<_> = to.collect();
    let mut ways = Vec::with_capacity(from.len() * to.len());
    for (n, &(publisher, source)) in topic.publishers.iter().enumerate() {
        for (m, &callback) in topic.subscriptions.iter().enumerate() {
            let [from_loop, to_loop] = [publisher, to[m]].map(|id| &info.loops[id]);
            let name = format!(
                "{} {} -> topic {} -> {} #{}",
                from_loop.full_name(),
                publishers[n],
                topic.name,
                to_loop.full_name(),
                occurrence(&to[..m], &to[m]),
            );
            let (from, to) = (from_loop, to_loop);
            ways.push(Way { topic: &topic.name, source, callback, from, to, name });
        }
    }
    ways
}

/// Each client's way to the server, and back.
fn of_service<'a>(info: &'a GraphInfo, service: &'a ServiceInfo) -> Vec<Way<'a>> {
    let Some(server) = service.server else {
        return Vec::new();
    };
    let at = info.loop_of(server);
    let loops = service.clients.iter().map(|c| info.callbacks[c.callback].event_loop);
    let loops: Vec<_> = loops.collect();
    let mut ways = Vec::with_capacity(2 * service.clients.len());
    for (n, client) in service.clients.iter().enumerate() {
        let by = info.loop_of(client.callback);
        let end = format!("{} #{}", by.full_name(), occurrence(&loops[..n], &loops[n]));
        let (topic, name) = (service.name.as_str(), at.full_name());
        ways.push(Way {
            topic,
            source: client.requests,
            callback: server,
            from: by,
            to: at,
            name: format!("{end} -> request {topic} -> {name}"),
        });
        ways.push(Way {
            topic,
            source: client.responses,
            callback: client.callback,
            from: at,
            to: by,
            name: format!("{name} -> response {topic} -> {end}"),
        });
    }
    ways
}
