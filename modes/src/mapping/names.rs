//! Names of event loops in a mapping: entries, their matches, and the one that wins.

use crate::names::way_out;
use ringspin_executor::{Error, ErrorKind, GraphInfo, Result};
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

/// The entry `node`, or `node:group`, with the leading slash that may be left out.
pub(super) fn entry(text: &str) -> String {
    let slash = if text.starts_with('/') { "" } else { "/" };
    format!("{slash}{text}")
}

/// The value of the entry for the loop called `name`: the more specific entry wins. O(log entries).
pub(super) fn of_loop<T: Copy>(entries: &BTreeMap<String, T>, name: LoopName<'_>) -> Option<T> {
    let group = format!("{}:{}", name.node, name.group);
    entries.get(&group).or_else(|| entries.get(name.node)).copied()
}

/// Every entry must match a loop, unless it is of a node in `later`: a misspelt name would
/// otherwise silently move a node. `place` is the place of the entry in the mapping.
pub(super) fn check<T: Copy>(
    entries: &BTreeMap<String, T>,
    loops: &[LoopName<'_>],
    later: &[String],
    place: impl Fn(T) -> String,
) -> Result<()> {
    let nodes: BTreeSet<&str> = loops.iter().map(|name| name.node).collect();
    let groups: BTreeSet<(&str, &str)> = loops.iter().map(|l| (l.node, l.group)).collect();
    let later: BTreeSet<_> = later.iter().map(|text| entry(text)).collect();
    for (entry, &said) in entries {
        let (node, group) = match entry.split_once(':') {
            Some((node, group)) => (node, Some(group)),
            None => (entry.as_str(), None),
        };
        if later.contains(entry) || later.contains(node) {
            continue;
        }
        let node_exists = nodes.contains(node);
        let known: Vec<String> = match group {
            None if node_exists => continue,
            Some(group) if groups.contains(&(node, group)) => continue,
            Some(_) if node_exists => {
                loops.iter().filter(|l| l.node == node).map(LoopName::to_string).collect()
            }
            _ => nodes.iter().map(|node| (*node).to_owned()).collect(),
        };
        // Where the node itself is unknown, its group would only blur the comparison.
        let wanted = if node_exists { entry } else { node };
        let way_out = way_out(wanted, known, "the graph has no nodes; create them first");
        let place = place(said);
        let text = format!(
            "{place} names `{entry}`, which does not exist; {way_out} (list it in `later` if it is \
             created while the executor runs)"
        );
        return Err(Error::new(ErrorKind::NotFound, text).in_node(node));
    }
    Ok(())
}
