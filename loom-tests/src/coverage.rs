//! Coverage of orderings: every `order!` in `ringbuf` that is stronger than `Relaxed` must be
//! needed by a model, in every respect in which it is stronger.

use crate::mutant::{one_step_weaker, parse};
use loom::sync::atomic::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Orderings that no model can prove necessary: site, weaker ordering, argument.
const ARGUED: &[(&str, &str, &str)] = &[(
    "keep_last.take",
    "Relaxed",
    "a producer that was told of room in the ready ring by a take must not see the entry as it was \
     before its pop; in loom a failed exchange always sees the newest word",
)];

/// Files of `ringbuf` without atomics; `sync.rs` defines `order!`.
const EXEMPT: [&str; 1] = ["sync.rs"];

/// The files in `directory` and below, by relative path.
fn sources(directory: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut folders = vec![root.clone()];
    let mut sources = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sources lie beside this crate") {
            let path = entry.expect("sources can be listed").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("sources are readable");
            let name = path.strip_prefix(&root).expect("it was found below");
            sources.insert(name.to_str().expect("sources have plain names").to_owned(), text);
        }
    }
    sources
}

/// The argument pairs of all calls of `function` in `source`.
fn calls<'a>(source: &'a str, function: &str) -> Vec<(&'a str, &'a str)> {
    let arguments = source.split(function).skip(1);
    arguments
        .map(|rest| {
            let (both, _) = rest.split_once(')').expect("a call is closed");
            let (first, second) = both.split_once(',').expect("a call has two arguments");
            (first.trim().trim_matches('"'), second.trim().trim_matches('"'))
        })
        .collect()
}

fn ringbuf() -> Vec<(String, String)> {
    let sources = sources("../ringbuf/src").into_iter();
    sources.filter(|(name, _)| !EXEMPT.contains(&name.as_str())).collect()
}

#[test]
fn every_ordering_is_needed_by_a_model() {
    let killed: BTreeSet<(String, String)> = sources("src/models")
        .values()
        .flat_map(|source| calls(source, ".kills("))
        .map(|(site, weaker)| (site.to_owned(), weaker.to_owned()))
        .collect();
    let argued = ARGUED.iter().map(|(site, weaker, _)| (site.to_string(), weaker.to_string()));
    let proven: BTreeSet<_> = killed.into_iter().chain(argued).collect();
    let needed: BTreeSet<_> = ringbuf()
        .iter()
        .flat_map(|(_, source)| calls(source, "order!("))
        .flat_map(|(order, site)| {
            let weaker = one_step_weaker(parse(order)).iter();
            weaker.map(|weaker| (site.to_owned(), format!("{weaker:?}")))
        })
        .collect();
    let unproven: Vec<_> = needed.difference(&proven).collect();
    assert!(unproven.is_empty(), "no model needs these orderings: {unproven:?}");
    let stale: Vec<_> = proven.difference(&needed).collect();
    assert!(stale.is_empty(), "no such orderings are in use: {stale:?}");
}

/// Every part that a model can leave out, of `ringbuf` or of a caller's steps, is needed by one.
#[test]
fn every_part_that_can_be_left_out_is_needed_by_a_model() {
    let names = |source: &str, function: &str| -> Vec<String> {
        let calls = source.split(function).skip(1);
        calls.filter_map(|rest| Some(rest.split_once('"')?.1.split_once('"')?.0.into())).collect()
    };
    let models = sources("src/models");
    let needed: BTreeSet<_> = models.values().flat_map(|s| names(s, ".needs(")).collect();
    let omittable = ["omitted!(", "store_load!("];
    let parts_of = |source: &str| omittable.map(|function| names(source, function)).concat();
    let sources = ringbuf().into_iter().map(|(_, source)| source);
    let sources = sources.chain([include_str!("changing.rs").to_owned()]);
    let parts: BTreeSet<_> = sources.flat_map(|source| parts_of(&source)).collect();
    assert!(!parts.is_empty());
    assert_eq!(parts, needed);
}

/// A mutant weakens all uses of a site at once, so a second use would hide behind the first.
#[test]
fn a_site_stronger_than_relaxed_is_used_once() {
    let mut seen = BTreeSet::new();
    for (file, source) in ringbuf() {
        for (order, site) in calls(&source, "order!(") {
            let strong = parse(order) != Ordering::Relaxed;
            assert!(!strong || seen.insert(site.to_owned()), "{file} uses {site} twice");
        }
    }
}

#[test]
fn no_ordering_is_written_without_a_name() {
    for (file, source) in ringbuf().into_iter().filter(|(file, _)| !file.ends_with("tests.rs")) {
        let production = source.split("#[cfg(all(test").next().expect("a split is never empty");
        assert!(!production.contains("Ordering::"), "{file} names an ordering outside `order!`");
    }
}
