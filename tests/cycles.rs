//! Top-level modules of a member import each other in one direction: no cycles.
//!
//! The executor's modules lie in four wings, folders that import each other downwards only. There
//! the modules of the wings are looked at as well as the wings.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// The executor's wings, lowest first.
const WINGS: [&str; 4] = ["base", "delivery", "running", "features"];

/// For each module, the modules that it imports, each with a file that does so.
type Imports = BTreeMap<String, BTreeMap<String, PathBuf>>;

/// The sources below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|extension| extension == "rs") => {
                    sources.push(path);
                }
                false => {}
            }
        }
    }
    sources
}

/// The code of a file without comments and without unit tests, which are at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let is_test = |line: &str| line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(te");
    let lines = text.lines().take_while(|line| !is_test(line));
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| [line.trim(), " "]).collect()
}

/// The identifier that `text` begins with.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The paths that the text after a prefix such as `crate::` names, groups taken apart.
fn paths(text: &str) -> Vec<String> {
    let Some(group) = text.strip_prefix('{') else {
        let first = identifier(text);
        return match text[first.len()..].strip_prefix("::") {
            Some(rest) => paths(rest).iter().map(|path| format!("{first}::{path}")).collect(),
            None => vec![first.to_owned()],
        };
    };
    let (mut depth, mut start, mut all) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                all.extend(paths(group[start..at].trim_start()));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    all
}

/// The paths below the root of the crate that `code`, a file `depth` modules below the root, uses.
fn paths_from_root(code: &str, depth: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        names.extend(paths(&code[at + "crate::".len()..]));
    }
    let to_root = "super::".repeat(depth);
    for (at, _) in code.match_indices(&to_root) {
        let rest = &code[at + to_root.len()..];
        // Part of a longer chain that has been looked at from its beginning.
        if !code[..at].ends_with("super::") && !rest.starts_with("super::") {
            names.extend(paths(rest));
        }
    }
    names
}

/// The module of a path: its first segment, or two in a member with wings.
fn module_of(path: &str, wings: &[&str]) -> String {
    let mut segments = path.split("::");
    let first = segments.next().unwrap_or_default();
    match segments.next().filter(|_| wings.contains(&first)) {
        Some(second) => format!("{first}::{second}"),
        None => first.to_owned(),
    }
}

/// The module of each name that the root of a crate imports.
fn reexports(root: &str, wings: &[&str]) -> BTreeMap<String, String> {
    let mut modules = BTreeMap::new();
    for item in root.split("use ").skip(1).filter_map(|rest| rest.split(';').next()) {
        for path in paths(item.trim_start_matches("crate::")) {
            let name = path.rsplit("::").next().unwrap_or_default().to_owned();
            modules.insert(name, module_of(&path, wings));
        }
    }
    modules
}

fn imports(member: &Path, wings: &[&str]) -> Imports {
    let source = member.join("src");
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let root_file = root.iter().find(|path| path.exists());
    let reexports = root_file.map(|path| reexports(&code(path), wings)).unwrap_or_default();
    let mut modules = Imports::new();
    let mut uses = Vec::new();
    for path in sources(&source).into_iter().filter(|path| !root.contains(path)) {
        let module = path.strip_prefix(&source).unwrap().with_extension("");
        let segments: Vec<_> = module.iter().map(|part| part.to_str().unwrap()).collect();
        let is_wing = segments.len() == 1 && wings.contains(&segments[0]);
        if is_wing || segments.iter().any(|part| ["tests", "bin"].contains(part)) {
            continue;
        }
        let from = module_of(&segments.join("::"), wings);
        modules.entry(from.clone()).or_default();
        let paths = paths_from_root(&code(&path), segments.len());
        uses.extend(paths.into_iter().map(|used| (from.clone(), used, path.clone())));
    }
    for (from, used, path) in uses {
        let module = module_of(&used, wings);
        let name = used.split("::").next().unwrap_or_default();
        let of_name = reexports.get(name).filter(|_| !modules.contains_key(&module));
        let to = of_name.unwrap_or(&module);
        if modules.contains_key(to) && *to != from {
            modules.get_mut(&from).unwrap().entry(to.clone()).or_insert(path);
        }
    }
    modules
}

