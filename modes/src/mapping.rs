//! The node-to-core mapping: which worker thread, pinned to which core, runs which event loops.
//!
//! A mapping is written in the builder or in a TOML file, so that the same binary can be tuned
//! for another machine without a new build:
//!
//! ```toml
//! default_core = 0            # optional: where event loops go that no core names
//! [[core]]
//! id = 1                      # the operating system's number of the core
//! nodes = ["/FrontLidarDriver", "RearLidarDriver", "EuclideanClusterDetector:settings"]
//! priority = 80               # optional SCHED_FIFO priority of this core's worker, 1..=99
//! ```
//!
//! An entry names a node (all of its callback groups; a name without the leading slash is
//! relative to the root) or one callback group as `node:group`, where `node:` is the default
//! group. The more specific entry wins. [`Mapping::resolve`] checks the mapping against the
//! frozen graph and the cores of this process and fails with a way out rather than guess.

mod error;

pub use error::MappingError;

pub(crate) use error::{closest, list};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

/// The SCHED_FIFO priorities that a worker may ask for.
const PRIORITIES: std::ops::RangeInclusive<u8> = 1..=99;

/// Which core runs which nodes.
///
/// Plain declarations: nothing is checked before [`resolve`](Self::resolve) knows the graph and
/// the cores.
///
/// ```
/// use ringspin_modes::mapping::{LoopName, Mapping};
///
/// let mapping = Mapping::new()
///     .core(2, ["/lidar", "fusion"])
///     .priority(2, 80)
///     .default_core(0);
/// let loops = [("/fusion", ""), ("/lidar", ""), ("/viewer", "")]
///     .map(|(node, group)| LoopName { node, group });
/// let plan = mapping.resolve(&loops, &[0, 1, 2])?;
/// assert_eq!((plan[0].core, plan[0].loops.as_slice()), (0, &[2][..]));
/// assert_eq!((plan[1].core, plan[1].loops.as_slice()), (2, &[0, 1][..]));
/// # Ok::<(), ringspin_modes::mapping::MappingError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Where event loops go that no core names. Without it such a loop is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_core: Option<usize>,
    /// The cores and what runs on them, in the order of declaration.
    #[serde(default, rename = "core", skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<CoreMapping>,
}

/// What runs on one core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreMapping {
    /// The operating system's number of the core (`core_affinity::CoreId::id`).
    pub id: usize,
    /// The nodes (`/node`) and callback groups (`/node:group`) that run there.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// The SCHED_FIFO priority of the core's worker thread, 1..=99. None leaves it as it is.
    #[serde(
        default,
        deserialize_with = "deserialize_priority",
        skip_serializing_if = "Option::is_none"
    )]
    pub priority: Option<u8>,
}

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

/// One worker thread to start: a core and the event loops that it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorePlan {
    /// The operating system's number of the core.
    pub core: usize,
    /// The SCHED_FIFO priority of the worker, if one was asked for.
    pub priority: Option<u8>,
    /// Indices into the slice that was resolved, ascending. Never empty.
    pub loops: Vec<usize>,
}

impl Mapping {
    /// An empty mapping.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares core `id` and what runs on it. Declaring a core twice is an error of
    /// [`resolve`](Self::resolve).
    #[must_use]
    pub fn core<S: Into<String>>(mut self, id: usize, nodes: impl IntoIterator<Item = S>) -> Self {
        let nodes = nodes.into_iter().map(Into::into).collect();
        self.cores.push(CoreMapping { id, nodes, priority: None });
        self
    }

    /// Sets the SCHED_FIFO priority (1..=99) of the worker of core `id`, which is declared without
    /// nodes if it was not declared before.
    #[must_use]
    pub fn priority(mut self, id: usize, priority: u8) -> Self {
        self.entry(id).priority = Some(priority);
        self
    }

    /// Sets the core of the event loops that no core names.
    #[must_use]
    pub fn default_core(mut self, id: usize) -> Self {
        self.default_core = Some(id);
        self
    }

