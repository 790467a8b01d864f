//! The nodes to which a parameter override or a rule applies. Patterns are parsed with the
//! arguments, once, and matched against full names when a node or parameter is created.

use crate::base::name::{MAX_LENGTH, is_token};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodePattern {
    /// A node of this name, in any namespace.
    BaseName(String),
    /// A fully qualified name, of which a token may be a wildcard.
    Path(Vec<Token>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    /// `*`: any one token.
    One,
    /// `**`: any number of tokens.
    Any,
}

impl NodePattern {
    pub(crate) fn all() -> Self {
        Self::Path(vec![Token::Any])
    }

    /// The node before a rule or parameter on the command line.
    pub(crate) fn prefix(text: &str) -> Result<Self, String> {
        match text.starts_with('/') {
            true => Self::path(text),
            false if is_token(text) => Ok(Self::BaseName(text.into())),
            false => Err(format!("`{text}` is not a node name, nor a fully qualified one")),
        }
    }

    /// A fully qualified name, perhaps without its first slash.
    pub(crate) fn path(text: &str) -> Result<Self, String> {
        if text.len() > MAX_LENGTH {
            return Err(format!("a node name has at most {MAX_LENGTH} bytes"));
        }
        let tokens = text.strip_prefix('/').unwrap_or(text).split('/').map(|token| match token {
            "*" => Ok(Token::One),
            "**" => Ok(Token::Any),
            name if is_token(name) => Ok(Token::Name(name.into())),
            name if name.contains('*') => Err(format!(
                "`{text}` is not a node: a wildcard stands for whole tokens, as in `/ns/*` or `/**`"
            )),
            _ => Err(format!("`{text}` is not a valid fully qualified node name")),
        });
        tokens.collect::<Result<_, _>>().map(Self::Path)
    }

    /// Whether it has wildcards.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::BaseName(_) => true,
            Self::Path(tokens) => tokens.iter().all(|token| matches!(token, Token::Name(_))),
        }
    }

    /// Whether the pattern matches the node with this fully qualified name. At most quadratic in
    /// the number of tokens.
    pub(crate) fn matches(&self, full_name: &str) -> bool {
        let path = full_name.strip_prefix('/').unwrap_or(full_name);
        match self {
            Self::BaseName(name) => path.rsplit('/').next() == Some(name),
            Self::Path(pattern) => {
                let tokens: Vec<&str> = path.split('/').collect();
                matches_tokens(pattern, &tokens)
            }
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name(name) => name,
            Self::One => "*",
            Self::Any => "**",
        })
    }
}

/// Matches with one place to fall back to: the latest `**`, which takes one token more each time.
fn matches_tokens(pattern: &[Token], tokens: &[&str]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < tokens.len() {
        match pattern.get(p) {
            Some(Token::Any) => {
                retry = Some((p, t));
                p += 1;
            }
            Some(Token::One) => (p, t) = (p + 1, t + 1),
            Some(Token::Name(name)) if name == tokens[t] => (p, t) = (p + 1, t + 1),
            _ => match retry {
                None => return false,
                Some((any, start)) => {
                    (p, t) = (any + 1, start + 1);
                    retry = Some((any, start + 1));
                }
            },
        }
    }
    pattern[p..].iter().all(|token| *token == Token::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_whole_tokens() {
        let cases = [
            ("/**", "/node", true),
            ("/**", "/a/b/node", true),
            ("/*", "/node", true),
            ("/*", "/a/node", false),
            ("/a/*", "/a/node", true),
            ("/a/*", "/a", false),
            ("/**/node", "/node", true),
            ("/**/node", "/a/b/node", true),
            ("/**/node", "/a/b/nodes", false),
            ("/**/a/**/node", "/x/a/y/a/z/node", true),
            ("/**/a/*/node", "/a/x/a/y/node", true),
            ("/a/**", "/a", true),
            ("/a/**", "/b/a", false),
            ("node", "/node", true),
            ("node", "/a/node", false),
            ("ns/node", "/ns/node", true),
        ];
        for (pattern, node, expected) in cases {
            let matches = NodePattern::path(pattern).unwrap().matches(node);
            assert_eq!(matches, expected, "{pattern} {node}");
        }
    }

    #[test]
    fn a_prefix_without_a_slash_is_a_name_in_any_namespace() {
        let prefix = NodePattern::prefix("node").unwrap();
        assert!(prefix.matches("/node") && prefix.matches("/a/node") && !prefix.matches("/nod"));
        assert!(!NodePattern::prefix("/node").unwrap().matches("/a/node"));
    }

    #[test]
    fn partial_wildcards_and_broken_names_are_refused() {
        for text in ["/a*", "/***", "/a//b", "/a/", "/", "", "/1a", &"/a".repeat(200)] {
            assert!(NodePattern::path(text).is_err(), "{text}");
        }
        assert!(NodePattern::path("/lidar*").unwrap_err().contains("/ns/*"));
        assert!(NodePattern::prefix("a/b").is_err() && NodePattern::prefix("*").is_err());
    }

    #[test]
    fn many_wildcards_take_no_exponential_time() {
        let pattern = NodePattern::path(&"/**/a".repeat(50)).unwrap();
        assert!(!pattern.matches(&format!("{}/b", "/a".repeat(120))));
        assert!(pattern.matches(&"/a".repeat(120)));
    }
}
