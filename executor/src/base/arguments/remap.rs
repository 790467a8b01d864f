//! Remapping rules and their application to names. The graph applies them when a node, topic or
//! service is created, before any other code sees the name.

use super::{Arguments, NodePattern};
use crate::base::error::{Error, Result};
use crate::base::name::{self, NameKind};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemapRule {
    /// The rule as given.
    pub(crate) text: String,
    /// The node it is for; every node if it names none.
    node: Option<NodePattern>,
    change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    NodeName(String),
    Namespace(String),
    Name {
        /// The kind of name; both kinds if the rule does not restrict it.
        kind: Option<NameKind>,
        from: String,
        to: String,
    },
}

impl RemapRule {
    pub(super) fn parse(text: String) -> Result<Self> {
        match Self::parts(&text) {
            Ok((node, change)) => Ok(Self { text, node, change }),
            Err(reason) => Err(super::texts::parse(format!("remapping rule `{text}`: {reason}"))),
        }
    }

    fn parts(text: &str) -> Result<(Option<NodePattern>, Change), String> {
        let form = || String::from("it has the form `from:=to` or `node:from:=to`");
        let (left, to) = text.split_once(":=").ok_or_else(form)?;
        let (node, from) = match left.split_once(':') {
            Some((_, path)) if path.starts_with("//") => (None, left),
            Some((node, from)) => (Some(NodePattern::prefix(node)?), from),
            None => (None, left),
        };
        if node.as_ref().is_some_and(|node| !node.is_exact()) || [from, to].iter().any(is_wild) {
            return Err("wildcards are not supported in rules; write one for each name".into());
        }
        if [from, to].iter().any(|side| side.contains(['{', '}'])) {
            return Err("rules have no substitutions in braces; write the name out".into());
        }
        Ok((node, Change::parse(from, to)?))
    }

    fn is_for(&self, full_name: &str) -> bool {
        self.node.as_ref().is_none_or(|node| node.matches(full_name))
    }
}

fn is_wild(side: &&str) -> bool {
    side.contains(['*', '\\'])
}

impl Change {
    fn parse(from: &str, to: &str) -> Result<Self, String> {
        let text = |error: Error| error.to_string();
        match from {
            "__node" | "__name" => {
                name::validate_node_name(to).map_err(text)?;
                return Ok(Self::NodeName(to.into()));
            }
            "__ns" if to.starts_with('/') => {
                return name::expand_namespace(to).map(Self::Namespace).map_err(text);
            }
            "__ns" => return Err(format!("a namespace starts with a slash, as in `/{to}`")),
            _ => {}
        }
        let schemes =
            [("rostopic://", NameKind::Topic), ("rosservice://", NameKind::Service)].into_iter();
        let mut schemes =
            schemes.filter_map(|(scheme, kind)| Some((from.strip_prefix(scheme)?, Some(kind))));
        let (from, kind) = schemes.next().unwrap_or((from, None));
        for side in [from, to] {
            name::expand(kind.unwrap_or(NameKind::Topic), side, "/", "node").map_err(text)?;
        }
        Ok(Self::Name { kind, from: from.into(), to: to.into() })
    }
}

/// The name and namespace of a node, and the rule that remapped them.
pub(crate) struct NodeNames<'a> {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) rule: Option<&'a RemapRule>,
}

impl Arguments {
    /// Remaps a node's name, then its namespace, which are valid and absolute.
    pub(crate) fn remap_node(&self, namespace: String, name: &str) -> NodeNames<'_> {
        let mut names = NodeNames { namespace, name: name.into(), rule: None };
        let full_name = name::qualify(&names.namespace, name);
        let renamed = self.rules.iter().find_map(|rule| match &rule.change {
            Change::NodeName(to) if rule.is_for(&full_name) => Some((to, rule)),
            _ => None,
        });
        if let Some((to, rule)) = renamed {
            (names.name, names.rule) = (to.clone(), Some(rule));
        }
        let full_name = name::qualify(&names.namespace, &names.name);
        let moved = self.rules.iter().find_map(|rule| match &rule.change {
            Change::Namespace(to) if rule.is_for(&full_name) => Some((to, rule)),
            _ => None,
        });
        if let Some((to, rule)) = moved {
            (names.namespace, names.rule) = (to.clone(), Some(rule));
        }
        names
    }

    /// Expands a topic or service name of a node, and remaps it.
    pub(crate) fn resolve(
        &self,
        kind: NameKind,
        name: &str,
        namespace: &str,
        node: &str,
    ) -> Result<String> {
        let expanded = name::expand(kind, name, namespace, node)?;
        let full_name = name::qualify(namespace, node);
        for rule in self.rules.iter().filter(|rule| rule.is_for(&full_name)) {
            let Change::Name { kind: only, from, to } = &rule.change else { continue };
            let is_kind = only.is_none_or(|only| only == kind);
            // A `from` that is too long for this namespace matches no name.
            let from = || name::expand(kind, from, namespace, node).ok();
            if is_kind && from().as_ref() == Some(&expanded) {
                let remapped = name::try_expand(to, namespace, node);
                return remapped.map_err(|reason| name::invalid("remapped", &rule.text, reason));
            }
        }
        Ok(expanded)
    }
}
