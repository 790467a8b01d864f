//! What the optimizer knows of a running graph: how busy every node is, what flows between the
//! nodes, and which chains of nodes have to be fast.
//!
//! A profile is measured once (from dispatch records), kept as a TOML file beside the mapping that
//! was found from it, and readable enough to be written by hand:
//!
//! ```toml
//! [[node]]
//! name = "/lidar"
//! utilization = 0.01          # busy seconds per second on the reference core
//! [[node]]
//! name = "/fusion"
//! utilization = 0.4
//! [[edge]]
//! from = "/lidar"
//! to = "/fusion"
//! messages_per_second = 10.0
//! [[chain]]
//! name = "hot path"
//! nodes = ["/lidar", "/fusion"]
//! ```

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The load of a graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The nodes, in the order of their creation. An assignment is indexed like this list.
    #[serde(default, rename = "node", skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeLoad>,
    /// Who sends to whom, and how often.
    #[serde(default, rename = "edge", skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Edge>,
    /// The chains whose latency counts.
    #[serde(default, rename = "chain", skip_serializing_if = "Vec::is_empty")]
    pub chains: Vec<Chain>,
}

/// How busy one node keeps a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeLoad {
    /// The name as a mapping would give it: `/node`, or `/node:group` for one callback group.
    pub name: String,
    /// Busy seconds per second on the reference core; above 1.0 no single core keeps up.
    pub utilization: f64,
}

/// Messages from one node to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The publishing node.
    pub from: String,
    /// The subscribing node.
    pub to: String,
    /// The mean rate.
    pub messages_per_second: f64,
}

/// A path through the graph whose latency counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// The name, for reports.
    pub name: String,
    /// The nodes that a sample visits, first to last. A node that is visited twice is named twice.
    pub nodes: Vec<String>,
}

/// Why a profile makes no sense.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProfileError {
    /// There is nothing to place.
    #[error("the profile has no nodes; measure it on a graph that has some")]
    NoNodes,
    /// Two nodes have one name.
    #[error("node `{name}` is listed twice; merge the two and add their utilizations")]
    DuplicateNode {
        /// The name that appears twice.
        name: String,
    },
    /// Two chains have one name.
    #[error("chain `{name}` is listed twice; rename one of the two")]
    DuplicateChain {
        /// The name that appears twice.
        name: String,
    },
    /// An edge or a chain names a node that is not listed.
    #[error("{place} names node `{node}`, which is not listed; add it to the nodes or correct it")]
    UnknownNode {
        /// The edge or chain.
        place: String,
        /// The name that is not listed.
        node: String,
    },
    /// A chain without nodes.
    #[error("chain `{name}` has no nodes; list those that a sample visits, or remove it")]
    EmptyChain {
        /// The name of the chain.
        name: String,
    },
    /// A number that is negative, infinite or not a number.
    #[error("{place} is {value}; it must be finite and not negative")]
    BadNumber {
        /// Whose number it is.
        place: String,
        /// The number.
        value: f64,
    },
}

/// Why a profile file could not be read or written.
#[derive(Debug, Error)]
pub enum ProfileFileError {
    /// The operating system refused.
    #[error("cannot {action} the profile `{}`: {error}; check the path and its permissions",
        path.display())]
    Io {
        /// "read" or "write".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
    /// The file is not a profile. The message carries line, column and the offending line.
    #[error("`{}` is not a profile: {}\ncorrect that line", path.display(),
        error.to_string().trim_end())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why, as the TOML parser reports it.
        error: toml::de::Error,
    },
    /// The profile cannot be written as TOML.
    #[error("the profile cannot be written as TOML: {error}")]
    Format {
        /// What the TOML writer said.
        error: toml::ser::Error,
    },
    /// The file was read, but the profile makes no sense.
    #[error("the profile `{}` makes no sense: {error}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ProfileError,
    },
}

impl Profile {
    /// Reads and [validates](Self::validate) a TOML file.
    ///
    /// # Errors
    /// [`ProfileFileError::Io`] or [`Parse`](ProfileFileError::Parse) when it cannot be read,
    /// [`Invalid`](ProfileFileError::Invalid) when it makes no sense.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ProfileFileError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| ProfileFileError::Io {
            action: "read",
            path: path.to_owned(),
            error,
        })?;
        let profile: Self = toml::from_str(&text)
            .map_err(|error| ProfileFileError::Parse { path: path.to_owned(), error })?;
        profile
            .validate()
            .map_err(|error| ProfileFileError::Invalid { path: path.to_owned(), error })?;
        Ok(profile)
    }

    /// Writes a TOML file that [`load`](Self::load) reads back, without validating the profile.
    ///
    /// # Errors
    /// [`ProfileFileError::Io`] when the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ProfileFileError> {
        let path = path.as_ref();
        let text = toml::to_string(self).map_err(|error| ProfileFileError::Format { error })?;
        std::fs::write(path, text).map_err(|error| ProfileFileError::Io {
            action: "write",
            path: path.to_owned(),
            error,
        })
    }

    /// Checks that names agree and numbers are usable. O(n log n) in the size of the profile.
    ///
    /// # Errors
    /// The first problem found, as a [`ProfileError`].
    pub fn validate(&self) -> Result<(), ProfileError> {
        if self.nodes.is_empty() {
            return Err(ProfileError::NoNodes);
        }
        let mut nodes = BTreeSet::new();
        for node in &self.nodes {
            if !nodes.insert(node.name.as_str()) {
                return Err(ProfileError::DuplicateNode { name: node.name.clone() });
            }
            check_number(node.utilization, || format!("the utilization of `{}`", node.name))?;
        }
        for edge in &self.edges {
            let place = || format!("the edge from `{}` to `{}`", edge.from, edge.to);
            check_nodes([&edge.from, &edge.to], &nodes, place)?;
            check_number(edge.messages_per_second, || format!("the rate of {}", place()))?;
        }
        let mut chains = BTreeSet::new();
        for chain in &self.chains {
            let name = || chain.name.clone();
            if !chains.insert(chain.name.as_str()) {
                return Err(ProfileError::DuplicateChain { name: name() });
            }
            if chain.nodes.is_empty() {
                return Err(ProfileError::EmptyChain { name: name() });
            }
            check_nodes(&chain.nodes, &nodes, || format!("chain `{}`", chain.name))?;
        }
        Ok(())
    }
}

