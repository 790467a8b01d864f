//! Names of nodes and callback groups in rules, and what to say when one does not exist.

use crate::mapping::{closest, list};
use ringspin_executor::LoopInfo;

/// Whether `name` means this loop: `/node` all of a node's callback groups, `/node:group` one of
/// them, `/node:` its default group. The leading slash may be left out.
pub(crate) fn names_loop(name: &str, event_loop: &LoopInfo) -> bool {
    let name = name.strip_prefix('/').unwrap_or(name);
    let node = event_loop.node.strip_prefix('/').unwrap_or(&event_loop.node);
    match name.split_once(':') {
        Some((in_node, group)) => in_node == node && group == event_loop.group,
        None => name == node,
    }
}

/// How to go on when `wanted` is not among `known`; `none` if nothing is.
pub(crate) fn way_out(wanted: &str, known: impl IntoIterator<Item = String>, none: &str) -> String {
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
pub(super) fn occurrence<T: PartialEq>(earlier: &[T], this: &T) -> usize {
    earlier.iter().filter(|other| *other == this).count()
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
}
