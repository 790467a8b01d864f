//! ROS 2 names: validation, and expansion of relative and private names. Nodes, topics and services
//! pass through here once, when they are created; afterwards every name in the graph is valid and
//! absolute.

use crate::base::error::{Error, ErrorKind, Result};
use std::borrow::Cow;

/// The longest name, as in ROS 2's `rmw_validate_node_name`.
pub(crate) const MAX_LENGTH: usize = 255;

/// Whether `token` is one part of a valid name.
pub(crate) fn is_token(token: &str) -> bool {
    check_token(token).is_ok()
}

/// Checks a single token: a letter or underscore, then letters, digits and underscores.
fn check_token(token: &str) -> Result<(), &'static str> {
    let mut bytes = token.bytes();
    match bytes.next() {
        None => return Err("it has an empty part; use single slashes between parts"),
        Some(b'0'..=b'9') => return Err("no part of it may start with a digit"),
        Some(_) => {}
    }
    if !token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Err("only letters, digits, underscores and slashes are allowed");
    }
    if token.contains("__") {
        return Err("two underscores in a row are reserved by ROS 2");
    }
    Ok(())
}

/// Refuses a name: `kind` is "node", "namespace", "topic", "service" or "callback group", or
/// "remapped" for a name in a remapping rule.
pub(crate) fn invalid(kind: &str, name: &str, reason: &str) -> Error {
    Error::new(ErrorKind::InvalidName, format!("invalid {kind} name {name:?}: {reason}"))
}

fn check(kind: &str, name: &str, tokens: &str) -> Result<()> {
    check_all(name, tokens).map_err(|reason| invalid(kind, name, reason))
}

fn check_all(name: &str, tokens: &str) -> Result<(), &'static str> {
    if name.len().max(tokens.len()) > MAX_LENGTH {
        return Err("it is longer than 255 bytes");
    }
    tokens.split('/').try_for_each(check_token)
}

/// Whether a topic is a node's own: no valid name has two underscores in a row.
pub(crate) fn is_internal(topic: &str) -> bool {
    topic.contains("/__")
}

/// Checks a node's base name, which has no slashes.
///
/// # Errors
/// Fails for a name that ROS 2 does not allow.
pub fn validate_node_name(name: &str) -> Result<()> {
    check_base_name("node", name, "a node name has no slashes; give its namespace apart")
}

/// Checks the name of a callback group, one token.
pub(crate) fn validate_group_name(name: &str) -> Result<()> {
    check_base_name("callback group", name, "a callback group's name has no slashes")
}

fn check_base_name(kind: &str, name: &str, no_slashes: &str) -> Result<()> {
    match name.contains('/') {
        true => Err(invalid(kind, name, no_slashes)),
        false => check(kind, name, name),
    }
}

/// Makes a namespace absolute: `""` and `"/"` are the root, `"a/b"` is `"/a/b"`.
///
/// # Errors
/// Fails for a name that ROS 2 does not allow.
pub fn expand_namespace(namespace: &str) -> Result<String> {
    if namespace.is_empty() || namespace == "/" {
        return Ok("/".into());
    }
    let tokens = namespace.strip_prefix('/').unwrap_or(namespace);
    check("namespace", namespace, tokens)?;
    Ok(format!("/{tokens}"))
}

/// The fully qualified name of a node in an absolute `namespace`.
pub fn qualify(namespace: &str, node: &str) -> String {
    match namespace {
        "/" => format!("/{node}"),
        _ => format!("{namespace}/{node}"),
    }
}

/// Namespace and base name of the node with this fully qualified name.
pub(crate) fn split(full_name: &str) -> (&str, &str) {
    match full_name.rsplit_once('/') {
        Some(("", base)) => ("/", base),
        Some(parts) => parts,
        None => ("/", full_name),
    }
}

/// Expands a topic name for a node: absolute (`/t`), relative (`t` is in the node's namespace) or
/// private (`~/t` is below the node's own name). `{node}` stands for the node's name, `{ns}` and
/// `{namespace}` for its namespace with the slash at its begin.
///
/// # Errors
/// Fails for a name that ROS 2 does not allow, and for other substitutions.
///
/// ```
/// use ringspin_executor::name::expand_topic;
/// assert_eq!(expand_topic("points", "/lidar", "front").unwrap(), "/lidar/points");
/// assert_eq!(expand_topic("~/points", "/lidar", "front").unwrap(), "/lidar/front/points");
/// assert_eq!(expand_topic("/points", "/lidar", "front").unwrap(), "/points");
/// assert_eq!(expand_topic("/{node}/points", "/lidar", "front").unwrap(), "/front/points");
/// assert_eq!(expand_topic("{ns}/points", "/lidar", "front").unwrap(), "/lidar/points");
/// ```
pub fn expand_topic(topic: &str, namespace: &str, node: &str) -> Result<String> {
    expand(NameKind::Topic, topic, namespace, node)
}