/// The shortest way along imports from `start` to `end`, as a list of modules.
fn way(imports: &Imports, start: &str, end: &str) -> Option<Vec<String>> {
    let mut queue = VecDeque::from([vec![start.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = queue.pop_front() {
        for next in imports[way.last().unwrap()].keys() {
            let longer: Vec<_> = way.iter().cloned().chain([next.clone()]).collect();
            if next == end {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                queue.push_back(longer);
            }
        }
    }
    None
}

/// The shortest cycle, as a list of modules that begins and ends with the same one.
fn shortest_cycle(imports: &Imports) -> Option<Vec<String>> {
    imports.keys().filter_map(|module| way(imports, module, module)).min_by_key(Vec::len)
}

#[test]
fn modules_import_each_other_in_one_direction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let members = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    let members: Vec<_> = members.split('"').skip(1).step_by(2).chain(["."]).collect();
    assert!(members.len() > 10, "the members were not found");
    let mut problems = Vec::new();
    let mut count = 0;
    for member in members.into_iter().filter(|member| root.join(member).join("src").exists()) {
        let wings = if member == "executor" { &WINGS[..] } else { &[] };
        let imports = imports(&root.join(member), wings);
        count += imports.values().map(BTreeMap::len).sum::<usize>();
        let Some(cycle) = shortest_cycle(&imports) else { continue };
        problems.push(format!("{member}: {} modules in a cycle", cycle.len() - 1));
        problems.extend(cycle.windows(2).map(|pair| {
            let file = imports[&pair[0]][&pair[1]].strip_prefix(root).unwrap();
            format!("  {} imports {} in {}", pair[0], pair[1], file.display())
        }));
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(count > 200, "only {count} imports were found");
}

/// The rank of a module's wing: a wing imports itself and those before it.
fn rank(module: &str) -> usize {
    let wing = module.split("::").next().unwrap();
    WINGS.iter().position(|name| *name == wing).unwrap_or_else(|| {
        panic!("executor/src/{module}.rs is in no wing: put it into one of {WINGS:?}")
    })
}

#[test]
fn wings_of_the_executor_import_downwards_only() {
    let executor = Path::new(env!("CARGO_MANIFEST_DIR")).join("executor");
    let imports = imports(&executor, &WINGS);
    assert!(imports.len() > 50, "the modules of the wings were not found");
    let arrows = imports.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    let upward = arrows.filter(|(from, (to, _))| rank(to) > rank(from));
    let upward: Vec<_> = upward
        .map(|(from, (to, file))| format!("{from} imports {to} in {}", file.display()))
        .collect();
    assert!(upward.is_empty(), "\n{}", upward.join("\n"));
}

#[test]
fn groups_of_paths_are_taken_apart() {
    assert_eq!(paths("{a::{X, y::Z}, b, c::W as V};"), ["a::X", "a::y::Z", "b", "c::W"]);
    assert_eq!(paths("a::b::C)"), ["a::b::C"]);
}

#[test]
fn shortest_cycle_is_found() {
    let of = |pairs: &[(&str, &str)]| {
        let mut imports = Imports::new();
        for (from, to) in pairs {
            imports.entry((*to).into()).or_default();
            imports.entry((*from).into()).or_default().insert((*to).into(), PathBuf::new());
        }
        shortest_cycle(&imports).map(|cycle| cycle.join(" "))
    };
    assert_eq!(of(&[("a", "b"), ("b", "c"), ("a", "c")]), None);
    let loops = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "c")];
    assert_eq!(of(&loops).as_deref(), Some("c d c"));
}