    /// Reads a mapping from a TOML file.
    ///
    /// # Errors
    /// [`MappingError::Io`] when the file cannot be read, [`MappingError::Parse`] with file, line
    /// and column when it is not a mapping.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, MappingError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|error| MappingError::Io { path: path.to_owned(), error })?;
        Self::parse(&text, || format!("`{}`", path.display()))
    }

    /// The default when no mapping is given: one node after the other, in the order of their
    /// creation, over `cores`; all callback groups of a node stay together.
    ///
    /// It needs no knowledge of the load, so it is a start and not a recommendation. Without
    /// cores the mapping is empty. O(n log n) in the loops.
    pub fn round_robin(loops: &[LoopName<'_>], cores: &[usize]) -> Self {
        let mut mapping = Self::new();
        let mut seen = BTreeSet::new();
        let mut next = cores.iter().cycle();
        for name in loops.iter().filter(|name| seen.insert(name.node)) {
            let Some(&core) = next.next() else { break };
            mapping.entry(core).nodes.push(name.node.to_owned());
        }
        mapping
    }

    /// Puts every event loop on exactly one core.
    ///
    /// `loops` are the loops of the frozen graph in creation order, `allowed_cores` the cores that
    /// the operating system lets this process use. Cores without loops are left out; the plans
    /// are sorted by core. O(n log n) in loops and entries.
    ///
    /// # Errors
    /// Every variant of [`MappingError`] but `Io` and `Parse`; the first problem found, cores
    /// before names.
    pub fn resolve(
        &self,
        loops: &[LoopName<'_>],
        allowed_cores: &[usize],
    ) -> Result<Vec<CorePlan>, MappingError> {
        self.check_cores(allowed_cores)?;
        let entries = self.entries()?;
        check_names(&entries, loops)?;
        let mut by_core: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut unmapped = Vec::new();
        for (index, name) in loops.iter().enumerate() {
            let named = entries
                .get(&(name.node.into(), Some(name.group.into())))
                .or_else(|| entries.get(&(name.node.into(), None)));
            match named.copied().or(self.default_core) {
                Some(core) => by_core.entry(core).or_default().push(index),
                None => unmapped.push(name.to_string()),
            }
        }
        if !unmapped.is_empty() {
            return Err(MappingError::Unmapped { loops: unmapped });
        }
        let priority_of = |core| self.cores.iter().find(|c| c.id == core)?.priority;
        Ok(by_core
            .into_iter()
            .map(|(core, loops)| CorePlan { core, priority: priority_of(core), loops })
            .collect())
    }

    /// The mapping as a TOML document that [`load`](Self::load) and [`FromStr`] read back.
    pub fn to_toml_string(&self) -> String {
        // Written by hand: it cannot fail, and one node per line makes a readable diff.
        let mut text = String::new();
        if let Some(core) = self.default_core {
            let _ = writeln!(text, "default_core = {core}");
        }
        for core in &self.cores {
            let separator = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{separator}[[core]]\nid = {}\nnodes = [", core.id);
            for node in &core.nodes {
                let _ = writeln!(text, "    {},", toml::Value::from(node.as_str()));
            }
            text.push_str("]\n");
            if let Some(priority) = core.priority {
                let _ = writeln!(text, "priority = {priority}");
            }
        }
        text
    }

    fn parse(text: &str, origin: impl FnOnce() -> String) -> Result<Self, MappingError> {
        toml::from_str(text).map_err(|error| MappingError::Parse { origin: origin(), error })
    }

    /// The first declaration of core `id`, made if there is none.
    fn entry(&mut self, id: usize) -> &mut CoreMapping {
        let index = self.cores.iter().position(|core| core.id == id).unwrap_or_else(|| {
            self.cores.push(CoreMapping { id, nodes: Vec::new(), priority: None });
            self.cores.len() - 1
        });
        &mut self.cores[index]
    }

    fn check_cores(&self, allowed: &[usize]) -> Result<(), MappingError> {
        let mut seen = BTreeSet::new();
        for core in &self.cores {
            if !seen.insert(core.id) {
                return Err(MappingError::CoreTwice { core: core.id });
            }
            if let Some(priority) = core.priority.filter(|p| !PRIORITIES.contains(p)) {
                return Err(MappingError::Priority { core: core.id, priority });
            }
        }
        match seen.into_iter().chain(self.default_core).find(|id| !allowed.contains(id)) {
            Some(core) => Err(MappingError::CoreNotAllowed { core, allowed: allowed.to_vec() }),
            None => Ok(()),
        }
    }

    /// Every entry with the core that names it.
    fn entries(&self) -> Result<BTreeMap<Entry, usize>, MappingError> {
        let mut entries = BTreeMap::new();
        for core in &self.cores {
            for text in &core.nodes {
                let entry = parse_entry(text);
                if let Some(first) = entries.insert(entry.clone(), core.id) {
                    let entry = entry_text(&entry);
                    return Err(MappingError::NodeTwice { entry, first, second: core.id });
                }
            }
        }
        Ok(entries)
    }
}

impl FromStr for Mapping {
    type Err = MappingError;

    /// Parses a TOML document.
    fn from_str(text: &str) -> Result<Self, MappingError> {
        Self::parse(text, || "the text".to_owned())
    }
}

/// One line for a log; [`Mapping::to_toml_string`] is the form to store.
impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for core in self.cores.iter() {
            write!(f, "{separator}core {}", core.id)?;
            if let Some(priority) = core.priority {
                write!(f, " (priority {priority})")?;
            }
            write!(f, ": {}", list(&core.nodes))?;
            separator = "; ";
        }
        match self.default_core {
            Some(core) => write!(f, "{separator}all others: core {core}"),
            None if self.cores.is_empty() => f.write_str("empty"),
            None => Ok(()),
        }
    }
}

