//! The output of `cargo metadata --format-version 1`, as far as it is needed.

use crate::Error;
use semver::{Version, VersionReq};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A workspace and its dependencies.
#[derive(Deserialize, Debug)]
pub struct Metadata {
    /// The members; with a resolution, all dependencies too.
    pub packages: Vec<Package>,
    /// Identifiers of the members.
    pub workspace_members: Vec<String>,
    /// The folder that has `Cargo.lock`.
    pub workspace_root: PathBuf,
    /// The folder of build outputs.
    pub target_directory: PathBuf,
    /// The chosen versions; absent with `--no-deps`.
    pub resolve: Option<Resolve>,
}

/// A package of the workspace or of a dependency.
#[derive(Deserialize, Debug)]
pub struct Package {
    /// Specification of this package, unique, as `cargo update` takes it.
    pub id: String,
    /// Name.
    pub name: String,
    /// Version.
    pub version: Version,
    /// Registry or git repository; none for a path.
    pub source: Option<String>,
    /// Its `Cargo.toml`.
    pub manifest_path: PathBuf,
    /// Declared dependencies.
    pub dependencies: Vec<Dependency>,
    /// Libraries, programs and tests.
    pub targets: Vec<Target>,
}

/// A dependency that a package declares.
#[derive(Deserialize, Debug)]
pub struct Dependency {
    /// Name of the package.
    pub name: String,
    /// Registry or git repository; none for a path.
    pub source: Option<String>,
    /// Required versions.
    pub req: VersionReq,
    /// Features that it asks for.
    #[serde(default)]
    pub features: Vec<String>,
}

/// A library, program or test.
#[derive(Deserialize, Debug)]
pub struct Target {
    /// Name.
    pub name: String,
    /// Kinds, such as `bin`.
    pub kind: Vec<String>,
    /// Features without which it is not built.
    #[serde(default, rename = "required-features")]
    pub required_features: Vec<String>,
}

/// The chosen versions.
#[derive(Deserialize, Debug)]
pub struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize, Debug)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize, Debug)]
struct Edge {
    pkg: String,
}

/// A dependency with the package that was chosen for it.
#[derive(Clone, Copy, Debug)]
pub struct Requirement<'a> {
    /// The package that declares it.
    pub by: &'a Package,
    /// The declaration.
    pub on: &'a Dependency,
    /// The chosen package.
    pub resolved: &'a Package,
}

impl Package {
    /// The folder of its `Cargo.toml`.
    pub fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }

    /// The programs that are built without further features.
    pub fn programs(&self) -> Vec<&str> {
        let is_bin = |target: &&Target| target.kind.iter().any(|kind| kind == "bin");
        let bins = self.targets.iter().filter(is_bin);
        let built = bins.filter(|target| target.required_features.is_empty());
        built.map(|target| &*target.name).collect()
    }
}

impl Metadata {
    /// Reads the JSON text of `cargo metadata`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| {
            let remedy = "report this with the version of cargo (`cargo --version`)";
            Error::new("read the output of `cargo metadata`", error, remedy)
        })
    }

    /// The members of the workspace.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        let ids: BTreeSet<_> = self.workspace_members.iter().collect();
        self.packages.iter().filter(move |package| ids.contains(&package.id))
    }

    /// The dependencies that are in use on packages of these names, in the order of the packages.
    pub fn requirements(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Requirement<'_>> {
        let packages: BTreeMap<_, _> = self.packages.iter().map(|it| (&*it.id, it)).collect();
        let mut requirements: Vec<Requirement<'_>> = Vec::new();
        for node in self.resolve.iter().flat_map(|resolve| &resolve.nodes) {
            let Some(&by) = packages.get(&*node.id) else { continue };
            let edges = node.deps.iter().filter_map(|edge| packages.get(&*edge.pkg).copied());
            for resolved in edges.filter(|package| is_wanted(&package.name)) {
                let declared = by.dependencies.iter().filter(|on| is_answered(on, resolved));
                for on in declared {
                    let is_same = |other: &Requirement<'_>| {
                        (&*other.by.id, &other.on.source) == (&*by.id, &on.source)
                            && (&other.on.name, &other.on.req) == (&on.name, &on.req)
                    };
                    if !requirements.iter().any(is_same) {
                        requirements.push(Requirement { by, on, resolved });
                    }
                }
            }
        }
        requirements
    }

    /// Whether `package` depends on a package for which `is_wanted` holds, directly or not.
    pub fn reaches(&self, package: &Package, is_wanted: impl Fn(&Package) -> bool) -> bool {
        let nodes = self.resolve.iter().flat_map(|resolve| &resolve.nodes);
        let edges: BTreeMap<_, _> = nodes.map(|node| (&*node.id, &node.deps)).collect();
        let wanted = self.packages.iter().filter(|package| is_wanted(package));
        let wanted: BTreeSet<_> = wanted.map(|package| &*package.id).collect();
        let (mut open, mut seen) = (vec![&*package.id], BTreeSet::new());
        while let Some(id) = open.pop() {
            if wanted.contains(id) {
                return true;
            }
            if seen.insert(id) {
                open.extend(edges.get(id).iter().flat_map(|deps| deps.iter().map(|to| &*to.pkg)));
            }
        }
        false
    }
}

/// Whether `resolved` can be the package that was chosen for the declaration `on`.
fn is_answered(on: &Dependency, resolved: &Package) -> bool {
    let is_git = |source: &Option<String>| source.as_ref().is_some_and(|it| is_git_source(it));
    on.name == resolved.name
        && (on.req == VersionReq::STAR || on.req.matches(&resolved.version))
        // A path can be a patch of either.
        && (resolved.source.is_none() || is_git(&on.source) == is_git(&resolved.source))
}

/// Whether a source, as cargo writes it, is a git repository.
pub fn is_git_source(source: &str) -> bool {
    source.starts_with("git+")
}
