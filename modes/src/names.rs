//! Names of nodes and callback groups in rules, and what to say when one does not exist.

use ringspin_executor::{CallbackId, GraphInfo, LoopInfo, Table, TopicInfo};
use std::fmt;

/// Whether `name` means this loop: `/node` all of a node's callback groups, `/node:group` one of
/// them, `/node:` its default group. The leading slash may be left out.
pub fn names_loop(name: &str, event_loop: &LoopInfo) -> bool {
    let name = name.strip_prefix('/').unwrap_or(name);
    let node = event_loop.node.strip_prefix('/').unwrap_or(&event_loop.node);
    match name.split_once(':') {
        Some((in_node, group)) => in_node == node && group == event_loop.group,
        None => name == node,
    }
}

/// The name that means exactly the event loop with this [full name](LoopInfo::full_name): the name
/// of a node alone would mean all of its callback groups.
pub fn exact_name(full_name: &str) -> String {
    match full_name.contains(':') {
        true => full_name.to_owned(),
        false => format!("{full_name}:"),
    }
}

/// The way out when `wanted` is not among `known`; `none` if nothing is.
pub fn way_out(wanted: &str, known: impl IntoIterator<Item = String>, none: &str) -> String {
    let mut known: Vec<_> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    match closest(wanted, &known) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => none.to_owned(),
        None => format!("use one of {}", list(&known)),
    }
}

/// How many of `earlier` are the same as `this`: the number that tells namesakes apart.
pub fn occurrence<T: PartialEq>(earlier: &[T], this: &T) -> usize {
    earlier.iter().filter(|other| *other == this).count()
}

/// The names of the callbacks, as a rule or a profile tells those of a loop apart: with a number
/// where it has several of the same name.
pub fn callback_labels(info: &GraphInfo) -> Table<CallbackId, String> {
    info.callbacks.map(|callback, of| {
        let name = &of.name;
        let namesakes = namesakes(info, callback);
        match namesakes.len() {
            1 => name.clone(),
            _ => format!("{name}#{}", occurrence_of(callback, &namesakes)),
        }
    })
}

/// The callbacks of the same loop with the same name, itself among them.
fn namesakes(info: &GraphInfo, callback: CallbackId) -> Vec<CallbackId> {
    let name = &info.callbacks[callback].name;
    let of_loop = info.loop_of(callback).callbacks.iter().copied();
    of_loop.filter(|other| info.callbacks[*other].name == *name).collect()
}

fn occurrence_of(callback: CallbackId, namesakes: &[CallbackId]) -> usize {
    namesakes.iter().take_while(|other| **other != callback).count()
}

/// The number of the callback among those of the same name in its loop.
pub fn callback_number(info: &GraphInfo, callback: CallbackId) -> usize {
    occurrence_of(callback, &namesakes(info, callback))
}

/// Tells the publishers of a topic apart that are at the same `places`: by their names, or by their
/// numbers among those without one.
pub fn publisher_names<P: Copy + PartialEq>(topic: &TopicInfo, places: &[P]) -> Vec<String> {
    let mut unnamed: Vec<P> = Vec::new();
    let names = topic.publishers.iter().zip(places).map(|((_, source), place)| {
        if let Some((_, name)) = topic.named.iter().find(|(named, _)| named == source) {
            return format!("{name:?}");
        }
        let number = occurrence(&unnamed, place);
        unnamed.push(*place);
        format!("#{number}")
    });
    names.collect()
}

/// The candidate closest to `wanted`: one that differs only in its namespace, else the one with the
/// smallest edit distance if at most half of the name would have to change.
pub fn closest<'a>(wanted: &str, candidates: &'a [String]) -> Option<&'a str> {
    let base = |name: &str| name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let distance = |candidate: &&String| {
        if base(wanted) == base(candidate) { 0 } else { edit_distance(wanted, candidate) }
    };
    let best = candidates.iter().min_by_key(distance)?;
    (distance(&best) <= wanted.chars().count().div_ceil(2)).then_some(best.as_str())
}

/// Levenshtein distance without regard to case, O(a * b) time and O(b) memory.
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, in_a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, in_b) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(in_a != in_b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

/// "a, b, c", or "(none)".
pub fn list<T: fmt::Display>(items: &[T]) -> String {
    if items.is_empty() {
        return "(none)".to_owned();
    }
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_all_its_groups() {
        let group = |group: &str| LoopInfo {
            node: "/ns/a".into(),
            group: group.into(),
            node_index: 0,
            callbacks: vec![],
            priority: 0,
            digested: false,
        };
        for (name, default, slow) in [
            ("/ns/a", true, true),
            ("ns/a", true, true),
            ("/ns/a:", true, false),
            ("/ns/a:slow", false, true),
            ("/ns/a:fast", false, false),
            ("a", false, false),
            ("", false, false),
        ] {
            assert_eq!(names_loop(name, &group("")), default, "{name}");
            assert_eq!(names_loop(name, &group("slow")), slow, "{name}");
        }
    }

    #[test]
    fn the_way_out_is_a_near_name_or_all_of_them() {
        let known = || ["/points", "/map", "/map"].map(String::from);
        assert_eq!(way_out("/point", known(), ""), "did you mean `/points`?");
        assert_eq!(way_out("/xyzxyz", known(), ""), "use one of /map, /points");
        assert_eq!(way_out("/x", [], "there is none"), "there is none");
    }

    #[test]
    fn edit_distance_counts_single_character_edits() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("Abc", "aBC"), 0);
    }
}