/// A node, and the callback group within it when the entry names one.
type Entry = (String, Option<String>);

fn parse_entry(text: &str) -> Entry {
    let (node, group) = match text.split_once(':') {
        Some((node, group)) => (node, Some(group.to_owned())),
        None => (text, None),
    };
    let slash = if node.starts_with('/') { "" } else { "/" };
    (format!("{slash}{node}"), group)
}

fn entry_text((node, group): &Entry) -> String {
    match group {
        Some(group) => format!("{node}:{group}"),
        None => node.clone(),
    }
}

/// Every entry must match a loop: a misspelt name would otherwise silently move a node.
fn check_names(
    entries: &BTreeMap<Entry, usize>,
    loops: &[LoopName<'_>],
) -> Result<(), MappingError> {
    let nodes: BTreeSet<&str> = loops.iter().map(|name| name.node).collect();
    let groups: BTreeSet<(&str, &str)> = loops.iter().map(|l| (l.node, l.group)).collect();
    for (entry, &core) in entries {
        let (node, group) = (entry.0.as_str(), entry.1.as_deref());
        let node_exists = nodes.contains(node);
        let known: Vec<String> = match group {
            None if node_exists => continue,
            Some(group) if groups.contains(&(node, group)) => continue,
            Some(_) if node_exists => {
                loops.iter().filter(|l| l.node == node).map(LoopName::to_string).collect()
            }
            _ => nodes.iter().map(|node| (*node).to_owned()).collect(),
        };
        let entry = entry_text(entry);
        // Where the node itself is unknown, its group would only blur the comparison.
        let wanted = if node_exists { entry.as_str() } else { node };
        let suggestion = closest(wanted, &known).map(str::to_owned);
        return Err(MappingError::UnknownNode { entry, core, suggestion, known });
    }
    Ok(())
}

/// Refuses a bad priority while the parser still knows its line and column.
fn deserialize_priority<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    let priority = i64::deserialize(from)?;
    match u8::try_from(priority).ok().filter(|p| PRIORITIES.contains(p)) {
        Some(priority) => Ok(Some(priority)),
        None => Err(serde::de::Error::custom(format_args!(
            "priority {priority} is outside 1..=99, the SCHED_FIFO priorities"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
default_core = 0
[[core]]
id = 1
nodes = ["/FrontLidarDriver", "RearLidarDriver", "EuclideanClusterDetector:settings"]
priority = 80
"#;

    fn loops() -> Vec<LoopName<'static>> {
        [
            ("/FrontLidarDriver", ""),
            ("/RearLidarDriver", ""),
            ("/EuclideanClusterDetector", ""),
            ("/EuclideanClusterDetector", "settings"),
            ("/ns/Planner", ""),
        ]
        .map(|(node, group)| LoopName { node, group })
        .to_vec()
    }

    fn plan(core: usize, priority: Option<u8>, loops: &[usize]) -> CorePlan {
        CorePlan { core, priority, loops: loops.to_vec() }
    }

    fn message(mapping: &Mapping) -> String {
        mapping.resolve(&loops(), &[0, 1, 3]).unwrap_err().to_string()
    }

    fn parse_message(text: &str) -> String {
        text.parse::<Mapping>().unwrap_err().to_string()
    }

    #[test]
    fn parses_the_documented_file() {
        let mapping: Mapping = TEXT.parse().unwrap();
        let built = Mapping::new()
            .core(1, ["/FrontLidarDriver", "RearLidarDriver", "EuclideanClusterDetector:settings"])
            .priority(1, 80)
            .default_core(0);
        assert_eq!(mapping, built);
        assert_eq!("".parse::<Mapping>().unwrap(), Mapping::new());
    }

    #[test]
    fn every_loop_lands_on_exactly_one_core() {
        let plans = TEXT.parse::<Mapping>().unwrap().resolve(&loops(), &[0, 1]).unwrap();
        assert_eq!(plans, [plan(0, None, &[2, 4]), plan(1, Some(80), &[0, 1, 3])]);
    }

    #[test]
    fn the_more_specific_entry_wins_whatever_the_order() {
        let node = ["EuclideanClusterDetector"];
        let group = ["EuclideanClusterDetector:settings"];
        let first = Mapping::new().default_core(3).core(0, node).core(1, group);
        let second = Mapping::new().default_core(3).core(1, group).core(0, node);
        let expected = [plan(0, None, &[2]), plan(1, None, &[3]), plan(3, None, &[0, 1, 4])];
        assert_eq!(first.resolve(&loops(), &[0, 1, 3]).unwrap(), expected);
        assert_eq!(second.resolve(&loops(), &[0, 1, 3]).unwrap(), expected);
    }

    #[test]
    fn an_empty_group_is_the_default_group() {
        let mapping = Mapping::new().core(1, ["/EuclideanClusterDetector:"]).default_core(0);
        let plans = mapping.resolve(&loops(), &[0, 1]).unwrap();
        assert_eq!(plans, [plan(0, None, &[0, 1, 3, 4]), plan(1, None, &[2])]);
    }

    #[test]
    fn cores_without_loops_are_left_out() {
        let mapping = Mapping::new().core(1, [""; 0]).priority(1, 5).default_core(0);
        let plans = mapping.resolve(&loops(), &[0, 1]).unwrap();
        assert_eq!(plans, [plan(0, None, &[0, 1, 2, 3, 4])]);
        assert_eq!(Mapping::new().resolve(&[], &[]).unwrap(), []);
    }

    #[test]
    fn the_default_core_keeps_its_priority() {
        let mapping = Mapping::new().priority(3, 7).default_core(3);
        assert_eq!(mapping.resolve(&loops()[..1], &[3]).unwrap(), [plan(3, Some(7), &[0])]);
    }

    #[test]
    fn a_core_that_is_not_allowed_lists_the_allowed_ones() {
        assert!(message(&Mapping::new().core(2, ["/ns/Planner"])).contains("use one of 0, 1, 3"));
        assert!(message(&Mapping::new().default_core(9)).starts_with("core 9 does not exist"));
        let nowhere = Mapping::new().default_core(0).resolve(&loops(), &[]).unwrap_err();
        assert!(nowhere.to_string().contains("use one of (none)"));
    }

    #[test]
    fn a_core_declared_twice_is_refused() {
        let mapping = Mapping::new().core(1, ["/ns/Planner"]).core(1, ["/FrontLidarDriver"]);
        assert!(message(&mapping).contains("core 1 is declared twice"));
    }

    #[test]
    fn a_node_named_twice_is_refused() {
        let mapping = Mapping::new().core(1, ["FrontLidarDriver"]).core(3, ["/FrontLidarDriver"]);
        let expected = "`/FrontLidarDriver` is named on core 1 and again on core 3; keep only one";
        assert_eq!(message(&mapping), expected);
        let same_core = Mapping::new().core(1, ["/ns/Planner", "ns/Planner"]);
        assert!(matches!(
            same_core.resolve(&loops(), &[1]),
            Err(MappingError::NodeTwice { first: 1, second: 1, .. })
        ));
    }

    #[test]
    fn an_unknown_name_suggests_the_closest() {
        let hint = |entry: &str| message(&Mapping::new().core(1, [entry]).default_core(0));
        assert!(hint("FrontLidarDrivr").ends_with("did you mean `/FrontLidarDriver`?"));
        assert!(hint("frontlidardriver").ends_with("did you mean `/FrontLidarDriver`?"));
        assert!(hint("/Planner").ends_with("did you mean `/ns/Planner`?"));
        assert!(hint("RearLidarDriverX:settings").ends_with("did you mean `/RearLidarDriver`?"));
        let group = hint("EuclideanClusterDetector:setings");
        assert!(group.ends_with("did you mean `/EuclideanClusterDetector:settings`?"), "{group}");
        assert!(hint("Xyz").contains("use one of /EuclideanClusterDetector, /FrontLidarDriver"));
        let empty = Mapping::new().core(1, ["a"]).resolve(&[], &[1]).unwrap_err();
        assert!(empty.to_string().contains("the graph has no nodes"));
    }

    #[test]
    fn unmapped_loops_are_listed() {
        let mapping = Mapping::new()
            .core(1, ["FrontLidarDriver", "RearLidarDriver", "EuclideanClusterDetector:"]);
        assert_eq!(
            message(&mapping),
            "no core is given for /EuclideanClusterDetector:settings, /ns/Planner; name them \
             under a `[[core]]` or set `default_core`"
        );
    }

    #[test]
    fn a_priority_outside_the_range_is_refused() {
        for priority in [0, 100, 255] {
            let text = message(&Mapping::new().priority(1, priority).default_core(0));
            assert!(text.contains(&format!("core 1 asks for priority {priority};")), "{text}");
        }
        for priority in ["0", "100", "-1", "300"] {
            let text = parse_message(&format!("[[core]]\nid = 1\npriority = {priority}\n"));
            assert!(text.contains("line 3, column 12"), "{text}");
            assert!(text.contains(&format!("priority {priority} is outside 1..=99")), "{text}");
        }
        assert!(Mapping::new().priority(1, 1).priority(0, 99).resolve(&[], &[0, 1]).is_ok());
    }

    #[test]
    fn parse_errors_name_line_and_column() {
        let text = parse_message("default_core = 0\n[[core]]\nid = \n");
        assert!(text.contains("the text is not a mapping"), "{text}");
        assert!(text.contains("line 3, column"), "{text}");
        let unknown = parse_message("[[core]]\nid = 0\nnode = [\"a\"]\n");
        assert!(unknown.contains("line 3, column 1"), "{unknown}");
        assert!(unknown.contains("unknown field `node`"), "{unknown}");
        assert!(parse_message("[[cores]]\nid = 0\n").contains("unknown field `cores`"));
        assert!(parse_message("[[core]]\nnodes = []\n").contains("missing field `id`"));
        assert!(parse_message("default_core = -1\n").contains("line 1, column 16"));
    }

    #[test]
    fn load_errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mapping.toml");
        let missing = Mapping::load(&path).unwrap_err();
        assert!(matches!(missing, MappingError::Io { .. }));
        assert!(missing.to_string().contains("mapping.toml"));
        std::fs::write(&path, "[[core]]\nid = true\n").unwrap();
        let wrong = Mapping::load(&path).unwrap_err().to_string();
        assert!(wrong.contains("mapping.toml` is not a mapping"), "{wrong}");
        assert!(wrong.contains("line 2, column 6"), "{wrong}");
        std::fs::write(&path, TEXT).unwrap();
        assert_eq!(Mapping::load(&path).unwrap(), TEXT.parse().unwrap());
    }

    #[test]
    fn toml_and_back() {
        let odd = Mapping::new().core(0, ["quo\"te\n\\", "/b"]).core(7, [""; 0]).priority(7, 99);
        for mapping in [TEXT.parse().unwrap(), Mapping::new(), odd] {
            assert_eq!(mapping.to_toml_string().parse::<Mapping>().unwrap(), mapping);
            let serialised = toml::to_string(&mapping).unwrap();
            assert_eq!(serialised.parse::<Mapping>().unwrap(), mapping);
        }
    }

    #[test]
    fn displays_as_one_line() {
        let mapping = Mapping::new().core(1, ["/a", "/b"]).priority(1, 80).core(2, [""; 0]);
        assert_eq!(mapping.to_string(), "core 1 (priority 80): /a, /b; core 2: (none)");
        assert!(mapping.default_core(0).to_string().ends_with("; all others: core 0"));
        assert_eq!(Mapping::new().to_string(), "empty");
    }

    #[test]
    fn round_robin_keeps_the_groups_of_a_node_together() {
        let mapping = Mapping::round_robin(&loops(), &[4, 2]);
        assert_eq!(mapping.cores[0].nodes, ["/FrontLidarDriver", "/EuclideanClusterDetector"]);
        assert_eq!(mapping.cores[1].nodes, ["/RearLidarDriver", "/ns/Planner"]);
        let plans = mapping.resolve(&loops(), &[2, 4]).unwrap();
        assert_eq!(plans, [plan(2, None, &[1, 4]), plan(4, None, &[0, 2, 3])]);
        assert_eq!(Mapping::round_robin(&loops(), &[]), Mapping::new());
        assert!(Mapping::round_robin(&loops(), &[1, 1]).resolve(&loops(), &[1]).is_ok());
    }
}
