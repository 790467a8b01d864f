//! Top-level modules of a member import each other in one direction: no cycles.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

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

/// The first segments of the path or of the group of paths that `text` begins with.
fn first_segments(text: &str) -> Vec<&str> {
    if !text.starts_with('{') {
        return vec![identifier(text)];
    }
    let (mut depth, mut segments) = (0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && (at == 0 || c == ',') {
            segments.push(identifier(text[at + 1..].trim_start()));
        }
    }
    segments
}

/// The names at the root of the crate that `code`, a file `depth` modules below the root, uses.
fn names_of_root(code: &str, depth: usize) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        names.extend(first_segments(&code[at + "crate::".len()..]));
    }
    let to_root = "super::".repeat(depth);
    for (at, _) in code.match_indices(&to_root) {
        let rest = &code[at + to_root.len()..];
        // Part of a longer chain that has been looked at from its beginning.
        if !code[..at].ends_with("super::") && !rest.starts_with("super::") {
            names.extend(first_segments(rest));
        }
    }
    names
}

/// The module of each name that the root of a crate imports.
fn reexports(root: &str) -> BTreeMap<String, String> {
    let mut modules = BTreeMap::new();
    for item in root.split("use ").skip(1).filter_map(|rest| rest.split(';').next()) {
        let module = identifier(item.trim_start_matches("crate::"));
        let words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
        modules.extend(words.map(|word| (word.to_owned(), module.to_owned())));
    }
    modules
}

fn imports(member: &Path) -> Imports {
    let source = member.join("src");
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let reexports = root.iter().find(|path| path.exists()).map(|path| reexports(&code(path)));
    let reexports = reexports.unwrap_or_default();
    let mut modules = Imports::new();
    let mut uses = Vec::new();
    for path in sources(&source).into_iter().filter(|path| !root.contains(path)) {
        let module = path.strip_prefix(&source).unwrap().with_extension("");
        if module.iter().any(|part| part == "tests" || part == "bin") {
            continue;
        }
        let top = module.iter().next().unwrap().to_str().unwrap().to_owned();
        modules.entry(top.clone()).or_default();
        let code = code(&path);
        let names = names_of_root(&code, module.iter().count());
        uses.extend(names.into_iter().map(|name| (top.clone(), name.to_owned(), path.clone())));
    }
    for (from, name, path) in uses {
        let of_name = reexports.get(&name).filter(|_| !modules.contains_key(&name));
        let to = of_name.unwrap_or(&name);
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
        let imports = imports(&root.join(member));
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