/// The kind of a name that is expanded; the rules are the same for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    Topic,
    Service,
}

impl NameKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Topic => "topic",
            Self::Service => "service",
        }
    }
}

/// Expands the name of a topic or service.
pub(crate) fn expand(kind: NameKind, name: &str, namespace: &str, node: &str) -> Result<String> {
    try_expand(name, namespace, node).map_err(|reason| invalid(kind.as_str(), name, reason))
}

/// Expands a name, or returns the fault of it.
pub(crate) fn try_expand(name: &str, namespace: &str, node: &str) -> Result<String, &'static str> {
    let substituted = substitute(name, namespace, node)?;
    let expanded = if let Some(private) = substituted.strip_prefix('~') {
        match private.strip_prefix('/') {
            Some(rest) => format!("{}/{rest}", qualify(namespace, node)),
            None if private.is_empty() => qualify(namespace, node),
            None => return Err("a tilde is followed by a slash"),
        }
    } else if substituted.starts_with('/') {
        substituted.into_owned()
    } else {
        qualify(namespace, &substituted)
    };
    check_all(name, &expanded[1..])?;
    Ok(expanded)
}

/// Replaces the substitutions of rcl, or returns the fault of one.
fn substitute<'a>(
    name: &'a str,
    namespace: &'a str,
    node: &'a str,
) -> Result<Cow<'a, str>, &'static str> {
    let (mut substituted, mut rest) = (Cow::Borrowed(""), name);
    while let Some((before, after)) = rest.split_once('{') {
        let (substitution, after) = after.split_once('}').ok_or("it has a brace without an end")?;
        substituted += before;
        substituted += match substitution {
            "node" => node,
            "ns" | "namespace" => namespace,
            _ => return Err("the substitutions are {node}, {ns} and {namespace}"),
        };
        rest = after;
    }
    Ok(substituted + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_expand_as_in_ros_2() {
        let cases = [
            ("chatter", "/", "/chatter"),
            ("chatter", "/ns", "/ns/chatter"),
            ("a/b", "/ns", "/ns/a/b"),
            ("/a/b", "/ns", "/a/b"),
            ("~", "/ns", "/ns/node"),
            ("~/x", "/", "/node/x"),
            ("{node}/x", "/ns", "/ns/node/x"),
            ("/{node}", "/ns", "/node"),
            ("~/{node}_x", "/", "/node/node_x"),
            ("{ns}/x", "/ns", "/ns/x"),
            ("{namespace}/x{ns}/{node}", "/a/b", "/a/b/x/a/b/node"),
            ("a{ns}", "/ns", "/ns/a/ns"),
            ("{ns}", "/ns", "/ns"),
            ("{ns}{node}", "/", "/node"),
            ("{ns}{node}", "/ns", "/nsnode"),
            ("_{node}_", "/", "/_node_"),
        ];
        for (topic, namespace, expected) in cases {
            assert_eq!(expand_topic(topic, namespace, "node").unwrap(), expected);
        }
    }

    #[test]
    fn names_that_ros_2_forbids_are_refused_with_the_reason() {
        let substituted = ["{ns}/x", "a{ns}", "{ns}", "{node}{ns}", "1{node}", "{ns}1x", "~{node}"];
        let unknown = ["{}", "{Node}", "{{node}}", "{node", "node}", "}{node}", "{~}"];
        let others = ["", "/", "a//b", "a/", "1a", "a/2b", "a__b", "a b", "ä", "~x"];
        for topic in others.into_iter().chain(substituted).chain(unknown) {
            let error = expand_topic(topic, "/", "node").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidName);
            assert!(error.to_string().starts_with(&format!("invalid topic name {topic:?}: ")));
        }
        for node in ["", "a/b", "1a", "a-b", "~"] {
            assert!(validate_node_name(node).is_err(), "{node}");
        }
        assert!(validate_node_name(&"n".repeat(256)).is_err());
    }

    #[test]
    fn namespaces_become_absolute() {
        assert_eq!(expand_namespace("").unwrap(), "/");
        assert_eq!(expand_namespace("a/b").unwrap(), "/a/b");
        assert_eq!(expand_namespace("/a").unwrap(), "/a");
        assert!(expand_namespace("/a/").is_err());
    }
}