fn check_number(value: f64, place: impl Fn() -> String) -> Result<(), ProfileError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ProfileError::BadNumber { place: place(), value })
}

fn check_nodes<'a>(
    names: impl IntoIterator<Item = &'a String>,
    known: &BTreeSet<&str>,
    place: impl Fn() -> String,
) -> Result<(), ProfileError> {
    match names.into_iter().find(|name| !known.contains(name.as_str())) {
        Some(node) => Err(ProfileError::UnknownNode { place: place(), node: node.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        toml::from_str(
            r#"
            node = [{ name = "/a", utilization = 0.5 }, { name = "/b", utilization = 1 }]
            edge = [{ from = "/a", to = "/b", messages_per_second = 10.0 }]
            chain = [{ name = "hot", nodes = ["/a", "/b"] }]
            "#,
        )
        .unwrap()
    }

    /// What `validate` says of the profile after `change`.
    fn broken(change: impl FnOnce(&mut Profile)) -> ProfileError {
        let mut profile = profile();
        profile.validate().unwrap();
        change(&mut profile);
        profile.validate().unwrap_err()
    }

    #[test]
    fn no_nodes() {
        assert_eq!(Profile::default().validate(), Err(ProfileError::NoNodes));
    }

    #[test]
    fn duplicate_names() {
        let name = "/a".to_owned();
        let error = broken(|p| p.nodes[1].name = "/a".to_owned());
        assert_eq!(error, ProfileError::DuplicateNode { name });
        let error = broken(|p| p.chains.push(p.chains[0].clone()));
        assert_eq!(error, ProfileError::DuplicateChain { name: "hot".to_owned() });
    }

    #[test]
    fn unknown_nodes() {
        let error = broken(|p| p.edges[0].to = "/c".to_owned()).to_string();
        assert!(error.starts_with("the edge from `/a` to `/c` names node `/c`"), "{error}");
        assert!(matches!(
            broken(|p| p.edges[0].from = "a".to_owned()),
            ProfileError::UnknownNode { .. }
        ));
        let error = broken(|p| p.chains[0].nodes.push("/d".to_owned())).to_string();
        assert!(error.starts_with("chain `hot` names node `/d`"), "{error}");
    }

    #[test]
    fn empty_chain() {
        let error = broken(|p| p.chains[0].nodes.clear());
        assert_eq!(error, ProfileError::EmptyChain { name: "hot".to_owned() });
    }

    #[test]
    fn bad_numbers() {
        for value in [-0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = broken(|p| p.nodes[0].utilization = value).to_string();
            assert!(error.starts_with("the utilization of `/a` is"), "{error}");
            let error = broken(|p| p.edges[0].messages_per_second = value).to_string();
            assert!(error.starts_with("the rate of the edge from `/a` to `/b` is"), "{error}");
        }
    }

    #[test]
    fn files() {
        let path = std::env::temp_dir().join(format!("ringspin-profile-{}", std::process::id()));
        let missing = Profile::load(&path).unwrap_err();
        assert!(missing.to_string().starts_with("cannot read the profile"), "{missing}");
        profile().save(&path).unwrap();
        assert_eq!(Profile::load(&path).unwrap(), profile());
        Profile::default().save(&path).unwrap();
        let error = ProfileError::NoNodes;
        let invalid = Profile::load(&path).unwrap_err();
        assert!(matches!(invalid, ProfileFileError::Invalid { error: e, .. } if e == error));
        std::fs::write(&path, "[[node]]\nname = 3\n").unwrap();
        let parse = Profile::load(&path).unwrap_err().to_string();
        assert!(parse.contains("line 2, column 8"), "{parse}");
        std::fs::remove_file(&path).unwrap();
        let nowhere = profile().save(path.join("x")).unwrap_err().to_string();
        assert!(nowhere.starts_with("cannot write the profile"), "{nowhere}");
    }
}
