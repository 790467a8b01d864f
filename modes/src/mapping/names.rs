//! How a mapping names event loops: entries, what they match, and which one wins.

use super::UnknownNodeError;
use crate::names::closest;
use ringspin_executor::GraphInfo;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The name of one event loop of the frozen graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopName<'a> {
    /// The fully qualified name of the node, with the leading slash.
    pub node: &'a str,
    /// The callback group within the node, empty for the default group.
    pub group: &'a str,
}

impl fmt::Display for LoopName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.node)?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ":{}", self.group) }
    }
}

/// The names of all loops of a graph, in the order of their creation.
pub fn loop_names(info: &GraphInfo) -> Vec<LoopName<'_>> {
    info.loops.values().map(|l| LoopName { node: &l.node, group: &l.group }).collect()
}

/// A node, and the callback group within it if the text names one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    node: String,
    group: Option<String>,
}

impl Entry {
    /// Reads `node`, or `node:group`; a name without the leading slash is relative to the root.
    pub(super) fn parse(text: &str) -> Self {
        let (node, group) = match text.split_once(':') {
            Some((node, group)) => (node, Some(group.to_owned())),
            None => (text, None),
        };
        let slash = if node.starts_with('/') { "" } else { "/" };
        Self { node: format!("{slash}{node}"), group }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.group {
            Some(group) => write!(f, "{}:{group}", self.node),
            None => f.write_str(&self.node),
        }
    }
}

/// The value of the entry for the loop called `name`: the more specific entry wins. O(log entries).
pub(super) fn of_loop<T: Copy>(entries: &BTreeMap<Entry, T>, name: LoopName<'_>) -> Option<T> {
    let node = name.node.to_owned();
    let group = Entry { node: node.clone(), group: Some(name.group.into()) };
    entries.get(&group).or_else(|| entries.get(&Entry { node, group: None })).copied()
}

/// Every entry must match a loop, unless it is of a node in `later`: a misspelt name would
/// otherwise silently move a node. `place` is where the mapping has the entry, given what it says
/// of it.
pub(super) fn check<T: Copy>(
    entries: &BTreeMap<Entry, T>,
    loops: &[LoopName<'_>],
    later: &[String],
    place: impl Fn(T) -> String,
) -> Result<(), UnknownNodeError> {
    let nodes: BTreeSet<&str> = loops.iter().map(|name| name.node).collect();
    let groups: BTreeSet<(&str, &str)> = loops.iter().map(|l| (l.node, l.group)).collect();
    let later: BTreeSet<_> = later.iter().map(|text| Entry::parse(text)).collect();
    let is_later = |entry: &Entry| {
        later.contains(entry) || later.contains(&Entry { node: entry.node.clone(), group: None })
    };
    for (entry, &said) in entries.iter().filter(|(entry, _)| !is_later(entry)) {
        let (node, group) = (entry.node.as_str(), entry.group.as_deref());
        let node_exists = nodes.contains(node);
        let known: Vec<String> = match group {
            None if node_exists => continue,
            Some(group) if groups.contains(&(node, group)) => continue,
            Some(_) if node_exists => {
                loops.iter().filter(|l| l.node == node).map(LoopName::to_string).collect()
            }
            _ => nodes.iter().map(|node| (*node).to_owned()).collect(),
        };
        let entry = entry.to_string();
        // Where the node itself is unknown, its group would only blur the comparison.
        let wanted = if node_exists { entry.as_str() } else { node };
        let suggestion = closest(wanted, &known).map(str::to_owned);
        return Err(UnknownNodeError { entry, place: place(said), suggestion, known });
    }
    Ok(())
}
